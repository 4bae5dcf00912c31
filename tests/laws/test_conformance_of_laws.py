"""Conformance of every law of the catalogue: it is complete, and all its forms agree on random and edge inputs.

The forms are the scalar `wp.func` with its preparation, the generated C++ function, the component outside a plan, and
the float64 oracle, which is the reference.
"""

import dataclasses
import functools
import itertools
import math
import re

import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.laws.contract import catalogue, curve
from isaacsim.core.experimental.actuators.laws.contract import law as law_module
from isaacsim.core.experimental.actuators.laws.contract.catalogue import Law
from isaacsim.core.experimental.actuators.specs.configs import CONFIGS
from isaacsim.core.experimental.actuators.specs.fields import Parameter, conflicts, parameters_of
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS as STAGE_SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, Kind
from other_laws import replace_laws
from places import REPOSITORY
from refusals import cases, refused

try:
    from isaacsim.core.experimental.actuators.base.native import core
except ImportError:
    core = None
PACKAGE = REPOSITORY / "python" / "isaacsim" / "core" / "experimental" / "actuators"
TABLES = [
    ([0.0], [4.0]),
    ([-1.0, 1.0], [2.0, 6.0]),
    ([0.0, 1.0, 1.0, 2.0], [10.0, 10.0, 50.0, 50.0]),
    ([1.0, 1.0], [3.0, 8.0]),
    ([1.0, 1.0, 1.0], [3.0, 8.0, 5.0]),
    ([-2.0, -1.0, 0.5, 0.75, 3.0], [0.0, 5.0, 1.0, 1.0, 9.0]),
    ([0.0, 1e-38, 1.0], [0.0, 3e38, 1.0]),
]
SIGNALS = {kind.name: kind.takes for kind in KINDS.values()}


def is_written(law: Law) -> bool:
    """Return True if the file of a line defines its class; `missing` lists the others."""
    path = PACKAGE / "laws" / f"{law.module}.py"
    return path.exists() and f"\nclass {law.name}(" in path.read_text("utf-8")


def remembers_behind(law: Law) -> bool:
    """Return True for a stateful stage after the controller, which runs only in a plan."""
    return KINDS[law.kind].takes_effort and bool(law.state)


def runs_by_itself(law: Law) -> bool:
    """Return True if the component computes outside a plan and has all parameters of its law."""
    component = law.component
    if KINDS[law.kind].takes_effort and law_module.prepares_for_dt(component):
        return False
    kind = KINDS[law.kind]
    if kind.name == "delay":
        return False
    return not (law.curves or remembers_behind(law) or component.ASKS or kind.senses or kind.commands or kind.couples)


LAWS = [law for law in catalogue.laws() if law.kind in SIGNALS and is_written(law) and law.component.LAW is not None]
each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
each_with_curve = pytest.mark.parametrize(
    "law", [law for law in LAWS if law.curves and not remembers_behind(law)], ids=lambda law: law.name
)
each_by_itself = pytest.mark.parametrize("law", [law for law in LAWS if runs_by_itself(law)], ids=lambda law: law.name)
each_table = pytest.mark.parametrize("table", range(len(TABLES)))
needs_core = pytest.mark.skipif(core is None, reason="the native core was not built")
SIGNAL_EDGES = [0.0, -0.0, 1.0, -2.0, 1e-30, 3.5e12, math.inf, -math.inf, math.nan]
PARAMETER_EDGES = [0.0, -0.0, 1e-30, 1.0, 1e6, math.inf, -1.0, math.nan]


def inputs_of(law: Law) -> list[str]:
    """Inputs of the C++ function before the preparation of parameters; a curve is one value."""
    signals = SIGNALS[law.kind]
    timed = [] if "dt" in signals else ["dt"]
    return [*signals, *timed, *law.component.ASKS, *law.state, *named(law), *law.curves]


def named(law: Law) -> tuple[str, ...]:
    return tuple(f"given_{name}" if name in SIGNALS[law.kind] else name for name in law.parameters)


def described_of(law: Law) -> dict[str, Parameter]:
    described = parameters_of(law.config)
    return {name: described[parameter] for name, parameter in zip(named(law), law.parameters, strict=True)}


def results_of(law: Law) -> int:
    return law_module.results_of(law.component) + len(law.state)


