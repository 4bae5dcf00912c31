"""Curves of many rows, whose rows are found, beside those whose rows are all passed one by one."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.contract.curve import prepare_curve
from isaacsim.core.experimental.actuators.specs.configs import PDControlConfig, PositionBasedClampingConfig

pytestmark = pytest.mark.skipif(native.core is None, reason="needs the compiled core")
# positions of tables, and how they lie in a grid of equal cells
TABLES = {
    "even": np.linspace(-3.0, 3.0, 1000),
    "longest that is passed": np.linspace(-3.0, 3.0, 23),
    "shortest that is found": np.linspace(-3.0, 3.0, 24),
    "by powers": np.geomspace(1e-6, 10.0, 100),
    "steps": np.repeat(np.linspace(-1.0, 1.0, 40), 3),
    "all at one position": np.full(50, 0.25),
    "two heaps": np.concatenate([np.linspace(-1e3, -1e3 + 1e-2, 300), np.linspace(5.0, 5.1, 300)]),
    "too wide for single precision": np.concatenate([[-3e38], np.linspace(-1.0, 1.0, 60), [3e38]]),
    "too narrow": np.linspace(0.0, 1e-40, 30),
}
VARIANTS = native.core.variants() if native.core is not None else []


def efforts(points: np.ndarray, limits: np.ndarray, q: np.ndarray, robots: int) -> np.ndarray:
    table = PositionBasedClampingConfig(points.tolist(), limits.tolist())
    given = {".*": [PDControlConfig(kp=0.0, kd=0.0, const_effort=1e30), table]}
    arrays = ActuatedArrays(["hip", "knee", "foot"], given, num_robots=robots)
    rest = np.zeros_like(q)
    return arrays.step(q, rest, rest, 0.01).copy()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", TABLES)
def test_rows_that_are_found_are_those_that_are_passed(name, variant, rng, monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_ISA", variant)
    points = TABLES[name].astype(np.float32)
    limits = rng.uniform(1, 9, len(points)).astype(np.float32)
    beside = [np.nextafter(points, np.float32(side)) for side in (-np.inf, np.inf)]
    between = rng.choice(points, 500) + rng.normal(scale=[[1e-3], [1.0], [1e4]], size=(3, 500))
    q = np.concatenate([points, *beside, *between, [0.0, -0.0]]).astype(np.float32)
    q = np.resize(q, (-(-len(q) // 3), 3))
    expected = native.core.curve(prepare_curve(points, limits), q.ravel()).reshape(q.shape)
    found = efforts(points, limits, q, len(q))
    usual = np.isfinite(expected) & (expected >= 0)
    assert usual.mean() > 0.9
    np.testing.assert_array_equal(found[usual].view(np.int32), expected[usual].view(np.int32))


@pytest.mark.parametrize("variant", VARIANTS)
def test_positions_that_are_not_finite_give_no_effort(variant, monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_ISA", variant)
    q = np.array([[np.nan, np.inf, -np.inf], [0.5, 0.5, 0.5]], np.float32)
    found = efforts(np.linspace(0.0, 1.0, 101), np.linspace(0.0, 10.0, 101), q, 2)
    np.testing.assert_allclose(found, [[0, 0, 0], [5, 5, 5]], rtol=1e-6)
