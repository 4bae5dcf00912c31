import dataclasses

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.rollout import Rollout, substeps_of

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
KP, KD = 20.0, 0.5
MOTOR = aa.MotorConfig(aa.PDControlConfig(KP, KD), others=[aa.FrictionConfig(coulomb=0.1, viscous=0.1)])
NAMES = ("viscous", "coulomb", "armature", "delay", "encoder_bias")


def case(dt: float = 0.002, samples: int = 400) -> Decoupled:
    time = np.arange(samples) * dt
    position = 0.3 * np.sin(6 * time)[:, None]
    command = (0.3 * np.sin(6 * time + 0.4) + 0.1)[:, None]
    inertia = 0.05 + 0.01 * np.cos(3 * time)[:, None]
    load, slope = 0.4 * np.sin(2 * time)[:, None], np.full((samples, 1), 0.7)
    log = MotorLog(time, ["hinge"], {"command": command, "position": position})
    return Decoupled(log, inertia, load, slope, position, np.gradient(position, dt, axis=0), inertia[0])


def reference(one: Decoupled, values: dict[str, float]) -> np.ndarray:
    """The same in float64: PD, and dry friction that holds the joint exactly, viscous friction implicit."""
    dt, substeps = one.log.dt, substeps_of(one.log.dt)
    h, last = dt / substeps, len(one.log.time) - 1
    columns = {name: getattr(one, name)[:, 0] for name in ("inertia", "load", "slope", "place")}
    command, bias = one.log.command[:, 0], values["encoder_bias"]
    delay = values["delay"] + 0.5 * (dt - h)
    q, v, out = one.log.position[0, 0] - bias, one.velocity[0, 0], np.empty(last + 1)
    for k in range(last + 1):
        out[k] = q + bias
        for s in range(substeps):
            share, after = s / substeps, min(k + 1, last)
            at = {name: array[k] + share * (array[after] - array[k]) for name, array in columns.items()}
            target = np.interp(k + share - delay / dt, np.arange(last + 1), command)
            inertia = at["inertia"] + values["armature"]
            load = at["load"] + columns["slope"][k] * (q - at["place"])
            effort = KP * (target - q - bias) - KD * v - load
            free = (inertia * v + h * effort) / (inertia + h * values["viscous"])
            slide = max(abs(free) - h * values["coulomb"] / (inertia + h * values["viscous"]), 0.0)
            v = np.sign(free) * slide
            q += h * v
    return out


def test_variants_are_what_the_laws_say() -> None:
    one = case()
    variants = [
        dict(zip(NAMES, values, strict=True))
        for values in ((0.1, 0.1, 0.01, 0.004, 0.02), (0.3, 0.0, 0.0, 0.0, 0.0), (0.0, 0.5, 0.05, 0.011, -0.1))
    ]
    for row, values in zip(Rollout("hinge", MOTOR, NAMES, 3).run([one], 0, variants)[0][0], variants, strict=True):
        np.testing.assert_allclose(row, reference(one, values), atol=3e-4)


def test_a_second_run_begins_anew() -> None:
    one, values = case(), [dict.fromkeys(NAMES, 0.01)]
    rollout = Rollout("hinge", MOTOR, NAMES, 1)
    np.testing.assert_array_equal(rollout.run([one], 0, values)[0][0], rollout.run([one], 0, values)[0][0])


def test_a_second_run_has_its_own_parameters() -> None:
    one = case()
    first, second = ([dict.fromkeys(NAMES, 0.01) | {"coulomb": coulomb}] for coulomb in (0.01, 0.4))
    rollout = Rollout("hinge", MOTOR, NAMES, 1)
    before = rollout.run([one], 0, first)[0][0]
    after = rollout.run([one], 0, second)[0][0]
    np.testing.assert_array_equal(after, Rollout("hinge", MOTOR, NAMES, 1).run([one], 0, second)[0][0])
    assert np.abs(after - before).max() > 0.01


def test_many_variants_are_those_one_by_one() -> None:
    one = case(samples=50)
    values = [dict.fromkeys(NAMES, 0.01) | {"coulomb": 0.5 * k / 3000} for k in range(3000)]
    found = Rollout("hinge", MOTOR, NAMES, len(values)).run([one], 0, values)[0][0]
    alone = Rollout("hinge", MOTOR, NAMES, 1)
    for k in (0, 1, 1500, 2999):
        np.testing.assert_array_equal(found[k], alone.run([one], 0, [values[k]])[0][0][0])


