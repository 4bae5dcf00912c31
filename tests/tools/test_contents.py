"""Files that anyone may have written: damage, bombs, and cells that are no numbers, in every reader of such files."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, Recording
from isaacsim.core.experimental.actuators.tools import contents
from isaacsim.core.experimental.actuators.tools.contents import arrays_in
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from isaacsim.core.experimental.actuators.tools.training.log import ActuatorLog
from isaacsim.core.experimental.actuators.tools.trials.targets import Room, from_csv

REST = np.zeros((1, 1))
READERS: dict[str, Callable[[Path], object]] = {
    "identify": lambda path: read_logs([path], ["hip"]),
    "recording": Recording.load,
    "train": ActuatorLog.load,
    "targets": lambda path: from_csv(path, ["hip"], Room(REST, REST - 1.0, REST + 1.0)),
}


def require_refused(read: Callable[[Path], object], path: Path, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_each_damaged_byte(tmp_path) -> None:
    path, rule = tmp_path / "log.npz", "must be whole."
    np.savez_compressed(path, time=np.arange(40) * 0.01)
    content, refused = path.read_bytes(), 0
    for place in range(len(content)):
        for flipped in (0xFF, 0x01):
            path.write_bytes(content[:place] + bytes([content[place] ^ flipped]) + content[place + 1 :])
            try:
                arrays_in(path, rule)
            except ValueError as error:
                refused += 1
                assert str(error).startswith(f"{path}: ") and str(error).endswith(rule)
    assert refused > len(content)


@pytest.mark.parametrize("name", ["identify", "recording", "train"])
def test_damage_in_each_reader(tmp_path, name) -> None:
    path = tmp_path / "log.npz"
    np.savez_compressed(path, time=np.random.default_rng(0).normal(size=99))
    content = bytearray(path.read_bytes())
    content[60:90] = bytes(30)
    path.write_bytes(content)
    require_refused(READERS[name], path, "must be|must hold")


@pytest.mark.parametrize("name", ["identify", "recording", "train"])
def test_bomb_is_not_unpacked(tmp_path, name, monkeypatch) -> None:
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("time.npy", "w", force_zip64=True) as entry:
            for _ in range(1000):
                entry.write(bytes(1_000_000))
    monkeypatch.setattr(contents.np, "load", lambda *_args, **_options: pytest.fail("unpacked"))
    require_refused(READERS[name], path, r"0\.97\d MB unpack to 1000 MB")


def test_quiet_log_is_no_bomb(tmp_path) -> None:
    np.savez_compressed(tmp_path / "log.npz", time=np.zeros(10**6))
    assert len(arrays_in(tmp_path / "log.npz", "")["time"]) == 10**6


@pytest.mark.parametrize("cell", ["1_0", "\u0663", "1\uff10"])
@pytest.mark.parametrize("name", READERS)
def test_what_python_alone_takes_for_a_number(tmp_path, name, cell) -> None:
    assert float(cell) in (10.0, 3.0)
    path = tmp_path / "log.csv"
    if name == "recording":
        leg = ActuatedArrays(["hip"], {".*": [PDControlConfig(9.0, 0.5)]}, 1)
        with leg.record() as log:
            for _ in range(2):
                zero = np.zeros((1, 1), np.float32)
                leg.step(zero, zero, zero, 0.01)
        log.save(path)
        first, last = path.read_text("utf-8").strip().rsplit("\n", 1)
        path.write_text(f"{first}\n{last.replace('0.01', cell, 1)}\n", "utf-8")
    else:
        head = {"identify": "time,command,position", "targets": "time,hip"}
        names = head.get(name, "time,position,velocity,position_target,effort")
        lines = [",".join([str(time)] * len(names.split(","))) for time in (0, 1, 2)]
        lines.append(lines[-1].replace("2", cell))
        path.write_text("\n".join([names, *lines]), "utf-8")
    require_refused(READERS[name], path, "must")
