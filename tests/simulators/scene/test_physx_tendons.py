"""Fixed tendons of PhysX on MuJoCo: springs of the same efforts, and by name those that it has not."""

import re
from importlib.util import find_spec

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from physx_tendons import JOINTS, ROBOT, finger, tendon
from pxr import Sdf, UsdGeom
from refusals import cases
from small_stages import SmallStage, weightless

# force coefficients that put the ratio of the gearings, 1 and 0.8, on the joints
HELD = {JOINTS[0]: (1.0, 0.2), JOINTS[1]: (0.8, 0.8)}
BOTH = dict.fromkeys(JOINTS[:2], (1.0, 1.0))
SPRING = {"stiffness": 0.2, "damping": 0.01, "restLength": 6.0, "offset": 2.0}
LIMITS = {"limitStiffness": 0.3, "lowerLimit": -2.0, "upperLimit": 4.0}


def efforts(made: SmallStage, positions: list[float], velocities: list[float]) -> np.ndarray:
    model, _ = build_model(read_scene(made.stage), 0.001)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = positions, velocities
    mujoco.mj_forward(model, data)
    return data.qfrc_passive


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_efforts_are_those_of_physx(unit) -> None:
    """The law of PhysX, by hand: half the tension times the force coefficients of a joint and of those behind."""
    made = weightless(finger())
    UsdGeom.SetStageMetersPerUnit(made.stage, unit)
    tendon(made, HELD, **SPRING, **LIMITS)
    q, v = np.array([0.3, 0.2, 0.1]), np.array([1.0, -0.5, 2.0])
    gears = np.degrees([1.0, 0.8, 0.0])
    length = gears @ q + 2.0
    tension = 0.2 * (length - 6.0) + 0.01 * gears @ v + 0.3 * (length - 4.0)
    expected = -tension / 2 * np.array([0.2 + 0.8, 0.8, 0.0]) * unit**2
    np.testing.assert_allclose(efforts(made, q.tolist(), v.tolist()), expected, rtol=1e-6)


def test_slides_and_hinges_behind_them() -> None:
    made = weightless(finger())
    made.stage.GetPrimAtPath(JOINTS[0]).SetTypeName("PhysicsPrismaticJoint")
    tendon(made, {JOINTS[0]: (1.0, 2.0), JOINTS[1]: (0.01, np.degrees(0.02))}, stiffness=3.0)
    length = 0.1 + np.degrees(0.01) * 0.2
    expected = -3.0 * length * np.array([1.0, np.degrees(0.01), 0.0])
    np.testing.assert_allclose(efforts(made, [0.1, 0.2, 0.0], [0.0] * 3), expected, rtol=1e-6)


@cases(
    "axes, second, why",
    ({JOINTS[0]: (1.0, 1.0), JOINTS[1]: (1.0, 1.0)}, {}, "(cord: its joints feel 1 : 0.5 of its tension, in another"),
    ({JOINTS[0]: (1.0, -1.0)}, {}, "(cord: its joints feel -1 of its tension"),
    ({JOINTS[0]: (1.0, 1.0), JOINTS[1]: (np.nan, 1.0)}, {}, "(cord: gearing = nan: must be finite)"),
    ({JOINTS[0]: (1.0, 1.0), JOINTS[2]: (1.0, 1.0)}, {}, "no axis of it at the joint before"),
    (dict.fromkeys(JOINTS, (1.0, 1.0)), {"axis": "Z"}, "what hinge feels of it at third depends on the pose"),
    (BOTH, {"second": "Prismatic"}, "what hinge feels of it at second"),
    (BOTH, {"second": "Fixed"}, "must be at hinges and slides of one"),
)
def test_others_are_left_out_by_name(axes, second, why) -> None:
    made = finger(**second)
    tendon(made, axes, stiffness=1.0)
    with pytest.warns(UserWarning, match=rf"tendons of PhysX that MuJoCo has not are left out: .*{re.escape(why)}"):
        read_scene(made.stage)


@pytest.mark.parametrize("name", [*SPRING, *LIMITS])
def test_a_number_that_is_not_finite_is_named(name) -> None:
    made = finger()
    tendon(made, HELD, **SPRING | LIMITS | {name: np.nan})
    with pytest.warns(UserWarning, match=rf"\(cord: {name} = nan: must be finite\)"):
        assert read_scene(made.stage).tendons == []


def test_a_tendon_that_is_off_is_none_and_a_spatial_one_is_named() -> None:
    made = finger()
    # it does not matter which joints would feel it
    tendon(made, BOTH, stiffness=1.0, tendonEnabled=False)
    made.stage.GetPrimAtPath(f"{ROBOT}/tip").AddAppliedSchema("PhysxTendonAttachmentRootAPI:rope")
    with pytest.warns(UserWarning, match=rf"left out: <{ROBOT}/tip> \(spatial\)\. Open"):
        assert read_scene(made.stage).tendons == []


@pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
@pytest.mark.parametrize("limits", [{}, LIMITS])
def test_motion_is_that_of_physx(limits) -> None:
    made = weightless(finger())
    root = made.stage.GetPrimAtPath(ROBOT)
    root.AddAppliedSchema("PhysxArticulationAPI")
    # each is one more share of the spring's effort
    root.CreateAttribute("physxArticulation:solverVelocityIterationCount", Sdf.ValueTypeNames.Int).Set(0)
    tendon(made, HELD, **SPRING, **limits)
    paths = []
    for engine in ("mujoco", "physx"):
        with Simulation(made.stage, 2.5e-4, engine=engine) as sim:
            sim.play()
            robot, path = sim.articulation(ROBOT), []
            for _ in range(40):
                sim.step(100)
                path.append(robot.get_dof_positions().numpy()[0])
        paths.append(np.array(path))
    assert np.ptp(paths[0], axis=0)[:2].min() > 0.04
    np.testing.assert_allclose(*paths, atol=1e-3)
