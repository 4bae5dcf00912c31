"""The closed loops of a wrapper's robots, with inertia and step of the simulator and gains of the actuators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import HostError
from ...base.values import as_numpy
from ...engine.actuator import Actuator
from ...engine.assembly import Assembly
from ...laws.contract.base import Component
from ...laws.contract.catalogue import law_of, snake_case
from ...laws.contract.coupling import coupled_inertias
from ...simulators.binding import Binding
from ...simulators.motor_properties import read_property
from ...simulators.port import turning
from ...specs.encoder import EncoderConfig
from ...specs.stages import KINDS, is_linked
from ..feedback import config_of, feedback_gains, is_rigid, of_passive_stages, of_transmission
from .chatter import AssumedInertia
from .implicit import Implicit, is_at_end, is_measured, may_be_implicit, mode_values
from .loop import Loop
from .springs import RESOLVED, UnresolvedSpring, damping_ratio_of, frequency_of
from .table import IMPLICIT_REMEDY, JointStability, Mechanics, RobotStability, Stability, least_damping, stability_with
from .timing import Timing, timing_of

# joints that a warning names
_NAMED = 3
# remedies besides a shorter step, by whether smaller gains help
_CURES = {True: "Raise the armature, or lower the gains", False: "Raise the damping"}
# why stages that change the loop are not in its equations, of all kinds and of some
_NO_GAINS = "no gains of it are known"
_WHY_LEFT_OUT = {
    "effort_lag": "it has no equation with efforts of the end of the step",
    "electrical": "the lag of its current is of no linear law",
    "transmission": "its rotor moves by itself, or its ratio is not known",
    "shaft": "it acts on a shaft that moves several joints",
    "linkage": "its motor moves several joints together",
    "passive": "it has no gains; friction only takes energy out of the motion",
}


class ClosedLoops:
    """Robots with running physics and their actuators; `owner` is the wrapper, for messages; `dt` None if unknown."""

    def __init__(self, owner: object, robots: Binding, assembly: Assembly, dt: float | None) -> None:
        self._owner, self._robots, self._assembly, self._dt = owner, robots, assembly, dt

    @property
    def known(self) -> bool:
        """True if the simulator provides mass matrices and its step."""
        return self._has_matrices and self._dt is not None

    def stability(self, rows: np.ndarray, dt: float | None) -> Stability:
        """Return the stability margins of some robots."""
        robots: Any = self._robots.articulation
        if not self._assembly.actuators:
            raise HostError(
                f"{self._owner!r}: has no actuators: must have some for stability(). Describe motors, and pass them to "
                "from_configs()."
            )
        if not self._has_matrices:
            raise HostError(
                f"{self._owner!r}: {type(robots).__name__} tells no mass matrices with the armatures in them: must "
                "have them for stability(). Use Simulation, or compute it from numbers with stability_of()."
            )
        if (step := self._dt if dt is None else dt) is None:
            raise HostError(f"{self._owner!r}: its simulator tells no physics step. Pass stability(dt=...).")
        tables = list(self._tables(rows, step))
        joints = tuple(joint for table in tables for joint in table.joints)
        unknown = tuple(self._names_where(~self._known))
        # the others are passive
        is_driven = self._by_actuator(lambda actuator: actuator.controller is not None or is_linked(actuator))
        is_known = bool(self._known[is_driven].all())
        whole = tuple(dataclasses.replace(robot, is_known=is_known) for table in tables for robot in table.robots)
        others = tuple(self._chatter(rows)), tuple(self._springs(rows, step))
        return Stability(step, joints, whole, unknown, self._left_out, *others, tuple(self._sensed))

    @property
    def joints(self) -> list[str]:
        """Names of the joints with gains, which the loops have in this order."""
        return self._names_where(self._known)

    @property
    def viscous(self) -> np.ndarray:
        """Viscous friction of these joints, `(robots, joints)`."""
        return (self._property("viscous_friction") + self._of_friction("viscous"))[:, self._known]

    def loops(self, rows: np.ndarray) -> list[Loop]:
        """Return the loops of some robots in their present pose, with viscous friction and springs."""
        known, modes, viscous = self._known, self._implicit(rows), self.viscous
        names = "stiffness", "damping", "ratio", "rotor_inertia", "rotor_damping"
        stiffness, damping, ratio, *rotor = map(self._of_transmission, names)
        sees_joint = np.broadcast_to(self._by_actuator(_sees_joint), stiffness.shape)
        inertia, drag = (ratio**2 * one for one in rotor)
        springs = np.where(stiffness > 0.0, [stiffness, damping, inertia, drag, sees_joint], 0.0)[:, :, known]
        each = zip(rows, self._inverses(rows), self._velocity_weights(rows).tolist(), strict=True)
        found = []
        for at, (row, inverse, weight) in enumerate(each):
            gains, timing, implicit = self._gains[:, row, known], self._timing[row, known], modes[at, known]
            found.append(Loop(inverse, gains, weight, timing, implicit, viscous[row], springs[:, row]))
        return found

    def _tables(self, rows: np.ndarray, step: float) -> Iterator[Stability]:
        """Iterate over the stability of each robot; equal robots are computed once."""
        known, paths = self._known, list(self._robots.articulation.paths)
        armatures, names, turns = self._property("armature"), self._names_where(known), self._turns
        found: dict[bytes, Stability] = {}
        modes, can_be_implicit = self._implicit(rows), self._by_actuator(may_be_implicit)[known]
        given = zip(rows, self._inverses(rows), self._velocity_weights(rows), strict=True)
        for at, (row, inverse, weight) in enumerate(given):
            gains, armature = self._gains[:, row, known], armatures[row, known]
            timing, implicit = self._timing[row, known], modes[at, known]
            parts = inverse, gains, armature, weight, timing.values, implicit.values
            key = b"".join(part.tobytes() for part in parts)
            if key not in found:
                # of these joints alone, the others free
                matrix = np.linalg.inv(inverse)
                mechanics = Mechanics(matrix, armature, names, velocity_weight=float(weight), turns=turns)
                modes_of = {"implicit": implicit, "may_be_implicit": can_be_implicit}
                found[key] = stability_with(timing, mechanics, step, (gains[0], gains[1], gains[2]), **modes_of)
            table, robot = found[key], paths[row]
            joints = tuple(dataclasses.replace(joint, robot=robot) for joint in table.joints)
            yield Stability(table.dt, joints, tuple(dataclasses.replace(one, robot=robot) for one in table.robots))

    def warning(self) -> str | None:
        """Return a warning if the first robot will vibrate; the simulator has to be known.

        Integrals are ignored: an unstable one grows at every step size, slowly, and friction may hold it. Viscous
        friction counts as damping.
        """
        dt, first = self._dt, np.zeros(1, int)
        if dt is None or not self._known.any() or self._is_first_stable(dt):
            return None
        table = self.stability(first, None)
        whole, count = table.robots[0], self._robots.num_robots
        causes = [
            words for joint in sorted(table.joints, key=lambda one: one.margin) if (words := _cause(joint, whole, dt))
        ]
        joints = "; ".join(causes[:_NAMED]) + (" …" if len(causes) > _NAMED else "")
        step = f", or step with dt <= {whole.largest_step:.3g} s" if whole.largest_step else ""
        mode = f", or use {IMPLICIT_REMEDY}" if whole.implicit_helps else ""
        among = "" if count == 1 else f", the first of {count} and the only one looked at,"
        return (
            f"{self._owner!r}: <{whole.robot}>{among} will vibrate at dt = {dt:.3g} s: its gains may be at most "
            f"{whole.margin:.3g} times what they are. {joints}. {_CURES[whole.margin > 0.0]}{step}{mode}; stability() "
            "shows all joints."
        )

    def chatter_warning(self) -> str | None:
        """Return a warning if laws of the first robot assume too much inertia; the simulator has to be known."""
        found = list(self._chatter(np.zeros(1, int)))
        parts = []
        for implicit, law in ((True, "its effort at the end of the step"), (False, "its friction")):
            mine = [one for one in found if one.implicit == implicit]
            if mine:
                joints = "; ".join(map(str, mine[:_NAMED])) + (" …" if len(mine) > _NAMED else "")
                parts.append(f"for {law} assumes too much inertia: {joints}. {mine[0].remedy}")
        if not parts:
            return None
        return f"{self._owner!r}: <{found[0].robot}> may chatter instead of coming to rest, {' And '.join(parts)}"

    def _chatter(self, rows: np.ndarray) -> Iterator[AssumedInertia]:
        """Iterate over joints of some robots that assume too much inertia, by friction or effort mode.

        Laws that get the inertia from the simulator assume none, and friction of implicit joints neither.
        """
        modes = self._implicit(rows)
        of_friction = np.isnan(self._assumed[rows]) & (not hasattr(self._robots.articulation, "joint_signals"))
        friction = np.where(of_friction, self._of_friction("assumed_inertia", np.maximum)[rows], 0.0)
        assumed = np.where(modes.is_assumed, modes.inertias, friction)
        if not assumed.any():
            return
        values = np.stack([assumed, modes.is_assumed], axis=-1)
        for path, name, (guess, is_implicit), actual in self._with_inertia(rows, values):
            one = AssumedInertia(path, name, guess, actual, bool(is_implicit))
            if one.is_too_large:
                yield one

    def _springs(self, rows: np.ndarray, step: float) -> Iterator[UnresolvedSpring]:
        """Iterate over joints of some robots whose spring a physics step damps."""
        names = "stiffness", "damping", "ratio", "rotor_inertia"
        stiffness, damping, ratio, rotor = map(self._of_transmission, names)
        if not stiffness[rows].any():
            return
        values = np.stack([stiffness, damping, ratio**2 * rotor], axis=-1)[rows]
        for path, name, (spring, damper, mass), inertia in self._with_inertia(rows, values):
            # without an inertia the rotor is no mass
            frequency = frequency_of(spring, mass, inertia) if spring and mass else 0.0
            if step * frequency > RESOLVED:
                ratios = damper * frequency / (2.0 * spring), damping_ratio_of(spring, damper, mass, inertia, step)
                yield UnresolvedSpring(path, name, spring, frequency, step, *ratios)

    def _with_inertia(self, rows: np.ndarray, values: np.ndarray) -> Iterator[tuple[str, str, Any, float]]:
        """Iterate over path, joint, value and inertia of the joints of some robots; values are `(rows, joints, …)`."""
        every = np.ones(values.shape[1], bool)
        paths, names = list(self._robots.articulation.paths), self._names_where(every)
        inertias = 1.0 / np.diagonal(self._inverses(rows, every), axis1=1, axis2=2)
        for row, of_row, inertia in zip(rows, values.tolist(), inertias.tolist(), strict=True):
            for name, value, actual in zip(names, of_row, inertia, strict=True):
                yield paths[row], name, value, actual

    def _is_first_stable(self, dt: float) -> bool:
        """Return True if the first robot is stable without integrals, with or without its viscous friction."""
        (loop,) = self.loops(np.zeros(1, int))
        gains = loop.gains * [[1.0], [1.0], [0.0]]
        # which the table of margins leaves out, and says so
        loop.springs[:] = 0.0
        return any(loop.changed(gains, viscous=friction).is_stable(dt) for friction in (None, np.zeros(len(gains[0]))))

    # inside

    @property
    def _left_out(self) -> tuple[str, ...]:
        """Laws that change the loop and are not in the equations, in words; a rigid gear is in the gains."""
        found: dict[tuple[str, str], list[str]] = {}
        for actuator in self._assembly.actuators:
            for kind, stage in actuator.by_kind:
                if KINDS[kind].changes_loop and not _is_in_equations(kind, stage, actuator):
                    law = law_of(type(stage))
                    name = type(stage).__name__ if law is None else snake_case(law.config.stem())
                    found.setdefault((kind, name), []).extend(actuator.dof_names)
        return tuple(
            f"{law} of {', '.join(joints)}: {_WHY_LEFT_OUT.get(kind, _NO_GAINS)}"
            for (kind, law), joints in found.items()
        )

    @property
    def _has_matrices(self) -> bool:
        # in Kit, it is unknown whether they include the armatures
        return hasattr(self._robots.articulation, "get_mass_matrices") and not self._robots.in_stage_units

    @cached_property
    def _columns(self) -> np.ndarray:
        """Columns of the joints of the actuators, in their order."""
        return np.sort(np.array(self._assembly.columns, int))

    @cached_property
    def _order(self) -> np.ndarray:
        """Joints of the actuators by their columns."""
        return np.argsort(self._assembly.columns)

    def _names_where(self, mask: np.ndarray) -> list[str]:
        """Return the names of those joints of the actuators for which a mask is true."""
        names = self._robots.articulation.dof_names
        return [names[column] for column in self._columns[mask]]

    @property
    def _turns(self) -> list[bool | None] | None:
        """For each joint with gains, True if it turns and False if it slides; None if the articulation does not say."""
        kinds = turning(self._robots.articulation)
        return None if kinds is None else [kinds[column] for column in self._columns[self._known]]

    @cached_property
    def _gains(self) -> np.ndarray:
        """Gains, shape `(3, robots, joints)`, NaN for none."""
        count = self._robots.num_robots
        parts = [feedback_gains(actuator, count) for actuator in self._assembly.actuators]
        return np.concatenate([np.empty((3, count, 0)), *parts], axis=2)[:, :, self._order]

    @cached_property
    def _timing(self) -> Timing:
        """When the joints are measured and their efforts act, `(robots, joints)`."""
        count = self._robots.num_robots
        parts = [timing_of(actuator).values for actuator in self._assembly.actuators]
        return Timing(np.concatenate([Timing.prompt(count, 0).values, *parts], axis=2)[:, :, self._order])

    @cached_property
    def _known(self) -> np.ndarray:
        """Mask of the joints with gains, and with an inertia if they are implicit; all robots have the same laws."""
        told = np.any([self._told[name] > 0.0 for name in ("coupled_inertia", "inertia")], axis=0)
        # without an inertia, each step of an implicit joint is a fault
        return ~np.isnan(self._gains[0, 0]) & (told | (self._assumed != 0.0)).all(axis=0)

    @cached_property
    def _modes(self) -> np.ndarray:
        """Inertias and load shares of effort modes, `(2, robots, joints)`; NaN as an inertia without a mode."""
        count = self._robots.num_robots
        parts = [mode_values(actuator, count) for actuator in self._assembly.actuators]
        return np.concatenate([np.empty((2, count, 0)), *parts], axis=2)[:, :, self._order]

    @property
    def _assumed(self) -> np.ndarray:
        """Inertias that effort modes assume, `(robots, joints)`; NaN without a mode."""
        return self._modes[0]

    @cached_property
    def _told(self) -> dict[str, np.ndarray]:
        """Signals of the simulator for implicit joints, by name, `(robots, joints)`; 0 for unknown ones."""
        names = "coupled_inertia", "inertia", "load_is_whole"
        found = {name: np.zeros(self._assumed.shape) for name in names}
        views = None if np.isnan(self._assumed).all() else self._robots.joint_views(names)
        if views is None:
            return found
        views.refresh()
        return found | {name: as_numpy(array)[:, self._columns].astype(float) for name, array in views.arrays.items()}

    def _implicit(self, rows: np.ndarray) -> Implicit:
        """Return the implicit joints of some robots in their present pose, `(rows, joints)`.

        The inertias are those that the engine takes, which the simulator tells of the pose of the last step.
        """
        assumed = self._assumed[rows]
        # of explicit joints nobody asks how they are measured
        if np.isnan(assumed).all() or np.isnan(assumed := np.where(self._is_measured, np.nan, assumed)).all():
            return Implicit.none(*assumed.shape)
        told, columns = {name: values[rows] for name, values in self._told.items()}, self._columns
        inverses = self._whole_inverses(rows)
        coupled = np.array([coupled_inertias(inverse) for inverse in inverses])[:, columns]
        alone = 1.0 / np.diagonal(inverses, axis1=1, axis2=2)[:, columns]
        coupled, alone = (told["coupled_inertia"] > 0.0) * coupled, (told["inertia"] > 0.0) * alone
        shares = np.where(told["load_is_whole"] > 0.5, 0.0, self._modes[1, rows])
        return Implicit.known(coupled, alone, assumed, shares)

    @cached_property
    def _is_measured(self) -> np.ndarray:
        """Mask of the joints of implicit actuators with a sensor."""
        return self._by_actuator(is_measured)

    def _by_actuator(self, has: Callable[[Actuator], bool]) -> np.ndarray:
        """Return a mask of the joints of actuators of which something is true."""
        parts = [np.full(len(actuator.dof_names), has(actuator)) for actuator in self._assembly.actuators]
        return np.concatenate([np.zeros(0, bool), *parts])[self._order]

    @property
    def _sensed(self) -> list[str]:
        """Names of the joints that a sensor makes explicit."""
        return self._names_where(self._is_measured)

    def _of_friction(self, parameter: str, combine: np.ufunc = np.add) -> np.ndarray:
        """Return a parameter of the friction of the actuated joints, `(robots, joints)`; 0 for none."""
        count = self._robots.num_robots
        parts = [of_passive_stages(one, parameter, count, combine) for one in self._assembly.actuators]
        return np.concatenate([np.zeros((count, 0)), *parts], axis=1)[:, self._order]

    def _of_transmission(self, parameter: str) -> np.ndarray:
        """Return a parameter of the transmissions of the actuated joints, `(robots, joints)`; 0 for none."""
        count = self._robots.num_robots
        parts = [of_transmission(one, parameter, count) for one in self._assembly.actuators]
        return np.concatenate([np.zeros((count, 0)), *parts], axis=1)[:, self._order]

    def _inverses(self, rows: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        """Return accelerations of joints, those of a mask or with gains, per effort on each, `(rows, joints, joints)`.

        With couplings of joints and loops where the articulation tells them, else inverse mass matrices.
        """
        driven = self._columns[self._known if mask is None else mask]
        tell = getattr(self._robots.articulation, "dof_admittances", None)
        coupled = None if tell is None else tell(rows)
        return (self._whole_inverses(rows) if coupled is None else coupled)[:, driven[:, None], driven]

    def _whole_inverses(self, rows: np.ndarray) -> np.ndarray:
        """Return inverse mass matrices in the rows and columns of all joints, `(rows, DOFs, DOFs)`."""
        robots: Any = self._robots.articulation
        matrices = as_numpy(robots.get_mass_matrices(indices=rows)).astype(float)
        free = matrices.shape[-1] - robots.num_dofs
        return np.linalg.inv(matrices)[:, free:, free:]

    def _velocity_weights(self, rows: np.ndarray) -> np.ndarray:
        """Return the velocity weight of each row; 1 if the articulation does not provide it."""
        tell = getattr(self._robots.articulation, "get_velocity_weights", None)
        return np.ones(len(rows)) if tell is None else as_numpy(tell(indices=rows)).astype(float)

    def _property(self, name: str) -> np.ndarray:
        """Return a property of the actuated joints, `(robots, joints)`; 0 if the articulation does not provide it."""
        found = read_property(self._robots.articulation, name)
        columns = self._columns
        return np.zeros((self._robots.num_robots, len(columns))) if found is None else found[:, columns]


def _sees_joint(actuator: Actuator) -> bool:
    """Return True if an encoder of an actuator is at the joint."""
    return any(
        isinstance(config_of(one), EncoderConfig) and getattr(one, "side", "") == "joint" for one in actuator.stages
    )


def _is_in_equations(kind: str, stage: Component, actuator: Actuator) -> bool:
    """Return True if a stage that changes the loop is in its equations, by its timing or in the gains."""
    if KINDS[kind].converts:
        return is_rigid(actuator)
    return Timing.is_in(config_of(stage)) and not (kind == "effort_lag" and is_at_end(actuator))


def _cause(joint: JointStability, robot: RobotStability, dt: float) -> str | None:
    """Return what a joint has and needs for the stability of its robot, or None if it needs nothing."""
    has = (
        f"{joint.joint} has kp = {joint.kp:.3g}, kd = {joint.kd:.3g}, inertia {joint.inertia:.3g}, armature "
        f"{joint.armature:.3g}"
    )
    # below this damping no armature helps
    if joint.kd < (least := least_damping(joint, robot, dt)):
        why = f", as its effort acts {joint.latency:.3g} s late" if joint.latency else ""
        return f"{has}, and needs kd >= {least:.3g}{why}"
    if joint.armature < joint.smallest_armature < np.inf:
        return f"{has}, and needs an armature of {joint.smallest_armature:.3g}"
    return None
