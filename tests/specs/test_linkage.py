"""Shafts of linkages: what is refused, and linkages of known geometry."""

import math

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.linkage import LinkageConfig
from refusals import cases, refused

ANKLE = {"crank": 0.05, "rod": 0.3, "anchor": (-0.05, 0.04, -0.02), "motor": (0.0, 0.04, 0.28)}
PLANE = {"lower": [-1.0], "upper": [1.0], "rows": 2, "angles": [0.0, 1.0], "slopes": [0.5, 0.5]}


@cases(
    "values, words",
    ({"joints": []}, "joints has none: must be one to 8 names"),
    ({"joints": ["a", "a"], "coefficients": [1.0, 1.0]}, "each once"),
    ({"joints": [*"abcdefghi"], "coefficients": [1.0] * 9}, "must be one to 8 names"),
    ({"joints": [1], "coefficients": [1.0]}, r"joints = \[1\]: must be a list of names"),
    ({"joints": ["a"]}, "coefficients must be given, or a table"),
    ({"joints": ["a"], "coefficients": [1.0], **PLANE}, "and not both"),
    ({"joints": ["a", "b"], "coefficients": [1.0]}, "coefficients has 1 values: must be 2"),
    ({"joints": ["a"], "coefficients": [math.nan]}, "coefficients = "),
    ({"joints": ["a", "b", "c"], **PLANE}, "must be one or two with a table"),
    ({"joints": ["a"], **PLANE, "lower": [1.0]}, "must be below upper"),
    ({"joints": ["a"], **PLANE, "upper": []}, "upper has 0 values: must be 1"),
    ({"joints": ["a"], **PLANE, "rows": 3}, "rows = 3 with 2 angles: must be at least 2 positions"),
    ({"joints": ["a"], **PLANE, "slopes": [0.5]}, "slopes has 1 values: must be 2"),
    ({"joints": ["a", "b"], **PLANE, "lower": [0.0] * 2, "upper": [1.0] * 2}, "rows = 2 with 2 angles"),
)
def test_what_does_not_fit_is_refused(values, words) -> None:
    refused(ValueError, lambda: LinkageConfig(**values), words)


def test_one_name_may_be_given_alone() -> None:
    assert LinkageConfig("knee", [2.0]).joints == ["knee"]


def test_differential_turns_joints_alike_and_against_each_other() -> None:
    first, second = LinkageConfig.differential("pitch", "roll", 3.0)
    assert (first.joints, second.joints) == (["pitch", "roll"], ["pitch", "roll"])
    assert (first.coefficients, second.coefficients) == ([3.0, 3.0], [3.0, -3.0])


def test_table_has_angles_and_slopes_of_the_function() -> None:
    made = LinkageConfig.table(["a", "b"], lambda a, b: math.sin(a) * b + a * b * b, [-1, -0.5], [1, 1.5], nodes=5)
    a, b = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-0.5, 1.5, 5), indexing="ij")
    assert made.counts == (5, 5) and made.is_table
    np.testing.assert_allclose(made.angles, (np.sin(a) * b + a * b * b).ravel(), atol=1e-12)
    by_first, by_second = np.reshape(made.slopes, (2, -1))
    np.testing.assert_allclose(by_first, (np.cos(a) * b + b * b).ravel(), atol=1e-9)
    np.testing.assert_allclose(by_second, (np.sin(a) + 2 * a * b).ravel(), atol=1e-9)


def test_equal_links_make_a_parallelogram() -> None:
    made = LinkageConfig.four_bar("knee", 0.06, 0.3, 0.06, 0.3, 0.2, 2.8, nodes=9)
    np.testing.assert_allclose(made.angles, np.linspace(0.2, 2.8, 9), atol=1e-12)
    np.testing.assert_allclose(made.slopes, 1.0, atol=1e-8)


