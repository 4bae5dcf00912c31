"""Draw `data/friction_curve.png`: friction over velocity, and what each number of `FrictionConfig` means.

./python.sh tools/draw_friction.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, FrictionConfig
from isaacsim.core.experimental.actuators.tools.plots import style

TARGET = Path(__file__).resolve().parents[1] / "data" / "friction_curve.png"
# of a leg
LEG = FrictionConfig(coulomb=0.4, viscous=0.1, static=0.6, stribeck_velocity=0.2, assumed_inertia=0.01)
DRY, EXPONENTS = replace(LEG, viscous=0.0), (1.0, 2.0, 8.0)
VELOCITIES = np.linspace(0.002, 1.5, 600)
# text, point, place of the text
WORDS = (
    ("static: breaks a joint at rest", (0.0, 0.6), (0.3, 0.69)),
    ("stribeck_velocity: 37 % of\nstatic - coulomb is left", (0.2, 0.4 + 0.2 / np.e), (0.45, 0.575)),
    ("slope: viscous, 0.1 N·m·s/rad", (1.25, 0.525), (0.85, 0.46)),
    ("coulomb: dry friction of a fast joint", (0.9, 0.4), (0.6, 0.3)),
)


def turning(config: FrictionConfig) -> np.ndarray:
    """Return the friction on joints that turn at constant velocities, one each."""
    joints = ActuatedArrays(["joint"], {"joint": [config]}, len(VELOCITIES))
    position, velocity = np.zeros((2, len(VELOCITIES), 1), np.float32)
    velocity[:, 0] = VELOCITIES
    for _ in range(1000):
        joints.step(position, velocity, position, 0.01)
    return -joints.step(position, velocity, position, 0.01)[:, 0]


def main() -> None:
    """Draw the picture."""
    drawn, (left, right) = style.panels(12, 4.5, "Friction of a leg joint at constant velocity", columns=2)
    whole, dry = turning(LEG), turning(DRY)
    left.set(xlim=(0, VELOCITIES[-1]), ylim=(0, 0.75), xlabel="velocity [rad/s]", ylabel="friction [N·m]")
    right.set(xlim=(0, 0.5), xlabel="velocity [rad/s]")
    style.caption(left, "Static 0.6 N·m, coulomb 0.4 N·m, stribeck_velocity 0.2 rad/s")
    style.caption(right, "Without viscous friction, by stribeck_exponent")
    left.axvline(LEG.stribeck_velocity, color=style.GREY, linewidth=style.THIN, linestyle=":")
    right.axvline(LEG.stribeck_velocity, color=style.GREY, linewidth=style.THIN, linestyle=":")
    style.lines(left, VELOCITIES, dry[:, None], ["dry"], [style.GREY], linestyle="--")
    style.lines(left, VELOCITIES, whole[:, None], ["dry + viscous"], linewidth=style.THICK)
    for text, point, place in WORDS:
        arrow = {"arrowstyle": "-", "color": style.GREY}
        left.annotate(text, point, place, va="center", fontsize="small", arrowprops=arrow)
    slow = VELOCITIES <= right.get_xlim()[1]
    curves = [turning(replace(DRY, stribeck_exponent=exponent))[slow] for exponent in EXPONENTS]
    names = [f"exponent {exponent:g}" for exponent in EXPONENTS]
    style.lines(right, VELOCITIES[slow], np.stack(curves, axis=1), names, linewidth=style.THICK)
    style.save(drawn, TARGET)


if __name__ == "__main__":
    main()
