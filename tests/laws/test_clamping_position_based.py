"""Tables of position-based clamps: two lists or a file."""

import pytest
from isaacsim.core.experimental.actuators import ClampingPositionBased
from pipe_files import needs_pipes, require_refused
from refusals import cases, refused


@cases(
    "given",
    {},
    {"lookup_table_path": "table.txt", "lookup_positions": [0.0], "lookup_efforts": [1.0]},
    {"lookup_table_path": "table.txt", "lookup_efforts": [1.0]},
    ids=["neither", "both", "file and half a list"],
)
def test_table_is_given_once(given) -> None:
    with pytest.raises(ValueError, match="either lookup_table_path, or lookup_positions and lookup_efforts"):
        ClampingPositionBased(**given)


@pytest.mark.parametrize("given", [{"lookup_positions": [0.0, 1.0]}, {"lookup_efforts": [2.0]}])
def test_half_a_table_is_refused(given) -> None:
    refused(ValueError, lambda: ClampingPositionBased(**given), "must be equally many")


@cases(
    "line, words",
    ("0.5", ["line 3", "'0.5'", "a position and an effort"]),
    ("position effort", ["line 3", "'position effort'", "a position and an effort"]),
    ("2 -1", ["lookup_efforts", ">= 0"]),
    ("2 nan", ["lookup_efforts", "finite"]),
    ("-1 1", ["lookup_positions[1] = -1.0 comes after 0.0", "must not decrease"]),
)
def test_bad_line_of_a_file_is_named(tmp_path, line, words) -> None:
    file = tmp_path / "table.txt"
    file.write_text(f"# position effort\n0, 3 # rest\n{line}\n")
    text = refused(ValueError, lambda: ClampingPositionBased(file))
    assert all(word in text for word in [str(file), *words]), text


@needs_pipes
def test_pipe_is_refused(tmp_path) -> None:
    require_refused(ClampingPositionBased, tmp_path / "table.txt")
