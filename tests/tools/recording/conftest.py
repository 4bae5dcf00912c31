"""The recorders that there are."""

import pytest
from isaacsim.core.experimental.actuators.engine import assembly
from isaacsim.core.experimental.actuators.tools.recording import recorder


@pytest.fixture(params=["native", "python", "warp"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The recorder: the native step itself, or Python with the native step or that of Warp."""
    if request.param != "native":
        monkeypatch.setattr(recorder, "NativeStep", type("Never", (), {}))
    if request.param == "warp":
        monkeypatch.setattr(assembly, "_use_native", lambda device: False)
    return request.param
