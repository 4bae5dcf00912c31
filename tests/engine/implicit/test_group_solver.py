"""Newton's method for impulses of coupled joints, with laws written in NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from chains import mass_matrices
from isaacsim.core.experimental.actuators.engine.implicit.group_solver import GroupSolver, Rows
from isaacsim.core.experimental.actuators.specs.implicit_options import ImplicitOptions
from warp_arrays import floats

DT = 0.01
Law = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Problem:
    def __init__(self, joints: list[int], law: Law, **options) -> None:
        most = max(joints)
        self.block = np.repeat(np.arange(len(joints)), joints)
        self.place = np.concatenate([np.arange(number) for number in joints])
        self.inverse = np.zeros((len(joints), most, most))
        for number, size in enumerate(joints):
            self.inverse[number, :size, :size] = np.linalg.inv(mass_matrices(1, size, number)[0])
        starts = np.cumsum([0, *joints[:-1]])
        rows = Rows(self.block, self.place, starts, np.array(joints), wp.get_device("cpu"))
        self.solver, self._law, self.calls = GroupSolver(rows, ImplicitOptions(**options)), law, 0
        rng = np.random.default_rng(1)
        self.q, self.v = rng.normal(size=(2, len(self.block))).astype(np.float32)
        self.solver.position.assign(self.q)
        self.solver.velocity.assign(self.v)

    def _compute(self) -> None:
        solver = self.solver
        self.calls += 1
        effort = self._law(solver.end_position.numpy(), solver.end_velocity.numpy())
        solver.effort.assign(solver.effort.numpy() + effort.astype(np.float32))

    def solve(self, bias: np.ndarray | None = None) -> np.ndarray:
        given = None if bias is None else floats(bias)
        self.solver.solve(floats(self.inverse), DT, given, self._compute)
        return self.solver.impulse.numpy() / DT

    def left(self, effort: np.ndarray, bias=0.0) -> np.ndarray:
        """What the law would add to efforts at the end of the step, in float64."""
        whole = np.where(
            self.block[:, None] == self.block, self.inverse[self.block[:, None], self.place[:, None], self.place], 0
        )
        v = self.v + whole @ (DT * (effort - bias))
        return self._law(self.q + DT * v, v) - effort


def stiff(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return 3000.0 * (0.3 - q) - 20.0 * v


def curved(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return 30.0 * np.tanh(20.0 * (0.3 - q)) - 5.0 * np.arctan(3.0 * v)


@pytest.mark.parametrize("law", [stiff, curved])
@pytest.mark.parametrize("warm_start", ["explicit", "zero"])
def test_efforts_are_those_of_the_law_at_the_end(law, warm_start) -> None:
    problem = Problem([3, 1, 2], law, max_iters=30, warm_start=ImplicitOptions.WarmStart(warm_start))
    for given in (None, np.linspace(-3.0, 3.0, 6).astype(np.float32)):
        effort = problem.solve(given)
        # a residual is larger than the error by the stiffness
        assert np.abs(problem.left(effort, 0.0 if given is None else given)).max() < 2e-3 * (1 + np.abs(effort).max())


def test_a_linear_law_takes_one_iteration_and_a_last_step() -> None:
    once, often = (Problem([3], stiff, max_iters=number) for number in (1, 20))
    np.testing.assert_allclose(once.solve(), often.solve(), rtol=1e-4, atol=1e-4)
    assert once.calls == 7 <= often.calls


def test_steps_are_halved_where_whole_ones_jump() -> None:
    """Between limits of a strongly curved law; without tries of other lengths it ends elsewhere."""
    found = {}
    for tries in (0, 12):
        problem = Problem([2], lambda q, v: 40.0 * np.tanh(9.0 * (-1.5 - v) ** 3), max_iters=12, ls_iterations=tries)
        found[tries] = np.abs(problem.left(problem.solve())).max()
    assert found[12] < 1e-2 < found[0]


def test_a_bad_input_leaves_its_joint_out() -> None:
    problem = Problem([2, 1], stiff)
    problem.solver.velocity.assign([np.nan, *problem.v[1:]])
    effort = problem.solve()
    assert effort[0] == 0.0
    own = problem.inverse[0, 1, 1]
    slack = stiff(problem.q[1] + DT * problem.v[1], problem.v[1])
    np.testing.assert_allclose(effort[1], slack / (1 + DT * own * (3000.0 * DT + 20.0)), rtol=1e-5)
    problem.inverse[1] = np.nan
    assert np.isnan(problem.solve()).tolist() == [False, False, True]


def test_own_responses_are_the_diagonals() -> None:
    rows = Rows(np.array([1, 0]), np.array([1, 0]), np.array([0, 2]), np.array([2, 2]), wp.get_device("cpu"))
    found = floats([0.0, 0.0])
    rows.diagonal(floats([[[1.0, 2.0], [2.0, 5.0]], [[3.0, 4.0], [4.0, 7.0]]]), found)
    assert found.numpy().tolist() == [7.0, 1.0]
