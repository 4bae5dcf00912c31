"""Environments shared out among processes, on one machine or several."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import Self, SupportsIndex

# as torchrun sets them
_RANK, _NUM_RANKS = "RANK", "WORLD_SIZE"


@dataclass(frozen=True)
class Shard:
    """The environments that one of several processes simulates.

    Environments have one numbering over all processes. What is drawn for one of them from `seed` and its number alone
    is the same however many processes there are.

    Attributes:
        rank: Number of this process, from 0.
        num_ranks: Number of processes.
        num_envs: Number of environments of this process.
        first_env: Number of the first of them over all processes.
        seed: Of everything that is drawn.

    Example:
        >>> from isaacsim.core.experimental.actuators import Shard
        >>> Shard.of(10, rank=1, num_ranks=3)
        Shard(rank=1, num_ranks=3, num_envs=3, first_env=4, seed=0)
    """

    rank: int
    num_ranks: int
    num_envs: int
    first_env: int
    seed: int

    @classmethod
    def of(cls, total_envs: int, rank: int, num_ranks: int, seed: int = 0) -> Self:
        """Return the environments of one process; the first ones have one more where the total does not divide.

        Args:
            total_envs: Number of environments of all processes, one for each at least.
            rank: Number of this process, from 0.
            num_ranks: Number of processes.
            seed: Of everything that is drawn, >= 0.

        Raises:
            ValueError: A number is out of range.
        """
        num_ranks = _whole("num_ranks", num_ranks, 1, "Pass the number of processes.")
        remedy = "Number processes from 0."
        rank = _whole("rank", rank, 0, remedy)
        if rank >= num_ranks:
            raise ValueError(f"rank = {rank}: must be less than num_ranks = {num_ranks}. {remedy}")
        seed = _whole("seed", seed, 0, "Pass the same to every process.")
        remedy = f"Ask for more environments, or start fewer processes than {num_ranks}."
        each, more = divmod(_whole("total_envs", total_envs, num_ranks, remedy), num_ranks)
        return cls(rank, num_ranks, each + (rank < more), rank * each + min(rank, more), seed)

    @classmethod
    def from_environment(cls, total_envs: int, seed: int = 0) -> Self:
        """Return the environments of this process by RANK and WORLD_SIZE, the variables that `torchrun` sets.

        Where neither is set, this process has all environments.

        Args:
            total_envs: Number of environments of all processes, one for each at least.
            seed: Of everything that is drawn, >= 0.

        Raises:
            ValueError: A number or a variable is out of range.
        """
        given = {name: os.environ.get(name) for name in (_RANK, _NUM_RANKS)}
        if set(given.values()) == {None}:
            return cls.of(total_envs, 0, 1, seed)
        number = {name: int(text) if text and text.isdecimal() else -1 for name, text in given.items()}
        if not 0 <= number[_RANK] < number[_NUM_RANKS]:
            wrong = ", ".join(
                f"{name} = {text!r}" if text is not None else f"{name} unset" for name, text in given.items()
            )
            raise ValueError(
                f"{wrong}: must be integers, 0 <= {_RANK} < {_NUM_RANKS}. Start with torchrun, set both, or unset both "
                "for a single process."
            )
        return cls.of(total_envs, number[_RANK], number[_NUM_RANKS], seed)

    @property
    def envs(self) -> range:
        """Numbers of the environments of this process over all processes."""
        return range(self.first_env, self.first_env + self.num_envs)


def _whole(name: str, value: SupportsIndex, least: int, remedy: str) -> int:
    """The value as an integer, checked."""
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise ValueError(f"{name} = {value!r}: must be an integer >= {least}. {remedy}")
    return whole
