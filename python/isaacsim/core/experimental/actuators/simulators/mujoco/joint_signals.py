"""Signals of joints for laws: effective inertia and load, in arrays that follow the simulations.

The effective inertia of a joint is 1/(M⁻¹)ᵢᵢ, from the factors of the mass matrices that MuJoCo's step needs; the
coupled one, see `laws/contract/coupling.py`, is less by the coupling with the other joints. The load is the effort that
balances gravity and Coriolis forces. All are those of the state before the step.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...base.native import core
from ...laws.contract.coupling import coupled_inertias, inverses_of
from ...specs.signals import INERTIAS
from ..transfer import Item, transfer
from .address import mujoco, parts_of_tendon

COMPUTED = ("M", "qLD", "qLDiagInv", "qfrc_bias")
"""Fields of the data that signals come from."""
SIGNALS = (*INERTIAS, "load")
"""Names of the signals that are kept."""


Blocks = Callable[[str], Sequence[tuple[int, np.ndarray]]]
"""Pieces `(environments, columns)` of a field of the data in place, by its name, each with its first environment."""


class JointSignals:
    """Requested signals of the axes of all environments, given by columns among velocities, `(environments, axes)`."""

    def __init__(self, model: mujoco.MjModel, num_envs: int, columns: np.ndarray) -> None:
        self._model, self._columns = model, [int(column) for column in columns]
        self._shape = num_envs, len(self._columns)
        self.arrays: dict[str, np.ndarray] = {}
        """Signals by name."""
        self.follow: Callable[[], None] | None = None
        """To be called after each physics step; None where no inertia is requested."""
        self._copy: Callable[[], bool] | None = None

    def ask(self, names: Iterable[str]) -> bool:
        """Keep these signals from now on; return whether any of them is new, so that `bind` has to be called."""
        new = [name for name in SIGNALS if name in names and name not in self.arrays]
        for name in new:
            self.arrays[name] = np.zeros(self._shape, np.float32)
        return bool(new)

    def bind(self, blocks: Blocks, added: np.ndarray | None = None, of_tendons: np.ndarray | None = None) -> list[Item]:
        """Follow simulations, by blocks as in `own_data`; return what to copy after each physics step.

        `added` is the part of mass diagonals to leave out, live, `(environments, velocities)`, and `of_tendons` that of
        armatures of tendons, `(environments, tendons)`, for one block.
        """
        runs = list(self._inertias(blocks, added, of_tendons))
        self.follow = functools.partial(_run_all, runs) if len(runs) > 1 else runs[0] if runs else None
        items: list[Item] = []
        if (loads := self.arrays.get("load")) is not None:
            for start, efforts in blocks("qfrc_bias"):
                items.append((efforts, self._columns, loads[start : start + len(efforts)], range(self._shape[1])))
        self._copy = transfer(*items)
        return items

    def _inertias(
        self, blocks: Blocks, added: np.ndarray | None, of_tendons: np.ndarray | None
    ) -> Iterator[Callable[[], None]]:
        """Yield what computes the requested inertias, one function a block; arguments as for `bind`."""
        model, (inertias, coupled) = self._model, map(self.arrays.get, INERTIAS)
        if inertias is None and coupled is None:
            return
        alone = np.zeros(self._shape, np.float32) if inertias is None else inertias
        if added is not None or of_tendons is not None:
            ((_, masses),) = blocks("M")
            yield _InertiasWithout(model, masses, (added, of_tendons), self._columns, alone, coupled).run
            return
        layout = [one.tolist() for one in (model.M_rownnz, model.M_rowadr, model.M_colind)]
        make: Any = _EffectiveInertias if core is None else core.EffectiveInertias
        for (start, factors), (_, inverses) in zip(blocks("qLD"), blocks("qLDiagInv"), strict=True):
            rows = slice(start, start + len(factors))
            out = alone[rows], None if coupled is None else coupled[rows]
            yield make(factors, inverses, *layout, self._columns, *out).run

    @property
    def known(self) -> np.ndarray:
        """True for the environments whose inertias are known as of the last update, and where none is requested."""
        found = [self.arrays[name] != 0.0 for name in INERTIAS if name in self.arrays]
        return found[0].all(axis=1) if found else np.ones(self._shape[0], bool)

    def update(self) -> None:
        """Take over what the batch has now."""
        if self.follow is not None:
            self.follow()
        if self._copy is not None:
            self._copy()


def _run_all(runs: Sequence[Callable[[], None]]) -> None:
    for run in runs:
        run()


class _EffectiveInertias:
    """NumPy version of the class of that name in the native core."""

    def __init__(
        self,
        factors: np.ndarray,
        inverses: np.ndarray,
        counts: list[int],
        starts: list[int],
        columns: list[int],
        chosen: list[int],
        out: np.ndarray,
        coupled: np.ndarray | None,
    ) -> None:
        self._factors, self._inverses, self._chosen, self._out = factors, inverses, chosen, out
        self._coupled = coupled
        self._rows = [
            list(zip(range(start, start + count - 1), columns[start : start + count - 1], strict=True))
            for start, count in zip(starts, counts, strict=True)
        ]

    def run(self) -> None:
        """Compute all of them."""
        rows = np.zeros((len(self._out), len(self._chosen), self._inverses.shape[1]))
        for k, i in enumerate(self._chosen):
            row = {i: np.ones(len(self._out))}
            row |= {column: np.zeros(len(self._out)) for _, column in self._rows[i]}
            for j in sorted(row, reverse=True):
                rows[:, k, j] = row[j]
                for at, column in self._rows[j]:
                    row[column] = row[column] - self._factors[:, at] * row[j]
        # of the matrix M⁻¹ = L⁻¹·D⁻¹·L⁻ᵀ, the rows and columns of the axes
        _take((rows * self._inverses[:, None]) @ np.swapaxes(rows, -1, -2), self._out, self._coupled)


class _InertiasWithout:
    """Inertias without `added`, armatures `(environments, velocities)` and of tendons: to `out`, and to `coupled`."""

    def __init__(
        self,
        model: mujoco.MjModel,
        masses: np.ndarray,
        added: tuple[np.ndarray | None, np.ndarray | None],
        chosen: list[int],
        out: np.ndarray,
        coupled: np.ndarray | None,
    ) -> None:
        self._masses, self._chosen, self._out, self._coupled = masses, chosen, out, coupled
        self._added, self._of_tendons = added
        self._lengths = tendon_rows(model)
        self._rows, self._columns, self._entries = mass_entries(model)
        self._diagonal = np.arange(model.nv)

    def run(self) -> None:
        """Compute all of them."""
        count = len(self._diagonal)
        mass = np.zeros((len(self._masses), count, count))
        entries = self._masses[:, self._entries]
        mass[:, self._rows, self._columns] = mass[:, self._columns, self._rows] = entries
        if self._added is not None:
            mass[:, self._diagonal, self._diagonal] -= self._added
        if self._of_tendons is not None:
            mass -= self._lengths.T @ (self._of_tendons[:, :, None] * self._lengths)
        inverse, known = inverses_of(mass)
        inverse = inverse[:, self._chosen][:, :, self._chosen]
        inverse[~known] = 0.0
        _take(inverse, self._out, self._coupled)


def mass_entries(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and columns of a mass matrix, and where MuJoCo's sparse one, which is a lower half, has them."""
    counts = model.M_rownnz
    starts = model.M_rowadr - np.cumsum(counts) + counts
    entries = np.repeat(starts, counts) + np.arange(counts.sum())
    return np.repeat(np.arange(model.nv), counts), model.M_colind[entries], entries


def tendon_rows(model: mujoco.MjModel) -> np.ndarray:
    """Return the change of the length of fixed tendons with each coordinate, `(tendons, velocities)`; 0 of others."""
    rows = np.zeros((model.ntendon, model.nv))
    for tendon in range(model.ntendon):
        for joint, coefficient in parts_of_tendon(model, tendon).items():
            rows[tendon, model.jnt_dofadr[joint]] = coefficient
    return rows


def mass_matrix_at_start(model: mujoco.MjModel) -> np.ndarray:
    """Return the mass matrix at the default positions of a model, `(velocities, velocities)`."""
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    rows, columns, entries = mass_entries(model)
    found = np.zeros((model.nv, model.nv))
    found[rows, columns] = found[columns, rows] = data.M[entries]
    return found


def _take(inverse: np.ndarray, out: np.ndarray, coupled: np.ndarray | None) -> None:
    """Write inertias, of the rows and columns of the axes in inverse mass matrices; zero until they are computed."""
    admittance = np.diagonal(inverse, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        out[:] = np.where(admittance > 0, 1 / admittance, 0)
        if coupled is not None:
            coupled[:] = np.where(admittance > 0, coupled_inertias(inverse), 0)