def missing() -> list[str]:
    header = (REPOSITORY / "native" / "generated_laws.h").read_text("utf-8")
    page = "".join((REPOSITORY / "docs" / "api" / f"{room}.rst").read_text("utf-8") for room in ("specs", "laws"))
    lines = {law.config for law in catalogue.LAWS}
    files = {law.module for law in catalogue.laws()}
    files |= {catalogue.snake_case(name) for line in catalogue.LAWS for name in line.by_network.values()}
    found = [
        f"{config.__name__}: add a line to laws/contract/catalogue.py" for config in CONFIGS if config not in lines
    ]
    found += [
        f"laws/{path.name}: add a line to laws/contract/catalogue.py"
        for path in sorted((PACKAGE / "laws").glob("*_*.py"))
        if path.stem.partition("_")[0] in KINDS and path.stem not in files
    ]
    for law in catalogue.laws():
        if not is_written(law):
            found.append(f"{law.name}: write it in components/{law.module}.py")
            continue
        for name in (law.config.__name__, law.name):
            if f".. autoclass:: {name}\n" not in page:
                found.append(f"{name}: not in docs/api; run ./python.sh tools/generate.py")
    for law in LAWS:
        if law.name not in oracle.LAWS:
            found.append(f"{law.name}: write its published formula in tests/support/oracle.py")
        if f"struct {law.name} {{" not in header:
            found.append(f"{law.name}: not in native/generated_laws.h; run ./python.sh tools/generate.py")
        elif core is not None and law.name not in core.laws():
            found.append(f"{law.name}: not in the native core; build it anew")
    return found


def test_nothing_is_missing() -> None:
    assert not missing(), "\n".join(missing())


@cases(
    "taken, named",
    ("line", "PIDControlConfig: add a line"),
    ("line", "laws/controller_pid.py: add a line"),
    ("oracle", "ControllerPID: write its published formula"),
    ("file", "HeatClampingConfig: add a line"),
    ("class", "ClampingHeat: write it in components/clamping_heat.py"),
)
def test_what_is_missing_is_named(taken, named, monkeypatch) -> None:
    heat = dataclasses.make_dataclass("HeatClampingConfig", [], bases=(catalogue.configs.MaxEffortClampingConfig,))
    pid = next(law for law in catalogue.LAWS if law.name == "ControllerPID")
    if taken == "line":
        replace_laws(monkeypatch, tuple(law for law in catalogue.LAWS if law is not pid))
    elif taken == "oracle":
        monkeypatch.delitem(oracle.LAWS, "ControllerPID")
    elif taken == "file":
        monkeypatch.setitem(globals(), "CONFIGS", (*CONFIGS, heat))
    else:
        replace_laws(monkeypatch, (*catalogue.LAWS, Law(heat, "ClampingHeat")))
    assert any(line.startswith(named) for line in missing()), missing()


@each_law
def test_config_fits_the_component(law) -> None:
    if law.parameters:
        single = [name for name, one in parameters_of(law.config).items() if one.is_single and one.of_law]
        assert tuple(single) == law.parameters
    assert len(law.neutral) == len(law.parameters)


def same_list(one: Kind, other: Kind) -> bool:
    """Return True if the core numbers the laws of two kinds together."""
    lists = [(kind.takes_effort, kind.name == "controller") for kind in (one, other)]
    return lists[0] == lists[1]


@needs_core
@each_law
def test_twin_has_number_and_sizes_of_the_catalogue(law) -> None:
    """The numbers on the C++ side are the places in the canonical order."""
    told = core.laws()[law.name]
    assert told["kind"] == law.kind
    beside = [name for name, one in core.laws().items() if same_list(KINDS[one["kind"]], KINDS[law.kind])]
    assert beside[law.number] == law.name
    sizes = [told[name] for name in ("parameters", "states", "curves", "asked")]
    assert sizes == [len(one) for one in (law.parameters, law.state, law.curves, law.component.ASKS)]
    assert told["timed"] == law_module.prepares_for_dt(law.component)


def test_canonical_order() -> None:
    """Clamps of the host program stand before the plain limit, which is last, and after the curves of a motor."""
    names = [law.name for law in catalogue.LAWS if law.kind in ("clamping", "")]
    before = names[: names.index(None)]
    assert before[:3] == ["ClampingDCMotor", "ClampingDCMotorCutoff", "ClampingPositionBased"]
    assert names == [*before, None, "ClampingMaxEffort"]


