import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.joints import each
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions


def test_results_are_in_order() -> None:
    assert each(lambda number: number**2, 5) == [0, 1, 4, 9, 16] and each(lambda number: number, 0) == []


def test_errors_are_those_of_the_function() -> None:
    with pytest.raises(ZeroDivisionError):
        each(lambda number: 1 // number, 2)


@pytest.mark.skipif(core is None, reason="the native core is not built")
def test_ray_finds_the_same_motor(monkeypatch) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("scipy")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seconds=3.0)
    options = [FitOptions(models=["Coulomb friction"], ray=on_ray) for on_ray in (False, True)]
    told: list[float] = []
    try:
        here, there = (
            identify(PENDULUM, [log], {"hinge": known_motor()}, one, lambda _, share: told.append(share))
            for one in options
        )
    finally:
        ray.shutdown()
    assert [one.value for one in here.estimates] == [one.value for one in there.estimates]
    np.testing.assert_array_equal(here.replays[0].positions, there.replays[0].positions)
