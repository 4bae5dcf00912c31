"""The readers of PyTorch's files are imported only for such a file."""

import importlib.util
import subprocess
import sys
import textwrap

import pytest
from checkpoint_files import checkpoint_file
from isaacsim.core.experimental.actuators.files.networks import torch_formats
from isaacsim.core.experimental.actuators.files.networks.trust import NeedsTorchError
from torch_archives import state_dict, zipped
from torch_stand_in import UNKNOWN

PROGRAM = """
    import sys
    import numpy as np
    from isaacsim.core.experimental.actuators import ActuatedArrays, ActuatorConfig, {law}Config

    arm = ActuatedArrays(["knee"], [(ActuatorConfig({law}Config({arguments})), "knee")])
    q, qd, target = np.zeros((3, 1), np.float32)
    arm.step(q, qd, target + 1, 0.005)
    print([name for name in sys.modules if "torch_formats" in name])
"""


@pytest.mark.parametrize("kind", ["PD", "onnx", "safetensors", "torchscript"])
@pytest.mark.slow
def test_readers_are_imported_for_their_files_only(kind, tmp_path) -> None:
    if kind == "onnx" and importlib.util.find_spec("onnx") is None:
        pytest.skip("onnx is not installed: nothing reads its files")
    law, arguments = "PDControl", "kp=1.0, kd=0.1"
    if kind != "PD":
        file = tmp_path / "knee"
        file.write_bytes(checkpoint_file(kind, "mlp", {"input_idx": [0]}))
        law, arguments = "NeuralControl", repr(str(file))
    program = textwrap.dedent(PROGRAM).format(law=law, arguments=arguments)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    *_, said = run.stdout.splitlines()
    assert (said != "[]") == (kind == "torchscript")


def test_other_files_are_none_of_pytorch() -> None:
    assert torch_formats.read(zipped({"text": "a"}), {}) is None and torch_formats.read(b"\x80\x02N.", {}) is None


def test_an_error_tells_what_torch_may_run() -> None:
    with pytest.raises(NeedsTorchError, match="operation ldexp") as error:
        torch_formats.read(UNKNOWN, {})
    assert error.value.form == "torchscript"
    with pytest.raises(ValueError, match="no linear layer") as other:
        torch_formats.read(state_dict({}), {})
    assert not isinstance(other.value, NeedsTorchError)
