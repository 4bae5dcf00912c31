"""Environments shared out among processes: every one once, in order, and the same numbers for any number of them."""

import os
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators import Shard
from places import ROBOTS
from refusals import cases, refused
from warm_python import warm_python

# what one process simulates: motion of pendulums whose motors are drawn by number of the environment
SCRIPT = """
import sys
import numpy as np
import isaacsim.core.experimental.actuators as ea

shard, seen = ea.Shard.from_environment(int(sys.argv[2]), seed=3), []
draws = [np.random.default_rng([shard.seed, env]) for env in shard.envs]
kp, kd, delay, limit = np.array([one.uniform([10, 1, 0, 4], [40, 4, 9, 20]) for one in draws]).T
motor = [ea.PDControlConfig(kp, kd), ea.MaxEffortClampingConfig(limit), ea.DelayConfig(delay.astype(int))]
with ea.Simulation(sys.argv[1], num_envs=shard.num_envs) as sim:
    robot = ea.Articulation("/World/Pendulum")
    with ea.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor}):
        sim.play()
        robot.set_dof_position_targets(0.8)
        for _ in range(100):
            sim.step()
            seen.append([robot.get_dof_positions().numpy()[:, 0], robot.get_dof_efforts().numpy()[:, 0]])
np.savez(sys.argv[3], first_env=shard.first_env, seen=seen)
"""


def environment(rank: int | None = None, num_ranks: int | None = None) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    return given if rank is None else given | {"RANK": str(rank), "WORLD_SIZE": str(num_ranks)}


@given(st.data())
def test_every_environment_belongs_to_one_rank(data) -> None:
    num_ranks = data.draw(st.integers(1, 40))
    total = data.draw(st.integers(num_ranks, 2000))
    shards = [Shard.of(total, rank, num_ranks, seed=5) for rank in range(num_ranks)]
    assert list(chain.from_iterable(shard.envs for shard in shards)) == list(range(total))
    sizes = [shard.num_envs for shard in shards]
    assert max(sizes) - min(sizes) <= 1 and sizes == sorted(sizes, reverse=True)
    assert [(one.rank, one.num_ranks, one.seed) for one in shards] == [
        (rank, num_ranks, 5) for rank in range(num_ranks)
    ]


def test_numpy_integers_are_taken() -> None:
    assert Shard.of(np.int64(8), np.int32(1), np.uint8(2)) == Shard(1, 2, 4, 4, 0)


@cases(
    "arguments, message",
    ((3, 0, 4), r"total_envs = 3: must be an integer >= 4\. Ask for more .* fewer processes than 4\."),
    ((8.0, 0, 2), r"total_envs = 8\.0: must be an integer >= 2\."),
    ((8, 2, 2), r"rank = 2: must be less than num_ranks = 2\. Number processes from 0\."),
    ((8, -1, 2), r"rank = -1: must be an integer >= 0\. Number processes from 0\."),
    ((8, 0, 0), r"num_ranks = 0: must be an integer >= 1\. Pass the number of processes\."),
    ((8, 0, 2, -1), r"seed = -1: must be an integer >= 0\. Pass the same to every process\."),
)
def test_numbers_out_of_range_are_refused(arguments, message) -> None:
    refused(ValueError, lambda: Shard.of(*arguments), message)


@cases("rank, num_ranks, expected", ("1", "2", Shard(1, 2, 4, 5, 7)), ("0", "1", None))
def test_variables_of_torchrun_are_read(rank, num_ranks, expected, monkeypatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    alone = Shard.from_environment(9, seed=7)
    assert alone == Shard(0, 1, 9, 0, 7)
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", num_ranks)
    assert Shard.from_environment(9, seed=7) == (expected or alone)


@cases(
    "rank, num_ranks, told",
    ("2", "2", "RANK = '2', WORLD_SIZE = '2'"),
    ("-1", "2", "RANK = '-1', WORLD_SIZE = '2'"),
    ("one", "2", "RANK = 'one', WORLD_SIZE = '2'"),
    ("0", "", "RANK = '0', WORLD_SIZE = ''"),
    ("0", None, "RANK = '0', WORLD_SIZE unset"),
    (None, "2", "RANK unset, WORLD_SIZE = '2'"),
)
def test_wrong_variables_are_refused(rank, num_ranks, told, monkeypatch) -> None:
    for name, value in (("RANK", rank), ("WORLD_SIZE", num_ranks)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=rf"^{told}: must be integers, 0 <= RANK < WORLD_SIZE\. .* unset both"):
        Shard.from_environment(9)


def test_two_processes_give_the_numbers_of_one(tmp_path) -> None:
    def run(name: str, env: dict[str, str]) -> np.lib.npyio.NpzFile:
        done = warm_python().run(["-c", SCRIPT, ROBOTS / "pendulum.usda", "3", f"{name}.npz"], timeout=120, env=env)
        assert done.returncode == 0, done.stderr
        return np.load(tmp_path / f"{name}.npz")

    whole = run("whole", environment())
    parts = [run(f"part{rank}", environment(rank, 2)) for rank in range(2)]
    assert [int(part["first_env"]) for part in parts] == [0, 2]
    together = np.concatenate([part["seen"] for part in parts], axis=2)
    assert together.shape == (100, 2, 3) and len(np.unique(together[-1, 0])) == 3
    np.testing.assert_array_equal(together.view(np.uint32), whole["seen"].view(np.uint32))
