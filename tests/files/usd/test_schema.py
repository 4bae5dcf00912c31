"""Attributes of laws: no two laws of a prim share one, and every pair of laws comes back from a file as it was."""

import dataclasses
import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.files.usd.discover import parse_prim
from isaacsim.core.experimental.actuators.files.usd.schema import attributes_of
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS, Config
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS, parts_of
from isaacsim.core.experimental.actuators.specs.stand_ins import LISTED, STAND_INS
from pxr import Usd
from refusals import cases
from small_stages import pendulum
from valid_configs import numbered

ROOT = "/World/Robot"
ACT = f"{ROOT}/Actuators/act"
CUTOFF = aa.DCMotorCutoffClampingConfig(11.0, 7.0, 10.0)
ENVELOPE = aa.EnvelopeClampingConfig([0.0, 5.0], [8.0, 6.0], stall_effort=9.0, no_load_velocity=6.0)
PD = aa.PDControlConfig(30.0, 2.0)
# what the attributes were called until 1.0
MOVED = {one.attribute: one.earlier for one in parameters_of(CUTOFF).values()}


def may_stand_beside(first: type[Config], second: type[Config]) -> bool:
    return first is not second and (first.KIND != second.KIND or KINDS[first.KIND].many)


def written_by(law: type[Config]) -> list[type[Config]]:
    if law not in STAND_INS:
        return [law]
    kind = STAND_INS[law].kind or law.KIND
    return [law, *(one for one in CONFIGS if one.KIND == kind and one.SCHEMA.startswith("Newton"))]


@cases("law", *CONFIGS)
def test_laws_of_a_prim_share_no_attribute(law) -> None:
    others = [other for other in CONFIGS if may_stand_beside(law, other)]
    for written, other in itertools.product(written_by(law), [law, *others]):
        shared = set(attributes_of(written).values()).intersection(attributes_of(other).values())
        assert written is other or not shared, f"{written.__name__} and {other.__name__}"


def complete(configs: Sequence[Config], *, geared: bool) -> list:
    """Configs, and what an actuator needs besides; a winding takes what the controller returns, and has one copper."""
    heated = [one for one in configs if isinstance(one, aa.ThermalConfig)]
    copper = {"temperature_coefficient": heated[0].temperature_coefficient} if heated else {}
    in_volts = any(isinstance(one, aa.ServoControlConfig) for one in configs)
    stages = [
        dataclasses.replace(one, command="voltage" if in_volts else "effort", **copper)
        if isinstance(one, aa.ElectricalConfig)
        else one
        for one in configs
    ]
    if in_volts and not any(isinstance(one, aa.ElectricalConfig) for one in stages):
        stages.append(aa.ElectricalConfig(0.5, 0.25, voltage=24.0, command="voltage"))
    if not any(one.KIND == "controller" for one in stages):
        stages.append(PD)
    return [*stages, aa.TransmissionConfig(-12.0)] if geared else stages


def through_a_file(stages: Sequence, file: Path, *, as_before: bool = False) -> Usd.Stage:
    """A file with an actuator of these stages; as 1.0 wrote it, with the values of a cutoff in newton's attributes."""
    stage = pendulum().stage
    aa.add_actuator(ROOT, "hinge", "act", **parts_of(stages), stage=stage)
    prim = stage.GetRootLayer().GetPrimAtPath(ACT)
    for own, newtons in MOVED.items() if as_before else ():
        if prim.attributes.get(newtons) is not None:
            # a law of newton's was written last
            prim.RemoveProperty(prim.attributes[own])
        else:
            prim.attributes[own].name = newtons
    stage.Export(str(file))
    return Usd.Stage.Open(str(file))


def read(stage: Usd.Stage):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return parse_prim(stage.GetPrimAtPath(ACT))


def values_of(stages: Sequence) -> dict:
    return {
        f"{at} {type(stage).__name__}.{name}[{row}]": value
        for at, stage in enumerate(stages)
        for name in parameters_of(stage)
        for row, value in enumerate(np.atleast_1d(getattr(stage, name)).tolist())
    }


def nearly(stages: Sequence) -> dict:
    expected = values_of(motor_of(stages).stages)
    return {name: pytest.approx(one, rel=1e-6) if isinstance(one, float) else one for name, one in expected.items()}


@cases("geared", False, True, ids=["", "geared"])
@cases("law", *CONFIGS, ids=lambda law: law.__name__)
def test_pairs_come_back_from_a_file(law, geared, tmp_path) -> None:
    for other in CONFIGS:
        pair = [numbered(law), numbered(other, 17.0)]
        stages = complete(pair, geared=geared and "transmission" not in (law.KIND, other.KIND))
        if not may_stand_beside(law, other):
            with pytest.raises(ValueError, match=law.__name__):
                through_a_file(stages, tmp_path / "refused.usda")
            continue
        found = read(through_a_file(stages, tmp_path / f"{other.__name__}.usda"))
        assert values_of(found.stages) == nearly(stages), other.__name__


@cases(
    "stages",
    [PD, CUTOFF],
    [PD, CUTOFF, aa.TransmissionConfig(-12.0)],
    [PD, dataclasses.replace(CUTOFF, saturation_effort=np.inf)],
    [PD, CUTOFF, ENVELOPE],
    [PD, aa.ElectricalConfig(0.5, 0.25, max_current=20.0), CUTOFF],
)
@cases("alone", False, True, ids=["", "without stand-ins"])
def test_cutoff_of_an_older_file_keeps_its_values(stages, alone, tmp_path) -> None:
    stage = through_a_file(stages, tmp_path / "older.usda", as_before=True)
    prim = stage.GetPrimAtPath(ACT)
    if alone:
        for schema in prim.GetAttribute(LISTED).Get() or ():
            prim.RemoveAppliedSchema(schema)
        prim.RemoveProperty(LISTED)
        prim.RemoveProperty("newton:maxEffort")
    assert not set(attributes_of(type(CUTOFF)).values()).intersection(prim.GetAuthoredPropertyNames())
    assert values_of(read(stage).stages) == nearly(stages)


@cases(
    "stages, other",
    ([PD, aa.DCMotorClampingConfig(100.0, 9.0, 90.0), CUTOFF], aa.DCMotorClampingConfig),
    ([PD, CUTOFF, aa.DCMotorClampingConfig(100.0, 9.0, 90.0)], aa.DCMotorClampingConfig),
    ([PD, aa.ElectricalConfig(0.5, 0.25, voltage=24.0), CUTOFF], aa.DCMotorClampingConfig),
    ([PD, ENVELOPE, CUTOFF], aa.DCMotorClampingConfig),
)
def test_values_that_two_laws_wrote_are_named(stages, other, tmp_path) -> None:
    """Those of one law are lost in such a file, whoever reads it; `lint` says so too."""
    stage = through_a_file(stages, tmp_path / "older.usda", as_before=True)
    with pytest.warns(UserWarning, match=f"<{ACT}> applies {CUTOFF.SCHEMA} and {other.SCHEMA}, both with values in"):
        parse_prim(stage.GetPrimAtPath(ACT))
    (finding,) = (one for one in aa.lint(tmp_path / "older.usda") if "overwritten" in one.problem)
    assert finding.where == ACT and CUTOFF.SCHEMA in finding.problem and "actuator:cutoff:" in finding.remedy
