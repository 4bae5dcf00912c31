"""Parameter files of BAM as friction: every model, and nothing lost in silence."""

import json

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
from isaacsim.core.experimental.actuators.specs.bam import MODELS
from isaacsim.core.experimental.actuators.specs.fields import violations
from one_inertia import efforts_of
from refusals import cases, refused

# XL330 of the published parameters
XL330 = {
    **{"model": "m6", "actuator": "xl330", "kt": 0.366013, "R": 2.81139, "armature": 0.00180774, "q_offset": 0.0},
    **{"friction_base": 0.00477118, "friction_stribeck": 0.00467635, "friction_viscous": 0.00535967},
    **{"load_friction_motor": 0.266786, "load_friction_external": 8.5e-6},
    **{"load_friction_motor_stribeck": 1.07e-5, "load_friction_external_stribeck": 0.0807793},
    **{"load_friction_motor_quad": 0.00997247, "load_friction_external_quad": 0.00490257},
    **{"dtheta_stribeck": 2.89037, "alpha": 8.68326},
}
NUMBERS = {
    **{"friction_base": 0.4, "friction_viscous": 0.03, "friction_stribeck": 0.2, "dtheta_stribeck": 2.5, "alpha": 1.5},
    **{"load_friction_base": 0.1, "load_friction_stribeck": 0.07, "load_friction_motor": 0.12},
    **{"load_friction_external": 0.05, "load_friction_motor_stribeck": 0.06, "load_friction_external_stribeck": 0.09},
    **{"load_friction_motor_quad": 0.02, "load_friction_external_quad": 0.03},
}


def bam_friction(model: str, p: dict[str, float], tau_m, tau_e, qd):
    stribeck, load = model in ("m2", "m4", "m5", "m6"), model in ("m3", "m4", "m5", "m6")
    directional, quadratic = model in ("m5", "m6"), model == "m6"
    s = np.exp(-(np.abs(qd / p["dtheta_stribeck"]) ** p["alpha"])) if stribeck else 0.0
    friction = p["friction_base"] + s * p["friction_stribeck"]
    if directional:
        friction += np.abs(tau_e * p["load_friction_external"] - tau_m * p["load_friction_motor"])
        friction += s * np.abs(tau_e * p["load_friction_external_stribeck"] - tau_m * p["load_friction_motor_stribeck"])
    elif load:
        friction += (p["load_friction_base"] + s * p["load_friction_stribeck"]) * np.abs(tau_e - tau_m)
    if quadratic:
        driven = p["load_friction_motor_quad"] * tau_m**2
        driving = p["load_friction_external_quad"] * tau_e**2
        term = np.where(np.abs(tau_e) > np.abs(tau_m), driven, driving)
        friction += s * np.where(np.sign(tau_e) != np.sign(tau_m), term, 0)
    return friction


@pytest.mark.parametrize("model", MODELS)
def test_friction_is_that_of_the_model(model, rng) -> None:
    """Of joints that slide, within 1e-6; numbers of other models are not used, and named."""
    with pytest.warns(UserWarning, match="from_bam") if model != "m6" else pytest.warns(UserWarning, match="load"):
        config = aa.FrictionConfig.from_bam({"model": model} | NUMBERS)
    qd, tau_m, tau_e = rng.choice([-1, 1], 500) * rng.uniform(0.5, 6, 500), *rng.normal(size=(2, 500)) * 2
    qd, tau_m, tau_e = (one.astype(np.float32).astype(np.float64) for one in (qd, tau_m, tau_e))
    signals = {"inertia": np.full(500, 100.0), "load": -tau_e, "load_is_whole": np.ones(500)}
    _, state = efforts_of(config, qd, tau_m, 1e-3, signals)
    expected = bam_friction(model, NUMBERS, tau_m, tau_e, qd)
    np.testing.assert_allclose(-np.sign(qd) * state["dry_effort"], expected, rtol=1e-6, atol=1e-6)
    assert config.viscous == NUMBERS["friction_viscous"]


