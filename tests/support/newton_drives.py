"""A robot file opened by newton's own parser and stepped by newton's own actuators, and the same by ours."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators import ArticulationActuators, drive_newton_model, use_host
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.files.usd.articulation import articulation_roots, dof_names, joint_orders
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

DT = 0.01


class Theirs:
    """newton's builder, parser and actuators on joints of a robot; `through_ours` if our plan steps them."""

    def __init__(self, file: Path, joints: Sequence[str], through_ours: bool = False) -> None:
        with quiet_warp(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import newton

            builder = newton.ModelBuilder()
            builder.add_usd(str(file), load_visual_shapes=False, skip_mesh_approximation=True)
            self.model = builder.finalize(device="cpu")
        self.state, self.control = self.model.state(), self.model.control()
        numbers = [list(self.model.joint_label).index(joint) for joint in joints]
        self.columns = self.model.joint_qd_start.numpy()[numbers]
        # a floating base has one coordinate more than it has speeds
        self.coordinates = self.model.joint_q_start.numpy()[numbers]
        indices = [one.effort_indices.numpy() for one in self.model.actuators]
        driven = set(np.concatenate(indices).tolist()) if indices else set()
        self.driven = [joint for joint, column in zip(joints, self.columns, strict=True) if column in driven]
        self.group = drive_newton_model(self.model) if through_ours else None
        self.states = [[one.state(), one.state()] for one in self.model.actuators]
        self.own = self.group.state() if self.group else None

    def efforts(self, q, qd, q_target, qd_target, feedforward) -> np.ndarray:
        self.state.joint_q.numpy()[self.coordinates] = q
        self.state.joint_qd.numpy()[self.columns] = qd
        self.control.joint_target_q.numpy()[self.coordinates] = q_target
        self.control.joint_target_qd.numpy()[self.columns] = qd_target
        self.control.joint_act.numpy()[self.columns] = feedforward
        self.control.joint_f.zero_()
        if self.group is not None:
            self.group.step(self.state, self.control, self.own, self.own, DT)
        else:
            for actuator, states in zip(self.model.actuators, self.states, strict=True):
                actuator.step(self.state, self.control, *states, dt=DT)
                states.reverse()
        return self.control.joint_f.numpy()[self.columns]


class Ours:
    """Our parser and actuators on one robot of the file; `faults` and warnings are those of a wrapper."""

    def __init__(self, file: Path, root: str, joints: Sequence[str]) -> None:
        stage = open_stage(file)
        self.host = ArraysHost(dof_names(stage, joints), 1, path=root, stage=stage, dof_paths=list(joints))
        with use_host(self.host), quiet_warp():
            self.host.play()
            self.wrapper = ArticulationActuators(root)

    def efforts(self, q, qd, q_target, qd_target, feedforward) -> np.ndarray:
        arrays = self.host.arrays()
        given = {"positions": q, "velocities": qd, "position_targets": q_target, "velocity_targets": qd_target}
        for name, values in given.items():
            getattr(arrays, name)[:] = values
        self.wrapper.set_dof_feedforward_effort_targets(np.atleast_2d(feedforward))
        self.host.step(DT)
        return arrays.efforts.copy()


def motion(joints: int, steps: int, seed: int = 8) -> np.ndarray:
    """Five signals of each step and joint, float32: positions, velocities, their targets, and feedforward."""
    signals = np.random.default_rng(seed).normal(size=(steps, 5, joints))
    signals[:, 2] = signals[:, 0] + 0.5 * signals[:, 2]
    return signals.astype(np.float32)


@dataclass(frozen=True)
class Compared:
    """A robot as newton drives it and as we do: largest efforts [N·m or N], and their relative difference."""

    joints: list[str]
    ours: list[str]
    newtons: list[str]
    efforts: np.ndarray
    difference: float


def compare_with_newton(file: Path, steps: int = 60) -> Compared:
    """Step a file of one robot through random states; newton runs what stands in for laws of ours."""
    stage = open_stage(file)
    (root,) = articulation_roots(stage)
    joints = list(joint_orders(stage, [root])[0])
    theirs, ours = Theirs(file, joints), Ours(file, root, joints)
    found = np.array([(theirs.efforts(*one), ours.efforts(*one)) for one in motion(len(joints), steps)])
    driven = ours.wrapper.actuated_dof_indices
    ours.wrapper.close()
    largest = np.abs(found[:, 1, driven]).max(axis=0)
    apart = np.abs(found[:, 0] - found[:, 1]).max() / max(1.0, largest.max(initial=0.0))
    return Compared(joints, [joints[at] for at in driven], theirs.driven, largest, float(apart))
