"""Training: results, data, end, and side effects."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from actuator_logs import DT, pd_log
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog, train_actuator
from places import REPOSITORY
from refusals import cases, refused

KINDS = ["mlp", "lstm", "gru"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="training needs torch, which is not installed")


def train(log: ActuatorLog, kind="mlp", **given):
    return train_actuator(log, kind, progress=False, **{"hidden": (8,), "epochs": 3, "input_idx": (0, 1), **given})


def weights(trained) -> list[np.ndarray]:
    values = (value for one in trained.network.operations for value in vars(one).values())
    return [value for value in values if isinstance(value, np.ndarray)]


# a network with state has to learn to ignore it, which takes longer
@cases("kind, epochs, off", ("mlp", 60, 0.02), ("lstm", 100, 0.03), ("gru", 60, 0.04))
def test_learns_a_linear_law(kind, epochs, off, torch, tmp_path) -> None:
    trained = train(pd_log(1, 6000), kind, warm_up=5, hidden=(16,), input_idx=(0,), epochs=epochs)
    other = pd_log(2, 6000)
    assert trained.errors_on(other).relative < off
    trained.save(tmp_path / "net.safetensors")
    read = load_checkpoint(tmp_path / "net.safetensors")
    again = replace(trained, network=read.network, metadata=read.metadata)
    np.testing.assert_array_equal(again.predict(other), trained.predict(other))
    assert trained.sample_dt == again.sample_dt == DT


@cases("kind", *KINDS)
def test_prediction_is_what_torch_computed(kind, torch) -> None:
    trained = train(pd_log(1), kind, hidden=(8, 8), warm_up=7)
    assert trained.errors["validation"].relative == pytest.approx(trained.history[trained.best_epoch, 1], rel=1e-4)


@cases("kind", *KINDS)
def test_same_seed_same_network(kind, torch) -> None:
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    first = train(pd_log(1), kind, seed=1)
    assert torch.get_num_threads() == threads and torch.equal(torch.random.get_rng_state(), before)
    torch.set_num_threads(threads + 1)
    try:
        second = train(pd_log(1), kind, seed=1)
    finally:
        torch.set_num_threads(threads)
    for one, other in zip(weights(first), weights(second), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first.history, second.history)
    assert (weights(train(pd_log(1), kind, seed=2))[0] != weights(first)[0]).any()


@cases("kind", *KINDS)
def test_nothing_is_learned_from_the_last_part(kind, torch) -> None:
    log = pd_log(1)
    cut = round(0.8 * log.steps)
    signals = [np.array(values) for values in (log.position, log.velocity, log.position_target, log.effort)]
    for values in signals:
        values[cut:] = 1e3 * np.random.default_rng(0).normal(size=values[cut:].shape)
    honest, broken = train(log, kind, epochs=5), train(ActuatorLog(DT, *signals), kind, epochs=5)
    assert honest.cut == broken.cut == cut and honest.metadata == broken.metadata
    np.testing.assert_array_equal(honest.history[:, 0], broken.history[:, 0])
    assert (honest.history[:, 1] != broken.history[:, 1]).all()


def test_ends_when_nothing_gets_better(torch) -> None:
    log = pd_log(1, 300, 1)
    noise = np.random.default_rng(0).normal(size=log.effort.shape)
    noisy = ActuatorLog(DT, log.position, log.velocity, log.position_target, noise)
    given = {"epochs": 300, "patience": 8, "hidden": (64, 64), "input_idx": range(8)}
    trained = train(noisy, **given)
    best, epochs = trained.best_epoch, len(trained.history)
    assert trained.stopped_by == "patience" and epochs == best + 1 + 8 < 300
    assert trained.history[:, 1].argmin() == best
    assert trained.errors["validation"].relative == pytest.approx(trained.history[best, 1], rel=1e-4)
    # the last weights differ, and are worse
    assert trained.history[-1, 1] > 1.01 * trained.history[best, 1]


def test_ends_in_time(torch) -> None:
    trained = train(pd_log(1), epochs=1000, max_seconds=1e-6)
    assert (trained.stopped_by, len(trained.history)) == ("max_seconds", 1)


def test_metadata_of_each_kind(torch) -> None:
    log = pd_log(1)
    learned = log.cut(0, 1200)

    def size(values: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))

    mlp, lstm, gru = (train(log, kind, hidden=(4, 4), epochs=1).metadata for kind in KINDS)
    assert (mlp["input_order"], mlp["input_idx"], mlp["sample_dt"]) == ("pos_vel", [0, 1], DT)
    for said in (mlp, lstm):
        assert said["pos_scale"] * size(learned.position_error) == pytest.approx(1.0)
        assert said["vel_scale"] * size(learned.velocity) == pytest.approx(1.0)
        assert said["effort_scale"] == pytest.approx(size(learned.effort))
    assert (lstm["num_layers"], lstm["hidden_size"], gru["sample_dt_s"]) == (2, 4, DT)
    of = gru["normalization"]
    assert of["inputs"]["mean"]["velocity"] == pytest.approx(learned.velocity.mean(dtype=np.float64))
    assert of["targets"]["std"]["torque"] == pytest.approx(learned.effort.std(dtype=np.float64))


@cases(
    "given, said",
    ({"kind": "rnn"}, "kind = 'rnn': must be mlp, lstm or gru"),
    ({"hidden": ()}, r"hidden = \(\): must be whole numbers > 0"),
    ({"kind": "lstm", "hidden": (8, 4)}, r"hidden = \(8, 4\): must be equal numbers"),
    ({"input_idx": (0, 0)}, r"input_idx = \(0, 0\): must be different"),
    ({"input_idx": (-1,)}, r"input_idx = \(-1,\)"),
    ({"validation": 1.0}, r"validation = 1\.0: must be a share"),
    ({"epochs": 0}, "epochs = 0: must be a whole number >= 1"),
    ({"patience": 2.5}, r"patience = 2\.5: must be a whole number"),
    ({"warm_up": -1}, "warm_up = -1"),
    ({"seed": True}, "seed = True"),
    ({"max_seconds": 0}, "max_seconds = 0: must be a number of seconds > 0"),
    ({"learning_rate": 0.0}, r"learning_rate = 0\.0"),
)
def test_arguments_refused(given, said) -> None:
    refused(ValueError, lambda: train(pd_log(1, 100), **given), said)


def test_logs_refused(torch) -> None:
    with pytest.raises(ValueError, match="leaves 2 steps for validation: must be 3 at least"):
        train(pd_log(1, 10), input_idx=(0, 2))
    with pytest.raises(ValueError, match="leaves 48 steps for training: must be 60 at least"):
        train(pd_log(1, 60), "gru", warm_up=10)
    log = pd_log(1, 100)
    still = ActuatorLog(DT, log.position, 0 * log.velocity, log.position_target, log.effort)
    refused(ValueError, lambda: train(still), r"velocity is 0\.0 in all of the training part: must vary")


def test_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(ModuleNotFoundError, lambda: train(pd_log(1, 100)), r"needs torch, .*pip install .*\[train\]'")


def test_progress_bar(torch, capsys) -> None:
    train(pd_log(1, 100))
    assert not capsys.readouterr().out
    trained = train_actuator(pd_log(1, 100), hidden=(4,), epochs=2)
    out = " ".join(capsys.readouterr().out.split())
    assert "2/2" in out and f"best {trained.history[:, 1].min():.2%}" in out


def test_known_actuator_is_learned(torch, monkeypatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "standalone_examples")
    from bench import record

    assert train_actuator(record(1, 12.0), epochs=50, progress=False).errors_on(record(2, 12.0)).relative < 0.05
