"""Bind actuators to any simulator: what its articulation or bus does not offer is supplied here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..base.errors import HostError
from ..base.memory import Tensor
from ..base.values import as_numpy
from ..laws.contract.coupling import Shafts, inertias_of, inverses_of
from ..specs.signals import OF_SHAFTS, SHAFT_INERTIA
from .port import ArticulationPort, Buffers, JointViews, nothing, require_members
from .transfer import transfer

if TYPE_CHECKING:
    from ..files.usd.handles import Stage

_STATE = ("positions", "velocities", "position_targets", "velocity_targets")


class Binding:
    """An articulation as actuators see it; a `HostError` names a member of `ArticulationPort` that it lacks."""

    def __init__(self, articulation: ArticulationPort) -> None:
        require_members(articulation, ArticulationPort)
        self.articulation = articulation
        self.told: Collection[str] = ()
        """Names of the signals of joints that the simulator tells, of those of the last call of `following`."""
        given = getattr(articulation, "device", None) or getattr(articulation, "_device", None)
        self.device = str(given or "cpu")

    @property
    def num_robots(self) -> int:
        """Number of rows."""
        return len(self.articulation.paths)

    @property
    def prototype_path(self) -> str:
        """Path on the stage of the robot that all rows are like."""
        return getattr(self.articulation, "prototype_path", None) or self.articulation.paths[0]

    @property
    def prototype_dof_paths(self) -> list[str]:
        """Paths on the stage of the prototype's joints."""
        return list(getattr(self.articulation, "prototype_dof_paths", None) or self.articulation.dof_paths[0])

    @property
    def in_stage_units(self) -> bool:
        """True if its arrays are in the units of the stage and not in SI."""
        return bool(getattr(self.articulation, "in_stage_units", False))

    def envs_to_rows(self, env_ids: Sequence[int]) -> list[int]:
        """Rows that belong to the given environments."""
        return getattr(self.articulation, "envs_to_rows", list)(env_ids)

    def following_dofs(self, stage: Stage | None, driven: Collection[str]) -> set[str]:
        """Names of DOFs that couplings and tendons of a stage, else of the simulator, move if `driven` have motors."""
        if stage is None:
            return getattr(self.articulation, "following_dofs", lambda _driven: set[str]())(driven)
        from ..files.usd.other_drives import followers

        return followers(stage, self.prototype_dof_paths, self.articulation.dof_names, driven)

    def buffers(self, columns: Sequence[int]) -> Buffers:
        """The articulation's own arrays, or copies that getters fill and the effort setter takes for actuated joints.

        A `HostError` says which of its own arrays cannot be read and written in place.
        """
        own = getattr(self.articulation, "buffers", None)
        if own is None:
            return self._copies(sorted(columns))
        buffers, host = own(), type(self.articulation).__name__
        shape, device = (self.num_robots, self.articulation.num_dofs), wp.get_device(self.device)
        # what the simulator writes later would never be read of arrays that are copied
        for name in (*_STATE, "efforts"):
            array = getattr(buffers, name, None)
            if problem := _in_place_problem(array, shape, device, written=name == "efforts"):
                raise HostError(
                    f"{host}.buffers().{name} {problem}. Correct it, or leave buffers() out to have arrays copied "
                    "through getters and setters."
                )
        for name in ("refresh", "commit"):
            if not callable(call := getattr(buffers, name, None)):
                raise HostError(
                    f"{host}.buffers().{name} = {call!r}: must be a function without arguments. Give one that does "
                    "nothing where nothing is to be done."
                )
        return buffers

    def joint_views(self, wanted: Collection[str], *, from_matrices: bool = True) -> JointViews | None:
        """What the simulator, or else its mass matrices, tells of these signals of the joints; None for nothing."""
        offer = getattr(self.articulation, "joint_signals", None)
        if not wanted:
            return None
        if offer is not None:
            return offer(list(wanted))
        return signals_of_matrices(self.articulation, wanted) if from_matrices else None

    def following(
        self,
        wanted: Mapping[str, Sequence[tuple[Sequence[int], wp.array]]],
        columns: Sequence[int],
        *,
        from_matrices: bool = True,
        shafts: Shafts | None = None,
    ) -> Callable[[], None]:
        """Return what puts signals of joints into arrays that laws read, to be called before each step.

        `wanted` has joints and arrays by name, as `Assembly.signals`, and `shafts` those of `Assembly.shafts`.
        """
        if shafts is None:
            views = self.joint_views(wanted, from_matrices=from_matrices)
        else:
            views = self._views_with(shafts, wanted, columns, from_matrices)
        self.told = ()
        if views is None:
            return nothing
        self.told = tuple(views.arrays)
        copies = [
            (views.arrays[name], [columns[joint] for joint in joints], array)
            for name, parts in wanted.items()
            for joints, array in parts
            if name in views.arrays
        ]
        if wp.get_device(self.device).is_cpu:
            take: Callable[[], Any] = transfer(
                *((as_numpy(source), at, array.numpy(), range(len(at))) for source, at, array in copies)
            )
        else:
            take = taken_on_device(copies, self.num_robots, self.device)
        if views.refresh is nothing:
            return take

        def follow() -> None:
            views.refresh()
            take()

        return follow

    def _views_with(
        self, shafts: Shafts, wanted: Collection[str], columns: Sequence[int], from_matrices: bool
    ) -> JointViews:
        """What the simulator tells of joints and shafts; nothing of shafts without mass matrices."""
        asked = {*wanted, "load"} if shafts.at_end.any() else wanted
        given = self.joint_views(asked, from_matrices=from_matrices) or JointViews({}, nothing)
        has_matrices = hasattr(self.articulation, "get_mass_matrices")
        return _with_shafts(self.articulation, given, shafts, columns) if has_matrices else given

    def _copies(self, columns: list[int]) -> Buffers:
        robots = self.articulation
        shape = (self.num_robots, robots.num_dofs)
        device = wp.get_device(self.device)
        state = {name: wp.zeros(shape, dtype=wp.float32, device=device) for name in _STATE}
        efforts = wp.zeros(shape, dtype=wp.float32, device=device)
        # Warp copies indexed arrays, but its types do not allow it
        grid = [wp.array(picked, dtype=wp.int32, device=device) for picked in (list(range(shape[0])), columns)]
        actuated: Any = wp.indexedarray(efforts, grid)
        packed = wp.zeros((shape[0], len(columns)), dtype=wp.float32, device=device)

        def refresh() -> None:
            for name, array in state.items():
                values = getattr(robots, f"get_dof_{name}")()
                if not (isinstance(values, wp.array) and values.dtype == wp.float32):
                    # what float32 cannot hold is infinite then, and faults the joint
                    with np.errstate(over="ignore"):
                        values = as_numpy(values).astype(np.float32, copy=False)
                if tuple(values.shape) != shape:
                    raise HostError(
                        f"get_dof_{name}() returned shape {tuple(values.shape)}: must be (robots, DOFs) = {shape}. "
                        "Reshape it."
                    )
                array.assign(values)

        def commit() -> None:
            wp.copy(packed, actuated)
            robots.set_dof_efforts(packed.numpy() if device.is_cpu else packed, dof_indices=columns)

        return Buffers(**state, efforts=efforts, refresh=refresh, commit=commit)


