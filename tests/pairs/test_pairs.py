"""Right in company: a joint, a robot and an engine give what they give alone.

`./python.sh -m tests.pairs` counts all comparisons; each test is a part of them. In `tests/support`, `pair_joints.py`
derives the joints from the tables of laws and kinds, `pair_worlds.py` steps them, `pair_checks.py` has the relations,
`pair_oracle.py` the formulas in float64, one after the other, and `pair_covering.py` finds few plans for all pairs.
"""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pair_checks
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.configs import ForeignConfig
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS, kind_of
from made_up_kinds import MADE_UP, add_to_table, made_up_law
from pair_checks import Baselines, Tally, compare, usable_joints
from pair_covering import combinations_of_three, pairs_in_groups
from pair_joints import MODES, all_joints, choices, joints_of_three
from pair_worlds import Actuators, Arrays, Wrapper, engine

if native.core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
PARTS = 10
each_part = pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.spread(part)) for part in range(PARTS)]
)
each_three = pytest.mark.parametrize(
    # other parts of CI than those that have the groups and rows of such joints
    "part",
    [pytest.param(part, marks=pytest.mark.spread(3 + part % 2)) for part in range(pair_checks.THREES)],
)


@pytest.fixture(autouse=True)
def _native() -> Iterator[None]:
    """Joints are stepped by the core, unless a relation asks for Warp."""
    with engine("native"):
        yield


def require_none(*tallies: Tally) -> None:
    assert all(tally.ran for tally in tallies)
    assert not any(tally.differ for tally in tallies), "\n".join(map(str, tallies))


def test_every_law_and_kind_is_in() -> None:
    stages = [one for joint in all_joints() for axis in joint.axes for one in axis]
    missing = [
        law.config.__name__
        for law in catalogue.LAWS
        if law.config is not ForeignConfig and law.kind != "effort_mode"
        if not any(isinstance(one, law.config) for one in stages)
    ]
    missing += [kind for kind in KINDS if kind != "effort_mode" and kind not in map(kind_of, stages)]
    assert not missing, f"in no joint of tests/support/pair_joints.py: {missing}"
    assert {*choices()} == {*KINDS}
    for law in catalogue.LAWS:
        for name, field in parameters_of(law.config).items():
            mine = {getattr(one, name) for one in stages if isinstance(one, law.config) and field.choices}
            assert mine >= {*field.choices} or law.kind == "effort_mode", f"{law.config.__name__}.{name}: {mine}"


@pytest.mark.slow
@pytest.mark.spread(3)
def test_joints_are_in_every_mode_that_they_can_have() -> None:
    joints = usable_joints()
    for law in catalogue.LAWS:
        mine = [joint for joint in joints if any(isinstance(one, law.config) for axis in joint.axes for one in axis)]
        modes = {joint.mode for joint in mine} - {MODES[0]}
        is_explicit = law.by_network or law.kind in ("rate", "effort_delay") or not law.kind
        is_explicit = is_explicit or KINDS[law.kind].converts or KINDS[law.kind].coordinates == "shaft"
        assert modes == (set() if is_explicit else {*MODES[1:]}), law.config.__name__


@pytest.mark.slow
@pytest.mark.spread(3)
def test_kind_that_no_file_knows_is_in(monkeypatch) -> None:
    add_to_table(monkeypatch, MADE_UP, made_up_law(MADE_UP))
    every = all_joints.__wrapped__()
    names = {joint.name for joint in every}
    assert {"ResistanceWindage", "ResistanceWindage alone", "ResistanceWindage geared"} <= names
    assert "ResistanceWindage" in choices.__wrapped__()[MADE_UP.name]
    tally = Tally("made up")
    (made_up,) = (joint for joint in every if joint.name == "ResistanceWindage")
    (other,) = (joint for joint in every if joint.name == "PDControl")
    with engine("warp"):
        # the core that was built does not know it
        compare([made_up, other], Baselines(), tally)
    assert tally.ran == 2 and not tally.differ


