"""Bring your own loop: actuators on a model of newton, in its loop, with any of its solvers.

./python.sh standalone_examples/your_own_newton.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import matplotlib.pyplot as plt
import newton
import numpy as np

STEPS, DT, TOLERANCE, KP, INERTIA = 2000, 1 / 2000, 0.01, 8.0, 0.05  # -, [s], [rad], [N·m/rad], [kg·m²]
RATE, RATIOS = np.sqrt(KP / INERTIA), np.linspace(0.05, 0.9, 12)  # natural frequency [rad/s], damping of each robot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="your_own_newton.png", help="where the picture goes")
    picture, positions = parser.parse_args().plot, np.zeros((STEPS, len(RATIOS)))
    wheel, wheels = newton.ModelBuilder(), newton.ModelBuilder()
    link = wheel.add_link(mass=1.0, inertia=(INERTIA * np.eye(3)).tolist())
    wheel.add_articulation([wheel.add_joint_revolute(-1, link, axis=(0, 0, 1), armature=0.0, label="shaft")])
    wheels.replicate(wheel, len(RATIOS))
    model = wheels.finalize(device="cpu")
    actuated = ea.ActuatedModel(model, {"shaft": [ea.PDControlConfig(KP, 2 * RATIOS * KP / RATE)]})
    solver, control = newton.solvers.SolverFeatherstone(model, angular_damping=0.0), model.control()
    state, following = model.state(), model.state()
    control.joint_target_q.fill_(1.0)
    for step in range(STEPS):
        actuated.step(state, control, DT)
        solver.step(state, following, control, None, DT)
        state, following = following, state
        positions[step] = state.joint_q.numpy()
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
