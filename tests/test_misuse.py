"""Kinds of misuse that `tests/hardening/misuse.py` found: each is refused in words of ours."""

from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.compat import newton_actuators
from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuator, groups_of
from isaacsim.core.experimental.actuators.compat.newton_actuators import ActuatorPD
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner, register_node_type
from isaacsim.core.experimental.actuators.tools.inspection.compare import differences
from isaacsim.core.experimental.actuators.tools.inspection.lint import fix
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog, train_actuator
from isaacsim.core.experimental.actuators.tools.trials.step_response import step_response
from places import ROBOTS
from refusals import cases, refused

MANY, ONES = np.broadcast_to(0.0, 10**10), np.broadcast_to(1, 10**10)
MOTORS = {".*": [aa.PDControlConfig(1.0, 1.0)]}
INDICES = wp.array([0, 1], dtype=wp.uint32, device="cpu")
PD = aa.ControllerPD(*(wp.zeros(2, dtype=wp.float32, device="cpu") for _ in range(2)))
DELAY = aa.Delay(wp.zeros(2, dtype=wp.int32, device="cpu"), 1)
LOG = ActuatorLog(0.1, *np.zeros((4, 50, 1)))


def wrapped(**options):
    return aa.ArticulationActuators("/World/Pendulum", **options)


@pytest.fixture
def sim():
    with aa.Simulation(ROBOTS / "pendulum.usda") as opened:
        opened.play()
        yield opened


@pytest.fixture
def robot(sim):
    return aa.Articulation("/World/Pendulum")


@cases(
    "call, said",
    (lambda: aa.Simulation(3), "source = 3: must be the path"),
    (lambda: aa.Simulation(ROBOTS / "pendulum.usda", dt=[1]), r"dt = \[1\]: must be a number"),
    (lambda: aa.Simulation(ROBOTS / "pendulum.usda", num_envs={}), "num_envs = {}: must be a number"),
    (
        lambda: aa.Simulation(ROBOTS / "pendulum.usda", engine=np.zeros(2)),
        "engine = .*must be 'mujoco', 'mujoco_warp' or 'physx'",
    ),
    (lambda: aa.ActuatorGroup(1j), "actuators = 1j: must be a list of actuators"),
    (lambda: aa.ActuatorGroup([object()]), "must be an Actuator"),
    (lambda: aa.Actuator([0, 1], object()), r"indices = \[0, 1\]: must be a Warp array"),
    (lambda: aa.Actuator(wp.zeros(1, dtype=wp.uint32, device="cpu"), np.zeros(3)), "must be a component"),
    (lambda: aa.motors_of_model(np.zeros(2)), "model = .*must be an MjModel"),
    (lambda: aa.parse_actuator_prim(np.float16(1)), "prim = .*must be a prim"),
    (lambda: aa.plot_bode([], "hinge"), r"actuators = \[\]: must be an ArticulationActuators"),
    (lambda: aa.register_actuator_component("MyAPI", object, slice(None)), "kind = .*must be a ComponentKind"),
    (lambda: aa.inspect_robots(ROBOTS / "pendulum.usda", 0.5), "variants = 0.5: must be a dictionary"),
    (lambda: aa.ActuatedArrays(3, {}), "dof_names = 3: must be"),
    (lambda: aa.Actuator(INDICES, PD, clamping=[None]), "None: must be a component"),
    (lambda: aa.Actuator(INDICES, PD, clamping=[PD]), "clamping has ControllerPD, of kind controller: must be an eff"),
    (lambda: aa.Actuator(INDICES, PD, clamping=3), "clamping = 3: must be a list of limits"),
    (lambda: aa.ActuatorConfig(aa.PDControlConfig(1.0, 1.0), 0.5), "clamping = 0.5: must be a list of limits"),
    (lambda: aa.ActuatorConfig(PD).controller.read([]), r"parameter = \[\]: must be the name"),
    (lambda: aa.Actuator(INDICES, PD, DELAY).state().assign([]), r"other = \[\]: must be a state"),
    (lambda: aa.ControllerPD.resolve_arguments([]), r"args = \[\]: must be a dictionary"),
    (lambda: aa.Recording(None, [], len), "subject = None: must be a Subject"),
    (lambda: aa.buzz(np.zeros(50), 0.1, threshold="x"), "threshold = 'x': must be a number"),
    (lambda: aa.stability_of([[1.0]], {}, 1.0, 1.0), "dt = {}: must be a number"),
    (lambda: aa.stability_of([[1.0]], 0.1, 1.0, 1.0, joints=3), "joints = 3: must be a name"),
    (lambda: aa.motor_figures(np.zeros(2)), "name = .*must be the name of a motor"),
    (lambda: aa.load_motors(np.zeros(2)), "path = .*must be the path of a file"),
    (lambda: aa.save_motors([], {}), r"path = \[\]: must be the path of a file"),
    (lambda: aa.load_metadata(0.5), "path = 0.5: must be the path of a file"),
    (lambda: aa.load_metadata(b"x"), "path = b'x': must be the path of a file"),
    (lambda: aa.ControllerNeuralMLP(MANY), "path = .*must be the path of a file"),
    (lambda: aa.ClampingPositionBased(3), "lookup_table_path = 3: must be the path of a file"),
    (lambda: aa.lint(np.zeros(2)), "file = .*must be the path of a file"),
    (lambda: fix("x", 1), "overlay = 1: must be the path of a file"),
    (lambda: differences({}, 3), "first = {}: must be a list of robots"),
    (lambda: step_response("x", "/a", "b", amplitude=0.1, seconds=1.0), "open_simulation = 'x': must be a function"),
    (lambda: GraphRunner(3), "simulation = 3: must be a Simulation"),
    (lambda: register_node_type("a.b", b"x"), "node_class = b'x': must be a class"),
    (lambda: groups_of({}, "/World"), "stage = {}: must be a USD stage"),
    (lambda: IdealPDActuator(None, ["a"], [0], [], "cpu"), r"num_envs = \[\]: must be an integer"),
    (lambda: ActuatorPD(INDICES, INDICES, Path("x"), None, None), "kp = .*must be a Warp array"),
    (lambda: newton_actuators.parse_actuator_prim([]), r"prim = \[\]: must be a prim"),
    (lambda: ActuatorLog("x", *np.zeros((4, 5))), "dt = 'x': must be a number"),
    (lambda: train_actuator(3), "log = 3: must be an ActuatorLog"),
)
def test_odd_arguments_are_named(call, said):
    refused(TypeError, call, said)


