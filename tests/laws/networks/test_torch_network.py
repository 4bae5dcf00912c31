"""Networks run by Torch: results are those of the module for each row, and invalid modules are refused by name."""

import io
import subprocess
import sys
import warnings
from collections.abc import Sequence

import isaacsim.core.experimental.actuators as aa
import network_oracle
import numpy as np
import pytest
from bare_stages import bare_robot
from isaacsim.core.experimental.actuators.base.errors import NetworkError
from isaacsim.core.experimental.actuators.files.networks import load
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint, read_checkpoint, read_file
from isaacsim.core.experimental.actuators.laws.networks.evaluator import make_evaluator
from isaacsim.core.experimental.actuators.laws.networks.network import Network
from isaacsim.core.experimental.actuators.laws.networks.torch_network import TorchNetwork
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from neural_twin import Twin, random_motion, random_network, write_network
from refusals import cases, refused

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing runs through it")
nn = torch.nn
ROOT, DT, ROBOTS = "/Robot", 0.005, 3
IDX = {"input_idx": [0, 1, 2]}


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(7)
    # more threads slow small networks down
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        yield


class Soft(nn.Module):
    def __init__(self, inputs: int = 6, outputs: int = 1) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(inputs, 5), nn.Linear(5, outputs)

    def forward(self, x):
        return self.last(torch.softmax(self.first(x), dim=-1))


class Recurrent(nn.Module):
    def __init__(self, kind, rows_first: bool = True) -> None:
        super().__init__()
        self.rnn, self.last = kind(2, 8, 2, batch_first=rows_first), nn.Linear(8, 1)

    def effort(self, y):
        return 3.0 * self.last(torch.softmax(y.reshape(-1, 8), dim=-1))


class LSTM(Recurrent):
    def __init__(self, rows_first: bool = True) -> None:
        super().__init__(nn.LSTM, rows_first)

    def forward(self, x: torch.Tensor, hc: tuple[torch.Tensor, torch.Tensor]):
        y, hc = self.rnn(x, hc)
        return self.effort(y), hc


class FlatLSTM(LSTM):
    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor):
        y, (h, c) = self.rnn(x, (h, c))
        return self.effort(y), h, c


class GRU(Recurrent):
    def __init__(self, rows_first: bool = True) -> None:
        super().__init__(nn.GRU, rows_first)

    def forward(self, x: torch.Tensor, h: torch.Tensor):
        y, h = self.rnn(x, h)
        return self.effort(y), h


class InPlace(FlatLSTM):
    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor):
        y, (h_new, c_new) = self.rnn(x, (h, c))
        x.mul_(7.0)
        h.copy_(h_new)
        c.copy_(c_new)
        return self.effort(y), h, c


def saved(module, **extra: str) -> bytes:
    file = io.BytesIO()
    torch.jit.save(module, file, _extra_files={f"{key}.json": value for key, value in extra.items()})
    return file.getvalue()


def scripted(module, **extra: str) -> bytes:
    return saved(torch.jit.script(module.eval()), **extra)


def frozen(module) -> bytes:
    return saved(torch.jit.freeze(torch.jit.script(module.eval())))


def pickled(value, **options) -> bytes:
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def exported(module, *example) -> bytes:
    rows = torch.export.Dim("rows", min=1, max=4096)
    shapes = tuple(tuple({1: rows} for _ in one) if isinstance(one, tuple) else None for one in example)
    shapes = ({0: rows}, *(shape or {1: rows} for shape in shapes[1:]))
    file = io.BytesIO()
    program = torch.export.export(module.eval(), example, dynamic_shapes=shapes)
    torch.export.save(program, file, extra_files={"metadata.json": '{"pos_scale": 2.0}'})
    return file.getvalue()


def network_in(data: bytes, metadata: dict | None = None) -> TorchNetwork:
    found = read_checkpoint(data, "knee.pt", metadata=metadata, trusted=True).network
    assert isinstance(found, TorchNetwork)
    return found


