"""Laws of an actuator at states that are only tried, and what has none."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental import actuators as ours
from isaacsim.core.experimental.actuators import Actuator, ClampingMaxEffort, ControllerPD, ControllerPID, Delay
from isaacsim.core.experimental.actuators.engine.implicit import trial_laws
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from refusals import cases
from warp_arrays import floats, indices

DT = 0.01


def arrays(count: int) -> trial_laws.TrialArrays:
    def zeros() -> wp.array:
        return floats(np.zeros(count))

    return trial_laws.TrialArrays((zeros(), zeros()), (zeros(), zeros()), [zeros() for _ in range(3)], zeros())


def test_an_integral_is_held_while_states_are_tried() -> None:
    law = ControllerPID(*(floats([value] * 2) for value in (50.0, 20.0, 3.0, 1.0)), floats([0.5, -0.5]))
    actuator = Actuator(indices([0, 1]), law, clamping=[ClampingMaxEffort(floats([9.0, 90.0]))])
    given, state = arrays(2), actuator.state()
    state.controller_state.integral.assign([0.25, -0.125])
    laws = trial_laws.TrialLaws(actuator, given)
    laws.hold(state)
    given.commands[0].fill_(0.75)
    given.commands[2].assign([0.0, 2.0])
    for q, v in ((0.5, 1.0), (0.5, 1.0), (-0.25, -2.0)):
        given.tried[0].fill_(q)
        given.tried[1].fill_(v)
        given.effort.zero_()
        laws.compute(DT)
        wanted = np.array([0.5, -0.5]) + [0.0, 2.0] + 20.0 * np.array([0.25, -0.125]) + 50.0 * (0.75 - q) - 3.0 * v
        np.testing.assert_allclose(laws.computed.numpy(), wanted, rtol=1e-6)
        np.testing.assert_allclose(given.effort.numpy(), np.clip(wanted, [-9.0, -90.0], [9.0, 90.0]), rtol=1e-6)
    assert state.controller_state.integral.numpy().tolist() == [0.25, -0.125]


def test_impulses_are_applied_behind_the_limits() -> None:
    actuator = Actuator(
        indices([0, 1]), ControllerPD(*[floats([1.0] * 2)] * 2), clamping=[ClampingMaxEffort(floats([4.0] * 2))]
    )
    given, output = arrays(2), floats([10.0, 20.0, 30.0])
    given.commands[2].fill_(100.0)
    laws = trial_laws.TrialLaws(actuator, given)
    impulse = wp.array([0.03, -0.07], dtype=wp.float64, device="cpu")
    for _ in range(2):
        laws.apply(impulse, DT, output, indices([2, 0]))
    np.testing.assert_allclose(output.numpy(), [2.0, 20.0, 36.0])
    laws.add_computed(output, indices([0, 1]))
    np.testing.assert_allclose(output.numpy(), [2.0, 20.0, 36.0])
    assert laws.limits.faults() == []


class Kept(ours.Controller):
    PARAMETERS = ("kp", "ki", "kd", "integral_max", "const_effort")
    STATE = ("integral",)
    LAW = ControllerPID.LAW


@cases(
    "parts, said",
    (
        {"delay": lambda: catalogue.build(ours.TimedDelayConfig(steps=1), 1, "cpu")},
        "DelayTimed delays commands by a law of its own",
    ),
    ({"controller": lambda: Kept(*[floats([1.0])] * 5)}, "Kept remembers what no step may advance twice"),
)
def test_what_remembers_more_than_an_integral_is_refused(parts, said) -> None:
    pd = ControllerPD(floats([1.0]), floats([1.0]))
    made = {"controller": pd} | {name: make() for name, make in parts.items()}
    with pytest.raises(NotImplementedError, match=f"{said}: must be a controller or limit with a law and no memory"):
        trial_laws.require_solvable(Actuator(indices([0]), **made))


def test_what_has_no_controller_is_refused() -> None:
    friction = catalogue.build(ours.FrictionConfig(1.0), 1, "cpu")
    with pytest.raises(NotImplementedError, match="hip has no controller: must have one"):
        trial_laws.require_solvable(Actuator(indices([0]), others=[friction], label="hip"))


def test_controllers_limits_and_delays_are_let_pass() -> None:
    delay = Delay(wp.array([1], dtype=wp.int32, device="cpu"), max_delay=1)
    trial_laws.require_solvable(Actuator(indices([0]), ControllerPD(floats([1.0]), floats([1.0])), delay))

    class Prepared(ControllerPD):
        def prepare_implicit(self, *arguments, **named) -> None:
            """Do nothing of use."""

    assert [
        trial_laws.overrides_preparation(kind(floats([1.0]), floats([1.0]))) for kind in (ControllerPD, Prepared)
    ] == [False, True]
