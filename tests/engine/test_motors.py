"""Motors by pattern: their joints, their values, and the same efforts as by all other interfaces."""

from collections.abc import Iterator

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.motors import resolve_motors
from neural_twin import random_network, write_network
from places import ROBOTS as FILES
from played import played_arrays
from refusals import cases, refused
from stages import stage_of

NAMES = ["l_hip", "r_hip", "l_knee", "r_knee"]
ROBOTS = 3
ALL = "/Robot_.*"


@pytest.fixture
def host() -> Iterator:
    with played_arrays(NAMES, ROBOTS) as made:
        arrays = made.arrays()
        assert arrays is not None
        arrays.position_targets[:] = 1.0
        yield made


def efforts(host, motors, steps: int = 1) -> np.ndarray:
    with aa.ArticulationActuators.from_configs(ALL, motors):
        for _ in range(steps):
            host.step(0.01)
        return host.arrays().efforts.reshape(ROBOTS, -1).copy()


def problems(motors) -> list[str]:
    return refused(ValueError, lambda: aa.ArticulationActuators.from_configs(ALL, motors)).splitlines()


def test_patterns_match_names_in_full(host) -> None:
    assert (
        efforts(host, {".*_hip": [aa.PDControlConfig(5.0, 0.0)], "[lr]_knee": [aa.PDControlConfig(7.0, 0.0)]}).tolist()
        == [[5, 5, 7, 7]] * 3
    )
    assert "'hip' matches no joint" in problems({"hip": [aa.PDControlConfig(5.0, 0.0)]})[0]


def test_actuators_are_one_for_each_motor_in_joint_order(host) -> None:
    motors = {
        ".*_knee": [aa.PDControlConfig(7.0, 0.0)],
        ".*_hip": aa.MotorConfig(aa.PDControlConfig({"l.*": 1, "r.*": 2}, 0)),
    }
    with aa.ArticulationActuators.from_configs(ALL, motors) as wrapper:
        assert [one.label for one in wrapper.actuators] == [".*_hip", ".*_knee"]
        assert [one.dof_names for one in wrapper.actuators] == [tuple(NAMES[:2]), tuple(NAMES[2:])]
        assert wrapper.actuators[0].controller.kp.numpy().tolist() == [1, 2] * ROBOTS


def test_gains_by_pattern_robot_and_joint(host) -> None:
    motors = {
        ".*_hip": [aa.PDControlConfig({"l.*": 5.0, "r.*": 6.0}, 0.0), aa.DelayConfig({"l.*": 0, "r.*": 2})],
        "l_knee": [aa.PDControlConfig(np.array([1.0, 2.0, 3.0]), 0.0)],
        "r_knee": [aa.PDControlConfig(wp.array([[4.0], [5.0], [6.0]], device="cpu"), 0.0, [7, 8, 9])],
    }
    assert efforts(host, motors).tolist() == [[5, 6, 1, 11], [5, 6, 2, 13], [5, 6, 3, 15]]
    both = {".*_hip": [aa.PDControlConfig(np.arange(6.0).reshape(3, 2), 0.0)], ".*_knee": [aa.PDControlConfig(0, 0)]}
    assert efforts(host, both)[:, :2].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_delays_differ_between_joints(host) -> None:
    motors = {".*": [aa.PDControlConfig(1.0, 0.0), aa.DelayConfig({"l.*": 0, "r.*": 2})]}
    seen = []
    with aa.ArticulationActuators.from_configs(ALL, motors):
        for target in (1.0, 2.0, 3.0):
            host.arrays().position_targets[:] = target
            host.step(0.01)
            seen.append(host.arrays().efforts[:2].tolist())
    assert seen == [[1, 1], [2, 1], [3, 1]]


def test_the_plain_limit_acts_last_however_clamps_are_listed(host) -> None:
    """As from USD: beyond the no-load speed a DC motor brakes, with no more than the limit allows."""
    host.arrays().velocities[:] = 3.0
    clamps = [aa.MaxEffortClampingConfig(4.0), aa.DCMotorClampingConfig(9.0, 2.0, 50.0)]
    assert (efforts(host, {".*": [aa.PDControlConfig(20.0, 0.0), *clamps]}) == -4.0).all()


