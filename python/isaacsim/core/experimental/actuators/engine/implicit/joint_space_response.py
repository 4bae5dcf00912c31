"""Inverse mass matrices of articulations: how an impulse at one joint changes the velocities of all of them.

    A = (H + diag(armature))⁻¹                          of each articulation; v⁺ = v + A·(p − h·b)

p are the impulses of the joints, b is what balances gravity and Coriolis forces. A model of newton gives H at a state;
other programs give the matrices. Cholesky's method in float64, each pivot at least ε·max(H_jj, 1) with the ε of single
precision, so that a joint without mass moves by a finite amount.

newton's own class of this name is taken wherever ours is. This module does not import newton: a model has done so.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportOperatorIssue=false

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import warp as wp

from ...base.errors import NotCopied, shown
from ...base.memory import warp_view
from ...base.values import ArrayLike, as_numpy
from .mujoco_coordinates import to_newton

wp.set_module_options({"enable_backward": False})

# joints of these types have a wrench, not a number per axis
_WITH_WRENCH = ("FREE", "DISTANCE")
_EPSILON = wp.constant(wp.float64(np.finfo(np.float32).eps))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Which row of which inverse mass matrix belongs to each degree of freedom."""

    block: np.ndarray  # matrix of each DOF, -1 for a DOF of no articulation, `(DOFs,)`
    place: np.ndarray  # row of each DOF in its matrix, `(DOFs,)`
    starts: np.ndarray  # first row of each matrix among all rows, `(articulations,)`
    counts: np.ndarray  # number of rows of each, likewise
    refused: dict[int, str]  # reason by DOF why a joint has no position of one number per DOF

    @property
    def num_rows(self) -> int:
        """Number of rows of all matrices."""
        return int((self.starts + self.counts).max(initial=0))


