"""Which joints tendons on a stage move."""

import warnings

import isaacsim.core.experimental.actuators as aa
import pytest
from pxr import Sdf
from small_stages import SmallStage

LEG = "/World/Leg"
PD = aa.PDControlConfig(20.0, 2.0)


@pytest.mark.parametrize("kind", ["MuJoCo", "PhysX"])
def test_joints_that_a_tendon_moves_need_no_motor(kind) -> None:
    made = SmallStage()
    made.root(LEG)
    names = ["L_HAA", "L_KFE", "R_HAA", "R_KFE", "slide"]
    for at, below in enumerate(["base", *names]):
        made.body(f"{LEG}/{below}_link")
        if at:
            made.joint(f"{LEG}/{below}", "Revolute", f"{LEG}/{['base', *names][at - 1]}_link", f"{LEG}/{below}_link")
    stage = made.stage
    joints = [f"{LEG}/{side}_{name}" for side in "LR" for name in ("HAA", "KFE")]
    if kind == "MuJoCo":
        for number in (0, 2):
            cord = stage.DefinePrim(f"/World/cord_{number}", "MjcTendon")
            cord.CreateRelationship("mjc:path").SetTargets(joints[number : number + 2])
            cord.CreateAttribute("mjc:stiffness", Sdf.ValueTypeNames.Double).Set(1.0)
    else:
        for number, path in enumerate(joints):
            joint = stage.GetPrimAtPath(path)
            joint.AddAppliedSchema(f"PhysxTendonAxis{'' if number % 2 else 'Root'}API:cord")
            joint.CreateAttribute("physxTendon:cord:stiffness", Sdf.ValueTypeNames.Float).Set(1.0)
    with pytest.warns(UserWarning, match=rf"<{LEG}>: joints R_HAA, R_KFE, slide have no motor, and nothing else moves"):
        aa.add_motors(LEG, {"L_HAA": [PD]}, stage=stage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aa.add_motors(LEG, {"slide|R_KFE": [PD]}, stage=stage)
