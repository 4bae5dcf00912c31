"""Table of robot files as newton drives them, beside ours: `./python.sh tests/installs/newton_files.py [FILE …]`.

newton opens each file by its own parser, and steps its own actuators on random states; so do we. The default is
`data/robots`. The exit code is 1 where newton leaves out a joint that we drive, or efforts differ.
"""

import argparse
import contextlib
import io
import sys
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from newton_drives import compare_with_newton  # noqa: E402

TOLERANCE = 1e-5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shipped = sorted((REPOSITORY / "data" / "robots").glob("*.usda"))
    parser.add_argument("files", nargs="*", type=Path, default=shipped, metavar="FILE")
    parser.add_argument("--steps", type=int, default=200)
    given = parser.parse_args()
    print(f"| file | joints | driven here | driven by newton {version('newton')} | largest difference of efforts |")
    print("|---|---|---|---|---|")
    code = 0
    for file in given.files:
        # newton tells of masses and kernels
        with contextlib.redirect_stdout(io.StringIO()):
            found = compare_with_newton(file, given.steps)
        numbers = len(found.joints), len(found.ours), len(found.newtons)
        print(f"| {file.name} | {' | '.join(map(str, numbers))} | {found.difference:.1e} |", flush=True)
        code |= found.newtons != found.ours or found.difference > TOLERANCE
    return code


if __name__ == "__main__":
    sys.exit(main())
