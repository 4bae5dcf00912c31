"""Train a quadruped to walk with PPO of Stable-Baselines3, in about three minutes on one core.

./python.sh -m pip install --editable ".[baselines]"
./python.sh standalone_examples/train_with_stable_baselines.py [--quick] [--plot out.png] [--tensorboard FOLDER]
"""

import argparse
import time

from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

ROBOTS, SEED, SECONDS, UNSEEN = 64, 7, 3.0, 10_000
# environment steps, required improvement of the last policy over the first [m]
WHOLE, QUICK = (400_000, 1.5), (120_000, 0.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer steps: only the beginning of a walk")
    parser.add_argument("--plot", default="train_with_stable_baselines.png", help="path of the picture")
    parser.add_argument("--tensorboard", help="folder for scalars; TensorBoard must be installed then")
    options = parser.parse_args()
    steps, margin = QUICK if options.quick else WHOLE
    with needs("This example", "baselines", SystemExit):
        import gymnasium
        from learning.ppo import StableBaselinesEnv, learn, learner, returns
    # docs: begin make
    quadrupeds = gymnasium.make_vec("actuators/Quadruped-v0", ROBOTS, seconds=SECONDS, autoreset="SameStep")
    robots = StableBaselinesEnv(quadrupeds)
    # docs: end make
    model = learner(robots, SEED, options.tensorboard)
    first, begin = returns(model, robots, UNSEEN), time.perf_counter()
    learned = learn(model, steps)
    wall, last = time.perf_counter() - begin, returns(model, robots, UNSEEN)
    robots.close()

    drawn, (panel,) = style.panels(9, 5, f"{ROBOTS} quadrupeds learn to walk with PPO: {SECONDS:g} s per episode")
    panel.set(xlabel="environment steps", ylabel="return [m, less 1 for a fall]")
    panel.plot(*learned.T)
    style.save(drawn, options.plot)
    learnt = bool(last.mean() > first.mean() + margin)
    print(f"{model.num_timesteps / wall:,.0f} environment steps/s, {wall:.0f} s; see {options.plot}")
    what = f"{last.mean() / SECONDS:.2f} m/s with the trained policy, {first.mean() / SECONDS:.2f} m/s with the first"
    print(f"{'ok' if learnt else 'FAILED'}: {what} (worst of {ROBOTS}: {last.min() / SECONDS:.2f} m/s)")
    return 0 if learnt else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
