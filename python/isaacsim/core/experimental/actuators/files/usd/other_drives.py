"""What moves joints without an actuator: drives of USD, actuators of MuJoCo, joints that they follow, and tendons."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

import numpy as np
from pxr import Usd

from ...base.errors import listed
from ...specs.linkage import led_by_tendon
from .articulation import every_prim
from .authored import targets
from .discover import actuator_paths, dofs_driven
from .joint_properties import authored, axis_of
from .mujoco_properties import ACTUATOR, joint_of, mjc_prims
from .schema import applied_schemas
from .tendons import tendons_of
from .usd_errors import reports_usd_errors

_COUPLINGS = ("NewtonMimicAPI", "MjcEqualityJointAPI", "PhysxMimicJointAPI")


@reports_usd_errors
def follows(stage: Usd.Stage, joint: str) -> bool:
    """Return True if a joint follows another one."""
    prim = stage.GetPrimAtPath(joint)
    enabled = prim.GetAttribute("newton:mimicEnabled")
    if enabled and enabled.Get() is False:
        return False
    return any(schema.partition(":")[0] in _COUPLINGS for schema in applied_schemas(prim))


@reports_usd_errors
def followers(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str], driven: Collection[str] = ()) -> set[str]:
    """Names of the DOFs of a robot, each with the path of its joint, that follow another joint or that a tendon moves.

    `driven` are DOFs with a motor, besides those that the stage drives.
    """
    there = [(joint, name) for joint, name in zip(joints, names, strict=True) if stage.GetPrimAtPath(joint)]
    found = {name for joint, name in there if follows(stage, joint)}
    if tendons := [*tendons_of(stage, joints)]:
        moved = {*driven, *_driven(stage, joints, names)}
        for along, acts, holds in tendons:
            found |= led_by_tendon({name for joint, name in there if joint in along}, moved, acts, holds)
    return found


def _driven(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]) -> set[str]:
    ours = {dof for path in actuator_paths(stage) for dof in dofs_driven(stage.GetPrimAtPath(path))}
    own = {name for joint, name in zip(joints, names, strict=True) if (joint, name) in ours}
    return own.union(gains_of_drives(stage, joints, names), _mujoco_actuators(stage, set(joints)))


@reports_usd_errors
def mujoco_actuators(stage: Usd.Stage) -> dict[str, str]:
    """Paths of `MjcActuator` prims by the path of their target."""
    prims = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "MjcActuator"]
    return {str(target): str(prim.GetPath()) for prim in prims for target in targets(prim, "mjc:target")}


@reports_usd_errors
def no_actuators_message(stage: Usd.Stage, root: str, joints: Sequence[str], names: Sequence[str]) -> str:
    """The message of a robot without actuators: what drives its joints, and how to describe motors."""
    driven = gains_of_drives(stage, joints, names)
    mujoco = _mujoco_actuators(stage, set(joints))
    gains = [f"{name} (stiffness {one[0]:g}, damping {one[1]:g})" for name, one in driven.items()]
    drives = f"drives of USD, {listed(gains)}"
    found = itertools.compress((drives, f"{ACTUATOR} prims, of {listed(mujoco)}"), (driven, mujoco))
    following = followers(stage, joints, names)
    free = [name for name in names if name not in following]
    first = next((name for name in (*driven, *mujoco) if name not in following), None)
    remedy = _remedy(root, first or ("|".join(free) if following else ".*"), driven.get(first or ""))
    return (
        f"<{root}>: no actuator found, for no NewtonActuator prim drives a joint of it. Its joints are driven by "
        f"{' and '.join(found) or 'nothing else'}. {remedy}"
    )


def _remedy(root: str, pattern: str, drive: tuple[float, float, float] | None = None) -> str:
    stiffness, damping, largest = drive or (100.0, 10.0, np.inf)
    limit = f", MaxEffortClampingConfig({largest:g})" if np.isfinite(largest) else ""
    return (
        f"Describe motors, `motors = {{{pattern!r}: [PDControlConfig({stiffness:g}, {damping:g}){limit}]}}` say, and "
        f"pass them to `ArticulationActuators.from_configs({root!r}, motors)`, or author them by "
        f"`add_motors({root!r}, motors)`."
    )


@reports_usd_errors
def unmoved(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names of the DOFs that nothing drives, and that follow no other joint or tendon."""
    moved = _driven(stage, joints, names) | followers(stage, joints, names)
    return [name for name in names if name not in moved]


def gains_of_drives(
    stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]
) -> dict[str, tuple[float, float, float]]:
    """Stiffness, damping and largest effort of the drives that have gains, in SI, by name of the DOF."""
    there = [(joint, name) for joint, name in zip(joints, names, strict=True) if stage.GetPrimAtPath(joint)]
    axes = [(joint, axis_of(stage, joint, name)) for joint, name in there]
    columns = (np.nan_to_num(authored(stage, name, axes), nan=0.0) for name in ("stiffnesses", "dampings"))
    largest = np.nan_to_num(authored(stage, "max_efforts", axes), nan=np.inf, posinf=np.inf)
    rows = zip(there, *(column.tolist() for column in (*columns, largest)), strict=True)
    return {name: (stiffness, damping, most) for (_, name), stiffness, damping, most in rows if stiffness or damping}


def _mujoco_actuators(stage: Usd.Stage, joints: set[str]) -> list[str]:
    acting = [str(joint_of(prim)) for prim in mjc_prims(stage)[0]]
    return [path.rsplit("/", 1)[1] for path in dict.fromkeys(acting) if path in joints]
