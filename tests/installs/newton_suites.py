"""newton's own tests of its actuators, run on ours: `./python.sh tests/installs/newton_suites.py [--newton VERSION …]`.

The wheel of each version holds its suite, `newton.tests.test_actuators`. It runs in that version's environment, see
`newton_versions.py`, after every class and function of `newton.actuators` was exchanged for ours of that name wherever
newton holds it, in its model builder and USD importer too; the folder of its files is trusted, as a program would.

A line per version, as a Markdown table, then what did not pass, by the reason that covers it. What none covers makes
the command fail. Tests of networks need `torch` in the interpreter that runs this.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

from newton_versions import REPOSITORY, environment, parsed

# why a test of newton's does not pass: the first pattern that fits its name and the last line of its trace
REASONS = {
    # of the implicit effort mode: where parameters are packed, and the mass matrix
    "names that newton keeps to itself": r"has no attribute '_(param_pack|lin_params|H)'\.?$",
    "networks are data, and no objects of Torch or warp-nn": (
        r"has no attribute '(_net(work|_input)|bind_params)'|must be a network output$"
        # which a CUDA graph can hold
        r"|\.test_(finalize_and_compute|finalize_legacy_torchscript_checkpoint|pt2_checkpoint) .*True is not false$"
    ),
    "Torch's files are neither deprecated nor refused": (
        r"DeprecationWarning not triggered$|test_deprecation_warning_points_at_caller .*0 != 1$"
        r"|test_usd_torch_checkpoint_requires_opt_in .*\"allow_unsafe_torch_checkpoints\" does not match"
    ),
    "sizes of recurrent networks are known": "test_pt2_without_config_metadata_raises .*ValueError not raised$",
    "more graphs of ONNX are read": "test_rejects_unsupported_onnx_graphs .*(one scalar Gemm|ValueError not raised$)",
    "a controller may be of several actuators, and has states before": (
        "test_(drive_rejects_a_second_actuator|state_creation_rejects_unfinalized.*) .*RuntimeError not raised$"
    ),
}


def exchange() -> None:
    """Put our classes and functions in place of newton's, in all of its modules."""
    import isaacsim.core.experimental.actuators as ours

    for name in ("newton.selection", "newton._src.utils.import_usd"):
        importlib.import_module(name)
    theirs = importlib.import_module("newton.actuators")
    parser = importlib.import_module("newton._src.actuators.usd_parser")
    places = {id(one): getattr(ours, name, None) for name, one in vars(theirs).items() if name[:2] != "__"}

    def parse(prim, trusted: bool = False, *, allow_unsafe_torch_checkpoints: bool = False):
        return ours.parse_actuator_prim(prim, trusted=trusted or allow_unsafe_torch_checkpoints)

    # its importer calls the latter since 1.8
    for name in ("parse_actuator_prim", "_parse_actuator_prim"):
        if hasattr(parser, name):
            places[id(getattr(parser, name))] = parse
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "newton":
            for key, value in list(vars(module).items()):
                if key[:2] != "__" and places.get(id(value)) is not None:
                    setattr(module, key, places[id(value)])
    ours.trust_checkpoints(tempfile.gettempdir())
    # what its tests look at under private names
    for name in ("num_layers", "hidden_size"):
        setattr(ours.ControllerNeuralLSTM, f"_{name}", property(lambda self, name=name: getattr(self.network, name)))


def inside() -> None:
    """Run the suite of the newton that is installed, and print what became of each test, as JSON."""
    warnings.simplefilter("ignore")
    exchange()
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module("newton.tests.test_actuators"))
    done = unittest.TextTestRunner(stream=sys.stderr, verbosity=0, warnings="ignore").run(suite)
    bad: dict[str, str] = {}
    for test, trace in (*done.failures, *done.errors):
        # a test whose parts failed counts once
        whole = getattr(test, "test_case", test)
        bad.setdefault(".".join(whole.id().split(".")[-2:]), trace.strip().splitlines()[-1])
    print(json.dumps({"ran": done.testsRun, "bad": bad, "skipped": len(done.skipped)}))


def main() -> int:
    """Print the table; 1 where a test fails for no reason that is known."""
    given, code, told = parsed(__doc__ or ""), 0, []
    print("| newton | tests | passed | skipped | by a reason below | failed |\n|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for version in given.newton:
            python = environment(version, (given.keep or Path(folder)).resolve() / version, "onnx,sim")
            where = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
            command = [str(python), __file__, "--inside"]
            done = subprocess.run(command, capture_output=True, text=True, env=where, check=False)
            if done.returncode:
                print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
                code = 1
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            by: dict[str, list[str]] = {}
            for name, last in sorted(found["bad"].items()):
                fits = (reason for reason, pattern in REASONS.items() if re.search(pattern, f"{name} {last}"))
                by.setdefault(next(fits, ""), []).append(name)
            failed = by.pop("", [])
            passed = found["ran"] - found["skipped"] - len(found["bad"])
            counts = found["ran"], passed, found["skipped"], len(found["bad"]) - len(failed), len(failed)
            print(f"| {version} | {' | '.join(map(str, counts))} |", flush=True)
            told += [f"\n{version}: {reason}: {len(names)}" for reason, names in by.items()]
            told += [f"\n{version} FAILED {name}: {found['bad'][name]}" for name in failed]
            code |= bool(failed)
    print("".join(told))
    return code


if __name__ == "__main__":
    sys.exit(inside() if "--inside" in sys.argv[1:] else main())
