"""Intervals of fitted values: by closed forms for means of logs, and by how often they have the truth."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hidden_motors import PENDULUM, known_motor
from isaacsim.core.experimental.actuators import FrictionConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.fit import Fit
from isaacsim.core.experimental.actuators.tools.identification.identified import Estimate
from isaacsim.core.experimental.actuators.tools.identification.intervals import find_intervals
from isaacsim.core.experimental.actuators.tools.identification.joints import Joints
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.models import FIRST
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import PARAMETERS

stats = pytest.importorskip("scipy.stats")
LEVELS = [0.14, 0.09, 0.13, 0.1, 0.12, 0.1, 0.12, 0.11]


class Averaging:
    """A joint whose fit is the mean Coulomb level of its logs, times their mean mass."""

    benches = (SimpleNamespace(joint="hinge", rules=PARAMETERS),)

    def refit(self, _: str, cases: Sequence[Decoupled], __: Sequence[Fit]) -> list[Fit]:
        level = float(np.mean([case.log.settings["level"] * case.load[0, 0] for case in cases]))
        values = {"coulomb": level, "breakaway": 0.5, "kp": 40.0}
        return [Fit(values, dict.fromkeys(["coulomb", "breakaway"], 0.0), np.eye(2), 0.0)]


def cases_of(seconds: float = 8.0, sittings: Sequence[int] = (), count: int = 8) -> list[Decoupled]:
    time = np.arange(0.0, seconds + 0.05, 0.1)
    moves, ones = np.sin(time)[:, None], np.ones((len(time), 1))
    labels = [{"sitting": float(number)} for number in sittings] or [{}] * count
    logs = [
        MotorLog(time, ["hinge"], {"command": moves, "position": moves}, f"{k}.csv", {"level": LEVELS[k]} | labels[k])
        for k in range(count)
    ]
    return [Decoupled(log, ones, ones, ones, ones, ones, np.ones(1)) for log in logs]


def width_of(cases: list[Decoupled], mass_error: float = 0.0, name: str = "coulomb") -> float:
    joints = Averaging()
    return find_intervals(joints, "", joints.refit("", cases, []), cases, mass_error).widths[0][name]


def test_a_mean_of_logs_has_the_interval_of_a_mean() -> None:
    error = np.std(LEVELS, ddof=1) / np.sqrt(8)
    assert width_of(cases_of()) == pytest.approx(stats.t.ppf(0.95, 3) * error)
    assert width_of(cases_of()[::-1]) == pytest.approx(width_of(cases_of()))
    error = np.std(np.mean(np.reshape(LEVELS, (4, 2)), axis=1), ddof=1) / 2
    assert width_of(cases_of(sittings=[0, 0, 1, 1, 2, 2, 3, 3])) == pytest.approx(stats.t.ppf(0.95, 3) * error)


def test_neighbors_that_are_alike_widen_it() -> None:
    alike = np.repeat([0.1, 0.2, 0.15, 0.12], 2)
    cases = cases_of()
    for case, level in zip(cases, alike, strict=True):
        object.__setattr__(case.log, "settings", {"level": level})
    assert width_of(cases) == pytest.approx(stats.t.ppf(0.95, 3) * (np.std(alike[::2], ddof=1) / 2))


def test_masses_widen_it() -> None:
    wide = np.hypot(width_of(cases_of()), stats.norm.ppf(0.95) * 0.02 * np.mean(LEVELS))
    assert width_of(cases_of(), 0.02) == pytest.approx(wide, rel=1e-4)
    assert width_of(cases_of(), 0.02, "passive.static") == pytest.approx(wide, rel=1e-4)


@pytest.mark.parametrize(("seconds", "count", "enough"), [(8.0, 5, 5), (4.9, 8, 0)])
def test_few_or_short_logs_give_none(seconds, count, enough) -> None:
    joints = Averaging()
    cases = cases_of(seconds, count=count)
    found = find_intervals(joints, "", joints.refit("", cases, []), cases, 0.02)
    (line,) = found.warnings()
    assert line.startswith(
        f"No intervals of hinge: logs of 5 s or more, in which a joint moves = {enough}: must be at le"
    )
    estimate = Estimate("hinge", "coulomb", 0.1, "N·m", 0.0, (0.0, 1.0), 0.0)
    assert found.of_estimates([estimate]) == [estimate]
    assert found.of_motors({"hinge": known_motor()}) == {"hinge": known_motor()}


def test_intervals_are_of_what_the_motor_has() -> None:
    joints = Averaging()
    cases = cases_of()
    fits = joints.refit("", cases, [])
    found = find_intervals(joints, "", fits, cases, 0.9)
    estimate = Estimate("hinge", "coulomb", fits[0].values["coulomb"], "N·m", 0.0, (0.0, 1.0), 0.0)
    (made,) = found.of_estimates([estimate])
    assert made.interval[0] == 0.0 and made.interval[1] == pytest.approx(estimate.value + found.widths[0]["coulomb"])
    assert found.of_motors({"hinge": known_motor()})["hinge"].intervals == {}
    motor = MotorConfig(known_motor().controller, others=[FrictionConfig(coulomb=0.1, static=0.6)])
    own = found.of_motors({"hinge": motor})["hinge"].intervals
    assert own.keys() == {"coulomb", "static"} and own["static"][1] - own["coulomb"][1] == pytest.approx(0.5)
    assert not found.warnings()


def made_up(generator: np.random.Generator, sittings: int) -> tuple[dict[str, float], list[MotorLog]]:
    """Return values and eight logs of a pendulum with frictions that differ by a tenth, and masses off by 2 %."""
    ranges = {"kp": (15, 60), "kd": (0.5, 1.5), "coulomb": (0.1, 0.6), "viscous": (0.05, 0.4), "delay": (0.004, 0.015)}
    true = {name: float(generator.uniform(*ends)) for name, ends in ranges.items()} | {"armature": 0.03}
    of_log = np.exp(0.1 * generator.normal(size=(2, sittings)))[:, np.arange(8) * sittings // 8]
    mass, dt, substeps = 1.0 + 0.02 * generator.normal(), 0.02, 80
    time, step = np.arange(300) * dt, dt / substeps
    waves = generator.uniform([0.1, 0.1, 0.0], [0.35, 2.0, 6.0], (8, 4, 3))
    command = sum(w[:, :1] * np.sin(2 * np.pi * w[:, 1:2] * time + w[:, 2:]) for w in waves.transpose(1, 0, 2))
    command[:4] = np.round(command[:4] * 4) / 4
    position, velocity, positions = command[:, 0].copy(), np.zeros(8), np.empty_like(command)
    inertia, lanes = 0.26 * mass + true["armature"], np.arange(8)
    for row in range(len(time)):
        positions[:, row] = position
        for late in (row * dt + np.arange(substeps) * step - true["delay"]) / dt:
            target = command[lanes, max(int(np.floor(late + 1e-9)), 0)]
            effort = true["kp"] * (target - position) - (true["kd"] + true["viscous"] * of_log[1]) * velocity
            velocity = velocity + step * (effort - 4.905 * mass * np.sin(position)) / inertia
            stop = step * true["coulomb"] * of_log[0] / inertia
            velocity = np.sign(velocity) * np.maximum(np.abs(velocity) - stop, 0.0)
            position = position + step * velocity
    positions += generator.normal(0.0, 1e-4, positions.shape)
    pairs = zip(command, positions, strict=True)
    signals = [{"command": sent[:, None], "position": seen[:, None]} for sent, seen in pairs]
    return true, [MotorLog(time, ["hinge"], one, f"{k}.csv") for k, one in enumerate(signals)]


@pytest.mark.slow
@pytest.mark.skipif(core is None, reason="the native core is not built")
def test_intervals_have_the_truth() -> None:
    links, is_in = Links(PENDULUM, ["hinge"]), {"interval": list[bool](), "noise": list[bool]()}
    options = FitOptions(gains=False, parameters=["kp"])
    try:
        for seed, sittings in ((0, 8), (1, 4), (2, 4), (3, 3), (4, 8), (5, 3)):
            true, logs = made_up(np.random.default_rng(seed), sittings)
            motors = {"hinge": MotorConfig(PDControlConfig(true["kp"], true["kd"]), armature=true["armature"])}
            joints = Joints(motors, options, links.armatures, logs, lambda _words, _share: None).on_all()
            cases = [links.decouple(log, np.zeros(1)) for log in logs]
            start = Fit({**true, "encoder_bias": 0.0}, {}, np.zeros((0, 0)), 0.0)
            fits = joints.fit(FIRST, cases, [start], way="near")
            widths = find_intervals(joints, FIRST, fits, cases, 0.02).widths[0]
            for name in ("kp", "coulomb", "viscous", "delay"):
                error = abs(fits[0].values[name] - true[name])
                is_in["interval"].append(error <= widths[name])
                is_in["noise"].append(error <= stats.norm.ppf(0.95) * fits[0].errors[name])
    finally:
        links.close()
    assert 0.8 <= np.mean(is_in["interval"]) and np.mean(is_in["noise"]) <= 0.4
