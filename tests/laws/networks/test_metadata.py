"""Metadata of checkpoints: documented keys and defaults, and one clear error each."""

from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.laws.networks.metadata import (
    Metadata,
    check_metadata,
    read_json,
    read_properties,
)
from isaacsim.core.experimental.actuators.laws.networks.network import GRUCell, Linear, Network
from refusals import cases, refused
from small_networks import mlp, numbers, recurrent

MLP, LSTM, GRU = mlp(inputs=2), recurrent("lstm", 2), recurrent("gru", 1)
OF_THREE = Network(
    3, (GRUCell(0, 0, numbers(6, 3), numbers(6, 2), numbers(6), numbers(6)), Linear(1, numbers(1, 2), numbers(1)))
)
COLUMNS = {"input_columns": ["velocity", "target_position", "position"]}


def test_defaults() -> None:
    assert check_metadata({}, MLP) == Metadata("mlp") and check_metadata({}, LSTM) == Metadata("lstm")
    assert check_metadata({"unknown": [1]}, GRU) == Metadata("gru")
    defaults = Metadata("mlp")
    assert (defaults.input_order, defaults.input_idx) == ("pos_vel", (0,))
    assert (defaults.pos_scale, defaults.vel_scale, defaults.effort_scale, defaults.sample_dt) == (1.0, 1.0, 1.0, None)


def test_what_is_said_is_used() -> None:
    said = {"model_type": "mlp", "input_order": "vel_pos", "input_idx": [0, 2, 4], "pos_scale": 2, "vel_scale": -0.25}
    used = check_metadata({**said, "torque_scale": 20.0, "sample_dt": 0.005, "num_layers": 0}, mlp(inputs=6))
    assert used == Metadata("mlp", "vel_pos", (0, 2, 4), 2.0, -0.25, 20.0, sample_dt=0.005)
    # the new name goes before the old one
    assert check_metadata({"torque_scale": 20.0, "effort_scale": 3.0}, MLP).effort_scale == 3.0
    assert check_metadata({"num_layers": 2, "hidden_size": 4}, LSTM).model_type == "lstm"
    assert [check_metadata(said, MLP).history_fill for said in ({}, {"history_fill": "first"})] == ["zeros", "first"]


def test_columns_of_a_gru_are_normalised() -> None:
    inputs = {
        "mean": {"velocity": 1.0, "target_position": 2, "position": 3.0},
        "std": dict.fromkeys(COLUMNS["input_columns"], 4),
    }
    targets = {"mean": {"torque": 5.0}, "std": {"torque": 6.0}}
    used = check_metadata(
        {**COLUMNS, "normalization": {"inputs": inputs, "targets": targets}, "sample_dt_s": 0.01}, OF_THREE
    )
    assert used.input_columns == tuple(COLUMNS["input_columns"])
    assert (used.input_mean, used.input_std) == ((1.0, 2.0, 3.0), (4.0, 4.0, 4.0))
    assert (used.effort_mean, used.effort_std, used.sample_dt) == (5.0, 6.0, 0.01)
    without = check_metadata(COLUMNS, OF_THREE)
    assert (without.input_mean, without.input_std) == ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@cases(
    "network, said, says",
    (MLP, {"model_type": "cnn"}, "model_type = 'cnn': must be mlp, lstm or gru"),
    (MLP, {"model_type": ["mlp"]}, "model_type"),
    (MLP, {"model_type": "lstm"}, "must be mlp, for the network is no"),
    (LSTM, {"num_layers": 3}, "num_layers = 3: must be 2"),
    (LSTM, {"hidden_size": 4.5}, "hidden_size = 4.5: must be 4"),
    (LSTM, {"num_layers": True}, "num_layers = True"),
    (MLP, {"input_order": "pos"}, "input_order = 'pos': must be pos_vel or vel_pos"),
    (MLP, {"input_idx": []}, "input_idx"),
    (MLP, {"history_fill": "last"}, "history_fill = 'last': must be zeros or first"),
    (MLP, {"history_fill": ["first"]}, "history_fill"),
    (MLP, {"input_idx": 0}, "input_idx = 0: must be a list"),
    (MLP, {"input_idx": [-1]}, "input_idx"),
    (MLP, {"input_idx": [0.0]}, "input_idx"),
    (MLP, {"input_idx": [False]}, "input_idx"),
    (MLP, {"input_idx": [2**31]}, "from 0 to 1023"),
    (MLP, {"input_idx": [0, 1]}, "half as many numbers as the network has inputs, 2"),
    (MLP, {"pos_scale": 0}, "pos_scale = 0: must be a finite number other than 0"),
    (MLP, {"vel_scale": float("nan")}, "vel_scale = nan"),
    (MLP, {"effort_scale": 10**400}, "effort_scale"),
    (MLP, {"effort_scale": float("inf"), "torque_scale": 1.0}, "effort_scale = inf"),
    (MLP, {"torque_scale": "20"}, "torque_scale = '20'"),
    (MLP, {"pos_scale": True}, "pos_scale = True"),
    (MLP, {"pos_scale": None}, "pos_scale = None"),
    (MLP, {"sample_dt": 0.0}, "sample_dt = 0.0: must be a finite number of seconds > 0"),
    (MLP, {"sample_dt_s": "fast"}, "sample_dt_s = 'fast'"),
    (OF_THREE, {}, "input size 3 of the network for"),
    (OF_THREE, {"input_columns": ["velocity", "velocity", "position"]}, "different ones"),
    (OF_THREE, {"input_columns": ["velocity", "position", "dynamic_bias"]}, "input_columns"),
    (OF_THREE, {**COLUMNS, "custom_inputs": ["load"]}, "custom_inputs"),
    (OF_THREE, {**COLUMNS, "normalization": []}, "normalization = []"),
    (OF_THREE, {**COLUMNS, "normalization": {"inputs": {"mean": 1}}}, "normalization.inputs.mean = 1"),
    (OF_THREE, {**COLUMNS, "normalization": {"inputs": {"mean": {"position": 1}}}}, "must have velocity"),
    (OF_THREE, {**COLUMNS, "normalization": {"targets": {"std": {"torque": 0}}}}, "std.torque = 0.0"),
)
def test_each_wrong_value_is_one_clear_error(network, said, says) -> None:
    text = refused(NetworkError, lambda: check_metadata(said, network))
    assert says in text and "Correct it in the file, or in a JSON file of the same name" in text


def test_lstm_takes_two_inputs() -> None:
    from isaacsim.core.experimental.actuators.laws.networks.network import LSTMCell

    three = Network(3, (LSTMCell(0, 0, numbers(8, 3), numbers(8, 2), numbers(8)), Linear(1, numbers(1, 2), numbers(1))))
    refused(NetworkError, lambda: check_metadata({}, three), "inputs = 3: must be 2")


@cases("text", "", "{", '{"a": 1, "a": 2}', "[" * 100_000, "1" * 5000, b"\xff\xfe\xff", " " * (17 * 2**20))
def test_json_that_is_none_is_one_error(text) -> None:
    refused(NetworkError, lambda: read_json(text, "here"), r"^Invalid JSON of here \(.*must be JSON")


def test_one_property_holds_all_metadata_or_each_holds_one() -> None:
    assert read_properties({"metadata": '{"a": 1}', "b": "2"}) == {"a": 1}
    assert read_properties({"a": "[1]", "b": "by hand", "c": '"text"'}) == {"a": [1], "b": "by hand", "c": "text"}
    refused(NetworkError, lambda: read_properties({"metadata": "[1]"}), "metadata is a list")
