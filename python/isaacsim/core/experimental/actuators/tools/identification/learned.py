"""Networks for what physical models leave: efforts that depend on position error and velocity, beside PD control.

A log tells the effort that moved a joint, I·q̈ + load; what the motor gives in the same states, without it, is left for
a network, trained where the joint moves. The file of the network holds the gains as well,

    effort = kp·e − kd·q̇ + network(e, q̇)

so that it is a controller like any other. It has no memory, and so no physics step of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...laws.networks.network import Binary, Linear, Network
from ...loops.arrays import ActuatedArrays
from ...specs.configs import NeuralControlConfig, PDControlConfig
from ...specs.motors import MotorConfig
from ..training.log import ActuatorLog
from ..training.train import train_actuator
from .decoupling import Decoupled
from .fit import Bench, Fit
from .identified import Identified, ModelScore, Replay
from .motion import motion_of
from .parameters import OF_LOG
from .rollout import bare_stages, late_by, settings_of

# speed below which dry friction hides the effort of a joint [rad/s or m/s]
_MOVING = 0.05
# largest and smallest number of rows of the logs
_ROWS, _FEWEST = 8000, 500
# number of rows that training sees, each as often as it takes
_SEEN = 1_200_000
# share of the error that is left with a network that pays
_BETTER = 0.95
# rows at both ends of a log, where a smoothing filter extrapolates, as a share
_EDGE = 0.02
# time step of the efforts in given states, short against all that moves [s]
_STEP = 1e-4


def unfit(motor: MotorConfig, cases: Sequence[Decoupled]) -> str:
    """Return why no network can add to the controller of a motor; empty if one can."""
    if type(motor.controller) is not PDControlConfig:
        return f"its controller is a {type(motor.controller).__name__}, not a PDControlConfig"
    if settings := sorted({name for case in cases for name in settings_of(case.log)}):
        return f"logs differ in {', '.join(settings)}, which a network has in itself"
    return ""


def left_over(motor: MotorConfig, cases: Sequence[Decoupled], joint: int, values: Mapping[str, float]) -> ActuatorLog:
    """Return the efforts that a motor leaves, along logs where the joint moves."""
    rows = np.concatenate([_left_over(motor, case, joint, values) for case in cases], 1)
    if rows.shape[1] < _FEWEST:
        raise ValueError(
            f"{cases[0].log.joints[joint]} moves faster than {_MOVING:g} rad/s or m/s in {rows.shape[1]} samples: must "
            f"be {_FEWEST} at least for a network. Log more motion, or leave the network out."
        )
    position, velocity, target, effort = rows[:, :: -(-rows.shape[1] // _ROWS)]
    return ActuatorLog(cases[0].dt, position, velocity, target, effort)


def _left_over(motor: MotorConfig, case: Decoupled, joint: int, values: Mapping[str, float]) -> np.ndarray:
    """Return positions, velocities, targets and efforts of one log, `(4, rows)`."""
    command, inertia, load, _, place, _ = case.along(joint)
    samples = len(command)
    velocity, acceleration = (one[:, 0] for one in motion_of(place[:, None], case.dt))
    inertia = inertia + values["armature"]
    at = np.arange(samples) - (values["delay"] + late_by(case.dt)) / case.dt
    target = np.interp(at, np.arange(samples), command) - values["encoder_bias"]
    given = np.stack([place, velocity, target]).astype(np.float32)
    # a robot per sample
    arrays = ActuatedArrays(["joint"], {"joint": bare_stages(motor)}, samples)
    try:
        efforts = _efforts(arrays, given, inertia, load)
    finally:
        arrays.close()
    left = inertia * acceleration + load - efforts
    edge = int(_EDGE * samples)
    moves = (np.abs(velocity) > _MOVING) & (np.arange(samples) >= edge) & (np.arange(samples) < samples - edge)
    return np.concatenate([given, left[None]])[:, moves & ~case.held_out]


def _efforts(arrays: ActuatedArrays, given: np.ndarray, inertia: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Return the efforts of a motor in given states, `(samples,)`."""
    position, velocity, target = (np.ascontiguousarray(one[:, None]) for one in given)
    arrays.set_mass_matrix(inertia[:, None, None])
    arrays.set_loads(load[:, None], are_whole=True)
    return np.array(arrays.step(position, velocity, target, _STEP), float)[:, 0]