@cases(
    "call, said",
    (lambda: aa.load_metadata("a\0b"), "must be a path that a system can have"),
    (lambda: aa.load_metadata("\ud800"), "must be a path that a system can have"),
    (lambda: aa.inspect_robots("x" * 20_000), "must be a path that a system can have, of 4096 characters"),
    (lambda: aa.ClampingPositionBased(None, 5, [1.0]), "lookup_positions = 5: must be numbers"),
    (lambda: aa.ClampingPositionBased(None, MANY, MANY), "lookup_positions = .*100000 of them at most"),
    (lambda: aa.ActuatedArrays(["a"], MOTORS, device="cuda:7000"), "device = 'cuda:7000': must be one of 'cpu'"),
    (lambda: aa.ActuatedArrays(["a"], MOTORS, device="x"), "device = 'x': must be one of 'cpu'"),
    (lambda: aa.Simulation(ROBOTS / "pendulum.usda", num_envs=2**63), "num_envs = 9.*must be an integer >= 1 and <="),
    (lambda: aa.ActuatedArrays(["a"], MOTORS, num_robots=np.inf), "num_robots = inf: must be an integer"),
    (
        lambda: aa.ActuatedArrays(["a"], MOTORS, num_robots=2**31),
        "num_robots = 2147483648: must be an integer >= 1 and",
    ),
    (lambda: aa.ActuatedArrays(["a"], MOTORS).record(dofs=["["]), "must be a regular expression"),
    (lambda: aa.ActuatedArrays(["a"], MOTORS).record(dofs="((a+)+)+$"), "can take years to try"),
    (lambda: aa.stability_of({}, 0.1, 1.0, 1.0), "mass_matrix = {}: must be numbers"),
    (lambda: aa.stability_of([[1.0]], 0.1, "x", 1.0), "kp = 'x': must be numbers"),
    (lambda: aa.buzz({1.0}, 0.1), "positions = {1.0}: must be numbers"),
    (lambda: PD.read("compute"), "parameter = 'compute': must be an array of the component, kp"),
    (lambda: ActuatorLog(0.1, *["x"] * 4), "position = 'x': must be numbers"),
    (lambda: train_actuator(LOG, input_idx=range(10**12)), "input_idx has 10+ entries"),
)
def test_odd_values_are_named(call, said):
    """Likewise where the type would do; however much there is of it."""
    refused(ValueError, call, said)


def test_device_is_named():
    for device in ({}, 3, (), np.zeros(2)):
        with pytest.raises(TypeError, match=r"device = .*must be the name of a device"):
            aa.ActuatedArrays(["a"], MOTORS, device=device)


