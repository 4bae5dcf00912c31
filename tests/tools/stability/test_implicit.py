"""Implicit joints: their step is that of the engine, and their margins are those of simulated robots."""

import warnings
from itertools import product

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.laws.contract.coupling import coupled_inertias
from isaacsim.core.experimental.actuators.simulators.binding import Binding
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation
from isaacsim.core.experimental.actuators.tools.stability.frequency import frequency_response
from isaacsim.core.experimental.actuators.tools.stability.implicit import Implicit
from isaacsim.core.experimental.actuators.tools.stability.loop import Loop
from isaacsim.core.experimental.actuators.tools.trials.bode import loop_response
from laden import hold
from one_inertia import tell
from physics_engines import ENGINES, installed
from places import ROBOTS
from refusals import cases

INERTIA, DT = 0.2, 0.005
MATRIX = np.array([[0.5, 0.1], [0.1, 0.05]])
# stiff, damped, soft, and with an integral
GAINS = [(8000.0, 100.0, 0.0), (0.0, 5000.0, 0.0), (200.0, 5.0, 0.0), (2e4, 400.0, 3e4)]


def growth(ratio: float, gains: tuple[float, float, float], load: float, frequency: float = 0.0):
    """Growth per step of a joint that the engine moves, stepped with `ratio` times its inertia; `load` is followed."""
    kp, kd, ki = gains
    motor = [aa.PIDControlConfig(kp, ki, kd), aa.ImplicitConfig(ratio * INERTIA, load)]
    arrays = aa.ActuatedArrays(["j"], {".*": motor})
    if not load:
        tell(arrays, {"load_is_whole": np.ones(1)})
    q, v = (0.0, 0.0) if frequency else (0.1, 0.3)
    steps = 8000 if frequency else 900
    target = np.sin(2 * np.pi * frequency * DT * np.arange(steps))
    sizes, positions = [], np.empty(steps)
    for n in range(steps):
        positions[n] = q
        given = (np.array([[one]], np.float32) for one in (q, v, target[n]))
        v += DT * float(np.asarray(arrays.step(*given, DT))[0, 0]) / INERTIA
        q += DT * v
        sizes.append(np.log(max(abs(q), DT * abs(v), 1e-30)))
        # beyond float32 nothing is linear
        if not frequency and abs(sizes[-1]) > 30.0:
            break
    if not frequency:
        half = len(sizes) // 2
        return np.exp(np.polyfit(np.arange(half, len(sizes)), sizes[half:], 1)[0])
    basis = np.exp(2j * np.pi * frequency * DT * np.arange(steps // 2, steps))
    fit, *_ = np.linalg.lstsq(np.stack([basis.real, basis.imag], axis=1), positions[steps // 2 :], rcond=None)
    return complex(fit[1], fit[0])


def implicit(ratio: float, load: float) -> Implicit:
    return Implicit.of_joint(ratio * INERTIA, load)


@cases("load", 0.0, 0.05, 1.0)
@cases("gains", *GAINS)
@cases("ratio", 0.3, 1.0, 1.5, 2.5)
def test_radius_is_the_growth_in_the_engine(ratio, gains, load) -> None:
    loop = Loop(np.array([[1 / INERTIA]]), np.array(gains)[:, None], implicit=implicit(ratio, load))
    # what decays fast is soon below the resolution of float32, and what is known of a load decays with its share
    least = max(0.8, 1.0 - load + 0.005) if load else 0.8
    assert max(loop.radius(DT), least) == pytest.approx(max(growth(ratio, gains, load), least), abs=3e-3)


@cases("load", 0.0, 0.05, 1.0)
@cases("gains", (800.0, 40.0, 0.0), (800.0, 40.0, 2000.0))
@cases("frequency", 0.5, 3.0, 41.0)
def test_closed_loop_is_what_a_sine_does(frequency, gains, load) -> None:
    found = frequency_response("j", gains, INERTIA, DT, implicit=implicit(0.7, load))
    at = np.argmin(np.abs(found.frequencies - frequency))
    expected = growth(0.7, gains, load, found.frequencies[at])
    assert abs(found.closed_loop[at] - expected) < 5e-3 * abs(expected)
    assert found.gain_margin == np.inf and found.phase_crossover is None and found.phase_margin is not None


def test_known_inertia_is_stable_at_any_gains() -> None:
    for kp, kd in ((1e6, 1.0), (100.0, 1e6), (1e3, 10.0)):
        table = aa.stability_of([[INERTIA]], DT, kp, kd, stages=[aa.ImplicitConfig()])
        assert table.robots[0].margin == table.robots[0].largest_step == np.inf
        assert table.robots[0].spectral_radius < 1.0 and table.joints[0].smallest_armature == 0.0
        assert table.joints[0].effort_mode == "implicit" and table.joints[0].stepped_inertia == pytest.approx(INERTIA)
        explicit = aa.stability_of([[INERTIA]], DT, kp, kd)
        assert explicit.robots[0].margin < np.inf and explicit.joints[0].effort_mode == "explicit"
        assert explicit.robots[0].implicit_helps is not explicit.stable


@cases("share, least", (1.0, 0.5), (0.05, 0.06))
def test_up_to_all_of_the_inertia_is_stable_at_any_gains(share, least, rng) -> None:
    for ratio, kp in product((least, 0.7, 1.0), 10 ** rng.uniform(-4, 8, 60)):
        gains = np.array([[kp], [10 ** rng.uniform(-6, 8)], [0.0]])
        assert Loop(np.eye(1), gains, implicit=Implicit.of_joint(ratio, share)).is_stable(1.0)


def test_much_stiffness_vibrates_with_loads_that_are_followed_at_once() -> None:
    """Below half of the inertia and from 8/7 on."""
    for ratio, stable in ((0.48, False), (1.14, True), (1.15, False)):
        loop = Loop(np.eye(1), np.array([[1e7], [0.0], [0.0]]), implicit=Implicit.of_joint(ratio, 1.0))
        assert loop.is_stable(1.0) is stable


def test_over_estimated_inertia_has_a_margin_and_an_armature_that_helps() -> None:
    """With large damping a joint is stable up to 4/3 of its inertia, if it follows loads at once."""
    for ratio, stable in ((1.32, True), (1.35, False)):
        table = aa.stability_of([[INERTIA]], DT, 0.0, 1e6, stages=[aa.ImplicitConfig(ratio * INERTIA, 1.0)])
        assert table.stable is stable
    assert 0.0 < table.robots[0].margin < 1.0 and table.robots[0].largest_step < DT
    lacking = table.joints[0].smallest_armature
    for share, stable in ((1.001, True), (0.95, False)):
        heavier = [[INERTIA + share * lacking]]
        again = aa.stability_of(heavier, DT, 0.0, 1e6, stages=[aa.ImplicitConfig(1.35 * INERTIA, 1.0)])
        assert again.stable is stable


def test_joints_are_stepped_with_coupled_inertias() -> None:
    found = [one.stepped_inertia for one in aa.stability_of(MATRIX, DT, 1.0, 1.0, stages=[aa.ImplicitConfig()]).joints]
    assert found == pytest.approx(coupled_inertias(np.linalg.inv(MATRIX)))


def test_coupled_joints_are_stable_at_any_gains_if_they_follow_loads_slowly() -> None:
    near = np.array([[1.0, 0.8], [0.8, 1.0]])
    for kp, kd in ((1e6, 0.0), (1e6, 1e5), (100.0, 1.0)):
        table = aa.stability_of(near, DT, kp, kd, stages=[aa.ImplicitConfig()])
        assert table.stable and table.robots[0].margin == np.inf
    # of 0.05, by the square of the ratio of coupled to effective inertia
    assert [one.load_share for one in table.joints] == pytest.approx([0.05 / 1.8**2] * 2)
    springs = aa.stability_of(near, DT, 1e6, 0.0, stages=[aa.ImplicitConfig(load_share=1.0)])
    assert not springs.stable and springs.robots[0].largest_step < DT
    assert all(joint.margin == np.inf for joint in springs.joints)


def test_text_and_json_have_the_effort_mode() -> None:
    table = aa.stability_of(MATRIX, DT, 1e4, 1e3, joints=["hip", "toe"], stages=[aa.ImplicitConfig()])
    title, header, _, *rows = str(table).splitlines()
    assert "margin inf" in title and header.startswith("Joint  Effort mode")
    assert [row.split()[:2] for row in rows] == [["hip", "implicit"], ["toe", "implicit"]]
    assert '"effort_mode": "implicit"' in table.to_json()
    explicit = str(aa.stability_of(MATRIX, DT, 1e4, 1e3, robot="/R"))
    assert "Effort mode" not in explicit
    assert explicit.splitlines()[-1] == '/R would be stable with effort_mode="implicit"'


def test_sensor_makes_a_joint_explicit() -> None:
    for late in ({"stages": [aa.EncoderConfig(latency=0.012)]}, {"latency": [0.012, 0.0]}):
        arguments = late | {"stages": [*late.get("stages", []), aa.ImplicitConfig()]}
        table = aa.stability_of(MATRIX, DT, 400.0, 10.0, joints=["hip", "toe"], **arguments)
        sensed = ("hip", "toe") if "stages" in late else ("hip",)
        assert table.sensed == sensed and "explicit, as a sensor measures them: hip" in str(table)
        modes = {one.joint: one.effort_mode for one in table.joints}
        assert modes == {name: "explicit" if name in sensed else "implicit" for name in ("hip", "toe")}
        assert not table.robots[0].implicit_helps
    assert aa.stability_of(MATRIX, DT, 1.0, 1.0, stages=[aa.DelayConfig(3), aa.ImplicitConfig()]).sensed == ()


@cases(
    "other", aa.RateConfig(4), aa.EffortDelayConfig(steps=1.0), aa.EffortLagConfig(0.01), aa.TransmissionConfig(20.0)
)
def test_stages_that_the_engine_refuses_are_refused(other) -> None:
    with pytest.raises(ValueError, match=f"stages has ImplicitConfig beside {type(other).__name__}: must be left out"):
        aa.stability_of([[1.0]], DT, 1.0, 1.0, stages=[other, aa.ImplicitConfig()])


STIFF = {
    "pendulum": ("/World/Pendulum", 100.0, 5.0),
    "arm_2dof": ("/World/Arm", 400.0, 20.0),
    "so101": ("/World/SO101", 20.0, 1.0),
    "franka_panda": ("/World/Panda", 400.0, 40.0),
}


def run(name: str, factor: float, *stages, steps: int = 400) -> tuple[aa.Stability, int, float]:
    """Return the stability of a robot, its vibrating joints and its fastest one at the end, after targets that jump."""
    path, kp, kd = STIFF[name]
    motor = [aa.PDControlConfig(factor * kp, factor * kd), aa.MaxEffortClampingConfig(1e4), *stages]
    with aa.Simulation(ROBOTS / f"{name}.usda", DT) as sim, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*will vibrate")
        actuators = aa.ArticulationActuators.from_configs(path, {".*": motor})
        sim.play()
        robot = aa.Articulation(path)
        robot.set_dof_position_targets(robot.get_dof_positions().numpy() + 0.05)
        with actuators.record() as log:
            sim.step(steps)
        table = actuators.stability()
    assert not actuators.faults
    return table, len(aa.buzz(log.positions[steps // 2 :, 0], DT)), float(np.abs(log.velocities[-20:, 0]).max())


@cases("name", *STIFF)
@pytest.mark.slow
def test_twenty_times_the_gains_are_stable_when_implicit(name) -> None:
    explicit, vibrating, fastest = run(name, 20.0)
    assert not explicit.stable and explicit.robots[0].implicit_helps and vibrating and fastest > 0.5
    table, vibrating, fastest = run(name, 20.0, aa.ImplicitConfig())
    assert table.stable and not vibrating and fastest < 1e-3
    assert {joint.effort_mode for joint in table.joints} == {"implicit"}


@cases("name, path", ("arm_2dof", "/World/Arm"), ("franka_panda", "/World/Panda"), ("anymal_c", "/World/Anymal"))
@pytest.mark.slow
def test_inertia_is_that_of_the_engine(name, path) -> None:
    with aa.Simulation(ROBOTS / f"{name}.usda", DT) as sim:
        sim.play()
        motor = [aa.PDControlConfig(1.0, 0.1), aa.MaxEffortClampingConfig(10.0), aa.ImplicitConfig()]
        actuators = aa.ArticulationActuators.from_configs(path, {".*": motor})
        robot = actuators.articulation
        robot.set_dof_positions(robot.get_dof_positions().numpy() + 0.4)
        found = [joint.stepped_inertia for joint in actuators.stability().joints]
        sim.step()
        told = robot.joint_signals(["coupled_inertia", "inertia"]).arrays
    arrays = {key: np.asarray(value)[0] for key, value in told.items()}
    expected = arrays["coupled_inertia"] if "coupled_inertia" in arrays else 0.5 * arrays["inertia"]
    assert found == pytest.approx(expected, rel=1e-4)


def without_signals(monkeypatch: pytest.MonkeyPatch, *stages) -> tuple[aa.Stability, list[str]]:
    monkeypatch.setattr(Binding, "joint_views", lambda *_, **__: None)
    motor = [aa.PDControlConfig(4000.0, 200.0), aa.MaxEffortClampingConfig(100.0), *stages]
    with aa.Simulation(ROBOTS / "pendulum.usda", DT) as sim, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        sim.play()
        return actuators.stability(), [str(one.message) for one in told]


@cases("assumed, says", (0.1, False), (0.25, False), (0.7, True))
def test_assumed_inertia_above_that_of_the_joint_is_told(assumed, says, monkeypatch) -> None:
    """Where the simulator provides none, here of 0.26. Friction of an implicit joint assumes nothing."""
    friction = aa.FrictionConfig(coulomb=0.1, assumed_inertia=5.0)
    table, told = without_signals(monkeypatch, aa.ImplicitConfig(assumed), friction)
    assert table.joints[0].stepped_inertia == pytest.approx(assumed, rel=1e-5)
    (chatter,) = table.chatter or [None]
    assert (chatter is not None) is says
    texts = [text for text in told if "may chatter" in text]
    assert len(texts) == says
    if says:
        assert chatter is not None and chatter.implicit
        assert "for its effort at the end of the step assumes too much inertia" in texts[0]
        assert ": hinge has assumed_inertia = 0.7" in texts[0]
        assert texts[0].endswith("Give at most the inertia; less is safe.")


def test_joint_of_no_known_inertia_is_refused(monkeypatch) -> None:
    """It would get no effort, and has no margin."""
    with pytest.raises(HostError, match="Joints hinge: ImplicitConfig needs the effective inertia"):
        without_signals(monkeypatch, aa.ImplicitConfig())


def test_simulators_with_matrices_alone_tell_the_same(monkeypatch) -> None:
    tables = []
    for _ in range(2):
        with aa.Simulation(ROBOTS / "franka_panda.usda", DT) as sim:
            sim.play()
            actuators = aa.ArticulationActuators("/World/Panda", effort_mode="implicit")
            tables.append(actuators.stability())
        monkeypatch.delattr(MujocoArticulation, "joint_signals", raising=False)
    own, by_matrices = tables
    assert own.unknown == by_matrices.unknown == () and len(by_matrices.joints) == 7
    for one, other in zip(own.joints, by_matrices.joints, strict=True):
        assert other.stepped_inertia == pytest.approx(one.stepped_inertia, rel=1e-5)


@cases("tells", True, False)
def test_warning_names_the_mode_as_a_remedy(tells, monkeypatch) -> None:
    remedy = 'or use effort_mode="implicit"'
    if not tells:
        monkeypatch.delattr(MujocoArticulation, "joint_signals")
    motor = [aa.PDControlConfig(4000.0, 200.0), aa.MaxEffortClampingConfig(100.0)]
    with aa.Simulation(ROBOTS / "pendulum.usda", DT) as sim:
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        with pytest.warns(UserWarning, match=f"Raise the armature, or lower the gains, or step with dt <= .* {remedy}"):
            sim.play()
        assert actuators.stability().robots[0].implicit_helps


def test_warning_of_a_late_joint_does_not_name_the_mode() -> None:
    encoder = aa.EncoderConfig(latency=0.012)
    for more in ([encoder], [encoder, aa.ImplicitConfig()]):
        motor = [aa.PDControlConfig(400.0, 2.0), aa.MaxEffortClampingConfig(100.0), *more]
        with aa.Simulation(ROBOTS / "pendulum.usda", DT) as sim:
            actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
            with pytest.warns(UserWarning, match="will vibrate") as told:
                sim.play()
            table = actuators.stability()
        assert not any("implicit" in str(one.message) for one in told)
        assert table.sensed == (("hinge",) if len(more) == 2 else ())
        assert table.joints[0].latency == pytest.approx(0.012) and table.joints[0].effort_mode == "explicit"


def test_bode_plot_is_that_of_the_implicit_loop() -> None:
    with aa.Simulation(ROBOTS / "pendulum.usda", DT) as sim:
        motor = [aa.PDControlConfig(4000.0, 200.0), aa.MaxEffortClampingConfig(100.0), aa.ImplicitConfig()]
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        sim.play()
        found, row = loop_response(actuators, "hinge"), actuators.stability().joints[0]
        implicit = Implicit.of_joint(row.stepped_inertia, row.load_share)
        expected = frequency_response("hinge", (row.kp, row.kd, row.ki), row.inertia, DT, implicit=implicit)
        np.testing.assert_array_equal(found.open_loop, expected.open_loop)
        titles = [panel.get_title(loc="left") for panel in aa.plot_bode(actuators, "hinge").axes]
    assert found.gain_margin == np.inf and titles[0].startswith("Gain margin inf")


@cases("engine", *ENGINES)
@cases("name", "ANYmal", "Franka")
@pytest.mark.slow
def test_laden_robots_in_contact_do_not_chatter(name, engine) -> None:
    found = hold(name, installed(engine), "implicit", 4.0)
    explicit = hold(name, engine, "explicit", 2.0)
    assert explicit.chatters and explicit.fast > 3e-4 and found.faults == explicit.faults == 0 and not found.chatters
    assert abs(found.fallen) < 2e-3 and found.error < 5e-3
