"""An hour of heat at 1 kHz in float32: the temperatures of a motor against the matrix exponential in float64.

    ./python.sh tests/hardening/heat.py                 # the hour, half a minute
    ./python.sh tests/hardening/heat.py --seconds 60    # a quick look

Motors of several time constants under constant and under switched power. Exits with 1 when a temperature is off by more
than a thousandth of a kelvin.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from isaacsim.core.experimental.actuators import ThermalConfig
from matrix_exponential import expm
from one_inertia import joints_of, state_of

DT, CONSTANT, MOST = 1e-3, 0.5, 1e-3
# heat capacities and resistances of winding and housing
MOTORS = {"servo": (5, 2, 60.0, 8), "joint of a leg": (20, 1, 150.0, 4), "harmonic": (60, 0.5, 1500.0, 1)}


def error(motor: tuple[float, ...], powers: list[float], seconds: float) -> float:
    c_w, r_w, c_h, r_h = motor
    arrays = joints_of(ThermalConfig(c_w, r_w, c_h, r_h, motor_constant=CONSTANT, temperature_coefficient=0.0), 1)
    rest = np.zeros((1, 1), np.float32)
    rise = np.zeros(2)
    for power in powers:
        effort = np.full((1, 1), CONSTANT * np.sqrt(power), np.float32)
        steps = round(seconds / len(powers) / DT)
        for _ in range(steps):
            arrays.step(rest, rest, rest, DT, feedforward=effort)
        given = float(effort[0, 0]) ** 2 / CONSTANT**2
        rates = np.array([[-1, 1, given * r_w], [c_w / c_h, -(1 + r_w / r_h) * c_w / c_h, 0], [0, 0, 0]]) / (r_w * c_w)
        rise = (expm(rates * float(np.float32(DT)) * steps) @ [*rise, 1.0])[:2]
    found = [state_of(arrays, name)[0] for name in ("temperature", "housing_temperature")]
    return float(np.abs(np.array(found, np.float64) - 25.0 - rise).max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0, help="simulated time of each run")
    seconds, good = parser.parse_args().seconds, True
    for (name, motor), powers in (
        (one, powers) for one in MOTORS.items() for powers in ([12.0], [30.0, 0.0, 8.0, 20.0])
    ):
        found = error(motor, powers, seconds)
        good &= found <= MOST
        print(f"{name:16} {len(powers)} powers  {found:.1e} K  {'ok' if found <= MOST else 'MISSED'}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
