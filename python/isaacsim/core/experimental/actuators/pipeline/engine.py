"""What computes the efforts of one articulation.

The native core runs the built-in laws on the CPU, one generated Warp kernel the user's own, and everything on CUDA or
where the core was not built; components that compute arrays themselves stand between the two phases of a step.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from .actuator import Actuator
from .custom import CustomStage
from .delay_draw import DelayDraw
from .entry import ActuatorEntry
from .fault import Fault
from .native_engine import NativeEngine, is_native_there
from .plan import Plan, Shown, between, compile_plan, is_built_in
from .warp_engine import WarpEngine, mask_of

_log = logging.getLogger(__name__)
_told: set[str] = set()


class Engine:
    """All actuators of an articulation on a device.

    Args:
        entries: What to run.
        num_robots: Number of robots.
        device: Warp device.
        columns: Where each joint stands in the articulation, in the order of the entries; plans are laid out by it.

    Raises:
        ValueError: A parameter array has the wrong length or a value out of range.
        TypeError: A law of the user's own does not compile.
    """

    def __init__(
        self, entries: Sequence[ActuatorEntry], num_robots: int, device: Any, columns: Sequence[int] | None = None
    ) -> None:
        self._num_robots, self._device = num_robots, device
        ends = np.cumsum([len(entry.dof_names) for entry in entries], dtype=int)
        joints = [range(end - len(entry.dof_names), end) for entry, end in zip(entries, ends, strict=True)]
        where = range(ends[-1] if len(ends) else 0) if columns is None else columns
        self._delay_draw: DelayDraw | None = None
        # joints of each part, and the part itself
        self._parts: list[tuple[list[int], Any]] = []
        self._shown: list[tuple[Any, Shown]] = []
        # rows with a value per robot, by identity, and what is copied into them before each step
        self._spread: dict[int, Any] = {}
        self._mirrors: list[tuple[Any, Shown, wp.array]] = []

        self.actuators = [self._actuator(entry) for entry in entries]
        betweens = [between(entry) for entry in entries]
        native = _use_native(device)
        kinds = [NativeEngine if native and is_built_in(entry) else WarpEngine for entry in entries]
        # components of the user's own come first: an error in them leaves the state of the other joints as it was
        for custom, kind in itertools.product((True, False), (NativeEngine, WarpEngine)):
            chosen = [n for n in range(len(entries)) if kinds[n] is kind and (betweens[n] is not None) is custom]
            if not chosen:
                continue
            order = sorted((joint for n in chosen for joint in joints[n]), key=lambda joint: where[joint])
            slots = [[order.index(joint) for joint in joints[n]] for n in chosen]
            plan = compile_plan([entries[n] for n in chosen], num_robots, slots)
            part: Any = NativeEngine(plan) if kind is NativeEngine else WarpEngine(plan, device)
            own = [one for n in chosen if (one := betweens[n]) is not None]
            if own:
                part = CustomStage(part, [self.actuators[n] for n in chosen], own, slots)
            self._parts.append((order, part))
            self._show(plan, part)
        self._choose_step()

    @property
    def name(self) -> str:
        """What runs, in the order in which it runs."""
        return ", ".join(part.name for _, part in self._parts)

    def bind(self, columns: Sequence[int], inputs: Sequence[Any], efforts: Any) -> None:
        """Attach the articulation's arrays.

        Args:
            columns: Column of each joint.
            inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(N, D)`.
            efforts: Where efforts go, float32 `(N, D)`; only the joints' columns are written.
        """
        *sources, target = (as_warp(array) for array in (*inputs, efforts))
        for joints, part in self._parts:
            part.bind([int(columns[joint]) for joint in joints], sources, target)
        self.place(columns, target.shape[1])

    def place(self, columns: Sequence[int], num_dofs: int) -> None:
        """Tell the actuators where they stand in flattened `(robots, num_dofs)` arrays."""
        joint, rows = 0, np.arange(self._num_robots)[:, None] * num_dofs
        for actuator in self.actuators:
            mine = np.asarray(columns[joint : joint + len(actuator.dof_names)])
            # into the same array, which the actuator's other index arrays are too
            actuator.indices.assign((rows + mine).ravel().astype(np.uint32))
            joint += len(actuator.dof_names)

    step: Callable[[float], None]
    """Compute the efforts of all joints of all robots for a physics step of so many seconds."""

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Forget state and faults of `robots`, all by default, and draw their delays anew where that was asked for.

        Besides indices it takes a mask on the device, bool `(robots,)`, which is read there; delays are drawn on the
        host, and to draw them it has to be fetched.
        """
        if self._delay_draw is not None:
            self._delay_draw.draw(np.flatnonzero(mask_of(robots, self._num_robots, self._device).numpy()).tolist())
        for _, part in self._parts:
            part.reset(robots)

    def draw_delays(self, low: int, high: int, seed: int) -> None:
        """Draw the delay of each robot now and at each reset; see `DelayDraw`."""
        self._delay_draw = DelayDraw(self.actuators, low, high, seed)
        self.reset()

    def save(self) -> dict[str, np.ndarray]:
        """Return a copy of everything that carries over from one step to the next, by name."""
        return {f"{n}.{name}": array for n, (_, part) in enumerate(self._parts) for name, array in part.save().items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned.

        Raises:
            ValueError: It comes from other actuators; nothing is changed then.
        """
        growing = {f"{n}.{name}" for n, (_, part) in enumerate(self._parts) for name in part.growing}
        expected = {name: () if name in growing else array.shape for name, array in self.save().items()}
        given = {name: () if name in growing else np.shape(values) for name, values in saved.items()}
        if given != expected:
            odd = sorted(name for name in {*given, *expected} if given.get(name) != expected.get(name))
            raise ValueError(
                f"saved state differs in {odd[:3]}: must come from the same actuators, robots and delays. "
                "Save it with the wrapper that restores it, or one like it."
            )
        for n, (_, part) in enumerate(self._parts):
            part.restore({name.partition(".")[2]: saved[name] for name in saved if name.startswith(f"{n}.")})

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        for _, part in self._parts:
            part.observe(on)

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the clamps [N·m or N], and the class name of the clamp that changed each last, else empty.

        Both have shape `(robots, joints)`, joints in the order of the entries.
        """
        count = sum(len(joints) for joints, _ in self._parts)
        computed = np.zeros((self._num_robots, count), np.float32)
        limited_by = np.full((self._num_robots, count), "", object)
        for joints, part in self._parts:
            efforts, numbers = part.observed()
            computed[:, joints] = efforts
            limited_by[:, joints] = np.array(["", *part.stage_names], object)[numbers]
        return computed, limited_by

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        return [fault for _, part in self._parts for fault in part.faults()]

    def _choose_step(self) -> None:
        """With one part, which is nearly always, its step is ours."""
        alone = len(self._parts) == 1 and not self._mirrors
        self.step = self._parts[0][1].step if alone else self._step_all

    def _step_all(self, dt: float) -> None:
        for array, shown, flat in self._mirrors:
            rows: Any = flat.reshape((self._num_robots, len(shown.slots)))
            for place, slot in enumerate(shown.slots):
                wp.copy(array[:, slot], rows[:, place])
        for _, part in self._parts:
            part.step(dt)

    def _show(self, plan: Plan, part: Any) -> None:
        """Let components show the plan's parameters: those given per robot at once, the others when asked for."""
        for shown in plan.shown:
            self._shown.append((part, shown))
            vars(shown.component).pop(shown.attribute, None)
            shown.component.parameter_source = self
        for _, shown in [one for one in self._shown if one[0] is part and one[1].row.per_robot]:
            self.parameter(shown.component, shown.attribute)

    def parameter(self, component: Any, attribute: str) -> wp.array:
        """The live values of a component's parameter, one per robot and target; from now on robots may differ."""
        part, shown = self._find(component, attribute)
        array = self._spread.get(id(shown.row))
        if array is None:
            array = self._spread[id(shown.row)] = part.spread(shown.row)
        view = array[:, shown.slots[0]]
        if len(shown.slots) > 1:
            # no single stride reaches several joints of every robot: a copy that is poured in before each step
            rows = np.stack([array[:, slot].numpy() for slot in shown.slots], axis=1)
            view = wp.array(rows.ravel(), dtype=array.dtype, device=array.device)
            self._mirrors.append((array, shown, view))
            self._choose_step()
        # as an assignment it would come back here
        vars(component)[attribute] = view
        return view

    def read_parameter(self, component: Any, attribute: str) -> np.ndarray:
        """The values of a component's parameter without making them differ from robot to robot."""
        _, shown = self._find(component, attribute)
        return np.tile(shown.row.shared[list(shown.slots)], self._num_robots)

    def _find(self, component: Any, attribute: str) -> tuple[Any, Shown]:
        return next(one for one in self._shown if one[1].component is component and one[1].attribute == attribute)

    def _actuator(self, entry: ActuatorEntry) -> Actuator:
        """What users see of an entry; `place` says where it stands."""
        count = self._num_robots * len(entry.dof_names)
        return Actuator(
            wp.zeros(count, dtype=wp.uint32, device=self._device),
            entry.controller,
            entry.delay,
            entry.clamping,
            control_feedforward_attr="joint_control_feedforward",
            label=entry.label,
            dof_names=entry.dof_names,
        )


def as_warp(array: Any) -> wp.array:
    """Return the array itself, or a Warp array over the same CPU memory."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.float32, device="cpu", copy=False)


def _use_native(device: Any) -> bool:
    """Whether built-in laws run natively; when they could but the core is missing, say so once."""
    if not wp.get_device(device).is_cpu:
        return False
    if not is_native_there() and not _told:
        _told.add("missing")
        _log.warning("the native core was not built, Warp runs on the CPU instead. Install with a C++17 compiler.")
    return is_native_there()