def taken_on_device(
    copies: Sequence[tuple[Any, list[int], wp.array]], num_robots: int, device: wp.DeviceLike
) -> Callable[[], None]:
    """A function that copies columns of arrays on a device to other arrays there."""
    rows = wp.array(np.arange(num_robots, dtype=np.int32), device=device)
    # Warp copies indexed arrays, but its types do not allow it
    picked: list[tuple[Any, wp.array]] = [
        (wp.indexedarray(source, [rows, wp.array(at, dtype=wp.int32, device=device)]), array)
        for source, at, array in copies
    ]

    def take() -> None:
        for source, array in picked:
            wp.copy(array, source)

    return take


def _in_place_problem(array: object, shape: tuple[int, int], device: wp.DeviceLike, written: bool) -> str:
    """Why an array cannot be read, or `written`, in place; empty if it can."""
    if isinstance(array, wp.array):
        dtype, where, address, writable = array.dtype, array.device, array.ptr or 0, True
    elif isinstance(array, np.ndarray):
        # another byte order is another type
        dtype = wp.float32 if array.dtype == np.float32 else array.dtype
        where, address, writable = wp.get_device("cpu"), array.ctypes.data, array.flags.writeable
    else:
        return f"is a {type(array).__name__}: must be a NumPy or Warp array"
    found = tuple(array.shape)
    problems = {
        f"has dtype {getattr(dtype, '__name__', dtype)}: must be float32": dtype is not wp.float32,
        f"has shape {found}: must be (robots, DOFs) = {shape}": found != shape,
        f"is on {where}: must be on {device}, the device of the articulation": where != device,
        "is read-only: must be writable": written and not writable,
    }
    if problem := next((text for text, holds in problems.items() if holds), ""):
        return problem
    return "" if 0 in shape else _layout_problem(address, tuple(array.strides), shape, written)