# each state is a separate object: Torch exports the same object as one input
STATE = torch.zeros(2, 4, 8)
SIZES = {"model_type": "lstm", "num_layers": 2, "hidden_size": 8}
# by name: the module, its file, required metadata, kind, and the call of the module itself
FORMS: dict[str, tuple] = {
    "mlp": (Soft, scripted, IDX, "mlp"),
    "mlp, frozen": (Soft, frozen, IDX, "mlp"),
    "mlp, float64": (lambda: Soft().double(), scripted, IDX, "mlp"),
    "mlp, pickled": (Soft, pickled, IDX, "mlp"),
    "mlp, pickled long ago": (Soft, lambda net: pickled(net, _use_new_zipfile_serialization=False), IDX, "mlp"),
    "mlp, pickled in a dict": (Soft, lambda net: pickled({"model": net, "metadata": IDX}), {}, "mlp"),
    "mlp, exported": (Soft, lambda net: exported(net, torch.zeros(4, 6)), IDX, "mlp"),
    "lstm": (LSTM, scripted, {}, "lstm"),
    "lstm, steps first": (lambda: LSTM(False), scripted, {}, "lstm"),
    "lstm, frozen": (LSTM, frozen, SIZES, "lstm"),
    "lstm, pickled": (LSTM, pickled, {}, "lstm"),
    "lstm, states apart": (FlatLSTM, scripted, {}, "flat"),
    "lstm, in place": (InPlace, scripted, {}, "flat"),
    "lstm, exported": (LSTM, lambda net: exported(net, torch.zeros(4, 1, 2), (STATE, STATE + 0.0)), {}, "lstm"),
    "gru": (GRU, scripted, {}, "gru"),
    "gru, steps first": (lambda: GRU(False), pickled, {}, "gru"),
    "gru, exported": (GRU, lambda net: exported(net, torch.zeros(4, 1, 2), STATE), {}, "gru"),
}


def by_torch(module, way: str, x, states: Sequence) -> tuple:
    with torch.no_grad():
        given, before = x.clone(), [state.clone() for state in states]
        if way == "mlp":
            return module(given).reshape(-1), []
        if way == "lstm":
            y, (h, c) = module(given[:, None], tuple(before))
            return y.reshape(-1), [h, c]
        y, *states = module(given[:, None], *before)
        return y.reshape(-1), list(states)


@pytest.mark.parametrize("name", FORMS)
def test_equals_torch_over_200_steps(name) -> None:
    make, save, metadata, way = FORMS[name]
    module, rows = make(), 5
    data = save(module)
    refused(NetworkError, lambda: read_checkpoint(data, "knee.pt", metadata=metadata), "trusted=True")
    network = network_in(data, metadata)
    module = module.float().eval()
    layers = (2, 8) if way != "mlp" else (0, 0)
    assert (network.num_layers, network.hidden_size, network.inputs) == (*layers, 6 if way == "mlp" else 2)
    evaluator = make_evaluator(network, rows)
    assert evaluator.name == "torch"
    states = [np.zeros((layers[0], rows, layers[1]), np.float32) for _ in range(network.num_states)]
    wanted = [[torch.zeros(layers[0], 1, layers[1]) for _ in states] for _ in range(rows)]
    rng, y, largest = np.random.default_rng(1), np.zeros(rows, np.float32), 0.0
    for step in range(200):
        x = rng.normal(size=(rows, network.inputs)).astype(np.float32)
        x.flags.writeable = False
        bad = 2 if step in (70, 71) else None
        if bad is not None:
            x = np.where(np.arange(rows)[:, None] == bad, np.float32([np.nan, *[1] * (network.inputs - 1)]), x)
        if step == 120:
            for state in states:
                state[:, [0, 3]] = 0.0
            for row in (0, 3):
                wanted[row] = [torch.zeros_like(state) for state in wanted[row]]
        evaluator.evaluate(x, y, states, states)
        for row in range(rows):
            if row == bad:
                assert np.isnan(y[row])
            else:
                # for a single row, rows first and time first are the same
                expected, wanted[row] = by_torch(module, way, torch.tensor(x[row : row + 1]), wanted[row])
                np.testing.assert_allclose(y[row], expected.numpy()[0], rtol=1e-5, atol=1e-6)
                largest = max(largest, abs(float(y[row])))
            for state, known in zip(states, wanted[row], strict=True):
                np.testing.assert_allclose(state[:, row], known[:, 0].numpy(), rtol=1e-5, atol=2e-6)
    assert largest > 0.05


