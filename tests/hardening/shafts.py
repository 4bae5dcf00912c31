"""A million steps of fingers on springs whose tendon has a rotor: their energy does not grow.

    ./python.sh tests/hardening/shafts.py                  # a million steps, two minutes
    ./python.sh tests/hardening/shafts.py --steps 50000    # a quick look

Rotors from a tenth to a thousand times the inertia of the joints at the tendon, assumed as it is, half of that and a
tenth. Exits with 1 when the mean energy over a twentieth of the steps is above that of the first one by more than the
rounding of float32, an energy is above 1.05 of that at the start, or an effort is not finite.
"""

import argparse
import sys

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, LinkageConfig, PDControlConfig, ShaftInertiaConfig

DT, ROTORS, SHARES, ROUNDING = 1e-3, (0.1, 1.0, 10.0, 1e3), (1.0, 0.5, 0.1), 1e-4
MASS = np.array([[4.0, 0.8, 0.3], [0.8, 2.5, 0.2], [0.3, 0.2, 1.9]]) * 1e-5
SPRINGS, TENDON = np.array([0.05, 0.04, 0.03]), {"a": 1.0, "b": 0.8, "c": 0.5}


def energies(steps: int) -> np.ndarray:
    """Energies of all fingers over time, means of a twentieth of the steps, `(20, fingers)`; and the largest one."""
    arms, inverse = np.array([*TENDON.values()]), np.linalg.inv(MASS)
    whole = 1.0 / (arms @ inverse @ arms)
    rotors, shares = (one.ravel() for one in np.meshgrid(whole * np.array(ROTORS), whole * np.array(SHARES)))
    rotor = ShaftInertiaConfig(rotors, shares)  # pyright: ignore[reportArgumentType]
    motor = [PDControlConfig(0.0, 0.0), rotor, LinkageConfig.tendon(TENDON)]
    fingers = ActuatedArrays([*TENDON], {"a": motor}, len(rotors))
    q, qd = np.tile([0.3, -0.2, 0.1], (len(rotors), 1)), np.zeros((len(rotors), 3))
    target, found = np.zeros(q.shape, np.float32), np.zeros((20, len(rotors)))
    largest, first, turned = 0.0, 0.0, np.zeros(len(rotors))
    for step in range(steps):
        efforts = fingers.step(q.astype(np.float32), qd.astype(np.float32), target, DT)
        # the cable pulls the rotor with what it pulls at the joints
        turned -= DT * efforts[:, 0].astype(float) / (arms[0] * rotors)
        qd += DT * (efforts - SPRINGS * q) @ inverse
        q += DT * qd
        energy = np.einsum("ni,ij,nj->n", qd, MASS, qd) + (SPRINGS * q**2).sum(1) + rotors * turned**2
        found[step * 20 // steps] += energy
        first = energy if step == 0 else first
        largest = np.maximum(largest, energy / first)
    if fingers.faults:
        raise SystemExit(f"MISSED: {fingers.faults[0]}")
    return np.vstack([found, largest])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="number of steps, a multiple of 20")
    steps = parser.parse_args().steps
    *means, largest = energies(steps)
    grown, left = (np.array(means) / means[0]).max() - 1, (means[-1] / means[0]).min()
    good = grown <= ROUNDING and largest.max() <= 1.05
    words = "ok" if good else "MISSED"
    print(
        f"{len(largest)} fingers, {steps} steps: mean energy {grown:+.6f}, at most {largest.max():.4f}, least left "
        f"{left:.4f}  {words}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
