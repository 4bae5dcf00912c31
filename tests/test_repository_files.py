"""Files of the repository that people and services look for: they are readable, and say what the rest says."""

import re
from importlib.util import find_spec

import isaacsim.core.experimental.actuators as package
import yaml
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import REPOSITORY
from pxr import Usd, UsdValidation
from refusals import cases

FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
ROBOTS = sorted((REPOSITORY / "data" / "robots").glob("*.usd?"))


def test_citation_has_this_version() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert str(cited["version"]) == package.__version__ and cited["license"] == "Apache-2.0"


def test_notice_names_every_robot() -> None:
    notice = (REPOSITORY / "NOTICE").read_text("utf-8")
    # an own robot may be named without its extension
    assert [file.name for file in ROBOTS if file.name not in notice and file.stem not in notice] == []
    rows = re.findall(r"^\| `(\w+\.usda)` \| [^|]+ \| (.+) \| ([^|]+) \|$", readme(), re.MULTILINE)
    licensed = [(name, licences) for name, _, licences in rows if "-" in licences and "own" not in licences]
    assert len(licensed) == 4
    for name, licences in licensed:
        (entry,) = [part for part in notice.split("\n\n") if part.startswith(name)]
        for licence in re.findall(r"Apache-2\.0|BSD-3-Clause", licences):
            assert licence in entry, name


MESH = """<mujoco><asset><mesh name="tip" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody><body name="base">
<geom size=".01" mass="1"/><body name="rod"><joint name="hinge" axis="0 1 0"/><geom type="mesh" mesh="tip"/>
<geom type="box" size=".1 .1 .1" friction=".7"/></body></body></worldbody>
<actuator><position joint="hinge" kp="10"/></actuator></mujoco>"""


@cases("file", *ROBOTS, None, ids=lambda file: file.name if file else "converted")
def test_checkers_of_others_find_nothing(file, tmp_path) -> None:
    """USD's own, and Omniverse's where it is installed; of what is shipped, and of a file that is written here."""
    if file is None:
        (tmp_path / "arm.xml").write_text(MESH)
        file = tmp_path / "arm.usda"
        # 1, for USD has no place for its time step
        assert main(["convert", str(tmp_path / "arm.xml"), str(file)]) == 1
    every = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    stage = Usd.Stage.Open(str(file))
    assert [one.GetMessage() for one in UsdValidation.ValidationContext(every).Validate(stage)] == []
    if find_spec("omni") is not None and find_spec("omni.asset_validator") is not None:
        from omni.asset_validator import IssueSeverity, ValidationEngine

        issues = ValidationEngine().validate(str(file)).issues()
        assert [one.message for one in issues if one.severity in (IssueSeverity.FAILURE, IssueSeverity.ERROR)] == []


def test_every_environment_variable_is_on_the_page() -> None:
    page = (REPOSITORY / "docs" / "Troubleshooting.md").read_text("utf-8")
    folders = ("python", "native", "tests/support")
    every = (path for folder in folders for path in (REPOSITORY / folder).rglob("*"))
    files = [path for path in every if path.suffix in (".py", ".cpp", ".h")]
    reads = "".join(path.read_text("utf-8") for path in [*files, REPOSITORY / "setup.py", REPOSITORY / "python.sh"])
    direct = re.findall(r"(?:environ\.get\(|environ\[|getenv\()\s*\"([A-Z_]+)\"", reads)
    assert len(direct) > 5
    assert {name for name in (*direct, *re.findall(r"\$\{(ACTUATORS_\w+)", reads)) if f"`{name}`" not in page} == set()


def readme() -> str:
    return (REPOSITORY / "data" / "robots" / "README.md").read_text("utf-8")


def test_ci_runs_what_a_person_runs() -> None:
    workflow = yaml.safe_load((REPOSITORY / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    # YAML reads the word as a truth value
    assert {"push", "pull_request"} <= workflow[True].keys()
    steps = workflow["jobs"]["run"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}
    (pythons,) = [step["with"]["python-version"].split() for step in steps if "setup-python" in step.get("uses", "")]
    assert pythons == ["3.11", "3.12", "3.13"]


@cases("form", *[form for form in FORMS if form.stem != "config"], ids=lambda form: form.stem)
def test_issue_forms_are_forms(form) -> None:
    read = yaml.safe_load(form.read_text("utf-8"))
    assert read["name"] and read["description"] and all(field["attributes"]["label"] for field in read["body"])
    names = [field["id"] for field in read["body"]]
    assert len(set(names)) == len(names)


def test_there_are_forms() -> None:
    assert [form.stem for form in FORMS] == ["bug", "config", "idea"]
