"""Problems of logs: every kind of broken log is named, and healthy logs pass."""

import re
from collections.abc import Sequence

import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.checks import check_log, notes_on, notes_on_all, too_fast
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from motor_logs import JOINTS, following
from refusals import cases

LIMITS = dict.fromkeys(JOINTS, (-1.5, 1.0))
DEGREES = 180.0 / np.pi


def changed(log: MotorLog, command=None, position=None, time=None) -> MotorLog:
    given = {"command": command, "position": position}
    signals = {name: getattr(log, name) if values is None else values for name, values in given.items()}
    return MotorLog(log.time if time is None else time, log.joints, signals, "a.csv")


def scaled(values: np.ndarray, factors: Sequence[float]) -> np.ndarray:
    return values * np.array(factors)


def require_one(problems: Sequence[str], said: str) -> None:
    assert len(problems) == 1 and re.fullmatch(said, problems[0]), problems


@cases("limits", None, LIMITS)
@cases("lag", 0.01, 0.04, 0.15)
def test_healthy_log_has_no_problems(limits, lag) -> None:
    assert check_log(following(lag=lag), limits) == [] and notes_on(following(lag=lag)) == []


@cases(
    "start, factor, unit",
    *((0.0, 1e3, "ms"), (0.0, 1e6, "us"), (0.0, 1e9, "ns"), (1.7e9, 1e3, "ms"), (1.7e9, 1e6, "us")),
    *((1.7e9, 1e9, "ns"), (1.7e9, 1.0, None), (0.0, 1.0, None)),
)
def test_time_in_other_units(start, factor, unit) -> None:
    log = following(duration=20.0)
    problems = check_log(changed(log, time=(start + log.time) * factor), LIMITS)
    if unit is None:
        assert problems == []
    else:
        require_one(problems, rf"a\.csv: time steps by .* must be in s, .* Give .* --columns time=:{unit}, or cut .*")


def test_slow_log_has_no_seconds() -> None:
    log = following(dt=0.1, lag=0.3)
    assert check_log(log) == []
    require_one(check_log(changed(log, time=2.0 * log.time)), r"a\.csv: time steps by 0\.2 and .*")


def test_same_command_for_all_joints_is_no_wrong_order() -> None:
    log = following()
    same = [0, 0, 0]
    assert check_log(changed(log, log.command[:, same], log.position[:, same])) == []


def test_fast_command_is_no_wrong_sign() -> None:
    time = np.arange(0.0, 5.0, 0.002)[:, None]
    command, position = np.sin(50.0 * time), 0.3 * np.sin(50.0 * time - 2.8)
    assert check_log(MotorLog(time[:, 0], ["hip"], {"command": command, "position": position})) == []


def test_soft_joint_past_its_resonance_is_no_wrong_sign() -> None:
    time = np.arange(0.0, 10.0, 0.005)[:, None]
    command, position = np.sin(12.5 * time), 0.68 * np.sin(12.5 * time - 2.97)
    assert np.corrcoef(command[:, 0], position[:, 0])[0, 1] < -0.95
    assert check_log(MotorLog(time[:, 0], ["hip"], {"command": command, "position": position})) == []


@cases(
    "limits, said",
    (LIMITS, r"a\.csv: knee: position reaches \S+: must be in rad or m, and its limits are ±1\.5\. Multiply .*"),
    (None, r"a\.csv: knee: position reaches \S+: must be in rad or m\. Multiply degrees by pi/180\."),
)
def test_degrees(limits, said) -> None:
    log, factors = following(), [1.0, DEGREES, 1.0]
    require_one(check_log(changed(log, scaled(log.command, factors), scaled(log.position, factors)), limits), said)


def test_wheel_may_turn_far() -> None:
    log = following()
    broken = changed(log, log.command + 90.0, log.position + 90.0)
    assert check_log(broken, dict.fromkeys(JOINTS, (-np.inf, np.inf))) == []


@cases("signal, ratio", ("command", r"6\d\.\d"), ("position", r"0\.01\d+"))
def test_one_signal_in_degrees(signal, ratio) -> None:
    log = following()
    broken = changed(log, **{signal: scaled(log.signals[signal], [DEGREES, 1.0, 1.0])})
    said = rf"a\.csv: hip: command moves {ratio} times as far as position: must be in rad\. Multiply .*"
    require_one(check_log(broken, dict.fromkeys(JOINTS, (-np.inf, np.inf))), said)


@cases("lag", 0.01, 0.15)
def test_wrong_sign(lag) -> None:
    log = following(lag=lag)
    broken = changed(log, position=scaled(log.position, [1.0, 1.0, -1.0]))
    said = r"a\.csv: ankle: correlation of position and command is -\d\.\d\d: must be positive\. Change the sign of .*"
    require_one(check_log(broken, LIMITS), said)


def test_swapped_joints() -> None:
    log = following()
    said = (
        r"a\.csv: hip, ankle: position of hip follows command of ankle, correlation (0\.9\d|1\.00) instead of \S+ with "
        r"its own; position of ankle follows command of hip, correlation (0\.9\d|1\.00) instead of \S+ with its own: "
        r"columns must be in one order\. Swap them\."
    )
    require_one(check_log(changed(log, position=log.position[:, [2, 1, 0]]), LIMITS), said)


def test_joints_in_another_order() -> None:
    log = following()
    said = r"a\.csv: hip, knee, ankle: position of hip follows command of knee, .*Swap them\."
    require_one(check_log(changed(log, position=log.position[:, [1, 2, 0]])), said)


