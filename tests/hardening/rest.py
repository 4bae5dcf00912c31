"""A minute of rest: robots that friction holds are pushed once, without and with a load that no actuator knows of.

    ./python.sh tests/hardening/rest.py                 # some minutes, with PhysX where the extra is installed
    ./python.sh tests/hardening/rest.py --seconds 5     # a quick look

The SO-101 on MuJoCo, PhysX and arrays has to rest; of the chains of six links, the one with a large armature at 2 ms.
The other chains have no bar: they are the reference for a solver over the joints of a robot, which `FrictionConfig`
does not have. Exits with 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from isaacsim.core.experimental.actuators import Articulation, Simulation
from resting import ARM, BASE, LOAD, Rest, chain, held, rest, rest_on_arrays, so101

STEPS, LOADS, ARMATURES = (0.001, 0.002, 0.005), (0.0, LOAD), (0.03, 0.001)
# largest rms velocity [rad/s] and drift [rad]
ARM_RESTS, CHAIN_RESTS, NO_BAR = (1e-6, 1e-5), (1e-3, math.inf), (math.inf, math.inf)


def report(what: str, dt: float, load: float, found: Rest, bar: tuple[float, float]) -> bool:
    """Print what was found; return True if it is within the bar."""
    good = found.rms <= bar[0] and found.drift <= bar[1]
    said = "" if bar == NO_BAR else "ok" if good else "MISSED"
    print(
        f"{what:24} {1e3 * dt:2g} ms  load {load:.1f} F  {found.rms:.1e} rad/s  {1e3 * found.drift:.1e} mrad  {said}",
        flush=True,
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of each run; the last second counts")
    seconds = parser.parse_args().seconds
    cases, good = list(itertools.product(STEPS, LOADS)), []
    for engine in ["mujoco", *(["physx"] if find_spec("ovphysx") else [])]:
        for dt, load in cases:
            good.append(report(f"SO-101, {engine}", dt, load, rest(so101(), ARM, engine, dt, load, seconds), ARM_RESTS))
    with Simulation(so101()) as sim:
        names, robot = Articulation(ARM).dof_names, held(sim, ARM)
    for dt, load in cases:
        good.append(report("SO-101, arrays", dt, load, rest_on_arrays(names, robot, dt, load, seconds), ARM_RESTS))
    with tempfile.TemporaryDirectory() as folder:
        for armature, (dt, load) in itertools.product(ARMATURES, cases):
            found = rest(chain(Path(folder), armature), BASE, "mujoco", dt, load, seconds)
            bar = CHAIN_RESTS if (armature, dt) == (0.03, 0.002) else NO_BAR
            good.append(report(f"chain, armature {armature:g}", dt, load, found, bar))
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
