"""A user's MuJoCo model and data: the same robot as in `Simulation`, and the model restored afterwards."""

import copy

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
import warp as wp
from driven import driven
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.current import current_host
from places import ROBOTS
from refusals import cases, refused

try:
    from mujoco.batch import Batch
except ModuleNotFoundError:
    # before 3.17
    Batch = None
needs_mujoco_4 = pytest.mark.skipif(not hasattr(Batch, "expanded"), reason="batches are driven from MuJoCo 4 on")
ARM = ROBOTS / "arm_2dof.xml"
GOAL = [0.5, 0.2]
# two arms of different names, a box that floats and a ball joint; the joint between ball and hinge has no name
MIXED = """
<mujoco>
  <worldbody>
    <body name="box" pos="2 0 1"><freejoint name="loose"/><geom size="0.1" mass="1"/></body>
    <body name="left">
      <joint name="left_hip" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
      <body pos="0.4 0 0"><joint type="slide"/><geom size="0.1" mass="1"/></body>
    </body>
    <body name="right" pos="0 2 0">
      <joint name="right_hip" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
      <body name="hand" pos="0.4 0 0"><joint name="wrist" type="ball"/><geom size="0.1" mass="1"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor name="left_motor" joint="left_hip" group="3"/>
    <motor name="right_motor" joint="right_hip"/>
  </actuator>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0 0.5 0.1 -0.5 1 0 0 0"/></keyframe>
</mujoco>
"""


def arm() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(ARM))


def mixed() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MIXED)


def alone(model: mujoco.MjModel) -> aa.MujocoSimulation:
    return aa.MujocoSimulation(model, mujoco.MjData(model))


def numbers(model: mujoco.MjModel) -> dict:
    names = [name for name in dir(model) if isinstance(getattr(model, name), np.ndarray)]
    held = {name: getattr(model, name).copy() for name in names}
    held |= {f"opt.{n}": copy.copy(getattr(model.opt, n)) for n in dir(model.opt) if not n.startswith("_")}
    return held | {"stat.meaninertia": model.stat.meaninertia}


def changed(model: mujoco.MjModel, before: dict) -> list[str]:
    after = numbers(model)
    assert len(after) > 200
    return [name for name, value in before.items() if np.asarray(value).tobytes() != np.asarray(after[name]).tobytes()]


@pytest.mark.parametrize("loop", ["step", "own"])
def test_arm_moves_as_in_simulation(loop) -> None:
    with aa.Simulation(ROBOTS / "arm_2dof.usda", 1 / 240) as sim:
        there = sim.articulation("/World/Arm")
        _held = aa.ArticulationActuators("/World/Arm")
        sim.play()
        there.set_dof_position_targets(GOAL)
        expected = [(sim.step(), there.get_dof_positions().numpy()[0])[1] for _ in range(1000)]
        sim.close()
    motors = aa.motors_of_model(model := arm())
    model.opt.timestep, model.opt.integrator = 1 / 240, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data, seen = mujoco.MjData(model), []
    with aa.MujocoSimulation(model, data) as own:
        actuators = driven("arm", motors)
        own.articulation("arm").set_dof_position_targets(GOAL)
        for _ in range(1000):
            if loop == "step":
                own.step()
            else:
                actuators.step_actuators(model.opt.timestep)
                mujoco.mj_step(model, data)
            seen.append(data.qpos.copy())
    assert np.ptp(expected, axis=0).min() > 0.1
    np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*have no effort limit:UserWarning")
