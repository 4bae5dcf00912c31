"""Robots that hold their pose with stiff gains, touch something, and carry a load that their actuators do not know."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation, buzz
from places import ROBOTS
from pxr import Gf, Usd, UsdGeom, UsdPhysics

DT, STIFFER, SECONDS = 0.005, 20.0, 10.0
# [Hz], and root mean square [rad]: faster motion is none of a robot that holds its pose
FAST, LARGEST = 25.0, 1e-5
BALL = 0.05


@dataclass(frozen=True)
class Laden:
    """A shipped robot whose `carriers`, ends of link names, carry `mass` [kg] `at` a place [m], maybe on a table."""

    file: str
    path: str
    carriers: tuple[str, ...]
    mass: float
    at: tuple[float, float, float]
    on_table: bool = False

    def stage(self) -> Usd.Stage:
        stage = Usd.Stage.Open(Usd.Stage.Open(str(ROBOTS / f"{self.file}.usda")).Flatten())
        links = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]
        for link in (one for one in links if one.GetName().endswith(self.carriers)):
            self._load(stage, link)
        return stage

    def _load(self, stage: Usd.Stage, link: Usd.Prim) -> None:
        pose = UsdGeom.XformCache().GetLocalToWorldTransform(link).RemoveScaleShear()
        place = Gf.Matrix4d().SetTranslate(Gf.Vec3d(*self.at)) * pose
        body = UsdGeom.Xform.Define(stage, f"/World/load_{link.GetName()}")
        body.AddTranslateOp().Set(place.ExtractTranslation())
        body.AddOrientOp().Set(Gf.Quatf(place.ExtractRotationQuat()))
        UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
        properties = UsdPhysics.MassAPI.Apply(body.GetPrim())
        properties.CreateMassAttr(self.mass)
        properties.CreateDiagonalInertiaAttr(Gf.Vec3f(0.4 * self.mass * BALL**2))
        ball = UsdGeom.Sphere.Define(stage, body.GetPath().AppendChild("ball"))
        ball.CreateRadiusAttr(BALL)
        weld = UsdPhysics.FixedJoint.Define(stage, f"/World/weld_{link.GetName()}")
        weld.CreateBody0Rel().SetTargets([link.GetPath()])
        weld.CreateBody1Rel().SetTargets([body.GetPath()])
        weld.CreateExcludeFromArticulationAttr(True)
        weld.CreateLocalPos0Attr(Gf.Vec3f(*self.at))
        weld.CreateLocalPos1Attr(Gf.Vec3f(0.0))
        weld.CreateLocalRot0Attr(Gf.Quatf(1.0))
        weld.CreateLocalRot1Attr(Gf.Quatf(1.0))
        if self.on_table:
            UsdPhysics.CollisionAPI.Apply(ball.GetPrim())
            table = UsdGeom.Cube.Define(stage, "/World/table")
            table.CreateSizeAttr(1.0)
            table.AddTranslateOp().Set(place.ExtractTranslation() - Gf.Vec3d(0, 0, 0.5 + BALL))
            UsdPhysics.CollisionAPI.Apply(table.GetPrim())


LADEN = {
    "ANYmal": Laden("anymal_c", "/World/Anymal", ("base",), 10.0, (0.0, 0.0, 0.35)),
    "G1": Laden("unitree_g1", "/World/G1", ("wrist_yaw_link",), 2.0, (0.0, 0.0, 0.0)),
    "Franka": Laden("franka_panda", "/World/Panda", ("panda_link7",), 2.0, (0.0, 0.0, 0.2), on_table=True),
}


@dataclass(frozen=True)
class Found:
    """Half of a recording: sustained tone [rad], [Hz], fast motion and error [rad], faults, descent of the base [m]."""

    tone: tuple[float, float] | None
    fast: float
    error: float
    faults: int
    fallen: float

    @property
    def chatters(self) -> bool:
        return self.tone is not None or self.fast > LARGEST


def fast_motion(positions: np.ndarray, dt: float) -> np.ndarray:
    """Root mean squares of what is faster than `FAST`, of each column [rad]."""
    count = len(positions)
    slow = np.linspace(positions[0], positions[-1], count)
    window = np.hanning(count)[:, None]
    spectrum = np.fft.rfft((positions - slow) * window, axis=0)
    spectrum[np.fft.rfftfreq(count, dt) < FAST] = 0.0
    return np.sqrt((np.fft.irfft(spectrum, count, axis=0) ** 2).mean(axis=0) / (window**2).mean())


def hold(name: str, engine: str, how: str, seconds: float = SECONDS) -> Found:
    laden = LADEN[name]
    with warnings.catch_warnings(), Simulation(laden.stage(), DT, engine=engine) as sim:
        warnings.simplefilter("ignore")
        actuators = ArticulationActuators(laden.path, effort_mode="explicit" if how == "drives" else how)
        sim.play()
        robot = actuators.articulation
        if how == "drives":
            gains = {one.joint: (one.kp, one.kd) for one in actuators.stability().joints}
            actuators.close()
            stiffness, damping = np.transpose([gains[joint] for joint in robot.dof_names])
            robot.set_dof_gains(STIFFER * stiffness, STIFFER * damping)
        else:
            _stiffen(actuators.actuators)
        targets = robot.get_dof_positions().numpy().copy()
        robot.set_dof_position_targets(targets)
        height = _height(robot)
        positions = []
        for _ in range(round(seconds / DT)):
            sim.step()
            positions.append(robot.get_dof_positions().numpy()[0].copy())
        faults = 0 if how == "drives" else len(actuators.faults)
        fallen = height - _height(robot)
    late = np.array(positions[len(positions) // 2 :], float)
    tones = buzz(late, DT)
    tone = (tones[0].amplitude, tones[0].frequency) if tones else None
    error = float(np.abs(positions[-1] - targets[0]).max())
    return Found(tone, float(fast_motion(late, DT).max()), error, faults, fallen)


def _height(robot) -> float:
    return float(robot.get_world_poses()[0].numpy()[0][2])


def _stiffen(actuators: Sequence) -> None:
    for actuator in actuators:
        for gain in ("kp", "kd"):
            values = STIFFER * getattr(actuator.controller, gain).numpy()
            setattr(actuator.controller, gain, wp.array(values, dtype=wp.float32, device="cpu"))
