"""Tune the gains of a joint by gradient descent, through the motor and a pendulum in one Warp kernel.

./python.sh standalone_examples/tune_gains_by_gradient.py [--plot out.png]
"""

import argparse

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import start_warp
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

start_warp()  # without its messages
wp.config.log_level = 40  # errors alone from here on
without_traceback()
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", default="tune_gains_by_gradient.png", help="path of the picture")
DT, STEPS, ROUNDS, TARGET = 1 / 60, 90, 25, 1.0  # step [s], steps per trial, trials, target angle [rad]


@wp.kernel
def swing(q: wp.array[float], qd: wp.array[float], effort: wp.array[float], q1: wp.array[float], qd1: wp.array[float]):
    """Step a pendulum of 1 kg at 0.5 m with little friction: first speed, then angle."""
    i = wp.tid()
    qd1[i] = qd[i] + DT * (effort[i] - 0.05 * qd[i] - 4.905 * wp.sin(q[i])) / 0.25
    q1[i] = q[i] + DT * qd1[i]


@wp.kernel
def miss(q: wp.array[float], wanted: float, effort: wp.array[float], loss: wp.array[float]):
    """Add the squared angle error and a small effort penalty to the loss."""
    i = wp.tid()
    wp.atomic_add(loss, 0, DT * ((q[i] - wanted) * (q[i] - wanted) + 1e-4 * effort[i] * effort[i]))


def array(value=0.0):
    """Return an array of one number with a gradient."""
    return wp.full(1, value, dtype=float, device="cpu", requires_grad=True)


# docs: begin motor
gains = {"kp": array(8.0), "ki": array(1.0), "kd": array(0.2)}
law = ea.ControllerPID(**gains, integral_max=array(10.0), const_effort=array())
delay = ea.Delay(wp.full(1, 2, dtype=int, device="cpu"), 2)
here = wp.zeros(1, dtype=wp.uint32, device="cpu")
motor = ea.Actuator(here, law, delay, [ea.ClampingMaxEffort(array(12.0))], requires_grad=True)
# docs: end motor


def attempt(tape):
    """Swing up once; return the loss and the angles."""
    angles, speeds = ([array() for _ in range(STEPS + 1)] for _ in range(2))
    target, rest, loss, state = array(TARGET), array(), array(), motor.state()
    with tape:
        for k in range(STEPS):
            control = {"joint_target_q": target, "joint_target_qd": rest, "joint_f": (effort := array())}
            motor.step({"joint_q": angles[k], "joint_qd": speeds[k]}, control, state, state, DT)
            wp.launch(swing, 1, [angles[k], speeds[k], effort], [angles[k + 1], speeds[k + 1]], device="cpu")
            wp.launch(miss, 1, [angles[k + 1], TARGET, effort], [loss], device="cpu")
    return loss, [angle.numpy()[0] for angle in angles]


losses, tries = [], []
for number in range(1, ROUNDS + 1):
    loss, angles = attempt(tape := wp.Tape())
    tape.backward(loss)
    losses, tries = [*losses, float(loss.numpy()[0])], [*tries, angles]
    for gain in gains.values():  # gradient descent with decreasing step size
        gain.fill_(gain.numpy()[0] * np.exp(-0.3 * 0.92**number * np.sign(gain.grad.numpy()[0])))
    tape.zero()
    if number % 5 == 1 or number == ROUNDS:
        print(f"try {number:3}: loss {losses[-1]:.4f}; next", *(f"{n} {g.numpy()[0]:.2f}" for n, g in gains.items()))
drawn, (panel,) = style.panels(9, 5, "Gains by gradient descent, through motor and pendulum")
panel.set(xlabel="time [s]", ylabel="angle [rad]")
style.mark(panel, "target", y=TARGET)
chosen = {f"try {number + 1}, loss {losses[number]:.3f}": tries[number] for number in (0, 3, 7, ROUNDS - 1)}
style.lines(panel, DT * np.arange(STEPS + 1), np.transpose(list(chosen.values())), list(chosen))
style.save(drawn, picture := parser.parse_args().plot)
good = losses[-1] < 0.5 * losses[0] and abs(tries[-1][-1] - TARGET) < 0.05
print(f"{'ok' if good else 'FAILED'}: loss {losses[0]:.3f} to {losses[-1]:.3f}, {tries[-1][-1]:.3f} rad; see {picture}")
raise SystemExit(0 if good else 1)
