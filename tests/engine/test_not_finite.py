"""A non-finite number in any input or parameter of one joint: effort 0 and a fault, with no other effect.

Each robot of a trial except the first gets a different such number, all in the same step.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.step.fault import FAULT_INPUTS, Fault
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from neural_twin import random_network
from own_components import OwnController, OwnLimit
from played import played_arrays

pytestmark = pytest.mark.usefixtures("engine_kind")
NAMES, DT = ["hip", "knee", "ankle"], 0.01
# the joint that gets the bad number, and when: all three joints have the same pipeline
JOINT, BROKEN, RESET, END = "knee", 6, 12, 18
COLUMN = NAMES.index(JOINT)
ARRAYS = ("positions", "velocities", "position_targets", "velocity_targets")
# parameters that switch a rule off when they are infinite
OFF = {"integral_max", "max_effort", "saturation_effort", "velocity_limit", "max_motor_effort"}
LAWS: dict[str, tuple[type, dict[str, float]]] = {
    "PD": (aa.ControllerPD, {"kp": 30.0, "kd": 2.0, "const_effort": 1.0}),
    "PID": (aa.ControllerPID, {"kp": 20.0, "ki": 300.0, "kd": 1.0, "integral_max": 0.04, "const_effort": 1.0}),
}
CLAMPS: dict[str, list[tuple[type, dict]]] = {
    "max effort": [(aa.ClampingMaxEffort, {"max_effort": 25.0})],
    "motor": [(aa.ClampingDCMotor, {"saturation_effort": 30.0, "velocity_limit": 1.5, "max_motor_effort": 20.0})],
    "table": [(aa.ClampingPositionBased, {"lookup_positions": [-1.0, 0.0, 1.0], "lookup_efforts": [9.0, 40.0, 5.0]})],
}
CLAMPS |= {"no": [], "three": [*CLAMPS["motor"], *CLAMPS["table"], *CLAMPS["max effort"]]}


@wp.kernel
def _copy_kernel(before: wp.array[float], after: wp.array[float]):
    after[wp.tid()] = before[wp.tid()]


class Nothing(aa.Clamping):
    """A clamp that computes arrays itself, so that its actuator is stepped beside the plan, and limits nothing."""

    def modify_forces(self, src_forces: wp.array, dst_forces: wp.array, *_, device=None) -> None:
        wp.launch(_copy_kernel, len(dst_forces), [src_forces], [dst_forces], device=device)


@dataclass
class Case:
    law: str
    clamps: str
    delay: int
    planned: bool

    def config(self, robots: int) -> aa.ActuatorConfig:
        controller, values = LAWS[self.law]
        clamps = [] if self.planned else [Nothing()]
        for clamp, numbers in CLAMPS[self.clamps]:
            clamps.append(clamp(**(numbers if clamp is aa.ClampingPositionBased else filled(numbers, robots))))
        lag = wp.full(robots, self.delay, dtype=wp.int32, device="cpu")
        return aa.ActuatorConfig(
            controller(**filled(values, robots)), clamps, aa.Delay(lag, self.delay) if self.delay else None
        )

    def parameters(self) -> list[tuple[int, str]]:
        """Position of a component, the controller being 0, and the name of a parameter of it."""
        parts = [LAWS[self.law], *CLAMPS[self.clamps]]
        return [
            (number, name)
            for number, (component, values) in enumerate(parts)
            for name in values
            if component is not aa.ClampingPositionBased
        ]

    def __str__(self) -> str:
        where = "in" if self.planned else "beside"
        return f"{self.law}, {self.clamps} clamp, delay {self.delay}, {where} the plan"

    def twin(self) -> oracle.Joint:
        """The same in float64."""
        kinds = {aa.ClampingMaxEffort: "max", aa.ClampingDCMotor: "dc", aa.ClampingPositionBased: "table"}
        clamps = [(kinds[clamp], *numbers.values()) for clamp, numbers in CLAMPS[self.clamps]]
        return oracle.Joint(**LAWS[self.law][1], clamps=clamps, delay_steps=self.delay)


CASES = [
    Case(law, clamps, delay, planned)
    for law in LAWS
    for clamps in CLAMPS
    for delay in (0, 2)
    for planned in (True, False)
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_limited_case = pytest.mark.parametrize(
    "case", [case for case in CASES if any(name in OFF for _, name in case.parameters())], ids=str
)


def filled(values: dict[str, float], robots: int) -> dict[str, wp.array]:
    return {name: wp.full(robots, value, dtype=wp.float32, device="cpu") for name, value in values.items()}


@dataclass
class Bad:
    """A number in an input, or in a parameter of a component, the controller being 0."""

    name: str
    value: float
    component: int | None = None


def signals(size: float, bads: list[Bad]) -> np.ndarray:
    """Inputs `(steps, 5, robots, joints)`, a robot more than bad numbers; errors are about `size`, mostly of a sign."""
    drawn = np.random.default_rng(7).normal(size=(END, 5, 1 + len(bads), len(NAMES)))
    drawn[:, 2] = drawn[:, 0] + size * (1 + 0.5 * drawn[:, 2])
    return drawn.astype(np.float32)


@dataclass
class Trial:
    """Results: efforts `(steps, robots, joints)`, faults of the broken step, and faults at the end."""

    efforts: np.ndarray
    faults: list[Fault] = field(default_factory=list)
    left: list[Fault] = field(default_factory=list)

    @property
    def others(self) -> np.ndarray:
        mine = np.zeros(self.efforts.shape[1:], bool)
        mine[1:, COLUMN] = True
        return self.efforts[:, ~mine].view(np.int32)

    def of(self, number: int) -> np.ndarray:
        return self.efforts[:, 1 + number, COLUMN]


def trial(case: Case, inputs: np.ndarray, bads: list[Bad]) -> Trial:
    """Run to the end, with bad inputs and parameters in one step; later those robots are reset."""
    robots = inputs.shape[2]
    host = ArraysHost(NAMES, robots)
    found = Trial(np.zeros((END, robots, len(NAMES)), np.float32))
    with aa.use_host(host):
        host.play()
        pairs = [(case.config(robots), name) for name in NAMES]
        with aa.ArticulationActuators.from_actuators("/Robot_.*", pairs) as wrapper:
            memory = host.arrays()
            assert memory is not None
            actuator = wrapper.actuators[COLUMN]
            clamps = [clamp for clamp in actuator.clamping if not isinstance(clamp, Nothing)]
            components = [actuator.controller, *clamps]
            for step, now in enumerate(inputs.copy()):
                put_back = []
                for robot, bad in enumerate(bads, start=1) if step == BROKEN else ():
                    if bad.component is None:
                        now[FAULT_INPUTS.index(bad.name), robot, COLUMN] = bad.value
                        continue
                    live = getattr(components[bad.component], bad.name).numpy()
                    put_back.append((live, robot, live[robot]))
                    live[robot] = bad.value
                if step == RESET:
                    wrapper.reset(indices=list(range(1, robots)))
                for name, values in zip(ARRAYS, now, strict=False):
                    getattr(memory, name)[:] = values.ravel()
                # the setter refuses what is not finite
                wrapper._attachment.feedforward_on_device.assign(now[4])
                host.step(DT)
                for live, robot, value in put_back:
                    live[robot] = value
                found.efforts[step] = memory.efforts.reshape(robots, -1)
                if step == BROKEN:
                    found.faults = wrapper.faults
            found.left = wrapper.faults
    return found


def require_harmless(case: Case, size: float, bads: list[Bad]) -> None:
    """Effort 0 and a fault in that step, then it goes on; no other joint notices; after a reset nothing is left."""
    inputs = signals(size, bads)
    broken, clean = trial(case, inputs, bads), trial(case, inputs, [])
    np.testing.assert_array_equal(broken.others, clean.others)
    for number, bad in enumerate(bads):
        mine, wanted = broken.of(number), clean.of(number)
        np.testing.assert_array_equal(mine[:BROKEN], wanted[:BROKEN], err_msg=str(bad))
        assert mine[BROKEN] == 0.0, bad
        assert (mine[BROKEN + 1 :] != 0.0).all() and np.isfinite(mine).all(), bad
        np.testing.assert_array_equal(mine[RESET:], wanted[RESET:], err_msg=str(bad))
    where = [(fault.robot, fault.robot_path, fault.dof_name, fault.label, fault.step) for fault in broken.faults]
    assert where == [(robot, f"/Robot_{robot}", JOINT, JOINT, BROKEN) for robot in range(1, 1 + len(bads))]
    for fault, bad in zip(broken.faults, bads, strict=True):
        assert set(fault.inputs) == {bad.name if bad.component is None else "effort"}, bad
    assert broken.left == clean.left == clean.faults == []


@every_case
def test_input_that_is_not_finite_stops_its_joint_for_a_step(case) -> None:
    require_harmless(case, 2.0, [Bad(name, bad) for name in FAULT_INPUTS[:5] for bad in (np.nan, np.inf, -np.inf)])


@every_case
def test_one_robot_alone_is_stopped(case) -> None:
    require_harmless(case, 2.0, [Bad(FAULT_INPUTS[0], np.nan)])


@every_case
def test_input_that_is_not_finite_leaves_no_trace(case) -> None:
    """Nothing of it comes out of an integral or a delay later: the law stands still, the command before is held."""
    bads = [Bad(name, np.nan) for name in FAULT_INPUTS[:5]]
    inputs = signals(0.3, bads)
    found = trial(case, inputs, bads)
    for which, bad in enumerate(bads):
        joint, expected = case.twin(), []
        for step, now in enumerate(inputs[:RESET]):
            mine = now[:, 1 + which, COLUMN].copy()
            if step == BROKEN:
                mine[which] = np.nan
            expected.append(joint.step(*mine, DT))
        np.testing.assert_allclose(found.of(which)[:RESET], expected, atol=1e-4, rtol=0, err_msg=bad.name)


@every_case
@pytest.mark.parametrize("size", [0.01, 2.0], ids=["small error", "large error"])
def test_parameter_that_is_not_finite_stops_its_joint_for_a_step(case, size) -> None:
    """NaN and both infinities, but for +inf where it switches a rule off; a limit never just vanishes."""
    bads = [
        Bad(name, bad, at)
        for at, name in case.parameters()
        for bad in (np.nan, -np.inf, *([] if name in OFF else [np.inf]))
    ]
    require_harmless(case, size, bads)


@every_limited_case
def test_infinite_limit_is_none_for_as_long_as_it_stands(case) -> None:
    bads = [Bad(name, np.inf, at) for at, name in case.parameters() if name in OFF]
    inputs = signals(2.0, bads)
    found = trial(case, inputs, bads)
    for number, bad in enumerate(bads):
        joint = case.twin()
        limit, clamps = joint.integral_max, joint.clamps
        expected = []
        for step, now in enumerate(inputs):
            if step == RESET:
                joint.reset()
            joint.integral_max, joint.clamps = limit, clamps
            if step == BROKEN and bad.component == 0:
                joint.integral_max = np.inf
            elif step == BROKEN and bad.component:
                at = bad.component - 1
                kind, *numbers = clamps[at]
                numbers[list(CLAMPS[case.clamps][at][1]).index(bad.name)] = np.inf
                joint.clamps = [*clamps[:at], (kind, *numbers), *clamps[at + 1 :]]
            expected.append(joint.step(*now[:, 1 + number, COLUMN], DT))
        np.testing.assert_allclose(found.of(number), expected, atol=1e-4, rtol=0, err_msg=bad.name)
    assert found.faults == found.left == []


@dataclass
class Pipeline:
    """Actuators of two joints whose last limit can be spoilt, and whether their efforts are observed."""

    controller: Callable[[int], Any]
    clamps: tuple[type, ...] = (aa.ClampingMaxEffort,)
    observed: bool = False
    delay: int = 0

    def config(self, robots: int) -> aa.ActuatorConfig:
        clamps = [clamp(wp.full(robots, 50.0, dtype=wp.float32, device="cpu")) for clamp in self.clamps]
        lag = aa.Delay(wp.full(robots, self.delay, dtype=wp.int32, device="cpu"), 2) if self.delay else None
        return aa.ActuatorConfig(self.controller(robots), clamps, lag)


def pid(robots: int, law: type = aa.ControllerPID):
    return law(**filled(LAWS["PID"][1], robots))


def network(kind: str) -> Callable[[int], Any]:
    laws = {"mlp": aa.ControllerNeuralMLP, "lstm": aa.ControllerNeuralLSTM, "gru": aa.ControllerNeuralGRU}
    about = {"input_idx": [0, 3, 1], "pos_scale": 2.0} if kind == "mlp" else {}
    inputs = 6 if kind == "mlp" else 2 if kind == "lstm" else 3
    about |= {"input_columns": ["velocity_error", "position", "target_position"]} if kind == "gru" else {}
    checkpoint = Checkpoint(random_network(kind, inputs), {"effort_scale": 9.0} | about, "onnx", kind)
    return lambda _robots: laws[kind](checkpoint)


STATEFUL = {
    "PID": Pipeline(pid),
    "PID, delayed": Pipeline(pid, delay=2),
    "PID, observed": Pipeline(pid, observed=True),
    "PID, two limits of a kind": Pipeline(pid, (aa.ClampingMaxEffort, aa.ClampingMaxEffort)),
    "PID, own clamp first": Pipeline(pid, (OwnLimit, aa.ClampingMaxEffort)),
    "PID, own clamp last": Pipeline(pid, (OwnLimit,)),
    "own controller": Pipeline(lambda robots: pid(robots, OwnController)),
    "own controller, own clamp": Pipeline(lambda robots: pid(robots, OwnController), (OwnLimit,)),
    **{f"{kind} network": Pipeline(network(kind)) for kind in ("mlp", "lstm", "gru")},
}


@pytest.mark.parametrize("name", STATEFUL)
def test_fault_of_a_limit_keeps_the_state(name) -> None:
    pipeline, robots, bad = STATEFUL[name], 3, 1
    with played_arrays(NAMES, robots) as host:
        pairs = [(pipeline.config(robots), joint) for joint in NAMES]
        with aa.ArticulationActuators.from_actuators("/Robot_.*", pairs) as wrapper:
            if pipeline.observed:
                wrapper.observe_efforts()
            memory = host.arrays()
            assert memory is not None
            memory.position_targets[:] = 0.3
            for _ in range(3):
                host.step(DT)
            limit = wrapper.actuators[COLUMN].clamping[-1].max_effort.numpy()
            limit[bad] = np.nan
            before = wrapper.save_state()
            memory.velocities[:] = 0.2
            host.step(DT)
            after = wrapper.save_state()
            assert memory.efforts.reshape(robots, -1)[bad, COLUMN] == 0.0
            faults = [(fault.robot, fault.dof_name, tuple(fault.inputs)) for fault in wrapper.faults]
            assert faults == [(bad, JOINT, ("effort",))]
    remembered = [key for key in before if ".controller." in key]
    assert any(key.startswith(JOINT) for key in remembered)
    for key in remembered:
        # of networks robots are on axis 1
        axis = int(before[key].ndim > 1)
        changed = [not np.array_equal(before[key].take(k, axis), after[key].take(k, axis)) for k in range(robots)]
        assert changed == [not (key.startswith(JOINT) and robot == bad) for robot in range(robots)], key
