"""A robot file and what `save_usd` makes of it, side by side."""

import re
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators import Simulation
from pxr import Usd

_FREE, _BALL = 0, 1


@contextmanager
def converted(source: Path, folder: Path):
    """MuJoCo's models of a file and of its USD, and what was warned of when it was written."""
    target = folder / "robot.usda"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        with Simulation(source) as simulation:
            said.clear()
            simulation.save_usd(target)
            told = "\n".join(str(one.message) for one in said)
            simulation.play()
            before = simulation.model
        with Simulation(target) as simulation:
            simulation.play()
            yield before, simulation.model, told


def saved(source: str, folder: Path, ending: str = "xml") -> Usd.Stage:
    file = folder / f"robot.{ending}"
    file.write_text(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(file) as simulation:
            simulation.save_usd(folder / "robot.usda")
    return Usd.Stage.Open(str(folder / "robot.usda"))


def differences(before, after, tries: int = 3) -> tuple[float, float]:
    """By how much mass matrix and bias differ in random states, as parts of their largest numbers."""
    import mujoco

    data, random = (mujoco.MjData(before), mujoco.MjData(after)), np.random.default_rng(0)
    pairs = [(joint, _twin(before, after, joint)) for joint in range(before.njnt)]
    assert before.nv == after.nv
    worst = np.zeros(2)
    for _ in range(tries):
        order = np.zeros(before.nv, int)
        for one, other in pairs:
            size, count = {_FREE: (7, 6), _BALL: (4, 3)}.get(int(before.jnt_type[one]), (1, 1))
            position = random.uniform(-1, 1, size)
            position[-4:] /= np.linalg.norm(position[-4:]) if size >= 4 else 1.0
            for model, number, state in ((before, one, data[0]), (after, other, data[1])):
                start = model.jnt_qposadr[number]
                state.qpos[start : start + size] = position
            first = before.jnt_dofadr[one]
            order[first : first + count] = after.jnt_dofadr[other] + np.arange(count)
        data[0].qvel[:] = random.uniform(-1, 1, before.nv)
        data[1].qvel[order] = data[0].qvel
        found = [_equations(model, state) for model, state in zip((before, after), data, strict=True)]
        matrices = found[0][0], found[1][0][np.ix_(order, order)]
        biases = found[0][1], found[1][1][order]
        worst = np.maximum(worst, [np.abs(a - b).max() / np.abs(a).max() for a, b in (matrices, biases)])
    return float(worst[0]), float(worst[1])


def _equations(model, data) -> tuple[np.ndarray, np.ndarray]:
    import mujoco

    mujoco.mj_forward(model, data)
    columns = [np.zeros(model.nv) for _ in range(model.nv)]
    for column, unit in zip(columns, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, column, unit)
    return np.array(columns), data.qfrc_bias.copy()


def _twin(before, after, joint: int) -> int:
    if int(before.jnt_type[joint]) not in (_FREE, _BALL):
        return after.joint(_only(before.joint(joint).name, [after.joint(at).name for at in range(after.njnt)])).id
    name = before.body(before.jnt_bodyid[joint]).name
    return int(after.body(_only(name, [after.body(at).name for at in range(1, after.nbody)])).jntadr[0])


def _only(name: str, paths: list[str]) -> str:
    (found,) = [path for path in paths if path.rsplit("/", 1)[-1] == re.sub(r"\W", "_", name)]
    return found
