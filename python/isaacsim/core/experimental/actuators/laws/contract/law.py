"""Laws as scalar functions, and the kernels generated from them.

A law is a `wp.func` of floats. The law of a controller takes

    (position, velocity, position target, velocity target, feedforward, dt, *state, *prepared, *curve values)

and returns the effort [N·m or N], followed by the new state if it has one. The law of a clamp, and of every other stage
after the controller, takes

    (effort, position, velocity, [dt with a state,] *state, *prepared, *curve values)

and returns the changed effort, followed by the new state. The law of a sensor, of kind feedback, takes

    (position, velocity, [dt with a state,] *state, *prepared, *curve values)

and returns the position and velocity for the controller, followed by the new state. A law of kind thermal or supply has
the arguments of a clamp and returns only its new state; it does not change the effort. A transmission has two laws.
`LAW` is that of a stage after the controller: it takes the effort of the motor, and position and velocity of the joint,
and returns the effort at the joint, followed by the new state. `MOTOR` takes

    (position, velocity, position target, velocity target, feedforward, *state, *prepared)

of the joint and returns the same five signals of the motor, for the laws before the transmission. It is evaluated
twice: on the signals of the controller, and for the other laws on the true position and velocity with commands of zero.
Position and velocity must therefore not depend on the commands.

Laws before a transmission that ask for one of `FELT_SIGNALS` get what the motor feels. `FELT` takes

    (inertia, load, load_is_whole, coupled_inertia, *state, *prepared)

of the joint and returns these at the motor; without it there are no such laws before the transmission.

A rate has two laws. `LAW` is that of a stage after the controller, and returns the effort to hold. `TICK` takes

    (dt, *state, *prepared)

and returns 1 in a step in which the controller, and what comes before it, run, else 0. The first prepared number is the
number of physics steps in a period; those laws get the period as their `dt`.

Signals in `ASKS` of the class, see `specs/signals.py`, precede the state. States and curves are in the order of `STATE`
and `CURVES`.

An effort mode has two laws. `LAW` is that of a stage after the controller, and returns what the next step has to know.
`END` takes

    (position, velocity, dt, *state, *prepared)

and returns the velocity after the step without the motor, and the gain of velocity per effort. The laws of controllers
and stages up to the limits then get the position and velocity at the end of the step, see `implicit_effort.py`.

A law with `LATE` returns, after its results and before the state, by how many steps the results act late; the plan
keeps the rings of its past results that `LATE` names, see `late.py`. With it, a law of kind delay takes only
([dt with a state,] *state, *prepared), and what acts late is the commands; it is the only law of that kind.

`prepared` are the results of `PREPARE` for the `PARAMETERS` of the class, or the parameters themselves without one. A
`PREPARE` with an additional last argument `dt` gets the physics step, and is called again when it changes. `CURVES`
names the input of each curve, see `OVER` in `curve.py`: controllers use the signals of their sensor, other laws the
true state, both in the coordinates of the law.

A law selects by conditional expressions, not by `wp.min`, `wp.max` or `wp.clamp`, which lose a NaN: the effort of a
built-in law is not finite if a signal is not finite. A law uses only constructs that `tools/export/law_translator.py`
translates, so that its C++ version gives the same bits.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Protocol

import warp as wp

from ...base import warp_cache  # noqa: F401
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS
from .curve import curve_at

CONTROLLER_SIGNALS = ("position", "velocity", "position_target", "velocity_target", "feedforward", "dt")
CLAMPING_SIGNALS = ("effort", "position", "velocity")
MOTOR_SIGNALS = CONTROLLER_SIGNALS[:-1]
FELT_SIGNALS = ("inertia", "load", "load_is_whole", "coupled_inertia")
NEWEST: Final = "newest_row"
"""State of a law with `LATE` that the plan keeps: the row of its rings that was written last; NaN after a reset."""
_COMMANDS = MOTOR_SIGNALS[2:]
# totals are computed from the published signals
_PUBLISHABLE = [name for name, signal in SIGNALS.items() if not signal.total_of]


class LawClass(Protocol):
    """Attributes of a class with a law that plans and kernels use; `Component` documents them."""

    __name__: str
    KIND: str
    PARAMETERS: tuple[str, ...]
    STATE: tuple[str, ...]
    START: Mapping[str, float]
    KEPT: Collection[str]
    ADDED: Collection[str]
    CURVES: Mapping[str, str]
    ASKS: tuple[str, ...]
    PUBLISHES: Mapping[str, str]
    UNSET_AS: Mapping[str, str]
    USUAL: Mapping[str, float]
    COSTLY: tuple[str, ...]
    COMMON: tuple[str, ...]
    RESTING: Mapping[str, Collection[str]]
    LATE: tuple[str, ...]
    PREPARE: Any
    LAW: Any
    MOTOR: Any
    FELT: Any
    TICK: Any
    END: Any

    def neutral(self) -> tuple[float, ...]:
        """Value of each parameter with which the law does nothing."""
        ...


_FUNCTIONS: Final = ("LAW", "PREPARE", "MOTOR", "FELT", "TICK", "END")

UNSET: Final = math.nan
"""In `START`: a state that is unknown before the first step; the law replaces it by means of `started`."""


@wp.func
def started(remembered: float, first: float) -> float:
    """Return the state, or `first` if it is `UNSET`, in the first step after a reset."""
    return first if wp.isnan(remembered) else remembered


@wp.func
def within(value: float, lower: float, upper: float) -> float:
    """Return `value` within an interval; NaN stays NaN."""
    raised = lower if lower > value else value
    return upper if upper < raised else raised


@wp.func
def bounded(value: float, lower: float, upper: float) -> float:
    """Return `value` within the bounds; NaN, a fault, if it is NaN or the bounds are no interval."""
    return within(value, lower, upper) if lower <= upper else wp.nan


@wp.func
def value_or_zero(values: wp.array[float], at: int) -> float:
    """Return an element of an optional array; zero without the array."""
    if values:
        return values[at]  # pyright: ignore[reportReturnType]
    return 0.0


@wp.func
def indexed_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], at: int) -> float:
    """Return an indexed element of an optional array; zero without the array."""
    if values:
        return values[indices[at]]  # pyright: ignore
    return 0.0


def signals_of(owner: LawClass, signals: Sequence[str]) -> tuple[str, ...]:
    """Signals that the law of a class takes: those of its kind, the physics step, and those that it asks for.

    Laws of stages other than controllers take the physics step only if they have a state.
    """
    timed = ("dt",) if owner.STATE and "dt" not in signals else ()
    return (*signals, *timed, *owner.ASKS)


def results_of(owner: LawClass) -> int:
    """Number of results of a law before its state."""
    return KINDS[owner.KIND].gives + bool(owner.LATE)


def late_results(owner: LawClass) -> int:
    """Number of results that a law of a kind can have act late: the commands, for a delay."""
    return KINDS[owner.KIND].gives or len(_COMMANDS)


def state_names(owner: LawClass) -> tuple[str, ...]:
    """Names of the state arrays of a law in a plan: its state, then, with `LATE`, the newest row and the rings."""
    return (*owner.STATE, NEWEST, *owner.LATE) if owner.LATE else owner.STATE


def keeping_states(kept: Collection[str]) -> Mapping[str, str]:
    """Return the states that select the joints at which a reset keeps others, by name of the kept state."""
    return kept if isinstance(kept, Mapping) else {}


def prepares_for_dt(owner: LawClass) -> bool:
    """Return True if `PREPARE` of a class takes the physics step after the parameters."""
    if owner.PREPARE is None:
        return False
    names = list(owner.PREPARE.input_types)
    return names[-1:] == ["dt"] and len(names) == len(owner.PARAMETERS) + 1


def prepared_of(owner: LawClass, signals: Sequence[str]) -> tuple[str, ...]:
    """Names of the arguments of a law between the state and the curve values."""
    names = tuple(owner.LAW.input_types)
    return names[len(signals_of(owner, signals)) + len(owner.STATE) : len(names) - len(owner.CURVES)]


def require_law(owner: LawClass, signals: Sequence[str]) -> None:
    """Raise for a law whose arguments do not match the declarations of its class."""
    needed = {"LAW", "MOTOR"} if KINDS[owner.KIND].converts else {"LAW"}
    functions = {one: getattr(owner, one) for one in _FUNCTIONS if one in needed or getattr(owner, one) is not None}
    for name, function in functions.items():
        if not isinstance(function, wp.Function):
            raise TypeError(
                f"{owner.__name__}.{name} = {function!r}: must be a wp.func. Decorate the function with @wp.func."
            )
    _require_names(owner)
    for name, arguments in _expected_arguments(owner, signals).items():
        if name in functions and len(given := functions[name].input_types) != len(arguments):
            raise TypeError(
                f"{owner.__name__}.{name} takes {len(given)} arguments ({', '.join(given)}): must take "
                f"{len(arguments)} ({', '.join(arguments)}). Correct the function, STATE, PARAMETERS or CURVES."
            )


def _expected_arguments(owner: LawClass, signals: Sequence[str]) -> dict[str, tuple[str, ...]]:
    before, after = (*signals_of(owner, signals), *owner.STATE), tuple(owner.CURVES)
    prepared = owner.PARAMETERS
    if owner.PREPARE is not None:
        # the number of values that PREPARE returns is only known from the law
        count = len(owner.LAW.input_types) - len(before) - len(after)
        prepared = tuple(f"prepared {n + 1}" for n in range(count))
    return {
        "LAW": (*before, *prepared, *after),
        "PREPARE": (*owner.PARAMETERS, *(("dt",) if prepares_for_dt(owner) else ())),
        "MOTOR": (*MOTOR_SIGNALS, *owner.ASKS, *owner.STATE, *prepared),
        "FELT": (*FELT_SIGNALS, *owner.STATE, *prepared),
        "TICK": ("dt", *owner.STATE, *prepared),
        "END": ("position", "velocity", "dt", *owner.ASKS, *owner.STATE, *prepared),
    }


def _require_names(owner: LawClass) -> None:
    signals, states = list(SIGNALS), list(owner.STATE)
    for where, names, known, text in (
        ("ASKS:", owner.ASKS, signals, signals),
        ("PUBLISHES:", owner.PUBLISHES, _PUBLISHABLE, _PUBLISHABLE),
        ("START, KEPT or ADDED has", sorted({*owner.START, *owner.KEPT, *owner.ADDED}), states, f"STATE, {states}"),
        ("KEPT has", sorted({*keeping_states(owner.KEPT).values()}), states, f"STATE, {states}"),
        ("PUBLISHES has", sorted({*owner.PUBLISHES.values()}), states, f"STATE, {states}"),
        ("UNSET_AS has", owner.UNSET_AS, shown := sorted({*owner.PUBLISHES.values()}), f"the published, {shown}"),
        ("UNSET_AS has", sorted({*owner.UNSET_AS.values()}), owner.PARAMETERS, f"PARAMETERS, {[*owner.PARAMETERS]}"),
        ("USUAL has", owner.USUAL, arguments := list(owner.LAW.input_types), f"the arguments of LAW, {arguments}"),
        ("COSTLY has", owner.COSTLY, list(owner.USUAL), f"USUAL, {list(owner.USUAL)}"),
        ("COMMON has", owner.COMMON, list(owner.USUAL), f"USUAL, {list(owner.USUAL)}"),
        ("RESTING has", owner.RESTING, states, f"STATE, {states}"),
        ("RESTING has", sorted({*chain(*owner.RESTING.values())}), list(owner.USUAL), f"USUAL, {list(owner.USUAL)}"),
    ):
        if unknown := [name for name in names if name not in known]:
            raise TypeError(f"{owner.__name__}.{where} {unknown}: must be some of {text}. Correct the name.")
    if owner.LATE and len(owner.LATE) != late_results(owner):
        raise TypeError(
            f"{owner.__name__}.LATE has {len(owner.LATE)} names: must have {late_results(owner)}, one per result of a "
            f"law of kind {owner.KIND}. Correct it."
        )
    if not owner.STATE and not results_of(owner):
        raise TypeError(
            f"{owner.__name__}.STATE is empty: must be something, as a law of kind {owner.KIND} returns nothing else. "
            "Name it."
        )


def generated_kernel(name: str, text: str, functions: Mapping[str, object]) -> wp.Kernel:
    """Return the kernel `name` of a source text that calls `functions`, in its own module."""
    return generated_kernels({name: text}, functions)[name]


def generated_kernels(
    texts: dict[str, str], functions: Mapping[str, object], differentiable: Collection[str] = ()
) -> dict[str, wp.Kernel]:
    """Return the kernels of source texts by name, in one module; those in `differentiable` have an adjoint."""
    laws = [f"{law.func.__module__}.{law.key}" for law in functions.values() if isinstance(law, wp.Function)]
    digest = hashlib.sha256(f"{''.join(texts.values())}{laws}".encode()).hexdigest()[:12]
    module = wp.get_module(f"{__name__}.{next(iter(texts))}_{digest}")
    # older versions of Warp read the option of the module for functions that kernels call
    module.options["enable_backward"] = bool(differentiable)
    # fused operations round differently from the native core; older versions of Warp have no such option
    if "fuse_fp" in module.options:
        module.options["fuse_fp"] = False
    kernels = {}
    for name, text in texts.items():
        scope = {"wp": wp, **functions}
        exec(compile(text, f"<{name}>", "exec"), scope)
        options = {"enable_backward": name in differentiable}
        kernels[name] = wp.Kernel(scope[name], key=name, module=module, options=options, source=text)
    return kernels


def each(pattern: str, names: Sequence[str]) -> str:
    """Return the pattern once per name, formatted with the position of the name."""
    return "".join(pattern.format(number) for number in range(len(names)))


def prepare_lines(
    owner: LawClass, signals: Sequence[str], values: Sequence[str], dt: str = "dt"
) -> tuple[str, list[str]]:
    """Return a line of a kernel that calls `prepare` with values of the parameters, and the names of the results.

    Without a `PREPARE` the line is empty, and the results are the values. `dt` is the name of the physics step.
    """
    if owner.PREPARE is None:
        return "", list(values)
    names = [f"prepared_{number}" for number in range(len(prepared_of(owner, signals)))]
    given = [*values, *([dt] if prepares_for_dt(owner) else [])]
    return f"{', '.join(names)} = prepare({', '.join(given)})", names


def curve_inputs(owner: LawClass, position: str, velocity: str) -> list[str]:
    """Return the input of each curve of a class, given the names of position and velocity in a kernel."""
    named = {"position": position, "velocity": velocity, "speed": f"wp.abs({velocity})"}
    return [named[over] for over in owner.CURVES.values()]


def _curve_values(owner: LawClass) -> str:
    """Expressions of the values of the curves of a law, each followed by a comma."""
    inputs = curve_inputs(owner, "position", "velocity")
    return "".join(f"curve_at({over}, rows_{n}, 0, rows_{n}.shape[0]), " for n, over in enumerate(inputs))


def _neutral(owner: LawClass) -> str:
    """Neutral values of the signals that a law asks for, each followed by a comma."""
    asked = [SIGNALS[name] for name in owner.ASKS]
    return "".join("wp.inf, " if signal.is_unbounded else f"{float(signal.neutral)}, " for signal in asked)


@functools.cache
def controller_kernel(owner: LawClass) -> wp.Kernel:
    """Return the kernel of a controller class: one thread per actuator, arrays are read by indices."""
    require_law(owner, CONTROLLER_SIGNALS)
    values = [f"value_or_zero(parameter_{number}, slot)" for number in range(len(owner.PARAMETERS))]
    prepare, prepared = prepare_lines(owner, CONTROLLER_SIGNALS, values)
    text = f"""
