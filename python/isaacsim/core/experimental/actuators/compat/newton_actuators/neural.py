"""The classes that are networks: a module of the program, which Torch runs, or a file, which is read as data."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import warp as wp

from ...components.clamping_max_effort import ClampingMaxEffort
from ...components.controller_neural_lstm import ControllerNeuralLSTM
from ...components.controller_neural_mlp import ControllerNeuralMLP
from ...errors import NotCopied
from ...networks.checkpoint import Checkpoint
from ...networks.load import load_checkpoint
from ...networks.torch_network import TorchNetwork
from ...specs.fields import shown
from ...values import as_integers
from .planned import PlannedActuator, controller_of, require_lengths


class _Told:
    """An attribute that the controller tells and nobody changes."""

    def __init__(self, name: str) -> None:
        self._name = self._here = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._here = name

    def __get__(self, one: Any, owner: type | None = None) -> Any:
        return self if one is None else getattr(controller_of(one), self._name)

    def __set__(self, one: Any, value: Any) -> None:
        raise AttributeError(f"{type(one).__name__}.{self._here} is part of its law. Make another actuator.")


class _Tensor:
    """An array of a state as a tensor of Torch on the same memory; the Warp array itself where there is no Torch."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, state: Any, owner: type | None = None) -> Any:
        if state is None:
            return self
        array = vars(state.controller_state)[self._name]
        return wp.to_torch(array) if importlib.util.find_spec("torch") else array

    def __set__(self, state: Any, value: Any) -> None:
        wp.copy(vars(state.controller_state)[self._name], _as_array(value))


class _State(NotCopied):
    """What a network remembers, as a plan asks for it."""

    _INSTEAD = "Take another one of state() and copy the arrays into it."

    delay_state: ClassVar[None] = None
    clamping_states: ClassVar[tuple[()]] = ()

    def __init__(self, controller_state: Any) -> None:
        self.controller_state = controller_state

    def reset(self) -> None:
        """Start over."""
        self.controller_state.reset()


class NeuralActuator(PlannedActuator):
    """What both have in common."""

    SCALAR_PARAMS: ClassVar[set[str]] = {"network_path"}
    REQUIRED: ClassVar[tuple[str, ...]] = ("network_path",)

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        controller: ControllerNeuralMLP | ControllerNeuralLSTM,
        max_force: wp.array,
        network: Any,
        network_path: Any,
        names: tuple[str, str, str, str],
    ) -> None:
        require_lengths(input_indices, max_force=max_force)
        positions, velocities, targets, efforts = names
        # no network looks at the velocity target, which need not be there
        all_names = positions, velocities, targets, targets, None, efforts
        super().__init__(input_indices, output_indices, controller, ClampingMaxEffort(max_force), None, all_names)
        self.network = controller.network if network is None else network
        self.network_path = network_path

    def _advance(self, sim_state: Any, sim_control: Any, now: Any, after: Any, dt: float | None) -> None:
        # it remembers, and yet integrates nothing
        super()._advance(sim_state, sim_control, now, after, 0.0 if dt is None else dt)


