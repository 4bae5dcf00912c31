"""The node on the host of arrays and on MuJoCo: every input, every output, and how it ends."""

import gc
import importlib
import itertools
import logging
import math
import sys

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes import OgnArticulationActuators as node_module
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes import state as state_module
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators import (
    OgnArticulationActuators,
)
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph import database
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from processes import ran
from pxr import Usd, UsdPhysics
from refusals import cases, refused
from torch_stand_in import run_by_torch, unknown_file

__all__ = ["run_by_torch"]
JOINTS = ["hip", "knee", "ankle"]
DT = 0.01
# of the drives while no actuator works
GAINS = [30.0, 20.0, 10.0]


class Graph:
    """Nodes of the type over a host of two equal robots, or of one; the ankle has no actuator."""

    def __init__(self, robots: int = 1) -> None:
        self.stage = Usd.Stage.CreateInMemory()
        for path in ("/World/Leg", "/World/Leg_0"):
            UsdPhysics.ArticulationRootAPI.Apply(self.stage.DefinePrim(path, "Xform"))
            for joint in JOINTS:
                UsdPhysics.RevoluteJoint.Define(self.stage, f"{path}/joints/{joint}")
            limit = [aa.MaxEffortClampingConfig(5.0)]
            aa.add_actuator(path, "knee", "knee", aa.PDControlConfig(10.0, 0.0), clamping=limit, stage=self.stage)
            aa.add_actuator(path, "hip", "hip", aa.PDControlConfig(100.0, 0.0), stage=self.stage)
        self.host = ArraysHost(JOINTS, robots, path="/World/Leg", stage=self.stage)
        self.host.bus.on_ready(self._give_gains, order=-1)
        self._count = itertools.count()

    def _give_gains(self) -> None:
        self.arrays.stiffnesses[:] = np.resize(GAINS, self.arrays.stiffnesses.shape)

    @property
    def arrays(self):
        return self.host.arrays()

    def node(self, **inputs) -> database.Database:
        made = database.node_database(OgnArticulationActuators)(database.Node(f"/World/Graph/node_{next(self._count)}"))
        for name, value in {"robotPath": "/World/Leg", **inputs}.items():
            made.write(f"inputs:{name}", value)
        return made

    def callbacks(self) -> int:
        return len(self.host.bus.pre_step.entries)


def errors(db: database.Database) -> str:
    return "\n".join(db.node.get_compute_messages(database.Severity.ERROR))


@pytest.fixture(autouse=True)
def _nothing_left_over():
    yield
    state_module.release_all()


@pytest.fixture
def graph():
    made = Graph()
    with aa.use_host(made.host):
        made.host.play()
        yield made


def test_first_pulse_takes_the_drives(graph) -> None:
    db = graph.node()
    assert not db.per_instance_state.initialized and graph.arrays.stiffnesses.tolist() == GAINS
    assert db.evaluate("execIn"), errors(db)
    assert db.per_instance_state.initialized and graph.arrays.stiffnesses.tolist() == [0, 0, 10]


