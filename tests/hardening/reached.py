"""A plugin of pytest for `mutations.py`: writes down which functions of the pipeline the tests enter."""

import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

PIPELINE = f"{os.sep}actuators{os.sep}pipeline{os.sep}"
entered: set[CodeType] = set()


def _trace(frame: FrameType, _event: str, _arg: object) -> None:
    entered.add(frame.f_code)


threading.settrace(_trace)
sys.settrace(_trace)


def pytest_unconfigure() -> None:
    sys.settrace(None)
    lines = [(code.co_filename, code.co_firstlineno) for code in entered if PIPELINE in code.co_filename]
    Path(os.environ["REACHED"]).write_text(json.dumps(lines), "utf-8")
