"""A million steps of rotors on springs and in backlash: their energy is never above that at the start.

    ./python.sh tests/hardening/elastic.py                  # a million steps, ten minutes
    ./python.sh tests/hardening/elastic.py --steps 20000    # a quick look

Joints are half as heavy as the actuator assumes, as heavy, twice as heavy, or held; springs from h·ω = 0.1 to 30. Exits
with 1 when an energy is above its start by more than the rounding of float32, or an effort is not finite.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from two_masses import Cases, largest_energy

DT, PRODUCTS, MOST = 1e-3, (0.1, 0.25, 0.5, 1.0, 30.0), 1 + 1e-6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="number of steps")
    cases = Cases(DT, PRODUCTS).make()
    steps = parser.parse_args().steps
    found = largest_energy(cases, steps, every=50, dense=2000)
    good = bool((found <= MOST).all()) and not cases.arrays.faults
    words = "ok" if good else "MISSED"
    print(f"{len(found)} cases, {steps} steps: energy at most {found.max():.9f} of that at the start  {words}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
