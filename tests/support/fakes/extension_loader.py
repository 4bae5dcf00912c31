"""Kit's extension manager: finds extensions, starts and stops them, and tells who asked.

What it does with a folder: modules of the manifest are imported from the extension's root or the entry's `path`, every
name in their `dir()` is taken, unguarded, each entry point found is made once and started; only then hear of it those
who asked to, OmniGraph among them. One version of an extension runs at a time. Standard library only, so that what a
start imports can be seen.
"""

import importlib
import sys
import tomllib
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# the extension of our name that Isaac Sim 6.2 brings and starts, unless a version is asked for
BUNDLED_VERSION = "0.2.1"
BUNDLED = f"isaacsim.core.experimental.actuators-{BUNDLED_VERSION}"


@dataclass
class Known:
    id: str
    path: Path
    manifest: dict = field(default_factory=dict)
    # of an enabled one: what its dependencies came to, and its entry points
    solved: list[str] = field(default_factory=list)
    running: list = field(default_factory=list)
    enabled: bool = False

    @property
    def name(self) -> str:
        return self.id.partition("-")[0]

    @property
    def modules(self) -> list[dict]:
        return self.manifest.get("python", {}).get("module", [])


@dataclass(eq=False)
class Hook:
    name: str
    on_enable: Callable[[str], None]
    on_disable: Callable[[str], None] | None


class ExtensionManager:
    """Kit's extension manager; `tells_at_once` if subscriptions are told of extensions that are enabled already."""

    def __init__(self, *, tells_at_once: bool = True) -> None:
        self.tells_at_once = tells_at_once
        self._known: dict[str, Known] = {}
        self._hooks = weakref.WeakSet[Hook]()
        self.on_enabled: list[Callable[[Known], None]] = []
        self.on_disabling: list[Callable[[Known], None]] = []

    # what a Kit has

    def add(self, folder: Path, name: str | None = None) -> str:
        manifest = tomllib.loads((folder / "config" / "extension.toml").read_text("utf-8"))
        ext_id = f"{name or folder.name}-{manifest['package']['version']}"
        self._known[ext_id] = Known(ext_id, folder, manifest)
        return ext_id

    def provide(self, *ids: str) -> None:
        for ext_id in ids:
            self._known[ext_id] = Known(ext_id, Path("/kit/exts") / ext_id)

    def launch(self, experience: list[str], enable: list[str]) -> None:
        """Enable what an experience names and `--enable` adds; an id with a version wins over the experience."""
        asked = {ext_id.partition("-")[0]: ext_id for ext_id in enable if "-" in ext_id}
        for ext_id in [*experience, *enable]:
            self.set_extension_enabled_immediate(asked.get(ext_id.partition("-")[0], ext_id), True)

    def running(self, ext_id: str) -> list:
        return self._known[ext_id].running

    def get_extensions(self) -> list[dict]:
        known = self._known.values()
        return [{"id": one.id, "name": one.name, "path": str(one.path), "enabled": one.enabled} for one in known]

    def get_extension_path(self, ext_id: str) -> str:
        return str(self._known[ext_id].path)

    def get_enabled_extension_id(self, ext_name: str) -> str | None:
        return next((one.id for one in self._known.values() if one.enabled and one.name == ext_name), None)

    def subscribe_to_extension_enable(
        self,
        on_enable_fn: Callable[[str], None],
        on_disable_fn: Callable[[str], None] | None = None,
        ext_name: str = "",
        hook_name: str = "",
    ) -> Hook:
        assert hook_name
        hook = Hook(ext_name, on_enable_fn, on_disable_fn)
        self._hooks.add(hook)
        if self.tells_at_once and (ext_id := self.get_enabled_extension_id(ext_name)) is not None:
            on_enable_fn(ext_id)
        return hook

    def set_extension_enabled_immediate(self, ext_id: str, enabled: bool) -> bool:
        """Enable or disable one, by name or id; where another version of it runs, nothing happens."""
        one = self._find(ext_id)
        if one is None or (enabled and self.get_enabled_extension_id(one.name) is not None):
            return False
        if enabled:
            self._enable(one)
        elif one.enabled:
            for hook in self.hooks:
                if hook.name == one.name and hook.on_disable is not None:
                    hook.on_disable(one.id)
            for heard in self.on_disabling:
                heard(one)
            for entry_point in reversed(one.running):
                entry_point.on_shutdown()
            one.running.clear()
            one.enabled = False
        return True

    @property
    def hooks(self) -> list[Hook]:
        return list(self._hooks)

    def _find(self, ext_id: str) -> Known | None:
        if ext_id in self._known:
            return self._known[ext_id]
        named = sorted((one for one in self._known.values() if one.name == ext_id), key=lambda one: one.id)
        return max(named, key=lambda one: one.enabled) if any(one.enabled for one in named) else (named or [None])[-1]

    def _enable(self, one: Known) -> None:
        one.solved = []
        for name, options in one.manifest.get("dependencies", {}).items():
            needed = self._find(name)
            # an optional one counts only where it is enabled anyhow
            if options.get("optional") and (needed is None or not needed.enabled):
                continue
            assert needed is not None, f"{one.id} depends on {name}, which this Kit does not have"
            self.set_extension_enabled_immediate(name, True)
            one.solved.append(needed.id)
        for entry in one.modules:
            root = str(one.path / entry.get("path", ""))
            if root not in sys.path:
                sys.path.append(root)
            module = importlib.import_module(entry["name"])
            base = sys.modules["omni.ext"].IExt
            for name in dir(module):
                value = getattr(module, name)
                if isinstance(value, type) and issubclass(value, base) and value is not base:
                    one.running.append(value())
        one.enabled = True
        for entry_point in one.running:
            entry_point.on_startup(one.id)
        for heard in self.on_enabled:
            heard(one)
        for hook in self.hooks:
            if hook.name == one.name:
                hook.on_enable(one.id)
