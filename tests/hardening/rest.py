"""A minute of rest: robots that friction holds are pushed once, without and with a load that no actuator knows of.

    ./python.sh tests/hardening/rest.py                 # some minutes, with PhysX where the extra is installed
    ./python.sh tests/hardening/rest.py --seconds 5     # a quick look

The SO-101 on MuJoCo, PhysX and arrays has to rest; of the chains of six links, the one with a large armature at 2 ms.
The G1 has to stand without a velocity that alternates, and with its efforts handed to the simulator also after a push.
The other chains have no bar: they are the reference for a solver over the joints of a robot, which `FrictionConfig`
does not have. Exits with 1 when a bar is missed.
"""

import argparse
import itertools
import math
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from isaacsim.core.experimental.actuators import Articulation, Simulation
from resting import ARM, BASE, LOAD, Rest, chain, held, humanoid, rest, rest_on_arrays, so101

STEPS, LOADS, ARMATURES = (0.001, 0.002, 0.005), (0.0, LOAD), (0.03, 0.001)
# largest rms velocity [rad/s] and drift [rad]
ARM_RESTS, CHAIN_RESTS, NO_BAR, G1_STANDS = (1e-6, 1e-5), (1e-3, math.inf), (math.inf, math.inf), 3e-3


def report(what: str, dt: float, load: float, found: Rest, bar: tuple[float, float]) -> bool:
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
    for mode, kick in (("explicit", 0.0), ("implicit", 0.0), ("in_engine", 0.0), ("in_engine", 1.0)):
        stands = humanoid(mode, kick, seconds=seconds)
        good.append(stands.rms <= G1_STANDS and stands.alternating < 0.1 and 0.009 < stands.sunk < 0.015)
        print(f"G1, {mode}, kick {kick:g} rad/s: {stands}  {'ok' if good[-1] else 'MISSED'}", flush=True)
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
