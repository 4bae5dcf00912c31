"""Encoders, delays and rates in files, tools and randomization: every field there and back."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from refusals import cases
from robot_files import ARM, edited

PD = aa.PDControlConfig(30.0, 2.0)
# numbers that single precision holds
CONFIGS = [
    aa.EncoderConfig(0.125, -0.25, 0.5, 0.25, 1.5, "register", 0.75, 0.0625, 7, "motor", 2000),
    aa.TimedDelayConfig(0.125, 2.5, 3, 4, 0.25, 5, 1000),
    aa.EffortDelayConfig(0.125, 1.5, 900),
    aa.RateConfig(4, 250.0, 0.375),
]
each_config = cases("config", *CONFIGS, ids=lambda config: type(config).__name__)


def found_in(stages, config):
    (found,) = [one for one in stages if type(one) is type(config)]
    return found


@each_config
def test_inspection_shows_all_fields_with_units(config, tmp_path) -> None:
    file = edited(
        tmp_path, lambda stage: aa.add_motors(ARM, {".*": [PD, config]}, stage=stage, overwrite_existing=True)
    )
    (robot,) = aa.inspect_robots(file)
    for actuator in robot.actuators:
        assert found_in(actuator.stages, config) == config
        shown = {name: value for (_, name), value in actuator.values.items() if name in parameters_of(config)}
        for name, one in parameters_of(config).items():
            assert shown[name].value == one.number(getattr(config, name)) or shown[name].value == getattr(config, name)
            assert shown[name].unit in one.unit.split(" or ")
    assert not [finding for finding in aa.lint(file) if finding.severity == "error"]


@cases(
    "config, name, drawn",
    (aa.EncoderConfig(latency=0.02), "latency", aa.Uniform(0.0, 0.01)),
    (aa.EncoderConfig(latency_steps=4), "latency_steps", aa.Uniform(0.0, 4.0)),
    (aa.EncoderConfig(), "bias", aa.Uniform(-0.1, 0.1)),
    (aa.EncoderConfig(), "noise", aa.Uniform(0.0, 0.1)),
    (aa.TimedDelayConfig(steps=3), "steps", aa.Uniform(0.0, 3.0)),
    (aa.TimedDelayConfig(random_steps=3), "random_steps", aa.Uniform(0, 3)),
    (aa.EffortDelayConfig(seconds=0.02), "seconds", aa.Uniform(0.0, 0.02)),
    (aa.RateConfig(), "phase", aa.Uniform(0.0, 1.0)),
    (aa.RateConfig(), "decimation", aa.Uniform(1, 6)),
)
def test_robots_may_draw_their_own(config, name, drawn) -> None:
    arrays = aa.ActuatedArrays(["j"], {"j": [PD, config]}, num_robots=16)
    arrays.randomize({name: drawn}, seed=3)
    (component,) = [one for one in arrays.actuators[0].stages if name in type(one).PARAMETERS]
    values = component.read(name)
    assert len(set(values.tolist())) > 2 and values.min() >= drawn.bounds[0] and values.max() <= drawn.bounds[1]
    rng, efforts = np.random.default_rng(0), []
    for _ in range(30):
        q, qd, target = (np.full((16, 1), one, np.float32) for one in rng.normal(size=3))
        efforts.append(np.array(arrays.step(q, qd, target, 0.005)))
    assert np.isfinite(efforts).all()
    if name != "phase":
        assert np.ptp(np.array(efforts), axis=1).max() > 0.0


@cases(
    "config, name, drawn, most",
    (aa.EncoderConfig(latency_steps=2), "latency_steps", aa.Uniform(0.0, 5.0), 2),
    (aa.TimedDelayConfig(steps=1, random_steps=2), "random_steps", aa.Uniform(0, 3), 2),
    (aa.EffortDelayConfig(max_steps=4), "steps", aa.Uniform(0.0, 4.5), 4),
)
def test_draws_beyond_what_is_kept_are_refused(config, name, drawn, most) -> None:
    """As a delay would be cut there; more can be kept."""
    arrays = aa.ActuatedArrays(["j"], {"j": [PD, config]}, num_robots=4)
    with pytest.raises(ValueError, match=rf"randomize: {name} of j, .*: must be <= {most}, of which the past is kept"):
        arrays.randomize({name: drawn}, seed=1)


def test_sides_and_rows_are_not_drawn() -> None:
    arrays = aa.ActuatedArrays(["j"], {"j": [PD, aa.EncoderConfig(latency_steps=2)]}, num_robots=4)
    for name in ("side", "max_steps"):
        with pytest.raises(ValueError, match=f"randomize: {name}: no joint has it"):
            arrays.randomize({name: aa.Uniform(0, 1)}, seed=1)


def test_delays_of_newton_stay_a_number_of_steps(tmp_path) -> None:
    for delay, listed in ((aa.DelayConfig(2), 2), (aa.TimedDelayConfig(steps=2, random_steps=2), 3)):
        file = edited(
            tmp_path,
            lambda stage, delay=delay: aa.add_motors(ARM, {".*": [PD, delay]}, stage=stage, overwrite_existing=True),
        )
        assert f"newton:delaySteps = {listed}" in file.read_text("utf-8")
        assert found_in(next(iter(aa.motors_of(str(file)).values())).stages, delay) == delay