def test_recorder_outside_of_its_block_says_so():
    refused(RuntimeError, lambda: aa.ActuatedArrays(["a"], MOTORS).record().before(), "Enter the `with` block")


@cases(
    "call, kind, said",
    (lambda sim, robot: sim.step({}), TypeError, "steps = {}"),
    (lambda sim, robot: sim.data(np.zeros(0, int)), ValueError, "must be one environment"),
    (lambda sim, robot: sim.articulation(["/World", 3]), TypeError, "articulation paths = .*must be a path"),
    (lambda sim, robot: sim.articulation(MANY), TypeError, "articulation paths = .*must be a path"),
    (lambda sim, robot: robot.get_dof_indices(MANY), TypeError, "names = .*must be a name"),
    (lambda sim, robot: robot.observe_contact_forces(True), TypeError, "links = True"),
    (lambda sim, robot: robot.switch_dof_control_mode(np.zeros(0)), ValueError, "mode = "),
    (lambda sim, robot: robot.set_dof_positions(MANY), ValueError, "has shape .*must fit"),
    (lambda sim, robot: robot.set_dof_positions({}), ValueError, "must be numbers"),
    (lambda sim, robot: robot.set_dof_positions([[1], [1, 2]]), ValueError, "rows of one length"),
    (lambda sim, robot: robot.set_dof_positions(np.ma.array([1.0], mask=[1])), ValueError, "masked"),
    (lambda sim, robot: robot.get_dof_positions(indices=range(10**12)), ValueError, "more than"),
    (lambda sim, robot: robot.get_dof_indices(wp.zeros(1, dtype=wp.bool, device="cpu")), TypeError, "names = "),
    (lambda sim, robot: robot.envs_to_rows(MANY), ValueError, "environment indices = "),
    (lambda sim, robot: robot.envs_to_rows(ONES), ValueError, "indices: 10+ of them: must be at most"),
    (lambda sim, robot: robot.get_dof_positions(indices=ONES), ValueError, "indices: 10+ of them: must be at most"),
    (
        lambda sim, robot: robot.set_dof_gains(1.0, update_default_gains=np.zeros(2)),
        TypeError,
        "update_default_gains = .*True or False",
    ),
    (lambda sim, robot: wrapped().observe_efforts(np.zeros(0)), TypeError, "on = .*must be True or False"),
    (lambda sim, robot: wrapped().stability(dt="x"), TypeError, "dt = 'x': must be a number"),
    (lambda sim, robot: wrapped().record(dofs=0.5), TypeError, "dofs = 0.5: must be a pattern"),
    (lambda sim, robot: wrapped(device={}), TypeError, "device = {}: must be the name of a device"),
    (lambda sim, robot: wrapped(auto_step_pre_physics=MANY), TypeError, "auto_step_pre_physics = .*True or False"),
    (lambda sim, robot: aa.ArticulationActuators(3), TypeError, "articulation paths = 3"),
    (
        lambda sim, robot: aa.ArticulationActuators.from_actuators("/World/Pendulum", [aa.PDControlConfig(1.0, 1.0)]),
        TypeError,
        "must be a pair",
    ),
)
def test_odd_arguments_of_methods_are_named(sim, robot, call, kind, said):
    before = robot.get_dof_positions().numpy()
    refused(kind, lambda: call(sim, robot), said)
    assert np.array_equal(robot.get_dof_positions().numpy(), before)


@cases("dt", None, "x", np.ones(2), -1.0, np.nan)
def test_odd_time_step_stops_nothing_else(dt):
    arrays = aa.ActuatedArrays(["a"], {"a": [aa.PDControlConfig(2.0, 0.0)]})
    q = np.zeros((1, 1), np.float32)
    refused((TypeError, ValueError), lambda: arrays.step(q, q, q + 1, dt), "dt = ")
    assert arrays.step(q, q, q + 1, 0.01)[0, 0] == 2.0


def test_actuator_that_is_none_is_named(sim) -> None:
    with pytest.raises(TypeError, match="actuator 'hinge' = None: must be an Actuator or ActuatorConfig"):
        aa.ArticulationActuators.from_actuators("/World/Pendulum", [(None, "hinge")])


def test_delay_beyond_all_numbers_is_refused(sim) -> None:
    with (
        aa.ArticulationActuators.from_configs(
            "/World/Pendulum", {".*": [aa.PDControlConfig(1.0, 1.0), aa.DelayConfig(3)]}
        ) as one,
        pytest.raises(ValueError, match="its numbers must be finite"),
    ):
        one.draw_delays(0, 10**400, seed=1)
