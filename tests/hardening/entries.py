"""Every entry of the native core, with arguments of odd kinds, shapes, strides, sizes and values.

    ./python.sh tests/hardening/entries.py --count 40000 --seed 18
    tools/sanitize.sh --entries                            # the same on a core built with sanitizers

A call either works, and everything that follows works too, or it is refused with TypeError or ValueError (MemoryError
where a size is honest and too large, RuntimeError for what is not bound yet). It never ends the process, never hangs,
and never writes beside the arrays it was given. Child processes do the calls: of one that dies the seed, the call and
its arguments are printed.
"""

import argparse
import faulthandler
import os
import resource
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import core_objects  # noqa: E402
from isaacsim.core.experimental.actuators.base.native import core  # noqa: E402

CHUNK = 500
# of memory for a child, and seconds for one call with what follows
MOST, LONG = 4 << 30, 60
# numbers beside each array that is handed over, to see whether anything is written there
BESIDE = 16
MARK = np.float32(12345.678).view(np.int32)
INTEGERS = [-1, 0, 1, 2, 3, 7, 255, 65536, 65537, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 10**30]
NUMBERS = [0.0, -0.0, -1.0, 1e-45, 3.5e38, 1e308, np.nan, np.inf, -np.inf, 10**400]
TYPES = ["f2", "f8", "c8", "i1", "u1", "i4", "u4", "i8", "u8", "?", ">f4", ">i4", "O", "U3", "S4", "M8[s]", "f4,f4"]


class Odd:
    def __init__(self, error: type[Exception] | None = None) -> None:
        self.error = error

    def __getattr__(self, name: str):
        raise (self.error or AttributeError)(name)


def empty(kind):
    return kind.__new__(kind)


def others(rng: np.random.Generator):
    made: list[Callable] = [
        lambda: None,
        lambda: INTEGERS[rng.integers(len(INTEGERS))],
        lambda: NUMBERS[rng.integers(len(NUMBERS))],
        lambda: bool(rng.integers(2)),
        lambda: ["", "x", "\0", "\udc80", "ControllerPD", "ClampingDCMotor", "lstm", "é" * 1000][rng.integers(8)],
        lambda: [b"", b"\xff"][rng.integers(2)],
        lambda: [[], (), {}, set(), [[]], [None] * 7, range(3), "abc"][rng.integers(8)],
        object,
        Odd,
        lambda: type(core_objects.Bench().plan),
        lambda: core_objects.Bench().state,
        # made without what its class needs
        lambda: empty([core.Plan, core.State, core.Tape, core.Network, core.Calls, core.Gradients][rng.integers(6)]),
        lambda: np.zeros((1,) * int(rng.integers(0, 6)), np.float32),
        lambda: np.float32(1.0),
    ]
    return made[rng.integers(len(made))]()


def odd_array(rng: np.random.Generator, array: np.ndarray):
    """The array, changed in one way: what it is made of, its shape, its strides, its numbers."""
    kind = int(rng.integers(16))
    size = array.shape[int(rng.integers(array.ndim))] if array.ndim else 0
    axis = int(rng.integers(array.ndim)) if array.ndim else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind == 0:
                return array.astype(TYPES[rng.integers(len(TYPES))])
            if kind == 1:
                return np.take(array, range(max(size - int(rng.integers(1, 3)), 0)), axis)
            if kind == 2:
                return np.concatenate([array, array], axis)
            if kind == 3:
                return np.concatenate([array, array], axis)[tuple([slice(None)] * axis + [slice(None, None, 2)])]
            if kind == 4:
                return np.flip(array, axis)
            if kind == 5:
                return np.asfortranarray(array).T if rng.integers(2) else np.asfortranarray(array)
            if kind == 6:
                return np.broadcast_to(array.flat[0], array.shape)
            if kind == 7:
                fixed = array.copy()
                fixed.flags.writeable = False
                return fixed
            if kind == 8:
                memory = np.zeros(array.nbytes + 8, np.uint8)
                off = memory[1 : 1 + array.nbytes].view(array.dtype).reshape(array.shape)
                off[...] = array
                return off
            if kind == 9:
                return array.reshape(-1) if array.ndim > 1 else array[None]
            if kind == 10:
                return np.ma.masked_array(array, mask=rng.random(array.shape) < 0.5)
            if kind == 11:
                return array.tolist()
            if kind == 12:
                return array[..., None] if rng.integers(2) else array.reshape(-1)[:1].reshape(())
            if kind == 13:
                # rows of a wider one, in the gaps of which nothing may be written
                return beside(array, rng)
            changed = array.copy()
            values = NUMBERS[:-1] if array.dtype.kind == "f" else [one for one in INTEGERS if abs(one) < 2**63]
            for _ in range(int(rng.integers(1, 4))):
                if changed.size:
                    value = np.array(values[rng.integers(len(values))]).astype(array.dtype)
                    changed.flat[int(rng.integers(changed.size))] = value
            return changed
        except (ValueError, TypeError, IndexError, RuntimeError):
            return others(rng)


# memory around arrays, and where in it nothing may be written
FENCED: list[tuple[np.ndarray, np.ndarray]] = []


