"""Isaac Lab's models on our plan: its published expectations, its delays, and arrays of NumPy as of Torch."""

import copy

import checkpoint_files
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat import isaac_lab as lab
from isaacsim.core.experimental.actuators.compat.isaac_lab import ArticulationActions, resolve
from neural_twin import Twin, random_network, write_network
from refusals import refused

ENVS, JOINTS = 3, ["hip", "knee"]
PD = {"joint_names_expr": [".*"], "stiffness": 200.0, "damping": 10.0}
SPRING = PD | {"stiffness": 1.0, "damping": 0.0}
NONE = PD | {"stiffness": 0.0, "damping": 0.0}
TABLE = [[-1.0, 1.0, 40.0], [0.0, 1.0, 10.0], [2.0, 1.0, 30.0]]


def full(value) -> np.ndarray:
    return np.array(np.broadcast_to(value, (ENVS, len(JOINTS))), np.float32)


def built(cfg, **given):
    return cfg.class_type(cfg, JOINTS, [0, 1], ENVS, "cpu", **given)


def applied(model, target=0.0, speed=0.0, feedforward=0.0, at=0.0) -> np.ndarray:
    action = ArticulationActions(full(target), full(0.0), full(feedforward))
    return np.asarray(model.compute(action, full(at), full(speed)).joint_efforts)


def test_ideal_pd_computes_and_clips() -> None:
    """Error 9, velocity error 0.1 and feedforward 1 are 1802, of which the limit leaves 300."""
    model = built(lab.IdealPDActuatorCfg(**PD, actuator_effort_limit=300.0))
    action = ArticulationActions(full(9.0), full(0.1), full(1.0))
    made = model.compute(action, full(0.0), full(0.0))
    assert made is action and action.joint_positions is None and action.joint_velocities is None
    np.testing.assert_allclose(np.asarray(model.computed_effort), full(1802.0), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(made.joint_efforts), full(300.0))
    np.testing.assert_array_equal(np.asarray(model.applied_effort), full(300.0))


POINTS = [
    *((30, 10, 30), (70, 10, 60), (80, 40, 20), (30, 40, 20), (-20, 90, -60)),
    *((-30, 10, -30), (-80, 110, -60), (-80, 50, -60), (-120, 90, -60), (-10, 70, -40)),
]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("effort", "speed", "expected"), POINTS)
def test_dc_motor_has_four_quadrants(effort, speed, expected, sign) -> None:
    cfg = lab.DCMotorCfg(**NONE, actuator_effort_limit=60.0, saturation_effort=100.0, actuator_velocity_limit=50.0)
    found = applied(built(cfg), speed=sign * speed, feedforward=sign * effort)
    np.testing.assert_allclose(found, full(sign * expected), rtol=1e-5)


def test_a_gear_turns_motor_limits_into_those_of_the_joint() -> None:
    motor = {"actuator_effort_limit": 6.0, "saturation_effort": 10.0, "actuator_velocity_limit": 500.0}
    joint = {"actuator_effort_limit": 60.0, "saturation_effort": 100.0, "actuator_velocity_limit": 50.0}
    geared = built(lab.DCMotorCfg(**PD, **motor, gear_ratio={"hip": 10.0, "knee": 10.0}))
    plain = built(lab.DCMotorCfg(**PD, **joint))
    for speed in (0.0, 20.0, 45.0, 60.0, 90.0):
        np.testing.assert_allclose(applied(geared, 9.0, speed), applied(plain, 9.0, speed), rtol=1e-5)
    assert np.asarray(geared.gear_ratio).tolist() == full(10.0).tolist()
    # the robot's own limit is one of the joint already
    own = built(lab.IdealPDActuatorCfg(**PD, gear_ratio=10.0), actuator_effort_limit=70.0)
    np.testing.assert_array_equal(applied(own, 9.0), full(70.0))
    with pytest.raises(ValueError, match="gear_ratio = 0: must be finite and > 0"):
        built(lab.IdealPDActuatorCfg(**PD, gear_ratio=0.0))