def test_joints_without_a_motor_are_named_and_keep_their_drives(host) -> None:
    host.arrays().stiffnesses[:] = 3.0
    with pytest.warns(UserWarning, match="</Robot_0>: joints r_hip, r_knee have no motor") as caught:
        wrapper = aa.ArticulationActuators.from_configs(ALL, {"l_.*": [aa.PDControlConfig(1.0, 0.0)]})
    assert len(caught) == 1 and caught[0].filename == __file__
    assert host.arrays().stiffnesses[:4].tolist() == [0, 3, 0, 3]
    wrapper.close()


def test_a_motor_without_controller_leaves_the_drive_in_place(host) -> None:
    host.arrays().stiffnesses[:] = 3.0
    with aa.ArticulationActuators.from_configs(
        ALL, {"l_.*": [aa.PDControlConfig(1.0, 0.0)], "r_.*": aa.MotorConfig()}
    ) as made:
        assert made.actuated_dof_indices == [0, 2] and host.arrays().stiffnesses[:4].tolist() == [0, 3, 0, 3]


def test_every_problem_is_told_at_once(host, tmp_path) -> None:
    found = problems(
        {
            "hip": [aa.PDControlConfig(-1.0, 0.0)],
            "(": [aa.PDControlConfig(1.0, 0.0)],
            "l_hip": [aa.PDControlConfig({"x": 1.0}, [1.0, 2.0]), aa.DelayConfig(-1)],
            "[lr]_hip": [aa.PDControlConfig(np.ones(2), np.zeros((3, 3)))],
            "r_knee": [aa.MaxEffortClampingConfig(3.0)],
            "l_knee": [aa.PDControlConfig(1, 1), aa.MaxEffortClampingConfig(3.0), aa.MaxEffortClampingConfig(4.0)],
            "l_kne.": [aa.NeuralControlConfig(tmp_path / "none.pt")],
            "r_kne.": aa.MotorConfig(
                aa.PDControlConfig({"r.*": 1.0}, {"l.*": 1.0}), armature=-1.0, friction={"r.*": -2.0}
            ),
            "r_hip": "motor",
        }
    )
    expected = [
        *("'(' must be a regular expression", "'hip' matches no joint", "l_hip is matched by 'l_hip' and '[lr]_hip'"),
        *("motors['hip'].controller.kp = -1.0", "motors['l_hip'].delay.delay_steps = -1"),
        "motors['[lr]_hip']: PDControlConfig.kp has shape (2,): must be (robots,) = (3,)",
        "PDControlConfig.kd has shape (3, 3): must be (robots,) = (3,) or (robots, joints) = (3, 2)",
        "motors['r_knee'] has limits or a delay and no controller",
        *("motors['l_knee'] has MaxEffortClampingConfig twice", "motors['l_kne.']: model_path = "),
        "motors['r_kne.'].armature = -1.0",
        *("motors['r_kne.'].friction['r.*'] = -2.0", "motors['r_hip']: motor = 'motor'"),
    ]
    text = "\n".join(found)
    assert [part for part in expected if part not in text] == []
    coverage = problems({".*": [aa.PDControlConfig({"x": 1.0, "l.*": 1.0}, 0.0)]})
    assert (
        len(coverage) == 2
        and "'x' matches no joint" in coverage[0]
        and "r_hip, r_knee are matched by none" in coverage[1]
    )


def test_motors_are_a_dictionary(host) -> None:
    assert "must be a dictionary" in problems([aa.PDControlConfig(1.0, 0.0)])[0]


def test_a_problem_leaves_nothing_behind(host) -> None:
    host.arrays().stiffnesses[:] = 3.0
    before = host.bus.num_callbacks
    problems({".*": [aa.PDControlConfig(-1.0, 0.0)]})
    assert host.bus.num_callbacks == before and (host.arrays().stiffnesses == 3.0).all()


def test_networks_are_read_from_where_the_program_says(host, tmp_path) -> None:
    write_network(tmp_path / "net.safetensors", random_network("mlp", 2), {"model_type": "mlp"})
    from_file = efforts(host, {".*": [aa.NeuralControlConfig("net.safetensors")]})
    assert from_file.any() and (from_file == from_file[0, 0]).all()


