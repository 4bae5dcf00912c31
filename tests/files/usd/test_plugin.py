"""The schemas of our own, as USD knows them: in processes of their own, for a plugin cannot be unregistered."""

import json
import os
import shutil
import sys

import pytest
from isaacsim.core.experimental.actuators.files.usd.plugin import FOLDER, PLUGIN
from isaacsim.core.experimental.actuators.files.usd.supplies import ACTUATORS, PRIM_TYPE
from isaacsim.core.experimental.actuators.specs.actuator_spec import ACTUATOR_TYPE
from isaacsim.core.experimental.actuators.specs.configs import OURS
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.supply import SupplyConfig
from places import ROBOTS
from processes import ran
from pxr import UsdUtils
from refusals import cases

REGISTERED = """
from isaacsim.core.experimental.actuators.files.usd.plugin import register_schemas
register_schemas()
register_schemas()
"""
# all that USD knows of the requested schemas
KNOWN = """
from pxr import Sdf, Usd
registry, found = Usd.SchemaRegistry(), {}
for schema in sys.argv[1:]:
    definition = registry.FindAppliedAPIPrimDefinition(schema)
    if definition is None:
        continue
    rows = {}
    for name in definition.GetPropertyNames():
        one = definition.GetAttributeDefinition(name)
        fallback, limits = one.GetFallbackValue(), one.GetMetadata("limits") or {}
        # that of USD 25.5 holds what it does not know
        limits = getattr(limits, "value", limits).get("hard", {})
        if not isinstance(fallback, (int, float, str, type(None))):
            fallback = list(fallback)
        rows[name] = [str(one.GetTypeName()), fallback, limits, one.GetDocumentation()]
    types = [str(one) for one in registry.GetAPISchemaCanOnlyApplyToTypeNames(schema)]
    kind = registry.GetSchemaKind(schema)
    found[schema] = [kind.name, types, definition.GetDocumentation(), rows]
print(json.dumps(found))
"""
# a robot with an actuator for each schema of ours, as add_actuator and add_motors write it
WRITTEN = """
import dataclasses, pathlib, warnings
from isaacsim.core.experimental.actuators import ElectricalConfig, PDControlConfig, add_actuator, add_motors
from isaacsim.core.experimental.actuators.specs.configs import OURS
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.files.usd.supplies import holder_of
from pxr import Sdf, Usd, UsdUtils
"""
CHECKED = """
def complaints(file):
    # that of older USD knows nothing of types
    if (checker := getattr(UsdUtils, "ComplianceChecker", None)) is not None:
        checker = checker()
        checker.CheckCompliance(file)
        return [*checker.GetErrors(), *checker.GetFailedChecks()]
    from pxr import UsdValidation
    every = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    found = UsdValidation.ValidationContext(every).Validate(Usd.Stage.Open(file))
    return [one.GetMessage() for one in found]
"""


