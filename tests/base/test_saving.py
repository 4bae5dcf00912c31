"""Files are written whole or not at all, and errors name them."""

import errno
import os
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.base.saving import relative_path, require_place, whole_file


def test_file_appears_at_the_end(tmp_path) -> None:
    wanted = tmp_path / "log.csv"
    wanted.write_text("old")
    wanted.chmod(0o640)
    with whole_file(wanted) as written:
        written.write_text("new")
        assert written.name == wanted.name and wanted.read_text() == "old"
    assert wanted.read_text() == "new" and wanted.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["log.csv"]


@pytest.mark.parametrize("there", [True, False])
def test_error_leaves_what_was_there(tmp_path, there) -> None:
    wanted = tmp_path / "log.csv"
    if there:
        wanted.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(wanted) as written:
        written.write_text("half")
        raise ZeroDivisionError
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("log.csv", "old")] * there


def test_link_stays_one(tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "log.csv"
    link.symlink_to(tmp_path / "elsewhere" / "real.csv")
    with whole_file(link) as written:
        written.write_text("new")
    assert link.is_symlink() and (tmp_path / "elsewhere" / "real.csv").read_text() == "new"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_error_of_the_system_names_file_and_remedy(tmp_path, number) -> None:
    kind = type(OSError(number, ""))
    with pytest.raises(kind, match=r"log\.csv: cannot be written: .*choose another place") as caught:
        with whole_file(tmp_path / "log.csv"):
            raise OSError(number, os.strerror(number))
    assert caught.value.errno == number and "\n" not in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_device_is_written_and_not_replaced() -> None:
    with pytest.raises(OSError, match="/dev/full: cannot be written: No space"), whole_file("/dev/full") as written:
        written.write_text("text")
    assert Path("/dev/full").is_char_device()


def test_paths_are_from_a_folder(tmp_path) -> None:
    assert relative_path(tmp_path / "a" / "b.obj", tmp_path / "c") == "../a/b.obj"


def test_folder_is_no_file(tmp_path) -> None:
    with pytest.raises(IsADirectoryError, match="must be a file, and is a folder"):
        require_place(tmp_path)
    with pytest.raises(FileNotFoundError, match="its folder must be there"), whole_file(tmp_path / "no" / "log.csv"):
        pytest.fail("nobody may write")
