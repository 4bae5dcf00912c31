"""MuJoCo's own model of an MJCF or URDF file, to compare with."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators.simulators.mujoco  # noqa: F401 - it chooses how MuJoCo draws, before its import
import mujoco  # noqa: TID253 - only the process of one robot imports this file
import numpy as np

from .files import kind_of, with_meshes

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
JOINT, CONNECT, WELD, TENDON = (
    int(getattr(mujoco.mjtEq, f"mjEQ_{name}")) for name in ("JOINT", "CONNECT", "WELD", "TENDON")
)
Change = Callable[[Any], object]
# [kg] and [kg·m²], of links that move and are left without
NEXT_TO_NOTHING = 1e-9, 1e-12
LINKS = re.compile(r"<link\b[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"'][^>]*?(?<!/)>(.*?)</link>", re.DOTALL)
# what soft constraints leave open: at hinges, slides, and in loops and tendons [rad or m]
SLACK = {HINGE: 0.03, SLIDE: 0.003, None: 0.01}
# of a URDF, in this order: what is left out for MuJoCo to open it
WITHOUT = {
    "": (),
    "visuals": (r"<visual\b.*?</visual>",),
    "meshes": (r"<visual\b.*?</visual>", r"<collision\b(?:(?!</collision>).)*<mesh\b.*?</collision>"),
}


@dataclass(frozen=True)
class Coupling:
    """Joint `follower` is at `rest + Σ c[k]·(leader − leader_rest)^k`; no leader means at the constant."""

    follower: int
    leader: int | None
    coefficients: tuple[float, ...]


class Original:
    """A robot as MuJoCo opens it; joints are told by MuJoCo's numbers.

    `is_converted`: Whether a converter read it: then a URDF's limits are those it says, and not what MuJoCo makes of
    them, which ignores equal ones. `change`: What is done to MuJoCo's spec of it before it is compiled; an original
    that MuJoCo refuses stays as it is.
    """

    def __init__(self, path: Path, change: Change | None = None, *, is_converted: bool = True) -> None:
        self.without = ""
        """What had to go for MuJoCo to open it: "visuals", "meshes", or its "refusal" of inertias no body can have."""
        text = ""
        if kind_of(path) == "urdf":
            text = re.sub(r"<!--.*?-->", "", with_meshes(path), flags=re.DOTALL)
            self.model, self.without = _from_urdf(text, change)
        elif change is None:
            self.model = mujoco.MjModel.from_xml_path(str(path))
        else:
            self.model = _changed(mujoco.MjSpec.from_file(str(path)), change)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.contacts = int(self.data.ncon) if self.without in ("", "visuals") else None
        """In the pose of the file; None where colliders are missing."""
        self.joints = [j for j in range(self.model.njnt) if self.model.jnt_type[j] in (HINGE, SLIDE)]
        """Hinges and slides."""
        self._urdf_limits = _limits(text) if is_converted else {}
        self.massless = _massless(text)
        """Links that weigh nothing, and something in USD."""
        self.couplings = [*self._equalities(), *self._mimics(text)]
        """Joints that follow others."""

    @functools.cached_property
    def _scratch(self):
        return mujoco.MjData(self.model)

    def name(self, joint: int) -> str:
        return mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_JOINT, joint) or ""

    def body(self, joint: int) -> tuple[str, int, int]:
        body = int(self.model.jnt_bodyid[joint])
        mine = [one for one in self.joints if self.model.jnt_bodyid[one] == body]
        return mujoco.mj_id2name(self.model, mujoco.mjtObj.mjOBJ_BODY, body) or "", body, mine.index(joint)

    def rest(self, joints: list[int]) -> np.ndarray:
        return self.model.qpos0[self.model.jnt_qposadr[joints]]

    def ranges(self, joints: list[int]) -> np.ndarray:
        """Lower and upper limits, infinite for none, shape `(joints, 2)`."""
        limited = self.model.jnt_limited[joints].astype(bool)[:, None]
        ranges = np.where(limited, self.model.jnt_range[joints], [-np.inf, np.inf])
        for i, joint in enumerate(joints):
            if limits := self._urdf_limits.get(self.name(joint)):
                ranges[i] = limits
        return no_limit(ranges)

    def frictions(self, joints: list[int]) -> np.ndarray:
        """Dry and viscous friction, shape `(joints, 2)`."""
        at = self.model.jnt_dofadr[joints]
        damping = np.asarray(self.model.dof_damping)
        damping = damping.reshape(self.model.nv, -1)[:, 0]
        return np.stack([self.model.dof_frictionloss[at], damping[at]], axis=1)

    def dynamics(self, joints: list[int], positions: np.ndarray, velocities: np.ndarray) -> tuple:
        """Mass matrix and bias of some joints; everything else stays as in the file."""
        model, data, at = self.model, self.data, self.model.jnt_dofadr[joints]
        mujoco.mj_resetData(model, data)
        data.qpos[model.jnt_qposadr[joints]] = positions
        data.qvel[at] = velocities
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        return mass[np.ix_(at, at)], data.qfrc_bias[at].copy()

    def passive(self) -> set[int]:
        """Joints that nothing should drive: followers, and where loops are closed all that have no motor."""
        model = self.model
        idle = {coupling.follower for coupling in self.couplings}
        closes = [model.eq_type[i] in (CONNECT, WELD, TENDON) and model.eq_active0[i] for i in range(model.neq)]
        if any(closes) and model.nu:
            motors = model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT)
            idle |= set(self.joints) - set(model.actuator_trnid[motors, 0].tolist())
        return idle

    def strains(self, joints: list[int], positions: np.ndarray) -> dict[str, float]:
        """By how many times its slack positions break what couples joints and closes loops: the most, by kind."""
        place = dict(zip(joints, positions, strict=True))
        worst: dict[str, float] = {}
        for coupling in self.couplings:
            rest = self.rest([coupling.follower])[0]
            by = 0.0
            if coupling.leader is not None:
                by = place.get(coupling.leader, 0.0) - self.rest([coupling.leader])[0]
            due = rest + np.polynomial.Polynomial(coupling.coefficients)(by)
            slack = SLACK[int(self.model.jnt_type[coupling.follower])]
            worst["coupling"] = max(worst.get("coupling", 0.0), abs(place.get(coupling.follower, rest) - due) / slack)
        mujoco.mj_resetData(self.model, self._scratch)
        self._scratch.qpos[self.model.jnt_qposadr[joints]] = positions
        mujoco.mj_fwdPosition(self.model, self._scratch)
        kinds = {CONNECT: "loop", WELD: "loop", TENDON: "tendon"}
        equal = self._scratch.efc_type[: self._scratch.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        for row in np.flatnonzero(equal).tolist():
            kind = kinds.get(int(self.model.eq_type[self._scratch.efc_id[row]]))
            if kind:
                worst[kind] = max(worst.get(kind, 0.0), abs(float(self._scratch.efc_pos[row])) / SLACK[None])
        return worst

    def start(self, step: float) -> None:
        """Begin to simulate, in the pose of the file; what it has for actuators itself is switched off."""
        self.model.opt.timestep = step
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)

    def state(self, joints: list[int]) -> tuple[np.ndarray, np.ndarray]:
        at = self.model.jnt_qposadr[joints], self.model.jnt_dofadr[joints]
        return self.data.qpos[at[0]].copy(), self.data.qvel[at[1]].copy()

    def step(self, joints: list[int], efforts: np.ndarray) -> None:
        self.data.qfrc_applied[self.model.jnt_dofadr[joints]] = efforts
        mujoco.mj_step(self.model, self.data)

    def _equalities(self) -> list[Coupling]:
        model = self.model
        return [
            Coupling(
                int(model.eq_obj1id[i]),
                int(model.eq_obj2id[i]) if model.eq_obj2id[i] >= 0 else None,
                tuple(model.eq_data[i, :5]),
            )
            for i in range(model.neq)
            if model.eq_type[i] == JOINT and model.eq_active0[i]
        ]

    def _mimics(self, urdf: str) -> list[Coupling]:
        number = {self.name(joint): joint for joint in self.joints}
        known = {coupling.follower for coupling in self.couplings} if hasattr(self, "couplings") else set()
        found = []
        for name, inside in re.findall(r"<joint\b[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"'](.*?)</joint>", urdf, re.DOTALL):
            mimic = re.search(r"<mimic\b(.*?)/?>", inside, re.DOTALL)
            told = dict(re.findall(r"(\w+)\s*=\s*[\"']([^\"']*)[\"']", mimic[1])) if mimic else {}
            if told.get("joint") in number and name in number and number[name] not in known:
                line = float(told.get("offset", 0.0)), float(told.get("multiplier", 1.0))
                found.append(Coupling(number[name], number[told["joint"]], line))
        return found


def spec_of(path: Path):
    """MuJoCo's spec of MJCF, or of a URDF without what MuJoCo does not open."""
    if kind_of(path) != "urdf":
        return mujoco.MjSpec.from_file(str(path))
    kept = []
    _from_urdf(re.sub(r"<!--.*?-->", "", with_meshes(path), flags=re.DOTALL), lambda spec: kept.append(spec.copy()))
    return kept[-1]


