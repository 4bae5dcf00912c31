"""LuGre friction: the numbers of MuJoCo's `dcmotor`, presliding, holding, energy, and joints that stop."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import Plant
from oracle import LAWS

INERTIA = 0.02
BRISTLE_NAMES = ("bristle_stiffness", "bristle_damping", "coulomb", "static", "stribeck_velocity")
MUJOCO_BRISTLES = (500.0, 1.0, 0.5, 0.7, 0.1)
BRISTLES = {"bristle_stiffness": 500.0, "bristle_damping": 7.0, "coulomb": 0.5, "static": 0.7}
MODEL = """
<mujoco>
  <option timestep="{dt}" gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="j" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>
    </body>
  </worldbody>
  <actuator>
    <dcmotor joint="j" motorconst="0" resistance="1" input="none" lugre="{lugre}"/>
  </actuator>
</mujoco>
"""


def effort_at(time):
    """A motor that makes the joint stick, creep on its bristles, slide and turn back."""
    return 0.55 * np.sin(3.0 * time) + 0.35 * np.sin(0.7 * time)


class Float64:
    """Joints whose friction is our law in float64, with the step of MuJoCo; `rounded` if signals are float32."""

    def __init__(self, dt: float, joints: int = 1, rounded: bool = False) -> None:
        self.dt, self.rounded = dt, rounded
        self.q, self.v, self.bristles = np.zeros((3, joints))

    def step(self, effort) -> None:
        """Step once under efforts of the motors [N·m]."""
        nothing, unset = 0.0, np.nan
        friction = *MUJOCO_BRISTLES[:2], 0.0, *MUJOCO_BRISTLES[2:], 0.0, 1.0, 0.0, 0.0
        signals = self._passed(self.v), self.dt, *[nothing] * 6
        found, self.bristles, _, _ = LAWS["PassiveLuGreFriction"](
            effort, self.q, *signals, self.bristles, unset, unset, *friction
        )
        self.v = self.v + self.dt * self._passed(found) / INERTIA
        self.q = self.q + self.dt * self.v

    def _passed(self, values: np.ndarray) -> np.ndarray:
        return values.astype(np.float32).astype(float) if self.rounded else values


def mujoco_joint(dt: float):
    """Return a function from the effort of a step [N·m] to velocity, position and friction of MuJoCo's joint."""
    mujoco = pytest.importorskip("mujoco")
    text = MODEL.format(dt=dt, inertia=INERTIA, lugre=" ".join(map(str, MUJOCO_BRISTLES)))
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this MuJoCo has no dcmotor, or one without friction alone")
    data = mujoco.MjData(model)

    def step(effort: float) -> np.ndarray:
        data.qfrc_applied[0] = effort
        mujoco.mj_step(model, data)
        return np.array([data.qvel[0], data.qpos[0], data.actuator_force[0]])

    return step


@pytest.mark.parametrize("dt", [0.005, 0.002, 0.001])
@pytest.mark.slow
def test_has_the_numbers_of_mujoco(dt) -> None:
    """Ten seconds step by step, each joint on its own way: within 1e-5 rad/s and rad up to 2 ms.

    At 5 ms it is 1.4e-5 rad/s, of 10 rad/s: the rounding of float32, see `test_float32_is_the_floor`.
    """
    theirs = mujoco_joint(dt)
    numbers = dict(zip(BRISTLE_NAMES, MUJOCO_BRISTLES, strict=True))
    plant = Plant(aa.LuGreFrictionConfig(**numbers, mujoco_discretization=True), INERTIA, dt)
    differences, speeds = [], []
    for step in range(round(10.0 / dt)):
        effort = float(np.float32(effort_at(step * dt)))
        expected = theirs(effort)
        plant.run(1, effort=effort)
        differences.append([plant.v[0], plant.q[0], plant.effort[0] - effort] - expected)
        speeds.append(abs(expected[0]))
    assert max(speeds) > 1 and np.mean(np.array(speeds) < 1e-2) > 0.02
    velocity, position, effort = np.abs(differences).max(axis=0)
    scale = 2e-5 if dt == 0.005 else 1e-5
    assert max(velocity, position) <= scale and effort <= 4 * scale, (velocity, position, effort)


