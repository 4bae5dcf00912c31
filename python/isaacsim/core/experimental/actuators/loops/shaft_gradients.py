"""Linkages of coefficients in gradients: signals of joints become those of shafts, and gradients go back.

    θ = A·q + offset,   τ_q = Aᵀ·τ,   so   by τ: A·(by τ_q),   by q: Aᵀ·(by θ)

A has the identity for joints without a linkage. Targets and feedforward of motors whose commands are their own stay; a
feedforward becomes A⁻ᵀ·τ_ff. A cable that is slack has no gradient, nor has a linkage one of whose shafts has a fault.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.linkages import PlannedLinkage


class ShaftGradients:
    """The linkages of all actuators, with the column of each of their slots."""

    def __init__(self, linkages: Sequence[tuple[PlannedLinkage, Sequence[int]]], num_dofs: int) -> None:
        self._groups = [(list(columns), np.array(linkage.pulls)) for linkage, columns in linkages]
        state, commands, forward = (np.eye(num_dofs, dtype=np.float32) for _ in range(3))
        offset, wanted = np.zeros((2, num_dofs), np.float32)
        for linkage, columns in linkages:
            at, own = np.ix_(columns, columns), np.array(linkage.own)[:, None]
            state[at] = linkage.matrix
            commands[at] = np.where(own, np.eye(len(own)), linkage.matrix)
            forward[at] = np.where(own, np.eye(len(own)), linkage.inverse.T)
            offset[columns] = linkage.offset
            wanted[columns] = np.where(own[:, 0], 0.0, linkage.offset)
        self._maps = [state, state, commands, commands, forward]
        self._offsets = [offset, None, wanted, None, None]

    def __bool__(self) -> bool:
        """True if there are linkages."""
        return bool(self._groups)

    def of_joints(self, signals: Sequence[np.ndarray | None], num_robots: int) -> list[np.ndarray | None]:
        """Return flat signals of the shafts, from those of the joints; None stands for zeros."""
        if not self._groups:
            return [*signals]
        found: list[np.ndarray | None] = []
        for signal, rows, offset in zip(signals, self._maps, self._offsets, strict=True):
            if signal is None and offset is None:
                found.append(None)
                continue
            joints = np.zeros((num_robots, len(rows)), np.float32) if signal is None else signal.reshape(num_robots, -1)
            found.append((joints @ rows.T + (0.0 if offset is None else offset)).astype(np.float32).ravel())
        return found

    def acting(self, efforts: np.ndarray) -> np.ndarray:
        """Return whether the efforts of the shafts `(robots, columns)` reach the joints."""
        found = np.ones(efforts.shape, bool)
        for columns, pulls in self._groups:
            mine = efforts[:, columns]
            found[:, columns] = np.isfinite(mine).all(1, keepdims=True) & ~(pulls & (mine < 0.0))
        return found

    def by_shafts(self, by_efforts: np.ndarray, acting: np.ndarray | None) -> np.ndarray:
        """Return flat gradients by the efforts of the shafts, from those by the efforts of the joints."""
        if acting is None:
            return by_efforts
        found = by_efforts.reshape(acting.shape) @ self._maps[0].T
        return np.where(acting, found, 0.0).astype(np.float32).ravel()

    def back_to_joints(self, signals: Sequence[np.ndarray | None], acting: np.ndarray | None) -> None:
        """Make gradients by signals of the shafts, flat, those by signals of the joints."""
        for by_shaft, rows in zip(signals, self._maps, strict=True):
            if by_shaft is not None and acting is not None:
                by_shaft[:] = (by_shaft.reshape(acting.shape) @ rows).ravel()