def test_a_model_that_is_bit_for_bit_that_of_simulation_moves_bit_for_bit_alike() -> None:
    names = [f"panda_joint{number}" for number in range(1, 8)]
    motor = aa.MotorConfig(controller=next(iter(aa.motors_of_model(arm()).values())).controller)
    with aa.Simulation(ROBOTS / "franka_panda.usda", 1 / 240) as sim:
        there = sim.articulation("/World/Panda")
        _held = driven("/World/Panda", dict.fromkeys(names, motor))
        sim.play()
        model, start = sim.model, sim.data()
        columns = [there.dof_names.index(name) for name in names]
        # a model has none
        there.set_dof_max_velocities(np.inf)
        there.set_dof_position_targets(0.3, dof_indices=columns)
        sim.step(1000)
        expected = sim.data().qpos
        sim.close()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = start.qpos, start.qvel
    ends = {model.joint(joint).name.rsplit("/", 1)[1]: model.joint(joint).name for joint in range(model.njnt)}
    with aa.MujocoSimulation(model, data) as own:
        _held = driven("world", {ends[name]: motor for name in names})
        robot = own.articulation("world")
        columns = [robot.dof_names.index(ends[name]) for name in names]
        robot.set_dof_position_targets(0.3, dof_indices=columns)
        own.step(1000)
    np.testing.assert_allclose(data.qpos, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["list", pytest.param("batch", marks=needs_mujoco_4)])
def test_environments_do_not_know_each_other(kind) -> None:
    goals = np.linspace(0.0, 0.6, 4)

    def run(model: mujoco.MjModel, data, wanted: np.ndarray) -> np.ndarray:
        with aa.MujocoSimulation(model, data) as sim:
            _held = driven("arm", aa.motors_of_model(model))
            robot = sim.articulation("arm")
            robot.set_dof_position_targets(wanted[:, None] * [1.0, 0.5])
            sim.step(200)
            return robot.get_dof_positions().numpy()

    alone = [run(model := arm(), mujoco.MjData(model), goals[i : i + 1])[0] for i in range(4)]
    model = arm()
    data = [mujoco.MjData(model) for _ in range(4)] if kind == "list" else Batch(model, 4, 1)
    together = run(model, data, goals)
    assert np.ptp(together[:, 0]) > 0.3
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("kind", ["list", pytest.param("batch", marks=needs_mujoco_4)])
def test_some_environments_are_picked_and_reset(kind) -> None:
    model = arm()
    data = [mujoco.MjData(model) for _ in range(3)] if kind == "list" else Batch(model, 3, 1)
    with aa.MujocoSimulation(model, data) as sim:
        every, some = sim.articulation("arm"), sim.articulation("/envs/env_[02]/arm")
        assert every.paths == [f"/envs/env_{i}/arm" for i in range(3)]
        assert some.paths == ["/envs/env_0/arm", "/envs/env_2/arm"]
        some.set_dof_positions([[0.1, 0.2], [0.3, 0.4]])
        some.set_dof_efforts(1.5, dof_indices=[1])
        np.testing.assert_array_equal(every.get_dof_positions().numpy()[:, 0], np.float32([0.1, 0, 0.3]))
        applied = np.concatenate([block for _, block in sim.data.blocks("qfrc_applied")])
        np.testing.assert_array_equal(applied, [[0, 1.5], [0, 0], [0, 1.5]])
        heard = []
        sim.bus.on_reset(heard.append)
        sim.reset([2])
        np.testing.assert_array_equal(every.get_dof_positions().numpy()[:, 0], np.float32([0.1, 0, 0]))
        np.testing.assert_array_equal(every.get_dof_position_targets().numpy()[:, 0], np.float32([0.1, 0, 0]))
        np.testing.assert_array_equal(some.get_dof_efforts().numpy(), [[0, 1.5], [0, 0]])
        assert heard == [[2]]


def test_reset_to_a_keyframe() -> None:
    with alone(mixed()) as sim:
        robot = sim.articulation("world")
        assert robot.get_dof_positions().numpy().tolist() == [[0, 0, 0]]
        sim.reset(keyframe="up")
        expected = np.float32([[0.5, 0.1, -0.5]])
        np.testing.assert_array_equal(robot.get_dof_positions().numpy(), expected)
        np.testing.assert_array_equal(robot.get_dof_position_targets().numpy(), expected)
        refused(KeyError, lambda: sim.reset(keyframe="down"), "down")