def fresh_python(code: str, *arguments: str, **variables: str):
    """The last line that a new process prints, as JSON; warnings and messages of USD are failures."""
    done = ran(
        [sys.executable, "-W", "error", "-c", f"import json, sys\n{code}", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def known() -> dict:
    """USD's definitions of our schemas after registration."""
    return fresh_python(REGISTERED + KNOWN, *(config.SCHEMA for config in OURS))


def every_config(function):
    return cases("config", *OURS, ids=lambda config: config.__name__)(function)


@every_config
def test_usd_knows_each_schema_that_newton_does_not_know(known, config) -> None:
    kind, types, words, _ = known[config.SCHEMA]
    # a supply is a prim of its own, too
    assert (kind, types) == ("SingleApplyAPI", [ACTUATOR_TYPE, *([PRIM_TYPE] if config is SupplyConfig else [])])
    assert words.startswith(config.__doc__.partition("\n")[0]) and "Config`" not in words


@every_config
def test_properties_are_the_fields(known, config) -> None:
    rows = known[config.SCHEMA][3]
    described = {one.attribute: one for one in parameters_of(config).values()}
    assert rows.keys() == described.keys() | ({ACTUATORS} if config is SupplyConfig else set())
    for name, one in described.items():
        value_type, fallback, limits, words = rows[name]
        expected = list(one.fallback) if one.type == "float[]" else one.fallback
        is_number = bool(expected) and not isinstance(expected, str)
        assert (value_type, fallback) == (one.type, pytest.approx(expected, rel=1e-7) if is_number else expected)
        bounds = {"minimum": one.lower, "maximum": one.upper} if one.type in ("float", "int") else {}
        finite = {bound: value for bound, value in bounds.items() if abs(value) != float("inf")}
        assert limits == pytest.approx(finite, rel=1e-7)
        assert words.endswith(f"The value {one.rule}.") and words.partition("\n\n")[0].endswith(".")
        assert all(unit in words for unit in one.unit.split(" or ") if unit)


def test_no_schema_is_known_under_two_names() -> None:
    """Names of version 0.9 are read here, and not registered with USD."""
    names = [config.EARLIER_SCHEMA for config in OURS if config.EARLIER_SCHEMA]
    assert names and fresh_python(REGISTERED + KNOWN, *names) == {}
    assert len({config.SCHEMA for config in OURS} | set(names)) == len(OURS) + len(names)


def test_nothing_is_registered_for_programs_without_usd() -> None:
    code = "import isaacsim.core.experimental.actuators\nprint(json.dumps('pxr' in sys.modules))"
    assert fresh_python(code) is False
    code = "import isaacsim.core.experimental.actuators.files.usd.discover"
    assert fresh_python(code + KNOWN, *(config.SCHEMA for config in OURS)) == {}


@cases(
    "start",
    "from isaacsim.core.experimental.actuators import Simulation",
    "from isaacsim.core.experimental.actuators.files.usd.stage import open_stage",
)
@pytest.mark.slow
def test_whoever_opens_stages_registers(start) -> None:
    assert fresh_python(start + KNOWN, OURS[0].SCHEMA).keys() == {OURS[0].SCHEMA}


def test_another_copy_may_be_there(tmp_path) -> None:
    """That of Kit, or one in PXR_PLUGINPATH_NAME, through which usdview and usdchecker know the schemas."""
    copy = shutil.copytree(FOLDER, tmp_path / "schemas")
    where = f'\nfrom pxr import Plug\nprint(json.dumps(Plug.Registry().GetPluginWithName("{PLUGIN}").path))'
    assert fresh_python(KNOWN, OURS[0].SCHEMA, PXR_PLUGINPATH_NAME=str(copy)).keys() == {OURS[0].SCHEMA}
    assert fresh_python(REGISTERED + where, PXR_PLUGINPATH_NAME=str(copy)) == str(copy)
    assert fresh_python(REGISTERED + where) == str(FOLDER)


@cases("there", "nothing", "nonsense", "no newton")
@pytest.mark.slow
def test_what_cannot_be_registered_is_no_error(there, tmp_path) -> None:
    code = REGISTERED
    if there == "no newton":
        code = f'sys.modules["newton_usd_schemas"] = None{code}'
    else:
        (tmp_path / "plugInfo.json").write_text("{ nonsense") if there == "nonsense" else None
        folder = tmp_path if there == "nonsense" else tmp_path / "gone"
        module = "isaacsim.core.experimental.actuators.files.usd.plugin"
        code = f"import pathlib, {module} as plugin\nplugin.FOLDER = pathlib.Path({str(folder)!r}){code}"
    assert bool(fresh_python(code + KNOWN, OURS[0].SCHEMA)) is (there == "no newton")


def test_a_stage_that_is_open_already_is_no_error() -> None:
    code = "from pxr import Usd\nstage = Usd.Stage.CreateInMemory()\nstage.DefinePrim('/a', 'Xform')"
    assert fresh_python(code + REGISTERED + KNOWN, OURS[0].SCHEMA) == {}


@pytest.mark.slow
def test_files_that_we_write_pass_the_checker(tmp_path) -> None:
    """Each schema on a prim of its own and on a class prim; USD lists it, and would see a value of another type."""
    shutil.copy(ROBOTS / "arm_2dof.usda", tmp_path / "arm.usda")
    code = """
found = {}
for at, config in enumerate(OURS):
    stage = open_stage("arm.usda")
    stage.RemovePrim("/World/Arm/Actuators")
    tables = [name for name, one in parameters_of(config).items() if one.type == "float[]"]
    missing = [one.name for one in dataclasses.fields(config) if one.default is dataclasses.MISSING]
    required = {name: [2.0] if name in tables else 2.0 for name in missing}
    required |= {name: 2.0 for name in parameters_of(config) if name == "motor_constant"}
    if config.KIND == "linkage":
        required = {"joints": ["shoulder", "extension"], "coefficients": [1.0, 0.5]}
    motor = [*([] if config.KIND == "controller" else [PDControlConfig(8.0, 1.0)]), config(**required)]
    if getattr(config, "IN_VOLTS", False):
        motor.append(ElectricalConfig(1.0, 1.0, command="voltage"))
    prims = add_motors("/World/Arm", {".*": motor}, stage=stage)
    prims = [holder_of(prim, config) for prim in prims]
    stage.GetRootLayer().Export(f"{at}.usda")
    of_good = complaints(f"{at}.usda")
    broken = Usd.Stage.Open(f"{at}.usda")
    prim = broken.GetPrimAtPath(prims[0].GetPath())
    name = next(iter(parameters_of(config).values())).attribute
    spec = Sdf.CreatePrimInLayer(broken.GetRootLayer(), prim.GetPath())
    if name in spec.attributes:
        spec.RemoveProperty(spec.attributes[name])
    Sdf.AttributeSpec(spec, name, Sdf.ValueTypeNames.String).default = "many"
    broken.GetRootLayer().Export("broken.usda")
    applied = [[str(one) for one in prim.GetAppliedSchemas()] for prim in prims]
    found[config.SCHEMA] = [applied, of_good, complaints("broken.usda")]
print(json.dumps(found))
"""
    code = f"import os\nos.chdir({str(tmp_path)!r})\n{WRITTEN}{CHECKED}{code}"
    for schema, (applied, of_good, of_broken) in fresh_python(code).items():
        assert len(applied) == 2 and all(schema in one for one in applied) and of_good == []
        assert of_broken or hasattr(UsdUtils, "ComplianceChecker"), "the checker does not look at these prims"
