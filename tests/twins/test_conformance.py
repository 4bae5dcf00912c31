"""Every law of the catalogue in all its forms against the float64 oracle, on random inputs and on every edge."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import warp as wp
from closeness import assert_close
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPD, Delay
from isaacsim.core.experimental.actuators.components import catalogue
from isaacsim.core.experimental.actuators.components.clamping_dc_motor import (
    ClampingDCMotor,
    dc_motor_clamp,
    dc_motor_prepare,
)
from isaacsim.core.experimental.actuators.components.clamping_max_effort import max_effort_clamp
from isaacsim.core.experimental.actuators.components.clamping_position_based import ClampingPositionBased
from isaacsim.core.experimental.actuators.components.controller_pd import pd_effort
from isaacsim.core.experimental.actuators.components.controller_pid import ControllerPID, pid_effort
from isaacsim.core.experimental.actuators.components.delay import ring_row
from isaacsim.core.experimental.actuators.pipeline.engine import Engine
from isaacsim.core.experimental.actuators.pipeline.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS, NeuralControlConfig, PDControlConfig

EDGES = [0.0, -0.0, 1.0, -1.0, 1e-30, 3.5e12, -3.5e12]
GAINS = [0.0, 1e-20, 1.0, 1e6]


@wp.kernel
def _call_pd(table: wp.array2d[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = pd_effort(
        table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], 0.01, table[i, 5], table[i, 6], table[i, 7]
    )


@wp.kernel
def _call_max_effort(table: wp.array2d[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = max_effort_clamp(table[i, 0], 0.5, 0.5, table[i, 1])


@wp.kernel
def _call_ring_row(table: wp.array2d[int], out: wp.array[int]):
    i = wp.tid()
    out[i] = ring_row(table[i, 0], table[i, 1], table[i, 2])


@wp.kernel
def _call_pid(table: wp.array2d[float], out: wp.array[float]):
    i = wp.tid()
    effort, _integral = pid_effort(
        table[i, 0],
        table[i, 1],
        table[i, 2],
        table[i, 3],
        table[i, 4],
        table[i, 10],
        table[i, 5],
        table[i, 6],
        table[i, 7],
        table[i, 8],
        table[i, 9],
        0.5,
    )
    out[i] = effort


@wp.kernel
def _call_dc_motor(table: wp.array2d[float], out: wp.array[float]):
    i = wp.tid()
    stall, factor, peak = dc_motor_prepare(table[i, 2], table[i, 3], table[i, 4])
    out[i] = dc_motor_clamp(table[i, 0], 0.5, table[i, 1], stall, factor, peak)


def run(kernel: Any, table: np.ndarray) -> np.ndarray:
    """Return what a scalar law gives for every row of `table`."""
    dtype = wp.int32 if table.dtype == np.int32 else wp.float32
    out = wp.zeros(len(table), dtype=dtype, device="cpu")
    wp.launch(kernel, dim=len(table), inputs=[wp.array(table, dtype=dtype, device="cpu")], outputs=[out], device="cpu")
    return out.numpy()


def random_table(rng: np.random.Generator, columns: int, gains: int) -> np.ndarray:
    """Rows of signals over many magnitudes, then gains that are not negative."""
    table = rng.normal(size=(20_000, columns)) * 10.0 ** rng.integers(-3, 4, size=(20_000, columns))
    table[:, columns - gains :] = np.abs(table[:, columns - gains :])
    return table.astype(np.float32)


def edge_table(signals: int, gains: list[list[float]]) -> np.ndarray:
    """Every combination of gain edges with signal edges, one signal at an edge at a time."""
    rows = []
    for picked in itertools.product(*gains):
        for at, edge in itertools.product(range(signals), EDGES):
            row = [0.5] * signals
            row[at] = edge
            rows.append([*row, *picked])
    return np.array(rows, np.float32)


def pd_terms(t: np.ndarray) -> list[np.ndarray]:
    """The summands of the PD law, which set the size of its rounding error."""
    return [t[:, 7], t[:, 4], t[:, 5] * np.abs(t[:, [0, 2]]).max(axis=1), t[:, 6] * np.abs(t[:, [1, 3]]).max(axis=1)]


def check_pd(rng: np.random.Generator) -> None:
    """The scalar law and the component."""
    for table in (random_table(rng, 8, 3), edge_table(5, [GAINS, GAINS, [0.0, -2.0, 1e9]])):
        wide = table.astype(np.float64)
        q, qd, q_target, qd_target, ff, kp, kd, const = wide.T
        expected = oracle.pd_effort(q, qd, q_target, qd_target, ff, kp, kd, const)
        assert_close(run(_call_pd, table), expected, *pd_terms(wide))

        n = len(table)
        columns = [wp.array(np.ascontiguousarray(column), dtype=wp.float32, device="cpu") for column in table.T]
        every = wp.array(np.arange(n), dtype=wp.uint32, device="cpu")
        efforts = wp.zeros(n, dtype=wp.float32, device="cpu")
        ControllerPD(*columns[5:]).compute(*columns[:5], every, every, every, every, efforts, None, 0.01)
        assert_close(efforts.numpy(), expected, *pd_terms(wide))


def check_max_effort(rng: np.random.Generator) -> None:
    """The scalar law and the component; exact, for a clamp rounds nothing."""
    for table in (random_table(rng, 2, 1), edge_table(1, [[0.0, 1e-30, 1.0, np.inf]])):
        expected = oracle.max_effort_clamp(*table.T)
        np.testing.assert_array_equal(run(_call_max_effort, table), expected)
        efforts = wp.array(np.ascontiguousarray(table[:, 0]), dtype=wp.float32, device="cpu")
        out = wp.zeros_like(efforts)
        limit = wp.array(np.ascontiguousarray(table[:, 1]), dtype=wp.float32, device="cpu")
        ClampingMaxEffort(limit).modify_forces(efforts, out, None, None, None, None)
        np.testing.assert_array_equal(out.numpy(), expected)


def check_delay(rng: np.random.Generator) -> None:
    """The ring index; what the ring does over time is checked with the plan."""
    depth = rng.integers(1, 50, size=5000)
    table = np.stack([rng.integers(0, depth), rng.integers(0, depth), depth], axis=1).astype(np.int32)
    np.testing.assert_array_equal(run(_call_ring_row, table), (table[:, 0] - table[:, 1]) % table[:, 2])


def check_pid(rng: np.random.Generator) -> None:
    """The scalar laws and the component with its state."""
    table = random_table(rng, 11, 5)
    table[:, 10] = rng.uniform(1e-4, 0.1, len(table))
    wide = table.astype(np.float64)
    q, qd, q_target, qd_target, ff, before, kp, ki, kd, limit, dt = wide.T
    integral = oracle.pid_integral(before, q, q_target, dt, limit)
    expected = oracle.pid_effort(q, qd, q_target, qd_target, ff, kp, ki, kd, 0.5, integral)
    size = np.abs(wide[:, [0, 2]]).max(axis=1), np.abs(wide[:, [1, 3]]).max(axis=1)
    terms = [ff, kp * size[0], kd * size[1], ki * np.maximum(np.abs(before), size[0] * dt)]
    assert_close(run(_call_pid, table), expected, *terms)

    n, step = len(table), 0.01
    column = [wp.array(np.ascontiguousarray(values), dtype=wp.float32, device="cpu") for values in table.T]
    every = wp.array(np.arange(n), dtype=wp.uint32, device="cpu")
    controller = ControllerPID(column[6], column[7], column[8], column[9])
    controller.finalize("cpu", n)
    now, after = controller.state(n, "cpu"), controller.state(n, "cpu")
    now.integral.assign(column[5])
    efforts = wp.zeros(n, dtype=wp.float32, device="cpu")
    controller.compute(*column[:5], every, every, every, every, efforts, now, step)
    controller.update_state(now, after)
    integral = oracle.pid_integral(before, q, q_target, step, limit)
    assert_close(after.integral.numpy(), integral, before, size[0] * step)
    np.testing.assert_array_equal(now.integral.numpy(), table[:, 5])
    expected = oracle.pid_effort(q, qd, q_target, qd_target, ff, kp, ki, kd, 0.0, integral)
    terms[3] = ki * np.maximum(np.abs(before), size[0] * step)
    assert_close(efforts.numpy(), expected, *terms)

    mask = rng.random(n) < 0.5
    after.reset(wp.array(mask, dtype=wp.bool, device="cpu"))
    assert not after.integral.numpy()[mask].any() and after.integral.numpy()[~mask].any()


def check_dc_motor(rng: np.random.Generator) -> None:
    """The scalar law and the component, every combination of 0, finite and infinite parameters included."""
    random = random_table(rng, 5, 3)
    stalls, speeds, peaks = [0.0, 1e-20, 7.0, 1e6, np.inf], [1e-30, 2.0, 1e6, np.inf], [0.0, 3.0, 1e6, np.inf]
    combinations = itertools.product(
        [-9.0, 0.0, 2.5, 9.0], [-1e6, -3.0, -2.0, 0.0, 1.0, 2.0, 5.0], stalls, speeds, peaks
    )
    for table in (random, np.array(list(combinations), np.float32)):
        expected = np.array([oracle.dc_motor_clamp(*row) for row in table.astype(np.float64)])
        wide = table.astype(np.float64)
        stall = np.where(np.isfinite(wide[:, 2]), wide[:, 2], 0.0)
        slope = stall * (1 + np.abs(wide[:, 1] / wide[:, 3]))
        terms = wide[:, 0], slope
        # beyond the range of float32 the curve is infinitely steep, in float64 only nearly so
        sane = slope < 3e38
        result = run(_call_dc_motor, table)
        assert not np.isnan(result).any()
        assert_close(result[sane], expected[sane], *(term[sane] for term in terms))
        column = [wp.array(np.ascontiguousarray(values), dtype=wp.float32, device="cpu") for values in table.T]
        every = wp.array(np.arange(len(table)), dtype=wp.uint32, device="cpu")
        out = wp.zeros(len(table), dtype=wp.float32, device="cpu")
        ClampingDCMotor(*column[2:]).modify_forces(column[0], out, None, column[1], None, every)
        np.testing.assert_array_equal(out.numpy(), result)


TABLES = [
    ([0.0], [4.0]),
    ([-1.0, 1.0], [2.0, 6.0]),
    ([0.0, 1.0, 1.0, 2.0], [10.0, 10.0, 50.0, 50.0]),
    ([1.0, 1.0], [3.0, 8.0]),
    ([-2.0, -1.0, 0.5, 0.75, 3.0], [0.0, 5.0, 1.0, 1.0, 9.0]),
]


def check_position_based(rng: np.random.Generator) -> None:
    """The component at, between and beyond every row of every table, given as lists and as a file."""
    for positions, efforts in TABLES:
        marks = np.array(positions)
        q = np.concatenate([marks, marks - 1e-3, marks + 1e-3, rng.uniform(-4, 4, 500)]).astype(np.float32)
        raw = (rng.normal(size=len(q)) * 20).astype(np.float32)
        limit = np.array([oracle.table_limit(x, positions, efforts) for x in q.astype(np.float64)])
        lines = [f"{position} , {effort}  # row" for position, effort in zip(positions, efforts, strict=True)]
        file = Path("table.txt")
        file.write_text("# position effort\n\n" + "\n".join(lines))
        for clamp in (ClampingPositionBased(None, positions, efforts), ClampingPositionBased(file)):
            clamp.finalize("cpu", len(q))
            arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in (raw, q)]
            out = wp.zeros(len(q), dtype=wp.float32, device="cpu")
            every = wp.array(np.arange(len(q)), dtype=wp.uint32, device="cpu")
            clamp.modify_forces(arrays[0], out, arrays[1], None, every, None)
            # between two rows of the same position the curve is a step; float32 may stand on its other side
            far = np.abs(q[:, None] - marks).min(axis=1) > 1e-6
            exact = np.isin(q, marks)
            expected = oracle.max_effort_clamp(raw.astype(np.float64), limit)
            assert_close(out.numpy()[far | exact], expected[far | exact], np.full((far | exact).sum(), 200.0))


TWINS: dict[type, Callable[[np.random.Generator], None]] = {
    ControllerPD: check_pd,
    ControllerPID: check_pid,
    ClampingMaxEffort: check_max_effort,
    ClampingDCMotor: check_dc_motor,
    ClampingPositionBased: check_position_based,
    Delay: check_delay,
}


@pytest.mark.parametrize("component", catalogue.components(), ids=lambda c: c.__name__)
def test_law_agrees_with_the_oracle(component: type, rng: np.random.Generator) -> None:
    """Run the twin of every catalogue entry; an entry without one fails."""
    assert component in TWINS, f"{component.__name__} has no twin in TWINS: add one."
    TWINS[component](rng)


def test_every_config_has_a_component() -> None:
    """Every config is carried out, but for networks, which are read and refused."""
    assert {law.config for law in catalogue.laws()} | {NeuralControlConfig} == set(CONFIGS)


def random_actuators(rng: np.random.Generator, robots: int) -> tuple[list[ActuatorEntry], dict[str, np.ndarray]]:
    """One to three joints per actuator with all, some or none of delay, bias and limit; and the same as `(N, A)`."""
    actuators: list[ActuatorEntry] = []
    columns: dict[str, list[np.ndarray]] = {
        name: [] for name in ("kp", "kd", "const_effort", "max_effort", "delay_steps")
    }
    for number in range(5):
        width = int(rng.integers(1, 4))
        values = {
            "kp": rng.uniform(0, 500, (robots, width)),
            "kd": rng.uniform(0, 50, (robots, width)),
            "const_effort": rng.normal(size=(robots, width)) * (number % 2),
            "max_effort": rng.uniform(0, 300, (robots, width)) if number != 1 else np.full((robots, width), np.inf),
            "delay_steps": rng.integers(0, 6, (robots, width)) if number != 2 else np.zeros((robots, width), int),
        }
        flat = {
            name: wp.array(value.ravel(), dtype=wp.int32 if name == "delay_steps" else wp.float32, device="cpu")
            for name, value in values.items()
        }
        actuators.append(
            ActuatorEntry(
                label=f"a{number}",
                dof_names=tuple(f"j{number}_{i}" for i in range(width)),
                controller=ControllerPD(flat["kp"], flat["kd"], flat["const_effort"] if number % 2 else None),
                clamping=[] if number == 1 else [ClampingMaxEffort(flat["max_effort"])],
                delay=None if number == 2 else Delay(flat["delay_steps"], 6),
            )
        )
        for name, column in columns.items():
            column.append(values[name].astype(np.int64 if name == "delay_steps" else np.float32))
    return actuators, {name: np.concatenate(column, axis=1) for name, column in columns.items()}


@pytest.mark.parametrize("robots", [1, 2, 7])
def test_plan_agrees_with_the_oracle(robots: int, rng: np.random.Generator) -> None:
    """Step a mixed plan on permuted columns of wider arrays, with resets in between."""
    actuators, parameters = random_actuators(rng, robots)
    slots = parameters["kp"].shape[1]
    width = slots + 4
    columns = rng.permutation(width)[:slots]
    reference = oracle.Pipeline(**{k: v.astype(np.float64) for k, v in parameters.items()})
    engine = Engine(actuators, robots, "cpu")
    arrays = [np.zeros((robots, width), np.float32) for _ in range(5)]
    efforts = np.full((robots, width), 777.0, np.float32)
    engine.bind(columns, arrays, efforts)
    others = np.setdiff1d(np.arange(width), columns)
    for step in range(40):
        for array in arrays:
            array[:] = rng.normal(size=array.shape)
        if step in (11, 12, 25):
            picked = np.flatnonzero(rng.random(robots) < 0.5)
            engine.reset(picked)
            mask = np.zeros((robots, slots), bool)
            mask[picked] = True
            reference.reset(mask.ravel())
        engine.step(0.01)
        expected = reference.step(*(array[:, columns] for array in arrays))
        terms = parameters["kp"] * 8, parameters["kd"] * 8
        assert_close(efforts[:, columns], expected, *terms)
        assert (efforts[:, others] == 777.0).all()


def random_joint(rng: np.random.Generator, robots: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Arguments of one component set, and of one oracle joint per robot: PD or PID, up to three clamps in any order."""
    per_robot = lambda low, high: rng.uniform(low, high, robots).astype(np.float32)  # noqa: E731
    values: dict[str, Any] = {"kp": per_robot(0, 500), "kd": per_robot(0, 50), "const_effort": per_robot(-5, 5)}
    if rng.random() < 0.5:
        values |= {"ki": per_robot(0, 300), "integral_max": per_robot(0, 0.2)}
    clamps = []
    for kind in rng.permutation(["max", "dc", "table", "max"])[: rng.integers(0, 5)]:
        if kind == "max":
            clamps.append(("max", per_robot(0, 300)))
        elif kind == "dc":
            clamps.append(("dc", per_robot(0, 300), per_robot(0.5, 3), per_robot(0, 300)))
        else:
            positions, efforts = TABLES[rng.integers(len(TABLES))]
            clamps.append(("table", positions, efforts))
    joints = [
        {name: float(value[robot]) for name, value in values.items()}
        | {"clamps": [(k, *(v if k == "table" else [float(x[robot]) for x in v])) for k, *v in clamps]}
        for robot in range(robots)
    ]
    return {**values, "clamps": clamps}, joints


