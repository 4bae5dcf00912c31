"""`isaacsim.core.experimental.utils.stage`: the current stage, which Kit's context need not know."""

import contextlib

from fakes.omni_usd import UsdContext
from pxr import Usd


class StageUtils:
    def __init__(self, context: UsdContext) -> None:
        self._context = context
        self._used: list[Usd.Stage] = []

    def get_current_stage(self, *, backend: str | None = None):
        if backend not in (None, "usd"):
            raise ValueError(f"this world knows USD only, not {backend}")
        stage = self._used[-1] if self._used else self._context.get_stage()
        if stage is None:
            raise ValueError("no stage")
        return stage

    @contextlib.contextmanager
    def use_stage(self, stage: Usd.Stage):
        self._used.append(stage)
        try:
            yield
        finally:
            self._used.pop()