class JointSpaceResponse(NotCopied):
    """Inverse mass matrices of the articulations of a newton model, for `Actuator.set_effort_mode_implicit`.

    Without newton, see `from_matrices`. The matrices are zero until the first refresh.

    Args:
        model: Model of newton with articulations.

    Raises:
        TypeError: `model` is no model of newton.
        ValueError: It has no articulations.
    """

    _INSTEAD = "Make another one of the same model."

    def __init__(self, model: object) -> None:
        if "newton" not in sys.modules or not hasattr(model, "articulation_count"):
            raise TypeError(
                f"model = {shown(model)}: must be a Model of newton. Give one, or matrices to from_matrices."
            )
        if not model.articulation_count:
            raise ValueError("model has 0 articulations: must have one, of which the mass matrix is. Add one to it.")
        self.model = model
        self.blocks = blocks_of_model(model)
        """Which row of which matrix belongs to each DOF."""
        self._allocate(model.device, int(self.blocks.counts.max()))
        evaluate = sys.modules["newton"].eval_mass_matrix
        # earlier versions leave the armature out
        inside = "include_armature" in inspect.signature(evaluate).parameters
        self._armature = None if inside else model.joint_armature
        self._scratch = model.state()
        self._columns: list[wp.array] | None = None

    @classmethod
    def from_matrices(
        cls,
        matrices: ArrayLike,
        armature: ArrayLike | None = None,
        *,
        dofs: ArrayLike | None = None,
        device: wp.DeviceLike = None,
    ) -> Self:
        """Return the response of articulations with mass matrices of the caller; see `refresh_from_matrices`.

        Args:
            matrices: Mass matrices [kg·m² or kg], array of any library, shape `(articulations, rows, rows)`.
            armature: Inertia that is added to each row of their diagonals [kg·m² or kg], shape `(articulations, rows)`
                or `(rows,)`; None where the matrices have it.
            dofs: Index of each row among the velocities of actuators, integers `(articulations, rows)`; -1 for a row
                that has none, such as one of a free base. By default rows are numbered articulation by articulation.
            device: Warp device of the actuators; by default that of `matrices`, or the CPU.

        Raises:
            ValueError: An array has another shape, or an index is given twice.
        """
        self = object.__new__(cls)
        shape = np.shape(matrices)
        if len(shape) != 3 or shape[1] != shape[2] or 0 in shape:
            raise ValueError(
                f"matrices have shape {shape}: must be (articulations, rows, rows). Give a matrix of each."
            )
        self.model = None
        count, rows = shape[:2]
        given = np.arange(count * rows) if dofs is None else np.ravel(as_numpy(dofs)).astype(int)
        if len(given) != count * rows:
            raise ValueError(f"dofs has {len(given)} indices: must have {count * rows}, one per row. Give -1 for none.")
        known = np.flatnonzero(given >= 0)
        if len(np.unique(given[known])) != len(known):
            raise ValueError("dofs has an index twice: must have each once. Give the index of each row.")
        block, place = (np.full(int(given.max(initial=-1)) + 1, value) for value in (-1, 0))
        block[given[known]], place[given[known]] = known // rows, known % rows
        self.blocks = Blocks(block, place, np.arange(count) * rows, np.full(count, rows), {})
        where = device if device is not None else getattr(matrices, "device", "cpu")
        self._allocate(
            wp.get_device(where if isinstance(matrices, wp.array) or device is not None else "cpu"), shape[1]
        )
        self._armature = None
        if armature is not None:
            values = np.broadcast_to(as_numpy(armature), shape[:2]).astype(np.float32)
            self._armature = wp.array(values.ravel(), dtype=wp.float32, device=self._inverse.device)
        self.refresh_from_matrices(matrices)
        return self

    def _allocate(self, device: wp.DeviceLike, rows: int) -> None:
        shape = len(self.blocks.counts), rows, rows
        self._masses, self._inverse = (wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2))
        self._factors, self._work = (wp.zeros(shape, dtype=wp.float64, device=device) for _ in range(2))
        numbers = self.blocks.starts, self.blocks.counts
        self._starts, self._counts = (wp.array(one.astype(np.int32), dtype=wp.int32, device=device) for one in numbers)

    @property
    def inverse_blocks(self) -> wp.array:
        """The inverse matrices [1/(kg·m²) or 1/kg], `(articulations, rows, rows)`; 0 behind the rows of each.

        Only for reading.
        """
        return self._inverse

    def refresh(self, state: object) -> None:
        """Compute the matrices at a state of the model, which stays as it is; once per step.

        They have masses and armature, not damping, contacts, limits of joints and closed loops.

        Args:
            state: State of newton with `joint_q` and `joint_qd`.

        Raises:
            TypeError: The response has no model.
        """
        if self.model is None:
            raise TypeError("this response has no model: must have its matrices given. Call refresh_from_matrices.")
        sys.modules["newton"].eval_mass_matrix(self.model, self._at(state), H=self._masses)
        self._invert()

    def _at(self, state: object) -> Any:
        """Return a state with the same joints and the poses of the bodies; the given one stays as it is."""
        scratch = self._scratch
        scratch.joint_q, scratch.joint_qd = state.joint_q, state.joint_qd
        sys.modules["newton"].eval_fk(self.model, state.joint_q, state.joint_qd, scratch)
        return scratch

    def refresh_from_matrices(self, matrices: ArrayLike) -> None:
        """Take other mass matrices; once per step.

        Args:
            matrices: Array of any library, shape `(articulations, rows, rows)`, as `from_matrices` got it.

        Raises:
            ValueError: It has another shape.
        """
        if tuple(np.shape(matrices)) != tuple(self._masses.shape):
            raise ValueError(
                f"matrices have shape {tuple(np.shape(matrices))}: must be {tuple(self._masses.shape)}. Give one of "
                "each articulation."
            )
        if isinstance(matrices, wp.array) and matrices.dtype is wp.float32:
            wp.copy(self._masses, matrices)
        else:
            self._masses.assign(as_numpy(matrices).astype(np.float32))
        self._invert()

    def refresh_from_solve(
        self,
        solve_inverse: Callable[[wp.array, wp.array], None],
        dof_map: wp.array | None = None,
        *,
        state: object = None,
    ) -> None:
        """Take the inertia of a solver, by the columns of its inverse; once per step.

        Args:
            solve_inverse: Function of two arrays `(worlds, DOFs)`, which writes M⁻¹·y of the second one into the first
                one.
            dof_map: DOF of the model of each DOF of the solver, int32 `(worlds, DOFs)`, negative for none; None if
                they are the same.
            state: State of the model at which the solver's coordinates of free and ball joints are those of MuJoCo, and
                are converted; None if they are those of newton.

        Raises:
            TypeError: The response has no model.
            ValueError: Worlds differ, and there is no map.
        """
        if self.model is None:
            raise TypeError("this response has no model: must have its matrices given. Call refresh_from_matrices.")
        worlds, width = self._solver_shape(dof_map)
        device = self._inverse.device
        if self._columns is None or self._columns[0].shape != (worlds, width):
            # a graph may capture later calls
            self._columns = [wp.zeros((worlds, width), dtype=wp.float32, device=device) for _ in range(2)]
        unit, solution = self._columns
        if not hasattr(self, "_of_dofs"):
            both = self.blocks.block, self.blocks.place
            self._of_dofs = [
                wp.array(one.astype(np.int32), dtype=wp.int32, device=self._inverse.device) for one in both
            ]
        block, place = self._of_dofs
        self._inverse.zero_()
        for column in range(width):
            wp.launch(_unit_kernel, unit.shape, [column], [unit], device=device)
            solve_inverse(solution, unit)
            inputs = [solution, column, dof_map, block, place]
            wp.launch(_column_kernel, unit.shape, inputs, [self._inverse], device=device)
        if state is not None:
            to_newton(self.model, self._at(state), block, place, self._inverse)

    def _solver_shape(self, dof_map: wp.array | None) -> tuple[int, int]:
        if dof_map is not None:
            return dof_map.shape[0], dof_map.shape[1]
        worlds, dofs = max(int(self.model.world_count), 1), len(self.blocks.block)
        if dofs % worlds or len({tuple(one) for one in np.reshape(self.blocks.place, (worlds, -1))}) > 1:
            raise ValueError("dof_map = None: must be given where worlds differ. Give the DOF of each of the solver's.")
        return worlds, dofs // worlds

    def _invert(self) -> None:
        inputs = [self._masses, self._armature, self._starts, self._counts]
        outputs = [self._factors, self._work, self._inverse]
        wp.launch(_invert_kernel, self._masses.shape[0], inputs, outputs, device=self._inverse.device)


