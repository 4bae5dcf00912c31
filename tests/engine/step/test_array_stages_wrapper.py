"""Custom components in a wrapper: results, faults, resets, errors at every call."""

from dataclasses import dataclass

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from own_components import OwnDelay
from played import played_arrays

N, DT, NAMES = 3, 0.01, ["hip", "knee", "ankle"]


@wp.kernel
def _spring_kernel(
    stiffness: wp.array[float],
    q: wp.array[float],
    target: wp.array[float],
    at: wp.array[wp.uint32],
    target_at: wp.array[wp.uint32],
    count: wp.array[float],
    efforts: wp.array[float],
):
    i = wp.tid()
    # a law with a memory: it grows stiffer with every step
    efforts[i] = (stiffness[i] + count[i]) * (target[target_at[i]] - q[at[i]])


@wp.kernel
def _count_kernel(before: wp.array[float], after: wp.array[float]):
    i = wp.tid()
    after[i] = before[i] + 1.0


class GrowingSpring(aa.Controller):
    """Effort `(stiffness + steps) · (q* − q)`, written against newton's contract."""

    @dataclass
    class State:
        count: wp.array

        def reset(self, mask: wp.array | None = None) -> None:
            self.count.assign((self.count.numpy() * (0 if mask is None else ~mask.numpy())).astype(np.float32))

    def __init__(self, stiffness: wp.array) -> None:
        self.stiffness = stiffness
        self.calls = 0
        self.fails_at: int | None = None

    def is_stateful(self) -> bool:
        return True

    def state(self, num_actuators: int, device) -> State:
        return self.State(wp.zeros(num_actuators, dtype=wp.float32, device=device))

    def compute(self, positions, velocities, target_pos, target_vel, feedforward, pos_indices, *rest, device=None):
        _velocities, target_pos_indices, _, forces, state, _dt = rest
        self._may_fail()
        inputs = [self.stiffness, positions, target_pos, pos_indices, target_pos_indices, state.count]
        wp.launch(_spring_kernel, len(forces), inputs, [forces], device=device)

    def update_state(self, current_state: State, next_state: State) -> None:
        self._may_fail()
        wp.launch(_count_kernel, len(next_state.count), [current_state.count], [next_state.count], device="cpu")

    def _may_fail(self) -> None:
        self.calls += 1
        if self.calls == self.fails_at:
            raise RuntimeError("the user's law failed")


class Halving(aa.Clamping):
    def modify_forces(self, src_forces, dst_forces, *_, device=None) -> None:
        dst_forces.assign(src_forces.numpy() / 2)


