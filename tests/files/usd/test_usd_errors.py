"""Errors of USD amid a stage are ours, and name its file."""

import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.files.usd.usd_errors import reports_usd_errors
from pxr import Sdf, Tf, Usd


@reports_usd_errors
def read(stage: Usd.Stage, *, text: bytes = b"") -> str:
    if not text:
        Tf.RaiseRuntimeError("a path that is none")
    return text.decode()


@pytest.mark.parametrize(("text", "said"), [(b"", "a path that is none"), (b"\xff", "not UTF-8")])
def test_error_of_usd_names_the_file(tmp_path, text, said):
    stage = Usd.Stage.Open(Sdf.Layer.CreateNew(str(tmp_path / "robot.usda")))
    with pytest.raises(UnsupportedSceneError, match=f"robot.usda: USD cannot read all of this stage: .*{said}"):
        read(stage, text=text)


def test_what_can_be_read_is_returned():
    assert read(Usd.Stage.CreateInMemory(), text=b"fine") == "fine"
