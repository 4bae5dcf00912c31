"""Bring your own loop: actuators on plain NumPy arrays. No USD, no simulator; Warp, Torch and JAX arrays do as well.

./python.sh standalone_examples/your_own_arrays.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import matplotlib.pyplot as plt
import numpy as np

STEPS, DT, TOLERANCE, KP, INERTIA = 2000, 1 / 2000, 0.01, 8.0, 0.05  # -, [s], [rad], [N·m/rad], [kg·m²]
RATE, RATIOS = np.sqrt(KP / INERTIA), np.linspace(0.05, 0.9, 12)  # natural frequency [rad/s], damping of each robot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="your_own_arrays.png", help="where the picture goes")
    picture, positions = parser.parse_args().plot, np.zeros((STEPS, len(RATIOS)))
    motors = {"shaft": [ea.PDControlConfig(KP, 2 * RATIOS * KP / RATE)]}
    wheels = ea.ActuatedArrays(["shaft"], motors, len(RATIOS))
    q, qd, target = np.zeros((3, len(RATIOS), 1), np.float32)
    target[:] = 1.0
    for step in range(STEPS):
        qd += DT * wheels.step(q, qd, target, DT) / INERTIA
        q += DT * qd
        positions[step] = q[:, 0]
    time, decay, rate = DT * np.arange(1, STEPS + 1)[:, None], RATE * RATIOS, RATE * np.sqrt(1 - RATIOS**2)
    exact = 1 - np.exp(-decay * time) * (np.cos(rate * time) + decay / rate * np.sin(rate * time))
    plt.plot(time, positions)
    plt.plot(time[::40], exact[::40], "k.", markersize=2.5)
    plt.gca().set(xlabel="time [s]", ylabel="position [rad]", title="One law, twelve dampings; dots: closed form")
    plt.savefig(picture, dpi=120)
    close = (error := np.abs(positions - exact).max()) < TOLERANCE
    print(f"{'ok' if close else 'FAILED'}: within {error:.4f} rad of the closed form; see {picture}")
    return int(not close)


if __name__ == "__main__":
    raise SystemExit(main())