def test_state_is_that_of_the_data_at_once() -> None:
    model = mixed()
    data = mujoco.MjData(model)
    data.qfrc_applied[:] = 1 / 3
    with aa.MujocoSimulation(model, data) as sim:
        robot = sim.articulation("left")
        data.qpos[model.joint("left_hip").qposadr[0]] = 0.25
        assert robot.get_dof_positions().numpy()[0, 0] == 0.25
        robot.set_dof_velocities([1.0, 2.0])
        at = model.joint("left_hip").dofadr[0]
        assert data.qvel[at : at + 2].tolist() == [1.0, 2.0]
        law = aa.ControllerPD(*(wp.full(1, gain, dtype=wp.float32, device="cpu") for gain in (8.0, 0.0)))
        with aa.ArticulationActuators.from_actuators("left", [(aa.ActuatorConfig(law), "left_hip")]) as actuators:
            robot.set_dof_position_targets(0.75)
            actuators.step_actuators(0.002)
            assert data.qfrc_applied[at] == 4.0 and (np.delete(data.qfrc_applied, at) == 1 / 3).all()
        assert data.qfrc_applied[at] == 0.0
    assert (np.delete(data.qfrc_applied, at) == 1 / 3).all()


def test_robots_are_bodies() -> None:
    with alone(mixed()) as sim:
        assert current_host() is sim and sim.articulation("left").dof_names == ["left_hip", "joint_2"]
        assert sim.articulation("body_3").dof_names == ["joint_2"]
        assert sim.articulation("/world").dof_names == ["left_hip", "joint_2", "right_hip"]
        assert sim.articulation("ri.*").dof_paths == [["/right/right_hip"]]
        refused(ValueError, lambda: sim.articulation("left|right"), "robots of one articulation must have the same")


@pytest.mark.parametrize("end", ["wrapper", "simulation", "error"])
def test_models_actuators_are_silent_meanwhile(end) -> None:
    model = mixed()
    data = mujoco.MjData(model)
    data.ctrl[:] = 5.0
    model.opt.disableactuator = 1 << 7
    before = numbers(model)

    def forces() -> list[float]:
        mujoco.mj_forward(model, data)
        return [float(data.qfrc_actuator[model.joint(name).dofadr[0]]) for name in ("left_hip", "right_hip")]

    assert forces() == [5.0, 5.0]
    sim = aa.MujocoSimulation(model, data)
    motor = aa.motors_of_model(model)["left_hip"]
    actuators = driven("left", {"left_hip": motor})
    assert forces() == [0.0, 5.0]
    # a second wrapper, and not before the last is gone does the model act
    other = driven("world", {"right_hip": motor})
    assert forces() == [0.0, 0.0]
    other.close()
    assert forces() == [0.0, 5.0]
    actuators.set_dof_feedforward_effort_targets(1.0)
    actuators.step_actuators(0.002)
    assert data.qfrc_applied.any()
    if end == "wrapper":
        actuators.close()
    elif end == "simulation":
        sim.close()
        refused(HostError, lambda: actuators.step_actuators(0.002), "physics is not running")
    else:
        with pytest.raises(ZeroDivisionError), sim:
            sim.bus.on_pre_step(lambda dt, context: print(1 / 0))
            sim.step()
    assert forces() == [5.0, 5.0] and changed(model, before) == [] and not data.qfrc_applied.any()
    sim.close()
    actuators.close()


@needs_mujoco_4
def test_batch_is_given_back_as_it_was() -> None:
    model = arm()
    batch = Batch(model, 2, 1)
    batch.bind("ctrl")[:] = 0.1
    forces = batch.bind("qfrc_actuator")
    with aa.MujocoSimulation(model, batch):
        _held = driven("/envs/env_1/arm", aa.motors_of_model(model))
        batch.forward()
        assert forces[0].all() and not forces[1].any()
    batch.forward()
    assert forces.all() and batch.expand("actuator_group").tolist() == [[0, 0], [0, 0]]
    assert batch.expand("opt.disableactuator").tolist() == [0, 0]


def test_no_group_is_free() -> None:
    """MuJoCo disables actuators by group, of which there are 31."""
    motors = "".join(f'<motor joint="left_hip" group="{group}"/>' for group in range(31))
    model = mujoco.MjModel.from_xml_string(MIXED.replace("</actuator>", motors + "</actuator>"))
    motor = aa.motors_of_model(arm())["shoulder"]
    with alone(model):
        with pytest.raises(HostError, match=r"in all of the groups 0 … 30: one must be free"):
            driven("left", {"left_hip": motor})