def _layout_problem(address: int, strides: tuple[Any, ...], shape: tuple[int, int], written: bool) -> str:
    """Why the memory layout of an array does not serve; empty if it does."""
    number, (rows, columns), (pitch, step) = 4, shape, strides
    if columns > 1 and step != number:
        return f"has numbers {step} bytes apart within a row: must be {number}, one after the other"
    if address % number:
        return f"begins at an address that is no multiple of {number}: must be aligned"
    if rows > 1 and (pitch < 0 or pitch % number):
        return f"has rows {pitch} bytes apart: must be a multiple of {number} upwards"
    if written and rows > 1 and pitch < columns * number:
        return f"has rows of {columns * number} bytes {pitch} bytes apart: must not overlap"
    return ""


SIGNALS = ("inertia", "coupled_inertia", "load")
"""Names of the signals that are known."""
_LOADS = ("get_dof_gravity_compensation_forces", "get_dof_coriolis_and_centrifugal_compensation_forces")


def signals_of_matrices(articulation: ArticulationPort, wanted: Collection[str]) -> JointViews | None:
    """What an articulation with mass matrices knows of its joints, in arrays that `refresh` fills; None without them.

    Reading mass matrices by getters costs more than a step of actuators, so that they are read only where a law wants
    the coupled inertia: for windings, efforts of the end of the step, and laws without an inertia to assume.
    """
    read = getattr(articulation, "get_mass_matrices", None)
    if read is None or "coupled_inertia" not in wanted:
        return None
    loads = [getter for name in _LOADS if (getter := getattr(articulation, name, None)) is not None]
    names = SIGNALS if loads else SIGNALS[:2]
    shape = len(articulation.paths), articulation.num_dofs
    arrays = {name: wp.zeros(shape, dtype=wp.float32, device="cpu") for name in names if name in wanted}

    def refresh() -> None:
        mass = _numbers(read)
        inertias = inertias_of(mass, first=mass.shape[-1] - shape[1])
        signals: dict[str, np.ndarray] = dict(zip(SIGNALS, inertias, strict=False))
        if loads:
            signals["load"] = np.sum([_numbers(getter) for getter in loads], axis=0)
        for name, array in arrays.items():
            array.numpy()[...] = signals[name]

    return JointViews(arrays, refresh)


def _with_shafts(articulation: Any, given: JointViews, shafts: Shafts, columns: Sequence[int]) -> JointViews:
    """What an articulation with mass matrices tells, and signals of shafts in columns of their motors."""
    count, names, getters = articulation.num_dofs, [SHAFT_INERTIA], list[Callable[[], Any]]()
    own = [columns[joint] for joint in shafts.motors]
    if shafts.at_end.any():
        getters = [getattr(articulation, name) for name in _LOADS if hasattr(articulation, name)]
        getters = [lambda: given.arrays["load"]] if "load" in given.arrays else getters
        names = [*OF_SHAFTS.values()][: 3 if getters else 2]
    found = {name: wp.zeros((len(articulation.paths), count), dtype=wp.float32, device="cpu") for name in names}

    def refresh() -> None:
        given.refresh()
        inverses, known = inverses_of(_numbers(articulation.get_mass_matrices))
        # those of joints come last, behind a floating base
        loads = sum((_numbers(getter)[:, -count:] for getter in getters), np.zeros((len(inverses), count)))
        signals = shafts.signals(inverses[:, -count:, -count:], columns, loads)
        for name, array in found.items():
            array.numpy()[:, own] = signals[name] * known[:, None]

    return JointViews({**given.arrays, **found}, refresh)


def _numbers(getter: Callable[[], Tensor]) -> np.ndarray:
    """What a getter returns, as a NumPy array."""
    values = getter()
    return np.asarray(values.numpy() if hasattr(values, "numpy") else values, np.float64)
