import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.waves import WAVES, Span, paces
from refusals import cases

KINDS = list(WAVES)


def span(joints: int = 4, seconds: float = 9.0, seed: int = 0) -> Span:
    return Span(round(seconds / 0.005), 0.005, joints, 5.0, seed)


def made(kind: str, of: Span, pace: float | None = None) -> np.ndarray:
    return WAVES[kind](of, np.full(of.joints, paces(kind, of)[1] if pace is None else pace))


@cases("kind", *KINDS)
@cases("joints", 1, 4, 40)
def test_motions_begin_and_end_at_zero_and_reach_one(kind, joints) -> None:
    found = made(kind, span(joints))
    assert found.shape == (1800, joints)
    np.testing.assert_allclose(found[[0, -1]], 0.0, atol=1e-3)
    assert np.abs(found).max() <= 1.0 + 1e-9 and np.abs(found).max() > 0.9


@cases("kind", *KINDS)
def test_joints_move_differently(kind) -> None:
    """So that the motion of one is told from the reactions to the others."""
    assert np.abs(np.corrcoef(made(kind, span()).T) - np.eye(4)).max() < 0.5


@cases("kind", *KINDS)
def test_a_seed_means_one_motion(kind) -> None:
    first = made(kind, span(seed=3))
    np.testing.assert_array_equal(first, made(kind, span(seed=3)))
    assert np.abs(first - made(kind, span(seed=4))).max() > 0.1


@cases("kind", "chirp", "multisine", "steps")
def test_a_slower_pace_is_slower(kind) -> None:
    one = span()
    slow, fast = (np.abs(np.diff(made(kind, one, pace), axis=0)).max(axis=0) for pace in paces(kind, one))
    assert (slow < fast).all()


def test_accelerations_are_bounded_at_high_frequencies() -> None:
    """A chirp of full amplitude at 5 Hz would have 25 times the acceleration of one at 1 Hz."""
    assert np.abs(np.diff(made("chirp", span()), 2, axis=0) / 0.005**2).max() < 1.6 * (2 * np.pi) ** 2


def test_holds_rest_and_move_at_constant_speed() -> None:
    speed = np.abs(np.diff(made("holds", span(1))[:, 0])) / 0.005
    assert (speed < 1e-9).mean() > 0.4 and len(speed[speed > 0.9 * speed.max()]) > 50


def test_joints_of_a_multisine_share_no_frequency() -> None:
    lines = np.abs(np.fft.rfft(made("multisine", span()), axis=0))
    assert (lines > 0.3 * lines.max(axis=0)).sum(axis=1).max() == 1
