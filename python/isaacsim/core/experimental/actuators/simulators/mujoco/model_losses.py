"""Names of the features of a MuJoCo model that a `Scene` cannot hold."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from ...specs.arguments import DEFAULT_DT
from ...specs.linear_actuators import NO_BOUNDS
from ..scene.scene import Axis, Scene
from .address import SOFTNESS, element_name

# what of a model has names and no place on a stage
_OTHERS = {
    "actuators": ("actuator", "nu"),
    "tendons": ("tendon", "ntendon"),
    "sensors": ("sensor", "nsensor"),
    "keyframes": ("key", "nkey"),
    "cameras": ("camera", "ncam"),
    "lights": ("light", "nlight"),
    "sites": ("site", "nsite"),
    "materials, but for their colors": ("material", "nmat"),
    "skins": ("skin", "nskin"),
    "what bends": ("flex", "nflex"),
    "pairs of shapes with contacts of their own": ("pair", "npair"),
}
_EQUALITIES = [int(getattr(mujoco.mjtEq, f"mjEQ_{kind}")) for kind in ("CONNECT", "WELD", "JOINT")]
_SHAPES = [int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")) for kind in ("HFIELD", "SDF")]
_BALL, _SINGLE = int(mujoco.mjtJoint.mjJNT_BALL), (int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE))

# options with MuJoCo's defaults, and the integrator that a stage gets
_DEFAULTS: mujoco.MjModel = mujoco.MjSpec().compile()
_OPTIONS = ("cone", "impratio", "wind", "density", "viscosity", "magnetic", "enableflags")
_OF_CONTACTS = ("solref", "solimp", "margin", "gap", "condim", "priority", "solmix")


def losses_of(scene: Scene, model: mujoco.MjModel) -> list[str]:
    """Return what a stage of the scene will lack, each with the names of what lacks it.

    Args:
        scene: As it was read from a file.
        model: What MuJoCo makes of the same file.
    """
    lost = _of_joints(scene, model)
    lost |= {what: _names(model, kind, range(getattr(model, count))) for what, (kind, count) in _OTHERS.items()}
    lost["constraints"] = _names(model, "equality", _other_equalities(model))
    lost["shapes of kinds that USD lacks"] = _names(model, "geom", np.flatnonzero(np.isin(model.geom_type, _SHAPES)))
    lost["contact parameters of shapes (all but sliding friction)"] = _names(model, "geom", _other_contacts(model))
    lost["options"] = _options(model)
    return [f"{what}: {', '.join(names)}" for what, names in lost.items() if names]


def _names(model: mujoco.MjModel, kind: str, numbers: Iterable[int]) -> list[str]:
    return [element_name(model, kind, at) for at in numbers]


def _of_joints(scene: Scene, model: mujoco.MjModel) -> dict[str, list[str]]:
    """Names of the joints that lose something, by what they lose."""
    by_test = {
        "limits, friction, damping and springs of ball and free joints": _has_passive,
        "lower effort limits that are not the upper ones": _is_one_sided,
        "how hard limits of joints are": _has_soft_limits,
        "damping and springs that grow": _has_powers,
    }
    lost = {
        what: _names(model, "joint", [joint for joint in range(model.njnt) if loses(model, joint)])
        for what, loses in by_test.items()
    }
    lost["how ball joints begin"] = [name for name in scene.begin if model.joint(name).type[0] == _BALL]
    axes = [axis for body in scene.bodies for axis in body.axes]
    lost["ranges of the targets of drives"] = [axis.name for axis in axes if _has_target_ranges(axis)]
    return lost


def _has_target_ranges(axis: Axis) -> bool:
    return axis.position_range != NO_BOUNDS or axis.velocity_range != NO_BOUNDS


def _is_one_sided(model: mujoco.MjModel, joint: int) -> bool:
    """True if the effort limits of a joint differ in magnitude."""
    return bool(model.jnt_actfrclimited[joint]) and np.sum(model.jnt_actfrcrange[joint]) != 0.0


def _has_soft_limits(model: mujoco.MjModel, joint: int) -> bool:
    """True if the limits of a joint have other solver parameters than MuJoCo's defaults."""
    usual = {"solref": SOFTNESS["solref"], "solimp": SOFTNESS["solimp"], "margin": 0.0}
    fields = ((getattr(model, f"jnt_{name}")[joint], values) for name, values in usual.items())
    return bool(model.jnt_limited[joint]) and any(not np.allclose(field, values) for field, values in fields)


def _has_passive(model: mujoco.MjModel, joint: int) -> bool:
    """True if a ball or free joint has limits, friction, damping or a spring."""
    if model.jnt_type[joint] in _SINGLE:
        return False
    first = int(model.jnt_dofadr[joint])
    dofs = slice(first, first + (3 if model.jnt_type[joint] == _BALL else 6))
    fields = (model.dof_frictionloss[dofs], model.dof_damping[dofs])
    return bool(model.jnt_limited[joint]) or any(np.any(field) for field in (*fields, model.jnt_stiffness[joint]))


def _has_powers(model: mujoco.MjModel, joint: int) -> bool:
    """True if damping or a spring of a joint is a polynomial, as newer versions allow."""
    for field, at in (("dof_damping", model.jnt_dofadr[joint]), ("jnt_stiffness", joint)):
        polynomial = getattr(model, f"{field}poly", None)
        if np.any(np.ravel(getattr(model, field)[at])[1:]) or (polynomial is not None and np.any(polynomial[at])):
            return True
    return False


def _other_equalities(model: mujoco.MjModel) -> list[int]:
    """Constraints that are no joint of a stage, a joint that is held at a position among them, or that are off."""
    held = (model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)) & (model.eq_obj2id < 0)
    return np.flatnonzero(~np.isin(model.eq_type, _EQUALITIES) | ~model.eq_active0.astype(bool) | held).tolist()


def _other_contacts(model: mujoco.MjModel) -> list[int]:
    """Shapes that touch otherwise than by default."""
    plain = mujoco.MjSpec().default.geom
    usual = {name: getattr(plain, name) for name in _OF_CONTACTS}
    found = []
    for geom in np.flatnonzero(model.geom_contype | model.geom_conaffinity):
        values = {name: getattr(model, f"geom_{name}")[geom] for name in _OF_CONTACTS}
        other = any(not np.allclose(values[name], usual[name]) for name in _OF_CONTACTS)
        if other or not np.allclose(model.geom_friction[geom, 1:], plain.friction[1:]):
            found.append(int(geom))
    return found


def _options(model: mujoco.MjModel) -> list[str]:
    """Options of the file, with their values, that are not those that a stage is simulated with."""
    found = []
    if not np.isclose(model.opt.timestep, DEFAULT_DT):
        found.append(f"timestep {model.opt.timestep:g} s (open the stage with dt={model.opt.timestep:g})")
    if model.opt.integrator != int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        found.append(f"integrator {mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix('mjINT_').lower()}")
    for name in _OPTIONS:
        value = getattr(model.opt, name)
        if not np.allclose(value, getattr(_DEFAULTS.opt, name)):
            found.append(f"{name} {np.array(value).tolist()}")
    if flags := int(model.opt.disableflags) & ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        known = [bit for bit in mujoco.mjtDisableBit.__members__.values() if flags & int(bit)]
        found += [f"{bit.name.removeprefix('mjDSBL_').lower()} off" for bit in known if int(bit) < 2**31]
    return found
