"""Linkages of a plan: the motors that move several joints together, with all their numbers.

See `laws/linkage_shaft.py` for the law, and `specs/linkage.py` for its config.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from ..laws.contract.base import repeated
from ..laws.implicit_effort import ImplicitEffort
from ..laws.linkage_shaft import LinkageShaft
from ..laws.shaft_inertia import ShaftInertia
from ..specs.actuator_spec import ActuatorSpec
from ..specs.linkage import LinkageConfig
from ..specs.stages import KINDS, is_geared
from ..specs.transmission import armature, armature_while_attached
from .entry import ActuatorEntry, effort_modes

# largest part of an inertia that no armature of single joints can represent
_MOST_COUPLED = 0.1


@dataclass(frozen=True, eq=False)
class PlannedLinkage:
    """A linkage of `n` joints, float32."""

    slots: tuple[int, ...]  # of each joint, which is also that of its motor; ascending in a linear linkage
    own: tuple[bool, ...]  # motors whose commands are their own
    pulls: tuple[bool, ...]  # shafts that pull and never push
    matrix: np.ndarray  # slopes of a linear linkage, `(n, n)`, a row per shaft
    inverse: np.ndarray
    offset: np.ndarray  # angles of the shafts at position 0, `(n,)`
    inertia: np.ndarray  # of the rotors at the shafts, `(n,)`
    lower: np.ndarray  # first position of each joint in the table, `(n,)`
    spacing: np.ndarray  # distance of two positions, `(n,)`
    rows: np.ndarray  # number of positions of each joint, `(n,)`, int32
    nodes: np.ndarray  # angle of each shaft, then its slopes, `(nodes, n·(1 + n))`; without rows if linear

    @property
    def per_spacing(self) -> np.ndarray:
        """Inverse of the distances."""
        return (np.float32(1.0) / self.spacing).astype(np.float32)

    @property
    def middle(self) -> np.ndarray:
        """Slopes, of a table those of its middle, `(n, n)`."""
        count = len(self.slots)
        if not len(self.nodes):
            return self.matrix
        columns = int(self.rows[-1]) if count == 2 else 1
        return self.nodes[int(self.rows[0]) // 2 * columns + columns // 2].reshape(count, 1 + count)[:, 1:]

    @property
    def growth(self) -> float:
        """By how much slopes of a table are larger than those of its middle, at most; 1 for a linear linkage."""
        count = len(self.slots)
        slopes = self.nodes.reshape(-1, count, 1 + count)[:, :, 1:].astype(np.float64)
        return float(np.linalg.norm(slopes @ np.linalg.inv(self.middle), 2, axis=(1, 2)).max(initial=1.0))

    @property
    def for_core(self) -> tuple[Sequence[object], ...]:
        """Arguments of the native core."""
        numbers = self.matrix, self.inverse, self.offset, self.inertia, self.lower, self.spacing, self.per_spacing
        flat = [one.ravel().tolist() for one in numbers]
        return list(self.slots), list(self.own), list(self.pulls), flat, self.rows.tolist(), self.nodes.ravel().tolist()


def shaft_of(entry: ActuatorEntry) -> LinkageShaft | None:
    """Return the linkage of an actuator, or None."""
    return next((stage for kind, stage in entry.by_kind if KINDS[kind].couples), None)


def idle_shafts(specs: Iterable[ActuatorSpec]) -> dict[str, LinkageConfig]:
    """Return the shafts of joints of linear linkages that have no motor, by joint.

    They see what the motors do not: their coefficients are orthogonal to those of the motors, and to each other. So the
    efforts at the joints are those of the motors, and a feedforward is the nearest in least squares. An actuator with a
    controller or a linkage has a motor.
    """
    rows_of: dict[tuple[str, ...], dict[str, list[float]]] = {}
    driven: set[str] = set()
    for spec in specs:
        shaft = _config_of(spec)
        driven.update(spec.dof_names if shaft is not None or spec.controller is not None else ())
        if shaft is not None and not shaft.is_table and len(spec.dof_names) == 1:
            rows_of.setdefault(tuple(shaft.joints), {})[spec.dof_names[0]] = shaft.coefficients
    idle: dict[str, LinkageConfig] = {}
    for joints, rows in rows_of.items():
        idle |= _idle_shafts_of(joints, rows, driven)
    return idle


def _idle_shafts_of(
    joints: Sequence[str], rows: Mapping[str, Sequence[float]], driven: set[str]
) -> dict[str, LinkageConfig]:
    """The shafts of joints of one linkage without a motor, by the coefficients of the others, `rows`."""
    free = [joint for joint in joints if joint not in rows]
    # the plan refuses motors at other joints by name
    if not free or not driven.isdisjoint(free) or not rows.keys() <= {*joints}:
        return {}
    # all right singular vectors behind those of the motors
    _, _, right = np.linalg.svd(np.array(list(rows.values())))
    shafts = [LinkageConfig(list(joints), row) for row in right[len(rows) :].tolist()]
    return dict(zip(free, shafts, strict=True))


def plan_linkages(entries: Sequence[ActuatorEntry], names: Sequence[str]) -> list[PlannedLinkage]:
    """Return the linkages of some actuators, given the joint of each slot.

    ValueError, a line for each, if a joint of a linkage has no motor of it or the motors do not determine the joints;
    TypeError for a transmission before a linkage that is not a rigid gear.
    """
    motors, linkages = _linked(entries)
    if motors and (problems := list(_problems(motors))):
        raise ValueError("\n".join(dict.fromkeys(problems)))
    return [_planned(joints, motors, names) for joints in linkages]


def _linked(
    entries: Iterable[ActuatorEntry],
) -> tuple[dict[str, tuple[ActuatorEntry, LinkageShaft]], Iterable[tuple[str, ...]]]:
    """Actuator and shaft of each joint that a linkage moves, and the joints of each linkage."""
    motors = {name: (entry, shaft) for entry in entries if (shaft := shaft_of(entry)) for name in entry.dof_names}
    return motors, dict.fromkeys(tuple(shaft.shaft.joints) for _, shaft in motors.values())


def _problems(motors: Mapping[str, tuple[ActuatorEntry, LinkageShaft]]) -> Iterator[str]:
    """Yield what is wrong between the motors of linkages, by name of the joint."""
    for name, (entry, shaft) in motors.items():
        joints = shaft.shaft.joints
        where = f"actuator {entry.label!r}: LinkageConfig.joints = {joints}"
        if name not in joints:
            yield f"{where}: must have joint {name!r}, at which the actuator is. Name it, or move the actuator."
        for other in joints:
            if other not in motors:
                yield f"{where}: joint {other!r} must have an actuator with a LinkageConfig, too. Add one."
            elif motors[other][1].shaft.joints != joints:
                yield (
                    f"{where}: must be the joints that joint {other!r} has, {motors[other][1].shaft.joints}, in that "
                    "order. Name the same."
                )
            elif not _fit(shaft.shaft, motors[other][1].shaft):
                yield f"{where}: must have the positions of the table of joint {other!r}. Use one grid for all shafts."


def _fit(one: LinkageConfig, other: LinkageConfig) -> bool:
    """Return True if two shafts are both linear, or tables over the same positions."""
    return all(getattr(one, name) == getattr(other, name) for name in ("is_table", "lower", "upper", "counts"))


def _planned(
    joints: Sequence[str], motors: Mapping[str, tuple[ActuatorEntry, LinkageShaft]], names: Sequence[str]
) -> PlannedLinkage:
    first, count = motors[joints[0]][1].shaft, len(joints)
    # engines sum over joints in the order of their slots
    order, matrix = list(range(count)), np.zeros((count, count))
    if not first.is_table:
        order.sort(key=lambda at: names.index(joints[at]))
        matrix = np.array([motors[joints[at]][1].shaft.coefficients for at in order])[:, order]
    shafts = [motors[joints[at]][1].shaft for at in order]
    inertia = np.array([motors[joints[at]][1].inertia for at in order], np.float64)
    nodes = _nodes(shafts)
    slopes = _slopes(shafts)
    scale = np.abs(slopes).max(axis=(1, 2)) ** slopes.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.linalg.det(slopes) / scale
    if not (np.abs(relative) > 1e-6).all() or np.ptp(np.sign(relative)):
        raise ValueError(
            f"LinkageConfig of joints {', '.join(first.joints)}: must have shafts that determine the joints, and at "
            "some position they do not, their slopes being dependent. Correct the coefficients, or narrow the table."
        )
    lower, spacing, rows = _grid(first, count)
    return PlannedLinkage(
        slots=tuple(names.index(joints[at]) for at in order),
        own=tuple(_has_own_commands(motors[joints[at]][0]) for at in order),
        pulls=tuple(shaft.unilateral for shaft in shafts),
        matrix=matrix.astype(np.float32),
        inverse=np.zeros((count, count), np.float32) if first.is_table else np.linalg.inv(matrix).astype(np.float32),
        offset=np.array([one.offset for one in shafts], np.float32),
        inertia=inertia.astype(np.float32),
        lower=lower,
        spacing=spacing,
        rows=rows,
        nodes=nodes.astype(np.float32),
    )


def _grid(shaft: LinkageConfig, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first positions, distances and numbers of the positions of a table, of 2 each without one."""
    lower, upper = (np.array(getattr(shaft, name) or [0.0] * count, np.float64) for name in ("lower", "upper"))
    rows = np.array(shaft.counts[:count] if shaft.is_table else [2] * count, np.int32)
    spacing = (upper - lower) / (rows - 1) + (upper == lower)
    return lower.astype(np.float32), spacing.astype(np.float32), rows


