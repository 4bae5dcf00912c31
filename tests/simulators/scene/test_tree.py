"""Trees out of random joints: every body once, nothing lost, and robots whole."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.simulators.scene.tree import WORLD, Edge, grow
from pxr import Sdf


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, list[Edge], list[int], list[int | None]]:
    """Bodies, joints between any two, and robots: some of the bodies, held together by strong joints of their own."""
    count = draw(st.integers(1, 8))
    owners = [draw(st.sampled_from([None, 0, 1])) for _ in range(count)]
    edges, seen = [], []
    roots: dict[int, int] = {}
    for body, owner in enumerate(owners):
        if owner is not None:
            if owner in roots:
                inside = draw(st.sampled_from([one for one in seen if owners[one] == owner]))
                edges.append(((inside, body), False))
            roots.setdefault(owner, body)
        seen.append(body)
    ends = st.tuples(st.integers(-1, count - 1), st.integers(-1, count - 1)).filter(lambda pair: pair[0] != pair[1])
    for pair in draw(st.lists(ends, max_size=12)):
        two = {owners[body] for body in pair if body != WORLD and owners[body] is not None}
        # joints between robots are weak, see `robots.separated`
        edges.append((pair, len(two) > 1 or draw(st.booleans())))
    names = draw(st.permutations(range(len(edges))))
    made = [
        Edge(Sdf.Path(f"/j{name:02}"), pair, weak, draw(st.integers(0, 1)))
        for name, (pair, weak) in zip(names, edges, strict=True)
    ]
    return count, made, list(roots.values()), owners


def one(_edges: Sequence[Edge]) -> int:
    return 1


@given(worlds())
def test_every_body_and_every_joint_has_its_place_once(world) -> None:
    count, edges, roots, owners = world
    branches, loops = grow(count, edges, roots, owners, one)
    assert sorted(branch.body for branch in branches) == list(range(count))
    seen = {WORLD}
    for branch in branches:
        assert branch.parent in seen
        seen.add(branch.body)
        assert all(set(edge.bodies) == {branch.parent, branch.body} for edge in branch.joints)
        assert branch.joints or branch.parent == WORLD
    used = [edge.path for branch in branches for edge in branch.joints] + [edge.path for edge in loops]
    assert sorted(used) == sorted(edge.path for edge in edges)


@given(worlds())
def test_no_robot_hangs_together_by_a_weak_joint(world) -> None:
    count, edges, roots, owners = world
    branches, _ = grow(count, edges, roots, owners, one)
    for branch in branches:
        if branch.joints and branch.joints[0].weak:
            assert None in [owners[body] for body in branch.joints[0].bodies if body != WORLD]


@given(worlds(), st.randoms())
def test_order_of_joints_does_not_matter(world, chance) -> None:
    count, edges, roots, owners = world
    shuffled = list(edges)
    chance.shuffle(shuffled)
    turned = [Edge(edge.path, edge.bodies[::-1], edge.weak, edge.rank) for edge in shuffled]

    def shape(edges: Sequence[Edge]) -> tuple:
        branches, loops = grow(count, edges, roots, owners, lambda bundle: 1)
        return [(b.body, b.parent, [e.path for e in b.joints]) for b in branches], [edge.path for edge in loops]

    if len({frozenset(edge.bodies) for edge in edges}) == len(edges):
        assert shape(turned) == shape(edges)


def edge(path: str, one: int, other: int, *, weak: bool = False, rank: int = 1) -> Edge:
    return Edge(Sdf.Path(path), (one, other), weak, rank)


def test_joint_of_a_lower_rank_stays_in_the_tree() -> None:
    edges = [edge("/a", 0, 1), edge("/b", 1, 2), edge("/c", 2, 0, rank=0), edge("/d", 2, 3, rank=0)]
    branches, loops = grow(4, edges, [0], [0] * 4, one)
    assert [str(edge.path) for edge in loops] == ["/b"] and [branch.body for branch in branches] == [0, 1, 2, 3]


def test_strong_joint_goes_before_a_weak_one() -> None:
    branches, loops = grow(2, [edge("/a", 0, 1, weak=True, rank=0), edge("/b", 0, 1)], [0], [0, 0], one)
    assert [str(edge.path) for edge in loops] == ["/a"] and [str(edge.path) for edge in branches[1].joints] == ["/b"]


def test_robot_starts_at_its_root() -> None:
    branches, _ = grow(4, [edge("/a", 0, 1), edge("/b", 1, 2)], [2], [0, 0, 0, None], one)
    assert [(branch.body, branch.parent) for branch in branches] == [(2, -1), (3, -1), (1, 2), (0, 1)]


def test_joints_one_behind_the_other_carry_together() -> None:
    branches, loops = grow(2, [edge(f"/{name}", 0, 1) for name in "abc"], [0], [0, 0], lambda bundle: 2)
    assert [str(edge.path) for edge in branches[1].joints] == ["/a", "/b"]
    assert [str(edge.path) for edge in loops] == ["/c"]
