"""A number that is not finite, in any input or parameter of one joint: effort 0, a fault, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatorConfig,
    ArticulationActuators,
    Clamping,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    ControllerPD,
    ControllerPID,
    Delay,
    use_host,
)
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost
from isaacsim.core.experimental.actuators.pipeline.step.fault import FAULT_INPUTS, Fault

pytestmark = pytest.mark.usefixtures("engine_kind")

NAMES, ROBOTS, DT = ["hip", "knee", "ankle"], 3, 0.01
# the joint that gets the bad number, and when: all three joints have the same pipeline
JOINT, ROBOT, BROKEN, RESET, END = "knee", 1, 6, 12, 18
COLUMN = NAMES.index(JOINT)
ARRAYS = ("positions", "velocities", "position_targets", "velocity_targets")

# parameters that switch a rule off when they are infinite
OFF = {"integral_max", "max_effort", "saturation_effort", "velocity_limit", "max_motor_effort"}
LAWS: dict[str, tuple[type, dict[str, float]]] = {
    "PD": (ControllerPD, {"kp": 30.0, "kd": 2.0, "const_effort": 1.0}),
    "PID": (ControllerPID, {"kp": 20.0, "ki": 300.0, "kd": 1.0, "integral_max": 0.04, "const_effort": 1.0}),
}
CLAMPS: dict[str, list[tuple[type, dict[str, Any]]]] = {
    "max effort": [(ClampingMaxEffort, {"max_effort": 25.0})],
    "motor": [(ClampingDCMotor, {"saturation_effort": 30.0, "velocity_limit": 1.5, "max_motor_effort": 20.0})],
    "table": [(ClampingPositionBased, {"lookup_positions": [-1.0, 0.0, 1.0], "lookup_efforts": [9.0, 40.0, 5.0]})],
}
CLAMPS |= {"no": [], "three": [*CLAMPS["motor"], *CLAMPS["table"], *CLAMPS["max effort"]]}


@wp.kernel
def _copy_kernel(before: wp.array[float], after: wp.array[float]):
    after[wp.tid()] = before[wp.tid()]


class Nothing(Clamping):
    """A clamp that computes arrays itself, so that its actuator is stepped beside the plan, and limits nothing."""

    def modify_forces(self, src_forces: wp.array, dst_forces: wp.array, *_: Any, device: Any = None) -> None:
        wp.launch(_copy_kernel, len(dst_forces), [src_forces], [dst_forces], device=device)


@dataclass
class Case:
    """One pipeline on all joints and robots."""

    law: str
    clamps: str
    delay: int
    planned: bool

    def config(self) -> ActuatorConfig:
        controller, values = LAWS[self.law]
        clamps: list[Any] = [] if self.planned else [Nothing()]
        for clamp, numbers in CLAMPS[self.clamps]:
            clamps.append(clamp(**(numbers if clamp is ClampingPositionBased else filled(numbers))))
        delay = Delay(wp.full(ROBOTS, self.delay, dtype=wp.int32, device="cpu"), self.delay) if self.delay else None
        return ActuatorConfig(controller(**filled(values)), clamps, delay)

    def parameters(self) -> list[tuple[int, str]]:
        """Position of a component, the controller being 0, and the name of a parameter of it."""
        parts = [LAWS[self.law], *CLAMPS[self.clamps]]
        return [
            (number, name)
            for number, (component, values) in enumerate(parts)
            for name in values
            if component is not ClampingPositionBased
        ]

    def twin(self) -> oracle.Joint:
        """The same in float64."""
        kinds = {ClampingMaxEffort: "max", ClampingDCMotor: "dc", ClampingPositionBased: "table"}
        clamps = [(kinds[clamp], *numbers.values()) for clamp, numbers in CLAMPS[self.clamps]]
        return oracle.Joint(**LAWS[self.law][1], clamps=clamps, delay_steps=self.delay)


every_case = pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            Case(law, clamps, delay, planned),
            id=f"{law}, {clamps} clamp, delay {delay}, {'in' if planned else 'beside'} the plan",
        )
        for law in LAWS
        for clamps in CLAMPS
        for delay in (0, 2)
        for planned in (True, False)
    ],
)


def filled(values: dict[str, float]) -> dict[str, wp.array]:
    return {name: wp.full(ROBOTS, value, dtype=wp.float32, device="cpu") for name, value in values.items()}


def signals(size: float) -> np.ndarray:
    """Inputs `(steps, 5, robots, joints)`; the errors are about `size`, mostly of one sign."""
    drawn = np.random.default_rng(7).normal(size=(END, 5, ROBOTS, len(NAMES)))
    drawn[:, 2] = drawn[:, 0] + size * (1 + 0.5 * drawn[:, 2])
    return drawn.astype(np.float32)


@dataclass
class Trial:
    """What happened: efforts `(steps, robots, joints)`, faults of the broken step, and faults at the end."""

    efforts: np.ndarray
    faults: list[Fault] = field(default_factory=list)
    left: list[Fault] = field(default_factory=list)

    @property
    def others(self) -> np.ndarray:
        """Bits of the efforts of all joints and robots but one."""
        return np.delete(self.efforts.reshape(END, -1), ROBOT * len(NAMES) + COLUMN, axis=1).view(np.int32)

    @property
    def mine(self) -> np.ndarray:
        """Efforts of that one."""
        return self.efforts[:, ROBOT, COLUMN]


def trial(
    case: Case, inputs: np.ndarray, *, which: int = -1, parameter: tuple[int, str] | None = None, bad: float = 0.0
) -> Trial:
    """Run to the end, with a bad input or parameter in one step; later the robot is reset."""
    host = ArraysHost(NAMES, ROBOTS)
    found = Trial(np.zeros((END, ROBOTS, len(NAMES)), np.float32))
    with use_host(host):
        host.play()
        pairs = [(case.config(), name) for name in NAMES]
        with ArticulationActuators.from_actuators("/Robot_.*", pairs) as wrapper:
            memory = host.arrays()
            assert memory is not None
            live = None
            if parameter is not None:
                actuator = wrapper.actuators[COLUMN]
                clamps = [clamp for clamp in actuator.clamping if not isinstance(clamp, Nothing)]
                live = getattr([actuator.controller, *clamps][parameter[0]], parameter[1]).numpy()
            good = 0.0 if live is None else live[ROBOT]
            for step, now in enumerate(inputs.copy()):
                if live is not None:
                    live[ROBOT] = bad if step == BROKEN else good
                if step == RESET:
                    wrapper.reset(indices=[ROBOT])
                if step == BROKEN and which >= 0:
                    now[which, ROBOT, COLUMN] = bad
                for name, values in zip(ARRAYS, now, strict=False):
                    getattr(memory, name)[:] = values.ravel()
                # the setter refuses what is not finite
                wrapper._attachment.feedforward_on_device.assign(now[4])
                host.step(DT)
                found.efforts[step] = memory.efforts.reshape(ROBOTS, -1)
                if step == BROKEN:
                    found.faults = wrapper.faults
            found.left = wrapper.faults
    return found


def require_harmless(broken: Trial, clean: Trial, inputs: set[str], what: str) -> None:
    """Effort 0 and a fault in that step, then it goes on; no other joint notices; after a reset nothing is left."""
    np.testing.assert_array_equal(broken.others, clean.others, err_msg=what)
    np.testing.assert_array_equal(broken.mine[:BROKEN], clean.mine[:BROKEN], err_msg=what)
    assert broken.mine[BROKEN] == 0.0, what
    assert (broken.mine[BROKEN + 1 :] != 0.0).all() and np.isfinite(broken.mine).all(), what
    np.testing.assert_array_equal(broken.mine[RESET:], clean.mine[RESET:], err_msg=what)
    where = [(fault.robot, fault.robot_path, fault.dof_name, fault.label, fault.step) for fault in broken.faults]
    assert where == [(ROBOT, f"/Robot_{ROBOT}", JOINT, JOINT, BROKEN)], what
    assert set(broken.faults[0].inputs) == inputs, what
    assert broken.left == clean.left == clean.faults == [], what


@every_case
def test_input_that_is_not_finite_stops_its_joint_for_a_step(case: Case) -> None:
    """Each of the five inputs, NaN and both infinities."""
    inputs = signals(2.0)
    clean = trial(case, inputs)
    for which, name in enumerate(FAULT_INPUTS[:5]):
        for bad in (np.nan, np.inf, -np.inf):
            require_harmless(trial(case, inputs, which=which, bad=bad), clean, {name}, f"{name} = {bad}")


@every_case
def test_input_that_is_not_finite_leaves_no_trace(case: Case) -> None:
    """Nothing of it comes out of an integral or a delay later: the law stands still, the command before is held."""
    inputs = signals(0.3)
    for which, name in enumerate(FAULT_INPUTS[:5]):
        joint, found = case.twin(), trial(case, inputs, which=which, bad=np.nan)
        expected = []
        for step, now in enumerate(inputs[:RESET]):
            mine = now[:, ROBOT, COLUMN].copy()
            if step == BROKEN:
                mine[which] = np.nan
            expected.append(joint.step(*mine, DT))
        np.testing.assert_allclose(found.mine[:RESET], expected, atol=1e-4, rtol=0, err_msg=name)


@every_case
@pytest.mark.parametrize("size", [0.01, 2.0], ids=["small error", "large error"])
def test_parameter_that_is_not_finite_stops_its_joint_for_a_step(case: Case, size: float) -> None:
    """NaN and both infinities, but for +inf where it switches a rule off; a limit never just vanishes."""
    inputs = signals(size)
    clean = trial(case, inputs)
    for at, name in case.parameters():
        for bad in (np.nan, -np.inf, *([] if name in OFF else [np.inf])):
            broken = trial(case, inputs, parameter=(at, name), bad=bad)
            require_harmless(broken, clean, {"effort"}, f"{name} = {bad}")


@every_case
def test_infinite_limit_is_none_for_as_long_as_it_stands(case: Case) -> None:
    """Written into a running actuator; the effort is that of the law without the limit, and no fault."""
    inputs = signals(2.0)
    for at, name in case.parameters():
        if name not in OFF:
            continue
        joint, found = case.twin(), trial(case, inputs, parameter=(at, name), bad=np.inf)
        limit, clamps = joint.integral_max, joint.clamps
        expected = []
        for step, now in enumerate(inputs):
            if step == RESET:
                joint.reset()
            joint.integral_max, joint.clamps = limit, clamps
            if step == BROKEN and at == 0:
                joint.integral_max = np.inf
            elif step == BROKEN:
                kind, *numbers = clamps[at - 1]
                numbers[list(CLAMPS[case.clamps][at - 1][1]).index(name)] = np.inf
                joint.clamps = [*clamps[: at - 1], (kind, *numbers), *clamps[at:]]
            expected.append(joint.step(*now[:, ROBOT, COLUMN], DT))
        np.testing.assert_allclose(found.mine, expected, atol=1e-4, rtol=0, err_msg=name)
        assert found.faults == found.left == [], name
