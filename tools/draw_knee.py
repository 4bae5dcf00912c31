"""Draw `data/knee_envelope.png` and `data/knee_step.png`: what a knee of ANYmal can give, and how it answers.

./python.sh tools/draw_knee.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    Simulation,
    add_motors,
)
from isaacsim.core.experimental.actuators.commands.main import main

DATA = Path(__file__).resolve().parents[1] / "data"
# that of docs/tutorials/see_it_move.md
MOTOR = [
    PDControlConfig(kp=900.0, kd=25.0),
    DelayConfig(delay_steps=3),
    DCMotorClampingConfig(saturation_effort=120.0, velocity_limit=7.5, max_motor_effort=100.0),
    MaxEffortClampingConfig(max_effort=80.0),
]


def draw() -> int:
    """Draw both; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "anymal.usda"
        with Simulation(DATA / "robots" / "anymal_c.usda") as simulation:
            add_motors("/World/Anymal", {".*": MOTOR}, overwrite_existing=True)
            simulation.stage.Export(str(file))
        envelope = ["plot", "envelope", str(file), "LF_KFE", "-o", str(DATA / "knee_envelope.png")]
        step = ["plot", "step", str(file), "LF_KFE", "--amplitude", "0.3", "-o", str(DATA / "knee_step.png")]
        return main(envelope) or main(step)


if __name__ == "__main__":
    sys.exit(draw())