def beside(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A copy of an array, between numbers that have to stay; its rows are farther apart now and then."""
    if array.dtype.itemsize != 4 or array.ndim not in (1, 2):
        return array
    rows, columns = array.shape if array.ndim == 2 else (1, array.shape[0])
    wide = columns + (BESIDE if rng.integers(2) else 0)
    fence = np.full(rows * wide + 2 * BESIDE, MARK, np.int32)
    inside = fence[BESIDE : BESIDE + rows * wide].reshape(rows, wide).view(array.dtype)[:, :columns]
    inside[...] = array.reshape(rows, columns)
    watched = np.ones(fence.size, bool)
    watched[BESIDE : BESIDE + rows * wide].reshape(rows, wide)[:, :columns] = False
    FENCED.append((fence, watched))
    return inside[0] if array.ndim == 1 else inside


def fences_stand() -> bool:
    return all((fence[watched] == MARK).all() for fence, watched in FENCED)


def changed(rng: np.random.Generator, value):
    if isinstance(value, np.ndarray):
        return odd_array(rng, value) if rng.random() < 0.85 else others(rng)
    if isinstance(value, (list, tuple)) and rng.random() < 0.85:
        items = list(value)
        kind = int(rng.integers(8)) if items else 7
        if kind == 0:
            items.pop(int(rng.integers(len(items))))
        elif kind == 1:
            items.insert(int(rng.integers(len(items) + 1)), items[int(rng.integers(len(items)))])
        elif kind == 7:
            items.append(others(rng))
        else:
            at = int(rng.integers(len(items)))
            items[at] = changed(rng, items[at])
        return type(value)(items)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return others(rng)
    if isinstance(value, int) and rng.random() < 0.8:
        return INTEGERS[rng.integers(len(INTEGERS))]
    if isinstance(value, float) and rng.random() < 0.8:
        return NUMBERS[rng.integers(len(NUMBERS))]
    return others(rng)


def fenced(rng: np.random.Generator, value):
    if isinstance(value, np.ndarray):
        inside = beside(value, rng) if value.ndim == 1 or value.flags.c_contiguous else value
        # what must be contiguous stays so
        return inside if inside.flags.c_contiguous else np.ascontiguousarray(inside)
    if type(value) in (list, tuple):
        return type(value)(fenced(rng, one) for one in value)
    return value


def described(value) -> str:
    if isinstance(value, np.ndarray):
        flags = f"{'' if value.flags.writeable else ', read-only'}"
        return f"{type(value).__name__}({value.dtype}, {value.shape}, strides {value.strides}{flags})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}[{', '.join(described(one) for one in value[:9])}]"
    return ascii(value)[:80]


def check(seed: int, number: int) -> str:
    rng = np.random.default_rng([seed, number])
    FENCED.clear()
    known = core_objects.entries()
    name = list(known)[int(rng.integers(len(known)))]
    entry = known[name]()
    arguments = fenced(rng, entry.arguments)
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(arguments)))
        arguments[at] = changed(rng, arguments[at])
    if rng.random() < 0.03:
        arguments = arguments[:-1] if rng.integers(2) else [*arguments, others(rng)]
    text = f"{name}({', '.join(described(one) for one in arguments)})"
    print(f"{number} {text}", flush=True)
    outcome = "worked"
    made = None
    try:
        made = entry.call(*arguments)
    except (TypeError, ValueError, MemoryError) as error:
        outcome = f"refused, {type(error).__name__}"
    except RuntimeError as error:
        outcome = "refused, not bound" if " first." in str(error) else f"WRONG: {error!r}"
    except Exception as error:
        outcome = f"WRONG: {error!r}"
    try:
        if outcome == "worked":
            entry.after(made)
        elif name.startswith("Plan."):
            # what was refused has broken nothing
            entry.after(None)
    except (TypeError, ValueError, MemoryError):
        outcome += ", then refused"
    except RuntimeError as error:
        outcome = f"{outcome}, then not bound" if " first." in str(error) else f"WRONG later: {error!r}"
    except Exception as error:
        outcome = f"WRONG later: {error!r}"
    return outcome if fences_stand() else "WRONG: written beside an array"


def run_child(seed: int, first: int, count: int) -> None:
    """Calls with these numbers; a line before and one after each."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    for number in range(first, first + count):
        faulthandler.dump_traceback_later(LONG, exit=True)
        print(f"= {check(seed, number)}", flush=True)
        faulthandler.cancel_dump_traceback_later()


def run_chunk(seed: int, first: int, count: int) -> tuple[Counter[str], list[str]]:
    """Outcomes of a chunk; a child that dies is noted, and another one goes on behind it."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    end = first + count
    while first < end:
        done = subprocess.run(
            [sys.executable, __file__, "--child", str(seed), str(first), str(end - first)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        call = "nothing"
        for line in done.stdout.splitlines():
            if line.startswith("= "):
                outcome = line[2:]
                outcomes["wrong" if outcome.startswith("WRONG") else outcome] += 1
                if outcome.startswith("WRONG"):
                    wrong.append(f"{outcome}\n    {call}")
                first += 1
            else:
                call = line
        if first < end:
            # a sanitizer ends the process where there is no memory
            if any(words in done.stderr for words in ("allocation-size-too-big", "out-of-memory", "out of memory")):
                outcomes["no memory"] += 1
            else:
                outcomes["died"] += 1
                wrong.append(f"DIED with {done.returncode}\n    {call}\n{done.stderr[:3000]}")
            first += 1
    return outcomes, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if core is None:
        print("the native core was not built", file=sys.stderr)
        return 2
    print(f"seed {options.seed}, {options.count} calls of {len(core_objects.entries())} entries of {core.__file__}")
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    chunks = [(first, min(CHUNK, options.count - first)) for first in range(0, options.count, CHUNK)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for found, lines in pool.map(lambda chunk: run_chunk(options.seed, *chunk), chunks):
            outcomes += found
            wrong += lines
    for outcome, count in outcomes.most_common():
        print(f"{count:8}  {outcome}")
    for line in wrong[:40]:
        print(f"\n{line}")
    print(f"\n{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(*map(int, sys.argv[2:5]))
    else:
        sys.exit(main())
