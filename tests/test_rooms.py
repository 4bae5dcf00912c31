"""The rooms of the package: no circle among modules, libraries with their owners, tests where one looks for them."""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import isaacsim.core.experimental.actuators as package
import pytest
from places import REPOSITORY

ROOT = Path(package.__path__[0])
NAME = package.__name__
TESTS = REPOSITORY / "tests"
# who may import a library: a room, or a file at the top; what is not listed nobody may
OWNERS = {
    "carb": ["extension.entry", "simulators.kit"],
    "gymnasium": ["tools.environments"],
    "isaacsim": ["simulators.kit"],
    "matplotlib": ["tools.plots", "tools.training"],
    "mujoco": ["simulators.mujoco"],
    "mujoco_warp": ["simulators.mujoco.warp_host"],
    "newton": ["compat.to_newton", "simulators.mujoco.newton_reader"],
    "newton_usd_schemas": ["files.usd"],
    "numpy": ["base", "compat", "engine", "extension", "files", "laws", "loops", "simulators", "tools"],
    "omni": ["extension.entry", "simulators.kit", "extension.action_graphs.nodes", "tests"],
    "onnx": ["files.networks"],
    "pyarrow": ["tools.recording.tables"],
    "ray": ["tools.identification"],
    "rerun": ["tools.recording.rerun_stream"],
    "rosbags": ["tools.recording.bags"],
    "ovphysx": ["simulators.physx"],
    "ovstage": ["simulators.physx"],
    "pxr": ["files.usd", "simulators.scene"],
    "rich": ["tools.commands", "tools.training"],
    "stable_baselines3": ["tools.environments.stable_baselines"],
    "scipy": ["tools.identification"],
    "torch": ["loops.torch_gradients", "laws.networks.torch_network", "tools.training"],
    "tyro": ["tools.commands"],
    "tomli_w": ["files.motor_files.formats"],
    "viser": ["tools.viewing.web"],
    "websockets": ["tools.viewing.web"],
    "yaml": ["files.motor_files.formats"],
    "warp": ["base", "compat", "engine", "extension", "laws", "loops", "simulators", "tools"],
}
# what is named for type checkers there is let be: the package itself names everything
TYPES_LET_BE = [""]
# files of tests, and the modules and rooms without one at their own path that they test: a façade, rooms whose
# modules are tested by what holds for all of them, and parts of something that is tested as one
TESTED = {
    "test_imports.py": "",
    "files/usd/test_author.py": "simulators.authoring",
    "test_all_laws.py": "laws.* laws.contract.*",
    "compat/impl/test_builders.py": "compat.impl",
    "specs/test_fields.py": "specs.*",
    "tools/identification/logs/test_read.py": "tools.identification.logs.*",
    "engine/gradients/test_actuator_gradients.py": "engine.gradients.gradient_recorder",
    "compat/isaac_lab/test_models.py": "compat.isaac_lab.cfgs compat.isaac_lab.collection compat.isaac_lab.motors",
    "compat/isaac_lab/test_groups.py": "compat.isaac_lab.kinds compat.isaac_lab.table",
    "compat/test_newton_actuators.py": "compat.newton_actuators.*",
    "tools/commands/test_main.py": "tools.commands.answer tools.commands.arguments",
    "tools/commands/test_run.py": "tools.commands.opened",
    "simulators/test_articulation.py": "simulators.dof_access",
    "simulators/kit/test_contract.py": "simulators.kit.events",
    "simulators/mujoco/test_model.py": "simulators.mujoco.address",
    "simulators/mujoco/test_own_model.py": "simulators.mujoco.own_data",
    "simulators/test_current.py": "simulators.opened simulators.port",
    "simulators/physx/test_host.py": "simulators.physx.scene",
    "tools/tuning/test_tune.py": "tools.tuning.tuned",
    "loops/test_arrays.py": "loops.foreign",
    "tools/inspection/test_inspect.py": "tools.inspection.described",
    "tools/inspection/test_lint.py": "tools.inspection.findings",
    "tools/inspection/rules/test_table.py": "tools.inspection.rules.*",
    "files/networks/test_load.py": "laws.networks.checkpoint",
    "files/networks/test_onnx.py": "files.networks.tracer files.networks.onnx.*",
    "files/networks/torch_formats/test_state_dict.py": "files.networks.named_tensors",
    "files/networks/torch_formats/test_torchscript.py": "files.networks.torch_formats.*",
    "extension/action_graphs/nodes/test_OgnArticulationActuators.py": (
        "extension.action_graphs.nodes.node_actuators extension.action_graphs.nodes.state"
    ),
    "test_in_kit.py": "tests.test_in_kit",
    "extension/test_articulation_actuators.py": "engine.actuator_set",
    "tools/recording/test_recording.py": "tools.recording.files",
    "tools/commands/test_plot.py": "tools.plots.bode",
    "tools/trials/test_envelope.py": "tools.plots.envelope",
    "tools/trials/test_step_response.py": "tools.plots.step_response",
    "tools/stability/test_frequency.py": "tools.trials.bode",
    "engine/random/test_randomization.py": "specs.distributions engine.random.random_numbers",
    "engine/test_calls.py": "engine.sim_arrays",
    "engine/test_linkages.py": "engine.step.linkage_kernels",
    "engine/test_not_finite.py": "engine.step.fault",
    "engine/step/test_warp.py": "engine.step.warp_functions",
    "engine/step/test_cuda_code.py": "engine.step.warp_kernel",
    "test_neural_actuators.py": "engine.step.warp_network",
    "laws/test_controller_neural_mlp.py": "laws.networks.neural laws.networks.network_law laws.networks.network_run",
    "laws/test_controller_neural_gru.py": "laws.networks.features",
    "laws/networks/test_evaluator.py": (
        "laws.networks.calls laws.networks.network laws.networks.program laws.networks.warp_evaluator"
    ),
    "tools/training/test_trained.py": "tools.training.report",
    "simulators/scene/test_joints.py": "simulators.scene.frames",
    "simulators/scene/test_read.py": "simulators.scene.parsed",
    "files/usd/test_overlay.py": "files.usd.edits",
}
TESTED_IN = {module: place for place, modules in TESTED.items() for module in modules.split(" ")}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(path: Path, *, for_types: bool = True) -> Iterator[str]:
    """Full names of the modules that a module imports or takes something from, in functions and for types too."""
    here = [*NAME.split("."), *path.relative_to(ROOT).parent.parts]
    waiting: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.Import):
            yield from (alias.name for alias in item.names)
        elif isinstance(item, ast.ImportFrom):
            above = here[: len(here) + 1 - item.level] if item.level else []
            base = ".".join([*above, *filter(None, [item.module])])
            for alias in item.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner.removeprefix(f"{NAME}.") in MODULES else base
        elif for_types or not (isinstance(item, ast.If) and ast.unparse(item.test) == "TYPE_CHECKING"):
            waiting += ast.iter_child_nodes(item)


