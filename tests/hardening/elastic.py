"""A million steps of rotors on springs and in backlash: their energy never grows, and without damping does not fall.

    ./python.sh tests/hardening/elastic.py                  # a million steps, ten minutes
    ./python.sh tests/hardening/elastic.py --steps 20000    # a quick look

Joints are half as heavy as the actuator assumes, as heavy, twice as heavy, or held; springs from h·ω = 0.1 to 30. Exits
with 1 when an energy in the middle of a step is above 1 + (h·ω)²/2 of that at the start, that of a spring without
damping and backlash with h·ω <= 1/4 is below, by more than the rounding of float32, or an effort is not finite.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from two_masses import Cases, energies

DT, PRODUCTS, ROUNDING = 1e-3, (0.1, 0.25, 0.35, 0.5, 1.0, 30.0), 1e-6
# what the rounding of a step may take of the energy, a tenth of a last digit
DRIFT = 1e-8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="number of steps")
    cases = Cases(DT, PRODUCTS).make()
    steps = parser.parse_args().steps
    least, largest = energies(cases, steps, every=50, dense=2000)
    over, lost = (largest - cases.most_energy).max(), 1 - least[cases.keeps_energy].min()
    good = over <= ROUNDING and lost <= DRIFT * steps and not cases.arrays.faults
    words = "ok" if good else "MISSED"
    print(f"{len(least)} cases, {steps} steps: energy {over:+.9f} beyond its bound, {lost:.9f} lost  {words}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
