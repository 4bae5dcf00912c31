"""The command line: output, exit codes, and the commands of the documentation."""

import importlib.util
import json
import os
import re
import sys
from pathlib import Path

import pytest
from checkpoint_files import checkpoint_file
from isaacsim.core.experimental.actuators import load_metadata
from isaacsim.core.experimental.actuators.files.networks.__main__ import main
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from places import REPOSITORY
from processes import ran
from refusals import cases

METADATA = {"author": "bench 4", "effort_scale": 20.0}
MODULE = "isaacsim.core.experimental.actuators.files.networks"


@pytest.fixture(autouse=True)
def knee(tmp_path: Path) -> Path:
    (tmp_path / "more.json").write_text('{"note": "from tests", "effort_scale": 21.0}')
    (tmp_path / "knee.pt").write_bytes(checkpoint_file("torchscript", "lstm", METADATA))
    return tmp_path / "knee.pt"


def test_commands_of_the_page_run(monkeypatch, knee) -> None:
    if importlib.util.find_spec("onnx") is None:
        pytest.skip("onnx is not installed")
    text = (REPOSITORY / "docs" / "Overview.md").read_text()
    commands = re.findall(rf"^\./python\.sh -m {re.escape(MODULE)} (.*)$", text, re.MULTILINE)
    assert [main(command.split()) for command in commands] == [0, 0, 0]
    assert load_metadata("knee.onnx").items() >= METADATA.items()
    assert load_metadata("knee.safetensors") == {**METADATA, "note": "from tests", "effort_scale": 21.0}


def test_show_says_what_a_network_is(capsys, knee) -> None:
    assert main(["show", str(knee)]) == 0
    text = capsys.readouterr().out
    digest = load_checkpoint(knee).digest
    for line in ("format       torchscript", "kind         lstm", "layers       2", f"digest       {digest}"):
        assert line in text.splitlines()
    assert "  1   LSTMCell of [0], layer 0: 4 wide" in text and "  3   Linear of [2]: 1 wide" in text
    assert '  author = "bench 4"' in text


def test_show_for_programs(capsys, knee) -> None:
    assert main(["show", "--json", str(knee)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said.pop("digest") == load_checkpoint(knee).digest
    assert said == {
        "format": "torchscript",
        "kind": "lstm",
        "inputs": 2,
        "layers": 2,
        "hidden_size": 4,
        "operations": [
            {"operation": "LSTMCell", "sources": [0], "width": 4, "layer": 0},
            {"operation": "LSTMCell", "sources": [1], "width": 4, "layer": 1},
            {"operation": "Linear", "sources": [2], "width": 1},
        ],
        "metadata": METADATA,
    }


def test_convert_says_how_the_two_compare(capsys, knee) -> None:
    assert main(["convert", "knee.pt", "hip.safetensors"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "hip.safetensors: differs by at most 0 of the largest value, 1600 outputs compared"
    assert "hip" not in err


@cases(
    "arguments, says",
    ("show none.pt", "none.pt does not exist: must be"),
    ("show .", ": must be a regular file. Give the path of a network file."),
    ("show more.json", "more.json: is JSON: must be ONNX"),
    ("convert knee.pt knee.pt2", "knee.pt2: must end in .onnx or .safetensors"),
    ("convert knee.pt none/knee.onnx", "none: No such folder"),
    ("convert knee.pt hip.safetensors --metadata none.json", "none.json: No such file or directory"),
    ("convert knee.pt hip.safetensors --metadata knee.pt", "Invalid JSON of knee.pt ("),
    ("convert more.json hip.safetensors", "more.json: is JSON"),
)
def test_what_is_wrong_is_one_line(arguments, says, capsys, knee) -> None:
    assert main(arguments.split()) == 1
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
    assert sorted(path.name for path in knee.parent.iterdir()) == ["knee.pt", "more.json"]


@pytest.mark.slow
def test_module_is_a_program(knee) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for arguments, code in ((["show", "--json", "knee.pt"], 0), (["show", "none"], 1)):
        done = ran([sys.executable, "-m", MODULE, *arguments], cwd=knee.parent, env=environment, timeout=60)
        assert done.returncode == code and "Traceback" not in done.stderr
        assert code or json.loads(done.stdout)["kind"] == "lstm"
