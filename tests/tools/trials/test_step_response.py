"""Step response on the robot, beside an ideal drive, and its characteristic numbers."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.tools.plots.step_response import Response, StepResponse, draw_step_response
from isaacsim.core.experimental.actuators.tools.trials.step_response import step_response
from places import REPOSITORY
from pxr import Sdf, Usd

ROBOTS = REPOSITORY / "data" / "robots"
TIME = np.arange(-0.1, 4.0, 0.001)


def swing(frequency: float = 2.0, damping: float = 0.3) -> Response:
    after = np.maximum(TIME, 0.0)
    natural = 2 * np.pi * frequency
    turned = natural * np.sqrt(1 - damping**2)
    wave = np.cos(turned * after) + damping / np.sqrt(1 - damping**2) * np.sin(turned * after)
    position = np.where(TIME >= 0, 1 - np.exp(-damping * natural * after) * wave, 0.0)
    return Response(TIME, np.where(TIME >= 0, 1.0, 0.0), position, 10 * np.ones_like(TIME))


def test_figures_of_a_second_order_system() -> None:
    """Overshoot exp(-π·ζ/√(1-ζ²)), rise time 1.32/ωn, and the last time outside of 2 %."""
    one = swing()
    assert one.overshoot == pytest.approx(np.exp(-np.pi * 0.3 / np.sqrt(1 - 0.09)), abs=1e-3)
    assert one.rise_time == pytest.approx(1.32 / (2 * np.pi * 2.0), rel=0.02)
    assert one.settling_time is not None and 0.7 < one.settling_time < 4 / (0.3 * 2 * np.pi * 2.0) * 1.1
    late = TIME >= one.settling_time
    assert np.abs(one.position[late] - 1).max() <= 0.0201 and one.final == pytest.approx(1.0, abs=1e-3)


def test_what_does_not_move_or_settle_has_no_figures() -> None:
    still = Response(TIME, swing().target, np.zeros_like(TIME), np.zeros_like(TIME))
    assert (still.rise_time, still.overshoot, still.settling_time) == (None, None, None)
    assert swing(damping=0.005).settling_time is None
    bounds = np.full((2, len(TIME)), np.nan)
    drawn = draw_step_response(StepResponse("knee", still, swing(), bounds))
    assert "Actuator: does not move\nIdeal drive: rises in" in drawn.axes[0].get_title("left")


def test_picture_ends_when_all_has_settled() -> None:
    quick = swing(frequency=20.0)
    bounds = np.array([np.full(len(TIME), -20.0), np.full(len(TIME), 20.0)])
    drawn = draw_step_response(StepResponse("knee", quick, quick, bounds, turns=True))
    assert [panel.get_ylabel() for panel in drawn.axes] == ["position [rad]", "effort [N·m]"]
    assert quick.settling_time is not None
    assert drawn.axes[0].get_xlim()[1] == pytest.approx(max(0.1, 1.6 * quick.settling_time), abs=0.002)
    assert {text.get_text() for text in drawn.axes[1].texts} == {"ideal drive", "actuator", "limit"}


def test_clamps_and_delay_slow_a_joint_down() -> None:
    def opened() -> aa.Simulation:
        simulation = aa.Simulation(ROBOTS / "pendulum.usda")
        stage = simulation.stage
        names = ("NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", "NewtonActuatorDelayAPI")
        # only of this stage: the layer of the file may apply to others
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            for prim in [prim for prim in stage.Traverse() if prim.GetTypeName() == "NewtonActuator"]:
                for name in names:
                    prim.AddAppliedSchema(name)
                prim.CreateAttribute("newton:delaySteps", Sdf.ValueTypeNames.Int).Set(6)
        return simulation

    found = step_response(opened, "/World/Pendulum", "hinge", amplitude=1.0, seconds=2.0)
    dt = found.actual.time[1] - found.actual.time[0]
    responses = {"actual": found.actual, "ideal": found.ideal}
    first = {name: one.time[np.argmax(np.abs(one.effort) > 1.0)] for name, one in responses.items()}
    assert first["ideal"] == pytest.approx(0.0, abs=1e-9) and first["actual"] == pytest.approx(6 * dt)
    assert np.abs(found.actual.effort).max() == pytest.approx(10.0) and np.abs(found.ideal.effort).max() > 15.0
    np.testing.assert_allclose(found.bounds, [[-10.0] * len(found.actual.time), [10.0] * len(found.actual.time)])
    assert found.actual.target[-1] - found.actual.target[0] == pytest.approx(1.0)
    # without clamps, the same law
    assert found.actual.final == pytest.approx(found.ideal.final, abs=1e-3)


def test_others_stay_at_their_targets() -> None:
    def opened() -> aa.Simulation:
        return aa.Simulation(ROBOTS / "arm_2dof.usda")

    found = step_response(opened, "/World/Arm", "extension", amplitude=0.02, seconds=1.0)
    assert found.actual.target[-1] - found.actual.target[0] == pytest.approx(0.02)
    assert found.actual.start == pytest.approx(0.0, abs=5e-3)
    with pytest.raises(ValueError, match="joint = 'wrist': must be driven"):
        step_response(opened, "/World/Arm", "wrist", amplitude=0.1, seconds=1.0)


def test_joint_beside_a_linkage_in_an_effort_mode_responds() -> None:
    """A shaft that nothing turns has the mode, too, and no controller."""
    law, near, far = aa.PDControlConfig(400.0, 40.0), "panda_joint6", "panda_joint7"
    limit = aa.MaxEffortClampingConfig(80.0)
    tendon = [law, limit, aa.LinkageConfig.tendon({near: 1.0, far: 0.5}), aa.ImplicitConfig()]

    def response(joint: str) -> StepResponse:
        return step_response(
            lambda: aa.Simulation(ROBOTS / "franka_panda.usda"),
            "/World/Panda",
            joint,
            amplitude=0.1,
            seconds=0.5,
            open_actuators=lambda path: driven(path, {"panda_joint4": [law, limit], near: tendon}),
        )

    found = response("panda_joint4").actual
    assert found.final - found.start == pytest.approx(0.1, abs=0.05)
    for joint in (near, far):
        with pytest.raises(ValueError, match=f"joint = '{joint}'"):
            response(joint)


def test_geared_motor_responds_as_the_same_motor_at_the_joint() -> None:
    geared = [aa.PDControlConfig(2.0, 0.2), aa.MaxEffortClampingConfig(0.5), aa.TransmissionConfig(-10.0, 0.4)]
    direct = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(5.0)]
    found = []
    for motor in (geared, direct):

        def opened(path: str, motor=motor) -> aa.ArticulationActuators:
            return aa.ArticulationActuators.from_configs(path, {".*": motor})

        robot = "/World/Pendulum"
        asked = {"amplitude": 0.3, "seconds": 0.3, "open_actuators": opened}
        found.append(step_response(lambda: aa.Simulation(ROBOTS / "pendulum.usda"), robot, "hinge", **asked))
    one, other = found
    np.testing.assert_allclose(one.actual.effort, other.actual.effort, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(one.ideal.position, other.ideal.position, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(one.bounds, other.bounds, rtol=1e-5)