PANDA = {
    "panda_joint[1-5]": [
        aa.PDControlConfig({"panda_joint[1-4]": 400.1, "panda_joint5": 100.3}, 12.7, 0.3),
        # in USD the plain limit acts last, and so it does here
        aa.MaxEffortClampingConfig({"panda_joint[13]": 40.0, "panda_joint[245]": 30.5}),
        aa.DCMotorClampingConfig(90.0, 2.0, 50.0),
        aa.PositionBasedClampingConfig([-0.1, 0.1], [45.0, 35.0]),
    ],
    "panda_joint[67]": [aa.PDControlConfig(100.3, 11.1), aa.MaxEffortClampingConfig(12.0), aa.DelayConfig(2)],
}
TARGETS = np.linspace(-0.5, 0.5, 7)


LAWS = {
    "components": (aa.ControllerPD, aa.ClampingDCMotor, aa.ClampingPositionBased, aa.ClampingMaxEffort, aa.Delay),
    "plain configs": (
        *(aa.PDControlConfig, aa.DCMotorClampingConfig, aa.PositionBasedClampingConfig),
        *(aa.MaxEffortClampingConfig, aa.DelayConfig),
    ),
}


def motor_of(way: str, joint: int) -> tuple[aa.ActuatorConfig, str]:
    pd, dc_motor, table, limit, delay = LAWS[way]

    def of(law, *values: float):
        return law(
            *(wp.array([one], dtype=wp.float32, device="cpu") for one in values) if way == "components" else values
        )

    if joint > 5:
        late = delay(wp.array([2], dtype=wp.int32, device="cpu"), 2) if way == "components" else delay(2)
        return aa.ActuatorConfig(of(pd, 100.3, 11.1), [of(limit, 12.0)], late), f"panda_joint{joint}"
    clamps = [of(dc_motor, 90.0, 2.0, 50.0), table(lookup_positions=[-0.1, 0.1], lookup_efforts=[45.0, 35.0])]
    clamps.append(of(limit, 40.0 if joint in (1, 3) else 30.5))
    return aa.ActuatorConfig(of(pd, 400.1 if joint < 5 else 100.3, 12.7, 0.3), clamps), f"panda_joint{joint}"


def panda(way: str) -> np.ndarray:
    """Efforts of 50 steps of the arm on MuJoCo, its motors given in one of the ways."""
    stage = stage_of(FILES / "franka_panda.usda")
    if way in ("USD", "back from USD"):
        aa.add_motors("/World/Panda", PANDA, stage=stage, overwrite_existing=True)
    motors = aa.motors_of(stage) if way == "back from USD" else PANDA
    if way == "back from USD":
        stage = stage_of(FILES / "franka_panda.usda")
        aa.add_motors("/World/Panda", motors, stage=stage, overwrite_existing=True)
    with aa.Simulation(stage) as sim:
        sim.play()
        if way == "configs":
            made = aa.ArticulationActuators.from_configs("/World/Panda", PANDA)
        elif way in LAWS:
            pairs = [motor_of(way, joint) for joint in range(1, 8)]
            made = aa.ArticulationActuators.from_actuators("/World/Panda", pairs)
        else:
            made = aa.ArticulationActuators("/World/Panda")
        robot = aa.Articulation("/World/Panda")
        # at a limit of velocity, an effort would not change
        robot.set_dof_max_velocities(np.inf)
        robot.set_dof_position_targets(TARGETS)
        efforts = []
        with made:
            for _ in range(50):
                sim.step()
                efforts.append(robot.get_dof_efforts().numpy()[0])
    return np.array(efforts)


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    """Efforts of the arm with motors from configs; limits of all kinds act."""
    found = panda("configs")
    assert found.shape == (50, 7) and np.isfinite(found).all() and (np.ptp(found, axis=0) > 1.0).all()
    assert np.isclose(np.abs(found).max(axis=0)[[0, 5]], [40.0, 12.0]).all()
    return found


@pytest.mark.parametrize("way", ["components", "plain configs", "USD", "back from USD"])
def test_efforts_are_bit_for_bit_those_of_every_other_way(reference, way) -> None:
    assert (panda(way) == reference).all()


