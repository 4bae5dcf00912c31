from collections.abc import Sequence

import numpy as np
import pytest
from hidden_motors import hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Links
from isaacsim.core.experimental.actuators.tools.identification.fit import Fit
from isaacsim.core.experimental.actuators.tools.identification.identified import Replay, mean_error
from isaacsim.core.experimental.actuators.tools.identification.identify import refined
from isaacsim.core.experimental.actuators.tools.identification.joints import BIASES, Joints
from isaacsim.core.experimental.actuators.tools.identification.models import FIRST
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of
from isaacsim.core.experimental.actuators.tools.identification.parts import replay

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
NAMES = ["upper", "lower"]
GAINS = {"kp": 40.0, "kd": 1.0}
ARM = """<mujoco model="arm"><worldbody><body name="base"><geom size="0.01" contype="0" conaffinity="0"/>
<body name="one"><joint name="upper" axis="0 1 0"/><inertial pos="0 0 -0.2" mass="1" diaginertia="0.01 0.01 0.01"/>
<body name="two" pos="0 0 -0.4"><joint name="lower" axis="0 1 0"/>
<inertial pos="0 0 -0.2" mass="1" diaginertia="0.01 0.01 0.01"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.slow
def test_the_whole_robot_is_nearer_to_the_log(tmp_path) -> None:
    arm = tmp_path / "arm.xml"
    arm.write_text(ARM)
    true = {name: hidden_motor(bias=bias, **GAINS) for name, bias in zip(NAMES, (0.05, -0.05), strict=True)}
    log = hidden_log(str(arm), true, NAMES, size=1.2, seconds=6.0)
    links = Links(arm, NAMES)
    try:
        motors = {name: known_motor(**GAINS) for name in NAMES}
        joints = Joints(motors, FitOptions(), links.armatures, [log], lambda _words, _share: None)
        joints = joints.fitting(BIASES)
        cases = [links.decouple(log, np.zeros(2))]
    finally:
        links.close()
    fits = joints.fit(FIRST, cases, None)

    def replays(found: Sequence[Fit]) -> list[Replay]:
        return [replay(arm, joints.motors(found, cases), log, held_out=False)]

    again, shown = refined(joints, replays, FIRST, fits, cases, 2)
    assert refined(joints, replays, FIRST, fits, cases, 0)[0] is fits
    np.testing.assert_array_equal(shown[0].positions, replays(again)[0].positions)
    assert mean_error(shown) < 0.9 * mean_error(replays(fits))
    for fit, name in zip(again, NAMES, strict=True):
        assert fit.values["coulomb"] == pytest.approx(value_of(true[name], "coulomb"), rel=0.05)
