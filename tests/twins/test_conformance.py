"""Plans of all laws against the float64 oracle; the laws by themselves are in `components/`."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from closeness import assert_close
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.laws.delay import ring_row

TABLES = [
    ([0.0], [4.0]),
    ([-1.0, 1.0], [2.0, 6.0]),
    ([0.0, 1.0, 1.0, 2.0], [10.0, 10.0, 50.0, 50.0]),
    ([1.0, 1.0], [3.0, 8.0]),
    ([-2.0, -1.0, 0.5, 0.75, 3.0], [0.0, 5.0, 1.0, 1.0, 9.0]),
]


@wp.kernel
def _call_ring_row(table: wp.array2d[int], out: wp.array[int]):
    i = wp.tid()
    out[i] = ring_row(table[i, 0], table[i, 1], table[i, 2])


def test_ring_row_counts_backwards(rng) -> None:
    depth = rng.integers(1, 50, size=5000)
    table = np.stack([rng.integers(0, depth), rng.integers(0, depth), depth], axis=1).astype(np.int32)
    out = wp.zeros(len(table), dtype=wp.int32, device="cpu")
    arrays = [wp.array(table, dtype=wp.int32, device="cpu")]
    wp.launch(_call_ring_row, dim=len(table), inputs=arrays, outputs=[out], device="cpu")
    np.testing.assert_array_equal(out.numpy(), (table[:, 0] - table[:, 1]) % table[:, 2])


def random_joint(rng: np.random.Generator, robots: int) -> tuple[dict, list[dict]]:
    """Arguments of one component set, and of one oracle joint per robot: PD or PID, up to three clamps in any order."""
    per_robot = lambda low, high: rng.uniform(low, high, robots).astype(np.float32)  # noqa: E731
    values = {"kp": per_robot(0, 500), "kd": per_robot(0, 50), "const_effort": per_robot(-5, 5)}
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


def components_of(values: dict) -> tuple:
    arrays = {n: wp.array(v, dtype=wp.float32, device="cpu") for n, v in values.items() if n != "clamps"}
    controller = (aa.ControllerPID if "ki" in arrays else aa.ControllerPD)(**arrays)
    clamps = []
    for kind, *numbers in values["clamps"]:
        if kind == "table":
            clamps.append(aa.ClampingPositionBased(None, *numbers))
        else:
            rows = [wp.array(row, dtype=wp.float32, device="cpu") for row in numbers]
            clamps.append((aa.ClampingMaxEffort if kind == "max" else aa.ClampingDCMotor)(*rows))
    return controller, clamps


@pytest.mark.usefixtures("engine_kind")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow("warp")
def test_plan_of_all_laws_agrees_with_the_oracle(seed) -> None:
    rng = np.random.default_rng(seed)
    robots, slots, dt = 3, 12, 0.01
    actuators, joints = [], []
    for slot in range(slots):
        values, twins = random_joint(rng, robots)
        lags = rng.integers(0, 4, robots)
        delay = aa.Delay(wp.array(lags, dtype=wp.int32, device="cpu"), 4) if slot % 2 else None
        actuators.append(ActuatorEntry(f"a{slot}", (f"j{slot}",), *components_of(values), delay))
        joints.append(
            [oracle.Joint(**t, delay_steps=int(g) if slot % 2 else 0) for t, g in zip(twins, lags, strict=True)]
        )
    engine = Assembly(actuators, robots, "cpu")
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
def test_neutral_values_agree_with_an_absent_stage(rng) -> None:
    kp, kd = (wp.array(rng.uniform(1, 9, 3), dtype=wp.float32, device="cpu") for _ in range(2))
    bare = ActuatorEntry("bare", ("j",), aa.ControllerPD(kp, kd), [], None)
    neutral = ActuatorEntry(
        "neutral",
        ("j",),
        aa.ControllerPD(kp, kd, wp.zeros(3, dtype=wp.float32, device="cpu")),
        [aa.ClampingMaxEffort(wp.full(3, np.inf, dtype=wp.float32, device="cpu"))],
        aa.Delay(wp.zeros(3, dtype=wp.int32, device="cpu"), 0),
    )
    inputs = [rng.normal(size=(3, 1)).astype(np.float32) for _ in range(5)]
    results = []
    for actuator in (bare, neutral):
        engine = Assembly([actuator], 3, "cpu")
        efforts = np.zeros((3, 1), np.float32)
        engine.bind([0], inputs, efforts)
        engine.step(0.01)
        results.append(efforts)
    np.testing.assert_array_equal(*results)
