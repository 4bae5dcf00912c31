"""Laws as scalar functions, and the kernels made from them: gathering and scattering is generated, the law is not.

A law is a `wp.func` of floats. A controller's takes

    (position, velocity, position target, velocity target, feedforward, dt, *state, *prepared, *curve values)

and returns the effort [N·m or N], followed by the new state where it has one; a clamp's takes

    (effort, position, velocity, [dt where it has a state,] *state, *prepared, *curve values)

and returns the limited effort, likewise followed by the new state; so does every stage after the controller. That of a
sensor, kind feedback, takes

    (position, velocity, [dt where it has a state,] *state, *prepared, *curve values)

and returns the position and velocity that the controller sees, and the new state. That of kind thermal or supply takes
what a clamp's does and returns its new state only: the effort stays as it is. A transmission has two laws: `LAW` is
that of a stage after the controller, which takes the effort of the motor, position and velocity of the joint, and
returns the effort at the joint, followed by the new state. `MOTOR` takes

    (position, velocity, position target, velocity target, feedforward, *state, *prepared)

of the joint and returns the same five of the motor, for the laws before the transmission. It is evaluated on what the
controller sees, and on the true position and velocity for the other laws, with zeros for the commands; so position and
velocity must not depend on those.

Signals that a class names in `ASKS`, see `specs/signals.py`, come before the state. The order is that of the class's
`STATE` and `CURVES`.

`prepared` is what `PREPARE` returns for the class's `PARAMETERS`, or the parameters themselves without one. A `PREPARE`
with one more argument, the last one, called `dt`, gets the physics step there and is called again when that changes.
A curve runs over what `CURVES` says, see `OVER` in `curve.py`: that of a controller over what its sensor gives, that of
any other law over the true state; both in the coordinates that the law works in.

A law chooses by conditional expressions, not by `wp.min`, `wp.max` or `wp.clamp`, which lose a NaN: a built-in law
makes a non-finite effort of a signal that is not finite. So that its C++ twin has the same bits, it is written in what
`tools/laws_header.py` translates.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import warp as wp

from ..specs.signals import SIGNALS
from ..specs.stages import KINDS
from . import warp_cache  # noqa: F401
from .curve import curve_at

CONTROLLER_SIGNALS = ("position", "velocity", "position_target", "velocity_target", "feedforward", "dt")
CLAMPING_SIGNALS = ("effort", "position", "velocity")
MOTOR_SIGNALS = CONTROLLER_SIGNALS[:-1]
# totals are computed from the published signals
_PUBLISHABLE = [name for name, signal in SIGNALS.items() if not signal.total_of]


class LawClass(Protocol):
    """What plans and kernels need of a class with a law, a subclass of `Component`; see there for the names."""

    __name__: str
    KIND: str
    PARAMETERS: tuple[str, ...]
    STATE: tuple[str, ...]
    START: Mapping[str, float]
    KEPT: tuple[str, ...]
    CURVES: Mapping[str, str]
    ASKS: tuple[str, ...]
    PUBLISHES: Mapping[str, str]
    USUAL: Mapping[str, float]
    PREPARE: Any
    LAW: Any
    MOTOR: Any

    def neutral(self) -> tuple[float, ...]:
        """The value of each parameter with which the law does nothing."""
        ...


UNSET: Final = math.nan
"""In `START`: a number that is not known before the first step, where the law takes another one by `started`."""


@wp.func
def started(remembered: float, first: float) -> float:
    """Return what is remembered; in the first step after a reset, where it is `UNSET`, `first`."""
    return first if wp.isnan(remembered) else remembered


@wp.func
def within(value: float, lower: float, upper: float) -> float:
    """Return `value` within an interval; NaN stays NaN."""
    raised = lower if lower > value else value
    return upper if upper < raised else raised


@wp.func
def bounded(value: float, lower: float, upper: float) -> float:
    """Return `value` within the bounds; NaN when it is NaN or the bounds are no interval, so that a fault shows."""
    return within(value, lower, upper) if lower <= upper else wp.nan


@wp.func
def value_or_zero(values: wp.array[float], at: int) -> float:
    """Return an element of an optional array; without the array, zero."""
    if values:
        return values[at]  # pyright: ignore[reportReturnType]
    return 0.0


@wp.func
def indexed_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], at: int) -> float:
    """Return the element of an optional array that an index stands for; without the array, zero."""
    if values:
        return values[indices[at]]  # pyright: ignore
    return 0.0


def signals_of(owner: LawClass, signals: Sequence[str]) -> tuple[str, ...]:
    """The signals that the law of a class takes: those of its kind, maybe the time step, and those that it asks for.

    Others than controllers take the time step where they have a state.
    """
    timed = ("dt",) if owner.STATE and "dt" not in signals else ()
    return (*signals, *timed, *owner.ASKS)


def prepares_for_dt(owner: LawClass) -> bool:
    """Return True if `PREPARE` of a class takes the physics step behind the parameters."""
    if owner.PREPARE is None:
        return False
    names = list(owner.PREPARE.input_types)
    return names[-1:] == ["dt"] and len(names) == len(owner.PARAMETERS) + 1


def prepared_of(owner: LawClass, signals: Sequence[str]) -> tuple[str, ...]:
    """The law's own names of what it takes after signals and state, but for curve values."""
    names = tuple(owner.LAW.input_types)
    return names[len(signals_of(owner, signals)) + len(owner.STATE) : len(names) - len(owner.CURVES)]