@pytest.mark.parametrize("dt", [0.005, 0.002, 0.001])
@pytest.mark.slow
def test_has_the_numbers_of_mujoco_in_float64(dt) -> None:
    """Our equations are MuJoCo's: the law in float64 does not drift off in ten seconds, whatever the step."""
    theirs, ours = mujoco_joint(dt), Float64(dt)
    for step in range(round(10.0 / dt)):
        effort = float(np.float32(effort_at(step * dt)))
        expected = theirs(effort)
        ours.step(effort)
        np.testing.assert_allclose([ours.v[0], ours.q[0]], expected[:2], rtol=0, atol=1e-10)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.slow
def test_agrees_with_mujoco_as_steps_get_short(told) -> None:
    errors = []
    for dt in (2e-3, 5e-4):
        ours, mujocos = (
            Plant(
                aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA, mujoco_discretization=one),
                INERTIA,
                dt,
                told=told,
            )
            for one in (False, True)
        )
        difference = 0.0
        for step in range(round(4.0 / dt)):
            for plant in (ours, mujocos):
                plant.run(1, effort=1.5 * np.sin(5.0 * step * dt))
            difference = max(difference, abs(ours.q[0] - mujocos.q[0]))
        errors.append(difference)
    assert errors[0] < 0.1 and errors[1] < 0.4 * errors[0]


def test_deflection_is_that_of_its_differential_equation() -> None:
    """At constant speed exactly, whatever the step: z goes to g/σ₀ with the time constant g/(σ₀·|v|)."""
    velocity = np.array([0.03, -0.2, 3.0])
    g = 0.5 + 0.2 * np.exp(-((velocity / 0.1) ** 2))
    for dt in (0.02, 0.005, 0.001):
        plant = Plant(aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA), INERTIA, dt, robots=3)
        for _ in range(round(0.02 / dt)):
            plant.v[:] = velocity
            plant.run(1)
        expected = np.sign(velocity) * g / 500 * -np.expm1(-500 * np.abs(velocity) / g * 0.02)
        np.testing.assert_allclose(plant.state("deflection"), expected, rtol=1e-5)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("dt", [0.005, 0.001])
def test_holds_a_load_that_rises_slowly_as_a_spring(dt, told) -> None:
    """Deflected by load over stiffness, and not creeping from there; beyond `static` it leaves."""
    plant = Plant(aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA), INERTIA, dt, told=told)
    for step in range(round(1.0 / dt)):
        plant.run(1, load=0.6 * step * dt)
    plant.run(round(1.0 / dt), load=0.6)
    before = plant.q[0]
    # bristles give way a little before they slide
    assert before == pytest.approx(-0.7 / 500 * np.log(1 - 0.6 / 0.7), rel=0.06)
    plant.run(round(4.0 / dt), load=0.6)
    assert abs(plant.q[0] - before) < 2e-6 and abs(plant.v[0]) < 1e-6
    plant.run(round(0.5 / dt), load=0.75)
    assert plant.v[0] > 0.1


@pytest.mark.parametrize("factor", [0.3, 1.0, 1.9])
@pytest.mark.slow
def test_energy_is_lost_but_for_what_bristles_store(factor) -> None:
    for dt in (0.005, 0.001):
        config = aa.LuGreFrictionConfig(**BRISTLES, viscous=0.02, assumed_inertia=factor * INERTIA)
        plant = Plant(config, INERTIA, dt, robots=3, velocity=[0.1, 1.0, 5.0])
        last = INERTIA * plant.v**2 / 2 + 500 * plant.state("deflection") ** 2 / 2
        for _ in range(round(3.0 / dt)):
            plant.run(1)
            energy = INERTIA * plant.v**2 / 2 + 500 * plant.state("deflection") ** 2 / 2
            assert (energy <= last + (dt * 0.7) ** 2 / INERTIA).all()
            last = energy
        assert (last <= 0.7**2 / 500).all() and np.abs(plant.v).max() < 1e-4


