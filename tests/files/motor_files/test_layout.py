"""Content of motor files, and the errors of other content."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.files.motor_files.layout import LAWS, MAX_PROBLEMS, motors_of, plain_of
from isaacsim.core.experimental.actuators.laws.contract.catalogue import LAWS as LINES
from isaacsim.core.experimental.actuators.specs import configs
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig

PD = {"law": "pd", "kp": 1.0, "kd": 0.1}


def problems(plain) -> list[str]:
    """The problems that reading reports."""
    with pytest.raises(ValueError) as caught:
        motors_of(plain, "/robots")
    return str(caught.value).splitlines()


def test_every_law_of_the_package_has_a_name() -> None:
    """The names are those of the config classes; all laws of the table are included, except the user's own."""
    assert {kind: list(laws) for kind, laws in LAWS.items()} == {
        "feedback": ["encoder"],
        "controller": ["pd", "pid", "geared_pd", "geared_pid", "neural", "slewed_pid", "servo", "startup_pd"],
        "rate": ["rate"],
        "effort_delay": ["effort_delay"],
        "effort_mode": ["implicit"],
        "electrical": ["electrical"],
        "clamping": ["max_effort", "dc_motor", "dc_motor_cutoff", "position_based", "envelope"],
        "thermal": ["thermal"],
        "supply": ["supply"],
        "transmission": ["transmission", "elastic"],
        "linkage": ["linkage"],
        "passive": ["friction", "friction_curve", "lu_gre_friction", "cogging"],
        "delay": ["delay", "timed_delay"],
    }
    named = {config for laws in LAWS.values() for config in laws.values()}
    assert {line.config for line in LINES} - named == {configs.ForeignConfig}


def test_a_delay_in_steps_needs_no_name() -> None:
    """Files from before there was another delay stay valid, and are written in the same way."""
    plain = {"a": {"delay": {"delay_steps": 2}}, "b": {"delay": {"law": "timed_delay", "seconds": 0.25}}}
    motors = motors_of(plain, "/")
    assert (motors["a"].delay, motors["b"].delay) == (configs.DelayConfig(2), configs.TimedDelayConfig(0.25))
    assert plain_of(motors, "/") == plain
    assert motors_of({"a": {"delay": {"law": "delay", "delay_steps": 2}}}, "/")["a"] == motors["a"]


def test_what_is_at_its_default_is_left_out() -> None:
    """A file has the given values only."""
    assert plain_of({"a": [configs.PDControlConfig(1, 2)], "b": MotorConfig()}, "/") == {
        "a": {"controller": {"law": "pd", "kp": 1.0, "kd": 2.0}},
        "b": {},
    }
    assert plain_of({"a": [configs.PIDControlConfig(1, 2, 3, const_effort=0.5)]}, "/")["a"]["controller"] == {
        **{"law": "pid", "kp": 1.0, "ki": 2.0, "kd": 3.0, "const_effort": 0.5}
    }


def test_paths_are_relative_to_the_file() -> None:
    """The network is found as long as both are moved together."""
    plain = plain_of({"a": [configs.NeuralControlConfig("/robots/nets/knee.onnx")]}, "/robots/motors")
    assert plain["a"]["controller"]["model_path"] == "../nets/knee.onnx"
    (moved,) = motors_of(plain, "/elsewhere/motors").values()
    assert moved.controller == configs.NeuralControlConfig("/elsewhere/nets/knee.onnx")


def test_infinity_may_be_a_word_where_it_has_a_meaning() -> None:
    """JSON has no number for it; a gain is never infinite."""
    limit = {"law": "max_effort", "max_effort": "inf"}
    assert motors_of({"a": {"clamping": [limit]}}, "/")["a"].clamping == [configs.MaxEffortClampingConfig(float("inf"))]
    assert problems({"a": {"controller": PD | {"kp": "inf"}}})[0].startswith("'a'.controller.kp = 'inf': must be fini")


