"""The rooms of the package: no circle among modules, libraries with their owners, tests where one looks for them."""

from __future__ import annotations

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
    "carb": ["extension", "hosts.kit"],
    "isaacsim": ["hosts.kit"],
    "matplotlib": ["toolbox.plots", "toolbox.training"],
    "mjlab": ["toolbox.parity.mjlab"],
    "mujoco": ["hosts.mujoco"],
    "mujoco_warp": ["hosts.mujoco.warp_host"],
    "newton": ["compat.to_newton", "hosts.mujoco.newton_reader", "toolbox.parity.newton"],
    "newton_actuators": ["toolbox.parity.newton_actuators"],
    "newton_usd_schemas": ["usd"],
    "numpy": [
        *("actuator_set", "articulation_actuators", "attachment", "authoring", "drives", "motor_properties"),
        *("action_graphs.omnigraph", "action_graphs.runner", "compat", "components", "hosts", "loops", "memory"),
        *("networks", "pipeline", "simulation", "toolbox", "usd", "values"),
    ],
    "omni": ["extension", "hosts.kit", "action_graphs.nodes", "tests"],
    "onnx": ["networks"],
    "pyarrow": ["toolbox.recording.tables"],
    "ray": ["toolbox.identification"],
    "rerun": ["toolbox.recording.rerun_stream"],
    "rosbags": ["toolbox.recording.bags"],
    "ovphysx": ["hosts.physx"],
    "ovstage": ["hosts.physx"],
    "pxr": ["usd"],
    "rich": ["toolbox.commands", "toolbox.training"],
    "scipy": ["toolbox.identification"],
    "cma": ["toolbox.identification"],
    "torch": ["loops.torch_gradients", "networks.torch_network", "toolbox.parity.tensors", "toolbox.training"],
    "tyro": ["toolbox.commands"],
    "tomli_w": ["motor_files.formats"],
    "viser": ["toolbox.viewing.web"],
    "websockets": ["toolbox.viewing.web"],
    "yaml": ["motor_files.formats"],
    "warp": [
        *("actuator_set", "articulation_actuators", "attachment", "compat", "components", "hosts", "loops"),
        *("memory", "networks", "pipeline", "toolbox.parity", "toolbox.recording"),
    ],
}

# what is named for type checkers there is let be: the package itself names everything
TYPES_LET_BE = [""]

