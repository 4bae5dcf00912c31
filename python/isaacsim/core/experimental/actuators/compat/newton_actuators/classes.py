"""The seven classes of newton-actuators 0.1.1, each with its law, limit, state and arguments in order.

class                 control law        limit                  what is its own
ActuatorPD            PD, may be geared  largest effort
ActuatorPID           PID, may be geared largest effort
ActuatorDelayedPD     PD, may be geared  largest effort         no effort until its delay is full
ActuatorRemotizedPD   PD                 table over positions   as above
ActuatorDCMotor       PD                 DC motor, cut off      no effort beyond no-load speed
ActuatorNetMLP        MLP                largest effort         no velocity target, no feedforward, no time step
ActuatorNetLSTM       LSTM               largest effort         as above, no scales
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import warp as wp

from ...base.errors import NotCopied, shown
from ...base.values import as_integers, as_numbers
from ...files.networks.load import load_checkpoint
from ...laws.clamping_dc_motor_cutoff import ClampingDCMotorCutoff
from ...laws.clamping_position_based import ClampingPositionBased
from ...laws.contract.base import repeated
from ...laws.controller_geared_pd import ControllerGearedPD
from ...laws.controller_geared_pid import ControllerGearedPID
from ...laws.controller_neural_lstm import ControllerNeuralLSTM
from ...laws.controller_neural_mlp import ControllerNeuralMLP
from ...laws.controller_pd import ControllerPD
from ...laws.controller_pid import ControllerPID
from ...laws.delay import Delay
from ...laws.networks.checkpoint import Checkpoint
from ...laws.networks.torch_network import TorchNetwork
from ...specs.arguments import number_of
from . import arguments as of
from .planned import PlannedActuator


class Tensor(Protocol):
    """A tensor of Torch."""

    def contiguous(self) -> Tensor:
        """Return a contiguous tensor."""
        ...


class _Array:
    """An array of one of our states; of a network a tensor of Torch on the same memory where Torch is installed."""

    def __init__(self, part: str, *, is_tensor: bool = False) -> None:
        self._part, self._is_tensor = part, is_tensor

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: object, owner: type | None = None) -> Any:
        if state is None:
            return self
        array = vars(getattr(state, self._part))[self._name]
        return wp.to_torch(array) if self._is_tensor and importlib.util.find_spec("torch") else array

    def __set__(self, state: object, value: wp.array | Tensor) -> None:
        if self._is_tensor:
            wp.copy(vars(getattr(state, self._part))[self._name], _as_array(value))
        else:
            setattr(getattr(state, self._part), self._name, value)


class _HostNumber:
    """A number of a `DelayState` that Python reads and writes, and the step too."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, state: object, owner: type | None = None) -> Any:
        return self if state is None else getattr(state, self._name)

    def __set__(self, state: DelayState, value: int) -> None:
        setattr(state, self._name, value)
        state.to_device()


class _State(NotCopied):
    """The parts that a plan reads; a class has one of them."""

    _INSTEAD = "Take another one of state() and copy the arrays into it."

    delay_state: Any = None
    controller_state: Any = None
    clamping_states: ClassVar[tuple[()]] = ()

    def reset(self) -> None:
        """Set all arrays to zero."""
        self.controller_state.reset()


class PIDState(_State):
    """The integral [rad·s or m·s], shape `(N,)`."""

    def __init__(self, integral: wp.array) -> None:
        self.integral = integral
        self.controller_state = self

    def reset(self) -> None:
        """Set the integral to zero."""
        self.integral.zero_()


class MLPState(_State):
    """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`."""

    pos_error_history = _Array("controller_state", is_tensor=True)
    vel_history = _Array("controller_state", is_tensor=True)

    def __init__(self, pos_error_history: wp.array | Tensor, vel_history: wp.array | Tensor) -> None:
        self.controller_state = ControllerNeuralMLP.State(_as_array(pos_error_history), _as_array(vel_history))


class LSTMState(_State):
    """Hidden and cell state of each layer, `(layers, N, hidden size)`."""

    hidden = _Array("controller_state", is_tensor=True)
    cell = _Array("controller_state", is_tensor=True)

    def __init__(self, hidden: wp.array | Tensor, cell: wp.array | Tensor) -> None:
        self.controller_state = ControllerNeuralLSTM.State(_as_array(hidden), _as_array(cell))


