"""Bring your own simulator: actuators on its robots, inside its loop, without USD, MuJoCo or Kit.

./python.sh standalone_examples/your_own_simulator.py [--plot out.png]
"""

import argparse
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import device_of
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

STEPS, DT, TOLERANCE, KP, INERTIA = 2000, 1 / 2000, 0.01, 8.0, 0.05  # -, [s], [rad], [N·m/rad], [kg·m²]
RATE, RATIOS = np.sqrt(KP / INERTIA), np.linspace(0.1, 1.6, 12)  # natural frequency [rad/s], damping of each robot


class Wheels:
    """Robots with the method names of Isaac Sim: one shaft each, without drives."""

    def __init__(self) -> None:
        self.paths, self.dof_names, self.num_dofs = [f"/Wheel_{i}" for i in range(len(RATIOS))], ["shaft"], 1
        self.dof_paths = [[f"{path}/shaft"] for path in self.paths]
        self.q, self.qd, self.effort = np.zeros((3, len(RATIOS), 1))
        self.get_dof_positions, self.get_dof_velocities = lambda: self.q, lambda: self.qd
        self.get_dof_position_targets, self.get_dof_velocity_targets = lambda: np.ones_like(self.q), lambda: 0 * self.q
        self.get_dof_gains, self.set_dof_gains = lambda: (0 * self.q, 0 * self.q), lambda *gains, **options: None

    def set_dof_efforts(self, efforts, *, indices=None, dof_indices=None):
        """Set the efforts of the next step; there is one joint, so only rows are selected."""
        self.effort[slice(None) if indices is None else indices] = efforts


class Bus:
    """Physics events. Physics always runs here, so `ready` and `stop` never occur."""

    def __init__(self) -> None:
        self.ready, self.before_step = True, set()
        self.on_ready = self.on_stop = lambda callback, *, order=0: SimpleNamespace(close=lambda: None)

    def on_pre_step(self, callback, *, order=0):
        """Call `callback` before each step, until the returned subscription is closed."""
        self.before_step.add(callback)
        return SimpleNamespace(close=lambda: self.before_step.discard(callback))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="your_own_simulator.png", help="path of the picture")
    picture, wheels, bus = parser.parse_args().plot, Wheels(), Bus()
    gains = (wp.array(gain, float, device=device_of("cpu")) for gain in (KP + 0 * RATIOS, 2 * RATIOS * KP / RATE))
    motors = [(ea.ActuatorConfig(ea.ControllerPD(*gains)), "shaft")]
    with ea.use_host(SimpleNamespace(stage=None, bus=bus, articulation=lambda paths: wheels)):
        actuators = ea.ArticulationActuators.from_actuators("/Wheel_.*", motors)
    positions = np.zeros((STEPS, len(RATIOS)))
    for step in range(STEPS):
        for callback in tuple(bus.before_step):
            callback(DT, None)
        wheels.qd += DT * wheels.effort / INERTIA
        wheels.q += DT * wheels.qd
        positions[step] = wheels.q[:, 0]
    actuators.close()
    # the damped oscillator in closed form; the root is imaginary below a ratio of 1
    time, decay, root = DT * np.arange(1, STEPS + 1)[:, None], RATE * RATIOS, RATE * np.sqrt(RATIOS**2 - 1 + 0j)
    exact = 1 - (np.exp(-decay * time) * (np.cosh(root * time) + decay / root * np.sinh(root * time))).real
    drawn, (panel,) = style.panels(9, 5, "Twelve damping ratios in your own simulator")
    panel.plot(time[::40], exact[::40], **style.DOTS)
    panel.set(xlabel="time [s]", ylabel="position [rad]")
    style.lines(panel, time, positions, colors=(shades := style.shades(len(RATIOS))))
    style.key(panel, {f"ratio {RATIOS[i]:.2f}": {"color": shades[i]} for i in (0, 5, 11)} | {"closed form": style.DOTS})
    style.save(drawn, picture)
    close = (error := np.abs(positions - exact).max()) < TOLERANCE
    print(f"{'ok' if close else 'FAILED'}: within {error:.4f} rad of the closed form; see {picture}")
    return 0 if close else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