def components_of(values: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The controller and the clamps of `random_joint`."""
    arrays = {n: wp.array(v, dtype=wp.float32, device="cpu") for n, v in values.items() if n != "clamps"}
    controller = (ControllerPID if "ki" in arrays else ControllerPD)(**arrays)
    clamps: list[Any] = []
    for kind, *numbers in values["clamps"]:
        if kind == "table":
            clamps.append(ClampingPositionBased(None, *numbers))
        else:
            rows = [wp.array(row, dtype=wp.float32, device="cpu") for row in numbers]
            clamps.append((ClampingMaxEffort if kind == "max" else ClampingDCMotor)(*rows))
    return controller, clamps


@pytest.mark.usefixtures("engine_kind")
@pytest.mark.parametrize("seed", range(6))
def test_plan_of_all_laws_agrees_with_the_oracle(seed: int) -> None:
    """Twelve joints, three robots, every law, clamps in any order and number, delays, partial resets."""
    rng = np.random.default_rng(seed)
    robots, slots, dt = 3, 12, 0.01
    actuators, joints = [], []
    for slot in range(slots):
        values, twins = random_joint(rng, robots)
        lags = rng.integers(0, 4, robots)
        delay = Delay(wp.array(lags, dtype=wp.int32, device="cpu"), 4) if slot % 2 else None
        actuators.append(ActuatorEntry(f"a{slot}", (f"j{slot}",), *components_of(values), delay))
        joints.append(
            [oracle.Joint(**t, delay_steps=int(g) if slot % 2 else 0) for t, g in zip(twins, lags, strict=True)]
        )
    engine = Engine(actuators, robots, "cpu")
    arrays = [np.zeros((robots, slots), np.float32) for _ in range(5)]
    efforts = np.zeros((robots, slots), np.float32)
    engine.bind(range(slots), arrays, efforts)
    for step in range(60):
        for array in arrays:
            array[:] = rng.normal(size=array.shape)
        if step in (17, 40):
            engine.reset([1])
            for column in joints:
                column[1].reset()
        engine.step(dt)
        expected = np.array(
            [[joints[s][r].step(*(a[r, s] for a in arrays), dt) for s in range(slots)] for r in range(robots)]
        )
        # the largest summand bounds the rounding: kp·|e| with kp below 500
        assert_close(efforts, expected, np.full_like(expected, 4000.0))
    assert engine.faults() == []


@pytest.mark.usefixtures("engine_kind")
def test_limit_holds_whatever_stands_before_it(rng: np.random.Generator) -> None:
    """With the plain limit last, as prims are put in order, no effort exceeds it."""
    robots, slots = 2, 40
    actuators, limits = [], np.zeros((robots, slots))
    for slot in range(slots):
        values, _ = random_joint(rng, robots)
        limits[:, slot] = last = rng.uniform(0, 50, robots).astype(np.float32)
        values["clamps"].append(("max", last))
        actuators.append(ActuatorEntry(f"a{slot}", (f"j{slot}",), *components_of(values), None))
    engine = Engine(actuators, robots, "cpu")
    arrays = [np.zeros((robots, slots), np.float32) for _ in range(5)]
    efforts = np.zeros((robots, slots), np.float32)
    engine.bind(range(slots), arrays, efforts)
    for _ in range(50):
        for array in arrays:
            array[:] = rng.normal(size=array.shape) * 10.0 ** rng.integers(-2, 5)
        engine.step(0.01)
        assert (np.abs(efforts) <= limits).all()


@pytest.mark.usefixtures("engine_kind")
def test_neutral_values_agree_with_an_absent_stage(rng: np.random.Generator) -> None:
    """A limit of inf, a bias of 0 and a delay of 0 change no bit."""
    kp, kd = (wp.array(rng.uniform(1, 9, 3), dtype=wp.float32, device="cpu") for _ in range(2))
    bare = ActuatorEntry("bare", ("j",), ControllerPD(kp, kd), [], None)
    neutral = ActuatorEntry(
        "neutral",
        ("j",),
        ControllerPD(kp, kd, wp.zeros(3, dtype=wp.float32, device="cpu")),
        [ClampingMaxEffort(wp.full(3, np.inf, dtype=wp.float32, device="cpu"))],
        Delay(wp.zeros(3, dtype=wp.int32, device="cpu"), 0),
    )
    inputs = [rng.normal(size=(3, 1)).astype(np.float32) for _ in range(5)]
    results = []
    for actuator in (bare, neutral):
        engine = Engine([actuator], 3, "cpu")
        efforts = np.zeros((3, 1), np.float32)
        engine.bind([0], inputs, efforts)
        engine.step(0.01)
        results.append(efforts)
    np.testing.assert_array_equal(*results)


def test_twin_check_can_fail(rng: np.random.Generator) -> None:
    """A gain that is off by one part in a thousand is noticed."""
    table = random_table(rng, 8, 3)
    wide = table.astype(np.float64)
    q, qd, q_target, qd_target, ff, kp, kd, const = wide.T
    expected = oracle.pd_effort(q, qd, q_target, qd_target, ff, kp * 1.001, kd, const)
    with pytest.raises(AssertionError):
        assert_close(run(_call_pd, table), expected, *pd_terms(wide))


def test_config_fields_are_component_parameters() -> None:
    """A component takes what its config holds, under the same names."""
    fields = tuple(field.name for field in dataclasses.fields(PDControlConfig))
    assert fields == ControllerPD.PARAMETERS
