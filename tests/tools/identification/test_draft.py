import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.draft import RAMP, Draft
from isaacsim.core.experimental.actuators.tools.identification.excitation_plan import ExcitationPlan
from isaacsim.core.experimental.actuators.tools.identification.safety import Break, Limits, Motion

PLAN = ExcitationPlan(seconds=24.0, rate=100.0)


def limits(start: tuple[float, float] = (0.0, 0.0), speed: float = 5.0) -> Limits:
    ends = np.array([1.0, np.inf])
    full = np.full(2, speed)
    return Limits(("hip", "knee"), np.array(start), -ends, ends, full, 10.0 * full, np.ones(2, bool))


def draft(plan: ExcitationPlan = PLAN, **given: object) -> Draft:
    return Draft("robot.usda", plan, limits(**given))  # type: ignore[arg-type]


def of(kind: str, limit: str, joint: int | None = 0, over: float = 1.5) -> list[tuple[str, Break]]:
    return [(kind, Break(joint, limit, over, f"hip breaks its {limit}"))]


def peak(one: Draft, kind: str, joint: int = 0) -> float:
    (part,) = [part for part in one.parts if part.kind == kind]
    return float(np.ptp(one.command()[part.rows, joint]))


def test_commands_begin_and_end_in_the_first_pose_and_keep_the_margin() -> None:
    one = draft(start=(0.97, 0.3))
    command = one.command()
    assert command.shape == (2400, 2)
    np.testing.assert_allclose(command[[0, 49, -50, -1]], np.tile([0.97, 0.3], (4, 1)))
    assert [part.kind for part in one.parts] == [RAMP, "chirp", "multisine", "steps", "holds", RAMP]
    assert [part.rows.stop for part in one.parts[:-1]] == [part.rows.start for part in one.parts[1:]]
    inside = command[one.parts[1].rows.start : one.parts[-1].rows.start, 0]
    assert inside.max() <= 0.9 + 1e-9
    assert inside.min() > -0.2, "no further away than the share of the range asks for"
    assert np.ptp(inside) == pytest.approx(0.9, rel=0.05)
    # each part begins at rest in the middle
    middles = command[[part.rows.start for part in one.parts[1:]]]
    np.testing.assert_allclose(middles, np.tile(middles[0], (5, 1)), atol=1e-3)
    assert np.abs(np.diff(command[one.parts[0].rows], axis=0)).max() < 0.02


def test_amplitude_and_speed_of_the_plan_hold() -> None:
    one = draft(ExcitationPlan(seconds=24.0, rate=100.0, amplitude=0.1, speed=0.4, kinds=["chirp"]), speed=0.4)
    command = one.command()
    assert np.ptp(command, axis=0).max() <= 0.2 + 1e-9 and np.abs(np.diff(command, axis=0)).max() * 100.0 < 0.5


def test_positions_make_smaller_and_speeds_make_slower() -> None:
    one = draft()
    before = {kind: peak(one, kind) for kind in ("chirp", "holds")}
    knee = one.command()[:, 1]
    one.reduce(of("holds", "position", over=1.2))
    assert peak(one, "holds") == pytest.approx(0.8 * before["holds"], rel=0.01)
    assert peak(one, "chirp") == before["chirp"]
    fast = np.abs(np.diff(one.command()[one.parts[1].rows, 0])).max()
    one.reduce(of("chirp", "speed", over=1.5))
    assert np.abs(np.diff(one.command()[one.parts[1].rows, 0])).max() < 0.9 * fast
    np.testing.assert_array_equal(one.command()[:, 1], knee), "the other joint goes on as before"
    chirp, *others = [note for note in one.notes() if "hip" in note]
    assert "chirp, reduced for limits: hip in full up to" in chirp and "(speed)" in chirp
    assert any("holds, reduced for limits: hip amplitude 80% (position)" in note for note in others)


def test_only_the_worst_of_a_joint_counts() -> None:
    one, other = draft(), draft()
    one.reduce([*of("holds", "position", over=1.2), *of("holds", "effort", over=1.05)])
    other.reduce(of("holds", "position", over=1.2))
    np.testing.assert_array_equal(one.command(), other.command())


def test_collisions_make_all_joints_smaller() -> None:
    one = draft()
    hip, knee = peak(one, "holds", 0), peak(one, "holds", 1)
    one.reduce(of("holds", "collision", joint=None, over=1.25))
    assert peak(one, "holds", 0) < 0.8 * hip and peak(one, "holds", 1) < 0.8 * knee


def test_others_become_smaller_if_they_shake_a_joint() -> None:
    one = draft()
    knee = peak(one, "holds", 1)
    one.reduce(of("holds", "effort", over=2.0))
    assert peak(one, "holds", 1) == knee
    for _ in range(6):
        one.reduce(of("holds", "effort", over=2.0))
    assert peak(one, "holds", 1) < 0.5 * knee


def test_the_middle_comes_closer_until_there_is_no_room() -> None:
    one = draft(start=(1.0, 0.0))
    middle = one.command()[one.parts[1].rows.start, 0]
    one.reduce(of(RAMP, "effort", over=1.2))
    assert middle < one.command()[one.parts[1].rows.start, 0] < 1.0
    assert any("closer to the first pose, for their limits: hip (effort)" in note for note in one.notes())
    with pytest.raises(
        ValueError, match="hip at its position limit in the first pose, and on the way from there hip breaks its effort"
    ):
        for _ in range(20):
            one.reduce(of(RAMP, "effort", over=2.0))


def test_what_cannot_be_reduced_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"robot.usda: holds, at 5% of the amplitude: hip breaks its effort: must hold"
    ):
        one = draft()
        for _ in range(60):
            one.reduce(of("holds", "effort", over=2.0))
    with pytest.raises(ValueError, match="at rest in the first pose, hip breaks its effort: must hold"):
        draft().reduce(of(RAMP, "effort"))


def test_too_few_seconds_are_refused() -> None:
    with pytest.raises(ValueError, match="seconds = 17: must be 18 at least for chirp, multisine, steps, holds"):
        draft(ExcitationPlan(seconds=17.0))
    # a long way at a slow speed takes time
    with pytest.raises(ValueError, match="seconds = 18"):
        draft(ExcitationPlan(seconds=18.0), start=(1.0, 0.0), speed=0.5)


def test_a_robot_that_cannot_rest_is_refused() -> None:
    one, zeros = draft(), np.zeros((2400, 2))
    efforts = zeros.copy()
    efforts[10, 1] = 48.0
    one.require_rest(Motion(zeros, zeros, zeros, zeros > 0, {}))
    with pytest.raises(ValueError, match=r"at rest in the first pose, knee needs 48 N·m"):
        one.require_rest(Motion(zeros, zeros, efforts, zeros > 0, {}))
    efforts[10, 1], efforts[100, 1] = 0.0, 48.0
    one.require_rest(Motion(zeros, zeros, efforts, zeros > 0, {}))
    ((kind, found),) = one.broken(Motion(zeros, zeros, efforts, zeros > 0, {}))
    assert (kind, found.joint) == ("ramp", 1)