def full(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(N, value, dtype=dtype, device="cpu")


@pytest.fixture
def host():
    with played_arrays(NAMES, N) as made:
        yield made


def mixed() -> list[tuple[aa.ActuatorConfig, str]]:
    """A known law, a law of the user's own with delay and clamp, and a known law with a clamp of the user's own."""
    spring = aa.ActuatorConfig(
        GrowingSpring(full(10)), [aa.ClampingMaxEffort(full(40))], aa.Delay(full(1, wp.int32), 1)
    )
    return [
        (aa.ActuatorConfig(aa.ControllerPD(full(5), full(0))), "hip"),
        (spring, "knee"),
        (aa.ActuatorConfig(aa.ControllerPD(full(8), full(0)), [Halving()]), "ankle"),
    ]


def law_of(wrapper: aa.ArticulationActuators):
    return wrapper.actuators[1].controller


def efforts(host: ArraysHost) -> np.ndarray:
    return host.arrays().efforts.reshape(N, 3).copy()


def test_own_and_known_laws_act_together(host) -> None:
    with aa.ArticulationActuators.from_actuators("/Robot_.*", mixed()):
        found = []
        for target in (1.0, 2.0, 3.0, 4.0):
            host.arrays().position_targets[:] = target
            host.step(DT)
            found.append(efforts(host)[1].tolist())
    assert found == [[5, 10, 4], [10, 11, 8], [15, 24, 12], [20, 39, 16]]


def test_bad_input_never_reaches_the_users_law(host) -> None:
    with aa.ArticulationActuators.from_actuators("/Robot_.*", mixed()) as wrapper:
        host.arrays().position_targets[:] = 1.0
        host.arrays().positions[1 * 3 + 1] = np.nan
        host.step(DT)
        np.testing.assert_array_equal(efforts(host), [[5, 10, 4], [5, 0, 4], [5, 10, 4]])
        (fault,) = wrapper.faults
        assert (fault.robot_path, fault.dof_name, fault.inputs) == ("/Robot_1", "knee", ("position",))


def test_effort_that_is_not_finite_is_a_fault(host) -> None:
    pairs = [(aa.ActuatorConfig(GrowingSpring(full(np.inf)), [Halving()]), "knee")]
    with aa.ArticulationActuators.from_actuators("/Robot_.*", pairs) as wrapper:
        host.arrays().position_targets[:] = 1.0
        host.step(DT)
        assert not efforts(host).any() and {fault.inputs for fault in wrapper.faults} == {("effort",)}


def test_reset_of_a_robot_resets_its_own_law(host) -> None:
    with aa.ArticulationActuators.from_actuators("/Robot_.*", mixed()) as wrapper:
        for target in (1.0, 2.0):
            host.arrays().position_targets[:] = target
            host.step(DT)
        wrapper.reset(indices=[2])
        host.arrays().position_targets[:] = 3.0
        host.step(DT)
        assert efforts(host)[:, 1].tolist() == [24, 24, 30]


@pytest.mark.parametrize("call", range(1, 9))
def test_law_that_raises_leaves_no_effort_and_no_half_step(host, call) -> None:
    with aa.ArticulationActuators.from_actuators("/Robot_.*", mixed()) as wrapper:
        law_of(wrapper).fails_at = call
        host.arrays().position_targets[:] = 1.0
        steps = 0
        with pytest.raises(RuntimeError, match="the user's law failed"):
            for _ in range(8):
                host.step(DT)
                steps += 1
        assert steps == (call - 1) // 2 and not efforts(host).any()
        host.step(DT)
        assert not efforts(host).any()
        wrapper.reset()
        host.step(DT)
        assert efforts(host)[0].tolist() == [5, 10, 4]


def test_parameters_of_an_own_law_are_live(host) -> None:
    with aa.ArticulationActuators.from_actuators("/Robot_.*", mixed()) as wrapper:
        law_of(wrapper).stiffness.numpy()[0] = 20.0
        host.arrays().position_targets[:] = 1.0
        host.step(DT)
        assert efforts(host)[:, 1].tolist() == [20, 10, 10]


class StatefulLaw(aa.Controller):
    class State:
        def __init__(self, num_actuators: int) -> None:
            self.history = wp.zeros((3, num_actuators), dtype=wp.float32, device="cpu")

        def reset(self, mask=None) -> None:
            self.history.zero_()

    def is_stateful(self) -> bool:
        return True

    def state(self, num_actuators: int, device) -> State:
        return self.State(num_actuators)

    def compute(self, positions: wp.array, *rest, device=None) -> None:
        self.newest = positions.numpy()[rest[4].numpy()]
        rest[8].zero_()

    def update_state(self, current_state: State, next_state: State) -> None:
        next_state.history.assign(np.vstack([self.newest, current_state.history.numpy()[:2]]))


def test_a_history_keeps_what_it_was_where_an_input_is_bad() -> None:
    with played_arrays(["knee"], 2) as host:
        with aa.ArticulationActuators.from_actuators(
            "/Robot_.*", [(aa.ActuatorConfig(StatefulLaw()), "knee")]
        ) as wrapper:
            for position in (1.0, np.nan, 3.0):
                host.arrays().positions[:] = [position, 7.0]
                host.step(0.01)
            saved = next(values for name, values in wrapper.save_state().items() if name.endswith("history"))
            assert saved.T.tolist() == [[3.0, 1.0, 0.0], [7.0, 7.0, 7.0]]


@pytest.mark.parametrize("bad", ["positions", "velocities"])
def test_own_delay_takes_commands_in_while_a_measurement_is_bad(host, bad) -> None:
    def efforts(delay: type[aa.Delay]) -> list[float]:
        host.stop()
        host.play()
        memory = host.arrays()
        gains = (wp.full(N, value, dtype=wp.float32, device="cpu") for value in (10.0, 0.0))
        lag = wp.full(N, 2, dtype=wp.int32, device="cpu")
        config = aa.ActuatorConfig(aa.ControllerPD(*gains), [], delay(lag, 2))
        found = []
        with aa.ArticulationActuators.from_actuators("/Robot_.*", [(config, "hip")]):
            for step, target in enumerate((1.0, 2.0, 3.0, 4.0)):
                memory.position_targets[:] = target
                getattr(memory, bad)[:] = np.nan if step == 0 else 0.0
                host.step(DT)
                found.append(float(memory.efforts[0]))
        return found

    assert efforts(OwnDelay) == efforts(aa.Delay) == [0.0, 10.0, 10.0, 20.0]
