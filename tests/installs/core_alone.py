"""Actuators with nothing but the core installed: `python tests/installs/core_alone.py`, in any environment.

Steps the same PD law with a delay and a limit as an `Actuator` in a loop and through the wrapper on plain arrays, and
compares both with what the law says. Prints the versions it ran with, and what of the extras was loaded: nothing.
With ACTUATORS_CORE=required the native core has to be there.
"""

import os
import sys
from importlib.metadata import version
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.extras import LIBRARIES
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

N, STEPS, DT, LAG, KP, KD, LIMIT = 12, 50, 0.01, 2, 20.0, 0.5, 3.0


def floats(value: float, size: int) -> wp.array:
    return wp.full(size, value, dtype=wp.float32, device="cpu")


def parts(size: int) -> tuple[ea.ControllerPD, ea.Delay, list[ea.ClampingMaxEffort]]:
    law = ea.ControllerPD(floats(KP, size), floats(KD, size))
    delay = ea.Delay(wp.full(size, LAG, dtype=wp.int32, device="cpu"), LAG)
    return law, delay, [ea.ClampingMaxEffort(floats(LIMIT, size))]


def expected(targets: np.ndarray, step: int) -> np.ndarray:
    """Effort of a joint at rest at 0; what comes before the first command is the first command."""
    return np.clip(KP * targets[max(step - LAG, 0)], -LIMIT, LIMIT)


def with_actuator(targets: np.ndarray) -> np.ndarray:
    """Efforts of an `Actuator` on flat arrays, `(steps, joints)`."""
    law, delay, clamping = parts(N)
    actuator = ea.Actuator(wp.array(np.arange(N), dtype=wp.uint32, device="cpu"), law, delay, clamping)
    state = SimpleNamespace(joint_q=floats(0.0, N), joint_qd=floats(0.0, N))
    arrays = {name: floats(0.0, N) for name in ("joint_target_pos", "joint_target_vel", "joint_f")}
    control = SimpleNamespace(joint_act=None, **arrays)
    now, then = actuator.state(), actuator.state()
    efforts = np.zeros((len(targets), N))
    for step, wanted in enumerate(targets):
        control.joint_target_pos.numpy()[:] = wanted
        control.joint_f.zero_()
        actuator.step(state, control, now, then, DT)
        now, then = then, now
        efforts[step] = control.joint_f.numpy()
    return efforts


def with_wrapper(targets: np.ndarray) -> np.ndarray:
    """Efforts of `ArticulationActuators` on a host that has no stage, `(steps, joints)`."""
    names = [f"joint_{i}" for i in range(N)]
    host = ArraysHost(names)
    efforts = np.zeros((len(targets), N))
    with ea.use_host(host):
        pairs = [
            (ea.ActuatorConfig(law, delay=delay, clamping=clamps), name)
            for name in names
            for law, delay, clamps in [parts(1)]
        ]
        with ea.ArticulationActuators.from_actuators("/Robot", pairs):
            host.play()
            arm = ea.Articulation("/Robot")
            for step, wanted in enumerate(targets):
                arm.set_dof_position_targets(wanted)
                host.step(DT)
                efforts[step] = arm.get_dof_efforts().numpy()[0]
    return efforts


def main() -> None:
    targets = np.random.default_rng(1).uniform(-0.3, 0.3, (STEPS, N)).astype(np.float32)
    due = np.array([expected(targets, step) for step in range(STEPS)])
    for run in (with_actuator, with_wrapper):
        np.testing.assert_allclose(run(targets), due, rtol=1e-6, err_msg=run.__name__)
    extra = sorted({name for names in LIBRARIES.values() for name in names} & set(sys.modules))
    assert not extra, f"{extra}: loaded, and nobody asked for them"
    from isaacsim.core.experimental.actuators.engine.step.native import has_native_core

    engine = "native" if has_native_core() else "warp"
    assert engine == "native" or os.environ.get("ACTUATORS_CORE") != "required", "the native core is not there"
    print(f"core ok ({engine}): numpy {version('numpy')}, warp-lang {version('warp-lang')}")


if __name__ == "__main__":
    main()
