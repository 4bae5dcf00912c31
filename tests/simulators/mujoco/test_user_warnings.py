"""Handlers of MuJoCo's warnings."""

import mujoco
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.user_warnings import Mute, ignore, warnings_to

SLIDE = """
<mujoco><worldbody><body><joint name="slide" type="slide"/><geom size="0.1"/></body></worldbody></mujoco>
"""


def diverge() -> None:
    model = mujoco.MjModel.from_xml_string(SLIDE)
    data = mujoco.MjData(model)
    data.qpos[0] = float("nan")
    mujoco.mj_step(model, data)


def test_a_handler_hears_what_comes_meanwhile(heard) -> None:
    mine: list[str] = []
    with warnings_to(mine.append):
        diverge()
    assert len(mine) == 1 and "QPOS" in mine[0] and not heard
    diverge()
    assert len(mine) == len(heard) == 1


def test_the_handler_before_is_back_after_an_error(heard) -> None:
    with pytest.raises(ValueError, match="XML"), warnings_to(ignore):
        diverge()
        mujoco.MjModel.from_xml_string("<mujoco")
    assert not heard
    diverge()
    assert len(heard) == 1


def test_a_mute_drops_what_comes_while_it_is_on(heard) -> None:
    mute = Mute()
    mute.acquire(mute)
    mute.on = True
    diverge()
    assert not heard
    mute.on = False
    diverge()
    mute.release(mute)
    diverge()
    assert len(heard) == 2


def test_without_a_handler_warnings_are_printed(capsys) -> None:
    mute = Mute()
    mute.acquire(mute)
    diverge()
    mute.release(mute)
    assert "QPOS" in capsys.readouterr().err and mujoco.get_mju_user_warning() is None


def test_a_handler_that_was_set_meanwhile_stays(heard) -> None:
    mute, mine = Mute(), []
    mute.acquire(mute)
    mujoco.set_mju_user_warning(mine.append)
    mute.release(mute)
    diverge()
    assert len(mine) == 1 and not heard
