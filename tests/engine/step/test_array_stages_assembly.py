"""Array stages in an assembly: the efforts do not depend on which stages compute arrays.

Each class here computes the law of its built-in base class in an overridden method.
"""

import itertools

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from own_components import OwnController, OwnDelay, OwnLimit, OwnMotor

pytestmark = pytest.mark.usefixtures("engine_kind")
ROBOTS, STEPS, DT = 3, 30, 0.01


def full(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(ROBOTS, value, dtype=dtype, device="cpu")


def engine_with(own: tuple[bool, ...]) -> Assembly:
    """A knee with delay, PID, motor and limit, those named computed by methods, between two joints of another kind."""
    delay, controller, motor, limit = (
        mine if yes else known
        for yes, known, mine in zip(
            own,
            (aa.Delay, aa.ControllerPID, aa.ClampingDCMotor, aa.ClampingMaxEffort),
            (OwnDelay, OwnController, OwnMotor, OwnLimit),
            strict=True,
        )
    )
    steps = wp.array([0, 1, 3], dtype=wp.int32, device="cpu")
    knee = ActuatorEntry(
        "/A/knee",
        ("knee",),
        controller(full(30), full(20), full(2), full(0.05)),
        [motor(full(25), full(2), full(20)), limit(full(12))],
        delay(steps, 3),
    )
    others = [
        ActuatorEntry(f"/A/{name}", (name,), aa.ControllerPD(full(5), full(1)), [], None) for name in ("hip", "toe")
    ]
    return Assembly([others[0], knee, others[1]], ROBOTS, "cpu")


def run(engine: Assembly, faults: bool) -> tuple[np.ndarray, list]:
    """Efforts of random steps with resets and, on request, inputs that are not finite; and what was recorded."""
    rng = np.random.default_rng(7)
    inputs, efforts = [np.zeros((ROBOTS, 3), np.float32) for _ in range(5)], np.zeros((ROBOTS, 3), np.float32)
    engine.bind([0, 1, 2], inputs, efforts)
    engine.observe(True)
    found = []
    for step in range(STEPS):
        for array in inputs:
            array[:] = rng.normal(size=array.shape)
        if faults and step % 4 == 3:
            inputs[rng.integers(5)][rng.integers(ROBOTS), 1] = rng.choice([np.nan, np.inf, -np.inf])
        if step == 17:
            engine.reset([1])
        engine.step(DT)
        computed, _ = engine.observed()
        # before the limits, a joint with a fault has no effort to speak of
        found.append([efforts.copy(), np.where(efforts == 0, 0, computed)])
    return np.array(found), engine.faults()


@pytest.mark.parametrize("faults", [False, True])
@pytest.mark.parametrize("own", list(itertools.product([False, True], repeat=4)), ids=str)
@pytest.mark.slow("warp")
def test_efforts_do_not_depend_on_what_computes_them(own, faults) -> None:
    """Delay, law and limits give the same as arrays, between the phases, as in the plan: faults and telemetry too."""
    found, records = run(engine_with(own), faults)
    expected, expected_records = run(engine_with((False,) * 4), faults)
    if not (faults and own[0]):
        # a delay of one's own sees the last good target where a target is bad, hence in the ring's place of it
        np.testing.assert_allclose(found, expected, atol=2e-5, rtol=0)
    np.testing.assert_array_equal(found[:, 0, :, [0, 2]], expected[:, 0, :, [0, 2]])
    assert records == expected_records


def test_custom_components_are_told_among_what_limits() -> None:
    """The class of the last clamp between the phases, unless a later one limited further."""
    engine = engine_with((False, False, True, False))
    run(engine, faults=False)
    seen: set[str] = set()
    rng = np.random.default_rng(3)
    inputs, efforts = [np.zeros((ROBOTS, 3), np.float32) for _ in range(5)], np.zeros((ROBOTS, 3), np.float32)
    engine.bind([0, 1, 2], inputs, efforts)
    for _ in range(STEPS):
        for array in inputs:
            array[:] = rng.normal(size=array.shape)
        engine.step(DT)
        seen |= set(engine.observed()[1][:, 1])
    assert seen == {"", "OwnMotor", "ClampingMaxEffort"}


def test_saved_state_of_both_sides_resumes_bit_for_bit() -> None:
    """Ring of the plan and integral of the user's controller."""
    first, second = engine_with((False, True, False, True)), engine_with((False, True, False, True))
    run(first, faults=False)
    inputs, efforts = [np.ones((ROBOTS, 3), np.float32) for _ in range(5)], np.zeros((ROBOTS, 3), np.float32)
    saved, results = first.save(), []
    for engine in (first, second):
        engine.bind([0, 1, 2], inputs, efforts)
        engine.restore(saved)
        for _ in range(5):
            engine.step(DT)
        results.append(efforts.copy())
    np.testing.assert_array_equal(*results)


def test_an_error_between_the_phases_leaves_all_state_as_it_was(monkeypatch) -> None:
    """Delay and integral of the plan too, also in the first step and in one after a reset."""
    engine = engine_with((False, False, True, False))
    inputs, efforts = [np.ones((ROBOTS, 3), np.float32) for _ in range(5)], np.zeros((ROBOTS, 3), np.float32)
    engine.bind([0, 1, 2], inputs, efforts)

    def fail(*_, **__) -> None:
        raise RuntimeError("the user's limit failed")

    for step in range(6):
        if step == 4:
            engine.reset([1])
        before = engine.save()
        for array in inputs:
            array[:] = np.cos(7.0 * step)
        with monkeypatch.context() as patch:
            patch.setattr(OwnMotor, "modify_forces", fail)
            with pytest.raises(RuntimeError, match="the user's limit failed"):
                engine.step(DT)
        after = engine.save()
        assert all(np.array_equal(before[name], after[name]) for name in {*before, *after})
        engine.step(DT)
