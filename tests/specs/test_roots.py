"""Paths of robots match segment by segment."""

import pytest
from calls import calls
from isaacsim.core.experimental.actuators.simulators.port import require_same_joints
from isaacsim.core.experimental.actuators.specs.roots import Roots, match_roots
from refusals import cases, refused

ROOTS = ["/World/A", "/World/B/base", "/World/B/tail", "/World/envs/env_0/C", "/World/envs/env_1/C"]


@cases(
    "pattern, path, matched",
    ("/World/A", "/World/A", True),
    ("/World/A/", "/World/A", True),
    ("World/A", "/World/A", True),
    ("/World/A", "/World/AB", False),
    ("/World/B", "/World/AB", False),
    ("/World/A.*", "/World/AB", True),
    ("/World/.*", "/World", False),
    ("/World/.*/.*", "/World/A/base", True),
    ("/.*/base", "/World/base", True),
    ("/.*/base", "/World/A/base", False),
    ("/World/(A|B)", "/World/B", True),
    ("/World/(A|B)", "/World/C", False),
    ("/World/env_[0-9]+/R", "/World/env_12/R", True),
    ("/World/env_[0-9]+/R", "/World/env_x/R", False),
    ("/world/a", "/World/A", False),
    ("/World/グリッパー", "/World/グリッパー", True),
    ("/World/Gelenk_ü", "/World/Gelenk_u", False),
    ("/World/Gelenk_.", "/World/Gelenk_ü", True),
)
def test_pattern_matches_segment_by_segment(pattern, path, matched):
    assert Roots([path]).find(pattern) == ([0] if matched else [])


@cases(
    "patterns, picked",
    ("/World/A", [0]),
    ("/World/B/base", [1]),
    ("/World/B", [1, 2]),
    ("/World/B/.*", [1, 2]),
    ("/World", [0, 1, 2, 3, 4]),
    ("/", [0, 1, 2, 3, 4]),
    ("/World/.*", [0, 1, 2, 3, 4]),
    ("/World/envs/.*/C", [3, 4]),
    ("/World/envs/env_.*", [3, 4]),
    ("/World/envs", [3, 4]),
    ("/World/envs/env_1/C", [4]),
    (["/World/B", "/World/A"], [1, 2, 0]),
    (["/World/A", "/World/(A|B)"], [0, 1, 2]),
    (("/World/A", "/World/A"), [0]),
    ids=str,
)
def test_pattern_picks_every_root_below(patterns, picked):
    assert match_roots(patterns, ROOTS) == picked


@cases("pattern", "/World/X", "/World/A/base", "/World/a", "World/.*/.*/.*/.*", "", "/World/A/.*", "/World/envs/.*/D")
def test_no_match_lists_what_exists(pattern):
    text = refused(ValueError, lambda: match_roots(pattern, ROOTS))
    assert repr(pattern) in text and str(ROOTS) in text


@pytest.mark.parametrize(
    ("pattern", "picked"),
    [("/World", [0, 2]), ("/World/Arm", [0]), ("/World/Arm/hand", [1]), ("/World/Arm/.*", [1]), ("/World/.*", [0, 2])],
)
def test_root_inside_another_is_not_counted_again(pattern, picked):
    assert match_roots(pattern, ["/World/Arm", "/World/Arm/hand", "/World/Base"]) == picked


def test_robots_that_differ_are_told_apart():
    paths = [f"/World/Robot_{i}" for i in range(7)]
    assert refused(ValueError, lambda: require_same_joints(paths, [["hip"], *[["hip", "knee"]] * 6])) == (
        "</World/Robot_1> has joints ['hip', 'knee'], </World/Robot_0> has ['hip']: robots of one articulation must "
        "have the same. Select them apart: '/World/Robot_0'; '/World/Robot_1', '/World/Robot_2', '/World/Robot_3', "
        "'/World/Robot_4' and 2 more."
    )


@pytest.mark.parametrize("paths", [[], ["/A"], ["/A", "/B"]])
def test_robots_that_are_alike_pass(paths):
    require_same_joints(paths, [["hip"]] * len(paths))


@pytest.mark.parametrize("segment", ["env_{}", "env_{}.{{0}}"], ids=["names", "expressions"])
def test_a_list_of_paths_costs_as_much_as_it_is_long(segment):
    """Looking four times as many robots up takes four times the calls, where each path has a place of its own."""

    def look_up(count: int) -> None:
        patterns = [f"/World/group_{i}/{segment.format(i)}/Arm" for i in range(count)]
        roots = [f"/World/group_{i}/env_{i}/Arm" for i in range(count)]
        assert match_roots(patterns, roots) == list(range(count))

    look_up(256)
    assert calls(look_up, 256) < 5 * calls(look_up, 64)


def test_no_match_says_what_to_give():
    with pytest.raises(ValueError, match="Give the path of a prim with PhysicsArticulationRootAPI, or of one above it"):
        match_roots("/World/X", ROOTS)


def test_no_match_on_an_empty_stage_says_so():
    with pytest.raises(ValueError, match=r"'/World/A' matches none of the articulations here: there are none"):
        match_roots("/World/A", [])


def test_no_match_names_payloads_that_are_not_loaded():
    words = r"expression\. The payload of </World/X> is not loaded: `stage\.Load\('/World/X'\)`\.$"
    refused(ValueError, lambda: match_roots("/World/X", ROOTS, ["/World/X"]), words)
    with pytest.raises(ValueError, match=r"Load\('/D'\)`\. Nor are 2 more\.$"):
        match_roots("/World/X", ROOTS, ["/A", "/B", "/C", "/D", "/E", "/F"])


def test_one_of_several_patterns_without_a_match_is_reported():
    refused(ValueError, lambda: match_roots(["/World/A", "/World/X"], ROOTS), "'/World/X'")


@pytest.mark.parametrize("segment", ["[", "(", "*", "a{2,1}", "(?P<n", "a{99999999999999999999}"])
def test_bad_expression_is_named(segment):
    text = refused(ValueError, lambda: match_roots(f"/World/{segment}", ROOTS))
    words = (repr(f"/World/{segment}"), f"segment {segment!r} must be a regular expression", "Correct it")
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("segment", ["((((.*)*)*)*)*Q", "(a+)+", "(a|a)*Q", ".*.*.*.*Q"])
def test_expression_that_takes_years_is_refused(segment) -> None:
    with pytest.raises(ValueError, match="can take years to try") as caught:
        match_roots(f"/World/{segment}", ["/World/" + "a" * 60])
    assert repr(f"/World/{segment}") in str(caught.value)


def test_expression_that_takes_years_on_a_long_name_is_refused() -> None:
    assert Roots(["/World/aaa"]).find("/World/.*.*Q") == []
    refused(ValueError, lambda: Roots(["/World/" + "a" * 10_000]).find("/World/.*.*Q"), "can take years to try")


@cases("path", "/World" * 2000, "/World/" + "(" * 9000, "/" + "a" * 20_000, "/World/" + "(" * 2000 + ")" * 2000)
def test_path_that_is_too_long_or_deep_is_one_short_error(path) -> None:
    text = refused(ValueError, lambda: match_roots(path, ROOTS), r"^articulation path '/")
    assert len(text) < 1000 and "must" in text


def test_path_of_many_alternatives_is_taken() -> None:
    many = "|".join(f"env_{number}" for number in range(300))
    assert match_roots(f"/World/envs/({many})/C", ROOTS) == [3, 4]


def test_no_pattern_is_refused() -> None:
    refused(ValueError, lambda: match_roots([], ["/Robot"]), "empty")
