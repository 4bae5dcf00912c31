"""Metadata of a checkpoint: which inputs its network takes, in what units, at what time step."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from ...base.errors import NetworkError
from ...base.values import is_number
from .features import COLUMNS, Feature
from .network import Kind

HistoryFill = Literal["zeros", "first"]
"""Content of a history before the first step after a reset: zeros, or the values of that step."""

# a history takes memory for every joint
MOST_STEPS = 1024
LONGEST_JSON = 4 * 2**20
_REMEDY = "Correct it in the file, or in a JSON file of the same name beside it."


class Sizes(Protocol):
    """Kind, width of the input, number and width of recurrent layers, which metadata must fit; see `Network`."""

    @property
    def kind(self) -> Kind: ...  # noqa: D102
    @property
    def inputs(self) -> int: ...  # noqa: D102
    @property
    def num_layers(self) -> int: ...  # noqa: D102
    @property
    def hidden_size(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class Metadata:
    """The metadata that are used, checked against the network."""

    model_type: Kind
    input_order: Literal["pos_vel", "vel_pos"] = "pos_vel"  # which half of an MLP's inputs comes first
    input_idx: tuple[int, ...] = (0,)  # steps before the current one that an MLP takes, 0 for that one
    pos_scale: float = 1.0
    vel_scale: float = 1.0
    effort_scale: float = 1.0  # factor of the output, also read from `torque_scale`
    input_columns: tuple[str, ...] = ("position_error", "velocity")  # inputs of a GRU: `COLUMNS`, `custom_inputs`
    custom_inputs: tuple[str, ...] = ()  # the column that is an array of the caller, if any
    input_mean: tuple[float, ...] = (0.0, 0.0)  # of each column, subtracted from it
    input_std: tuple[float, ...] = (1.0, 1.0)  # standard deviations, by which columns are divided
    effort_mean: float = 0.0  # added to the output after scaling
    effort_std: float = 1.0  # factor of the output, beside the scale
    sample_dt: float | None = None  # time step of the training [s], also from `sample_dt_s`; None: any
    history_fill: HistoryFill = "zeros"  # inputs of an MLP before a reset: zeros, or values of the first step after

    @property
    def features(self) -> tuple[Feature, ...]:
        """Inputs of the network, in its order."""
        if self.model_type == "gru":
            columns = zip(self.input_columns, self.input_std, self.input_mean, strict=True)
            return tuple(Feature(column, 1.0 / deviation, mean) for column, deviation, mean in columns)
        back = self.input_idx if self.model_type == "mlp" else (0,)
        errors = tuple(Feature("position_error", self.pos_scale, back=steps) for steps in back)
        velocities = tuple(Feature("velocity", self.vel_scale, back=steps) for steps in back)
        return errors + velocities if self.input_order == "pos_vel" else velocities + errors


def check_metadata(metadata: Mapping[str, Any], network: Sizes) -> Metadata:
    """Return the metadata that are used, with defaults; unknown keys are ignored."""
    kind = metadata.get("model_type", network.kind)
    _must(kind in ("mlp", "lstm", "gru"), "model_type", kind, "be mlp, lstm or gru")
    _must(kind == network.kind, "model_type", kind, f"be {network.kind}, for the network is no {str(kind).upper()}")
    for key in ("num_layers", "hidden_size"):
        if key in metadata:
            has, said = getattr(network, key), metadata[key]
            # a float such as 2.0 is accepted
            fits = is_number(said) and said == has
            _must(fits, key, said, f"be {has} as in the network")
    common = _common(metadata)
    custom = _custom_inputs(metadata, kind)
    if kind == "mlp":
        return _of_mlp(metadata, network, common)
    if kind == "lstm":
        _must(network.inputs == 2, "inputs", network.inputs, "be 2, position error and velocity")
        return Metadata("lstm", **common)
    return _of_gru(metadata, network, custom, common)


def _common(metadata: Mapping[str, object]) -> dict[str, Any]:
    fields: dict[str, float | None] = {key: _scale(key, metadata.get(key, 1.0)) for key in ("pos_scale", "vel_scale")}
    key = "effort_scale" if "effort_scale" in metadata else "torque_scale"
    fields["effort_scale"] = _scale(key, metadata.get(key, 1.0))
    fields["sample_dt"] = None
    for key in ("sample_dt_s", "sample_dt"):
        if key in metadata:
            fields["sample_dt"] = step = _number(key, metadata[key], "be a finite number of seconds > 0")
            _must(step > 0, key, step, "be a finite number of seconds > 0")
    return fields


def _of_mlp(metadata: Mapping[str, Any], network: Sizes, common: Mapping[str, Any]) -> Metadata:
    order = metadata.get("input_order", "pos_vel")
    _must(order in ("pos_vel", "vel_pos"), "input_order", order, "be pos_vel or vel_pos")
    steps = metadata.get("input_idx", [0])
    rule = f"be a list of whole numbers from 0 to {MOST_STEPS - 1}, steps ago"
    _must(isinstance(steps, list | tuple) and 0 < len(steps) <= MOST_STEPS, "input_idx", steps, rule)
    _must(all(type(step) is int and 0 <= step < MOST_STEPS for step in steps), "input_idx", steps, rule)
    rule = f"have half as many numbers as the network has inputs, {network.inputs}"
    _must(2 * len(steps) == network.inputs, "input_idx", steps, rule)
    fill = metadata.get("history_fill", "zeros")
    _must(fill in ("zeros", "first"), "history_fill", fill, "be zeros or first")
    return Metadata("mlp", order, tuple(steps), **common, history_fill=fill)


def _of_gru(
    metadata: Mapping[str, Any], network: Sizes, custom: tuple[str, ...], common: Mapping[str, Any]
) -> Metadata:
    columns = _columns(metadata, custom)
    if len(columns) != network.inputs:
        subject = f"input size {network.inputs} of the network for metadata input_columns = {list(columns)}"
        raise NetworkError(f"{subject}: must be {len(columns)}. {_REMEDY}")
    inputs, effort = _normalization(metadata.get("normalization", {}), columns)
    return Metadata(
        "gru",
        **common,
        input_columns=tuple(columns),
        custom_inputs=custom,
        input_mean=tuple(mean for mean, _ in inputs),
        input_std=tuple(std for _, std in inputs),
        effort_mean=effort[0],
        effort_std=effort[1],
    )


def _columns(metadata: Mapping[str, Any], custom: tuple[str, ...]) -> list[str] | tuple[str, ...]:
    columns = metadata.get("input_columns", ["position_error", "velocity"])
    known = [*COLUMNS, *custom]
    rule = f"be a list of different ones of {', '.join(known)}"
    _must(isinstance(columns, list | tuple) and len(columns) > 0, "input_columns", columns, rule)
    if unknown := [one for one in columns if one not in known]:
        text = ", ".join(f"{one!s:.100}" for one in unknown[:5])
        rule += ", or one that custom_inputs names"
        raise NetworkError(f"metadata has unsupported input_columns: {text}: must {rule}. {_REMEDY}")
    _must(len(set(columns)) == len(columns), "input_columns", columns, rule)
    if unused := [one for one in custom if one not in columns]:
        subject = f"metadata custom_inputs must name columns in input_columns: {unused[0]}"
        raise NetworkError(f"{subject}: must be one of {list(columns)}. {_REMEDY}")
    return columns


def _custom_inputs(metadata: Mapping[str, Any], kind: Kind) -> tuple[str, ...]:
    """Names of the caller's arrays: one at most, and of a GRU only, as in newton 1.8."""
    names = metadata.get("custom_inputs", [])
    alike = isinstance(names, list | tuple) and all(
        isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name) for name in names
    )
    _must(alike, "custom_inputs", names, "be a list of valid names in Python that are no keywords")
    _must(len(names) <= 1, "custom_inputs", names, "hold at most one custom input")
    _must(
        not {*names} & {*COLUMNS}, "custom_inputs", names, "hold other names, it may not reuse built-in feature names"
    )
    _must(not names or kind == "gru", "custom_inputs", names, f"be empty: an {kind.upper()} has no columns of a caller")
    return tuple(names)