def test_armature_and_friction_are_set_and_given_back() -> None:
    model = arm()
    before = numbers(model)
    with alone(model) as sim:
        robot = sim.articulation("arm")
        robot.set_dof_armatures([[0.5, 0.25]])
        robot.set_dof_friction_properties(static_frictions=0.5)
        assert model.dof_armature.tolist() == [0.5, 0.25]
        model.dof_armature[0] = 1 / 3
        robot.set_dof_armatures(robot.get_dof_armatures())
        assert model.dof_armature.tolist() == [1 / 3, 0.25]
        robot.set_dof_armatures(0.5, dof_indices=[0])
        assert model.dof_frictionloss.tolist() == [0.5, 0.5] and "dof_invweight0" in changed(model, before)
        assert robot.get_dof_armatures().numpy().tolist() == [[0.5, 0.25]]
        assert robot.get_dof_limits()[0].numpy().tolist() == [[-2.5, 0.0]]
        robot.set_dof_max_velocities(np.inf)
        with pytest.raises(HostError, match=r"max velocities: MuJoCo has none, .* Open the model's file by Simulation"):
            robot.set_dof_max_velocities(1.0)
        assert robot.get_dof_max_velocities().numpy().tolist() == [[np.inf, np.inf]]
        refused(HostError, robot.get_dof_drive_model_properties, "speed effort gradients: MuJoCo does not have them")
    # 3.11 computes the mean inertia otherwise than its compiler
    assert [name for name in changed(model, before) if name != "stat.meaninertia"] == []


def test_armature_of_steps_is_refused() -> None:
    with alone(arm()) as sim:
        robot = sim.articulation("arm")
        assert not robot.takes_step_armatures
        refused(HostError, lambda: robot.set_step_armatures(1.0), "in a model of one's own")
        motors = {".*": [aa.PDControlConfig(1.0, 0.1), aa.ImplicitConfig(in_engine=True)]}
        with pytest.raises(HostError, match="which takes no armatures per physics step"):
            aa.ArticulationActuators.from_configs("arm", motors)


@pytest.mark.parametrize("kind", ["list", pytest.param("batch", marks=needs_mujoco_4)])
def test_armature_of_one_environment(kind) -> None:
    model = arm()
    data = [mujoco.MjData(model) for _ in range(2)] if kind == "list" else Batch(model, 2, 1)
    with aa.MujocoSimulation(model, data) as sim:
        robot = sim.articulation("arm")
        if kind == "batch":
            robot.set_dof_armatures(0.5, indices=[1])
            assert robot.get_dof_armatures().numpy().tolist() == [[0, 0], [0.5, 0.5]]
        else:
            robot.set_dof_armatures(0.25)
            robot.set_dof_armatures(0.25, indices=[1])
            with pytest.raises(HostError, match=r"armatures would differ between data of one model.*Batch"):
                robot.set_dof_armatures(0.5, indices=[1])
            assert robot.get_dof_armatures().numpy().tolist() == [[0.25, 0.25], [0.25, 0.25]]
    if kind == "batch":
        assert data.expand("dof_armature").tolist() == [[0, 0], [0, 0]]


@cases(
    "make, error, message",
    (lambda m: ("arm.xml", mujoco.MjData(m)), TypeError, "model is a str: must be a mujoco.MjModel"),
    (lambda m: (m, m), TypeError, "data is a MjModel: must be a mujoco.MjData"),
    (lambda m: (m, []), ValueError, "data holds 0 MjData: must be at least one"),
    (lambda m: (m, [mujoco.MjData(m)] * 2), ValueError, "data holds 2 MjData: .* each once"),
    (lambda m: (m, mujoco.MjData(mixed())), ValueError, r"data\[0\] has \(nq, nv, nu\) = \(14, 12, 2\), the model"),
    pytest.param(
        lambda m: (m, Batch(mixed(), 2, 1)), ValueError, "data is a batch of another model", marks=needs_mujoco_4
    ),
)
def test_what_is_no_model_and_data(make, error, message) -> None:
    refused(error, lambda: aa.MujocoSimulation(*make(arm())), message)