@functools.cache
def kernel_of(law: Law) -> wp.Kernel:
    names = inputs_of(law)
    component, signals = law.component, SIGNALS[law.kind]
    at = {name: f"table[i, {column}]" for column, name in enumerate(names)}
    line, prepared = law_module.prepare_lines(component, signals, [at[name] for name in named(law)], at["dt"])
    taken = [at[name] for name in (*law_module.signals_of(component, signals), *law.state)]
    taken += [*prepared, *(at[name] for name in law.curves)]
    results = [f"result_{n}" for n in range(results_of(law))]
    stores = "; ".join(f"out[i, {n}] = {name}" for n, name in enumerate(results))
    text = f"""
def call(table: wp.array2d[float], out: wp.array2d[float]):
    i = wp.tid()
    {line}
    {", ".join(results)} = law({", ".join(taken)})
    {stores}
"""
    return law_module.generated_kernel("call", text, {"law": component.LAW, "prepare": component.PREPARE})


def by_warp(law: Law, table: np.ndarray) -> np.ndarray:
    out = wp.zeros((len(table), results_of(law)), dtype=wp.float32, device="cpu")
    wp.launch(kernel_of(law), len(table), [wp.array(table, dtype=wp.float32, device="cpu")], [out], device="cpu")
    return out.numpy()


def by_component(law: Law, table: np.ndarray) -> np.ndarray:
    count = len(table)
    column = {
        name: wp.array(np.ascontiguousarray(values), dtype=wp.float32, device="cpu")
        for name, values in zip(inputs_of(law), table.T, strict=True)
    }
    every = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    component = law.component(**{name: column[name] for name in law.parameters})
    component.finalize("cpu", count)
    efforts = wp.zeros(count, dtype=wp.float32, device="cpu")
    if KINDS[law.kind].takes_effort:
        signals = [column[name] for name in SIGNALS[law.kind]]
        component.modify_forces(signals[0], efforts, *signals[1:], every, every)
        return efforts.numpy()[:, None]
    signals = [column[name] for name in SIGNALS[law.kind][:5]]
    now, after = component.state(count, "cpu"), component.state(count, "cpu")
    for name in law.state:
        getattr(now, name).assign(column[name])
    component.compute(*signals, *[every] * 4, efforts, now, float(table[0, inputs_of(law).index("dt")]))
    component.update_state(now, after)
    return np.stack([efforts.numpy(), *(getattr(after, name).numpy() for name in law.state)], axis=1)


def by_oracle(law: Law, table: np.ndarray) -> np.ndarray:
    """Results of the published formula in float64."""
    with np.errstate(all="ignore"):
        return np.stack(oracle.LAWS[law.name or ""](*table.astype(np.float64).T), axis=1)


def flags_of(law: Law) -> dict[str, int]:
    described = described_of(law)
    chosen = {name: len(described[name].choices) for name in named(law) if described[name].choices}
    return {name: 2 for name in named(law) if described[name].type == "bool"} | chosen


# what numbers robots, joints, samples and steps
COUNTS = ("robot_number", "joint_number", "samples", "draws", "steps_left", "clock")


def whole_numbers_of(law: Law) -> list[str]:
    described = described_of(law)
    return [name for name in inputs_of(law) if name in COUNTS or (name in described and described[name].type == "int")]


def random_table(law: Law, rng: np.random.Generator, rows: int = 4000) -> np.ndarray:
    names = inputs_of(law)
    table = rng.normal(size=(rows, len(names))) * 10.0 ** rng.integers(-3, 4, size=(rows, len(names)))
    table[:, names.index("dt")] = rng.uniform(1e-4, 0.1)
    return put_in_range(law, table, rng)


def alike_table(law: Law, rng: np.random.Generator, rows: int = 4000) -> np.ndarray:
    """Numbers of one magnitude, steps of time too: each term of a law then counts, and each choice goes both ways."""
    table = rng.normal(size=(rows, len(inputs_of(law))))
    table[:, inputs_of(law).index("dt")] = rng.uniform(0.1, 2.0, rows)
    return put_in_range(law, table, rng)