def _normalization(
    given: object, columns: list[str] | tuple[str, ...]
) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    def pair(side: str, name: str) -> tuple[float, float]:
        numbers: list[float] = []
        for what, default in (("mean", 0.0), ("std", 1.0)):
            at, here = f"normalization.{side}.{what}", given
            for step in (side, what):
                here = here.get(step, {}) if isinstance(here, Mapping) else None
                _must(isinstance(here, Mapping), at, here, "be an object of numbers by name")
            # a column that is missing among others is a mistake
            here = cast("Mapping[str, object]", here)
            _must(name in here or not here, at, sorted(here), f"have {name}")
            numbers.append(_number(f"{at}.{name}", here.get(name, default), "be a finite number"))
        _must(numbers[1] > 0, f"normalization.{side}.std.{name}", numbers[1], "be a finite number > 0")
        return numbers[0], numbers[1]

    _must(isinstance(given, Mapping), "normalization", given, "be an object with inputs and targets")
    return [pair("inputs", column) for column in columns], pair("targets", "torque")


def _must(fits: bool, key: str, value: object, rule: str) -> None:
    if not fits:
        text = repr(value)
        text = text if len(text) <= 100 else f"{text[:99]}…"
        raise NetworkError(f"metadata {key} = {text}: must {rule}. {_REMEDY}")


def _number(key: str, value: object, rule: str) -> float:
    fits = is_number(value) and abs(value) <= 3.4e38
    _must(fits, key, value, rule)
    return float(cast("float", value))


def _scale(key: str, value: object) -> float:
    number = _number(key, value, "be a finite number other than 0")
    _must(number != 0, key, value, "be a finite number other than 0")
    return number


def read_json(text: bytes | str, what: str) -> Any:
    """Return the JSON of an untrusted file."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    raise ValueError(f"{name!r:.100} comes twice")
                seen.add(name)
        return result

    try:
        if len(text) > LONGEST_JSON:
            raise ValueError(f"{len(text)} bytes are more than {LONGEST_JSON}")
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise NetworkError(f"Invalid JSON of {what} ({error!s:.200}): must be JSON. Write the file again.") from None


def read_sidecar(text: bytes | str, what: str) -> dict[str, object]:
    """Return metadata in a JSON object, which is a file beside the checkpoint or part of it."""
    metadata = read_json(text, what)
    if not isinstance(metadata, dict):
        raise NetworkError(f"{what} is a {type(metadata).__name__}: expected a JSON object. Write the file again.")
    return metadata


def read_properties(properties: Mapping[str, str]) -> dict[str, object]:
    """Return metadata of a file that holds texts by name: `metadata` as JSON, or without it each as JSON or text."""
    if "metadata" in properties:
        return read_sidecar(properties["metadata"], "metadata")
    result: dict[str, object] = {}
    for key, text in properties.items():
        try:
            result[key] = read_json(text, key)
        except NetworkError:
            result[key] = text
    return result


def write_json(metadata: Mapping[str, object]) -> str:
    """Return metadata as JSON."""
    try:
        return json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NetworkError(f"metadata: {error}: must be JSON. Use numbers, strings, lists and dicts.") from None