def test_four_bar_closes() -> None:
    crank, rod, rocker, base = 0.05, 0.2, 0.06, 0.2
    made = LinkageConfig.four_bar("knee", crank, rod, rocker, base, 0.8, 2.4, nodes=33)
    q, shaft = np.linspace(0.8, 2.4, 33), np.array(made.angles)
    ends = base + rocker * np.cos(q) - crank * np.cos(shaft), rocker * np.sin(q) - crank * np.sin(shaft)
    np.testing.assert_allclose(np.hypot(*ends), rod, atol=1e-12)


def test_ankle_closes_on_both_sides() -> None:
    shafts = LinkageConfig.parallel_ankle("pitch", "roll", **ANKLE, lower=(-0.5, -0.3), upper=(0.5, 0.3), nodes=9)
    for side, shaft in zip((1, -1), shafts, strict=True):
        angles = np.reshape(shaft.angles, (9, 9))
        for at, p in enumerate(np.linspace(-0.5, 0.5, 9)):
            for and_at, r in enumerate(np.linspace(-0.3, 0.3, 9)):
                pitch = np.array([[np.cos(p), 0, np.sin(p)], [0, 1, 0], [-np.sin(p), 0, np.cos(p)]])
                roll = np.array([[1, 0, 0], [0, np.cos(r), -np.sin(r)], [0, np.sin(r), np.cos(r)]])
                held = pitch @ roll @ (np.array(ANKLE["anchor"]) * [1, side, 1])
                turn = angles[at, and_at]
                end = np.array(ANKLE["motor"]) * [1, side, 1] + ANKLE["crank"] * np.array(
                    [-np.cos(turn), 0, np.sin(turn)]
                )
                assert np.linalg.norm(end - held) == pytest.approx(ANKLE["rod"], abs=1e-12)
    # upright the rods hang straight, and roll turns the cranks against each other
    assert np.reshape(shafts[0].angles, (9, 9))[4, 4] == pytest.approx(0, abs=1e-12)
    left, right = (np.reshape(one.slopes, (2, 9, 9))[:, 4, 4] for one in shafts)
    np.testing.assert_allclose([*left, *right], [1, 0.8, 1, -0.8], atol=1e-8)


def test_position_out_of_reach_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shaft\(0\.5,\) = nan: must be finite. The linkage does not reach"):
        LinkageConfig.four_bar("knee", 0.05, 0.2, 0.06, 0.2, 0.5, 2.5)


@cases(
    "joints, lower, nodes, words",
    (["a"], [0.0], 1, r"nodes = 1, lower = \[0\.0\], upper = \[1\.0\] of joints a: must be at least 2 nodes"),
    (["a", "b"], [0.0], 9, "and a first and a last position of each joint"),
)
def test_table_has_nodes_over_each_joint(joints, lower, nodes, words) -> None:
    with pytest.raises(ValueError, match=words):
        LinkageConfig.table(joints, lambda *_: 0.0, lower, [1.0], nodes)


def test_tendons_screws_and_cables() -> None:
    """Lengths are sums of radii times positions; a screw moves two fingers by half of its way each."""
    cable = LinkageConfig.underactuated_finger({"MCP": 0.012, "PIP": 0.009})
    assert (cable.joints, cable.coefficients, cable.unilateral) == (["MCP", "PIP"], [0.012, 0.009], True)
    tendon = LinkageConfig.tendon({"FFJ2": 1.0, "FFJ1": 0.8}, offset=0.1)
    assert (tendon.joints, tendon.coefficients, tendon.offset, tendon.unilateral) == (
        ["FFJ2", "FFJ1"],
        [1.0, 0.8],
        0.1,
        False,
    )
    screw = LinkageConfig.screw_gripper(0.002, "left", "right")
    assert 0.002 * screw.coefficients[0] + 0.002 * screw.coefficients[1] == pytest.approx(2.0 * np.pi)
    with pytest.raises(ValueError, match=r"lead = 0\.0: must be a finite way per turn"):
        LinkageConfig.screw_gripper(0.0, "left", "right")