def compiled(spec):
    # some files ask for gigabytes
    spec.memory = spec.njmax = spec.nconmax = -1
    try:
        return spec.copy().compile()
    except ValueError:
        spec.compiler.boundmass, spec.compiler.boundinertia = NEXT_TO_NOTHING
        return spec.compile()


def _changed(spec, change: Change):
    change(spec)
    return compiled(spec)


def _from_urdf(text: str, change: Change | None = None) -> tuple[Any, str]:
    if "<mujoco" not in text:
        told = '<mujoco><compiler strippath="false" discardvisual="true"/></mujoco>'
        text = re.sub(r"(<robot\b[^>]*>)", rf"\1{told}", text, count=1)
    errors = []
    for name, patterns in WITHOUT.items():
        for pattern in patterns:
            text = re.sub(pattern, "", text, flags=re.DOTALL)
        try:
            if change is None:
                return mujoco.MjModel.from_xml_string(text), name
            return _changed(mujoco.MjSpec.from_string(text), change), name
        except ValueError as error:
            errors.append(error)
    if "inertia" not in str(errors[-1]):
        raise errors[0]
    return _with_any_inertia(text), "refusal"


def _with_any_inertia(text: str):
    """Model of a URDF whose inertias MuJoCo refuses, with these very inertias: the mass matrix is linear in them."""
    links = {}
    for name, inside in LINKS.findall(text):
        if inertial := re.search(r"<inertial\b.*?</inertial>", inside, re.DOTALL):
            links[name] = inertial[0]
    one = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = re.sub(r"<inertial\b.*?</inertial>", one, text, flags=re.DOTALL)
    text = re.sub(r"<compiler ", '<compiler fusestatic="false" ', text, count=1)
    model = mujoco.MjModel.from_xml_string(text)
    for body in range(1, model.nbody):
        inertial = links.get(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body), "")
        attributes = re.findall(r"(\w+)\s*=\s*[\"']([^\"']*)", inertial)
        told = {key: [float(one) for one in value.split()] for key, value in attributes}
        xx, xy, xz, yy, yz, zz = (told.get(f"i{key}", [0.0])[0] for key in ("xx", "xy", "xz", "yy", "yz", "zz"))
        values, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        axes[:, 0] *= np.linalg.det(axes)
        roll, pitch, yaw = told.get("rpy", [0.0] * 3)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, (_turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll) @ axes).ravel())
        model.body_mass[body] = told.get("value", [0.0])[0]
        model.body_ipos[body] = told.get("xyz", [0.0] * 3)
        model.body_iquat[body] = quaternion
        model.body_inertia[body] = values
        # MuJoCo takes bodies for simple whose mass matrix is diagonal in their joints, which held for the others
        model.body_sameframe[body] = 0
        model.body_simple[body] = 0
    model.dof_simplenum[:] = 0
    return model