def compute(
    # In:
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    dt: float,
    # State in, params:
    {each("state_{}: wp.array[float], ", owner.STATE)}
    {each("parameter_{}: wp.array[float], ", owner.PARAMETERS)}
    {each("rows_{}: wp.array2d[float], ", list(owner.CURVES))}
    # State out, out:
    {each("next_{}: wp.array[float], ", owner.STATE)}
    efforts: wp.array[float],
):
    slot = wp.tid()
    position = positions[position_indices[slot]]
    velocity = velocities[velocity_indices[slot]]
    {prepare}
    effort{each(", new_{}", owner.STATE)} = law(
        position,
        velocity,
        position_targets[position_target_indices[slot]],
        velocity_targets[velocity_target_indices[slot]],
        value_or_zero(feedforward, int(velocity_target_indices[slot])),
        dt,
        {_neutral(owner)}
        {each("state_{}[slot], ", owner.STATE)}
        {"".join(f"{name}, " for name in prepared)}
        {_curve_values(owner)}
    )
    efforts[slot] = effort
    {each("next_{0}[slot] = new_{0}; ", owner.STATE)}
"""
    return generated_kernel("compute", text, {"law": owner.LAW, "prepare": owner.PREPARE} | _GATHERING)


@functools.cache
def clamping_kernel(owner: LawClass) -> wp.Kernel:
    """Return the kernel of a stage after the controller: one thread per actuator, arrays are read by indices."""
    require_law(owner, CLAMPING_SIGNALS)
    values = [f"value_or_zero(parameter_{number}, slot)" for number in range(len(owner.PARAMETERS))]
    prepare, prepared = prepare_lines(owner, CLAMPING_SIGNALS, values)
    text = f"""
def limit(
    # In:
    efforts_in: wp.array[float],
    positions: wp.array[float],
    velocities: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    # Params:
    {each("parameter_{}: wp.array[float], ", owner.PARAMETERS)}
    {each("rows_{}: wp.array2d[float], ", list(owner.CURVES))}
    # Out:
    efforts_out: wp.array[float],
):
    slot = wp.tid()
    position = indexed_or_zero(positions, position_indices, slot)
    velocity = indexed_or_zero(velocities, velocity_indices, slot)
    {prepare}
    efforts_out[slot] = law(
        efforts_in[slot],
        position,
        velocity,
        {_neutral(owner)}
        {"".join(f"{name}, " for name in prepared)}
        {_curve_values(owner)}
    )
"""
    return generated_kernel("limit", text, {"law": owner.LAW, "prepare": owner.PREPARE} | _GATHERING)


_GATHERING = {"value_or_zero": value_or_zero, "indexed_or_zero": indexed_or_zero, "curve_at": curve_at}
