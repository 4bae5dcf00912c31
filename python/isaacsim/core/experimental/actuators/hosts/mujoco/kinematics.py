"""Where bodies are and how they move, for many environments at once: the forward kinematics of MuJoCo in NumPy.

MuJoCo's own, of `mujoco.batch.Batch`, costs as much as half a physics step, for it finds contacts too, and what is
bound of it is copied in every step. Vectors and quaternions (w, x, y, z) have shape (3 or 4, bodies, environments) here.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from .fields import Fields

_FREE, _BALL, _SLIDE, _HINGE = (int(kind) for kind in mujoco.mjtJoint.__members__.values())


@dataclass(frozen=True)
class _Group:
    """Bodies equally far from the world, with joints of the same kinds.

    Args:
        bodies: Their numbers in the model.
        places: Where they are computed.
        parents: Where those are that they hang on.
        joints: Numbers in the model of their first joints, of their second ones, and so on.
        kinds: Of these joints.
        rooted: Whether they hang on the world.
    """

    bodies: np.ndarray
    places: slice
    parents: np.ndarray
    joints: list[np.ndarray]
    kinds: tuple[int, ...]
    rooted: bool


class Kinematics:
    """Some bodies of a model.

    Args:
        model: The model; where bodies that hang on the world are placed may differ between environments.
        bodies: Numbers of the bodies.
    """

    def __init__(self, model: mujoco.MjModel, bodies: Sequence[int] | np.ndarray) -> None:
        self._model = model
        depths: dict[int, int] = {}
        for body in bodies:
            chain = []
            while body and body not in depths:
                chain.append(int(body))
                body = model.body_parentid[body]
            for link in reversed(chain):
                depths[link] = depths.get(int(model.body_parentid[link]), 0) + 1
        alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for body, depth in sorted(depths.items()):
            first, count = model.body_jntadr[body], model.body_jntnum[body]
            alike.setdefault((depth, tuple(model.jnt_type[first : first + count].tolist())), []).append(body)
        # the world comes first
        place, self._groups = {0: 0}, []
        for (depth, kinds), members in sorted(alike.items()):
            start = len(place)
            place |= {body: start + i for i, body in enumerate(members)}
            parents = np.array([place[int(model.body_parentid[body])] for body in members])
            joints = [model.body_jntadr[members] + number for number in range(len(kinds))]
            places = slice(start, start + len(members))
            self._groups.append(_Group(np.array(members), places, parents, joints, kinds, depth == 1))
        self._bodies = np.array([place[int(body)] for body in bodies])
        self._centres = model.body_ipos[np.asarray(bodies)].T[..., None]
        self._size = len(place)
        numbers = np.concatenate([np.zeros(0, int), *(joint for group in self._groups for joint in group.joints)])
        # what is read of the state: columns, and where each joint's begin among them
        self._qpos, self._qpos_at = _columns(numbers, model.jnt_qposadr, model.jnt_type, {_FREE: 7, _BALL: 4})
        self._qvel, self._qvel_at = _columns(numbers, model.jnt_dofadr, model.jnt_type, {_FREE: 6, _BALL: 3})

    def poses(self, fields: Fields, envs: np.ndarray, qpos: np.ndarray) -> np.ndarray:
        """Position and quaternion of each body, `(environments, bodies, 7)`.

        Args:
            fields: Of the model.
            envs: Environments asked for.
            qpos: Positions of all environments.
        """
        positions, turns, _ = self._forward(fields, envs, qpos)
        return np.concatenate([positions[:, self._bodies], turns[:, self._bodies]]).transpose(2, 1, 0)

    def velocities(self, fields: Fields, envs: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Linear velocity of the centre of mass, and angular velocity, of each body, `(environments, bodies, 6)`.

        Args:
            fields: Of the model.
            envs: Environments asked for.
            qpos: Positions of all environments.
            qvel: Velocities of all environments.
        """
        positions, turns, axes = self._forward(fields, envs, qpos)
        rates = _rows(qvel, envs, self._qvel)
        linear, angular = np.zeros_like(positions), np.zeros_like(positions)
        for group, moves in zip(self._groups, axes, strict=True):
            here = positions[:, group.places]
            spin = angular[:, group.parents]
            speed = linear[:, group.parents] + _cross(spin, here - positions[:, group.parents])
            for kind, joint, (axis, anchor) in zip(group.kinds, group.joints, moves, strict=True):
                at = self._qvel_at[joint]
                if kind == _SLIDE:
                    speed = speed + axis * rates[at]
                    continue
                if kind == _FREE:
                    speed = np.stack([rates[at + i] for i in range(3)])
                    spin = turned(turns[:, group.places], np.stack([rates[at + 3 + i] for i in range(3)]))
                    continue
                if kind == _BALL:
                    more = turned(turns[:, group.places], np.stack([rates[at + i] for i in range(3)]))
                else:
                    more = axis * rates[at]
                spin, speed = spin + more, speed + _cross(more, here - anchor)
            linear[:, group.places], angular[:, group.places] = speed, spin
        spin = angular[:, self._bodies]
        centre = linear[:, self._bodies] + _cross(spin, turned(turns[:, self._bodies], self._centres))
        return np.concatenate([centre, spin]).transpose(2, 1, 0)

    # inside

    def _forward(
        self, fields: Fields, envs: np.ndarray, qpos: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[list[tuple[np.ndarray, np.ndarray]]]]:
        """Positions and quaternions of the world and of all bodies on the way; axis and anchor of each joint."""
        model, state = self._model, _rows(qpos, envs, self._qpos)
        positions = np.zeros((3, self._size, len(envs)))
        turns = np.zeros((4, self._size, len(envs)))
        turns[0, 0] = 1.0
        axes = []
        for group in self._groups:
            moves = []
            if group.kinds == (_FREE,):
                at = self._qpos_at[group.joints[0]]
                position = np.stack([state[at + i] for i in range(3)])
                turn = _unit(np.stack([state[at + 3 + i] for i in range(4)]))
                moves.append((position, position))
            else:
                position, turn = self._placed(fields, envs, group)
                position = positions[:, group.parents] + turned(turns[:, group.parents], position)
                turn = _product(turns[:, group.parents], turn)
                for kind, joint in zip(group.kinds, group.joints, strict=True):
                    at = self._qpos_at[joint]
                    axis, place = model.jnt_axis[joint].T[..., None], model.jnt_pos[joint].T[..., None]
                    moved = bool(place.any())
                    anchor = position + turned(turn, place) if moved else position
                    along = turned(turn, axis)
                    if kind == _BALL:
                        turn = _product(turn, _unit(np.stack([state[at + i] for i in range(4)])))
                    else:
                        travel = state[at] - model.qpos0[model.jnt_qposadr[joint]][:, None]
                        if kind == _SLIDE:
                            position = position + along * travel
                        else:
                            half = 0.5 * travel
                            turn = _product(turn, np.concatenate([np.cos(half)[None], axis * np.sin(half)]))
                    if moved and kind != _SLIDE:
                        position = anchor - turned(turn, place)
                    moves.append((along, anchor))
            positions[:, group.places], turns[:, group.places] = position, turn
            axes.append(moves)
        return positions, turns, axes

    def _placed(self, fields: Fields, envs: np.ndarray, group: _Group) -> tuple[np.ndarray, np.ndarray]:
        """Where bodies are on those they hang on, at joint position zero."""
        if group.rooted:
            found = (fields.read(name)[envs[:, None], group.bodies] for name in ("body_pos", "body_quat"))
            position, turn = (values.transpose(2, 1, 0) for values in found)
            return position, turn
        return self._model.body_pos[group.bodies].T[..., None], self._model.body_quat[group.bodies].T[..., None]


