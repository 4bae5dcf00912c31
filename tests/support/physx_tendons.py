"""A robot with fixed tendons of PhysX."""

from pxr import Sdf
from small_stages import SmallStage, pendulum

ROBOT = "/World/Robot"
JOINTS = [f"{ROBOT}/hinge", f"{ROBOT}/second", f"{ROBOT}/third"]


def finger(second: str = "Revolute", axis: str = "Y") -> SmallStage:
    """Three links on a base, hinges about +Y, with a joint in the middle as one likes."""
    made = pendulum()
    for number, parent in enumerate(("bob", "tip"), 1):
        child = ("tip", "nail")[number - 1]
        made.body(f"{ROBOT}/{child}", (0, 0, -float(number)), com=(0, 0, -0.5))
        kind = second if number == 1 else "Revolute"
        along = axis if number == 1 else "Y"
        made.joint(JOINTS[number], kind, f"{ROBOT}/{parent}", f"{ROBOT}/{child}", at=(0, 0, -1), axis=along)
    return made


def tendon(made: SmallStage, axes: dict[str, tuple[float, float]], name: str = "cord", **values: float | bool) -> None:
    """A tendon along joints, the first one its root, with gearing and force coefficient."""
    for number, (path, numbers) in enumerate(axes.items()):
        joint = made.stage.GetPrimAtPath(path)
        joint.AddAppliedSchema(f"PhysxTendonAxis{'' if number else 'Root'}API:{name}")
        for key, value in zip(("gearing", "forceCoefficient"), numbers, strict=True):
            joint.CreateAttribute(f"physxTendon:{name}:{key}", Sdf.ValueTypeNames.FloatArray).Set([value])
    for key, value in values.items():
        made.attribute(next(iter(axes)), f"physxTendon:{name}:{key}", value)
