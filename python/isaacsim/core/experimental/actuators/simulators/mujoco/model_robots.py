"""Robots of a MuJoCo model: each body is one, with the hinges and slides of its subtree as DOFs."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...specs.arguments import names_of
from ...specs.roots import Roots, no_pattern
from ..articulation import Robot
from .address import element_name, mujoco

# as `mjtJoint` numbers them
_BALL, _SLIDE, _HINGE = 1, 2, 3


class ModelRobots:
    """The robots of a model in each environment; a `ValueError` if it has neither hinge nor slide."""

    def __init__(self, model: mujoco.MjModel, num_envs: int) -> None:
        self._num_envs = num_envs
        is_axis = np.isin(model.jnt_type, (_SLIDE, _HINGE))
        self.joints = np.flatnonzero(is_axis).tolist()
        """Hinges and slides, the axes of an environment."""
        self.other_joints = {
            element_name(model, "joint", joint): "ball" if model.jnt_type[joint] == _BALL else "free"
            for joint in np.flatnonzero(~is_axis).tolist()
        }
        """Kind of every other joint, by name."""
        if not self.joints:
            only = self.other_joints or "fixed bodies"
            raise ValueError(
                f"the model has neither hinge nor slide joints, only {only}: actuators drive those. Add one."
            )
        self._bodies = _bodies(model, self.joints)
        self._robots = [robot for robot in self._bodies.values() if robot.dof_names]
        self._paths = Roots(robot.path.strip("/") for robot in self._robots)
        self._envs = Roots(f"env_{env}" for env in range(num_envs))

    def find(self, patterns: str | Sequence[str]) -> list[Robot]:
        """The robots that paths match, by environment; a `ValueError` names a path without a body that has axes."""
        picked: dict[tuple[int, int], None] = {}
        for pattern in names_of("articulation paths", patterns, "a path"):
            picked |= dict.fromkeys(self._matches(pattern))
        if not picked:
            raise no_pattern()
        return [self._in_env(self._robots[number], env) for env, number in picked]

    def whole_model(self) -> list[Robot]:
        """Return the robot of the world, which has all axes, in each environment."""
        return [self._in_env(self._robots[0], env) for env in range(self._num_envs)]

    def _matches(self, pattern: str) -> list[tuple[int, int]]:
        """Environment and number of each robot that a path matches."""
        segments = pattern.strip("/").split("/")
        envs, path = list(range(self._num_envs)), pattern
        if self._num_envs > 1 and segments[0] == "envs" and len(segments) > 2:
            envs, path = self._envs.find(segments[1]), "/".join(segments[2:])
        robots = [(env, number) for env in envs for number in self._paths.find(path)]
        if not robots:
            if (name := segments[-1]) in self._bodies and not self._bodies[name].dof_names:
                raise ValueError(
                    f"body {name!r}: no joint of its subtree is a hinge or slide, which actuators drive; the model's "
                    f"others are {self.other_joints or 'none'}. Name one of {self._paths.paths}."
                )
            raise ValueError(
                f"articulation path {pattern!r} matches none of the bodies with hinges or slides: {self._paths.paths}. "
                "Give the name of the robot's root body; each path segment may be a regular expression."
            )
        return robots

    def _in_env(self, robot: Robot, env: int) -> Robot:
        if self._num_envs == 1:
            return robot
        place = f"/envs/env_{env}"
        return Robot(
            place + robot.path,
            tuple(place + path for path in robot.dof_paths),
            robot.dof_names,
            robot.prototype,
            env,
            env * len(self.joints) + robot.offset,
            axes=robot.axes,
        )


def _bodies(model: mujoco.MjModel, joints: Sequence[int]) -> dict[str, Robot]:
    """Every body by name as the root of a robot, which may have no DOFs."""
    bodies = [element_name(model, "body", body).strip("/") for body in range(model.nbody)]
    axes = ["angular" if model.jnt_type[joint] == _HINGE else "linear" for joint in joints]
    names = [element_name(model, "joint", joint) for joint in joints]
    owners = model.jnt_bodyid[joints]
    paths = [f"/{bodies[owner]}/{name.strip('/')}" for owner, name in zip(owners, names, strict=True)]
    # bodies are stored depth-first, so that the axes of the subtree of each are a range
    last = np.arange(model.nbody)
    for number in range(model.nbody - 1, 0, -1):
        parent = model.body_parentid[number]
        last[parent] = max(last[parent], last[number])
    starts, ends = np.searchsorted(owners, np.arange(model.nbody)), np.searchsorted(owners, last, side="right")
    robots = {}
    for body, first, end in zip(bodies, starts, ends, strict=True):
        own, path = slice(first, end), f"/{body}"
        dofs = tuple(paths[own])
        robots[body] = Robot(path, dofs, tuple(names[own]), (path, dofs), 0, int(first), axes=tuple(axes[own]))
    return robots