def with_network(motor: MotorConfig, left: ActuatorLog, path: Path, seed: int) -> MotorConfig:
    """Return a motor whose controller is a network of its gains and what they leave."""
    epochs = -(-_SEEN // left.steps)
    trained = train_actuator(
        left, "mlp", input_idx=(0,), epochs=epochs, patience=epochs // 2, seed=seed, progress=False
    )
    assert isinstance(motor.controller, PDControlConfig)
    position, velocity = (
        trained.metadata[name] * trained.metadata["effort_scale"] for name in ("pos_scale", "vel_scale")
    )
    weight = np.array([[motor.controller.kp / position, -motor.controller.kd / velocity]], np.float32)
    bias = np.array([motor.controller.const_effort / trained.metadata["effort_scale"]], np.float32)
    last = len(trained.network.operations)
    whole = Network(
        trained.network.inputs, (*trained.network.operations, Linear(0, weight, bias), Binary("add", last, last + 1))
    )
    # without memory it has no step
    metadata = {name: value for name, value in trained.metadata.items() if name != "sample_dt"}
    dataclasses.replace(trained, network=whole, metadata=metadata).save(path)
    return dataclasses.replace(motor, controller=NeuralControlConfig(path))


@dataclass(frozen=True, eq=False)
class Learned:
    """Motors with networks where they pay, in `files`, each joint judged by itself, and a note for each.

    Errors of positions on the logs of the fit and on those held out are means of all joints [rad or m].
    """

    motors: Mapping[str, MotorConfig]
    notes: Sequence[str]
    training: float
    validation: float
    files: Sequence[Path]

    def remove(self) -> None:
        """Remove the files of the networks."""
        for path in self.files:
            path.unlink()


class Learning:
    """Networks for joints of logs, which learn what is fitted and are judged by what is held out; files in `folder`."""

    def __init__(self, benches: Sequence[Bench], cases: Sequence[Decoupled], folder: Path, seed: int) -> None:
        self._benches, self._cases = benches, cases
        self._folder, self._seed = folder, seed
        folder.mkdir(exist_ok=True)

    def learned(self, motors: Mapping[str, MotorConfig], fits: Sequence[Fit]) -> Learned:
        """Return motors with the networks that make positions on the logs held out clearly better."""
        found, notes, files, errors = dict(motors), list[str](), list[Path](), list[tuple[float, float]]()
        for bench, fit in zip(self._benches, fits, strict=True):
            before, motor = self._errors(bench, fit.values), motors[bench.joint]
            if why := unfit(motor, self._cases):
                notes.append(f"{bench.joint}: no network: {why}.")
                errors.append(before)
                continue
            path = self._folder / f"{bench.joint.replace('/', '_')}.safetensors"
            values = {name: fit.values[name] for name in OF_LOG}
            left = left_over(motor, self._cases, bench.column, values)
            made = with_network(motor, left, path, self._seed)
            after = self._errors(dataclasses.replace(bench, motor=made), values)
            pays = after[1] < _BETTER * before[1]
            change = f"error held out {1e3 * before[1]:.3g}, with a network {1e3 * after[1]:.3g} mrad or mm"
            notes.append(f"{bench.joint}: {change}: {'it pays' if pays else 'it does not pay'}.")
            errors.append(after if pays else before)
            if pays:
                found[bench.joint] = made
                files.append(path)
            else:
                path.unlink()
        training, validation = np.mean(errors, axis=0).tolist()
        return Learned(found, notes, training, validation, files)

    def _errors(self, bench: Bench, values: Mapping[str, float]) -> tuple[float, float]:
        return bench.error(self._cases, values, "fitted"), bench.error(self._cases, values, "held out")


def with_networks(
    found: Identified,
    learning: Learning,
    fits: Sequence[Fit],
    replays_of: Callable[[Mapping[str, MotorConfig]], list[Replay]],
) -> Identified:
    """Return what was identified with the networks that pay, as a model of their own, in the whole robot as well."""
    learned = learning.learned({name: found.motors[name] for name in found.joints}, fits)
    parameters = next(one.parameters for one in found.models if one.name == found.chosen)
    model = ModelScore(f"{found.chosen}, and networks", parameters, learned.training, learned.validation)
    changed = dataclasses.replace(found, networks=learned.notes)
    if not learned.files:
        return changed
    changed = dataclasses.replace(changed, models=[*found.models, model])
    better = dataclasses.replace(
        changed, motors={**found.motors, **learned.motors}, chosen=model.name, replays=replays_of(learned.motors)
    )
    pays = better.error < _BETTER * found.error
    said = f"error held out {1e3 * found.error:.3g}, with networks {1e3 * better.error:.3g} mrad or mm"
    notes = [*learned.notes, f"The whole robot: {said}: {'they are kept' if pays else 'they are not kept'}."]
    if not pays:
        learned.remove()
    return dataclasses.replace(better if pays else changed, networks=notes)