@needs_mujoco_4
def test_steps_of_a_batch_that_differ() -> None:
    model = arm()
    batch = Batch(model, 2, 1)
    batch.expand("opt.timestep")[1] = 0.004
    with pytest.raises(ValueError, match=r"opt.timestep of the batch is 0.002 … 0.004 s: must be the same"):
        aa.MujocoSimulation(model, batch)
    batch.expand("opt.timestep")[0] = 0.004
    with aa.MujocoSimulation(model, batch) as sim:
        assert sim.dt == 0.004


def test_model_without_joints_to_drive() -> None:
    xml = '<mujoco><worldbody><body><freejoint name="loose"/><geom size="1"/></body></worldbody></mujoco>'
    model = mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ValueError, match=r"neither hinge nor slide joints, only {'loose': 'free'}"):
        alone(model)


def test_names_that_are_none() -> None:
    with alone(mixed()) as sim:
        words = r"'arm' matches none of the bodies .*\['world', 'left', 'body_3', 'right'\]"
        refused(ValueError, lambda: sim.articulation("arm"), words)
        with pytest.raises(ValueError, match=r"body 'box': .* others are {'loose': 'free', 'wrist': 'ball'}"):
            sim.articulation("box")
        robot = sim.articulation("right")
        assert robot.get_dof_indices("right_hip").numpy().tolist() == [0]
        with pytest.raises(ValueError, match=r"joint 'wrist' is a ball joint: .* Available: \['right_hip'\]"):
            robot.get_dof_indices("wrist")
        with pytest.raises(ValueError, match=r"'elbow' matches no joint: .* of right_hip"):
            driven("right", {"elbow": aa.motors_of_model(arm())["shoulder"]})
        refused(HostError, lambda: robot.set_dof_gains(stiffnesses=1.0), "are the actuators of your MuJoCo model")


def test_one_simulation_at_a_time_has_a_model() -> None:
    with alone(model := arm()):
        with pytest.raises(HostError, match="the model is open in another MujocoSimulation"):
            alone(model)
    with alone(model):
        pass


def test_closed_is_closed() -> None:
    sim = alone(arm())
    robot = sim.articulation("arm")
    sim.close()
    sim.close()
    for call in (sim.step, sim.reset, lambda: sim.articulation("arm"), robot.get_dof_positions, robot.buffers):
        refused(HostError, call, "is closed")
    refused(ValueError, lambda: sim.step(-1), "steps = -1")
    refused(TypeError, lambda: copy.copy(sim), "cannot be copied")


@pytest.mark.skipif(Batch is None, reason="batches are there from MuJoCo 3.17 on")
def test_batch_of_an_older_mujoco_is_told(monkeypatch) -> None:
    monkeypatch.delattr(Batch, "expanded", raising=False)
    model = arm()
    with pytest.raises(HostError, match=r"data is a batch of MuJoCo .*: must be of MuJoCo 4 or later. Run"):
        aa.MujocoSimulation(model, Batch(model, 2, 1))


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("batched", [False, pytest.param(True, marks=needs_mujoco_4)])
def test_stability_knows_what_follows_a_joint(follows: bool, batched: bool) -> None:
    arms = "".join(
        f'<body name="{name}"><joint name="{name}" axis="0 1 0"/><geom size=".02" pos=".1 0 0" mass="1"/></body>'
        for name in ("first", "second")
    )
    equality = '<equality><joint joint1="second" joint2="first" solref="0.004 1" solimp="0.999 0.999 1"/></equality>'
    text = f"<mujoco><worldbody>{arms}</worldbody>{equality * follows}</mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    data = Batch(model, 2) if batched and Batch is not None else mujoco.MjData(model)
    alone = 0.01 + 0.4 * 0.02**2
    with aa.MujocoSimulation(model, data) as sim, driven("first" if not batched else "envs/.*/first", GAINS) as arm:
        paths = "envs/.*/first" if batched else "first"
        np.testing.assert_allclose(sim.articulation(paths).get_mass_matrices().numpy(), alone, rtol=1e-5)
        assert arm.stability().joints[0].inertia == pytest.approx((1 + follows) * alone, rel=0.01)


GAINS = {"first": aa.MotorConfig(aa.PDControlConfig(40.0, 1.0))}
