"""Motors are the same after writing and reading, in every format."""

import json
import math
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.files.motor_files.formats import ENDINGS, MAX_BYTES
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS, PositionBasedClampingConfig
from isaacsim.core.experimental.actuators.specs.fields import Parameter, conflicts, parameters_of, storable
from isaacsim.core.experimental.actuators.specs.patterns import pattern_problem
from pipe_files import needs_pipes, require_refused
from refusals import refused

# the writer of TOML is in the extra `files`
WRITTEN = [
    pytest.param(ending, marks=pytest.mark.skipif(ending == ".toml" and not find_spec("tomli_w"), reason="no tomli_w"))
    for ending in ENDINGS
]
ANYMAL = {
    ".*_HAA|.*_HFE": aa.MotorConfig(
        aa.PDControlConfig(80.0, 2.0), [aa.DCMotorClampingConfig(120.0, 20.0, 80.0)], aa.DelayConfig(2), 0.01
    ),
    ".*_KFE": aa.MotorConfig(aa.PDControlConfig(60.0, 2.0)),
}
AS_YAML = """\
.*_HAA|.*_HFE:
  controller: {law: pd, kp: 80.0, kd: 2.0}
  clamping:
  - {law: dc_motor, saturation_effort: 120.0, velocity_limit: 20.0, max_motor_effort: 80.0}
  delay: {delay_steps: 2}
  armature: 0.01
.*_KFE:
  controller: {law: pd, kp: 60.0, kd: 2.0}
"""

# keys that are hard for formats: words of YAML, quotes, signs of TOML, non-ASCII letters
texts = st.one_of(
    st.sampled_from(["null", "on", "1e-3", "~", "<<", "a: b", "#", "'", '"', "\\\\", "- a", "inf", "a.b", "", " a "]),
    st.text(max_size=8),
)
patterns = st.builds(lambda left, right: f"{left}|{right}", texts, texts).filter(lambda text: not pattern_problem(text))
paths = texts.filter(lambda text: storable(text) and text.strip(" ./") != "" and "\\" not in text)


def numbers(rule: Parameter) -> st.SearchStrategy[Any]:
    """Values of a parameter."""
    if rule.type == "int":
        return st.integers(int(rule.lower), int(rule.upper))
    if rule.type == "bool":
        return st.booleans()
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    found = st.one_of(finite, st.sampled_from([0.0, 1e-45, 3.4028234663852886e38])).filter(rule.accepts)
    return st.one_of(found, st.just(math.inf)) if rule.infinite else found


def values(rule: Parameter) -> st.SearchStrategy[Any]:
    """Values of a field in a file."""
    if rule.type == "bool":
        return st.booleans()
    if rule.type == "asset":
        return paths.map(lambda name: f"/robots/nets/{name.replace('/', '_')}.onnx")
    return st.one_of(numbers(rule), st.dictionaries(patterns, numbers(rule), min_size=1, max_size=3))


def fits(config) -> bool:
    """Return True if the values of a config fit each other."""
    return not conflicts(config, "")


def configs(kind: str) -> st.SearchStrategy[Any]:
    """Configs of every class of a kind."""
    tables = st.lists(st.tuples(*[st.floats(0, 1e6, width=32)] * 2), min_size=1, max_size=5).map(
        lambda rows: PositionBasedClampingConfig(sorted(row[0] for row in rows), [row[1] for row in rows])
    )
    return st.one_of(
        tables
        if config is PositionBasedClampingConfig
        else st.builds(config, **{name: values(rule) for name, rule in parameters_of(config).items()}).filter(fits)
        for config in CONFIGS
        if config.KIND == kind
    )


motors = st.dictionaries(
    patterns,
    st.builds(
        aa.MotorConfig,
        controller=st.none() | configs("controller"),
        clamping=st.lists(configs("clamping"), max_size=3),
        delay=st.none() | configs("delay"),
        **{name: st.none() | values(rule) for name, rule in parameters_of(aa.MotorConfig).items()},
    ),
    max_size=3,
)


@given(motors=motors)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_what_was_written_is_read(motors, tmp_path) -> None:
    """Infinity, numbers by pattern, tables and networks, of every class, with any patterns, in each format.

    Motors are made once for all formats, which takes longer than to write and read them.
    """
    for ending in ENDINGS:
        # the writer of TOML is in the extra `files`
        if ending == ".toml" and not find_spec("tomli_w"):
            continue
        file = tmp_path / f"motors{ending}"
        aa.save_motors(file, motors)
        assert aa.load_motors(file) == motors, ending


def test_a_file_reads_well(tmp_path) -> None:
    """A config is one line."""
    aa.save_motors(tmp_path / "a.yaml", ANYMAL)
    assert (tmp_path / "a.yaml").read_text() == AS_YAML
    # as written by hand
    by_hand = AS_YAML.replace(".*_KFE:", "# knees\n'.*_KFE':").replace("60.0", "60").replace("0.01", "1e-2")
    (tmp_path / "a.yml").write_text("\ufeff" + by_hand, encoding="utf-8")
    assert aa.load_motors(tmp_path / "a.yml") == ANYMAL


def test_lists_of_configs_are_written_too(tmp_path) -> None:
    """It is also read as the same motors."""
    aa.save_motors(tmp_path / "a.JSON", {".*": [aa.MaxEffortClampingConfig(math.inf), aa.PDControlConfig(1.0, 2.0)]})
    assert aa.load_motors(tmp_path / "a.JSON") == {
        ".*": aa.MotorConfig(aa.PDControlConfig(1.0, 2.0), [aa.MaxEffortClampingConfig(math.inf)])
    }


