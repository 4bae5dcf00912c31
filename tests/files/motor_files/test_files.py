"""Motors are the same after writing and reading, in every format."""

import json
import math
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.files.motor_files.files import LAWS, MAX_PROBLEMS, motors_of, plain_of
from isaacsim.core.experimental.actuators.files.motor_files.formats import ENDINGS, MAX_BYTES
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract.catalogue import LAWS as LINES
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS, ForeignConfig
from isaacsim.core.experimental.actuators.specs.fields import Parameter, conflicts, parameters_of, storable
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig
from isaacsim.core.experimental.actuators.specs.patterns import pattern_problem
from pipe_files import needs_pipes, require_refused
from refusals import cases, refused

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
    if rule.type == "int":
        return st.integers(int(rule.lower), int(rule.upper))
    if rule.type == "bool":
        return st.booleans()
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    found = st.one_of(finite, st.sampled_from([0.0, 1e-45, 3.4028234663852886e38])).filter(rule.accepts)
    return st.one_of(found, st.just(math.inf)) if rule.infinite else found


def values(rule: Parameter) -> st.SearchStrategy[Any]:
    if rule.type == "bool":
        return st.booleans()
    if rule.type == "asset":
        return paths.map(lambda name: f"/robots/nets/{name.replace('/', '_')}.onnx")
    return st.one_of(numbers(rule), st.dictionaries(patterns, numbers(rule), min_size=1, max_size=3))


def fits(config) -> bool:
    return not conflicts(config, "")