def test_delays_are_drawn_at_reset_for_each_robot() -> None:
    """The command of so many steps ago since the reset, at most the first; none before the first reset."""
    cfg = lab.DelayedPDActuatorCfg(**SPRING, min_delay=1, max_delay=4)
    model = built(cfg, seed=5)
    assert [applied(model, target=k)[:, 0].tolist() for k in range(3)] == [[k] * ENVS for k in range(3)]
    drawn: list[list[int]] = []
    for ids in (None, [1], np.array([True, False, True]), slice(0, 2), [0, 1, 2]):
        before = model.time_lags
        model.reset(ids)
        chosen = np.arange(ENVS)[ids if ids is not None else slice(None)]
        kept = [env for env in range(ENVS) if env not in chosen]
        assert (model.time_lags[kept] == before[kept]).all()
        drawn.append(model.time_lags.tolist())
    lags = model.time_lags
    assert {lag for one in drawn for lag in one} == {1, 2, 3, 4}
    for k in range(8):
        expected = np.tile(10.0 + np.maximum(k - lags, 0), (2, 1)).T
        np.testing.assert_array_equal(applied(model, target=10.0 + k), expected)
    again = built(cfg, seed=5)
    again.reset()
    assert again.time_lags.tolist() == drawn[0]
    other = built(cfg, seed=6)
    other.reset()
    assert other.time_lags.tolist() != drawn[0]


def test_a_reset_of_one_robot_leaves_the_others() -> None:
    cfg = lab.DelayedPDActuatorCfg(**PD, max_delay=3)
    models = [built(cfg), built(cfg), built(cfg)]
    for k in range(4):
        for model in models:
            if k == 0:
                model.reset()
            applied(model, target=k)
    models[0].reset([1])
    models[1].reset(np.array([False, True, False]))
    found = [applied(model, target=7.0) for model in models]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0][[0, 2]], found[2][[0, 2]])
    np.testing.assert_array_equal(found[0][1], [200.0 * 7.0] * 2)


def test_a_remotized_joint_is_limited_by_its_position_only() -> None:
    cfg = lab.RemotizedPDActuatorCfg(**PD, joint_parameter_lookup=TABLE, actuator_effort_limit=1.0, rules="3.0")
    model = built(cfg, actuator_effort_limit=2.0)
    for at, most in ((-3.0, 40.0), (-0.5, 25.0), (0.0, 10.0), (1.0, 20.0), (5.0, 30.0)):
        np.testing.assert_allclose(applied(model, target=at + 9.0, at=at), full(most), rtol=1e-6)
        np.testing.assert_allclose(applied(model, target=at - 9.0, at=at), full(-most), rtol=1e-6)
    assert np.isinf(np.asarray(model.actuator_effort_limit)).all()
    with pytest.raises(ValueError, match=r"joint_parameter_lookup has shape \(1, 2\): must be \(points, 3\)"):
        built(lab.RemotizedPDActuatorCfg(**PD, joint_parameter_lookup=[[0.0, 1.0]]))


def test_an_implicit_group_leaves_the_action_as_it_is() -> None:
    model = built(lab.ImplicitActuatorCfg(**PD, joint_effort_limit=300.0))
    action = ArticulationActions(full(9.0), full(0.1), full(1.0))
    before = copy.deepcopy(action)
    assert model.compute(action, full(0.0), full(0.0)) is action
    for name in ("joint_positions", "joint_velocities", "joint_efforts"):
        np.testing.assert_array_equal(getattr(action, name), getattr(before, name))
    np.testing.assert_allclose(np.asarray(model.computed_effort), full(1802.0), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(model.applied_effort), full(300.0))
    assert model.is_implicit_model
    model.reset()


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_networks_take_their_scales_from_the_cfg(kind, tmp_path) -> None:
    file = tmp_path / f"{kind}.pt"
    file.write_bytes(checkpoint_files.checkpoint_file("torchscript", kind, {"pos_scale": 7.0, "effort_scale": 9.0}))
    limits = {"saturation_effort": 500.0, "actuator_velocity_limit": 50.0, "actuator_effort_limit": 500.0}
    common = {"joint_names_expr": [".*"], "network_file": str(file)}
    scales = {"pos_scale": 0.5, "vel_scale": 2.0, "torque_scale": 3.0, "input_order": "pos_vel", "input_idx": [0]}

    def cfg(**changed):
        if kind == "lstm":
            return lab.ActuatorNetLSTMCfg(**common, **limits | changed)
        return lab.ActuatorNetMLPCfg(**common, **limits | changed, **scales)

    model = built(cfg())
    first = applied(model, target=0.4, speed=0.3)
    assert np.allclose(first, applied(model, target=0.4, speed=0.3)) == (kind == "mlp")
    model.reset([1])
    np.testing.assert_allclose(applied(model, target=0.4, speed=0.3)[1], first[1], rtol=1e-6)
    if kind == "mlp":
        weights = list(checkpoint_files.weights("mlp").values())
        hidden = np.tanh(weights[0] @ np.array([0.4 * 0.5, 0.3 * 2.0], np.float32) + weights[1])
        np.testing.assert_allclose(first, full(3.0 * (weights[2] @ hidden + weights[3])), rtol=1e-5)
    most = float(np.abs(first).max()) / 2
    np.testing.assert_allclose(np.abs(applied(built(cfg(actuator_effort_limit=most)), 0.4, 0.3)), full(most), rtol=1e-6)