def test_logs_side_by_side_are_those_alone() -> None:
    logs = [case(), case(samples=37), case(0.004, 61), case(samples=120)]
    loaded = dataclasses.replace(logs[1].log, settings={"viscous": 0.4})
    logs[1] = dataclasses.replace(logs[1], log=loaded, inertia=2.0 * logs[1].inertia)
    motor, names = MOTOR, ("viscous", "coulomb", "armature", "delay", "encoder_bias")
    values = [dict.fromkeys(names, 0.002 * k) for k in range(1, 6)]
    outputs = ("effort",)
    side_by_side = Rollout("hinge", motor, names, 17, outputs).run(logs, 0, values, outputs)
    alone = Rollout("hinge", motor, names, len(values), outputs)
    for log, found in zip(logs, side_by_side, strict=True):
        for array, wanted in zip(found, alone.run([log], 0, values, outputs)[0], strict=True):
            np.testing.assert_array_equal(array, wanted)


def test_a_table_is_looked_up_at_each_step() -> None:
    table = aa.FrictionCurveConfig(lookup_speeds=[0.0, 10.0], lookup_efforts=[0.1, 1.1])
    names = ("armature",)
    line, curve = (
        Rollout("hinge", aa.MotorConfig(aa.PDControlConfig(KP, KD), others=[law]), names, 1).run(
            [case()], 0, [{"armature": 0.01}]
        )[0][0]
        for law in (aa.FrictionConfig(coulomb=0.1, viscous=0.1), table)
    )
    np.testing.assert_allclose(curve, line, atol=2e-3)


def test_columns_are_those_right_after_a_sample() -> None:
    one, values = case(), [dict.fromkeys(NAMES, 0.01), dict.fromkeys(NAMES, 0.0)]
    winding = aa.ElectricalConfig(0.5, 2.0)
    motor = aa.MotorConfig(aa.PDControlConfig(KP, 0.0), others=[aa.FrictionConfig(coulomb=0.1, viscous=0.1), winding])
    rollout = Rollout("hinge", motor, NAMES, 2, ("effort", "current", "volts", "temperature"))
    assert rollout.outputs == ("effort", "current")
    positions, (efforts, currents) = rollout.run([one], 0, values, ("effort", "current"))[0]
    np.testing.assert_array_equal(positions, rollout.run([one], 0, values)[0][0])
    dt, last = one.log.dt, len(one.log.time) - 1
    late = 0.5 * (dt - dt / substeps_of(dt))
    for each, place, effort, current in zip(values, positions, efforts, currents, strict=True):
        at = np.arange(last + 1) - (each["delay"] + late) / dt
        wanted = KP * (np.interp(at, np.arange(last + 1), one.log.command[:, 0]) - place)
        np.testing.assert_allclose(effort, wanted, atol=1e-4)
        np.testing.assert_allclose(current, wanted / 0.5, atol=1e-4)


def test_duty_and_voltage_of_a_servo() -> None:
    one = case()
    stages = [aa.ElectricalConfig(0.8, 2.0, command="voltage"), aa.SupplyConfig(12.0, resistance=1.0)]
    motor = aa.MotorConfig(aa.ServoControlConfig(4.0, 1.0, 12.0), others=stages)
    rollout = Rollout("hinge", motor, ("armature",), 1, ("volts", "pwm"))
    positions, (volts, duty) = rollout.run([one], 0, [{"armature": 0.02}], ("volts", "pwm"))[0]
    assert sorted(rollout.outputs) == ["pwm", "volts"]
    dt = one.log.dt
    late = np.interp(np.arange(400) - 0.5 * (1 - 1 / substeps_of(dt)), np.arange(400), one.log.command[:, 0])
    np.testing.assert_allclose(duty[0], np.clip(4.0 * (late - positions[0]), -1.0, 1.0), atol=1e-5)
    assert volts.max() <= 12.0 and volts.min() < 11.9


@pytest.mark.parametrize(("dt", "steps"), [(0.0005, 1), (0.0025, 3), (0.02, 24)])
def test_physics_steps_are_short(dt, steps) -> None:
    assert substeps_of(dt) == steps


def test_what_the_motor_lacks_is_named() -> None:
    with pytest.raises(ValueError, match=r"hinge: passive.coulomb: must be in its motor"):
        Rollout("hinge", aa.MotorConfig(aa.PDControlConfig(KP, KD)), ("coulomb",), 1)