def _turn(axis: int, angle: float) -> np.ndarray:
    sine, cosine = np.sin(angle), np.cos(angle)
    matrix, (i, j) = np.eye(3), ((1, 2), (2, 0), (0, 1))[axis]
    matrix[[i, i, j, j], [i, j, i, j]] = cosine, -sine, sine, cosine
    return matrix


def _massless(text: str) -> list[str]:
    """Links of a URDF without mass or inertia but with colliders, from whose size USD gives a body both."""
    return [
        name
        for name, inside in LINKS.findall(text)
        if "<collision" in inside
        and not all(
            any(float(value) for value in re.findall(rf"\b{key}\s*=\s*[\"']([^\"']+)", inertial))
            for inertial in [" ".join(re.findall(r"<inertial\b.*?</inertial>", inside, re.DOTALL))]
            for key in ("value", "i(?:xx|yy|zz)")
        )
    ]


def _limits(text: str) -> dict[str, tuple[float, float]]:
    """Limits of the joints of a URDF that have some, 0 where it does not say."""
    limits = {}
    for whole, inside in re.findall(r"<joint\b([^>]*)>(.*?)</joint>", text, re.DOTALL):
        joint = dict(re.findall(r"(\w+)\s*=\s*[\"']([^\"']*)[\"']", whole))
        if joint.get("type") in ("revolute", "prismatic"):
            told = dict(re.findall(r"\b(lower|upper)\s*=\s*[\"']([^\"']*)[\"']", inside))
            limits[joint["name"]] = float(told.get("lower", 0.0)), float(told.get("upper", 0.0))
    return limits


def no_limit(ranges: np.ndarray) -> np.ndarray:
    return np.where(np.abs(ranges) > 1e8, np.copysign(np.inf, ranges), ranges)