@pytest.mark.parametrize("fill", ["zeros", "first"])
def test_the_cfg_says_what_a_history_holds_after_a_reset(fill, tmp_path) -> None:
    """Not the file: Isaac Lab's cfgs have no such field, and its models fill with zeros."""
    network, steps = random_network("mlp", 6), [0, 2, 4]
    file = write_network(tmp_path / "net.safetensors", network, {"input_idx": steps, "history_fill": "first"})
    scales = {"pos_scale": 0.5, "vel_scale": 2.0, "torque_scale": 3.0, "input_order": "pos_vel"}
    limits = {"saturation_effort": 500.0, "actuator_velocity_limit": 500.0, "actuator_effort_limit": 500.0}
    cfg = lab.ActuatorNetMLPCfg(
        joint_names_expr=[".*"], network_file=str(file), input_idx=steps, history_fill=fill, **scales, **limits
    )
    if fill == "zeros":
        assert lab.ActuatorNetMLPCfg.history_fill == "zeros"
        del cfg.history_fill
    model, twin = built(cfg), Twin(network, {**scales, "input_idx": steps, "history_fill": fill}, 2 * ENVS)
    for k in range(9):
        if k == 6:
            model.reset([1])
            twin.reset(np.arange(2 * ENVS) // 2 == 1)
        found = applied(model, target=0.4, speed=0.1 * k)
        expected = twin.step(*(np.full(2 * ENVS, one) for one in (0.0, 0.1 * k, 0.4, 0.0)))
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-5)


