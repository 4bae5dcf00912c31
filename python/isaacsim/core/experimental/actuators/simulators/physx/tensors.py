"""The state, targets, efforts and drive gains of all robots by the wheel's tensor bindings.

A call takes 10 µs, where a session of the wheel takes a millisecond. The wheel calls bindings deprecated and has
nothing as fast: the requirement bounds its version, and a test fails when it warns differently or has them no more.
"""

# the wheel is an optional extra
# pyright: reportMissingImports=false

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from ovphysx.types import TensorType

if TYPE_CHECKING:
    import ovphysx

# in SI: per radian, where sessions are per degree
_OF_DOFS = {
    "jointPosition": TensorType.ARTICULATION_DOF_POSITION,
    "jointVelocity": TensorType.ARTICULATION_DOF_VELOCITY,
    "jointPositionTarget": TensorType.ARTICULATION_DOF_POSITION_TARGET,
    "jointVelocityTarget": TensorType.ARTICULATION_DOF_VELOCITY_TARGET,
    "jointActuationForce": TensorType.ARTICULATION_DOF_ACTUATION_FORCE,
    "jointStiffness": TensorType.ARTICULATION_DOF_STIFFNESS,
    "jointDamping": TensorType.ARTICULATION_DOF_DAMPING,
}
_POSE, _VELOCITY = TensorType.ARTICULATION_LINK_POSE, TensorType.ARTICULATION_LINK_VELOCITY
_OF_LINKS: dict[tuple[str, ...], int] = {
    ("position", "orientation"): _POSE,
    ("linearVelocity", "angularVelocity"): _VELOCITY,
}


def bind(physx: ovphysx.PhysX, paths: Sequence[str], tensor_type: int) -> Any:
    """A tensor of some robots, a row per path; it ends with `physx` at the latest."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ovphysx tensor bindings are deprecated", DeprecationWarning)
        return physx.create_tensor_binding(prim_paths=list(paths), tensor_type=tensor_type)


class RobotTensors:
    """The tensors of all robots, each bound when it is first used to an array that stays.

    PhysX steps by 1 ns before the first tensor is read or written, unless it has stepped already, and contacts push the
    robots in it. So nothing here is to be called before the first step.

    Args:
        physx: The wheel's `PhysX`.
        dofs: Path of each robot and the number of its joint axes.
    """

    def __init__(self, physx: ovphysx.PhysX, dofs: Mapping[str, int]) -> None:
        self._physx, self._paths = physx, list(dofs)
        # rows are as long as those of the robot with the most axes
        counts = np.array(list(dofs.values()))
        self._filled = np.flatnonzero(np.arange(counts.max()) < counts[:, None])
        self._bound: dict[int, tuple[Any, np.ndarray]] = {}

    @staticmethod
    def has(column: str) -> bool:
        """Return True if there is a tensor of that column of the joint axes."""
        return column in _OF_DOFS

    @staticmethod
    def has_links(columns: tuple[str, ...]) -> bool:
        """Return True if there is a tensor of these columns of the links."""
        return columns in _OF_LINKS

    def read(self, column: str) -> np.ndarray:
        """The values of all joint axes, SI, float32, flat, robot after robot."""
        return self._read(_OF_DOFS[column]).take(self._filled)

    def write(self, column: str, values: np.ndarray) -> None:
        """Set the values of all joint axes."""
        binding, rows = self._tensor(_OF_DOFS[column])
        rows.put(self._filled, values)
        binding.write(rows)

    def links(self, columns: tuple[str, ...]) -> np.ndarray:
        """Two columns of the links side by side, quaternions (x, y, z, w); an array that the next call fills again.

        Returns:
            Shape `(robots, links, numbers)`, with as many links as the robot with the most has.
        """
        return self._read(_OF_LINKS[columns])

    # inside

    def _read(self, tensor_type: int) -> np.ndarray:
        binding, rows = self._tensor(tensor_type)
        binding.read(rows)
        return rows

    def _tensor(self, tensor_type: int) -> tuple[Any, np.ndarray]:
        if tensor_type not in self._bound:
            binding = bind(self._physx, self._paths, tensor_type)
            self._bound[tensor_type] = binding, np.zeros(binding.shape, np.float32)
        return self._bound[tensor_type]
