"""Inertias of joints from mass matrices in Warp arrays, on their device: `laws/contract/coupling.py` has the equations.

A thread per robot inverts its matrix by a Cholesky factorization, in double precision, for the inertias of light links
behind a heavy base are small differences. Nothing is read back, so that a graph can be captured.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import warp as wp

from ..engine.launches import recorded
from ..simulators.binding import taken_on_device
from ..specs.signals import INERTIAS

wp.set_module_options({"enable_backward": False})


@wp.func
def factorized(
    robot: int, row: int, masses: wp.array2d[float], places: wp.array2d[int], factor: wp.array3d[wp.float64]
) -> bool:
    """Write the Cholesky factor of the matrix of a robot; return False if it is not positive definite."""
    for i in range(places.shape[0]):
        for j in range(i + 1):
            total = wp.float64(0.0)
            if places[i, j] >= 0:
                total = wp.float64(masses[row, places[i, j]])
            for k in range(j):
                total -= factor[robot, i, k] * factor[robot, j, k]
            if i > j:
                factor[robot, i, j] = total / factor[robot, j, j]
            elif total > wp.float64(0.0):
                factor[robot, i, i] = wp.sqrt(total)
            else:
                return False
    return True


@wp.func
def invert(robot: int, size: int, factor: wp.array3d[wp.float64], inverse: wp.array3d[wp.float64]):
    """Replace the factor of a matrix by the lower half of the inverse of the matrix; `inverse` is scratch."""
    # the inverse of the factor, then the product with its transpose
    for i in range(size):
        inverse[robot, i, i] = wp.float64(1.0) / factor[robot, i, i]
        for j in range(i):
            total = wp.float64(0.0)
            for k in range(j, i):
                total -= factor[robot, i, k] * inverse[robot, k, j]
            inverse[robot, i, j] = total / factor[robot, i, i]
    for i in range(size):
        for j in range(i + 1):
            total = wp.float64(0.0)
            for k in range(i, size):
                total += inverse[robot, k, i] * inverse[robot, k, j]
            factor[robot, i, j] = total


@wp.kernel
def _inertias_kernel(
    masses: wp.array2d[float],
    rows: wp.array[int],
    places: wp.array2d[int],
    joints: wp.array[int],
    factor: wp.array3d[wp.float64],
    inverse: wp.array3d[wp.float64],
    effective: wp.array2d[float],
    coupled: wp.array2d[float],
):
    """Write the inertias of the joints of a robot; one whose matrix is not positive definite keeps them."""
    robot = wp.tid()
    if not factorized(robot, rows[robot], masses, places, factor):
        return
    invert(robot, places.shape[0], factor, inverse)
    for a in range(joints.shape[0]):
        i = joints[a]
        alone = factor[robot, i, i]
        total = wp.float64(0.0)
        for b in range(joints.shape[0]):
            j = joints[b]
            total += wp.abs(factor[robot, wp.max(i, j), wp.min(i, j)]) / wp.sqrt(factor[robot, j, j])
        effective[robot, a] = float(wp.float64(1.0) / alone)
        coupled[robot, a] = float(wp.float64(1.0) / (wp.sqrt(alone) * total))


class ModelInertias:
    """Signals of joints that follow mass matrices of a simulator.

    `signals` has joints and array of each part, see `Assembly.signals`, and `columns` those joints among `joints`, the
    coordinates. `places` say where a row of the matrices has the entries of a robot, int `(C, C)`, -1 for 0; only the
    lower half is read. `rows` are those of robots in the arrays of matrices.
    """

    def __init__(
        self,
        signals: Mapping[str, Sequence[tuple[list[int], wp.array]]],
        columns: Sequence[int],
        places: np.ndarray,
        joints: Sequence[int],
        rows: Sequence[int],
        device: wp.DeviceLike,
    ) -> None:
        size, count = len(places), len(rows)
        self._given = [wp.array(np.array(one, np.int32), device=device) for one in (rows, places, joints)]
        self._scratch = [wp.zeros((count, size, size), dtype=wp.float64, device=device) for _ in range(2)]
        self.arrays = {name: wp.zeros((count, len(joints)), dtype=wp.float32, device=device) for name in INERTIAS}
        """Inertias of all joints of the robots, by name, float32 `(robots, joints)`."""
        copies = [
            (array, [columns[joint] for joint in part], to)
            for name, array in self.arrays.items()
            for part, to in signals.get(name, ())
        ]
        self._take, self._device = taken_on_device(copies, count, device), device
        # of the array that was followed last
        self._followed: wp.array | None = None
        self._launch: wp.Launch | None = None

    def follow(self, masses: wp.array) -> None:
        """Take over the inertias of mass matrices, float32 `(rows, entries)`."""
        if masses is not self._followed or self._launch is None:
            inputs, outputs = [masses, *self._given, *self._scratch], list(self.arrays.values())
            self._launch = recorded(
                _inertias_kernel, len(self._given[0]), inputs, outputs, self._device, record_tape=False
            )
            self._followed = masses
        self._launch.launch()
        self._take()