def test_plain_configs_beside_components(host) -> None:
    """Either serves in `from_actuators`; arrays have one value per robot, and clamps keep their order."""
    one = wp.ones(ROBOTS, dtype=wp.float32, device="cpu")
    pairs = [
        (aa.ActuatorConfig(aa.PDControlConfig([1.0, 2.0, 3.0], 0.0), [aa.ClampingMaxEffort(one)]), "l_hip"),
        (aa.ActuatorConfig(aa.ControllerPD(one, one), [aa.MaxEffortClampingConfig(0.5)], aa.DelayConfig(1)), "r_hip"),
    ]
    with aa.ArticulationActuators.from_actuators(ALL, pairs) as made:
        assert made.actuators[0].controller.kp.numpy().tolist() == [1, 2, 3]
        host.step(0.01)
        assert host.arrays().efforts.reshape(ROBOTS, -1)[:, :2].tolist() == [[1, 0.5]] * ROBOTS


def test_wrong_plain_configs_are_told_at_once(host) -> None:
    wrong = [
        (aa.ActuatorConfig(aa.PDControlConfig(-1.0, [1.0]), [aa.MaxEffortClampingConfig(-2.0)]), "l_hip"),
        (aa.ActuatorConfig(aa.PDControlConfig(1.0, [1.0])), "r_hip"),
    ]
    text = refused(ValueError, lambda: aa.ArticulationActuators.from_actuators(ALL, wrong))
    for part in ("'l_hip'.controller.kp = -1", "max_effort = -2", "'r_hip': PDControlConfig.kd has shape (1,)"):
        assert part in text
    with pytest.raises(ValueError, match=r"controller = MaxEffort.*must be a Controller"):
        aa.ActuatorConfig(aa.MaxEffortClampingConfig(1.0))


def test_a_robot_with_motors_is_no_warning(host) -> None:
    aa.ArticulationActuators.from_configs(ALL, {".*": [aa.PDControlConfig(1.0, 0.0)]}).close()


ARM = FILES / "arm_2dof.usda"
FREE = aa.PDControlConfig(1.0, 0.5)


def of_joint(motors, limits, robots: int = 1):
    (motor,) = resolve_motors(motors, ["a", "b"], ["/a", "/b"], robots, limits=lambda: limits)
    assert motor.spec is not None
    return motor.spec.clamping[0]


def test_a_motor_without_limit_at_a_joint_with_one_is_told() -> None:
    motors = {"shoulder": [FREE], "extension": [FREE, aa.MaxEffortClampingConfig(1e6)]}
    with aa.Simulation(ARM):
        with pytest.warns(UserWarning, match=r"</World/Arm>: motors of joints shoulder \(60\) have no") as caught:
            aa.ArticulationActuators.from_configs("/World/Arm", motors).close()
        assert len(caught) == 1 and caught[0].filename == __file__
        with pytest.warns(UserWarning, match=r"motors of joints shoulder \(60\), extension \(100\) have no"):
            aa.ArticulationActuators.from_configs("/World/Arm", {".*": [FREE, aa.MaxEffortClampingConfig(np.inf)]})


@cases(
    "clamp",
    aa.MaxEffortClampingConfig({"shoulder": 5.0, "extension": "joint"}),  # pyright: ignore[reportArgumentType]
    aa.DCMotorClampingConfig(5.0, 5.0, np.inf),
    aa.PositionBasedClampingConfig([0.0], [5.0]),
)
def test_any_finite_limit_is_one(clamp) -> None:
    with aa.Simulation(ARM):
        aa.ArticulationActuators.from_configs("/World/Arm", {".*": [FREE, clamp]})


def test_the_word_for_the_limit_of_the_joint_is_its_number() -> None:
    clamps = [aa.MaxEffortClampingConfig("joint"), aa.DCMotorClampingConfig(500.0, 5.0, "joint")]
    with aa.Simulation(ARM), aa.ArticulationActuators.from_configs("/World/Arm", {".*": [FREE, *clamps]}) as made:
        dc_motor, plain = made.actuators[0].clamping
        assert plain.max_effort.numpy().tolist() == dc_motor.max_motor_effort.numpy().tolist() == [60.0, 100.0]
    by_pattern = aa.MaxEffortClampingConfig({"shoulder": 7.0, "extension": "joint"})  # pyright: ignore
    with aa.Simulation(ARM), aa.ArticulationActuators.from_configs("/World/Arm", {".*": [FREE, by_pattern]}) as made:
        assert made.actuators[0].clamping[0].max_effort.numpy().tolist() == [7.0, 100.0]