def put_in_range(law: Law, table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    names, rows = inputs_of(law), len(table)
    described = described_of(law)
    for name in (*named(law), *law.curves):
        if name in law.curves or described[name].lower >= 0:
            table[:, names.index(name)] = np.abs(table[:, names.index(name)])
    for name in whole_numbers_of(law):
        most = described[name].upper if name in described else 2**20
        table[:, names.index(name)] = 1 + rng.integers(0, most, rows)
    for name in named(law):
        if described[name].upper < math.inf and described[name].type == "float":
            table[:, names.index(name)] %= described[name].upper
    # many parameters at once seldom go together, so half of those that switch something on do nothing
    for name, neutral in zip(named(law), law.neutral, strict=True):
        if law.kind in ("electrical", "supply") and described[name].fallback in (0.0, math.inf):
            table[rng.random(rows) < 0.5, names.index(name)] = neutral
    for name, values in flags_of(law).items():
        table[:, names.index(name)] = rng.integers(0, values, rows)
    if law.kind == "electrical":
        # what MuJoCo has not, and a second lag of the current
        for name in ("driver_resistance", "saturation_current", "bandwidth", "dead_zone"):
            theirs = table[:, names.index("discretization")] > 0
            table[theirs, names.index(name)] = law.neutral[law.parameters.index(name)]
        table[np.isfinite(table[:, names.index("bandwidth")]), names.index("inductance")] = 0.0
    return table.astype(np.float32)


def middle_row(law: Law) -> np.ndarray:
    flags, described = {*flags_of(law), *whole_numbers_of(law)}, described_of(law)
    row = [1.0 if name in flags else 0.5 + 0.25 * at for at, name in enumerate(inputs_of(law))]
    most = [0.75 * described[name].upper if name in described else math.inf for name in inputs_of(law)]
    row = np.minimum(row, most)
    if law.kind in ("electrical", "supply"):
        # those that cannot stand beside others do nothing
        own = {
            one: described[name].word(row[inputs_of(law).index(name)])
            for one, name in zip(law.parameters, named(law), strict=True)
        }
        refused = {one.partition(" = ")[0].lstrip(".") for one in conflicts(law.config(**own), "")}
        for name, parameter, neutral in zip(named(law), law.parameters, law.neutral, strict=True):
            row[inputs_of(law).index(name)] = neutral if parameter in refused else row[inputs_of(law).index(name)]
    return row.astype(np.float32)


def edge_table(law: Law) -> np.ndarray:
    names, numbers = inputs_of(law), (*named(law), *law.curves)
    blocks = []
    for pair in itertools.combinations(range(len(names)), 2):
        edges = [PARAMETER_EDGES if names[at] in numbers else SIGNAL_EDGES for at in pair]
        block = np.tile(middle_row(law), (len(edges[0]) * len(edges[1]), 1))
        block[:, pair] = [*itertools.product(*edges)]
        blocks.append(block)
    return np.concatenate(blocks)


def sparse_table(law: Law, rng: np.random.Generator) -> np.ndarray:
    """As `alike_table`, but of the numbers of a law only one or two, which are equal, are not those that do nothing."""
    table, names = alike_table(law, rng), inputs_of(law)
    neutral = dict(zip(named(law), law.neutral, strict=True))
    numbers = [name for name in neutral if name not in (*flags_of(law), *whole_numbers_of(law))]
    pairs = itertools.cycle(itertools.combinations_with_replacement(numbers, 2))
    for row, pair in zip(table, pairs, strict=False):
        given = row[names.index(pair[0])]
        row[[names.index(name) for name in numbers]] = [given if name in pair else neutral[name] for name in numbers]
    return table


def first_table(law: Law, rng: np.random.Generator) -> np.ndarray:
    table = alike_table(law, rng)
    for name in law.state:
        table[:, inputs_of(law).index(name)] = law.component.START.get(name, 0.0)
    return table


TABLE_OF = {
    "random": random_table,
    "alike": alike_table,
    "sparse": sparse_table,
    "first": first_table,
    "edges": lambda law, _: edge_table(law),
}
each_kind_of_table = pytest.mark.parametrize("kind", TABLE_OF)


def in_range(law: Law, table: np.ndarray) -> np.ndarray:
    good = np.ones(len(table), bool)
    described = described_of(law)
    # a state may be unset after a reset, which sets all of them
    start = {name: law.component.START.get(name, 0.0) for name in law.state}
    unset = [name for name, value in start.items() if math.isnan(value)]
    states = table[:, [inputs_of(law).index(name) for name in start]]
    is_first = np.isclose(states, list(start.values()), rtol=0.0, atol=0.0, equal_nan=True).all(axis=1)
    for name, values in zip(inputs_of(law), table.T, strict=True):
        if name in named(law):
            is_whole = described[name].type == "int"
            # each bit pattern once: edges are few
            bits, which = np.unique(values.copy().view(np.int32), return_inverse=True)
            accepted = [
                described[name].accepts(int(value) if is_whole and value.is_integer() else value)
                for value in bits.view(np.float32).tolist()
            ]
            good &= np.array(accepted)[which]
        elif name in law.curves:
            good &= np.isfinite(values) & (values >= 0)
        else:
            good &= (is_first & (name in unset)) | (np.isfinite(values) & ((values > 0) | (name != "dt")))
        if name in COUNTS:
            whole = (values >= 0) & (values < 2**24) & (values == np.rint(values))
            good &= whole | (is_first & (name in unset))
        if name == "drawn":
            # what was drawn stays where nothing is drawn any longer
            good &= (values == 0) | (table[:, inputs_of(law).index("random_steps")] > 0)
    # the product of two of them vanishes in single precision
    return good & (((table != 0) & (np.abs(table) < 1e-20)).sum(axis=1) < 2)


def assert_same_bits(one: np.ndarray, other: np.ndarray) -> None:
    differ = (one.view(np.int32) != other.view(np.int32)) & ~(np.isnan(one) & np.isnan(other))
    assert not differ.any(), f"rows {np.flatnonzero(differ.any(axis=1))[:5]}: {one[differ][:5]} != {other[differ][:5]}"


def assert_right(law: Law, table: np.ndarray, results: np.ndarray) -> None:
    """Require 1e-5 of the result, or what a few roundings of the inputs make of it."""
    good = in_range(law, table)
    table, results = table[good].astype(np.float64), results[good]
    assert len(table)
    expected = by_oracle(law, table)
    names = inputs_of(law)
    # float64 rounds, too
    moved = np.zeros_like(expected) + 2.0**-52 * np.abs(np.nan_to_num(table)).max(axis=1, keepdims=True)
    begun = table.copy()
    if "setpoint" in names:
        unset = np.isnan(table[:, names.index("setpoint")])
        begun[unset, names.index("setpoint")] = table[unset, names.index("position")]
    # a state that goes on from what it was is rounded as that
    for column, name in enumerate(law.state, expected.shape[1] - len(law.state)):
        moved[:, column] += 2.0**-24 * np.abs(begun[:, names.index(name)])
    if law.name == "FeedbackEncoder":
        # of a filtered velocity, that of the one before; of noise, that of the sum that it is part of
        moved[:, 1] += 2.0**-24 * np.abs(table[:, names.index("last_velocity")])
        for step in (-3e-6, 3e-6):
            other = table.copy()
            other[:, names.index("bias")] += step * table[:, names.index("noise")]
            with np.errstate(all="ignore"):
                moved = np.fmax(moved, np.abs(by_oracle(law, other) - expected))
    if law.kind == "electrical":
        # of a power, what flows: the loss, and what the velocities at both ends of the step would take
        after = expected[:, 0] * table[:, names.index("velocity")]
        moved[:, 3] += 2.0**-22 * (np.abs(after) + np.abs(expected[:, 4] * expected[:, 0] ** 2))
    if "dry_effort" in law.state:
        # the dry friction is taken from a load that is estimated, and added to it again
        told = "load_is_whole" in names
        is_estimated = table[:, names.index("load_is_whole")] <= 0.5 if told else 1.0
        for step in (-(2.0**-22), 2.0**-22):
            other = table.copy()
            other[:, names.index("load" if told else "previous_effort")] += (
                step * is_estimated * table[:, names.index("dry_effort")]
            )
            with np.errstate(all="ignore"):
                moved = np.fmax(moved, np.abs(by_oracle(law, other) - expected))
    # the rounding error of a sum is one of its terms
    terms = np.abs(table[:, [names.index(name) for name in law.state]]).max(axis=1, initial=0)
    for column, name in enumerate(names):
        for step in (-(2.0**-21), 2.0**-21):
            other = table.copy()
            if name.endswith("_rest"):
                other[:, column] += step * terms
            else:
                other[:, column] = begun[:, column] * (1 + step)
            with np.errstate(all="ignore"):
                moved = np.fmax(moved, np.abs(by_oracle(law, other) - expected))
    # beyond the range of float32 a result is infinite, in float64 only nearly so
    sane = np.abs(expected) < 1e37
    wrong = sane & ~(np.abs(results - expected) <= 1e-5 * np.abs(expected) + 4 * moved + 1e-29)
    assert not wrong.any(), f"{table[wrong.any(axis=1)][:3]}: {results[wrong][:3]} != {expected[wrong][:3]}"


@each_law
@each_kind_of_table
def test_law_agrees_with_the_oracle(law, kind, rng) -> None:
    table = TABLE_OF[kind](law, rng)
    assert_right(law, table, by_warp(law, table))


@needs_core
@each_law
@each_kind_of_table
def test_twin_has_the_bits_of_the_law(law, kind, rng) -> None:
    table = TABLE_OF[kind](law, rng)
    column = dict(zip(inputs_of(law), (np.ascontiguousarray(values) for values in table.T), strict=True))
    prepared = core.prepare(law.name, [column[name] for name in (*named(law), "dt")])
    before = [name for name in column if name not in (*named(law), *law.curves)]
    taken = [*(column[name] for name in before), *prepared, *(column[name] for name in law.curves)]
    assert_same_bits(np.stack(core.law(law.name, taken), axis=1), by_warp(law, table))


@each_by_itself
def test_component_alone_has_the_bits_of_the_law(law, rng) -> None:
    table = random_table(law, rng)
    assert_same_bits(by_component(law, table), by_warp(law, table))


@pytest.mark.parametrize(
    ("law", "name"),
    [(law, name) for law in LAWS for name in ("MOTOR", "FELT", "TICK", "END") if getattr(law.component, name)],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
@pytest.mark.parametrize("kind", ["random", "alike"])
def test_other_function_agrees_with_its_formula(law, name, kind, rng) -> None:
    component, signals = law.component, SIGNALS[law.kind]
    column = dict(zip(inputs_of(law), TABLE_OF[kind](law, rng).T, strict=True))
    count = len(law_module.prepared_of(component, signals))
    before = law_module._expected_arguments(component, signals)[name][:-count]
    column |= {one: rng.normal(size=4000).astype(np.float32) for one in before if one not in column}
    names = list(column)
    at = {one: f"table[i, {place}]" for place, one in enumerate(names)}
    line, prepared = law_module.prepare_lines(component, signals, [at[one] for one in named(law)], at["dt"])
    taken = [one for one in before if name != "MOTOR" or one not in component.ASKS]
    formula = oracle.MOTORS[law.name] if name == "MOTOR" else oracle.OTHERS[law.name, name]

    def expected(table: np.ndarray) -> np.ndarray:
        given = dict(zip(names, table.T, strict=True))
        with np.errstate(all="ignore"):
            return np.stack(np.broadcast_arrays(*formula(*(given[one] for one in (*taken, *named(law))))), axis=1)

    table = np.stack(list(column.values()), axis=1)
    wanted = expected(table.astype(np.float64))
    results = [f"result_{number}" for number in range(wanted.shape[1])]
    stores = "; ".join(f"out[i, {number}] = {one}" for number, one in enumerate(results))
    text = f"""
def call(table: wp.array2d[float], out: wp.array2d[float]):
    i = wp.tid()
    {line}
    {", ".join(results)} = other({", ".join([*(at[one] for one in before), *prepared])})
    {stores}
"""
    functions = {"other": getattr(component, name), "prepare": component.PREPARE}
    kernel = law_module.generated_kernel("call", text, functions)
    out = wp.zeros(wanted.shape, dtype=wp.float32, device="cpu")
    wp.launch(kernel, len(table), [wp.array(table, dtype=wp.float32, device="cpu")], [out], device="cpu")
    # terms that cancel leave their rounding
    moved = np.abs(expected(table) - wanted)
    for place, step in itertools.product(range(len(names)), (-(2.0**-21), 2.0**-21)):
        other = table.astype(np.float64)
        other[:, place] *= 1 + step
        moved = np.fmax(moved, np.abs(expected(other) - wanted))
    off = np.abs(out.numpy() - wanted)
    assert (np.isnan(wanted) | (off <= 1e-5 * np.abs(wanted) + 4 * moved)).all()
    assert np.isfinite(wanted).all(axis=1).any()


def test_check_against_the_oracle_can_fail(rng) -> None:
    law = next(law for law in LAWS if law.name == "ControllerPD")
    table = random_table(law, rng)
    wrong = table.copy()
    wrong[:, inputs_of(law).index("kp")] *= 1.001
    refused(AssertionError, lambda: assert_right(law, table, by_warp(law, wrong)))


@each_law
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_law_hands_on_what_is_not_finite(law, value, rng) -> None:
    """A controller, of each signal that it reads; a limit or a winding, NaN: nothing else comes to it."""
    if KINDS[law.kind].senses or KINDS[law.kind].commands or not SIGNALS[law.kind] or law.component.TICK is not None:
        pytest.skip("it may hold what it had, and a signal that is not finite does not come to it")
    header = (REPOSITORY / "native" / "generated_laws.h").read_text("utf-8")
    found = re.search(rf"struct {law.name} .*?kReads\[\] = {{(.*?)}}", header, re.DOTALL)
    assert found is not None
    signals = [name for name in SIGNALS[law.kind] if name != "dt"]
    for column, (name, reads) in enumerate(zip(signals, found[1].split(", "), strict=True)):
        table = random_table(law, rng, 500)
        odd = ~np.isfinite(by_warp(law, table)) if not KINDS[law.kind].gives else np.zeros((len(table), 1), bool)
        table[:, column] = value
        if law.kind in ("clamping", "electrical", "thermal", "supply") and math.isinf(value):
            continue
        for at, over in enumerate(law.curves.values(), table.shape[1] - len(law.curves)):
            if name == ("position" if over == "position" else "velocity"):
                assert np.isnan(curve_by_warp(curve.prepare_curve(*TABLES[1]), table[:, column])).all()
                table[:, at] = math.nan
        # of a law that only publishes signals, any of its results
        results = by_warp(law, table)
        finite = (np.isfinite(results[:, :1] if KINDS[law.kind].gives else results) | odd).all(axis=1)
        assert not finite.any() if reads == "true" else finite.all(), name


@pytest.mark.parametrize("law", [law for law in LAWS if law.parameters], ids=lambda law: law.name)
def test_parameters_that_may_be_authored_are_no_fault(law) -> None:
    # what is next to nothing has inverses beyond all numbers
    edges = [(inputs_of(law).index(name), edge) for name in named(law) for edge in PARAMETER_EDGES if edge != 1e-30]
    table = np.tile(middle_row(law), (len(edges), 1))
    for row, (column, edge) in zip(table, edges, strict=True):
        row[column] = edge
    tables = {name: [0.0] for name, one in parameters_of(law.config).items() if not one.is_single}
    parameters = [[row[inputs_of(law).index(name)] for name in named(law)] for row in table]
    configs = [law.config(**tables, **dict(zip(law.parameters, row, strict=True))) for row in parameters]
    fits = [not conflicts(config, "") for config in configs]
    good = table[in_range(law, table) & fits]
    results = by_warp(law, good)
    assert np.isfinite(results).all(), good[~np.isfinite(results).all(axis=1)]
    assert len(good)


@pytest.mark.parametrize(
    "law",
    [law for law in LAWS if law.parameters and not law.curves and KINDS[law.kind].gives],
    ids=lambda law: law.name,
)
def test_neutral_values_do_nothing(law, rng) -> None:
    table = random_table(law, rng)
    names = inputs_of(law)
    for name, value in zip(named(law), law.neutral, strict=True):
        table[:, names.index(name)] = value
    for name in (name for name in law.component.ASKS if STAGE_SIGNALS[name].is_of_engine):
        # the effort of a motor that falls with the velocity, which friction completes
        table[:, names.index(name)] = 0.0
    given = "effort" if KINDS[law.kind].takes_effort else "feedforward"
    given = "position" if KINDS[law.kind].senses else "position_target" if KINDS[law.kind].commands else given
    np.testing.assert_array_equal(by_warp(law, table)[:, 0], table[:, names.index(given)])


@functools.cache
def curve_kernel() -> wp.Kernel:
    text = """
def walk(rows: wp.array2d[float], positions: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    point = rows[0, 0]
    value = rows[0, 1]
    slope = wp.float32(0.0)
    for row in range(rows.shape[0]):
        point, value, slope = curve_row(
            positions[i], point, value, slope, rows[row, 0], rows[row, 1], rows[row, 2]
        )
    out[i] = curve_value(positions[i], point, value, slope)
"""
    functions = {"curve_row": curve.curve_row, "curve_value": curve.curve_value}
    return law_module.generated_kernel("walk", text, functions)


def curve_by_warp(rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in (rows, positions)]
    out = wp.zeros(len(positions), dtype=wp.float32, device="cpu")
    wp.launch(curve_kernel(), len(positions), arrays, [out], device="cpu")
    return out.numpy()


def positions_of(points: list[float], rng: np.random.Generator) -> np.ndarray:
    """At every row, one float before and after, in between and far out; a number that is no multiple of four."""
    marks = np.array(points, np.float32)
    after, before = np.nextafter(marks, np.float32(np.inf)), np.nextafter(marks, np.float32(-np.inf))
    others = np.array([0.0, -0.0, 1e30, -1e30, math.inf, -math.inf, math.nan], np.float32)
    found = np.concatenate([marks, after, before, rng.uniform(-4, 4, 300).astype(np.float32), others])
    return found[: len(found) - len(found) % 4 - 1] if len(found) % 4 == 0 else found


@each_table
def test_curve_agrees_with_the_oracle_and_its_twin(table, rng) -> None:
    check_curve(TABLES[table], rng)


def check_curve(table: tuple[list[float], list[float]], rng: np.random.Generator) -> None:
    """Scalar functions, twin and oracle at all positions of interest."""
    rows = curve.prepare_curve(*table)
    positions = positions_of(table[0], rng)
    values = curve_by_warp(rows, positions)
    if core is not None:
        assert_same_bits(core.curve(rows, positions)[:, None], values[:, None])
    finite = np.isfinite(positions)
    assert np.isnan(values[~finite]).all()
    if table[0][1:2] == [1e-38]:
        # a slope beyond float32 is a step
        assert np.isfinite(values[finite]).all()
        return
    stored = [[float(np.float32(number)) for number in column] for column in table]
    expected = np.array([oracle.table_limit(float(q), *stored) for q in positions[finite]])
    np.testing.assert_allclose(values[finite], expected, rtol=1e-5, atol=1e-5)
    # at the rows themselves nothing is rounded away: the first of its position
    first = [stored[1][stored[0].index(point)] for point in stored[0]]
    np.testing.assert_allclose(values[: len(first)], first, rtol=1e-6, atol=1e-6)


@each_with_curve
@each_table
def test_component_with_a_curve_has_the_bits_of_its_parts(law, table, rng) -> None:
    points, values = TABLES[table]
    positions = positions_of(points, rng)
    efforts = (rng.normal(size=len(positions)) * 10).astype(np.float32)
    component = law.component.from_config(law.config(points, values), len(positions), "cpu")
    component.finalize("cpu", len(positions))
    arrays = [wp.array(values, dtype=wp.float32, device="cpu") for values in (efforts, positions)]
    every = wp.array(np.arange(len(positions)), dtype=wp.uint32, device="cpu")
    out = wp.zeros(len(positions), dtype=wp.float32, device="cpu")
    component.modify_forces(arrays[0], out, arrays[1], arrays[1], every, every)
    # position and velocity are the same numbers
    columns = {"effort": efforts, "position": positions, "velocity": positions}
    columns |= {name: curve_by_warp(curve.prepare_curve(*component.curve(name)), positions) for name in law.curves}
    columns |= {name: np.full_like(positions, component.read(name)[0]) for name in law.parameters}
    columns |= {name: np.full_like(positions, STAGE_SIGNALS[name].neutral) for name in law.component.ASKS}
    rows = np.stack([columns.get(name, np.zeros_like(positions)) for name in inputs_of(law)], axis=1)
    assert_same_bits(out.numpy()[:, None], by_warp(law, rows))


@pytest.mark.parametrize("law", [law for law in LAWS if law.kind == "controller"], ids=lambda law: law.name)
def test_config_says_the_gains_at_the_joint(law) -> None:
    dt, small = 0.01, 1e-3
    given = {name: 0.5 + 0.25 * number for number, name in enumerate(law.parameters)}
    gains = law.config(**given).gains_at_joint()
    if gains is None:
        return
    table = np.zeros((4, len(inputs_of(law))))
    table[:, [inputs_of(law).index(name) for name in given]] = list(given.values())
    table[:, inputs_of(law).index("dt")] = dt
    # on one side of the target, where a startup force jumps
    rows = [("position", small), ("position", 3 * small), ("velocity", -small), ("velocity", small)]
    for row, (name, value) in enumerate(rows):
        table[row, inputs_of(law).index(name)] = value
    near, far, slower, faster = by_oracle(law, table)[:, 0]
    kp, kd, ki = gains
    np.testing.assert_allclose([near - far, slower - faster], [2 * small * (kp + ki * dt), 2 * small * kd])


@pytest.mark.parametrize(
    "law",
    [law for law in LAWS if KINDS[law.kind].takes_effort and not KINDS[law.kind].couples],
    ids=lambda law: law.name,
)
def test_config_says_what_driving_efforts_do_not_exceed(law) -> None:
    """The published formula stays within these bounds, whatever is asked for; motors may brake with more."""
    table = random_table(law, np.random.default_rng(5))
    columns = dict(zip(inputs_of(law), table.T, strict=True))
    # a table of limits says its values, of two tables the one on the side of the effort
    efforts = by_oracle(law, table)[:, 0]
    if KINDS[law.kind].is_limit and law.curves:
        sides = [columns[name] for name in law.curves]
        bounds = {"table": np.where(efforts > 0, sides[0], sides[-1])}
    else:
        tables = {name: [0.0] for name, one in parameters_of(law.config).items() if not one.is_single}
        bounds = law.config(
            **tables | {name: columns[column] for name, column in zip(law.parameters, named(law), strict=True)}
        ).bounds("effort")
    most = np.minimum.reduce([*bounds.values()], initial=np.inf)
    drives = efforts * columns["velocity"] >= 0
    assert drives.any() and (np.abs(efforts) <= most)[drives].all()