def test_reset_straightens_the_bristles() -> None:
    config = aa.LuGreFrictionConfig(**BRISTLES, assumed_inertia=INERTIA)
    used, fresh = (Plant(config, INERTIA, 0.005, velocity=1.0) for _ in range(2))
    used.run(100, load=0.6)
    used.arrays.reset()
    used.v[:] = 1.0
    for plant in (used, fresh):
        plant.run(3)
    np.testing.assert_array_equal(used.v, fresh.v)


GEAR = {"motor_load": 0.3, "external_load": 0.25}


def test_losses_have_no_jump_where_the_velocity_changes_its_sign() -> None:
    """A loaded joint that turns back: the friction passes through 0 over the deflection of the bristles."""
    config = aa.LuGreFrictionConfig(**BRISTLES | {"coulomb": 0.0, "static": 0.0}, **GEAR, assumed_inertia=INERTIA)
    dt, efforts = 0.0005, []
    arrays = Plant(config, INERTIA, dt).arrays
    velocities = 0.5 * np.cos(2 * np.pi * np.arange(4000) / 2000.0)
    for q, v in zip(np.cumsum(velocities) * dt, velocities, strict=True):
        given = [np.full((1, 1), one, np.float32) for one in (q, v, 0.0)]
        found = arrays.step(*given, dt, feedforward=np.full((1, 1), 4.0, np.float32))
        efforts.append(float(found[0, 0]) - 4.0)
    steps = np.abs(np.diff(efforts[2000:]))
    assert max(efforts[2000:]) > 0.5 and min(efforts[2000:]) < -0.5
    # dry friction of the same level jumps by all of it in a step
    assert steps.max() < 0.15 * (max(efforts[2000:]) - min(efforts[2000:]))


@pytest.mark.parametrize(("efficiency", "back"), [(0.8, 0.65), (0.6, 0.3), (0.7, 0.7)])
@pytest.mark.parametrize("friction", ["lu_gre", "dry"])
def test_gears_lose_their_share_in_each_direction(friction, efficiency, back) -> None:
    """A load that is lifted at η of the motor's effort, and one that is lowered needs η_b of it; near self-locking."""
    gear = aa.TransmissionConfig(1.0, efficiency=efficiency, backdriving_efficiency=back)
    bristles = [aa.LuGreFrictionConfig(2000.0, 20.0, assumed_inertia=INERTIA)] if friction == "lu_gre" else []
    stages = bristles or [aa.FrictionConfig(assumed_inertia=INERTIA)]

    def speed(effort: float, load: float) -> float:
        plant = Plant([gear, *stages], INERTIA, 0.001, velocity=np.sign(effort + load) * 0.5, told=True)
        plant.run(500, effort=effort, load=load)
        return plant.v[0]

    # lifted: 2 % less than it takes slows down, 2 % more speeds up
    assert speed(0.98 * 3.0 / efficiency, -3.0) < 0.1 and speed(1.02 * 3.0 / efficiency, -3.0) > 0.5
    # lowered: the motor holds back
    assert speed(1.02 * 3.0 * back, -3.0) > -0.1 and speed(0.98 * 3.0 * back, -3.0) < -0.5


def test_losses_take_energy_from_any_motion(rng) -> None:
    config = aa.LuGreFrictionConfig(**BRISTLES, **GEAR, assumed_inertia=INERTIA)
    plant = Plant(config, INERTIA, 0.001, robots=50, told=True)
    given = 0.0
    for _ in range(200):
        effort, load = rng.normal(scale=2.0, size=(2, 50))
        for _ in range(5):
            before = plant.v.copy()
            plant._given[:, 0] = effort
            plant.run(1, effort=effort, load=load)
            given = given + (plant.effort - effort) * 0.5 * (before + plant.v) * 0.001
        # but for what the bristles have stored
        assert (given < 1e-6).all()
