"""Draw `data/actuator_groups.png`: a legged mobile manipulator, with the group of each joint.

./python.sh tools/draw_groups.py
"""

from __future__ import annotations

from pathlib import Path

from isaacsim.core.experimental.actuators.tools.plots import style

TARGET = Path(__file__).resolve().parents[1] / "data" / "actuator_groups.png"
LEGS, ARM, GRIPPER = style.RED, style.BLUE, style.GREEN
# chains of joints, from the body outward, by group
CHAINS = {
    LEGS: [[(0.8, 2.2), (0.5, 1.25), (0.85, 0.3)], [(1.5, 2.2), (1.2, 1.25), (1.55, 0.3)],
           [(3.5, 2.2), (3.2, 1.25), (3.55, 0.3)], [(4.2, 2.2), (3.9, 1.25), (4.25, 0.3)]],
    ARM: [[(3.6, 2.85), (3.3, 3.9), (4.4, 4.6), (5.3, 4.1)]],
    GRIPPER: [[(5.3, 4.1), (5.75, 3.95)], [(5.3, 4.1), (5.6, 3.7)]],
}  # fmt: skip
WORDS = {
    LEGS: ("legs", "ActuatorNetLSTMCfg\nwhat was learned from logs", (6.4, 1.2), (4.0, 1.25)),
    ARM: ("arm", "ImplicitActuatorCfg\nthe joints' own drives", (6.4, 4.9), (4.5, 4.6)),
    GRIPPER: ("gripper", "IdealPDActuatorCfg\nPD and a largest effort", (6.4, 3.1), (5.75, 3.85)),
}


def main() -> None:
    """Draw the picture."""
    drawn = style.figure(9, 5)
    axes = drawn.subplots()
    axes.plot([0.7, 4.3], [2.5, 2.5], color=style.GREY, linewidth=50, alpha=0.3, solid_capstyle="round", zorder=0)
    axes.axhline(0.22, color=style.GREY, linewidth=style.THICK, alpha=0.5, zorder=0)
    for color, chains in CHAINS.items():
        for chain in chains:
            axes.plot(*zip(*chain, strict=True), color=style.GREY, linewidth=6, solid_capstyle="round", zorder=1)
            axes.plot(*zip(*chain[: max(len(chain) - 1, 1)], strict=True), "o", color=color, markersize=14, zorder=2)
    for color, (name, words, place, joint) in WORDS.items():
        axes.annotate(
            f'"{name}": {words}', joint, place, color=color, fontsize=12, va="center",
            arrowprops={"arrowstyle": "-", "color": color, "shrinkB": 10},
        )  # fmt: skip
    axes.set(xlim=(0, 9.8), ylim=(0, 5.4), aspect="equal")
    axes.axis("off")
    style.save(drawn, TARGET)


if __name__ == "__main__":
    main()