def test_robots_that_differ_keep_their_own_limits() -> None:
    motors = {".*": [FREE, aa.MaxEffortClampingConfig({"a": "joint", "b": 2.0})]}  # pyright: ignore
    assert of_joint(motors, np.array([[3.0, 9.0], [4.0, 9.0]]), 2).max_effort.tolist() == [[3.0, 2.0], [4.0, 2.0]]
    assert of_joint(motors, np.array([[3.0, 9.0], [3.0, 8.0]]), 2).max_effort.tolist() == [3.0, 2.0]


@cases(
    "value, limits, says",
    ("joint", np.array([[np.inf, 5.0]]), "'joint': joints a have no effort limit: must have a finite one"),
    ({"a": 1.0, "b": "joint"}, np.array([[5.0, np.inf]]), "'joint': joints b have no effort limit"),
    ("joint", None, "'joint': the effort limit of its joint is not known here"),
    ("joints", np.array([[5.0, 5.0]]), "'joints': must be a number and >= 0 .*, or 'joint' for that of the joint"),
)
def test_a_limit_that_no_joint_has_is_refused(value, limits, says) -> None:
    with pytest.raises(ValueError, match=rf"motors\['\.\*'\].*max_effort = {says}"):
        of_joint({".*": [FREE, aa.MaxEffortClampingConfig(value)]}, limits)


@pytest.mark.parametrize("field", ["kp", "armature"])
def test_only_efforts_may_be_left_to_the_joint(field) -> None:
    word = "joint"
    motor = aa.MotorConfig(aa.PDControlConfig(word, 1.0)) if field == "kp" else aa.MotorConfig(FREE, armature=word)
    with pytest.raises(ValueError, match=f"{field} = 'joint': must be finite and >= 0 in single precision. Give a"):
        resolve_motors({".*": motor}, ["a"], ["/a"], 1, limits=lambda: np.array([[5.0]]))


def test_where_no_joint_is_known_the_word_is_refused() -> None:
    limit = aa.MaxEffortClampingConfig("joint")
    with pytest.raises(ValueError, match="max_effort = 'joint': the effort limit of its joint is not known here"):
        aa.ActuatedArrays(["hip"], {"hip": [FREE, limit]})
    with pytest.raises(ValueError, match="max_effort = 'joint': the effort limit of its joint is not known here"):
        aa.add_actuator("/World/Arm", "shoulder", "other", FREE, clamping=[limit], stage=stage_of(ARM))


def test_limit_of_the_joint_is_one_of_the_motor_before_its_gear() -> None:
    gear = aa.TransmissionConfig({"hip": -10.0, "knee": 4.0})
    stages = [aa.PDControlConfig(1.0, 0.1), aa.MaxEffortClampingConfig("joint"), gear]
    (found,) = resolve_motors(
        {".*": stages}, ["hip", "knee"], ["/hip", "/knee"], 1, limits=lambda: np.array([[50.0, 20.0]])
    )
    assert found.spec is not None
    np.testing.assert_allclose(found.spec.clamping[0].max_effort, [5.0, 5.0])


@pytest.mark.parametrize(("armature", "fits"), [(0.2, True), (0.205, True), (0.3, False), (None, True)])
def test_armature_beside_a_rotor_is_the_same(armature, fits) -> None:
    gear = aa.TransmissionConfig(-100.0, rotor_inertia=2e-5)
    motors = {".*": aa.MotorConfig(aa.PDControlConfig(1.0, 0.1), armature=armature, others=[gear])}
    if fits:
        resolve_motors(motors, ["hip"], ["/hip"], 1)
        return
    words = r"armature = 0.3 beside rotor_inertia = 2e-05: must be that of the rotor .* = 0.2"
    refused(ValueError, lambda: resolve_motors(motors, ["hip"], ["/hip"], 1), words)