def test_unknown_keys_are_refused_with_a_suggestion() -> None:
    """Of a motor, of a config, and among laws."""
    assert problems(
        {
            "a": {"clampings": []},
            "b": {"controller": PD | {"kq": 3.0}},
            "c": {"controller": PD | {"law": "pdd"}},
            "d": {"controller": {"kp": 1.0}},
            "e": {"delay": {"law": "delay", "delay_steps": 2, "second": 1.0}},
            "f": {"feedback": {"law": "encoder"}},
            "g": {"delay": {"law": "timed"}},
        }
    ) == [
        "'a' has 'clampings': must be one of feedback, controller, rate, effort_delay, electrical, clamping, thermal, "
        "supply, transmission, linkage, passive, effort_mode, delay, "
        "armature, friction, viscous_friction, intervals. Did you mean clamping?",
        "'b'.controller has 'kq': must be one of law, kp, kd, const_effort. Did you mean kp?",
        "'c'.controller.law = 'pdd': must be one of pd, pid, geared_pd, geared_pid, neural, slewed_pid, servo, "
        "startup_pd. Did you mean pd?",
        "'d'.controller has no law: must be one of pd, pid, geared_pd, geared_pid, neural, slewed_pid, servo, "
        "startup_pd. Use one of these or remove it.",
        "'e'.delay has 'second': must be one of law, delay_steps. Use one of these or remove it.",
        "'f'.feedback has 'law': must be one of resolution, bias, noise, latency, latency_steps, velocity, "
        "velocity_resolution, velocity_filter, seed, side, max_steps. Use one of these or remove it.",
        "'g'.delay.law = 'timed': must be one of delay, timed_delay. Did you mean timed_delay?",
    ]


def test_all_problems_are_told_at_once_with_their_places() -> None:
    """Values are checked by their fields, also in dictionaries; missing values and other types are reported."""
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
        "'a'.controller.kp",
        "'a'.controller.kp['x'] = -1.0",
        "'a'.controller.kd = [1.0, 2.0]",
        "'a'.armature = True",
        "'b'.clamping[0].max_effort = -1",
        "'b'.clamping[1] has no velocity_limit",
        "'b'.clamping[1] has no max_motor_effort",
        "'b'.clamping[2] = 3",
        "'b'.clamping[3].lookup_positions has 2 values, lookup_efforts 1",
        "'b'.delay = 2",
        "'b'.friction has no pattern",
        "'c' = 3",
        "'d'.clamping = {'law'",
        "'e'.controller.model_path = 3",
    ]


def test_reading_ends_when_enough_is_wrong() -> None:
    """Reading a file of another kind is cheap."""
    found = problems({f"k{index}": 3 for index in range(10 * MAX_PROBLEMS)})
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "and perhaps more: reading ended after 100 problems."


@pytest.mark.parametrize("plain", [None, [], "motors", 3])
def test_what_is_no_dictionary_is_refused(plain) -> None:
    """An empty file is one case."""
    assert problems(plain)[0].endswith("must be motors by pattern of joint names. Write pattern: motor.")


def test_what_a_file_cannot_hold_is_not_written() -> None:
    """Values per robot, laws of the user's own, invalid patterns and values out of range are all reported."""
    array = np.array([1.0, 2.0])
    own = configs.ForeignConfig("OwnAPI", "clamping", {})

    class Special(configs.PDControlConfig):
        pass

    with pytest.raises(ValueError) as caught:
        plain_of(
            {
                "a": MotorConfig(configs.PDControlConfig(array, -1.0), [own]),
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
    """The word is kept in both directions; no other number may be one."""
    clamp = {"law": "max_effort", "max_effort": {"hip": "joint", "knee": 5.0}}
    plain = {".*": {"controller": {"law": "pd", "kp": 1.0, "kd": 2.0}, "clamping": [clamp]}}
    motors = motors_of(plain, "/")
    (limit,) = motors[".*"].clamping
    assert vars(limit) == {"max_effort": {"hip": "joint", "knee": 5.0}}
    assert plain_of(motors, "/") == plain
    word = MotorConfig(configs.PDControlConfig(1.0, 2.0), [configs.MaxEffortClampingConfig("joint")])
    assert plain_of({".*": word}, "/")[".*"]["clamping"] == [{"law": "max_effort", "max_effort": "joint"}]
    plain[".*"]["controller"]["kp"] = "joint"
    with pytest.raises(ValueError, match=r"controller\.kp = 'joint': must be finite and >= 0"):
        motors_of(plain, "/")


def test_intervals_are_pairs_of_numbers() -> None:
    """By the names of values."""
    motor = MotorConfig(configs.PDControlConfig(40.0, 1.0), intervals={"kp": (39.0, 42.0)})
    plain = plain_of({"a": motor}, "/")
    assert plain["a"]["intervals"] == {"kp": [39.0, 42.0]}
    assert motors_of(plain, "/") == {"a": motor}
    rule = "must be two finite numbers that do not fall. Correct it."
    assert problems({"a": {"intervals": {"kp": [2, 1], "kd": 3, "ki": [0, float("inf")]}}}) == [
        f"'a'.intervals.kp = [2, 1]: {rule}",
        f"'a'.intervals.kd = 3: {rule}",
        f"'a'.intervals.ki = [0, inf]: {rule}",
    ]
    assert problems({"a": {"intervals": 3}}) == [
        "'a'.intervals = 3: must be intervals by name. Write name: [low, high]."
    ]