def _nodes(shafts: Sequence[LinkageConfig]) -> np.ndarray:
    """Angles and slopes of the shafts at each node, `(nodes, n·(1 + n))`."""
    count = len(shafts)
    columns = [np.array([one.angles, *np.reshape(one.slopes, (count, -1))]) for one in shafts if one.is_table]
    return np.concatenate(columns).T if columns else np.zeros((0, count * (1 + count)))


def _couples(inertia: np.ndarray, slopes: np.ndarray) -> bool:
    """True if an off-diagonal element of GᵀJG is more than a tenth of the diagonal ones: an armature cannot be that."""
    whole = np.einsum("nij,i,nik->njk", slopes, inertia, slopes)
    diagonal = np.einsum("njj->nj", whole)
    size, across = np.sqrt(diagonal), np.abs(whole - diagonal[:, :, None] * np.eye(len(inertia)))
    return bool((across > _MOST_COUPLED * size[:, :, None] * size[:, None, :]).any())


def _slopes(shafts: Sequence[LinkageConfig]) -> np.ndarray:
    """Slopes of the shafts at each node of a table, or their coefficients, `(nodes, n, n)`."""
    count = len(shafts)
    if shafts[0].is_table:
        return _nodes(shafts).reshape(-1, count, 1 + count)[:, :, 1:]
    return np.array([[one.coefficients for one in shafts]])