# modules and rooms whose tests are not at their own path, and where they are instead
TESTED_IN = {
    # a façade, and what is met through one
    "": "test_imports.py",
    "authoring": "usd/test_author.py",
    "errors": "test_attachment.py",
    # rooms whose modules are tested by what holds for all of them
    "components.*": "test_all_laws.py",
    "impl.*": "impl/test_builders.py",
    "action_graphs.runner.kit_nodes.*": "action_graphs/runner/kit_nodes/test_kit_nodes.py",
    "specs.*": "specs/test_fields.py",
    "toolbox.identification.logs.*": "toolbox/identification/logs/test_read.py",
    # parts of something that is tested as one
    "pipeline.gradient_recorder": "pipeline/test_gradients.py",
    "compat.isaac_lab.actions": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.cfgs": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.kinds": "compat/isaac_lab/test_groups.py",
    "compat.isaac_lab.motors": "compat/isaac_lab/test_models.py",
    "compat.isaac_lab.table": "compat/isaac_lab/test_groups.py",
    "compat.newton_actuators.*": "compat/test_newton_actuators.py",
    "toolbox.commands.answer": "toolbox/commands/test_main.py",
    "toolbox.commands.arguments": "toolbox/commands/test_main.py",
    "toolbox.commands.opened": "toolbox/commands/test_run.py",
    "toolbox.commands.show": "toolbox/commands/test_main.py",
    "toolbox.parity.*": "toolbox/parity/test_compare.py",
    "toolbox.commands.variants": "toolbox/commands/test_inspect.py",
    "action_graphs.runner.clock": "action_graphs/runner/test_runner.py",
    "action_graphs.runner.error": "action_graphs/runner/test_load.py",
    "action_graphs.runner.node": "action_graphs/runner/test_graph.py",
    "action_graphs.runner.scope": "action_graphs/runner/test_graph.py",
    "action_graphs.runner.variables": "action_graphs/runner/kit_nodes/test_kit_nodes.py",
    "toolbox.commands.watch": "toolbox/commands/test_run_graph.py",
    "action_graphs.runner.wiring": "action_graphs/runner/test_load.py",
    "hosts.dof_access": "hosts/test_articulation.py",
    "hosts.kit.events": "hosts/kit/test_contract.py",
    "hosts.mujoco": "test_simulation.py",
    "hosts.mujoco.address": "hosts/mujoco/test_model.py",
    "hosts.mujoco.fields": "hosts/test_dof_properties.py",
    "hosts.mujoco.forward": "hosts/mujoco/test_dynamics.py",
    "hosts.mujoco.picture": "test_simulation.py",
    "hosts.mujoco.own_data": "hosts/mujoco/test_own_model.py",
    "hosts.opened": "hosts/test_current.py",
    "hosts.physx.scene": "hosts/physx/test_host.py",
    "hosts.port": "hosts/test_current.py",
    "loops.foreign": "loops/test_arrays.py",
    "toolbox.inspection.described": "toolbox/inspection/test_inspect.py",
    "toolbox.inspection.figures": "toolbox/inspection/rules/test_table.py",
    "toolbox.inspection.findings": "toolbox/inspection/test_lint.py",
    "toolbox.inspection.model": "toolbox/inspection/test_inspect.py",
    "toolbox.inspection.opened": "toolbox/inspection/rules/test_table.py",
    "toolbox.inspection.rules.*": "toolbox/inspection/rules/test_table.py",
    "toolbox.inspection.stage": "toolbox/inspection/test_inspect.py",
    "toolbox.inspection.words": "toolbox/inspection/test_inspect.py",
    "networks.checkpoint": "networks/test_read.py",
    "networks.tracer": "networks/test_onnx.py",
    "networks.named_tensors": "networks/torch_formats/test_state_dict.py",
    "networks.onnx.*": "networks/test_onnx.py",
    "networks.torch_formats.*": "networks/torch_formats/test_torchscript.py",
    "action_graphs.nodes.node_actuators": "action_graphs/nodes/test_OgnArticulationActuators.py",
    "action_graphs.nodes.state": "action_graphs/nodes/test_OgnArticulationActuators.py",
    "tests.test_in_kit": "test_in_kit.py",
    "actuator_set": "test_articulation_actuators.py",
    "toolbox.recording.files": "toolbox/recording/test_recording.py",
    "toolbox.recording.native_tape": "toolbox/recording/test_recorder.py",
    "toolbox.recording.saturation": "toolbox/recording/test_recording.py",
    "toolbox.plots.bode": "toolbox/commands/test_plot.py",
    "toolbox.plots.envelope": "toolbox/trials/test_envelope.py",
    "toolbox.plots.step_response": "toolbox/trials/test_step_response.py",
    "toolbox.trials.bode": "toolbox/stability/test_frequency.py",
    "toolbox.trials.trial": "toolbox/commands/test_run.py",
    "specs.distributions": "pipeline/test_randomization.py",
    "pipeline.random_numbers": "pipeline/test_randomization.py",
    "pipeline.sim_arrays": "pipeline/test_calls.py",
    "pipeline.step.linkage_kernels": "pipeline/test_linkages.py",
    "pipeline.step.fault": "pipeline/test_not_finite.py",
    "pipeline.step.warp_functions": "pipeline/step/test_warp.py",
    "pipeline.step.warp_kernel": "pipeline/step/test_cuda_code.py",
    "pipeline.step.warp_network": "test_neural_actuators.py",
    "components.neural": "components/test_controller_neural_mlp.py",
    "components.network_law": "components/test_controller_neural_mlp.py",
    "components.network_run": "components/test_controller_neural_mlp.py",
    "networks.features": "components/test_controller_neural_gru.py",
    "networks.calls": "networks/test_evaluator.py",
    "networks.network": "networks/test_evaluator.py",
    "networks.program": "networks/test_evaluator.py",
    "networks.warp_evaluator": "networks/test_evaluator.py",
    "action_graphs.omnigraph.node_ports": "action_graphs/runner/test_registry.py",
    "toolbox.training.report": "toolbox/training/test_trained.py",
    "usd.authored": "usd/physics/test_read.py",
    "usd.physics.frames": "usd/physics/test_joints.py",
    "usd.physics.parsed": "usd/physics/test_read.py",
    "usd.physics.scene": "usd/physics/test_read.py",
    "usd.physics.shapes": "usd/physics/test_geometry.py",
    "usd.edits": "usd/test_overlay.py",
    "usd.schema": "usd/test_discover.py",
    "usd.text": "compat/isaac_lab/test_stages.py",
}


def module_name(path: Path) -> str:
    """Name of a module inside the package, empty for the package itself."""
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
    """Those of this package, by their name in it."""
    return {name.removeprefix(NAME).removeprefix(".") for name in names if f"{name}.".startswith(f"{NAME}.")}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """An import in a function, or for a type, only hides a circle."""
    assert set(TYPES_LET_BE) <= set(MODULES), "shorten the list"
    needs = {
        name: inside(imported(path, for_types=name not in TYPES_LET_BE)) - {name} for name, path in MODULES.items()
    }
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"imports run in a circle: {' → '.join(reversed(error.args[1]))}")


def test_every_library_has_its_owner() -> None:
    """A library is imported in the rooms listed and nowhere else, and each room listed does import it."""
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
    """Module `hosts.bus` is tested in `hosts/test_bus.py`; what is not is listed, and nothing else is."""
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
