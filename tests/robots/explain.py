"""Why a converted robot is not as its original: whether that is what its USD file says, as two witnesses have it.

The first is newton, which reads the file by itself: where it reads what we read, the file says so. The second is the
original: with what newton reads of the file in it, or without what USD cannot say, it must be as ours is.
"""

from dataclasses import replace
from pathlib import Path

import mujoco  # noqa: TID253 - only the process of one robot imports this file
import numpy as np
from isaacsim.core.experimental.actuators.files.usd.authored import authored
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.simulators.scene.inertias import SCREW, repaired
from isaacsim.core.experimental.actuators.simulators.scene.masses import NOTHING, Mass
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from pxr import UsdPhysics

from .files import kind_of, plain
from .losses import MESHES, MOTIONS, Motion, masses_of, reasons, some_of, transplant, without
from .one import SAME, Drive, compare, match, names_of
from .original import Original, spec_of
from .second import Second, is_close

UNREAD = "colliders, which MuJoCo does not read in the original"
UNNAMED = "masses of links"
BITS = "what may touch what"
NO_CONTACT = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)


class Explanation:
    """What a USD file says of a robot that is not as its original."""

    def __init__(self, file: Path, origin: Path, sim, robots: list, drive: Drive) -> None:
        self._origin, self._sim, self._robots, self._drive = origin, sim, robots, drive
        self._stage = open_stage(file)
        self._scene, self._second = read_scene(self._stage), Second(file)
        self._names = [names_of(sim, robot) for robot in robots]
        try:
            self._spec = spec_of(origin)
        except ValueError:
            # inertias that MuJoCo refuses
            self._spec = None

    def of(self, faults: set[str]) -> dict[str, list[str]]:
        """By kind of fault, what was lost on the way to USD; kinds that nothing explains are missing."""
        told: dict[str, list[str]] = {}
        if mass := faults & {"mass", "bias"}:
            told |= dict.fromkeys(mass, self._masses())
        for name in faults & {"range", "friction"}:
            if not (name == "friction" and self._says("mjc:springdamper")) and not self._second.joints_apart(
                self._scene, [name]
            ):
                told[name] = [f"{name} of joints"]
        if coupled := faults - set(SAME):
            told |= self._couplings(coupled)
        return {name: lost for name, lost in told.items() if lost}

    def _masses(self) -> list[str]:
        """What was lost of masses, where the original with those of the file is as ours; nothing otherwise."""
        original = Original(self._origin, without(()))
        due, screws, doubtful = self._file_masses(original.model)
        if not due:
            return []
        now = masses_of(original.model)
        transplant(original.model, due | screws)
        self._sim.reset()
        found = compare(self._robots, match(self._names, original), original)
        if found["mass"] > SAME["mass"] or found["bias"] > SAME["bias"]:
            return []
        other = {body: mass for body, mass in due.items() if not is_close(now[body], mass)}
        lost = reasons(self._spec, other) if self._spec else {}
        if doubtful & set(other) - set(lost):
            return []
        if self._says("mjc:inertia") and any(MESHES in names for names in lost.values()):
            return []
        unnamed = UNREAD if original.without == "meshes" else UNNAMED
        return list(dict.fromkeys(name for body in other for name in lost.get(body, [unnamed])))

    def _file_masses(self, model) -> tuple[dict[int, Mass], dict[int, Mass], set[int]]:
        """What newton reads, by the original's number of the body, and what stands for no mass in what moves.

        Where newton reads other than we do it is what we read, and only the original can tell whether that is right:
        these are the last.
        """
        names = self._bodies()
        if kind_of(self._origin) == "mjcf":
            # the converter makes a prim of each body, in their order
            if len(names) != model.nbody - 1:
                return {}, {}, set()
            numbers = dict(zip(names, range(1, model.nbody), strict=True))
        else:
            bodies = {plain(model.body(number).name): number for number in range(1, model.nbody)}
            numbers = {path: bodies[name] for path, name in names.items() if name in bodies}
        # links that the file lacks have no mass there
        due = dict.fromkeys(range(1, model.nbody), NOTHING)
        for path, number in numbers.items():
            if (mass := self._second.masses.get(path)) and mass.mass > 0.0:
                due[number] = replace(mass, inertia=repaired(mass.inertia)[0])
        apart = set(self._second.masses_apart(self._scene))
        doubtful = {numbers[path] for path in apart if path in numbers}
        for body in self._scene.bodies:
            if body.path in apart and body.path in numbers:
                due[numbers[body.path]] = Mass(body.mass, body.com, body.inertia)
        screw = Mass(SCREW[0], np.zeros(3), SCREW[1] * np.eye(3))
        moving = [body.path for body in self._scene.bodies if body.mass == SCREW[0] and body.path in numbers]
        return due, {numbers[path]: screw for path in moving if due[numbers[path]].mass == 0.0}, doubtful

    def _says(self, name: str) -> bool:
        """Whether some prim has such an attribute: what the file says and nobody reads is not lost on the way to it."""
        values = (authored(prim, name) for prim in self._stage.Traverse())
        return any(value is not None and (isinstance(value, str) or any(value)) for value in values)

    def _bodies(self) -> dict[str, str]:
        """Names of the rigid bodies of the stage before they were made fit for USD, by path."""
        return {
            str(prim.GetPath()): plain(prim.GetDisplayName() or prim.GetName())
            for prim in self._stage.Traverse()
            if prim.HasAPI(UsdPhysics.RigidBodyAPI)
        }

    def _couplings(self, faults: set[str]) -> dict[str, list[str]]:
        """What was lost of couplings and loops, where the original without it comes apart as ours does."""
        scene, second = self._scene, self._second
        # bodies that nothing moves are held by what is no joint
        loops = {loop.joint for loop in scene.loops} - {body.path for body in scene.bodies}
        read_alike = {"coupling": second.couplings == len(scene.mimics), "loop": second.loops == len(loops)}
        faults = {name for name in faults if read_alike.get(name, True)}
        changes = {
            name: change for name, change in MOTIONS.items() if self._spec and change(self._spec.copy(), self._stage)
        }
        told = self._strained(faults, changes, self._drive, touches=True)
        if faults - set(told) and all(second.lets_touch(*pair) for pair in self._drive.touching):
            # MuJoCo has no limits of velocity: what holds without ours is torn by them, whatever touches
            torn = self._again(contacts=True)[1]
            alone = self._again(contacts=False)[0]
            told |= self._strained((faults & set(torn)) - set(told), changes, alone, touches=False)
        return told

    def _strained(
        self, faults: set[str], changes: dict[str, Motion], drive: Drive, *, touches: bool
    ) -> dict[str, list[str]]:
        told: dict[str, list[str]] = {}
        for names in some_of(tuple(changes), least=int(touches)):

            def change(spec, names: tuple[str, ...] = names) -> None:
                for name in names:
                    changes[name](spec, self._stage)

            original = Original(self._origin, change)
            if not touches:
                original.model.opt.disableflags |= NO_CONTACT
            broken = drive.strain(original)
            reason = [*names, *([] if touches else [BITS if original.without in ("", "visuals") else UNREAD])]
            told |= dict.fromkeys(faults - set(broken) - set(told), reason)
        return told

    def _again(self, *, contacts: bool) -> tuple[Drive, dict[str, float]]:
        """The same drive without limits of velocity where things touch, or with them where nothing does."""
        host = self._sim._host
        if contacts:
            kept = host._max_velocities.copy()
            host._max_velocities[:] = np.inf
        else:
            for name in ("geom_contype", "geom_conaffinity"):
                host._fields.own(name)[:] = 0
        host._watch_velocities()
        self._sim.reset()
        original = Original(self._origin)
        drive = Drive(self._sim, self._robots, match(self._names, original), original)
        broken = drive.run()["strain"]
        if contacts:
            host._max_velocities[:] = kept
            host._watch_velocities()
        return drive, broken