def test_auto_step_works_before_each_physics_step(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    graph.arrays.position_targets[:] = [0.1, 0.2, 0.3]
    for knee_target, expected in ((0.2, 2.0), (0.4, 4.0), (0.9, 5.0)):
        graph.arrays.position_targets[1] = knee_target
        graph.host.step(DT)
        db.evaluate("execIn")
        np.testing.assert_allclose(graph.arrays.efforts, [10.0, expected, 0.0], rtol=1e-6)


def test_manual_steps_only_when_pulsed(graph) -> None:
    db = graph.node(autoStepPrePhysics=False, stepDt=DT)
    graph.arrays.position_targets[:] = 0.1
    assert db.evaluate("execIn"), errors(db)
    np.testing.assert_allclose(graph.arrays.efforts, [10.0, 1.0, 0.0], rtol=1e-6)
    graph.arrays.position_targets[:] = 0.2
    graph.host.step(DT)
    np.testing.assert_allclose(graph.arrays.efforts, [10.0, 1.0, 0.0], rtol=1e-6)


def test_manual_steps_with_its_step(graph, monkeypatch) -> None:
    steps: list[float] = []
    monkeypatch.setattr(aa.ArticulationActuators, "step_actuators", lambda self, dt, context=None: steps.append(dt))
    db = graph.node(autoStepPrePhysics=False, stepDt=0.004)
    db.evaluate("execIn")
    assert steps == [0.004]


@cases("step_dt", 0.0, -0.01, math.nan, math.inf)
def test_manual_step_must_be_a_duration(graph, step_dt) -> None:
    db = graph.node(autoStepPrePhysics=False, stepDt=step_dt)
    assert not db.evaluate("execIn") and f"stepDt = {step_dt}: must be a finite number of seconds > 0" in errors(db)
    assert "Connect deltaSimulationTime of On Physics Step" in errors(db)
    assert graph.arrays.stiffnesses.tolist() == GAINS


def test_step_is_not_looked_at_when_stepping_by_itself(graph) -> None:
    assert graph.node(stepDt=0.0).evaluate("execIn")


def test_auto_step_toggles_live(graph) -> None:
    db = graph.node(stepDt=DT)
    counts = []
    for auto in (True, False, True):
        db.write("inputs:autoStepPrePhysics", auto)
        db.evaluate("execIn")
        counts.append(graph.callbacks())
        first = db.per_instance_state.actuators
    assert counts == [1, 0, 1]
    assert first is db.per_instance_state.actuators and graph.arrays.stiffnesses.tolist() == [0, 0, 10]


def test_execution_goes_on_after_success_only(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    assert db.outputs.execOut == 1
    db.write("inputs:robotPath", "/World/Nothing")
    db.evaluate("execIn")
    assert db.outputs.execOut == 0


@cases(
    "inputs, expected",
    ({"feedforwardCommand": [1.5]}, [1.5, 1.5, 0.0]),
    ({"feedforwardCommand": [1.0, 2.0, 3.0]}, [1.0, 2.0, 0.0]),
    ({"feedforwardCommand": [4.0], "dofIndices": [1]}, [0.0, 4.0, 0.0]),
    ({"feedforwardCommand": [4.0, 3.0], "dofNames": ["knee", "hip"]}, [3.0, 4.0, 0.0]),
    ({"feedforwardCommand": [4.0], "dofNames": ["ankle"]}, [0.0, 0.0, 0.0]),
)
def test_feedforward_reaches_its_joints(graph, inputs, expected) -> None:
    db = graph.node(**inputs)
    assert db.evaluate("execIn"), errors(db)
    graph.host.step(DT)
    np.testing.assert_allclose(graph.arrays.efforts, expected, rtol=1e-6)


def test_emptied_feedforward_stays(graph) -> None:
    db = graph.node(feedforwardCommand=[2.0])
    efforts = []
    for command in ([2.0], [], [0.0]):
        db.write("inputs:feedforwardCommand", command)
        db.evaluate("execIn")
        graph.host.step(DT)
        efforts.append(float(graph.arrays.efforts[0]))
    assert efforts == [2.0, 2.0, 0.0]


def test_feedforward_is_set_at_each_pulse(graph) -> None:
    db = graph.node(feedforwardCommand=[2.0])
    db.evaluate("execIn")
    db.per_instance_state.actuators.set_dof_feedforward_effort_targets(9.0)
    db.evaluate("execIn")
    graph.host.step(DT)
    assert graph.arrays.efforts.tolist() == [2.0, 2.0, 0.0]


def test_feedforward_reaches_its_robots() -> None:
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        graph.host.play()
        db = graph.node(robotPath="/World/Leg_.*", feedforwardCommand=[2.0], indices=[1])
        assert db.evaluate("execIn"), errors(db)
        graph.host.step(DT)
        assert graph.arrays.efforts.tolist() == [0, 0, 0, 2, 2, 0]


@cases(
    "inputs, message",
    ({"dofNames": ["kne"], "feedforwardCommand": [1.0]}, "'kne' is found 0 times in </World/Leg>"),
    ({"dofNames": ["kne"], "feedforwardCommand": [1.0]}, "Available: ['hip', 'knee', 'ankle']"),
    ({"dofNames": ["knee"], "dofIndices": [1]}, "dofNames and dofIndices are both given: must be one of them"),
    ({"feedforwardCommand": [1.0, 2.0]}, "target_feedforward_efforts has shape (2,): must fit (1, 3)"),
    ({"feedforwardCommand": [1.0], "dofIndices": [3]}, "DOF index 3: must be in 0 … 2"),
    ({"feedforwardCommand": [1.0], "indices": [-1]}, "robot index -1: must be in 0 … 0"),
    ({"feedforwardCommand": [math.nan]}, "target_feedforward_efforts[0, 0] = nan: must be finite"),
)
def test_wrong_feedforward_is_an_error_of_the_node(graph, inputs, message) -> None:
    db = graph.node(**inputs)
    assert not db.evaluate("execIn") and message in errors(db)
    graph.arrays.position_targets[:] = 0.1
    graph.host.step(DT)
    np.testing.assert_allclose(graph.arrays.efforts, [10.0, 1.0, 0.0], rtol=1e-6)


def test_target_names_the_robot_when_the_path_is_empty(graph) -> None:
    db = graph.node(robotPath="", targetPrim=["/World/Leg"])
    assert db.evaluate("execIn"), errors(db)
    assert db.per_instance_state.actuators.articulation.paths == ["/World/Leg"]


def test_path_wins_over_the_target(graph) -> None:
    assert graph.node(targetPrim=["/World/Nothing"]).evaluate("execIn")


def test_several_targets_are_several_robots() -> None:
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        graph.host.play()
        db = graph.node(robotPath="", targetPrim=["/World/Leg_0", "/World/Leg_1"])
        assert db.evaluate("execIn"), errors(db)
        assert db.per_instance_state.actuators.articulation.paths == ["/World/Leg_0", "/World/Leg_1"]


def test_no_robot_is_an_error_with_a_remedy(graph) -> None:
    """Neither path nor target: the node says which to set, and nothing is made."""
    db = graph.node(robotPath="")
    assert not db.evaluate("execIn") and "Set robotPath" in errors(db) and not db.per_instance_state.initialized


@cases("path", "/World/Nothing", "/World/Leg/joints", "/World/(")
def test_wrong_path_is_an_error_until_corrected(graph, path) -> None:
    db = graph.node(robotPath=path)
    assert not db.evaluate("execIn") and path in errors(db) and "ValueError" in errors(db)
    db.write("inputs:robotPath", "/World/Leg")
    assert db.evaluate("execIn") and errors(db) == ""


def test_another_path_releases_the_robot_of_before() -> None:
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        graph.host.play()
        db = graph.node(robotPath="/World/Leg_0")
        db.evaluate("execIn")
        before = graph.arrays.stiffnesses.tolist()
        db.write("inputs:robotPath", "/World/Leg_1")
        assert db.evaluate("execIn"), errors(db)
        assert before == [0, 0, 10, *GAINS] and graph.arrays.stiffnesses.tolist() == [*GAINS, 0, 0, 10]
        assert graph.callbacks() == 1


def test_a_wrong_path_after_a_right_one_releases_too(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    db.write("inputs:robotPath", "/World/Nothing")
    db.evaluate("execIn")
    assert graph.arrays.stiffnesses.tolist() == GAINS and graph.callbacks() == 0


def test_two_nodes_drive_two_robots() -> None:
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        graph.host.play()
        left = graph.node(robotPath="/World/Leg_0", feedforwardCommand=[1.0])
        right = graph.node(robotPath="/World/Leg_1", feedforwardCommand=[3.0])
        assert left.evaluate("execIn") and right.evaluate("execIn")
        left.release_instance(left.node)
        graph.host.step(DT)
        assert graph.arrays.efforts.tolist() == [0, 0, 0, 3, 3, 0]
        assert graph.arrays.stiffnesses.tolist() == [*GAINS, 0, 0, 10]


def test_reset_forgets_faults_and_keeps_the_feedforward(graph) -> None:
    db = graph.node(feedforwardCommand=[2.0])
    db.evaluate("execIn")
    graph.arrays.positions[1] = math.nan
    graph.host.step(DT)
    db.evaluate("execIn")
    assert len(db.outputs.faults) == 1
    assert db.evaluate("resetIn") and len(db.outputs.faults) == 0 and db.outputs.execOut == 0
    graph.arrays.positions[1] = 0.0
    graph.host.step(DT)
    assert graph.arrays.efforts.tolist() == [2.0, 2.0, 0.0]


def test_reset_before_the_first_pulse_does_nothing(graph) -> None:
    db = graph.node()
    assert db.evaluate("resetIn") and not db.per_instance_state.initialized


def test_reset_with_a_pulse_resets_before_the_step(graph) -> None:
    db = graph.node(autoStepPrePhysics=False)
    graph.arrays.positions[1] = math.nan
    db.evaluate("execIn")
    graph.arrays.positions[:] = [math.nan, 0.0, 0.0]
    assert db.evaluate("execIn", "resetIn")
    assert [*db.outputs.faults] == ["/World/Leg/Actuators/hip: joint hip of </World/Leg>, step 0: position not finite."]


def test_outputs_are_robot_after_robot() -> None:
    """Joints in the order of the articulation, though the knee's actuator comes first on the stage."""
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        graph.host.play()
        db = graph.node(robotPath="/World/Leg_.*", autoStepPrePhysics=False)
        graph.arrays.position_targets[:] = [0.1, 0.9, 0.0, 0.2, 0.3, 0.0]
        assert db.evaluate("execIn"), errors(db)
        assert list(db.outputs.dofNames) == ["hip", "knee"]
        np.testing.assert_allclose(db.outputs.computedEfforts, [10, 9, 20, 3], rtol=1e-6)
        np.testing.assert_allclose(db.outputs.appliedEfforts, [10, 5, 20, 3], rtol=1e-6)


def test_efforts_are_zero_before_the_first_step(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    assert db.outputs.computedEfforts.tolist() == db.outputs.appliedEfforts.tolist() == [0.0, 0.0]


def test_fault_is_a_line(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    graph.host.step(DT)
    graph.arrays.velocities[1] = math.inf
    graph.host.step(DT)
    db.evaluate("execIn")
    said = "/World/Leg/Actuators/knee: joint knee of </World/Leg>, step 1: velocity not finite."
    assert [*db.outputs.faults] == [said]


def test_stopped_stepping_is_an_error_until_reset(graph, monkeypatch) -> None:
    db = graph.node()
    db.evaluate("execIn")
    actuators = db.per_instance_state.actuators
    with monkeypatch.context() as patch:
        patch.setattr(actuators._assembly, "step", lambda dt: (_ for _ in ()).throw(RuntimeError("no memory")))
        refused(RuntimeError, lambda: graph.host.step(DT))
    said = []
    for _ in range(3):
        assert not db.evaluate("execIn")
        said.append(errors(db))
    assert len(set(said)) == 1 and "stopped stepping on RuntimeError: no memory" in said[0]
    assert "pulse resetIn" in said[0] and db.evaluate("execIn", "resetIn")
    graph.arrays.position_targets[:] = 0.1
    graph.host.step(DT)
    assert graph.arrays.efforts[0] == pytest.approx(10.0)


def test_error_shows_what_and_where(graph, monkeypatch) -> None:
    db = graph.node(autoStepPrePhysics=False)
    monkeypatch.setattr(aa.ArticulationActuators, "step_actuators", lambda *_: {}["gone"])
    assert not db.evaluate("execIn")
    first, *rest = errors(db).splitlines()
    assert first.endswith("Articulation Actuators failed with KeyError: 'gone'") and rest[0].startswith("Traceback")


def test_same_error_is_told_once(graph) -> None:
    db = graph.node(robotPath="/World/Nothing")
    known = []
    for _ in range(3):
        db.evaluate("execIn")
        (message,) = db.node.get_compute_messages(database.Severity.ERROR)
        known.append(message)
    assert len(set(known)) == 1 and db.node.log_compute_message(database.Severity.ERROR, known[0])


def test_manual_pulse_before_play_is_an_error() -> None:
    graph = Graph()
    with aa.use_host(graph.host):
        db = graph.node(autoStepPrePhysics=False)
        assert not db.evaluate("execIn") and "physics is not running" in errors(db)
        graph.host.play()
        assert db.evaluate("execIn")


def test_without_a_simulation_the_error_says_how_to_open_one() -> None:
    db = database.node_database(OgnArticulationActuators)(database.Node("/World/Graph/node"))
    db.write("inputs:robotPath", "/World/Leg")
    assert not db.evaluate("execIn") and "no simulation is open" in errors(db)


def test_deleted_node_gives_the_robot_back(graph) -> None:
    db = graph.node(feedforwardCommand=[1.0])
    db.evaluate("execIn")
    graph.host.step(DT)
    state = db.per_instance_state
    db.release_instance(db.node)
    assert graph.arrays.stiffnesses.tolist() == GAINS and graph.arrays.efforts.tolist() == [0, 0, 0]
    assert graph.callbacks() == 0 and not state.initialized and db.per_instance_state is not state


def test_deletion_tolerates_a_database_that_is_gone(monkeypatch) -> None:
    def gone() -> None:
        raise RuntimeError("deleted")

    monkeypatch.setattr(node_module, "_database", gone)
    OgnArticulationActuators.release_instance(object(), 0)


def test_deletion_logs_what_it_could_not_release(graph, monkeypatch, caplog) -> None:
    db = graph.node()
    db.evaluate("execIn")
    monkeypatch.setattr(aa.ArticulationActuators, "close", lambda self: {}["gone"])
    with caplog.at_level(logging.ERROR):
        db.release_instance(db.node)
    assert "could not give its robot back" in caplog.text


def test_release_is_idempotent(graph) -> None:
    state = OgnArticulationActuators.internal_state()
    state.release()
    state.initialize("/World/Leg", True)
    state.release()
    state.release()
    assert not state.initialized and state.actuators is None
    assert state._robot_path is None and state._auto_step_pre_physics is None


def test_node_works_again_after_stop_and_play(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    graph.host.stop()
    graph.host.play()
    graph.arrays.position_targets[:] = 0.1
    graph.host.step(DT)
    assert graph.arrays.efforts[0] == pytest.approx(10.0) and graph.callbacks() == 1


def test_hot_reload_leaves_one_callback(graph) -> None:
    db = graph.node()
    db.evaluate("execIn")
    try:
        reloaded = importlib.reload(node_module)
        assert graph.callbacks() == 0 and graph.arrays.stiffnesses.tolist() == GAINS
        fresh = database.node_database(reloaded.OgnArticulationActuators)(database.Node("/World/Graph/node_0"))
        fresh.write("inputs:robotPath", "/World/Leg")
        assert fresh.evaluate("execIn") and graph.callbacks() == 1
    finally:
        node_module.OgnArticulationActuators = OgnArticulationActuators


def test_all_states_are_released(monkeypatch, caplog) -> None:
    graph = Graph(robots=2)
    with aa.use_host(graph.host):
        states = [OgnArticulationActuators.internal_state() for _ in range(2)]
        for row, state in enumerate(states):
            state.initialize(f"/World/Leg_{row}", True)
            monkeypatch.setattr(state.actuators, "close", lambda: {}["gone"])
        with caplog.at_level(logging.ERROR):
            state_module.release_all()
        monkeypatch.undo()
        assert not any(state.initialized for state in states)
        assert caplog.text.count("could not give its robot back") == 2


def test_forgotten_state_closes_by_itself(graph) -> None:
    state = OgnArticulationActuators.internal_state()
    state.initialize("/World/Leg", True)
    del state
    gc.collect()
    assert graph.callbacks() == 0 and graph.arrays.stiffnesses.tolist() == GAINS


def test_node_drives_a_real_arm(robots) -> None:
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        db = database.node_database(OgnArticulationActuators)(database.Node("/World/Graph/node"))
        db.write("inputs:robotPath", "/World/Panda")
        arm = aa.Articulation("/World/Panda")
        sim.play()
        target = arm.get_dof_positions().numpy()[0] + [0.3, 0.2, -0.2, -0.1, 0.2, 0.1, -0.3]
        arm.set_dof_position_targets(target)
        applied = []
        sim.bus.on_pre_step(lambda dt, context: applied.append(arm.get_dof_efforts().numpy()[0]), order=1)
        for _ in range(480):
            db.write("inputs:feedforwardCommand", arm.get_dof_gravity_compensation_forces().numpy()[0])
            assert db.evaluate("execIn"), errors(db)
            sim.step()
        db.evaluate("execIn")
        np.testing.assert_allclose(arm.get_dof_positions().numpy()[0], target, atol=0.01)
        np.testing.assert_array_equal(db.outputs.appliedEfforts, applied[-1])
        assert list(db.outputs.dofNames) == [f"panda_joint{i}" for i in range(1, 8)]


def test_node_and_wrapper_move_a_robot_alike(robots) -> None:
    def motion(manual: bool) -> np.ndarray:
        positions = []
        with aa.Simulation(robots / "arm_2dof.usda") as sim:
            sim.play()
            arm = aa.Articulation("/World/Arm")
            arm.set_dof_position_targets([0.5, 0.1])
            if manual:
                db = database.node_database(OgnArticulationActuators)(database.Node("/World/Graph/node"))
                for name, value in (("robotPath", "/World/Arm"), ("autoStepPrePhysics", False), ("stepDt", sim.dt)):
                    db.write(f"inputs:{name}", value)
            else:
                wrapper = aa.ArticulationActuators("/World/Arm")
            for _ in range(60):
                assert not manual or db.evaluate("execIn"), errors(db)
                sim.step()
                positions.append(arm.get_dof_positions().numpy()[0])
            if not manual:
                wrapper.close()
        return np.array(positions)

    np.testing.assert_array_equal(motion(True), motion(False))


BUILT = """
import importlib.util, sys
PACKAGE = "isaacsim.core.experimental.actuators"
spec = importlib.util.spec_from_file_location(f"{PACKAGE}.ogn.python.nodes.OgnArticulationActuators", sys.argv[1])
built = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(built)
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes import OgnArticulationActuators as module, state
assert built.OgnArticulationActuators is module.OgnArticulationActuators
assert type(built.OgnArticulationActuators.internal_state()) is state.OgnArticulationActuatorsInternalState
"""


def test_built_node_has_the_same_state() -> None:
    """NVIDIA's build imports the node from another place: node and state are the same classes by either name."""
    done = ran([sys.executable, "-c", BUILT, node_module.__file__])
    assert done.returncode == 0, done.stderr


def test_documented_name_leads_to_the_state() -> None:
    from isaacsim.core.experimental.actuators.ogn.python.nodes.OgnArticulationActuators import (
        OgnArticulationActuatorsInternalState,
    )

    state = node_module.OgnArticulationActuators.internal_state()
    assert isinstance(state, OgnArticulationActuatorsInternalState) and not state.initialized
    state.release()


def test_only_the_program_can_let_torch_run_a_network(graph, tmp_path, run_by_torch) -> None:
    config = aa.NeuralControlConfig(unknown_file(tmp_path / "ankle.pt"))
    aa.add_actuator("/World/Leg", "ankle", "ankle", config, stage=graph.stage)
    db = graph.node()
    assert not [name for name in db.DESCRIPTION.ports if "trust" in name.lower() or "unsafe" in name.lower()]
    assert not db.evaluate("execIn")
    assert "ankle.pt: " in errors(db) and "operation ldexp" in errors(db) and "trust_checkpoints" in errors(db)
    assert run_by_torch == [] and graph.arrays.stiffnesses.tolist() == GAINS
    with aa.trust_checkpoints([tmp_path]):
        assert db.evaluate("execIn"), errors(db)
    graph.arrays.position_targets[2], graph.arrays.velocities[2] = 0.3, 0.2
    graph.host.step(DT)
    # the stand-in adds position error and velocity
    np.testing.assert_allclose(graph.arrays.efforts[2], 0.5, rtol=1e-6)