class DelayState(_State):
    """Commands of the last steps, `(delay, N)`, the row written last, and whether all were written.

    The last two are numbers of the host, as in newton-actuators.
    """

    buffer_pos = _Array("delay_state")
    buffer_vel = _Array("delay_state")
    buffer_act = _Array("delay_state")
    write_idx = _HostNumber()
    is_filled = _HostNumber()

    def __init__(
        self,
        buffer_pos: wp.array,
        buffer_vel: wp.array,
        buffer_act: wp.array,
        write_idx: int = 0,
        is_filled: bool = False,
    ) -> None:
        self._depth, count = buffer_pos.shape
        numbers = (wp.zeros(size, dtype=wp.int32, device=buffer_pos.device) for size in (count, 1))
        self.delay_state = Delay.State(buffer_pos, buffer_vel, buffer_act, *numbers)
        self._write_idx, self._is_filled = write_idx, is_filled
        self.to_device()

    def reset(self) -> None:
        """Empty the delay."""
        self.delay_state.reset()
        self._write_idx, self._is_filled = self._depth - 1, False

    def follow(self, before: DelayState) -> None:
        """Update the numbers of the host after a step, which has written the arrays."""
        self._write_idx = (before._write_idx + 1) % self._depth
        self._is_filled = before._is_filled or self._write_idx == self._depth - 1

    def to_device(self) -> None:
        """Write the numbers of the host where the step reads them."""
        self.delay_state.write_idx.fill_(self._write_idx)
        pushed = self._depth if self._is_filled else (self._write_idx + 1) % self._depth
        self.delay_state.num_pushes.fill_(pushed)


def _as_array(values: wp.array | Tensor) -> wp.array:
    """Return a Warp array, or one on the memory of a tensor of Torch."""
    return values if isinstance(values, wp.array) else wp.from_torch(values.contiguous(), dtype=wp.float32)


class ActuatorPD(PlannedActuator):
    """PD control with a symmetric limit: `clamp(const + act + kp·e + kd·ė, ±max_force)`."""

    LAW, GEARED = ControllerPD, ControllerGearedPD
    kp, kd, max_force, constant_force, gear = of.KP, of.KD, of.MAX_FORCE, of.CONSTANT_FORCE, of.GEAR


class ActuatorPID(PlannedActuator):
    """PID control with a symmetric limit; the integral has a limit of its own, and the updated one acts at once."""

    LAW, GEARED, State = ControllerPID, ControllerGearedPID, PIDState
    kp, ki, kd, max_force, integral_max = of.KP, of.KI, of.KD, of.MAX_FORCE, of.INTEGRAL_MAX
    constant_force, gear = of.CONSTANT_FORCE, of.GEAR


class ActuatorDCMotor(PlannedActuator):
    """PD control with the limit of a DC motor, which has no effort beyond no-load speed: `ClampingDCMotorCutoff`."""

    LAW, LIMIT = ControllerPD, ClampingDCMotorCutoff
    kp, kd, max_force, saturation_effort = of.KP, of.KD, of.MAX_MOTOR_FORCE, of.SATURATION_EFFORT
    velocity_limit, constant_force = of.VELOCITY_LIMIT, of.CONSTANT_FORCE


class ActuatorDelayedPD(PlannedActuator):
    """PD control of targets and feedforward of `delay` steps ago, with a symmetric limit."""

    SCALAR_PARAMS: ClassVar[set[str]] = {"delay"}
    LAW, GEARED, State = ControllerPD, ControllerGearedPD, DelayState
    kp, kd, delay, max_force, constant_force, gear = of.KP, of.KD, of.DELAY, of.MAX_FORCE, of.CONSTANT_FORCE, of.GEAR

    def _delay(self, given: Mapping[str, Any]) -> Delay:
        delay, inputs = given["delay"], given["input_indices"]
        if not number_of("delay", delay).is_integer():
            raise ValueError(f"delay = {delay}: must be a whole number of physics steps. Round it.")
        return Delay(repeated(delay, len(inputs), inputs.device, wp.int32), int(delay))

    def state(self) -> DelayState:
        """Return a fresh state."""
        assert self._plan.delay is not None
        fresh = self._plan.delay.state(self.num_actuators, self._plan.device)
        return DelayState(fresh.buffer_pos, fresh.buffer_vel, fresh.buffer_act, len(fresh.buffer_pos) - 1)

    def _advance(self, sim_state: object, sim_control: object, now: Any, after: Any, dt: float | None) -> None:
        self._plan.require_states(now, after)
        if not now.is_filled and self.delay:
            if self._plan.device.is_cuda and self._plan.device.is_capturing:
                raise RuntimeError(
                    f"{type(self).__name__}: the delay is not full: a CUDA graph would never give an effort. Capture "
                    f"it after {self.delay} steps."
                )
            sim_control = self._writing_to(self._nowhere, sim_control)
        super()._advance(sim_state, sim_control, now, after, dt)
        after.follow(now)


