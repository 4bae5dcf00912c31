"""The command line: `./python.sh -m isaacsim.core.experimental.actuators.files.networks convert OLD NEW`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

# by full name, for Python also runs this file by the earlier name of its room
from isaacsim.core.experimental.actuators.files.networks.convert import convert_checkpoint
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint, read_file
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from isaacsim.core.experimental.actuators.laws.networks.metadata import read_sidecar
from isaacsim.core.experimental.actuators.laws.networks.network import Network, Operation, sources_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert or describe a network; return the exit code, 1 for an error."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        return _failed(str(error))
    return 0


def _failed(problem: str) -> int:
    print(" ".join(problem.split()), file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="networks", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="convert | show")
    convert = commands.add_parser("convert", help="write a network to another format, if it computes the same there")
    convert.add_argument("source", type=Path, help="a network in any format")
    convert.add_argument("target", type=Path, help="where to write, .onnx or .safetensors")
    convert.add_argument("--metadata", type=Path, metavar="FILE", help="JSON that goes before that of the source")
    convert.add_argument("--trusted", action="store_true", help="let Torch run a file that cannot be read, to trace it")
    convert.set_defaults(run=_convert)
    show = commands.add_parser("show", help="describe a network")
    show.add_argument("file", type=Path, help="a network in any format")
    show.add_argument("--json", action="store_true", help="for programs")
    show.set_defaults(run=_show)
    return parser


def _convert(options: argparse.Namespace) -> None:
    given = options.metadata
    metadata = None if given is None else read_sidecar(read_file(given), str(given))
    found = convert_checkpoint(options.source, options.target, metadata, trusted=options.trusted)
    print(
        f"{options.target}: differs by at most {found.difference:.2g} of the largest value, "
        f"{found.outputs} outputs compared"
    )


def _show(options: argparse.Namespace) -> None:
    said = describe(load_checkpoint(options.file))
    if options.json:
        print(json.dumps(said, indent=2))
        return
    operations, metadata = said.pop("operations"), said.pop("metadata")
    for key, value in said.items():
        print(f"{key:<12} {value}")
    print("operations")
    for number, one in enumerate(operations, 1):
        more = {key: value for key, value in one.items() if key not in ("operation", "sources", "width")}
        values = "".join(f", {key} {value}" for key, value in more.items())
        print(f"  {number:<3} {one['operation']} of {one['sources']}{values}: {one['width']} wide")
    print("metadata")
    for key, value in metadata.items():
        print(f"  {key} = {json.dumps(value)}")


def describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return a description of a checkpoint for JSON; value 0 is the input, operation `i` makes value `i`."""
    network = checkpoint.network
    assert isinstance(network, Network), "Torch runs untrusted files only if asked to"
    return {
        "format": checkpoint.format,
        "kind": network.kind,
        "inputs": network.inputs,
        "layers": network.num_layers,
        "hidden_size": network.hidden_size,
        "digest": checkpoint.digest,
        "operations": [
            {"operation": type(one).__name__, "sources": list(sources_of(one)), "width": width, **_numbers(one)}
            for one, width in zip(network.operations, network.widths[1:], strict=True)
        ],
        "metadata": checkpoint.metadata,
    }


def _numbers(operation: Operation) -> dict[str, object]:
    """Fields of an operation other than sources, weights and empty ones."""
    fields = {field.name: getattr(operation, field.name) for field in dataclasses.fields(operation)}
    known = ("source", "sources", "first", "second")
    return {
        key: one for key, one in fields.items() if key not in known and not isinstance(one, np.ndarray) and one != ()
    }


if __name__ == "__main__":
    raise SystemExit(main())