def inside(names: Iterator[str]) -> set[str]:
    return {name.removeprefix(NAME).removeprefix(".") for name in names if f"{name}.".startswith(f"{NAME}.")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert set(TYPES_LET_BE) <= set(MODULES), "shorten the list"
    needs = {key: inside(imported(path, for_types=key not in TYPES_LET_BE)) - {key} for key, path in MODULES.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"imports run in a circle: {' → '.join(reversed(error.args[1]))}")


def test_every_library_has_its_owner() -> None:
    used: dict[str, set[str]] = {library: set() for library in OWNERS}
    for name, path in MODULES.items():
        for one in imported(path):
            library = one.partition(".")[0]
            if library in sys.stdlib_module_names or f"{one}.".startswith(f"{NAME}."):
                continue
            rooms = [room for room in OWNERS.get(library, []) if f"{name}.".startswith(f"{room}.")]
            assert rooms, f"{name} imports {one}: {library} belongs to {OWNERS.get(library, 'nobody')}"
            used[library].update(rooms)
    assert used == {library: set(rooms) for library, rooms in OWNERS.items()}


def test_tests_stand_where_the_code_does() -> None:
    """Module `simulators.bus` is tested in `hosts/test_bus.py`; what is not is listed, and nothing else is."""
    elsewhere = {}
    for name, path in MODULES.items():
        *rooms, last = name.split(".")
        own = TESTS.joinpath(*rooms, f"test_{last.strip('_')}.py")
        # imports and constants alone need no test
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        if any(isinstance(item, kinds) for item in ast.parse(path.read_text("utf-8")).body) and not own.exists():
            elsewhere[name] = next((key for key in (name, f"{'.'.join(rooms)}.*") if key in TESTED_IN), None)
    assert [name for name, place in elsewhere.items() if place is None] == [], "they have no tests at their path"
    assert set(elsewhere.values()) == set(TESTED_IN), "shorten the list"
    assert [place for place in TESTED_IN.values() if not (TESTS / place).exists()] == []