def turned(turn: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors turned by unit quaternions; components are along the first axis."""
    w, axis = turn[:1], turn[1:]
    double = 2.0 * _cross(axis, vector)
    return vector + w * double + _cross(axis, double)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions."""
    w, x, y, z = b
    return np.stack(
        [
            a[0] * w - a[1] * x - a[2] * y - a[3] * z,
            a[0] * x + a[1] * w + a[2] * z - a[3] * y,
            a[0] * y - a[1] * z + a[2] * w + a[3] * x,
            a[0] * z + a[1] * y - a[2] * x + a[3] * w,
        ]
    )


def _unit(turn: np.ndarray) -> np.ndarray:
    return turn / np.sqrt((turn * turn).sum(axis=0))


def _rows(state: np.ndarray, envs: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Columns of the state, a row each, of some environments."""
    return np.ascontiguousarray(state[envs[:, None], columns].T)


def _columns(
    joints: np.ndarray, starts: np.ndarray, kinds: np.ndarray, wide: dict[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Columns of some joints in the state, and by joint where its first is among them."""
    columns, at = [], np.zeros(len(starts), int)
    for joint in joints:
        at[joint] = len(columns)
        columns += range(starts[joint], starts[joint] + wide.get(int(kinds[joint]), 1))
    return np.array(columns, int), at