def test_reads_a_file_and_hands_on_the_rest(tmp_path) -> None:
    file = tmp_path / "m6.json"
    file.write_text(json.dumps(XL330), "utf-8")
    rest = {}
    config = aa.FrictionConfig.from_bam(file, unused=rest)
    assert rest == {name: XL330[name] for name in ("actuator", "kt", "R", "armature", "q_offset")}
    assert config.static == pytest.approx(0.00477118 + 0.00467635) and config.quadratic_when_opposed
    assert (config.motor_load, config.quadratic_external_load) == (0.266786, 0.00490257)
    assert not violations(config, "")
    with pytest.warns(UserWarning, match="from_bam: actuator, kt, R, armature, q_offset are not friction"):
        assert aa.FrictionConfig.from_bam(str(file)) == config
    assert not aa.FrictionConfig.from_bam(file, quadratic_when_opposed=False, unused={}).quadratic_when_opposed


def test_reads_configs_of_isaac_lab_and_names_of_usd() -> None:
    expected = aa.FrictionConfig.from_bam(XL330, unused={})
    rest = {}
    assert aa.FrictionConfig.from_bam({"motor": XL330, "kp_fw": 400.0, "vin": 5.0}, unused=rest) == expected
    assert {"kp_fw", "vin", "kt", "armature"} <= rest.keys()

    def spelled(name: str) -> str:
        first, *others = name.split("_")
        return f"newton:{first}{''.join(map(str.title, others))}"

    assert aa.FrictionConfig.from_bam({spelled(name): value for name, value in XL330.items()}, unused={}) == expected


def test_model_follows_from_the_numbers() -> None:
    config = aa.FrictionConfig.from_bam({"friction_base": 0.1, "friction_viscous": 0.2, "load_friction_base": 0.3})
    assert (config.motor_load, config.external_load, config.static) == (0.3, 0.3, 0.0)


@cases(
    "content, message",
    ({"model": "m7"} | NUMBERS, "bam: model = 'm7': must be one of m1, m2, m3, m4, m5, m6. Correct it."),
    ({"model": "m1", "friction_base": 0.1}, "bam has no friction_viscous: must have it. Complete"),
    ({"friction_base": -1.0, "friction_viscous": 0.1}, "bam: friction_base = -1.0: must be finite and >= 0"),
    ({"friction_base": "a", "friction_viscous": 0.1}, "bam: friction_base = 'a': must be finite"),
    (NUMBERS, "and no model: must be numbers of one model. Give the model."),
    ({"friction_base": 0.1, "a:frictionBase": 0.1}, "bam has a:frictionBase and friction_base: must have one"),
)
def test_errors_name_the_number(content, message) -> None:
    assert message in refused(ValueError, lambda: aa.FrictionConfig.from_bam(content))


@pytest.mark.parametrize("text", ["", "[1]", "{", "1", "[" * 100_000])
def test_errors_name_the_file(tmp_path, text) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text, "utf-8")
    refused(ValueError, lambda: aa.FrictionConfig.from_bam(file), r"broken\.json.*Give")
    refused(TypeError, lambda: aa.FrictionConfig.from_bam(3), "path_or_dict = 3")  # pyright: ignore[reportArgumentType]
    refused(OSError, lambda: aa.FrictionConfig.from_bam(tmp_path / "missing.json"), "missing")


def test_oracle_is_the_same_model(rng) -> None:
    """The model of the oracle of the law is BAM's M6."""
    qd, tau_m, tau_e = rng.normal(size=(3, 1000))
    p = NUMBERS
    found = oracle.dry_friction_level(
        *(tau_m, tau_e, qd, p["friction_base"], p["friction_stribeck"], p["dtheta_stribeck"], p["alpha"]),
        *(p["load_friction_motor"], p["load_friction_external"], p["load_friction_motor_stribeck"]),
        *(p["load_friction_external_stribeck"], p["load_friction_motor_quad"], p["load_friction_external_quad"], 1),
    )
    np.testing.assert_allclose(found, bam_friction("m6", p, tau_m, tau_e, qd), rtol=1e-12)


# without what a motor has no place for
WHOLE = {name: value for name, value in XL330.items() if name != "q_offset"}


def test_whole_motor(tmp_path) -> None:
    path = tmp_path / "m6.json"
    path.write_text(json.dumps(WHOLE))
    motor = aa.MotorConfig.from_bam(path)
    assert motor.controller == aa.ServoControlConfig.of("XL330")
    winding, friction = motor.others
    assert winding == aa.ElectricalConfig(0.366013, 2.81139, voltage=7.5, command="voltage")
    expected = aa.FrictionConfig.from_bam(path, unused={})
    expected.assumed_inertia = 0.00180774
    assert friction == expected and motor.armature == 0.00180774
    aa.ActuatedArrays(["j"], {".*": motor})