def add_rotors(entries: Sequence[ActuatorEntry], num_robots: int, device: wp.DeviceLike) -> None:
    """Make rotors that couple the joints of a linkage masses of their own, see `laws/shaft_inertia.py`.

    ValueError for an actuator with a rotor in its transmission and on its shaft.
    """
    motors, linkages = _linked(entries)
    for joints in linkages:
        mine = list(filter(None, map(motors.get, joints)))
        # the plan refuses those with motors that are missing, or do not fit
        if len(mine) == len(joints) and _have_coupling_rotors(mine):
            for entry, found in mine:
                _move_rotor(entry, found, num_robots, device)


def _have_coupling_rotors(motors: Sequence[tuple[ActuatorEntry, LinkageShaft]]) -> bool:
    """Return True for the motors of a linkage with rotors that no armature of single joints can represent."""
    configs, inertia = [one.shaft for _, one in motors], np.array([one.inertia for _, one in motors])
    are_fitting = all(_fit(configs[0], one) for one in configs)
    return are_fitting and bool(inertia.any()) and _couples(inertia, _slopes(configs))


def _move_rotor(entry: ActuatorEntry, found: LinkageShaft, num_robots: int, device: wp.DeviceLike) -> None:
    """Make the rotor of a shaft, if there is one, a mass of its own."""
    if not found.inertia:
        return
    if any(isinstance(stage, ShaftInertia) for stage in entry.others):
        raise ValueError(
            f"actuator {entry.label!r} has rotor_inertia in its transmission and a ShaftInertia: must have one "
            "of them. Set rotor_inertia to 0."
        )
    numbers = (repeated(one, num_robots, device) for one in (found.inertia, 0.0))
    entry.others.append(ShaftInertia(*numbers))
    # of a table, the engine takes what changes with the slopes
    found.inertia = 0.0


