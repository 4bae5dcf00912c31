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
# modules and rooms whose tests are not at their own path, and where they are instead
TESTED_IN = {
    # a façade, and what is met through one
    "": "test_imports.py",
    "simulators.authoring": "files/usd/test_author.py",
    # rooms whose modules are tested by what holds for all of them
    "laws.*": "test_all_laws.py",
    "laws.contract.*": "test_all_laws.py",
    "compat.impl": "compat/impl/test_builders.py",
    "specs.*": "specs/test_fields.py",
    "tools.identification.logs.*": "tools/identification/logs/test_read.py",
    # parts of something that is tested as one
    "engine.gradients.gradient_recorder": "engine/gradients/test_actuator_gradients.py",
    "compat.isaac_lab.cfgs": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.collection": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.kinds": "compat/isaac_lab/test_groups.py",
    "compat.isaac_lab.motors": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.table": "compat/isaac_lab/test_groups.py",
    "compat.newton_actuators.*": "compat/test_newton_actuators.py",
    "tools.commands.answer": "tools/commands/test_main.py",
    "tools.commands.arguments": "tools/commands/test_main.py",
    "tools.commands.opened": "tools/commands/test_run.py",
    "extension.action_graphs.runner.error": "extension/action_graphs/runner/test_load.py",
    "extension.action_graphs.runner.node": "extension/action_graphs/runner/test_graph.py",
    "simulators.dof_access": "simulators/test_articulation.py",
    "simulators.kit.events": "simulators/kit/test_contract.py",
    "simulators.mujoco": "simulators/test_simulation.py",
    "simulators.mujoco.address": "simulators/mujoco/test_model.py",
    "simulators.mujoco.own_data": "simulators/mujoco/test_own_model.py",
    "simulators.opened": "simulators/test_current.py",
    "simulators.physx.scene": "simulators/physx/test_host.py",
    "simulators.port": "simulators/test_current.py",
    "tools.tuning.tuned": "tools/tuning/test_tune.py",
    "loops.foreign": "loops/test_arrays.py",
    "tools.inspection.described": "tools/inspection/test_inspect.py",
    "tools.inspection.findings": "tools/inspection/test_lint.py",
    "tools.inspection.rules.*": "tools/inspection/rules/test_table.py",
    "laws.networks.checkpoint": "files/networks/test_load.py",
    "files.networks.tracer": "files/networks/test_onnx.py",
    "files.networks.named_tensors": "files/networks/torch_formats/test_state_dict.py",
    "files.networks.onnx.*": "files/networks/test_onnx.py",
    "files.networks.torch_formats.*": "files/networks/torch_formats/test_torchscript.py",
    "extension.action_graphs.nodes.node_actuators": "extension/action_graphs/nodes/test_OgnArticulationActuators.py",
    "extension.action_graphs.nodes.state": "extension/action_graphs/nodes/test_OgnArticulationActuators.py",
    "tests.test_in_kit": "test_in_kit.py",
    "engine.actuator_set": "extension/test_articulation_actuators.py",
    "tools.recording.files": "tools/recording/test_recording.py",
    "tools.plots.bode": "tools/commands/test_plot.py",
    "tools.plots.envelope": "tools/trials/test_envelope.py",
    "tools.plots.step_response": "tools/trials/test_step_response.py",
    "tools.trials.bode": "tools/stability/test_frequency.py",
    "specs.distributions": "engine/random/test_randomization.py",
    "engine.random.random_numbers": "engine/random/test_randomization.py",
    "engine.sim_arrays": "engine/test_calls.py",
    "engine.step.linkage_kernels": "engine/test_linkages.py",
    "engine.step.fault": "engine/test_not_finite.py",
    "engine.step.warp_functions": "engine/step/test_warp.py",
    "engine.step.warp_kernel": "engine/step/test_cuda_code.py",
    "engine.step.warp_network": "test_neural_actuators.py",
    "laws.networks.neural": "laws/test_controller_neural_mlp.py",
    "laws.networks.network_law": "laws/test_controller_neural_mlp.py",
    "laws.networks.network_run": "laws/test_controller_neural_mlp.py",
    "laws.networks.features": "laws/test_controller_neural_gru.py",
    "laws.networks.calls": "laws/networks/test_evaluator.py",
    "laws.networks.network": "laws/networks/test_evaluator.py",
    "laws.networks.program": "laws/networks/test_evaluator.py",
    "laws.networks.warp_evaluator": "laws/networks/test_evaluator.py",
    "tools.training.report": "tools/training/test_trained.py",
    "simulators.scene.frames": "simulators/scene/test_joints.py",
    "simulators.scene.parsed": "simulators/scene/test_read.py",
    "files.usd.edits": "files/usd/test_overlay.py",
}


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
