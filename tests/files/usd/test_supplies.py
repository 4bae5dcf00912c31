"""Supply prims: read for each actuator that they name, written once for equal supplies, and what is wrong with them."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.authored import targets
from isaacsim.core.experimental.actuators.files.usd.discover import discover, parse_prim
from isaacsim.core.experimental.actuators.files.usd.overlay import split
from isaacsim.core.experimental.actuators.files.usd.schema import current_schemas
from isaacsim.core.experimental.actuators.files.usd.supplies import ACTUATORS, PRIM_TYPE, supply_prims
from pxr import Sdf, Usd
from refusals import cases, refused
from robot_files import ARM, EXTENSION, OF_EXTENSION, OF_SHOULDER, SHOULDER, edited

BATTERY = aa.SupplyConfig(24.0, resistance=0.25, min_voltage=12.0, regeneration=True)
OTHER = aa.SupplyConfig(48.0)
WINDING = aa.ElectricalConfig(torque_constant=0.5, resistance=1.0)
SUPPLY = f"{ARM}/Actuators/supply"


def motor(supply: aa.SupplyConfig | None) -> list:
    return [aa.PDControlConfig(30.0, 2.0), WINDING, *([] if supply is None else [supply])]


def authored(folder: Path, shoulder: aa.SupplyConfig | None, extension: aa.SupplyConfig | None, *edits) -> Usd.Stage:
    motors = {"shoulder": motor(shoulder), "extension": motor(extension)}
    own = folder / f"{len(list(folder.iterdir()))}"
    own.mkdir()
    file = edited(own, lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True), *edits)
    return Usd.Stage.Open(str(file))


def named(stage: Usd.Stage) -> dict[str, list[str]]:
    prims = supply_prims(stage.GetPseudoRoot())
    return {str(prim.GetPath()): list(map(str, targets(prim, ACTUATORS))) for prim in prims}


def supplies(stage: Usd.Stage) -> dict:
    specs = discover(stage, ARM, [SHOULDER, EXTENSION])
    supplies = {one.targets[0]: [part for part in one.others if isinstance(part, aa.SupplyConfig)] for one in specs}
    return {path: next(iter(found), None) for path, found in supplies.items()}


def test_equal_supplies_are_one_prim(tmp_path) -> None:
    stage = authored(tmp_path, BATTERY, BATTERY)
    (path, members) = next(iter(named(stage).items()))
    assert len(named(stage)) == 1 and path == SUPPLY and sorted(members) == sorted([OF_SHOULDER, OF_EXTENSION])
    assert stage.GetPrimAtPath(SUPPLY).GetTypeName() == PRIM_TYPE
    assert aa.SupplyConfig.SCHEMA not in current_schemas(stage.GetPrimAtPath(OF_SHOULDER))
    assert supplies(stage) == {SHOULDER: BATTERY, EXTENSION: BATTERY}
    spec = parse_prim(stage.GetPrimAtPath(OF_SHOULDER))
    assert spec is not None and BATTERY in spec.others


def test_different_supplies_are_prims_each(tmp_path) -> None:
    stage = authored(tmp_path, BATTERY, OTHER)
    assert sorted(named(stage).values()) == sorted([[OF_SHOULDER], [OF_EXTENSION]])
    assert supplies(stage) == {SHOULDER: BATTERY, EXTENSION: OTHER}
    assert supplies(authored(tmp_path, BATTERY, None)) == {SHOULDER: BATTERY, EXTENSION: None}


def test_actuators_change_their_supply(tmp_path) -> None:
    def change(*supplies: aa.SupplyConfig | None):
        def edit(stage: Usd.Stage) -> None:
            for joint, supply in zip(("shoulder", "extension"), supplies, strict=True):
                others = [WINDING, *([] if supply is None else [supply])]
                law = aa.PDControlConfig(9.0, 1.0)
                aa.add_actuator(ARM, joint, joint, law, others=others, stage=stage, overwrite_existing=True)

        return edit

    stage = authored(tmp_path, BATTERY, OTHER, change(OTHER, OTHER))
    assert supplies(stage) == {SHOULDER: OTHER, EXTENSION: OTHER} and len(named(stage)) == 1
    stage = authored(tmp_path, BATTERY, BATTERY, change(BATTERY, None))
    assert supplies(stage) == {SHOULDER: BATTERY, EXTENSION: None} and named(stage) == {SUPPLY: [OF_SHOULDER]}
    stage = authored(tmp_path, BATTERY, BATTERY, change(None, None))
    assert supplies(stage) == {SHOULDER: None, EXTENSION: None} and not stage.GetPrimAtPath(SUPPLY)


def test_supply_on_an_actuator_is_its_own(tmp_path) -> None:
    stage = authored(tmp_path, None, None)
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    prim.AddAppliedSchema(aa.SupplyConfig.SCHEMA)
    prim.CreateAttribute("actuator:supply:voltage", Sdf.ValueTypeNames.Float).Set(48.0)
    assert supplies(stage) == {SHOULDER: OTHER, EXTENSION: None}


@cases(
    "wrong, said",
    ([OF_SHOULDER, f"{ARM}/Actuators/wrist"], f"<{SUPPLY}>.{ACTUATORS} = <{ARM}/Actuators/wrist>: must be an actu"),
    ([OF_SHOULDER, SHOULDER], f"<{SUPPLY}>.{ACTUATORS} = <{SHOULDER}>: must be an actuator of the robot"),
    ([], f"<{SUPPLY}>.{ACTUATORS} is empty: must name actuators of the robot"),
)
def test_wrong_targets_are_refused(wrong, said, tmp_path) -> None:
    stage = authored(tmp_path, BATTERY, BATTERY)
    stage.GetPrimAtPath(SUPPLY).GetRelationship(ACTUATORS).SetTargets(wrong)
    assert said in refused(ActuatorParseError, lambda: supplies(stage))


def test_wrong_values_and_two_supplies_are_refused(tmp_path) -> None:
    stage = authored(tmp_path, BATTERY, BATTERY)
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    stage.GetPrimAtPath(SUPPLY).GetAttribute("actuator:supply:resistance").Set(-1.0)
    text = refused(ActuatorParseError, lambda: supplies(stage), r"actuator:supply:resistance = -1.0")
    assert text.count("actuator:supply:resistance = -1.0") == 1
    stage.GetPrimAtPath(SUPPLY).GetAttribute("actuator:supply:resistance").Set(0.5)
    prim.AddAppliedSchema(aa.SupplyConfig.SCHEMA)
    prim.CreateAttribute("actuator:supply:voltage", Sdf.ValueTypeNames.Float).Set(48.0)
    refused(ActuatorParseError, lambda: supplies(stage), f"<{OF_SHOULDER}> has supply schemas .* must have at most one")


def test_inactive_actuators_are_left_out(tmp_path) -> None:
    stage = authored(tmp_path, BATTERY, BATTERY)
    stage.GetPrimAtPath(OF_EXTENSION).SetActive(False)
    assert supplies(stage) == {SHOULDER: BATTERY}


@cases("ending", "yaml", "toml", "json")
def test_motor_files_have_the_supply(ending, tmp_path) -> None:
    aa.save_motors(tmp_path / f"motors.{ending}", {".*": [*motor(BATTERY), aa.DelayConfig(1)]})
    loaded = aa.load_motors(tmp_path / f"motors.{ending}")
    file = edited(tmp_path, lambda stage: aa.add_motors(ARM, loaded, stage=stage, overwrite_existing=True))
    with aa.Simulation(file) as sim:
        sim.stage.Export(str(tmp_path / "exported.usda"))
    for read in (aa.motors_of(str(file)), aa.motors_of(str(tmp_path / "exported.usda"))):
        found = [stage for one in read.values() for stage in one.stages if isinstance(stage, aa.SupplyConfig)]
        assert found and all(one == BATTERY for one in found)


def test_split_actuators_keep_their_supply(tmp_path) -> None:
    def both(stage: Usd.Stage) -> None:
        stage.RemovePrim(OF_SHOULDER)
        stage.RemovePrim(OF_EXTENSION)
        joints = ["shoulder", "extension"]
        aa.add_actuator(ARM, joints, "both", aa.PDControlConfig(30.0, 2.0), others=[WINDING, OTHER], stage=stage)

    stage = Usd.Stage.Open(str(edited(tmp_path, both)))
    split(stage, f"{ARM}/Actuators/both")
    assert supplies(stage) == {SHOULDER: OTHER, EXTENSION: OTHER}
    assert named(stage) == {SUPPLY: [f"{ARM}/Actuators/both", OF_EXTENSION]}
