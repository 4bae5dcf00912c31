"""A small USD stage for any problem: a chain of hinged links with the actuators of the problem's pipeline."""

from __future__ import annotations

from typing import Any

from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
    add_actuator,
)
from pxr import Gf, Usd, UsdGeom, UsdPhysics

from .problem import Problem

ROOT = "/Robot"


def joint_names(problem: Problem) -> list[str]:
    """Return the names of all joints, driven or not, in the order of the columns."""
    return [f"joint_{column:02d}" for column in range(problem.robot.num_columns)]


def make_stage(problem: Problem) -> Usd.Stage:
    """Return the robot on a stage, with the parameters of the first robot."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.Scene.Define(stage, "/physicsScene")
    UsdPhysics.ArticulationRootAPI.Apply(UsdGeom.Xform.Define(stage, ROOT).GetPrim())
    UsdGeom.Scope.Define(stage, f"{ROOT}/joints")
    parent = _add_body(stage, f"{ROOT}/base", 0)
    if not problem.robot.floating:
        UsdPhysics.FixedJoint.Define(stage, f"{ROOT}/joints/fix").CreateBody1Rel().SetTargets([parent])
    for column, name in enumerate(joint_names(problem)):
        body = _add_body(stage, f"{ROOT}/link_{column:02d}", 0.1 * (column + 1))
        hinge = UsdPhysics.RevoluteJoint.Define(stage, f"{ROOT}/joints/{name}")
        hinge.CreateAxisAttr("Y")
        hinge.CreateBody0Rel().SetTargets([parent])
        hinge.CreateBody1Rel().SetTargets([body])
        hinge.CreateLocalPos0Attr(Gf.Vec3f(0, 0, 0.1))
        parent = body
    for joint, name in enumerate(joint_names(problem)[problem.robot.first :]):
        controller, clamping, delay = _configs(problem, joint)
        add_actuator(ROOT, name, name, controller, clamping=clamping, delay=delay, stage=stage)
    return stage


def _add_body(stage: Usd.Stage, path: str, height: float) -> str:
    xform = UsdGeom.Xform.Define(stage, path)
    xform.AddTranslateOp().Set(Gf.Vec3d(0, 0, height))
    UsdPhysics.RigidBodyAPI.Apply(xform.GetPrim())
    mass = UsdPhysics.MassAPI.Apply(xform.GetPrim())
    mass.CreateMassAttr(1.0)
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(0.01))
    return path


def _configs(problem: Problem, joint: int) -> tuple[Any, list[Any], DelayConfig | None]:
    """Return controller, clamps and delay of one joint."""
    law = problem.laws[joint % len(problem.laws)]
    p = {name: float(values[0, joint]) for name, values in problem.parameters.items()}
    controller: Any = PDControlConfig(p["kp"], p["kd"])
    if law.integral:
        controller = PIDControlConfig(kp=p["kp"], ki=p["ki"], kd=p["kd"], integral_max=p["integral_max"])
    clamps: dict[str, list[Any]] = {
        "none": [],
        "max": [MaxEffortClampingConfig(p["max_effort"])],
        "dc": [DCMotorClampingConfig(p["saturation_effort"], p["velocity_limit"], p["max_motor_effort"])],
        "table": [PositionBasedClampingConfig(*map(list, problem.table))],
    }
    return controller, clamps[law.clamp], DelayConfig(problem.delay) if law.delayed else None
