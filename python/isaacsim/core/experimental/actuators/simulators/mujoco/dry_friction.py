"""The softness of dry friction on MuJoCo, where friction is a constraint that gives way.

    v = τ·A·(1 − d)/d · d′·T/2      velocity at which a joint creeps whose friction withstands an effort τ [N·m or N]

`d` and `d′` begin its solimp, `T` [s] begins its solref, and `A` is the joint's inverse inertia, `dof_invweight0`. With
MuJoCo's defaults, d = 0.9, d′ = 0.95 and T = 20 ms, an arm creeps by some milliradians a second, however large its
friction is. Hard friction has d = d′ = 0.9999 and a T of two physics steps, the shortest that MuJoCo takes.
Source: MuJoCo documentation, "Computation", Constraint model.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .address import AxisAddress, Fields

_SOLIMP = (0.9999, 0.9999, 0.001, 0.5, 2.0)


def hard(dt: float) -> dict[str, Sequence[float]]:
    """Return solref and solimp of hard friction at a physics step [s]."""
    return {"solref": (2 * dt, 1.0), "solimp": _SOLIMP}


def follow_friction(
    fields: Fields, at: AxisAddress, friction: np.ndarray, envs: np.ndarray | slice, axes: np.ndarray
) -> None:
    """Make frictions hard that are about to be set; one that is the model's own becomes as soft as it was again.

    What a model has other than MuJoCo's defaults was chosen, and stays. A friction that `harden` made hard stays hard.
    `friction` is what is set, float32, of the shape of `fields[envs, axes]`.
    """
    if fields.unchosen is None:
        return
    place = envs, at.velocity[axes]
    unchosen = fields.unchosen[place]
    is_set = fields.former("dof_frictionloss")[place].astype(np.float32) != friction
    becomes = unchosen & (is_set | fields.hardened[place])
    if not np.array_equal(becomes, unchosen & _are_hard(fields)[place]):
        for name, values in hard(fields.dt).items():
            former = fields.former(f"dof_{name}")[place]
            fields.own(f"dof_{name}")[place] = np.where(becomes[..., None], values, former)


def harden(fields: Fields, at: AxisAddress, on: bool, envs: np.ndarray | slice, axes: np.ndarray) -> None:
    """Keep the frictions of some axes hard, whatever they are, or end that; arguments as for `follow_friction`."""
    place = envs, at.velocity[axes]
    fields.hardened[place] = on
    follow_friction(fields, at, fields.read("dof_frictionloss")[place].astype(np.float32), envs, axes)


def follow_step(fields: Fields) -> None:
    """Let friction that was set be hard at the physics step of now."""
    if fields.unchosen is not None and (hardened := fields.unchosen & _are_hard(fields)).any():
        fields.own("dof_solref")[hardened] = hard(fields.dt)["solref"]


def _are_hard(fields: Fields) -> np.ndarray:
    return fields.read("dof_solimp")[..., 0] == _SOLIMP[0]