def blocks_of(response: object) -> Blocks:
    """Return which row belongs to each DOF, of a response of this package or of newton."""
    if isinstance(response, JointSpaceResponse):
        return response.blocks
    kind = type(response)
    if kind.__name__ == "JointSpaceResponse" and kind.__module__.partition(".")[0] == "newton":
        return blocks_of_model(response.model)
    raise ValueError(
        f"response = {shown(response)}: must be a JointSpaceResponse, ours or newton's. Make one of a model of newton, "
        "or by from_matrices."
    )


def blocks_of_model(model: object) -> Blocks:
    """Return which row belongs to each DOF of a newton model."""
    first_dofs, first_positions = model.joint_qd_start.numpy(), model.joint_q_start.numpy()
    first_joints = model.articulation_start.numpy()
    ends = getattr(model, "articulation_end", None)
    last_joints = first_joints[1:] if ends is None else ends.numpy()
    count = int(model.articulation_count)
    starts, stops = first_dofs[first_joints[:count]], first_dofs[last_joints[:count]]
    block, place = (np.full(int(model.joint_dof_count), value) for value in (-1, 0))
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        block[start:stop], place[start:stop] = number, np.arange(stop - start)
    names, refused = sys.modules["newton"].JointType, {}
    numbers = zip(np.diff(first_dofs), np.diff(first_positions), model.joint_type.numpy(), strict=True)
    for joint, (dofs, positions, kind) in enumerate(numbers):
        if dofs != positions:
            first = int(first_dofs[joint])
            refused |= dict.fromkeys(range(first, first + int(dofs)), f"is of a {names(int(kind)).name} joint")
    return Blocks(block, place, starts.astype(int), (stops - starts).astype(int), refused)


class Response(Protocol):
    """A response of this package or of newton."""

    model: Any
    """Model of newton; None for matrices of the caller."""

    @property
    def inverse_blocks(self) -> wp.array:
        """The inverse matrices, `(articulations, rows, rows)`."""
        ...