@cases("signal", "command", "position")
def test_joint_that_never_moved(signal) -> None:
    log = following()
    values = np.array(log.signals[signal])
    values[:, 1] = np.linspace(0.0, 5e-5, len(values))
    resting = changed(log, **{signal: values})
    assert check_log(resting) == []
    assert "a.csv: knee: at rest, so that the log is not used for it." in notes_on(resting)


def test_spikes_are_found() -> None:
    log = following(duration=20.0)
    position = np.array(log.position)
    position[np.arange(20, len(position) - 20, len(position) // 24)[:24], 1] += 1.5
    said = r"a\.csv: knee: 24 positions jump there and back, the farthest by 1\.5\d* at .* s: .* Remove these rows\."
    require_one(check_log(changed(log, position=position)), said)


def test_swapped_commands_and_positions() -> None:
    log = following()
    swapped = changed(log, command=log.position, position=log.command)
    require_one(check_log(swapped), r"a\.csv: .*: the command follows the position: .* Swap the columns\.")


def test_lost_samples() -> None:
    log = following()
    kept = np.delete(np.arange(len(log.time)), [*range(100, 104), *range(600, 608), 900])
    broken = MotorLog(log.time[kept], JOINTS, {name: one[kept] for name, one in log.signals.items()}, "a.csv")
    require_one(
        check_log(broken),
        r"a\.csv: time: 2 steps of more than 3 times the median 0\.005 s, the longest 0\.045 s at 2\.995 s: no sample "
        r"must be lost\. Log again, or cut the log there\.",
    )


def test_jump_of_the_clock() -> None:
    log = following()
    time = log.time + 3600.0 * (np.arange(len(log.time)) >= 1000)
    require_one(
        check_log(changed(log, time=time)),
        r"a\.csv: time: 1 steps of more than 20 times the median 0\.005 s, the longest 3\.6e\+03 s at 4\.995 s: the "
        r"clock must not jump\. Correct the times, or cut the log there\.",
    )


def test_notes_on_rate_and_duration() -> None:
    """100 Hz and 5 s suffice."""
    assert notes_on(following(dt=0.01, duration=5.011)) == []
    rate, short = notes_on(following(dt=0.02, duration=3.0))
    assert rate == (
        "log: 50 Hz: armature cannot be seen below 100 Hz and keeps the value of the file. Log faster to identify it."
    )
    assert short == "log: 2.98 s: estimates are uncertain below 5 s. Log for longer."


@cases("kind", np.float32, np.float64)
def test_note_on_resolution(kind) -> None:
    log = following()
    position = np.array(log.position)
    for column, bits in [(0, 12), (2, 18)]:
        step = 2.0 * np.pi / 2**bits
        position[:, column] = (np.round(position[:, column] / step) * step).astype(kind)
    said = r"a\.csv: resolution of position \[rad or m\]: hip 0\.0015: smaller motions cannot be seen\."
    require_one(notes_on(changed(log, position=position)), said)


def test_note_on_commands_that_are_alike() -> None:
    log = following()
    same = changed(log, log.command[:, [0, 1, 0]], log.position[:, [0, 1, 0]])
    require_one(notes_on(same), r"a\.csv: hip, ankle: commands are alike, so that swapped joints cannot be seen\. .*")


def test_note_on_a_sign_that_is_open() -> None:
    """A single fast sine, which motors of either sign would follow; as inverted, too, where no problem is found."""
    time = np.arange(0.0, 10.0, 0.005)[:, None]
    command, position = np.sin(12.5 * time), 0.68 * np.sin(12.5 * time - 2.97)
    for sign in (1.0, -1.0):
        log = MotorLog(time[:, 0], ["hip"], {"command": command, "position": sign * position}, "a.csv")
        if check_log(log) == []:
            require_one(notes_on(log), r"a\.csv: hip: a wrong sign cannot be seen\. Move them slowly, too\.")
    assert check_log(MotorLog(time[:, 0], ["hip"], {"command": command, "position": position})) == []


def test_a_note_of_several_logs_is_said_once() -> None:
    log = following()
    slow = [MotorLog(log.time * factor, log.joints, log.signals, name) for factor, name in ((8.0, "a"), (8.01, "b"))]
    slower = MotorLog(log.time * 20.0, log.joints, log.signals, "c")
    told = [note for note in notes_on_all([*slow, slower]) if "Hz" in note]
    assert [note.split(" Hz")[0].rpartition(" ")[0] for note in told] == ["a and 1 more:", "c:"]


def test_speeds_beyond_their_limit_are_named() -> None:
    log = following()
    speeds = np.abs(np.gradient(log.position, log.time, axis=0)).max(axis=0)
    limits = dict(zip(log.joints, (1.1 * speeds).tolist(), strict=True))
    noisy = changed(log, position=log.position + 1e-3 * np.random.default_rng(1).uniform(-1, 1, log.position.shape))
    assert too_fast(log, limits) == too_fast(noisy, limits | dict.fromkeys(log.joints, 3.0 * speeds.max())) == []
    (said,) = too_fast(log, limits | {log.joints[1]: 0.5 * speeds[1]})
    assert said.startswith(f"{log.source}: {log.joints[1]} moves at") and f"limits it to {0.5 * speeds[1]:.3g}" in said
    assert too_fast(log, {}) == []