@pytest.mark.parametrize("said", [True, False])
def test_a_gru_is_normalized_as_the_cfg_says(said, tmp_path) -> None:
    """Isaac Lab 3's, whatever the file says; limited by the largest effort, and what is no normalization is refused."""

    def metadata(error: tuple[float, float], speed: tuple[float, float], effort: tuple[float, float]) -> dict:
        columns = {"position_error": error, "velocity": speed}
        inputs, targets = (
            {part: {name: pair[at] for name, pair in pairs.items()} for at, part in enumerate(("mean", "std"))}
            for pairs in (columns, {"torque": effort})
        )
        return {"input_columns": list(columns), "normalization": {"inputs": inputs, "targets": targets}}

    given = (0.1, 0.5), (-0.2, 2.0), (0.3, 20.0)
    plain = (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)
    network = random_network("gru", 2)
    file = write_network(tmp_path / "net.safetensors", network, metadata(*plain if said else given))
    common = {"joint_names_expr": [".*"], "network_file": str(file), "actuator_effort_limit": 6.0}
    fields = ("pos_error_normalization", "vel_normalization", "output_normalization")
    cfg = lab.ActuatorNetGRUCfg(**common, **dict(zip(fields, given, strict=True)) if said else {})
    model, twin = built(cfg), Twin(network, metadata(*given if said else plain), 2 * ENVS)
    expected = []
    for k in range(9):
        if k == 6:
            model.reset([1])
            twin.reset(np.arange(2 * ENVS) // 2 == 1)
        found = applied(model, target=0.4, speed=0.5 * k)
        expected.append(twin.step(*(np.full(2 * ENVS, one) for one in (0.0, 0.5 * k, 0.4, 0.0))))
        np.testing.assert_allclose(found.ravel(), np.clip(expected[-1], -6.0, 6.0), rtol=1e-4, atol=1e-5)
    assert (np.abs(expected).max() > 6.0) == said
    with pytest.raises(ValueError, match=r"vel_normalization = \(1.0,\): must be mean and standard deviation, or None"):
        built(lab.ActuatorNetGRUCfg(**common, vel_normalization=(1.0,)))


def test_parameters_are_arrays_that_act_when_written() -> None:
    model = built(
        lab.DCMotorCfg(**PD, actuator_effort_limit=60.0, saturation_effort=100.0, actuator_velocity_limit=50.0)
    )
    model.stiffness[1] = 1.0
    model.damping[:, 1] = 0.0
    np.testing.assert_allclose(applied(model, 0.1), [[20.0, 20.0], [0.1, 0.1], [20.0, 20.0]], rtol=1e-6)
    model.stiffness = 100.0
    np.testing.assert_allclose(applied(model, 0.1, 1.0), np.tile([0.0, 10.0], (3, 1)), atol=1e-5)
    model.actuator_effort_limit[:] = 5.0
    model.actuator_velocity_limit[:, 0] = 10.0
    np.testing.assert_allclose(applied(model, 9.0, 10.2)[0], [-2.0, 5.0], rtol=1e-4)
    assert np.asarray(model.armature).tolist() == full(0.0).tolist()


def test_efforts_of_a_step_stay_what_they_were() -> None:
    model = built(lab.IdealPDActuatorCfg(**PD))
    first = applied(model, 1.0)
    applied(model, 2.0)
    assert (first == 200.0).all()


def test_computed_efforts_can_be_left_out() -> None:
    model = built(lab.IdealPDActuatorCfg(**PD, actuator_effort_limit=300.0))
    model.observe_efforts(False)
    assert (applied(model, 9.0) == 300.0).all()
    with pytest.raises(RuntimeError, match="Call observe_efforts"):
        _ = model.computed_effort


def test_tensors_go_in_and_out_without_a_copy() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model = built(lab.IdealPDActuatorCfg(**PD, actuator_effort_limit=300.0), stiffness=torch.full((ENVS, 2), 5.0))
    target, q, qd = torch.full((ENVS, 2), 0.1), torch.zeros(ENVS, 2), torch.zeros(ENVS, 2)
    made = model.compute(ArticulationActions(target, None, None), q, qd)
    for tensor in (made.joint_efforts, model.computed_effort, model.applied_effort, model.stiffness):
        assert isinstance(tensor, torch.Tensor) and tensor.shape == (ENVS, 2)
    model.stiffness[torch.tensor([0, 2])] = 7.0
    made = model.compute(ArticulationActions(target, None, None), q, qd)
    torch.testing.assert_close(made.joint_efforts[:, 0], torch.tensor([0.7, 20.0, 0.7]))
    model.reset(torch.tensor([0]))
    # rows of a wider array, as they lie
    wide = torch.zeros(ENVS, 7)
    wide[:, 3:5] = 0.1
    made = model.compute(ArticulationActions(wide[:, 3:5], None, None), q, qd)
    torch.testing.assert_close(made.joint_efforts[:, 1], torch.tensor([0.7, 20.0, 0.7]))


MOTOR = {"actuator_effort_limit": 60.0, "saturation_effort": 100.0, "actuator_velocity_limit": 50.0}
OF_CFG = {
    "ImplicitActuator": lab.ImplicitActuatorCfg(**PD, joint_effort_limit=300.0),
    "IdealPDActuator": lab.IdealPDActuatorCfg(**PD, actuator_effort_limit=300.0),
    "DCMotor": lab.DCMotorCfg(**PD, **MOTOR),
    "DelayedPDActuator": lab.DelayedPDActuatorCfg(**PD, actuator_effort_limit=300.0, max_delay=2),
    "RemotizedPDActuator": lab.RemotizedPDActuatorCfg(**PD, joint_parameter_lookup=TABLE),
}


def of_ones_own(name: str, clip):
    return type("Own", (getattr(lab, name),), {"_clip_effort": clip})(OF_CFG[name], JOINTS, [0, 1], ENVS, "cpu")


@pytest.mark.parametrize("later", [False, True], ids=["2.3", "3.0"])
@pytest.mark.parametrize("name", OF_CFG)
def test_a_subclass_limits_efforts_by_itself(name, later) -> None:
    """It is given what the law computes, once a step, since 3.0 also the speed, and what it returns is applied."""
    given: list[np.ndarray] = []

    def clip(_, effort):
        given.append(np.array(effort))
        return effort.clip(-7.0, 7.0)

    def clip_by_speed(model, effort, joint_vel):
        np.testing.assert_array_equal(np.asarray(joint_vel), full(0.25))
        # those of the model itself, at other speeds and at those of the step
        for speeds in ((0.0 * joint_vel,), ()):
            np.asarray(lab.ActuatorBase._clip_effort(model, effort, *speeds))
        return clip(model, effort)

    model = of_ones_own(name, clip_by_speed if later else clip)
    found = applied(model, 0.5125, 0.25)
    np.testing.assert_allclose(given, [full(100.0)], rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(model.applied_effort), full(7.0))
    np.testing.assert_allclose(np.asarray(model.computed_effort), full(100.0), rtol=1e-6)
    assert found.tolist() == full(0.0 if name == "ImplicitActuator" else 7.0).tolist()


def test_limits_of_a_motor_are_those_at_the_speed_of_the_call() -> None:
    """3.0's models take it as an argument."""
    model = built(OF_CFG["DCMotor"])
    applied(model, 0.5, 10.0)
    for speed, most in ((0.0, 60.0), (40.0, 20.0), (50.0, 0.0)):
        found = np.asarray(model._clip_effort(np.asarray(model.computed_effort) + 900.0, full(speed)))
        np.testing.assert_allclose(found, full(most), atol=1e-4)


def test_a_drive_of_3_0_is_cut_at_its_joint_and_shows_its_motor() -> None:
    cfg = lab.ImplicitActuatorCfg(**PD, actuator_effort_limit=10.0, rules="3.0")
    model = built(cfg, joint_effort_limit=20.0)
    applied(model, 9.0)
    np.testing.assert_array_equal(np.asarray(model.applied_effort), full(20.0))
    np.testing.assert_array_equal(np.asarray(model.actuator_effort_limit), full(10.0))
    model.joint_effort_limit[:] = 30.0
    follows = built(cfg.replace(actuator_effort_limit=None), joint_effort_limit=20.0)
    follows.joint_effort_limit[:] = 30.0
    for one, limit in ((model, 10.0), (follows, 30.0)):
        applied(one, 9.0)
        np.testing.assert_array_equal(np.asarray(one.applied_effort), full(30.0))
        np.testing.assert_array_equal(np.asarray(one.actuator_effort_limit), full(limit))


def test_names_of_2_3_are_those_of_3_0() -> None:
    cfg = lab.IdealPDActuatorCfg(**PD)
    with pytest.warns(DeprecationWarning, match=r"IdealPDActuator\(effort_limit\): .* Give actuator_effort_limit"):
        model = built(cfg, effort_limit=70.0, actuator_effort_limit=full(70.0))
    for earlier, later in resolve.EARLIER.items():
        with pytest.warns(DeprecationWarning, match=f"IdealPDActuator.{earlier}: .* Give {later}"):
            setattr(model, earlier, 5.0)
        np.testing.assert_array_equal(np.asarray(getattr(model, later)), full(5.0))
    np.testing.assert_array_equal(applied(model, 9.0), full(5.0))
    with (
        pytest.warns(DeprecationWarning, match="Give joint_effort_limit"),
        pytest.raises(ValueError, match="conflicting joint_effort_limit and effort_limit: must be equal"),
    ):
        built(lab.ImplicitActuatorCfg(**PD), effort_limit=70.0, joint_effort_limit=np.inf)


def test_a_position_table_holds_behind_the_limits_of_a_subclass() -> None:
    model = of_ones_own("RemotizedPDActuator", lambda _, effort: 0.0 * effort + 25.0)
    for at, expected in ((-1.0, 25.0), (0.0, 10.0), (1.0, 20.0)):
        np.testing.assert_allclose(applied(model, at=at), full(expected), rtol=1e-6)


def test_limits_written_as_those_of_isaac_lab_are_those_of_the_model() -> None:
    def clip(self, effort):
        names = ("_vel_at_effort_lim", "actuator_velocity_limit", "_saturation_effort", "actuator_effort_limit")
        corner, fastest, saturation, most = (np.asarray(getattr(self, name)) for name in names)
        self._joint_vel[:] = self._joint_vel.clip(-corner, corner)
        part = self._joint_vel / fastest
        top, bottom = np.minimum(saturation * (1.0 - part), most), np.maximum(saturation * (-1.0 - part), -most)
        return effort.clip(bottom, top)

    model, plain = of_ones_own("DCMotor", clip), built(OF_CFG["DCMotor"])
    for one in (model, plain):
        one._saturation_effort[:, 1] = 80.0
    speeds = np.random.default_rng(2).uniform(-120.0, 120.0, (40, ENVS, 2)).astype(np.float32)
    for speed in speeds:
        before = speed.copy()
        np.testing.assert_allclose(applied(model, 0.4, speed), applied(plain, 0.4, speed), rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(speed, before)


@pytest.mark.parametrize("name", OF_CFG)
def test_the_limits_of_a_model_can_be_called(name) -> None:
    model = of_ones_own(name, lambda self, effort: getattr(lab, name)._clip_effort(self, effort))
    plain = built(OF_CFG[name])
    for target, speed in ((9.0, 40.0), (-9.0, 40.0), (0.01, 0.0)):
        for one in (model, plain):
            applied(one, target, speed, at=1.0)
        np.testing.assert_array_equal(np.asarray(model.applied_effort), np.asarray(plain.applied_effort))


def test_a_subclass_that_computes_has_the_speeds() -> None:
    class Halved(lab.DCMotor):
        def compute(self, control_action, joint_pos, joint_vel):
            made = super().compute(control_action, joint_pos, joint_vel)
            made.joint_efforts = self._clip_effort(0.5 * self.computed_effort)
            return made

    model = Halved(OF_CFG["DCMotor"], JOINTS, [0, 1], ENVS, "cpu")
    np.testing.assert_allclose(applied(model, 9.0, 40.0), full(20.0), rtol=1e-5)


class Weak(lab.DCMotor):
    """A DC motor with half its stiffness, whose `compute` is written as those of Isaac Lab are."""

    def compute(self, control_action, joint_pos, joint_vel):
        self._joint_vel[:] = joint_vel
        error_pos = control_action.joint_positions - joint_pos
        error_vel = control_action.joint_velocities - joint_vel
        self.computed_effort = 0.5 * np.asarray(self.stiffness) * error_pos + np.asarray(self.damping) * error_vel
        self.applied_effort = self._clip_effort(self.computed_effort)
        control_action.joint_efforts = self.applied_effort
        control_action.joint_positions = None
        control_action.joint_velocities = None
        return control_action


def test_a_subclass_assigns_its_efforts() -> None:
    """As those of Isaac Lab do in `compute`; the efforts of the model itself are there again after its own."""
    weak, plain = Weak(OF_CFG["DCMotor"], JOINTS, [0, 1], ENVS, "cpu"), built(OF_CFG["DCMotor"])
    for target, speed in ((0.2, 0.0), (9.0, 40.0)):
        np.testing.assert_allclose(applied(weak, 2.0 * target, speed), applied(plain, target, speed), rtol=1e-5)
        for name in ("computed_effort", "applied_effort"):
            found, expected = (np.asarray(getattr(model, name)) for model in (weak, plain))
            np.testing.assert_allclose(found, expected, rtol=1e-5)
    weak.computed_effort = full(3.0)
    lab.DCMotor.compute(weak, ArticulationActions(full(0.2), full(0.0), None), full(0.0), full(0.0))
    np.testing.assert_allclose(np.asarray(weak.computed_effort), full(0.2 * PD["stiffness"]), rtol=1e-5)


def test_limits_of_a_model_leave_the_speed_as_it_is() -> None:
    model = of_ones_own("DCMotor", lab.DCMotor._clip_effort)
    applied(model, 9.0, 200.0)
    np.testing.assert_array_equal(np.asarray(model._joint_vel), full(200.0))


def test_a_motor_without_a_step_is_limited_as_at_rest() -> None:
    model = built(OF_CFG["DCMotor"])
    assert (np.asarray(model._clip_effort(full(90.0))) == 60.0).all()
    model._joint_vel[:] = 40.0
    np.testing.assert_allclose(np.asarray(model._clip_effort(full(90.0))), full(20.0), rtol=1e-5)


def test_limits_of_ones_own_that_cannot_be_used() -> None:
    words = r"Own\._clip_effort returns None: must be efforts \(robots, joints\) = \(3, 2\)"
    refused(ValueError, lambda: applied(of_ones_own("DCMotor", lambda _, effort: None), 1.0), words)
    with pytest.raises(ValueError, match=r"_clip_effort returns shape \(2,\): must be"):
        applied(of_ones_own("DCMotor", lambda _, effort: effort[0]), 1.0)
    model = of_ones_own("DCMotor", lambda _, effort: effort)
    with pytest.raises(ValueError, match="on = False: must be True for Own, whose _clip_effort takes computed efforts"):
        model.observe_efforts(False)


def test_what_a_cfg_may_not_say() -> None:
    with pytest.raises(ValueError, match="saturation_effort") as told:
        built(lab.DCMotorCfg(**PD | {"stiffness": "soft", "damping": {"ankle": 1.0}}, saturation_effort=None))  # type: ignore
    for part in ("stiffness = 'soft'", "'ankle' matches no joint", "actuator_velocity_limit is None"):
        assert part in str(told.value)
    with pytest.raises(ValueError, match="must be DCMotorCfg"):
        lab.DCMotor(lab.IdealPDActuatorCfg(**PD), JOINTS, [0, 1], ENVS, "cpu")
    with pytest.raises(ValueError, match="min_delay = 3, max_delay = 2: must be integers"):
        built(lab.DelayedPDActuatorCfg(**PD, min_delay=3, max_delay=2))
    with pytest.raises(ValueError, match="must be an actuator cfg of Isaac Lab"):
        lab.DCMotor(object(), JOINTS, [0, 1], ENVS, "cpu")


@pytest.mark.parametrize("change", ["double", "half", "transposed"])
def test_torch_tensors_of_other_floats_and_layouts_are_taken(change) -> None:
    """As Isaac Lab's models do; efforts are float32."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def changed(tensor):
        return tensor.T.contiguous().T if change == "transposed" else getattr(tensor, change)()

    model = built(lab.IdealPDActuatorCfg(**PD, actuator_effort_limit=300.0))
    target, q, qd = torch.full((ENVS, 2), 0.5), torch.zeros(ENVS, 2), torch.zeros(ENVS, 2)
    made = model.compute(ArticulationActions(changed(target), changed(qd), changed(qd)), changed(q), changed(qd))
    torch.testing.assert_close(made.joint_efforts, torch.full((ENVS, 2), 100.0))


class Loop:
    """Two joints of three robots, as a control of Isaac Lab has them."""

    num_instances, num_joints, device = ENVS, 2, "cpu"
    joint_pos = joint_vel = np.zeros((ENVS, 2), np.float32)

    def __init__(self) -> None:
        self.written: list = []

    def find_joints(self, name_keys):
        return [0, 1], JOINTS

    def get_default_joint_properties(self, joint_ids):
        return {"stiffness": 7.0, "joint_effort_limit": 20.0}

    def write_resolved_joint_properties(self, properties, joint_ids, *, implicit, native_managed):
        self.written.append((properties["joint_effort_limit"].ravel()[0], implicit))

    def submit_commands(self, collection):
        self.efforts = np.array(collection.output_command.effort.values)


def test_a_collection_runs_groups_on_all_joints() -> None:
    drive = lab.ImplicitActuatorCfg(joint_names_expr=["hip"], stiffness=None, damping=0.0)
    motor = lab.IdealPDActuatorCfg(joint_names_expr=["knee"], stiffness=2.0, damping=0.0, joint_effort_limit=9.0)
    groups = lab.ActuatorCollection({"drive": drive, "motor": motor}, control := Loop())
    assert control.written == [(20.0, True), (9.0, False)]
    groups.target_command.set_position_index(value=np.full((1, 2), 3.0), env_ids=[2])
    groups.target_command.set_effort_mask(value=full(1.0), env_mask=np.array([True, False, False]))
    lab.write_group_parameter(groups, "motor", "controller", "kp", np.array([[4.0]]), env_ids=[2])
    lab.write_group_parameter(groups, "motor", "clamping", "max_effort", full(11.0)[:, :1])
    np.testing.assert_array_equal(lab.read_group_parameter(groups, "motor", "controller", "kp").ravel(), [2, 2, 4])
    groups.compute(0.01)
    groups.submit_commands()
    # the drive has its targets, the motor its effort within 11
    np.testing.assert_array_equal(control.efforts, [[1, 1], [0, 0], [0, 11]])
    np.testing.assert_array_equal(groups.output_command.position.values[2], [3, 0])
    np.testing.assert_array_equal(groups.computed_effort.values[2], [21, 12])
    with pytest.raises(ValueError, match=r"controller\.kq: must be a parameter"):
        lab.read_group_parameter(groups, "motor", "controller", "kq")
    with pytest.raises(ValueError, match=r"value has shape \(1, 2\): must have \(3, 2\)"):
        groups.target_command.set_position_index(value=np.zeros((1, 2)))
    with pytest.raises(ValueError, match="joint hip is in groups 'a' and 'b'"):
        lab.ActuatorCollection({"a": drive, "b": drive}, control)
