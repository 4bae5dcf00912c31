"""Random `NewtonActuator` prims: what each says is read as authored or refused, and what is left out is named.

    ./python.sh tests/hardening/prims.py --count 100000 --seed 1

Prims and rules are those of `tests/files/usd/test_hostile_prims.py`; here schemas are misspelt besides, and values
change over time. Counted are prims read *wrong*, those of which something is left out without a word (*silent*), errors
of another kind (*foreign*), and chunks of prims that *crashed* or *hung*. Exits with 1 when there are any.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "files/usd"))
import test_hostile_prims as hostile
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import parse_prim

# prims of a process, for USD keeps a layer for each set of schemas; and how long they may take [s]
CHUNK, LIMIT = 1000, 120.0
# prims shown of each kind of failure
SHOWN = 3
BAD = ("wrong", "silent", "foreign", "crashed", "hung")
LOOK_ALIKE = str.maketrans("eoPAICpac", "\u0435\u043e\u0420\u0410\u0406\u0421\u0440\u0430\u0441")
INVISIBLE = ("\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060")
NEAR = ({"NewtonPDControlAPI", "NewtonPIDControlAPI"},)


def misspelt(rng: np.random.Generator, schema: str) -> str:
    place = int(rng.integers(1, len(schema)))
    letter = schema[place]
    return str(
        rng.choice(
            [
                schema[0].lower() + schema[1:],
                schema.upper(),
                schema.lower(),
                schema.removesuffix("API"),
                schema.removesuffix("API") + "Api",
                schema[:place] + schema[place + 1 :],
                schema[:place] + letter + schema[place:],
                schema[:place] + "x" + schema[place + 1 :],
                schema[:place] + letter.translate(LOOK_ALIKE) + schema[place + 1 :],
                schema.translate(LOOK_ALIKE),
                schema[:place] + str(rng.choice(INVISIBLE)) + schema[place:],
                schema[:place] + " " + schema[place:],
                f"{schema}\t",
                schema.removeprefix("Newton"),
                f"Newton:{schema.removeprefix('Newton')}",
                f"newton:{schema}",
                f"{schema}:{schema}",
                schema[:place] + str(rng.choice(list(":_-.:"))) + schema[place:],
                "_".join(re.findall("[A-Z]+(?![a-z])|[A-Z][a-z]+", schema)).lower(),
                f"{schema}{rng.integers(10)}",
                schema.replace("Newton", "Actuator", 1),
                schema.removeprefix("Newton").replace("API", ""),
            ]
        )
    )


def odd_prim(rng: np.random.Generator, name: str) -> tuple[hostile.Prim, dict[str, str]]:
    prim = hostile.any_prim(rng, name)
    meant: dict[str, str] = {}
    if rng.random() < 0.3:
        schema = str(rng.choice(list(hostile.SCHEMAS)))
        wrong = misspelt(rng, schema)
        if wrong not in hostile.SCHEMAS:
            meant[wrong] = schema
            prim.schemas.insert(int(rng.integers(len(prim.schemas) + 1)), wrong)
    with_value = [
        opinion
        for opinions in prim.properties.values()
        for opinion in opinions
        if opinion and opinion.type and not opinion.spline
        if opinion.default is not hostile.NOTHING and opinion.default is not hostile.BLOCK
    ]
    if with_value and rng.random() < 0.2:
        with_value[int(rng.integers(len(with_value)))].samples = True
    return prim, meant


def said_of(prim: hostile.Prim, meant: dict[str, str]) -> list[tuple[str, ...]]:
    applied = [schema for schema in prim.schemas if schema not in prim.deleted]
    wanted: list[tuple[str, ...]] = []
    for schema in applied:
        if schema in meant:
            text = schema.encode("unicode_escape").decode("ascii").replace(" ", r"\x20")
            either = next((pair for pair in NEAR if meant[schema] in pair), {meant[schema]})
            wanted.append((f"applies {text}, which has no effect", *(f"Did you mean {one}?" for one in either)))
        elif schema in hostile.UNKNOWN:
            wanted.append((f"applies {schema}, which has no effect",))
    read = {name for schema in applied if schema in hostile.SCHEMAS for name in hostile.SCHEMAS[schema][1]}
    for name, opinions in prim.properties.items():
        stack = [opinion for opinion in opinions if opinion]
        first = next((one for one in stack if one.samples or one.spline or one.default is not hostile.NOTHING), None)
        if name not in read:
            wanted.append((f".newton:{name} (", "no schema applied here has it"))
        elif first is not None and (first.samples or first.spline):
            # accepted, so that there is a default value
            wanted.append((f".newton:{name} (", "beside its default value"))
    return wanted


def is_said(wanted: tuple[str, ...], lines: list[str]) -> bool:
    first, *others = wanted
    return any(first in line and (not others or any(other in line for other in others)) for line in lines)


def check_chunk(seed: int, chunk: int, count: int) -> dict:
    rng = np.random.default_rng([seed, chunk])
    counts: Counter[str] = Counter()
    examples: list[str] = []

    def note(kind: str, prim, why: object) -> None:
        counts[kind] += 1
        if counts[kind] <= SHOWN:
            text = "".join(spec.GetAsText() for spec in prim.GetPrimStack())
            examples.append(f"{kind}, seed {seed}, chunk {chunk}: {why}\n{text}")

    for number in range(0, count, hostile.BATCH):
        drawn = [odd_prim(rng, f"p{number + index}") for index in range(min(hostile.BATCH, count - number))]
        robot, _weak = hostile.write([prim for prim, _ in drawn])
        stage, root = hostile.open_scene(robot, list(hostile.SCENES)[number // hostile.BATCH % len(hostile.SCENES)])
        for prim, meant in drawn:
            usd_prim = stage.GetPrimAtPath(f"{root}/Actuators/{prim.name}")
            wanted = hostile.expected_spec(prim, root) if prim.type == "NewtonActuator" else None
            refused, found = False, None
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found = parse_prim(usd_prim)
                except ActuatorParseError:
                    refused = True
                except Exception as error:
                    note("foreign", usd_prim, repr(error))
                    continue
            lines = [line for each in caught for line in str(each.message).splitlines()]
            counts["other" if prim.type != "NewtonActuator" else "refused" if refused else "accepted"] += 1
            if repr(found) != repr(wanted) or refused != (prim.type == "NewtonActuator" and wanted is None):
                note("wrong", usd_prim, f"read {found}, expected {wanted}")
            elif wanted is not None and (left_out := [one for one in said_of(prim, meant) if not is_said(one, lines)]):
                note("silent", usd_prim, f"not said: {left_out}; said: {lines}")
    return {"counts": counts, "examples": examples}


def in_own_process(seed: int, chunk: int, count: int) -> dict:
    command = [sys.executable, __file__, "--seed", str(seed), "--count", str(count), "--chunk", str(chunk)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"counts": {"hung": 1}, "examples": [f"hung, seed {seed}, chunk {chunk}: more than {LIMIT:g} s"]}
    if done.returncode:
        tail = done.stderr[-1000:]
        example = f"crashed, seed {seed}, chunk {chunk}: {done.returncode} {tail}"
        return {"counts": {"crashed": 1}, "examples": [example]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="prims (default %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: another one each time")
    parser.add_argument("--chunk", type=int, help="this chunk alone, in this process")
    args = parser.parse_args()
    if args.chunk is not None:
        print(json.dumps(check_chunk(args.seed, args.chunk, args.count)))
        return 0
    start, total = time.perf_counter(), Counter[str]()
    print(f"seed {args.seed}, {args.count} prims")
    for chunk, first in enumerate(range(0, args.count, CHUNK)):
        result = in_own_process(args.seed, chunk, min(CHUNK, args.count - first))
        before = total.copy()
        total.update(result["counts"])
        for example in result["examples"]:
            if before[example.partition(",")[0]] < SHOWN:
                print(example)
    told = ", ".join(f"{total[kind]} {kind}" for kind in ("accepted", "refused", "other", *BAD))
    print(f"{told}; {time.perf_counter() - start:.0f} s")
    return int(any(total[kind] for kind in BAD))


if __name__ == "__main__":
    sys.exit(main())