@pytest.mark.parametrize("kind", ["mlp", "lstm", "gru"])
def test_wrapper_equals_torch_in_float64(kind, tmp_path, monkeypatch) -> None:
    module = {"mlp": Soft, "lstm": LSTM, "gru": GRU}[kind]()
    metadata = {"mlp": {"input_idx": [0, 1, 3], "effort_scale": 20.0}, "lstm": {"pos_scale": 2.0}, "gru": {}}[kind]
    path = tmp_path / "knee.pt"
    path.write_bytes(scripted(module))
    path.with_suffix(".json").write_text(str(metadata).replace("'", '"'))
    stage = bare_robot(["knee"], ROOT)
    aa.add_actuator(ROOT, "knee", "knee", aa.NeuralControlConfig(path), stage=stage)
    host = ArraysHost(["knee"], ROBOTS, path=ROOT, stage=stage)
    with aa.use_host(host), aa.trust_checkpoints(path):
        wrapper = aa.ArticulationActuators(f"{ROOT}_.*")
        host.play()
    arrays = host.arrays()
    assert arrays is not None
    double = module.double().eval()

    def evaluate(_, x, h, c) -> tuple:
        states = [torch.tensor(state) for state in ((h, c) if kind == "lstm" else (h,) if kind == "gru" else ())]
        y, new = by_torch(double, kind, torch.tensor(x), states)
        new = [state.numpy() for state in new]
        return y.numpy(), *(new if kind == "lstm" else [*new, c] if kind == "gru" else [h, c])

    monkeypatch.setattr(network_oracle, "evaluate", evaluate)
    gru = {
        "input_columns": ["position_error", "velocity"],
        "normalization": {
            "inputs": {
                side: {"position_error": value, "velocity": value} for side, value in (("mean", 0.0), ("std", 1.0))
            },
            "targets": {"mean": {"torque": 0.0}, "std": {"torque": 1.0}},
        },
    }
    twin = Twin(load_checkpoint(path, trusted=True).network, metadata | (gru if kind == "gru" else {}), ROBOTS)  # type: ignore[arg-type]
    motion, worst, largest = random_motion(np.random.default_rng(2), ROBOTS, 200), 0.0, 0.0
    for step, signals in enumerate(motion):
        hold = [2] if step in (70, 71) else []
        signals[0, hold] = np.nan
        if step == 120:
            wrapper.reset(indices=[0])
            twin.reset([True, False, False])
        names = ("positions", "velocities", "position_targets", "velocity_targets")
        for name, values in zip(names, signals, strict=False):
            getattr(arrays, name)[:] = values
        host.step(DT)
        efforts = arrays.efforts.reshape(-1)
        expected = twin.step(*signals[:4], hold=hold)
        assert all(efforts[row] == 0.0 for row in hold) and len(wrapper.faults) == (step >= 70)
        fine = [row for row in range(ROBOTS) if row not in hold]
        worst = max(worst, float(np.abs(efforts - expected)[fine].max()))
        largest = max(largest, float(np.abs(expected[fine]).max()))
    print(f"{kind}: {worst / largest:.1e} of {largest:.3f}")
    assert worst < 1e-5 * largest
    wrapper.close()


class Mixed(Soft):
    def forward(self, x):
        return self.last(torch.softmax(self.first(x), dim=0))


class Remembers(Soft):
    def __init__(self) -> None:
        super().__init__(2)
        self.register_buffer("before", torch.zeros(1))

    def forward(self, x):
        self.before += 1.0
        return self.last(torch.softmax(self.first(x), dim=-1)) + self.before


class Random(Soft):
    def forward(self, x):
        return super().forward(x) + torch.rand(len(x), 1)


class Forgets(LSTM):
    def forward(self, x: torch.Tensor, hc: tuple[torch.Tensor, torch.Tensor]):
        return self.effort(self.rnn(x, hc)[0])


class Fails(Soft):
    def forward(self, x):
        raise ArithmeticError("not today")


@cases(
    "data, metadata, message",
    (lambda: scripted(Mixed()), IDX, "computes a row from others"),
    (lambda: pickled(Remembers()), {}, "computes a row from others, from earlier calls"),
    (lambda: pickled(Random()), IDX, "or at random"),
    (lambda: scripted(Soft(6, 2)), IDX, r"returned \(3, 2\) for 3 rows"),
    (lambda: scripted(Soft()), {}, r"x \(rows, 2\) .*mat1 and mat2.* metadata, input_idx"),
    (lambda: scripted(LSTM()), {"hidden_size": 4}, r"x \(rows, 1, 2\), h \(2, rows, 4\), c \(2, rows, 4\)"),
    (lambda: scripted(LSTM()), {"model_type": "gru"}, r"h \(2, rows, 8\) \("),
    (lambda: pickled(Forgets()), {}, "and return one output per row and the states"),
    (lambda: pickled(Fails()), IDX, "not today"),
    (lambda: frozen(LSTM()), {"model_type": "lstm"}, "num_layers = None"),
    (lambda: scripted(Soft()), {"model_type": "cnn"}, "model_type = 'cnn'"),
    (lambda: scripted(Soft(), metadata="[]"), IDX, "expected a JSON object"),
    (lambda: pickled([nn.Linear(2, 1)]), {}, "finds list in it"),
    (lambda: pickled({"model": nn.Linear(2, 1), "metadata": 3}), {}, "metadata of the file is no dict"),
    (
        lambda: pickled(Soft().state_dict(), _use_new_zipfile_serialization=False),
        {},
        "finds OrderedDict in it: must be a module",
    ),
    (lambda: pickled(Soft())[:-200], IDX, "zip"),
)
def test_what_cannot_be_run_is_refused_by_name(data, metadata, message) -> None:
    with pytest.raises(NetworkError, match=rf"(?s)^knee\.pt: .*{message}") as error:
        read_checkpoint(data(), "knee.pt", metadata=metadata, trusted=True)
    assert str(error.value).endswith(".") and len(str(error.value)) < 700