def configs(kind: str) -> st.SearchStrategy[Any]:
    tables = st.lists(st.tuples(*[st.floats(0, 1e6, width=32)] * 2), min_size=1, max_size=5).map(
        lambda rows: aa.PositionBasedClampingConfig(sorted(row[0] for row in rows), [row[1] for row in rows])
    )
    return st.one_of(
        tables
        if config is aa.PositionBasedClampingConfig
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
    for ending in ENDINGS:
        # the writer of TOML is in the extra `files`
        if ending == ".toml" and not find_spec("tomli_w"):
            continue
        file = tmp_path / f"motors{ending}"
        aa.save_motors(file, motors)
        assert aa.load_motors(file) == motors, ending


def test_a_file_reads_well(tmp_path) -> None:
    aa.save_motors(tmp_path / "a.yaml", ANYMAL)
    assert (tmp_path / "a.yaml").read_text() == AS_YAML
    # as written by hand
    by_hand = AS_YAML.replace(".*_KFE:", "# knees\n'.*_KFE':").replace("60.0", "60").replace("0.01", "1e-2")
    (tmp_path / "a.yml").write_text("\ufeff" + by_hand, encoding="utf-8")
    assert aa.load_motors(tmp_path / "a.yml") == ANYMAL


def test_lists_of_configs_are_written_too(tmp_path) -> None:
    aa.save_motors(tmp_path / "a.JSON", {".*": [aa.MaxEffortClampingConfig(math.inf), aa.PDControlConfig(1.0, 2.0)]})
    motor = aa.MotorConfig(aa.PDControlConfig(1.0, 2.0), [aa.MaxEffortClampingConfig(math.inf)])
    assert aa.load_motors(tmp_path / "a.JSON") == {".*": motor}


def test_networks_are_found_beside_the_file(tmp_path, monkeypatch) -> None:
    (tmp_path / "a.json").write_text('{".*": {"controller": {"law": "neural", "model_path": "nets/knee.onnx"}}}')
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", tmp_path / "a.json"):
        assert aa.load_motors(name)[".*"].controller.model_path == str(tmp_path / "nets" / "knee.onnx")


def named(folder: Path, path: str) -> Path:
    file = folder / "motors.json"
    file.write_text(json.dumps({".*": {"controller": {"law": "neural", "model_path": path}}}))
    return file


@cases("how", "absolute", "above", "link")
def test_network_outside_of_the_folder_is_refused(how, tmp_path) -> None:
    folder, outside = tmp_path / "robot", tmp_path / "secret.txt"
    folder.mkdir()
    outside.write_text("password")
    if how == "link":
        (folder / "net.onnx").symlink_to(outside)
    file = named(folder, {"absolute": str(outside), "above": "../secret.txt", "link": "net.onnx"}[how])
    real = re.escape(str(outside.resolve()))
    message = rf"'\.\*'\.controller\.model_path = .*: leads to {real}: must lie in the folder of the motor file"
    assert "pass" not in refused(ValueError, lambda: aa.load_motors(file), message)
    with aa.allow_checkpoints(tmp_path):
        aa.load_motors(file)


def test_network_that_this_process_saved_may_be_anywhere(tmp_path) -> None:
    (tmp_path / "motors").mkdir()
    motors = {".*": [aa.NeuralControlConfig(str(tmp_path / "nets" / "knee.onnx"))]}
    aa.save_motors(tmp_path / "motors" / "a.json", motors)
    controller = aa.load_motors(tmp_path / "motors" / "a.json")[".*"].controller
    assert controller.model_path == str(tmp_path / "nets" / "knee.onnx")


def test_problems_begin_with_the_file(tmp_path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('a = 1\n["b".controller]\nlaw = "pd"\nkp = -1.0\nkd = 0.1')
    first, second = refused(ValueError, lambda: aa.load_motors(file)).splitlines()
    assert first.startswith(f"{file}: 'a' = 1: must be a motor")
    assert second.startswith(f"{file}: 'b'.controller.kp = -1.0: must be finite and >= 0")


def test_what_is_no_such_format_is_one_line(tmp_path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\na: 2")
    with pytest.raises(ValueError, match=r"a\.yaml: must be YAML, but has the key 'a' twice.*in line 2\.$"):
        aa.load_motors(tmp_path / "a.yaml")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a.json"), r"a\.json: must be JSON, but 'utf-8' codec")


def test_a_large_file_is_not_read(tmp_path) -> None:
    (tmp_path / "a.json").write_text("{}".ljust(MAX_BYTES))
    assert aa.load_motors(tmp_path / "a.json") == {}
    (tmp_path / "a.json").write_text("{}".ljust(MAX_BYTES + 1))
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a.json"), f"must be at most {MAX_BYTES} bytes")


def test_nothing_is_written_unless_all_can_be(tmp_path) -> None:
    aa.save_motors(tmp_path / "a.json", ANYMAL)
    before = (tmp_path / "a.json").read_text()
    with pytest.raises(ValueError, match=r"'b'\.controller\.kp = -1\.0"):
        aa.save_motors(tmp_path / "a.json", ANYMAL | {"b": [aa.PDControlConfig(-1.0, 0.0)]})
    with pytest.raises(TypeError, match="motor = 3"):
        aa.save_motors(tmp_path / "a.json", {"b": 3})  # pyright: ignore[reportArgumentType]
    # more than is read
    table = aa.PositionBasedClampingConfig([0.0] * 30_000, [1.0] * 30_000)
    refused(ValueError, lambda: aa.save_motors(tmp_path / "a.json", {"b": [table]}), r"a\.json: must be at most")
    assert (tmp_path / "a.json").read_text() == before


def test_other_endings_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"a\.xml: must end in \.yaml, \.yml, \.toml, \.json\. Rename it\."):
        aa.save_motors(tmp_path / "a.xml", ANYMAL)
    refused(ValueError, lambda: aa.load_motors(tmp_path / "a"), "must end in")
    refused(FileNotFoundError, lambda: aa.load_motors(tmp_path / "a.yaml"))


@needs_pipes
def test_pipe_is_refused(tmp_path) -> None:
    require_refused(aa.load_motors, tmp_path / "motors.json")


@cases("ending", *WRITTEN)
def test_flags_and_viscous_friction_are_written(ending, tmp_path) -> None:
    file = tmp_path / f"motors{ending}"
    friction = aa.FrictionConfig({"L.*": 0.5, "R.*": 0.75}, in_engine=True)
    knee = aa.MotorConfig(friction=0.5, viscous_friction={"knee": 0.25})
    motors = {"hip": aa.MotorConfig(others=[friction]), "knee": knee}
    aa.save_motors(file, motors)
    assert aa.load_motors(file) == motors and "true" in file.read_text() and "false" not in file.read_text()


PD = {"law": "pd", "kp": 1.0, "kd": 0.1}


def problems(plain: Any) -> list[str]:
    return refused(ValueError, lambda: motors_of(plain, "/robots")).splitlines()


def test_every_law_of_the_package_has_a_name() -> None:
    assert {kind: list(laws) for kind, laws in LAWS.items()} == {
        "feedback": ["encoder"],
        "command": ["wrap", "command_lag"],
        "controller": "pd pid geared_pd geared_pid neural slewed_pid servo startup_pd stepper".split(),
        "effort_mode": ["implicit"],
        "clamping": ["max_effort", "dc_motor", "dc_motor_cutoff", "position_based", "envelope"],
        "transmission": ["transmission", "elastic"],
        "shaft": ["shaft_friction", "shaft_inertia"],
        **{
            kind: [kind] for kind in ("rate", "effort_delay", "effort_lag", "electrical", "losses", "thermal", "supply")
        },
        "linkage": ["linkage"],
        "passive": ["friction", "friction_curve", "lu_gre_friction", "cogging", "ripple", "brake"],
        "delay": ["delay", "timed_delay"],
    }
    named = {config for laws in LAWS.values() for config in laws.values()}
    assert {line.config for line in LINES} - named == {ForeignConfig}


def test_a_delay_in_steps_and_a_rigid_transmission_need_no_name() -> None:
    plain = {
        "a": {"transmission": {"ratio": 50.0}, "delay": {"delay_steps": 2}},
        "b": {"delay": {"law": "timed_delay", "seconds": 0.25}},
    }
    motors = motors_of(plain, "/")
    assert motors["a"].stages == (aa.DelayConfig(2), aa.TransmissionConfig(50.0))
    assert motors["b"].delay == aa.TimedDelayConfig(0.25)
    assert plain_of(motors, "/") == plain
    named = {"transmission": {"law": "transmission", "ratio": 50.0}, "delay": {"law": "delay", "delay_steps": 2}}
    assert motors_of({"a": named}, "/")["a"] == motors["a"]


def test_registered_laws_are_read_and_written_by_their_schema(monkeypatch) -> None:
    class Own(aa.Controller):
        PARAMETERS = ("strength",)

    monkeypatch.setattr(catalogue, "_registered", {})
    plain = {"a": {"controller": {"law": "AcmeOwnAPI", "strength": 8.0}}}
    (refused,) = problems(plain)
    assert "'a'.controller.law = 'AcmeOwnAPI': must be one of pd" in refused and "--plugin" in refused
    catalogue.register("AcmeOwnAPI", Own, "controller")
    motors = motors_of(plain, "/")
    assert motors["a"].controller == ForeignConfig("AcmeOwnAPI", "controller", {"strength": 8.0})
    assert plain_of(motors, "/") == plain
    assert problems({"a": {"controller": {"law": "AcmeOwnAPI", "strenght": {}}}}) == [
        "'a'.controller has 'strenght': must be one of strength. Did you mean strength?",
        "'a'.controller has no strength: AcmeOwnAPI needs it. Add it.",
        "'a'.controller.strenght = {}: must be a number, text or list of them. Write one.",
    ]


def test_what_is_at_its_default_is_left_out() -> None:
    plain = plain_of({"a": [aa.PDControlConfig(1, 2)], "b": MotorConfig()}, "/")
    assert plain == {"a": {"controller": {"law": "pd", "kp": 1.0, "kd": 2.0}}, "b": {}}
    tendon = {"joints": ["a", "b"], "coefficients": [1.0, 0.5]}
    assert plain_of({"a": [aa.LinkageConfig(**tendon)]}, "/") == {"a": {"linkage": tendon}}
    assert plain_of({"a": [aa.PIDControlConfig(1, 2, 3, const_effort=0.5)]}, "/")["a"]["controller"] == {
        **{"law": "pid", "kp": 1.0, "ki": 2.0, "kd": 3.0, "const_effort": 0.5}
    }


def test_paths_are_relative_to_the_file() -> None:
    plain = plain_of({"a": [aa.NeuralControlConfig("/robots/nets/knee.onnx")]}, "/robots/motors")
    assert plain["a"]["controller"]["model_path"] == "../nets/knee.onnx"
    (moved,) = motors_of(plain, "/elsewhere/motors").values()
    assert moved.controller == aa.NeuralControlConfig("/elsewhere/nets/knee.onnx")


def test_infinity_may_be_a_word_where_it_has_a_meaning() -> None:
    limit = {"law": "max_effort", "max_effort": "inf"}
    assert motors_of({"a": {"clamping": [limit]}}, "/")["a"].clamping == [aa.MaxEffortClampingConfig(float("inf"))]
    assert problems({"a": {"controller": PD | {"kp": "inf"}}})[0].startswith("'a'.controller.kp = 'inf': must be fini")


def test_unknown_keys_are_refused_with_a_suggestion() -> None:
    assert problems(
        {
            "a": {"clampings": []},
            "b": {"controller": PD | {"kq": 3.0}},
            "c": {"controller": PD | {"law": "pdd"}},
            "d": {"controller": {"kp": 1.0}},
            "e": {"delay": {"law": "delay", "delay_steps": 2, "second": 1.0}},
            "f": {"feedback": {"law": "encodr"}},
            "g": {"delay": {"law": "timed"}},
            "h": {"transmission": {"law": "tendon"}},
            "i": {"sensor": {}},
            "j": {"transmission": {"ratio": 2.0, "stiffness": 5.0}},
        }
    ) == [
        "'a' has 'clampings': must be one of feedback, command, controller, rate, effort_delay, effort_lag, "
        "electrical, clamping, losses, thermal, supply, transmission, shaft, linkage, passive, effort_mode, delay, "
        "armature, friction, viscous_friction, intervals. Did you mean clamping?",
        "'b'.controller has 'kq': must be one of law, kp, kd, const_effort, wrap. Did you mean kp?",
        "'c'.controller.law = 'pdd': must be one of pd, pid, geared_pd, geared_pid, neural, slewed_pid, servo, "
        "startup_pd, stepper. Did you mean pd?",
        "'d'.controller has no law: must be one of pd, pid, geared_pd, geared_pid, neural, slewed_pid, servo, "
        "startup_pd, stepper. Use one of these or remove it.",
        "'e'.delay has 'second': must be one of law, delay_steps. Use one of these or remove it.",
        "'f'.feedback.law = 'encodr': must be one of encoder. Did you mean encoder?",
        "'g'.delay.law = 'timed': must be one of delay, timed_delay. Did you mean timed_delay?",
        "'h'.transmission.law = 'tendon': must be one of transmission, elastic. A tendon is a linkage: write linkage: "
        "{joints: [a, b], coefficients: [1.0, 0.8]} by the controller.",
        f"'i' has 'sensor': must be one of {', '.join(LAWS)}, armature, friction, viscous_friction, intervals. Did you "
        "mean feedback?",
        "'j'.transmission has 'stiffness': must be one of law, ratio, offset, targets, rotor_inertia, efficiency, "
        "backdriving_efficiency. Write law: elastic, which has it.",
    ]


def test_all_problems_are_told_at_once_with_their_places() -> None:
    clamps = [{"law": "max_effort", "max_effort": -1}, {"law": "dc_motor", "saturation_effort": 1.0}, 3]
    table = {"law": "position_based", "lookup_positions": [0.0, 1.0], "lookup_efforts": [1.0]}
    found = problems(
        {
            "(": {},
            "a": {"controller": PD | {"kp": {"x": -1.0, ")": 1.0}, "kd": [1.0, 2.0]}, "armature": True},
            "b": {"clamping": [*clamps, table], "delay": 2, "friction": {}},
            "c": 3,
            "d": {"clamping": {"law": "max_effort"}},
            "e": {"controller": {"law": "neural", "model_path": 3}},
        }
    )
    assert [line.split(":")[0] for line in found] == [
        "'(' must be a regular expression, but missing ), unterminated subpattern at position 0. Correct it; a "
        "backslash before a sign takes it literally.",
        *("'a'.controller.kp", "'a'.controller.kp['x'] = -1.0", "'a'.controller.kd = [1.0, 2.0]"),
        *("'a'.armature = True", "'b'.clamping[0].max_effort = -1", "'b'.clamping[1] has no velocity_limit"),
        *("'b'.clamping[1] has no max_motor_effort", "'b'.clamping[2] = 3"),
        *("'b'.clamping[3].lookup_positions has 2 values, lookup_efforts 1", "'b'.delay = 2"),
        *("'b'.friction has no pattern", "'c' = 3", "'d'.clamping = {'law'", "'e'.controller.model_path = 3"),
    ]


def test_reading_ends_when_enough_is_wrong() -> None:
    found = problems({f"k{index}": 3 for index in range(10 * MAX_PROBLEMS)})
    assert len(found) == MAX_PROBLEMS + 1 and found[-1] == "and perhaps more: reading ended after 100 problems."


@cases("plain", None, [], "motors", 3)
def test_what_is_no_dictionary_is_refused(plain: Any) -> None:
    assert problems(plain)[0].endswith("must be motors by pattern of joint names. Write pattern: motor.")


def test_what_a_file_cannot_hold_is_not_written() -> None:
    array: Any = np.array([1.0, 2.0])
    own = ForeignConfig("OwnAPI", "clamping", {})

    class Special(aa.PDControlConfig):
        pass

    with pytest.raises(ValueError) as caught:
        plain_of(
            {
                "a": MotorConfig(aa.PDControlConfig(array, -1.0), [own]),
                "(": [],
                "b": [Special(1.0, 2.0)],
                "c": MotorConfig(armature=[1.0]),  # pyright: ignore[reportArgumentType]
            },
            "/",
        )
    assert [line.split(":")[0].split(" = ")[0][:20] for line in str(caught.value).splitlines()] == [
        *("'a'.controller.kd", "'a'.controller.kp", "'a'.clamping[0]", "'(' must be a regula", "'b'.controller"),
        "'c'.armature",
    ]
    assert "set what differs in Python" in str(caught.value)


def test_a_limit_may_be_left_to_the_joint() -> None:
    clamp = {"law": "max_effort", "max_effort": {"hip": "joint", "knee": 5.0}}
    plain: Any = {".*": {"controller": {"law": "pd", "kp": 1.0, "kd": 2.0}, "clamping": [clamp]}}
    motors = motors_of(plain, "/")
    (limit,) = motors[".*"].clamping
    assert vars(limit) == {"max_effort": {"hip": "joint", "knee": 5.0}} and plain_of(motors, "/") == plain
    word = MotorConfig(aa.PDControlConfig(1.0, 2.0), [aa.MaxEffortClampingConfig("joint")])
    assert plain_of({".*": word}, "/")[".*"]["clamping"] == [{"law": "max_effort", "max_effort": "joint"}]
    plain[".*"]["controller"]["kp"] = "joint"
    refused(ValueError, lambda: motors_of(plain, "/"), r"controller\.kp = 'joint': must be finite and >= 0")


def test_effort_modes_have_the_names_of_python() -> None:
    named = {name: {"effort_mode": name} for name in ("explicit", "implicit", "in_engine")}
    found = motors_of(named | {"by law": {"effort_mode": {"law": "implicit", "load_share": 0.1}}}, "/")
    modes = [], [aa.ImplicitConfig()], [aa.ImplicitConfig(in_engine=True)], [aa.ImplicitConfig(load_share=0.1)]
    assert [motor.others for motor in found.values()] == [*modes]
    said = "'a'.effort_mode = 'fast': must be an effort_mode. Write implicit or in_engine."
    assert problems({"a": {"effort_mode": "fast"}}) == [said]
    assert plain_of({"a": [aa.ImplicitConfig()]}, "/") == {"a": {"effort_mode": "implicit"}}


def test_intervals_are_pairs_of_numbers() -> None:
    motor = MotorConfig(aa.PDControlConfig(40.0, 1.0), intervals={"kp": (39.0, 42.0)})
    plain = plain_of({"a": motor}, "/")
    assert plain["a"]["intervals"] == {"kp": [39.0, 42.0]} and motors_of(plain, "/") == {"a": motor}
    rule = "must be two finite numbers that do not fall. Correct it."
    assert problems({"a": {"intervals": {"kp": [2, 1], "kd": 3, "ki": [0, float("inf")]}}}) == [
        f"'a'.intervals.kp = [2, 1]: {rule}",
        f"'a'.intervals.kd = 3: {rule}",
        f"'a'.intervals.ki = [0, inf]: {rule}",
    ]
    said = "'a'.intervals = 3: must be intervals by name. Write name: [low, high]."
    assert problems({"a": {"intervals": 3}}) == [said]