def test_firmware_of_the_parameters_wins_over_that_of_the_servo() -> None:
    lab = {"motor": {k: v for k, v in WHOLE.items() if k != "actuator"}, "vin": 7.0, "kp": 300.0, "max_pwm": 0.8}
    expected = aa.ServoControlConfig.of("XL330", kp=300.0, voltage=7.0, max_duty=0.8)
    assert aa.MotorConfig.from_bam(lab, servo="XL330").controller == expected
    given = aa.MotorConfig.from_bam(lab, servo="XL330", kp=100.0, voltage=6.0)
    assert given.controller == aa.ServoControlConfig.of("XL330", kp=100.0, voltage=6.0, max_duty=0.8)
    newton = {
        "newton:frictionBase": 0.01,
        "newton:frictionViscous": 0.02,
        "newton:kt": 1.2,
        "newton:R": 2.7,
        "newton:armature": 0.028,
        "newton:errorGain": 0.166,
        "newton:kp": 32.0,
        "newton:vin": 7.4,
        "newton:maxPwm": 0.97,
    }
    motor = aa.MotorConfig.from_bam(newton)
    assert motor.controller == aa.ServoControlConfig.of("STS3215") and motor.armature == 0.028


def test_names_of_isaac_lab() -> None:
    motor = {name: value for name, value in WHOLE.items() if name not in ("R", "actuator")} | {"resistance": 2.81139}
    lab = {"motor": motor | {"error_gain": 0.15, "max_current": 0.0}, "kp_fw": 300.0, "vin": 7.5}
    made = aa.MotorConfig.from_bam(lab)
    assert made.controller == aa.ServoControlConfig(300.0, 0.15, 7.5) and made.others[0].max_current == np.inf
    assert made.others == aa.MotorConfig.from_bam(WHOLE, voltage=7.5).others
    limited = aa.MotorConfig.from_bam(lab | {"max_current": 0.5, "motor": motor | {"error_gain": 0.15}})
    assert limited.others[0].max_current == 0.5
    with pytest.raises(ValueError, match="bam has resistance and R: must have one of them"):
        aa.MotorConfig.from_bam(WHOLE | {"resistance": 2.0})


def test_backlash() -> None:
    motor = aa.MotorConfig.from_bam(WHOLE | {"backlash": 0.02})
    winding, play, friction = motor.others
    assert [winding, friction] == aa.MotorConfig.from_bam(WHOLE).others and motor.armature is None
    assert play == aa.ElasticTransmissionConfig(
        ratio=1.0, rotor_inertia=0.00180774, stiffness=1000.0, backlash=0.02, assumed_inertia=0.00180774
    )
    aa.ActuatedArrays(["j"], {".*": motor})
    assert aa.MotorConfig.from_bam(WHOLE | {"backlash": 0.0}) == aa.MotorConfig.from_bam(WHOLE)
    with pytest.raises(ValueError, match=r"bam.transmission.rotor_inertia = 0.0: must be"):
        aa.MotorConfig.from_bam(
            {name: value for name, value in WHOLE.items() if name != "armature"} | {"backlash": 0.02}
        )


def test_what_a_motor_has_no_place_for_is_named() -> None:
    with pytest.warns(UserWarning, match="q_offset have no place in a motor"):
        aa.MotorConfig.from_bam(WHOLE | {"q_offset": 0.1})
    rest = {}
    aa.MotorConfig.from_bam(WHOLE | {"q_offset": 0.1, "actuator": "another"}, servo="MX", unused=rest)
    assert rest == {"q_offset": 0.1, "actuator": "another"}


def test_what_a_servo_lacks_is_said() -> None:
    bare = {k: v for k, v in WHOLE.items() if k not in ("kt", "actuator")}
    text = refused(ValueError, lambda: aa.MotorConfig.from_bam(bare))
    lines = text.splitlines()
    assert lines[0].startswith("bam has no kt: must have it.")
    assert [line.split()[3] for line in lines[1:]] == ["kp:", "error_gain:", "vin:"]
    assert "Add it, or pass servo, one of MX, XL320, XL330, STS3215, STS3215-12V." in lines[1]
    refused(ValueError, lambda: aa.MotorConfig.from_bam(WHOLE | {"R": -1.0}), r"bam.electrical.resistance = -1.0")
    refused(ValueError, lambda: aa.MotorConfig.from_bam(WHOLE, servo="AX12"), "series = 'AX12'")
