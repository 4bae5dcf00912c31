"""Train a quadruped to walk within two minutes: a gymnasium vector environment, and a search in NumPy alone.

./python.sh -m pip install --editable ".[gym]"
./python.sh standalone_examples/train_with_gymnasium.py [--quick] [--plot out.png]
"""

import argparse
import time

import numpy as np
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted, without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROBOTS, SEED, UNSEEN = 48, 7, 10_000
# rounds, length of an episode [s], required improvement of the last policy over the first [m]
WHOLE, QUICK = (36, 3.0, 1.5), (16, 2.0, 0.5)


def draw(path: str, tried: np.ndarray, seconds: float) -> None:
    """Plot the returns of the policies of each round."""
    told = f"{ROBOTS} quadrupeds learn to walk: {seconds:g} s per episode, with different motors in each"
    drawn, (panel,) = style.panels(9, 5, told)
    panel.set(xlabel="round", ylabel="return [m, less 1 for a fall]")
    style.bands(panel, np.arange(len(tried)) + 1, tried, "policies", (50, 100))
    style.save(drawn, path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: a shorter walk")
    parser.add_argument("--plot", default="train_with_gymnasium.png", help="path of the picture")
    options = parser.parse_args()
    rounds, seconds, margin = QUICK if options.quick else WHOLE
    with needs("This example", "gym", SystemExit):
        from isaacsim.core.experimental.actuators.tools.environments import Quadrupeds
        from learning.search import SHAPE, learn, returns
    robots = Quadrupeds(ROBOTS, seconds)
    begin = time.perf_counter()
    # docs: begin train
    first = returns(robots, np.zeros((ROBOTS, *SHAPE)), UNSEEN)
    lessons = track(learn(robots, rounds, SEED), "learning", total=rounds, console=Console(stderr=True))
    policies, tried = zip(*until_interrupted(lessons), strict=True)
    last = returns(robots, np.tile(policies[-1], (ROBOTS, 1, 1, 1)), UNSEEN)
    # docs: end train
    wall = time.perf_counter() - begin
    robots.close()

    table = Table("policy", "mean \\[m]", "worst \\[m]", "best \\[m]", title=f"Returns of {seconds:g} s, unseen motors")
    for name, reached in (("before", first), ("after", last)):
        table.add_row(name, *(f"{value:.2f}" for value in (reached.mean(), reached.min(), reached.max())))
    Console().print(table)
    draw(options.plot, np.array(tried), seconds)
    learnt = bool(last.mean() > first.mean() + margin)
    rate = ROBOTS * robots.max_steps * (len(tried) + 2) / wall
    print(f"{rate:,.0f} environment steps/s, {len(tried)} rounds in {wall:.0f} s; see {options.plot}")
    what = f"{last.mean() / seconds:.2f} m/s with the trained policy, {first.mean() / seconds:.2f} m/s with the first"
    print(f"{'ok' if learnt else 'FAILED'}: {what}")
    return 0 if learnt else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
