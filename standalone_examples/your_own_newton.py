"""Bring your own loop: actuators on a newton model, with any newton solver.

./python.sh standalone_examples/your_own_newton.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.base.quiet_warp import start_warp
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

without_traceback()
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", default="your_own_newton.png", help="path of the picture")
picture = parser.parse_args().plot
start_warp()  # without its messages
with needs("This example", "newton", SystemExit):
    import newton
print("newton's solver compiles on the first run, which takes up to three minutes.", flush=True)
KP, INERTIA, DT = 8.0, 0.05, 1 / 2000  # [N·m/rad], [kg·m²], [s]
rate, ratios = np.sqrt(KP / INERTIA), np.linspace(0.05, 0.9, 12)  # natural frequency [rad/s], damping of each robot
wheel, wheels = newton.ModelBuilder(), newton.ModelBuilder()
link = wheel.add_link(mass=1.0, inertia=(INERTIA * np.eye(3)).tolist())
wheel.add_articulation([wheel.add_joint_revolute(-1, link, axis=(0, 0, 1), armature=0.0, label="shaft")])
wheels.replicate(wheel, len(ratios))
model = wheels.finalize(device="cpu")
actuated = ea.ActuatedModel(model, {"shaft": [ea.PDControlConfig(KP, 2 * ratios * KP / rate)]})
solver, control = newton.solvers.SolverFeatherstone(model, angular_damping=0.0), model.control()
state, following, positions = model.state(), model.state(), np.zeros((2000, len(ratios)))
control.joint_target_q.fill_(1.0)
for step in range(len(positions)):
    actuated.step(state, control, DT)
    solver.step(state, following, control, None, DT)
    state, following = following, state
    positions[step] = state.joint_q.numpy()
times, root = DT * np.arange(1, len(positions) + 1)[:, None], rate * (-ratios + 1j * np.sqrt(1 - ratios**2))
exact = 1 - (np.exp(root * times) * root.conj() / root.conj().imag).imag  # static value 1, the other terms decay
drawn, (panel,) = style.panels(9, 5, "One law on wheels of twelve damping ratios")
panel.plot(times[::40], exact[::40], **style.DOTS)
panel.set(xlabel="time [s]", ylabel="position [rad]")
shades = style.shades(len(ratios))
style.lines(panel, times, positions, colors=shades)
some = {f"ratio {ratios[at]:.2f}": {"color": shades[at]} for at in (0, 4, 8, 11)}
style.key(panel, {**some, "closed form": style.DOTS})
style.save(drawn, picture)
good = (error := np.abs(positions - exact).max()) < 0.01
print(f"{'ok' if good else 'FAILED'}: within {error:.4f} rad of the closed form; see {picture}")
raise SystemExit(0 if good else 1)
