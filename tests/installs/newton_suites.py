"""newton's own tests of its actuators, with our classes in place of its: `./python.sh tests/installs/newton_suites.py`.

Options are those of `newton_versions.py`, `--newton VERSION …` and `--keep FOLDER`. Each version's wheel holds its suite,
`newton.tests.test_actuators`; it runs in that version's environment after every class and function of `newton.actuators`
was exchanged for ours of that name, wherever newton holds it, its model builder and USD importer included. The test
folder is trusted with networks, as a program would do. A line per version, as a Markdown table; what fails is listed by
the reason below that covers it, and what none covers makes the command fail.

Networks are tested as far as there are `torch` here and `warp-nn` there.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from newton_versions import REPOSITORY, VERSIONS, environment

# why a test of newton's cannot pass, and which: patterns of names, or `error: ` and one of the message
REASONS = {
    "implicit": [],
}


def exchange() -> None:
    """Put our classes and functions in place of newton's, in all of its modules."""
    import isaacsim.core.experimental.actuators as ours
    import newton.actuators
    import newton.selection  # noqa: F401
    from newton._src.actuators import usd_parser
    from newton._src.utils import import_usd  # noqa: F401

    # newton's builder asks actuators for arrays that they want it to make: ours want none
    vars(newton.actuators)["Actuator"]
    ours.Actuator.register_custom_attributes = lambda self, builder: None  # pyright: ignore
    ours.trust_checkpoints(tempfile.gettempdir())
    places = {id(theirs): getattr(ours, name, None) for name, theirs in vars(newton.actuators).items()}
    if hasattr(usd_parser, "_parse_actuator_prim"):
        places[id(usd_parser._parse_actuator_prim)] = lambda prim, *_: ours.parse_actuator_prim(prim)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "newton":
            for key, value in list(vars(module).items()):
                if key[:2] != "__" and places.get(id(value)) is not None:
                    setattr(module, key, places[id(value)])


def inside() -> None:
    """Run the suite of the newton that is installed, and print what became of each test, as JSON."""
    warnings.simplefilter("ignore")
    exchange()
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module("newton.tests.test_actuators"))
    done = unittest.TextTestRunner(stream=sys.stderr, verbosity=0, warnings="ignore").run(suite)
    bad: dict[str, str] = {}
    for test, trace in (*done.failures, *done.errors):
        whole = getattr(test, "test_case", test)
        bad.setdefault(".".join(whole.id().split(".")[-2:]), trace.strip().splitlines()[-1] if trace else "")
    told = {test.id().split(".")[-1]: reason for test, reason in done.skipped}
    print(json.dumps({"run": done.testsRun, "bad": bad, "skipped": told}))


if __name__ == "__main__":
    inside()