class ActuatorNetMLP(NeuralActuator):
    """A feedforward network over the history of position error and velocity, with a symmetric limit.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        max_force: Largest effort [N·m or N], shape `(N,)`.
        pos_scale: What position errors are multiplied with.
        vel_scale: What velocities are multiplied with.
        torque_scale: What the output is multiplied with.
        input_order: "pos_vel" or "vel_pos", which half of the inputs comes first.
        input_idx: Steps back of each input, 0 is now; None means `[0]`.
        network: A `torch.nn.Module`, which is taken as it is and set to evaluate; it goes before `network_path`.
        network_path: File of a network; what is not recognised has to be trusted, see `trust_checkpoints`.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_output_attr: Name of the efforts [N·m or N], which are added to.

    Raises:
        ValueError: Neither network nor path, a network that cannot be used or has another number of inputs, or a
            value out of range.
        OSError: There is no such file.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        **{"max_force": math.inf, "pos_scale": 1.0, "vel_scale": 1.0, "torque_scale": 1.0},
        **{"input_order": "pos_vel", "input_idx": None},
    }

    pos_scale = _Told("pos_scale")
    vel_scale = _Told("vel_scale")
    torque_scale = _Told("effort_scale")
    input_order = _Told("input_order")
    input_idx = _Told("input_idx")
    history_length = _Told("history_length")

    class State(_State):
        """Position errors [rad or m] and velocities [rad/s or m/s] of the last steps, newest first, `(H, N)`."""

        pos_error_history = _Tensor("pos_error_history")
        vel_history = _Tensor("vel_history")

        def __init__(self, pos_error_history: Any, vel_history: Any) -> None:
            super().__init__(ControllerNeuralMLP.State(_as_array(pos_error_history), _as_array(vel_history)))

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        max_force: wp.array,
        pos_scale: float = 1.0,
        vel_scale: float = 1.0,
        torque_scale: float = 1.0,
        input_order: str = "pos_vel",
        input_idx: Sequence[int] | None = None,
        network: Any = None,
        network_path: str | os.PathLike[str] | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_output_attr: str = "joint_f",
    ) -> None:
        metadata = {
            **{
                "model_type": "mlp",
                "input_order": input_order,
                "input_idx": [0] if input_idx is None else as_integers(input_idx, "input_idx").tolist(),
            },
            **{"pos_scale": pos_scale, "vel_scale": vel_scale, "effort_scale": torque_scale},
            "history_fill": "zeros",
        }
        super().__init__(
            input_indices,
            output_indices,
            ControllerNeuralMLP(_checkpoint(network, network_path, metadata)),
            *(max_force, network, network_path),
            (state_pos_attr, state_vel_attr, control_target_pos_attr, control_output_attr),
        )

    def state(self) -> State:
        """Return a fresh state."""
        fresh: Any = self._plan.controller.state(self.num_actuators, self._plan.device)
        return self.State(fresh.pos_error_history, fresh.vel_history)


class ActuatorNetLSTM(NeuralActuator):
    """A network of LSTM layers over position error and velocity, with a symmetric limit.

    Args:
        input_indices: Where positions, velocities and targets stand, uint32, shape `(N,)`.
        output_indices: Where efforts go, uint32, shape `(N,)`.
        max_force: Largest effort [N·m or N], shape `(N,)`.
        network: A `torch.nn.Module` with its layers as `lstm`, called as `network(x, (h, c))`, where `x` is
            `(N, 1, 2)`; it is set to evaluate, and goes before `network_path`.
        network_path: File of a network; what is not recognised has to be trusted, see `trust_checkpoints`.
        state_pos_attr: Name of the positions [rad or m].
        state_vel_attr: Name of the velocities [rad/s or m/s].
        control_target_pos_attr: Name of the position targets [rad or m].
        control_output_attr: Name of the efforts [N·m or N], which are added to.

    Raises:
        ValueError: Neither network nor path, or a network that cannot be used.
        OSError: There is no such file.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {"max_force": math.inf}

    class State(_State):
        """Hidden and cell state of each layer, `(layers, N, hidden size)`."""

        hidden = _Tensor("hidden")
        cell = _Tensor("cell")

        def __init__(self, hidden: Any, cell: Any) -> None:
            super().__init__(ControllerNeuralLSTM.State(_as_array(hidden), _as_array(cell)))

    def __init__(
        self,
        input_indices: wp.array,
        output_indices: wp.array,
        max_force: wp.array,
        network: Any = None,
        network_path: str | os.PathLike[str] | None = None,
        state_pos_attr: str = "joint_q",
        state_vel_attr: str = "joint_qd",
        control_target_pos_attr: str = "joint_target_pos",
        control_output_attr: str = "joint_f",
    ) -> None:
        metadata = {"model_type": "lstm", "pos_scale": 1.0, "vel_scale": 1.0, "effort_scale": 1.0}
        if network is not None:
            metadata |= _layers_of(network)
        super().__init__(
            input_indices,
            output_indices,
            ControllerNeuralLSTM(_checkpoint(network, network_path, metadata)),
            *(max_force, network, network_path),
            (state_pos_attr, state_vel_attr, control_target_pos_attr, control_output_attr),
        )

    def state(self) -> State:
        """Return a fresh state."""
        fresh: Any = self._plan.controller.state(self.num_actuators, self._plan.device)
        return self.State(fresh.hidden, fresh.cell)


def _checkpoint(network: Any, path: Any, metadata: Mapping[str, Any]) -> Checkpoint:
    """The network of the program, or the one in a file."""
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
    # it is the program's, which may go on learning
    for parameter, needed in gradients:
        parameter.requires_grad_(needed)
    return Checkpoint(taken, dict(metadata), "torch", "of the program")


def _layers_of(network: Any) -> dict[str, int]:
    """Number and width of the LSTM layers of a module.

    Raises:
        ValueError: It has none, or others than can be used.
    """
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


def _as_array(values: Any) -> wp.array:
    """An array of a state, given as Warp's or as a tensor of Torch; the same memory."""
    return values if isinstance(values, wp.array) else wp.from_torch(values.contiguous(), dtype=wp.float32)