def test_module_that_was_saved_while_training_evaluates() -> None:
    module = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 1)).train()
    network = network_in(pickled(module))
    y, x = np.zeros(4, np.float32), np.ones((4, 2), np.float32)
    make_evaluator(network, 4).evaluate(x, y)
    np.testing.assert_allclose(y, module.eval()(torch.ones(4, 2)).detach().numpy()[:, 0], rtol=1e-6)


class Forgiving(Soft):
    """Replaces NaN by 0."""

    def forward(self, x):
        return self.last(torch.softmax(self.first(torch.nan_to_num(x)), dim=-1))


def test_input_that_is_not_finite_is_no_input_whatever_the_network_makes_of_it() -> None:
    y, x = np.zeros(3, np.float32), np.ones((3, 2), np.float32)
    x[1, 0] = np.inf
    make_evaluator(network_in(scripted(Forgiving(2))), 3).evaluate(x, y)
    assert np.isnan(y).tolist() == [False, True, False]


def test_arrays_are_checked_as_by_other_evaluators() -> None:
    evaluator = make_evaluator(network_in(scripted(LSTM())), 4)
    x, y = np.zeros((4, 2), np.float32), np.zeros(4, np.float32)
    refused(ValueError, lambda: evaluator.evaluate(x, y), "state_in has 0 arrays: must have 2")
    with pytest.raises(ValueError, match=r"x is float32 \(3, 2\)"):
        evaluator.evaluate(x[:3], y, [np.zeros((2, 4, 8), np.float32)] * 2, [np.zeros((2, 4, 8), np.float32)] * 2)


def test_torch_runs_the_bytes_that_were_read(tmp_path, monkeypatch) -> None:
    """The file at the path may have changed since."""
    path = tmp_path / "knee.pt"
    path.write_bytes(scripted(Soft(2)))

    def read(where) -> bytes:
        data = read_file(where)
        path.write_bytes(b"something else")
        return data

    monkeypatch.setattr(load, "read_file", read)
    assert isinstance(load_checkpoint(path, trusted=True).network, TorchNetwork)


def test_torch_is_not_imported_for_what_is_recognised(tmp_path) -> None:
    known, unknown = write_network(tmp_path / "a.safetensors", random_network("mlp", 2), {}), tmp_path / "b.pt"
    unknown.write_bytes(scripted(Soft(2)))
    script = tmp_path / "load.py"
    script.write_text(f"""
import sys
from isaacsim.core.experimental.actuators import ControllerNeuralMLP
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
ControllerNeuralMLP({str(known)!r}, trusted=True).finalize("cpu", 3)
try:
    load_checkpoint({str(unknown)!r})
except ValueError:
    assert "torch" not in sys.modules
    load_checkpoint({str(unknown)!r}, trusted=True)
    assert "torch" in sys.modules
    sys.exit(7)
""")
    command = [sys.executable, "-W", "ignore", str(script)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 7


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(6, 9), nn.Linear(9, 1)

    def forward(self, x):
        return 20.0 * self.last(torch.tanh(self.first(x * 0.5)))


class PlainLSTM(nn.Module):
    LAYER = nn.LSTM

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = self.LAYER(2, 8, 2, batch_first=True), nn.Linear(8, 1)

    def forward(self, x, states):
        y, states = self.layer(x, states)
        return self.last(y[:, 0]), states


class PlainGRU(PlainLSTM):
    LAYER = nn.GRU


class Branches(Plain):
    def forward(self, x):
        return super().forward(x) if float(x.abs().max()) < 100.0 else super().forward(-x)


@pytest.mark.parametrize("name", ["mlp", "lstm", "gru"])
def test_trusted_module_is_converted_to_one_that_needs_no_trust(name, tmp_path) -> None:
    module = {"mlp": Plain, "lstm": PlainLSTM, "gru": PlainGRU}[name]()
    metadata = IDX if name == "mlp" else {"model_type": name}
    source, target = tmp_path / "net.pt", tmp_path / "net.safetensors"
    source.write_bytes(pickled(module))
    with pytest.raises(NetworkError, match=r"net.pt: pickle names .*convert --trusted IN OUT"):
        aa.convert_checkpoint(source, target, metadata)
    assert not target.exists()
    found = aa.convert_checkpoint(source, target, metadata, trusted=True)
    assert found.difference < 1e-5 and isinstance(load_checkpoint(target).network, Network)


def test_what_tracing_cannot_put_in_known_operations_is_refused(tmp_path) -> None:
    for module, told in ((Soft(), "operation softmax"), (Branches(), "would differ")):
        source, target = tmp_path / "net.pt", tmp_path / "net.safetensors"
        source.write_bytes(pickled(module))
        with pytest.raises(NetworkError, match=told):
            aa.convert_checkpoint(source, target, IDX, trusted=True)
        assert not target.exists()