def require_law(owner: LawClass, signals: Sequence[str]) -> None:
    """Refuse a law that does not take what its class promises.

    Raises:
        TypeError: It is no `wp.func`, or has another number of arguments.
    """
    converts = owner.MOTOR is not None or KINDS[owner.KIND].converts
    functions = {"LAW": owner.LAW} | ({} if owner.PREPARE is None else {"PREPARE": owner.PREPARE})
    functions |= {"MOTOR": owner.MOTOR} if converts else {}
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
    """Names of the arguments of each function of a class."""
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
    }


def _require_names(owner: LawClass) -> None:
    """Refuse unknown names in the declarations of a class.

    Raises:
        TypeError: A signal, number of the state or curve is unknown, a signal is a total, or no state is returned.
    """
    for where, names, known in (("ASKS", owner.ASKS, [*SIGNALS]), ("PUBLISHES", owner.PUBLISHES, _PUBLISHABLE)):
        if odd := [name for name in names if name not in known]:
            raise TypeError(f"{owner.__name__}.{where}: {odd}: must be some of {known}. Correct the name.")
    named = {"START or KEPT": {*owner.START, *owner.KEPT}, "PUBLISHES": {*owner.PUBLISHES.values()}}
    for where, names in named.items():
        if odd := sorted(names - {*owner.STATE}):
            raise TypeError(
                f"{owner.__name__}.{where} has {odd}: must be some of STATE, {list(owner.STATE)}. Correct the name."
            )
    taken = tuple(owner.LAW.input_types)
    if odd := [name for name in owner.USUAL if name not in taken]:
        raise TypeError(
            f"{owner.__name__}.USUAL has {odd}: must be some of the arguments of LAW, {list(taken)}. Correct the name."
        )
    if not owner.STATE and not KINDS[owner.KIND].gives:
        raise TypeError(
            f"{owner.__name__}.STATE is empty: must be something, as a law of kind {owner.KIND} returns nothing else. "
            "Name it."
        )


def generated_kernel(name: str, text: str, functions: dict[str, Any]) -> wp.Kernel:
    """Return the kernel `name` of a source text that calls `functions`, in a module of its own."""
    return generated_kernels({name: text}, functions)[name]


def generated_kernels(
    texts: dict[str, str], functions: dict[str, Any], differentiable: str = ""
) -> dict[str, wp.Kernel]:
    """Return the kernels of source texts by name, in a module of their own; one of them may have an adjoint."""
    laws = [f"{law.func.__module__}.{law.key}" for law in functions.values() if isinstance(law, wp.Function)]
    digest = hashlib.sha256(f"{''.join(texts.values())}{laws}".encode()).hexdigest()[:12]
    module = wp.get_module(f"{__name__}.{next(iter(texts))}_{digest}")
    # older versions of Warp look here for what kernels call
    module.options["enable_backward"] = bool(differentiable)
    # contraction would round differently from the native core; older versions of Warp have no such option
    if "fuse_fp" in module.options:
        module.options["fuse_fp"] = False
    kernels = {}
    for name, text in texts.items():
        scope = {"wp": wp, **functions}
        exec(compile(text, f"<{name}>", "exec"), scope)
        options = {"enable_backward": name == differentiable}
        kernels[name] = wp.Kernel(scope[name], key=name, module=module, options=options, source=text)
    return kernels


def each(pattern: str, names: Sequence[str]) -> str:
    """Return the pattern once per name, its braces filled with the position of the name."""
    return "".join(pattern.format(number) for number in range(len(names)))


def prepare_lines(
    owner: LawClass, signals: Sequence[str], values: Sequence[str], dt: str = "dt"
) -> tuple[str, list[str]]:
    """A line of a kernel that prepares the values of the parameters, and the names of what the law takes instead.

    The kernel calls the function `prepare`; without one the line is empty and the values are taken as they are. `dt` is
    what the kernel calls the physics step.
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
    """The values of the curves of a law by itself, followed by commas."""
    inputs = curve_inputs(owner, "position", "velocity")
    return "".join(f"curve_at({over}, rows_{n}, 0, rows_{n}.shape[0]), " for n, over in enumerate(inputs))


def _neutral(owner: LawClass) -> str:
    """What a law by itself gets of the signals that it asks for, followed by commas."""
    asked = [SIGNALS[name] for name in owner.ASKS]
    return "".join("wp.inf, " if signal.is_unbounded else f"{float(signal.neutral)}, " for signal in asked)


@functools.cache
def controller_kernel(owner: LawClass) -> wp.Kernel:
    """The kernel of a controller class by itself: one thread per actuator, arrays read through indices."""
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
    """The kernel of a clamping class by itself: one thread per actuator, arrays read through indices."""
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


_GATHERING = {
    "value_or_zero": value_or_zero,
    "indexed_or_zero": indexed_or_zero,
    "curve_at": curve_at,
}
