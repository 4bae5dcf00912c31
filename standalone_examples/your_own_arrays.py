"""Bring your own loop: actuators on plain NumPy arrays, without USD and simulator; also for Warp, Torch and JAX arrays.

./python.sh standalone_examples/your_own_arrays.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

without_traceback()
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", default="your_own_arrays.png", help="path of the picture")
STALL, FREE, DT = 2.0, 30.0, 1 / 2000  # stall torque [N·m], no-load speed [rad/s], step [s]
inertia = np.linspace(0.02, 0.2, 12)[:, None]  # of twelve wheels [kg·m²]
motor = [ea.PDControlConfig(0.0, 5.0), ea.DCMotorClampingConfig(STALL, FREE, STALL)]
wheels = ea.ActuatedArrays(["axle"], {"axle": motor}, len(inertia))
q, qd, q_target, qd_target = np.zeros((4, len(inertia), 1), np.float32)
qd_target[:] = 2 * FREE  # above the no-load speed
speeds = np.zeros((3000, len(inertia)))
for step in range(len(speeds)):
    qd += DT * wheels.step(q, qd, q_target, DT, qd_target=qd_target) / inertia
    q += DT * qd
    speeds[step] = qd[:, 0]
time = DT * np.arange(1, len(speeds) + 1)[:, None]
exact = FREE * (1 - np.exp(-time * STALL / FREE / inertia.T))
drawn, (panel,) = style.panels(9, 5, "One DC motor on wheels of twelve inertias")
panel.plot(time[::60], exact[::60], **style.DOTS)
style.key(panel, {"closed form": style.DOTS})
panel.set(xlabel="time [s]", ylabel="speed [rad/s]")
style.lines(panel, time, speeds, [f"{value:.3f} kg·m²" for value in inertia[:, 0]], style.shades(len(inertia)))
style.save(drawn, picture := parser.parse_args().plot)
good = (error := np.abs(speeds - exact).max()) < 0.02 * FREE
print(f"{'ok' if good else 'FAILED'}: within {error:.3f} rad/s of the closed form; see {picture}")
raise SystemExit(0 if good else 1)
