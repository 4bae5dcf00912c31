"""Signals of joints for laws, from the mass matrices of an articulation without a faster source.

PhysX and Isaac Sim give mass matrices and compensation efforts by getters. Reading them costs more than a step of
actuators, so they are read only for windings, efforts of the end of the step, and laws without an inertia to assume.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import warp as wp

from ..laws.contract.coupling import inertias_of
from .port import ArticulationPort, JointViews

SIGNALS = ("inertia", "coupled_inertia", "load")
"""Names of the signals that are known."""
_LOADS = ("get_dof_gravity_compensation_forces", "get_dof_coriolis_and_centrifugal_compensation_forces")


def mass_signals(articulation: ArticulationPort, wanted: Collection[str]) -> JointViews | None:
    """Return what an articulation with mass matrices knows of its joints, in arrays that `refresh` fills.

    Args:
        articulation: An articulation of a host.
        wanted: Names of the signals that laws ask for.

    Returns:
        None where no law needs the coupled inertia, or the articulation has no mass matrices.
    """
    read = getattr(articulation, "get_mass_matrices", None)
    if read is None or "coupled_inertia" not in wanted:
        return None
    loads = [getter for name in _LOADS if (getter := getattr(articulation, name, None)) is not None]
    names = SIGNALS if loads else SIGNALS[:2]
    shape = len(articulation.paths), articulation.num_dofs
    arrays = {name: wp.zeros(shape, dtype=wp.float32, device="cpu") for name in names if name in wanted}

    def refresh() -> None:
        mass = _numbers(read)
        inertias = inertias_of(mass, first=mass.shape[-1] - shape[1])
        found: dict[str, np.ndarray] = dict(zip(SIGNALS, inertias, strict=False))
        if loads:
            found["load"] = np.sum([_numbers(getter) for getter in loads], axis=0)
        for name, array in arrays.items():
            array.numpy()[...] = found[name]

    return JointViews(arrays, refresh)


def _numbers(getter: Callable[[], Any]) -> np.ndarray:
    """What a getter returns, as a NumPy array."""
    found = getter()
    return np.asarray(found.numpy() if hasattr(found, "numpy") else found, np.float64)