class BiasForce:
    """The bias force of a step by the rows of the inverse mass matrices, for actuators with a response.

    newton has wrenches of free joints in the frame of the world, and matrices in that of their parent.
    """

    def __init__(self, response: Response) -> None:
        self._model = response.model
        self._num_rows = blocks_of(response).num_rows if self._model is None else int(self._model.joint_dof_count)
        self._device = response.inverse_blocks.device
        self._free: wp.array | None = None
        if self._model is not None:
            kinds = [int(sys.modules["newton"].JointType[name]) for name in _WITH_WRENCH]
            free = np.flatnonzero(np.isin(self._model.joint_type.numpy(), kinds))
            self._needs_bodies = bool((self._model.joint_parent.numpy()[free] >= 0).any())
            if len(free):
                self._free = wp.array(free.astype(np.int32), dtype=wp.int32, device=self._device)
                self._turned = wp.zeros(self._num_rows, dtype=wp.float32, device=self._device)
                self._none = wp.zeros(1, dtype=wp.transform, device=self._device)

    def at_rows(self, given: object, sim_state: object) -> wp.array:
        """Return the bias force by rows [N·m or N], float32 `(rows,)`, as is that of the caller.

        The state's `body_q` is read where a free joint has a moving parent.
        """
        array = self._checked(given)
        if self._free is None:
            return array
        bodies = getattr(sim_state, "body_q", None) if self._needs_bodies else self._none
        if bodies is None:
            raise ValueError(
                f"{type(sim_state).__name__} has no array 'body_q': must have one with bias_force, as a free joint has "
                "a moving parent. Pass the state of newton."
            )
        wp.copy(self._turned, array)
        model = self._model
        inputs = [self._free, model.joint_qd_start, model.joint_parent, model.joint_X_p, bodies, array]
        wp.launch(_turn_kernel, len(self._free), inputs, [self._turned], device=self._device)
        return self._turned

    def _checked(self, given: object) -> wp.array:
        if not isinstance(given, wp.array | np.ndarray):
            raise TypeError(f"bias_force is a {type(given).__name__}: must be a Warp or NumPy array. Give one.")
        is_float = given.dtype in (wp.float32, np.dtype(np.float32))
        if not is_float or tuple(given.shape) != (self._num_rows,):
            name = getattr(given.dtype, "__name__", str(given.dtype))
            raise ValueError(
                f"bias_force is {name} {tuple(given.shape)}: must be float32 ({self._num_rows},), a number per degree "
                "of freedom. Give gravity and Coriolis forces."
            )
        array = warp_view(given)
        if array.device != self._device:
            raise ValueError(f"bias_force is on {array.device}: must be on {self._device}, as the actuators are.")
        return array


# complexity 13: factorization and substitutions of one matrix, one thread each
@wp.kernel
def _invert_kernel(
    masses: wp.array3d[float],
    armature: wp.array[float],
    starts: wp.array[int],
    counts: wp.array[int],
    factors: wp.array3d[wp.float64],
    work: wp.array3d[wp.float64],
    inverse: wp.array3d[float],
):
    b = wp.tid()
    n = counts[b]
    for j in range(n):
        for i in range(j, n):
            value = wp.float64(masses[b, i, j])
            if i == j and armature:
                value += wp.float64(armature[starts[b] + j])
            least = _EPSILON * wp.max(wp.abs(value), wp.float64(1.0))
            for k in range(j):
                value -= factors[b, i, k] * factors[b, j, k]
            if i == j:
                # NaN stays, and is a fault of the joints
                if value < least:
                    value = least
                factors[b, j, j] = wp.sqrt(value)
            else:
                factors[b, i, j] = value / factors[b, j, j]
    for column in range(n):
        for i in range(n):
            value = wp.float64(0.0)
            if i == column:
                value = wp.float64(1.0)
            for k in range(i):
                value -= factors[b, i, k] * work[b, k, column]
            work[b, i, column] = value / factors[b, i, i]
        for back in range(n):
            i = n - 1 - back
            value = work[b, i, column]
            for k in range(i + 1, n):
                value -= factors[b, k, i] * work[b, k, column]
            work[b, i, column] = value / factors[b, i, i]
            inverse[b, i, column] = wp.float32(work[b, i, column])


@wp.kernel
def _unit_kernel(column: int, unit: wp.array2d[float]):
    world, i = wp.tid()
    unit[world, i] = wp.where(i == column, 1.0, 0.0)


@wp.kernel
def _column_kernel(
    solution: wp.array2d[float],
    column: int,
    dof_map: wp.array2d[int],
    block: wp.array[int],
    place: wp.array[int],
    inverse: wp.array3d[float],
):
    world, i = wp.tid()
    row = int(world * solution.shape[1] + i)
    to = int(world * solution.shape[1] + column)
    if dof_map:
        row = int(dof_map[world, i])
        to = int(dof_map[world, column])
    count = block.shape[0]
    if row >= 0 and to >= 0 and row < count and to < count:
        # a matrix has no entry for joints of two articulations
        if block[row] >= 0 and block[row] == block[to]:
            inverse[block[row], place[row], place[to]] = solution[world, i]


@wp.kernel
def _turn_kernel(
    joints: wp.array[int],
    first_dofs: wp.array[int],
    parents: wp.array[int],
    parent_frames: wp.array[wp.transform],
    bodies: wp.array[wp.transform],
    given: wp.array[float],
    turned: wp.array[float],
):
    joint = joints[wp.tid()]
    turn = wp.transform_get_rotation(parent_frames[joint])
    parent = parents[joint]
    if parent >= 0:
        turn = wp.transform_get_rotation(bodies[parent]) * turn
    for part in range(2):
        first = first_dofs[joint] + 3 * part
        wrench = wp.quat_rotate_inv(turn, wp.vec3(given[first], given[first + 1], given[first + 2]))
        for k in range(3):
            turned[first + k] = wrench[k]
