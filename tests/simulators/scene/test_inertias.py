"""Inertias that no body can have: the nearest that one can have, one warning, or a refusal."""

import itertools
import warnings

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.scene.inertias import repaired
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from refusals import cases
from small_stages import SmallStage, pendulum

TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
BOB = "/World/Robot/bob"


def nearest(moments: np.ndarray) -> np.ndarray:
    """By brute force: the closest point of a cone is on it, or on one of its faces, edges, or at its tip."""
    # a <= b + c and so on; that moments are not negative follows
    normals = np.array([[1.0, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    found = [np.zeros(3)]
    for count in (0, 1, 2):
        for some in itertools.combinations(normals, count):
            plane = np.array(some).reshape(-1, 3)
            found.append(moments - plane.T @ np.linalg.lstsq(plane @ plane.T, plane @ moments, rcond=None)[0])
    allowed = [point for point in found if (normals @ point <= 1e-9).all()]
    return min(allowed, key=lambda point: float(np.linalg.norm(point - moments)))


@pytest.mark.parametrize("moments", [(1.0, 2.0, 2.5), (1.0, 1.0, 1.999), (3.0, 3.0, 3.0), (1e-7, 1e-7, 1e-7)])
def test_what_is_right_stays(moments) -> None:
    inertia = TURN * np.array(moments) @ TURN.T
    even = (inertia + inertia.T) / 2
    new, change = repaired(even)
    assert change == 0
    np.testing.assert_array_equal(new, even)


@cases(
    "moments, closest",
    # along the normal of the plane A + B = C
    ((1.0, 2.0, 6.0), (2.0, 3.0, 5.0)),
    ((0.0, 1.0, 1.0), (1e-6, 1.0, 1.0)),
    ((-0.5, 1.0, 1.0), (1e-6, 1.0, 1.0)),
)
def test_the_nearest_is_taken(moments, closest) -> None:
    new, change = repaired(TURN * np.array(moments) @ TURN.T)
    np.testing.assert_allclose(TURN.T @ new @ TURN, np.diag(closest), atol=1e-7)
    assert change == pytest.approx(np.abs(np.subtract(moments, closest)).max() / max(np.abs(moments)), rel=1e-5)


@pytest.mark.parametrize("seed", range(100))
def test_any_matrix_becomes_an_inertia(seed) -> None:
    """Valid, and as near as brute force finds one, but for the least moment that is left to each."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(3, 3)) * 10.0 ** rng.integers(-4, 3)
    new, change = repaired(matrix)
    even = (matrix + matrix.T) / 2
    found = np.linalg.eigvalsh(new)
    assert found[0] > 0 and found[0] + found[1] >= found[2]
    moments = np.linalg.eigvalsh(even)
    expected = nearest(moments)
    largest = np.abs(moments).max()
    far = np.linalg.norm(new - even) - np.linalg.norm(expected - moments)
    assert abs(far) <= 1e-5 * largest + 3e-9, (moments, expected, found)
    assert change == pytest.approx(np.abs(found - moments).max() / largest, abs=1e-6)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), -np.eye(3)])
def test_nothing_becomes_little(matrix) -> None:
    moments = np.linalg.eigvalsh(repaired(matrix)[0])
    assert (moments > 0).all() and moments.max() < 1e-5


def impossible() -> SmallStage:
    made = pendulum()
    made.body("/World/Robot/tip", inertia=(0.1, 0.1, -0.1))
    made.joint("/World/Robot/knee", "Revolute", BOB, "/World/Robot/tip")
    made.stage.GetPrimAtPath(BOB).GetAttribute("physics:diagonalInertia").Set((1, 2, 6))
    return made


def test_one_warning_names_all_links_and_what_was_changed() -> None:
    with pytest.warns(UserWarning, match="inertias that no body can have") as caught:
        scene = read_scene(impossible().stage)
    (warning,) = caught
    assert f"nearest ones: <{BOB}> (0.17), </World/Robot/tip> (1), in brackets" in str(warning.message)
    bob = next(body for body in scene.bodies if body.path == BOB)
    np.testing.assert_allclose(bob.inertia, np.diag([2.0, 3, 5]), rtol=1e-6)


def test_strict_refuses_them() -> None:
    with pytest.raises(UnsupportedSceneError, match=rf"<{BOB}> \(0.17\).*strict_inertia=False"):
        read_scene(impossible().stage, strict_inertia=True)
    with pytest.raises(UnsupportedSceneError, match=rf"<{BOB}> \(0.17\).*strict_inertia=False"):
        Simulation(impossible().stage, strict_inertia=True)


def test_rounding_is_not_told() -> None:
    made = pendulum()
    inertia = made.stage.GetPrimAtPath(BOB).GetAttribute("physics:diagonalInertia")
    inertia.Set((0.1, 0.1, 0.2000001))
    read_scene(made.stage, strict_inertia=True)


@pytest.mark.parametrize("joint", ["Fixed", "Revolute"])
def test_inertia_of_a_link_without_mass_is_an_inertia(joint) -> None:
    made = pendulum()
    made.body("/World/Robot/tool", mass=0.0, inertia=(0.1, 0.2, 0.25))
    made.joint("/World/Robot/weld", joint, BOB, "/World/Robot/tool")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tool = next(body for body in read_scene(made.stage).bodies if body.path == "/World/Robot/tool")
    np.testing.assert_allclose(tool.inertia, np.diag([0.1, 0.2, 0.25]), rtol=1e-6)
    assert tool.mass == (0.001 if joint == "Revolute" else 0.0)
    said = "links that move and have no mass get 0.001 kg: </World/Robot/tool>"
    assert [str(warning.message).startswith(said) for warning in caught] == [True] * (joint == "Revolute")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulation(made.stage)
    with sim:
        sim.play()
        np.testing.assert_allclose(np.sort(sim.model.body("/World/Robot/tool").inertia), [0.1, 0.2, 0.25], rtol=1e-6)