class ActuatorRemotizedPD(ActuatorDelayedPD):
    """Delayed PD control with a limit that depends on the joint position, linear between the rows of a table."""

    SCALAR_PARAMS: ClassVar[set[str]] = {"delay", "lookup_angles", "lookup_torques"}
    GEARED, LIMIT = None, ClampingPositionBased
    kp, kd, delay, lookup_angles, lookup_torques = of.KP, of.KD, of.DELAY, of.LOOKUP_ANGLES, of.LOOKUP_TORQUES
    constant_force = of.CONSTANT_FORCE

    @cached_property
    def max_force(self) -> wp.array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Infinite: the table limits."""
        return wp.full(self.num_actuators, math.inf, dtype=wp.float32, device=self.input_indices.device)

    def _values(self, given: Mapping[str, object], part: str) -> dict[str, Any]:
        found = super()._values(given, part)
        if part != "clamp":
            return found
        return {name: np.atleast_1d(as_numbers(one, name)).astype(float).tolist() for name, one in found.items()}

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, Any]:
        """Return the arguments of the constructor, the table as tuples; see `Actuator.resolve_arguments`."""
        resolved = super().resolve_arguments(args)
        return resolved | {name: tuple(resolved[name]) for name in ("lookup_angles", "lookup_torques")}

    @property
    def lookup_size(self) -> int:
        """Rows of the table."""
        return len(self.lookup_angles)


class _Network(PlannedActuator):
    """A network with a symmetric limit."""

    SCALAR_PARAMS: ClassVar[set[str]] = {"network_path"}
    NAMES: ClassVar[Mapping[str, of.Argument]] = {
        name: one for name, one in PlannedActuator.NAMES.items() if one not in (of.TARGET_VEL, of.INPUT)
    }
    network, network_path = of.NETWORK, of.NETWORK_PATH

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        if self.network is None:
            self.network = self._plan.controller.network

    def _values(self, given: Mapping[str, object], part: str) -> dict[str, Any]:
        found = super()._values(given, part)
        if part == "plan":
            # no network reads the velocity target, which may be absent
            found |= {"control_target_vel_attr": found["control_target_pos_attr"], "control_feedforward_attr": None}
        return found

    def _advance(self, sim_state: object, sim_control: object, now: object, after: object, dt: float | None) -> None:
        # a plan with state needs a time step, which no network reads
        super()._advance(sim_state, sim_control, now, after, 0.0 if dt is None else dt)


class ActuatorNetMLP(_Network):
    """A feedforward network over the history of position error and velocity, with a symmetric limit."""

    State = MLPState
    max_force, pos_scale, vel_scale, torque_scale = of.MAX_FORCE, of.POS_SCALE, of.VEL_SCALE, of.TORQUE_SCALE
    input_order, input_idx, network, network_path = of.INPUT_ORDER, of.INPUT_IDX, of.NETWORK, of.NETWORK_PATH

    def _law(self, given: Mapping[str, Any]) -> ControllerNeuralMLP:
        metadata = {"model_type": "mlp", "history_fill": "zeros", **self._values(given, "network")}
        steps = metadata["input_idx"]
        metadata["input_idx"] = [0] if steps is None else as_integers(steps, "input_idx").tolist()
        return ControllerNeuralMLP(checkpoint_of(given["network"], given["network_path"], metadata))

    @property
    def history_length(self) -> int:
        """Number of steps that the history holds."""
        return self._plan.controller.history_length


class ActuatorNetLSTM(_Network):
    """A network of LSTM layers over position error and velocity, with a symmetric limit."""

    State = LSTMState
    max_force, network, network_path = of.MAX_FORCE, of.NETWORK, of.NETWORK_PATH

    def _law(self, given: Mapping[str, Any]) -> ControllerNeuralLSTM:
        metadata = {"model_type": "lstm", "pos_scale": 1.0, "vel_scale": 1.0, "effort_scale": 1.0}
        if given["network"] is not None:
            metadata |= lstm_sizes(given["network"])
        return ControllerNeuralLSTM(checkpoint_of(given["network"], given["network_path"], metadata))


def checkpoint_of(network: Any, path: str | os.PathLike[str] | None, metadata: Mapping[str, object]) -> Checkpoint:
    """Return the network of the program, or the one in a file."""
    if network is None:
        if path is None:
            raise ValueError("network = None and network_path = None: must be one of them. Give a module or a file.")
        return load_checkpoint(path, metadata)
    if not callable(getattr(network, "parameters", None)):
        raise TypeError(
            f"network = {shown(network)}: must be a module of Torch, not {type(network).__name__}. Give one."
        )
    gradients = [(parameter, parameter.requires_grad) for parameter in network.parameters()]
    taken = TorchNetwork(network, metadata)
    # the program may go on training it
    for parameter, needed in gradients:
        parameter.requires_grad_(needed)
    return Checkpoint(taken, dict(metadata), "torch", "of the program")


def lstm_sizes(network: object) -> dict[str, int]:
    """Return number and width of the LSTM layers of a module; ValueError if it has none, or others than can be used."""
    layers = getattr(network, "lstm", None)
    if layers is None:
        raise ValueError(f"{type(network).__name__} has no attribute lstm: must be its torch.nn.LSTM. Call it so.")
    rules = {"input_size": 2, "batch_first": True, "bidirectional": False, "proj_size": 0}
    for name, rule in rules.items():
        if getattr(layers, name, rule) != rule:
            raise ValueError(
                f"{type(network).__name__}.lstm.{name} = {getattr(layers, name)}: must be {rule}. Change the network."
            )
    return {name: getattr(layers, name) for name in ("num_layers", "hidden_size")}