def test_what_leaks_is_found() -> None:
    class Leaky(Arrays):
        def __init__(self, joints: Sequence, robots: int) -> None:
            super().__init__(joints, robots)
            self.leaks = len(joints) > 1 or robots == 1

        def step(self, inputs: np.ndarray, dt: float) -> np.ndarray:
            efforts = super().step(inputs, dt)
            return np.nextafter(efforts, np.float32(np.inf)) if self.leaks else efforts

    joints = [joint for joint in all_joints() if joint.name in ("PDControl", "PIDControl")]
    tally = Tally("(a)")
    compare(joints, Baselines(binding=Leaky), tally)
    assert len(tally.differ) == 2 and len(pair_checks.by_rows([joints[:1]], binding=Leaky).differ) == 1
    record = Baselines().of(joints[0])
    assert not record.differs_from(dataclasses.replace(record, efforts=record.efforts.copy()))
    assert record.differs_from(dataclasses.replace(record, efforts=-record.efforts))


def test_covering_arrays_cover() -> None:
    found = pairs_in_groups(30, 7)
    assert len({(one, two) for group in found for one in group for two in group}) == 900 and len(found) < 40
    factors = [[f"{name}{choice}" for choice in range(3)] for name in "abcde"]
    rows, impossible = combinations_of_three(factors, lambda row: not {"a1", "b1"} <= {*row})
    threes = {(row[i], row[j], row[k]) for row in rows for i in range(5) for j in range(i) for k in range(j)}
    assert len(threes) + len(impossible) == 10 * 27
    assert all({"a1", "b1"} <= {*three} for three in impossible) and len(impossible) == 9


@pytest.mark.slow
@each_part
def test_joint_has_the_bits_that_it_has_alone_beside_each_other(part) -> None:
    require_none(pair_checks.by_pairs(part, PARTS))


@pytest.mark.slow
@pytest.mark.spread(0)
def test_joint_has_the_bits_that_it_has_alone_in_a_group() -> None:
    joints = usable_joints()
    alone = [joint for joint in joints if not joint.is_linkage]
    require_none(
        pair_checks.by_groups(joints),
        pair_checks.by_groups(joints, Wrapper, count=3),
        pair_checks.by_groups(alone, Actuators, count=3),
    )


@pytest.mark.slow
@pytest.mark.spread(1)
@pytest.mark.parametrize("robots", [5, 37])
def test_robot_does_not_notice_others(robots) -> None:
    joints, others = usable_joints(), usable_joints(1)
    plans = [*([joint] for joint in joints), *pair_checks.groups(joints, 20, robots)]
    require_none(pair_checks.by_rows(plans, others, robots=robots))


@pytest.mark.slow
@pytest.mark.spread(2)
def test_public_classes_step_alike() -> None:
    require_none(pair_checks.by_bindings(), pair_checks.by_rows([[one] for one in usable_joints()], binding=Wrapper))


@pytest.mark.slow
@pytest.mark.spread(3)
def test_float64_agrees() -> None:
    require_none(pair_checks.by_oracle(usable_joints()))


@pytest.mark.slow
@pytest.mark.spread(0)
def test_three_stages_of_a_joint_as_float64() -> None:
    require_none(pair_checks.by_oracle(joints_of_three()[0]))


@pytest.mark.slow
@pytest.mark.spread(1)
def test_three_stages_of_a_joint_in_groups() -> None:
    require_none(pair_checks.by_groups(joints_of_three()[0], count=2, most=30))


@pytest.mark.slow
@pytest.mark.spread(2)
def test_three_stages_of_a_joint_in_rows() -> None:
    others = joints_of_three(other=1)[0]
    require_none(pair_checks.by_rows([[joint] for joint in joints_of_three()[0]], others))


@pytest.mark.slow
@each_part
def test_warp_gives_what_the_core_does(part) -> None:
    require_none(pair_checks.by_engines(pair_checks.warp_plans()[part::PARTS]))


@pytest.mark.slow
@each_three
def test_warp_gives_what_the_core_does_with_three_stages(part) -> None:
    require_none(pair_checks.by_engines([pair_checks.warp_plans_of_three()[part]]))