def share_modes(entries: Sequence[ActuatorEntry], num_robots: int, device: wp.DeviceLike) -> None:
    """Give idle shafts the effort mode of the motors of their linkage; ValueError if these differ in it."""
    for joints in _linked(entries)[1]:
        mine = [entry for entry in entries if not {*joints}.isdisjoint(entry.dof_names)]
        modes = {bool(effort_modes(entry)) for entry in mine if entry.controller is not None}
        if len(modes) > 1:
            raise ValueError(
                f"effort modes of the motors of joints {', '.join(joints)}: must be the same, because their linkage is "
                "solved as a whole. Make all of them implicit, or none."
            )
        for idle in filter(lambda entry: entry.controller is None, mine):
            _give_mode(idle, True in modes, num_robots, device)


def _give_mode(idle: ActuatorEntry, has_mode: bool, num_robots: int, device: wp.DeviceLike) -> None:
    """Give an idle shaft an effort mode, or none."""
    modes = effort_modes(idle)
    idle.others = [stage for stage in idle.others if stage not in modes]
    if has_mode:
        # it has no effort, whatever its inertia is
        numbers = (repeated(1.0, num_robots * len(idle.dof_names), device) for _ in range(2))
        idle.others.append(ImplicitEffort(*numbers))


def armatures(inertia: Sequence[float], shafts: Sequence[LinkageConfig], *, attached: bool = False) -> list[float]:
    """Return the armature of each joint that rotors at the shafts have, at the middle of a table [kg·m² or kg].

    `attached` is True for that beside `add_rotors`.
    """
    every, (rows, columns) = _slopes(shafts), shafts[0].counts
    if attached and _couples(np.array(inertia), every):
        return [0.0] * len(shafts)
    slopes = every[rows // 2 * columns + columns // 2 if shafts[0].is_table else 0]
    return [float(one) for one in np.einsum("ij,i,ij->j", slopes, np.array(inertia), slopes)]


def rotor_armatures(specs: Sequence[ActuatorSpec], *, attached: bool) -> Iterator[tuple[ActuatorSpec, Any]]:
    """Yield the actuators of a robot whose rotor inertia is given, and the armature of their joints [kg·m² or kg].

    With `attached` it is what the simulator is to have, otherwise the total that a file has.
    """
    inertia_of = armature_while_attached if attached else armature
    geared = list(filter(is_geared, specs))
    shafts = {name: (spec, one) for spec in geared if (one := _config_of(spec)) for name in spec.dof_names}
    for spec in geared:
        own = _config_of(spec)
        found = inertia_of(spec) if own is None else _of_linkage(spec, own, shafts, attached)
        if found is not None:
            yield spec, found


def _of_linkage(
    spec: ActuatorSpec, own: LinkageConfig, shafts: Mapping[str, tuple[ActuatorSpec, LinkageConfig]], attached: bool
) -> np.ndarray | None:
    """Return the armature of the joints of an actuator that all rotors of its linkage have; None if none is given.

    The plan refuses a linkage with motors that are missing or of another one by name.
    """
    if any(joint not in shafts or shafts[joint][1].joints != own.joints for joint in own.joints):
        return None
    specs, configs = zip(*map(shafts.__getitem__, own.joints), strict=True)
    given = list(map(armature_while_attached if attached else armature, specs))
    if all(one is None for one in given):
        return None
    rotors = [0.0 if one is None else float(np.max(one)) for one in given]
    found = armatures(rotors, configs, attached=attached)
    by_joint = dict(zip(own.joints, found, strict=True))
    return np.array([by_joint.get(name, 0.0) for name in spec.dof_names], np.float32)


def _config_of(spec: ActuatorSpec) -> LinkageConfig | None:
    return next((one for one in spec.others if isinstance(one, LinkageConfig)), None)


def _has_own_commands(entry: ActuatorEntry) -> bool:
    """Return True if targets and feedforward of an actuator are the motor's; raise for more than a ratio."""
    gear = next((stage for kind, stage in entry.by_kind if KINDS[kind].converts), None)
    if gear is None:
        return False
    if "targets" not in gear.PARAMETERS or gear.STATE:
        raise TypeError(
            f"actuator {entry.label!r}: {type(gear).__name__} before a linkage: must be a rigid gear, "
            "TransmissionConfig. Use that."
        )
    return bool((gear.read("targets") > 0.5).all())
