"""Twenty times their gains at 5 ms: ANYmal, G1 and Franka hold a pose for ten seconds, in contact and with a load.

    ./python.sh tests/hardening/stiff.py                 # two minutes, with PhysX where the extra is installed
    ./python.sh tests/hardening/stiff.py --seconds 3     # a quick look

The load is welded on, so that neither mass matrix nor load signal of the robot has it. Columns: the largest sustained
tone that `buzz` finds in the second half, the fast motion of all joints, and the descent of the base. A joint chatters
with a tone, or with fast motion above 1e-5 rad. The drives of the simulator, which its solver knows, are the reference.
Exits with 1 when an implicit robot has a fault, chatters or falls, `in_engine` or joint by joint. The G1 is excused in
the latter: it lies down, as the inertia of its legs is that of free legs, and legs on the ground move the whole robot;
see the page on stiff gains.
"""

import argparse
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from laden import LADEN, SECONDS, Found, hold

MODES = ("explicit", "drives", "implicit", "in_engine")
LIES_DOWN = ("G1", "implicit")
# descent of a base that stands [m]
LARGEST_DESCENT = 0.005


def row(name: str, engine: str, how: str, found: Found) -> str:
    tone = "none" if found.tone is None else f"{found.tone[0]:.1e} rad {found.tone[1]:3.0f} Hz"
    verdict = "chatter" if found.chatters else "quiet"
    return (
        f"{name:8}{engine:8}{how:10}{verdict:9}tone {tone:20}fast {found.fast:.0e} rad  off {found.error:.3f} rad  "
        f"sunk {found.fallen:+.3f} m  {found.faults} faults"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="duration of each run; the second half counts")
    seconds, missed = parser.parse_args().seconds, list[str]()
    for name, engine in product(LADEN, ["mujoco", *(["physx"] if find_spec("ovphysx") else [])]):
        runs = {how: hold(name, engine, how, seconds) for how in MODES}
        print("\n".join(row(name, engine, how, found) for how, found in runs.items()), flush=True)
        for how in ("implicit", "in_engine"):
            ours = runs[how]
            if (ours.faults or ours.chatters or abs(ours.fallen) > LARGEST_DESCENT) and (name, how) != LIES_DOWN:
                missed.append(f"{name} on {engine}, {how}")
    print(f"MISSED: {', '.join(missed)}" if missed else "ok")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