def test_networks_are_found_beside_the_file(tmp_path, monkeypatch) -> None:
    """Relative paths do not depend on the working directory."""
    (tmp_path / "a.json").write_text('{".*": {"controller": {"law": "neural", "model_path": "nets/knee.onnx"}}}')
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", tmp_path / "a.json"):
        assert aa.load_motors(name)[".*"].controller.model_path == str(tmp_path / "nets" / "knee.onnx")


def named(folder: Path, path: str) -> Path:
    """A motor file that names a network."""
    file = folder / "motors.json"
    file.write_text(json.dumps({".*": {"controller": {"law": "neural", "model_path": path}}}))
    return file


@pytest.mark.parametrize("how", ["absolute", "above", "link"])
def test_network_outside_of_the_folder_is_refused(how, tmp_path) -> None:
    """Without opening it: its content is in no message. The host program may permit its folder."""
    folder, outside = tmp_path / "robot", tmp_path / "secret.txt"
    folder.mkdir()
    outside.write_text("password")
    if how == "link":
        (folder / "net.onnx").symlink_to(outside)
    file = named(folder, {"absolute": str(outside), "above": "../secret.txt", "link": "net.onnx"}[how])
    real = re.escape(str(outside.resolve()))
    message = rf"'\.\*'\.controller\.model_path = .*: leads to {real}: must lie in the folder of the motor file"
    with pytest.raises(ValueError, match=message) as caught:
        aa.load_motors(file)
    assert "pass" not in str(caught.value)
    with aa.allow_checkpoints(tmp_path):
        aa.load_motors(file)


def test_network_that_this_process_saved_may_be_anywhere(tmp_path) -> None:
    """What is saved can be loaded."""
    (tmp_path / "motors").mkdir()
    motors = {".*": [aa.NeuralControlConfig(str(tmp_path / "nets" / "knee.onnx"))]}
    aa.save_motors(tmp_path / "motors" / "a.json", motors)
    controller = aa.load_motors(tmp_path / "motors" / "a.json")[".*"].controller
    assert controller.model_path == str(tmp_path / "nets" / "knee.onnx")


def test_problems_begin_with_the_file(tmp_path) -> None:
    """Each problem has its place."""
    file = tmp_path / "a.toml"
    file.write_text('a = 1\n["b".controller]\nlaw = "pd"\nkp = -1.0\nkd = 0.1')
    with pytest.raises(ValueError) as caught:
        aa.load_motors(file)
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{file}: 'a' = 1: must be a motor")
    assert second.startswith(f"{file}: 'b'.controller.kp = -1.0: must be finite and >= 0")


def test_what_is_no_such_format_is_one_line(tmp_path) -> None:
    """The error names file, format and place."""
    (tmp_path / "a.yaml").write_text("a: 1\na: 2")
    with pytest.raises(ValueError, match=r"a\.yaml: must be YAML, but has the key 'a' twice.*in line 2\.$"):
        aa.load_motors(tmp_path / "a.yaml")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a.json"), r"a\.json: must be JSON, but 'utf-8' codec")


def test_a_large_file_is_not_read(tmp_path) -> None:
    """It is not parsed either; a file of exactly the limit is read."""
    (tmp_path / "a.json").write_text("{}".ljust(MAX_BYTES))
    assert aa.load_motors(tmp_path / "a.json") == {}
    (tmp_path / "a.json").write_text("{}".ljust(MAX_BYTES + 1))
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a.json"), f"must be at most {MAX_BYTES} bytes")


def test_nothing_is_written_unless_all_can_be(tmp_path) -> None:
    """An existing file is unchanged."""
    aa.save_motors(tmp_path / "a.json", ANYMAL)
    before = (tmp_path / "a.json").read_text()
    with pytest.raises(ValueError, match=r"'b'\.controller\.kp = -1\.0"):
        aa.save_motors(tmp_path / "a.json", ANYMAL | {"b": [aa.PDControlConfig(-1.0, 0.0)]})
    with pytest.raises(TypeError, match="motor = 3"):
        aa.save_motors(tmp_path / "a.json", {"b": 3})  # pyright: ignore[reportArgumentType]
    # more than is read
    table = PositionBasedClampingConfig([0.0] * 30_000, [1.0] * 30_000)
    refused(ValueError, lambda: aa.save_motors(tmp_path / "a.json", {"b": [table]}), r"a\.json: must be at most")
    assert (tmp_path / "a.json").read_text() == before


def test_other_endings_are_refused(tmp_path) -> None:
    """Both reading and writing name the extra."""
    with pytest.raises(ValueError, match=r"a\.xml: must end in \.yaml, \.yml, \.toml, \.json\. Rename it\."):
        aa.save_motors(tmp_path / "a.xml", ANYMAL)
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a"), "must end in")
    refused(FileNotFoundError, lambda: aa.load_motors(tmp_path / "a.yaml"))


@needs_pipes
def test_pipe_is_refused(tmp_path) -> None:
    """Reading does not wait for another program to write."""
    require_refused(aa.load_motors, tmp_path / "motors.json")


@pytest.mark.parametrize("ending", WRITTEN)
def test_flags_and_viscous_friction_are_written(ending, tmp_path) -> None:
    """A flag as true or false, and only where it is not the default."""
    file = tmp_path / f"motors{ending}"
    friction = aa.FrictionConfig({"L.*": 0.5, "R.*": 0.75}, in_engine=True)
    motors = {
        "hip": aa.MotorConfig(others=[friction]),
        "knee": aa.MotorConfig(friction=0.5, viscous_friction={"knee": 0.25}),
    }
    aa.save_motors(file, motors)
    assert aa.load_motors(file) == motors
    assert "true" in file.read_text() and "false" not in file.read_text()
