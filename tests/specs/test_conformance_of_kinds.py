"""Every tool carries every kind of stages, and says by name which one it does not: none is dropped in silence.

The kinds are those of the table, and one that only this test knows: a line of the table, a law and its config, and
nothing else. A kind without a law that ships has a made-up one too, and so has friction. A new tool gets a function
below.
"""

import contextlib
import dataclasses
import io
import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from c_headers import needs_compiler, steps_alike
from graph_stages import ACTUATORS, TICK, graph, node, pulse, stage_with
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import GraphRunner
from isaacsim.core.experimental.actuators.extension.attachment import attached_to
from isaacsim.core.experimental.actuators.files.usd import schema
from isaacsim.core.experimental.actuators.files.usd.discover import discover
from isaacsim.core.experimental.actuators.files.usd.edits import ParameterEdit, StandInEdit
from isaacsim.core.experimental.actuators.files.usd.overlay import write_overlay
from isaacsim.core.experimental.actuators.files.usd.supplies import holder_of
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.fields import Parameter, conflicts, parameters_of
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS, Kind, parts_of
from isaacsim.core.experimental.actuators.tools.commands.main import main
from isaacsim.core.experimental.actuators.tools.export.c_header import c_text
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from isaacsim.core.experimental.actuators.tools.inspection.compare import differences
from isaacsim.core.experimental.actuators.tools.inspection.described import law_of
from isaacsim.core.experimental.actuators.tools.inspection.lint import fix
from isaacsim.core.experimental.actuators.tools.inspection.resolve import resolve
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing
from isaacsim.core.experimental.actuators.tools.trials.envelope import envelope
from isaacsim.core.experimental.actuators.tools.trials.step_response import step_response
from isaacsim.core.experimental.actuators.tools.viewing.live import Live
from made_up_kinds import MADE_UP, add_to_table, made_up_friction, made_up_law
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from robot_files import ARM, EXTENSION, OF_SHOULDER, SHOULDER, edited, without
from valid_configs import left_out, valid

JOINTS = ("shoulder", "extension")
PD = aa.PDControlConfig(30.0, 2.0)
DT = 0.005


# no gap, in which nothing acts; a weak field; errors farther than half of the period; no simulator is attached; the
# command of the controller beside it; an inertia, which is a fault where it is unknown
CHOSEN = {"backlash": 0.0, "flux_speed": 2.0**-7, "period": 0.25, "in_engine": False, "command": "effort"}
CHOSEN["assumed_inertia"] = 1.0


class Bench:
    def __init__(self, kind: Kind, law: catalogue.Law, folder: Path) -> None:
        self.kind, self.law, self.folder = kind, law, folder
        self.described: dict[str, Parameter] = parameters_of(law.config)
        # one that is not negative, if any
        self.name = next((name for name, one in self.described.items() if one.lower == 0.0), next(iter(self.described)))
        self.config = self.other(1.0)
        self.word = law_of(self.config)

    def other(self, factor: float) -> Any:
        # the numbers fall, or rise where a law wants that
        for step, leaves_out in ((-1.0, False), (20.0, False), (-3.0, False), (-3.0, True)):
            values: dict[str, Any] = {
                name: valid(one, 10.0 + step * at) if one.of_law else one.fallback
                for at, (name, one) in enumerate(self.described.items())
            }
            values |= left_out(self.law.config(**values)) if leaves_out else {}
            first = values[self.name]
            smaller = self.law.config(**values | {self.name: type(first)(first * 0.5)})
            if not conflicts(self.law.config(**values), "") and not conflicts(smaller, ""):
                break
        values |= {name: value for name, value in CHOSEN.items() if name in values}
        values[self.name] = type(values[self.name])(values[self.name] * factor)
        return self.law.config(**values)

    @property
    def value(self) -> float:
        return getattr(self.config, self.name)

    def motor(self, config: Any = None) -> list[Any]:
        config = config or self.config
        return [config] if self.kind.name == "controller" else [PD, config]

    def file(self, config: Any = None, name: str = "robot.usda") -> Path:
        motors = {joint: self.motor(config) for joint in JOINTS}
        return edited(
            self.folder, lambda stage: aa.add_motors(ARM, motors, stage=stage, overwrite_existing=True), name=name
        )

    def require(self, stages: Sequence[Any], config: Any = None) -> None:
        config = config or self.config
        found = [stage for stage in stages if isinstance(stage, self.law.config)]
        assert found, f"{[type(stage).__name__ for stage in stages]} lacks {self.law.config.__name__}"
        assert plain(found[0]) == pytest.approx(plain(config), rel=1e-6)

    def component(self, actuator: Any) -> Any:
        found = [stage for stage in actuator.stages if isinstance(stage, self.law.component)]
        assert found, f"{actuator!r} lacks {self.law.name}"
        return found[0]

    def arrays(self, robots: int = 2, config: Any = None, **options: Any) -> aa.ActuatedArrays:
        return aa.ActuatedArrays(list(JOINTS), {".*": self.motor(config)}, num_robots=robots, **options)


def plain(config: Any) -> dict[str, float]:
    return {name: float(one.number(getattr(config, name))) for name, one in parameters_of(config).items()}


def walk(arrays: aa.ActuatedArrays, steps: int = 6, first: int = 0) -> np.ndarray:
    rng, found = np.random.default_rng(3), []
    for number_of_step in range(first + steps):
        q, qd, target = rng.normal(size=(3, arrays.num_robots, len(JOINTS))).astype(np.float32)
        if number_of_step >= first:
            found.append(np.array(arrays.step(q, qd, target, DT)))
    return np.array(found)


def usd_reading(bench: Bench) -> None:
    stage = Usd.Stage.Open(str(edited(bench.folder, without(f"{ARM}/Actuators"))))
    for joint in JOINTS:
        aa.add_actuator(ARM, joint, joint, **parts_of(bench.motor()), stage=stage)
    for spec in discover(stage, ARM, [SHOULDER, EXTENSION]):
        bench.require(spec.stages)
    stage.Save()
    with aa.Simulation(stage.GetRootLayer().realPath), aa.ArticulationActuators(ARM) as actuators:
        assert bench.component(actuators.actuators[0]).read(bench.name)[0] == pytest.approx(bench.value)


def authoring(bench: Bench) -> None:
    found = aa.motors_of(str(bench.file()))
    assert len(found) == len(JOINTS)
    for motor in found.values():
        bench.require(motor.stages)


def units(bench: Bench) -> None:
    def small(stage: Any) -> None:
        UsdGeom.SetStageMetersPerUnit(stage, 0.01)
        UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
        aa.add_motors(ARM, {joint: bench.motor() for joint in JOINTS}, stage=stage, overwrite_existing=True)

    file = edited(bench.folder, small)
    for motor in aa.motors_of(str(file)).values():
        bench.require(motor.stages)
    described = bench.described[bench.name]
    stage = Usd.Stage.Open(str(file))
    holder = holder_of(stage.GetPrimAtPath(OF_SHOULDER), bench.law.config)
    written = holder.GetAttribute(described.attribute).Get()
    assert (written == pytest.approx(bench.value)) == (described.dimension[0] == 0)
    (robot,) = aa.inspect_robots(file)
    assert robot.actuators[0].values[bench.word, bench.name].value == pytest.approx(bench.value)


def foreign_schema(bench: Bench) -> None:
    name = "StrangeAPI"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "_registered", {})
        patch.setattr(schema, "_foreign", {})
        aa.register_actuator_component(name, bench.law.component, bench.kind.name)

        def strange(stage: Any) -> None:
            prim = stage.GetPrimAtPath(OF_SHOULDER)
            for applied in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
                if bench.kind.name == "controller" or applied != PD.SCHEMA:
                    prim.RemoveAppliedSchema(applied)
            prim.AddAppliedSchema(name)
            values = {name: one.number(getattr(bench.config, name)) for name, one in bench.described.items()}
            # newton:targets is the relationship to the joints
            values.pop("targets", None)
            for parameter, value in values.items():
                first, *rest = parameter.split("_")
                kind = Sdf.ValueTypeNames.Int if isinstance(value, int) else Sdf.ValueTypeNames.Float
                prim.CreateAttribute(f"newton:{first}{''.join(map(str.title, rest))}", kind).Set(value)

        file = edited(bench.folder, strange)
        (robot,) = aa.inspect_robots(file)
        shoulder = next(one for one in robot.actuators if one.path == OF_SHOULDER)
        assert name in shoulder.pipeline and shoulder.values[name, bench.name].value == bench.value
        assert bench.kind.name in {stage.KIND for stage in aa.motors_of(str(file))["shoulder"].stages}
        with aa.Simulation(file), aa.ArticulationActuators(ARM) as actuators:
            component = bench.component(next(one for one in actuators.actuators if "shoulder" in one.dof_names))
            assert component.read(bench.name)[0] == pytest.approx(bench.value)


def newton_form(bench: Bench) -> None:
    stage = Usd.Stage.Open(str(bench.file()))
    found = aa.parse_actuator_prim(stage.GetPrimAtPath(OF_SHOULDER))
    assert found is not None
    parts = [(found.controller_class, found.controller_kwargs), *found.component_specs]
    expected = {name: value for name, value in plain(bench.config).items() if bench.described[name].of_law}
    assert expected == dict(parts)[bench.law.component]


def motor_files(bench: Bench) -> None:
    for ending in ("yaml", "toml", "json"):
        file = bench.folder / f"motors.{ending}"
        aa.save_motors(file, {".*": bench.motor()})
        bench.require(aa.load_motors(file)[".*"].stages)


def saved_usd(bench: Bench) -> None:
    """A model of MuJoCo's own becomes a USD file, and gets motors there."""
    file = bench.folder / "saved.usda"
    with aa.Simulation(ROBOTS / "arm_2dof.xml") as sim, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim.save_usd(file)
    stage = Usd.Stage.Open(str(file))
    (robot,) = aa.inspect_robots(file)
    aa.add_motors(robot.path, {".*": bench.motor()}, stage=stage, overwrite_existing=True)
    stage.Save()
    for motor in aa.motors_of(str(file)).values():
        bench.require(motor.stages)


def overlays(bench: Bench) -> None:
    file, config = bench.file(), bench.other(0.5)
    for name, edit, expected in (
        ("changed.usda", ParameterEdit(OF_SHOULDER, config, bench.name), config),
        ("kept.usda", StandInEdit(OF_SHOULDER, motor_of(bench.motor()).as_listed), bench.config),
    ):
        write_overlay(file, bench.folder / name, [edit])
        bench.require(aa.motors_of(str(bench.folder / name))["shoulder"].stages, expected)


def split(bench: Bench) -> None:
    def both(stage: Any) -> None:
        stage.RemovePrim(f"{ARM}/Actuators")
        aa.add_actuator(ARM, JOINTS, "both", **parts_of(bench.motor()), stage=stage)

    fix(edited(bench.folder, both), bench.folder / "split.usda")
    (robot,) = aa.inspect_robots(bench.folder / "split.usda")
    assert sorted(one.joints for one in robot.actuators) == [("extension",), ("shoulder",)]
    for one in robot.actuators:
        bench.require(one.stages)


def inspection(bench: Bench) -> None:
    (robot,) = aa.inspect_robots(bench.file())
    for actuator in robot.actuators:
        assert actuator.usable and bench.word in actuator.pipeline
        bench.require(actuator.stages)
        value = actuator.values[bench.word, bench.name]
        linear = actuator.joints == ("extension",)
        unit = bench.described[bench.name].unit.split(" or ")
        assert (value.value, value.source, value.unit) == (bench.value, "robot.usda", unit[-1 if linear else 0])
    assert {joint.driven_by for joint in robot.joints} == {"actuator"}


def command_inspect(bench: Bench) -> None:
    values = told("inspect", str(bench.file()))["values"]
    expected = [row["value"] for row in values if (row["law"], row["parameter"]) == (bench.word, bench.name)]
    assert [bench.value] * 2 == expected


def told(*arguments: str) -> Any:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        main([*arguments, "--json"])
    return json.loads(out.getvalue())


def linting(bench: Bench) -> None:
    """A value out of range is told, and a correction of something else keeps it."""
    described = bench.described[bench.name]
    wrong = Usd.Stage.Open(str(bench.file(name="wrong.usda")))
    holder = holder_of(wrong.GetPrimAtPath(OF_SHOULDER), bench.law.config)
    value = -1 if described.lower >= 0.0 else math.inf
    holder.GetAttribute(described.attribute).Set(value)
    wrong.Save()
    said = [str(finding) for finding in aa.lint(bench.folder / "wrong.usda")]
    assert any(str(holder.GetPath()) in line and f"{described.attribute} = {value}" in line for line in said), said
    if not bench.law.schema.startswith("Newton"):
        said = [str(finding) for finding in aa.lint(bench.file())]
        assert any("newton" in line and bench.law.schema in line for line in said), f"not said to be ours: {said}"
    stiff = Usd.Stage.Open(str(bench.file(name="stiff.usda")))
    drive = UsdPhysics.DriveAPI.Apply(stiff.GetPrimAtPath(SHOULDER), "angular")
    drive.CreateStiffnessAttr(1e6)
    stiff.Save()
    fixed, _ = fix(bench.folder / "stiff.usda", bench.folder / "fixed.usda")
    assert "drive-and-actuator" in {one.rule for one in fixed}
    bench.require(aa.motors_of(str(bench.folder / "fixed.usda"))["shoulder"].stages)


def comparing(bench: Bench) -> None:
    robots = [aa.inspect_robots(bench.file(config, f"{at}.usda")) for at, config in enumerate([None, bench.other(2.0)])]
    found = {(one.joint, one.property) for one in differences(*robots)}
    assert {(joint, f"{bench.word}.{bench.name}") for joint in JOINTS} <= found


def resolving(bench: Bench) -> None:
    found = [row for row in resolve(bench.file()) if row.joint == "shoulder" and "replaces it" not in row.rule]
    of_law = [value for name, value in plain(bench.config).items() if bench.described[name].of_law]
    others = {f"{bench.word}.{name}" for name, one in bench.described.items() if not one.of_law}
    rows = [row for row in found if row.file in of_law and row.property not in others]
    assert rows, "no row has its values"
    assert all(row.applied == pytest.approx(row.file) for row in rows)


def engine(bench: Bench) -> None:
    if bench.kind.takes_effort and not bench.kind.changes_effort:
        arrays = bench.arrays()
        walk(arrays)
        states = {name: values for name, values in arrays.save_state().items() if f".{bench.kind.name}." in name}
        # what a simulator takes over is nothing without one, nor are errors of rounding and power that returns
        nothing = ("engine_damping", "_rest", "brake_power")
        remembered = [values for name, values in states.items() if not name.endswith(nothing)]
        assert remembered and all(np.all(values) for values in remembered)
        return
    without_it = aa.ActuatedArrays(list(JOINTS), {".*": [aa.PDControlConfig(1.0, 0.0)]}, num_robots=2)
    if bench.kind.name != "controller":
        without_it = aa.ActuatedArrays(list(JOINTS), {".*": [PD]}, num_robots=2)
    assert (walk(bench.arrays()) != walk(without_it)).any(axis=(0, 2)).all()


def randomizing(bench: Bench) -> None:
    arrays = bench.arrays(robots=8)
    is_int = bench.described[bench.name].type == "int"
    drawn = aa.Uniform(0, bench.value) if is_int else aa.Uniform(0.5, 1.5, operation="scale")
    arrays.randomize({bench.name: drawn}, seed=1)
    assert len(set(bench.component(arrays.actuators[0]).read(bench.name).tolist())) > 2


def recording(bench: Bench) -> None:
    arrays = bench.arrays()
    with arrays.record() as log:
        efforts = walk(arrays)
    np.testing.assert_array_equal(log.applied_efforts, efforts)
    if bench.kind.takes_effort:
        # the held effort of a rate is what its controller computed
        changes = bench.kind.changes_effort and bench.law.component.TICK is None
        assert (log.applied_efforts != log.computed_efforts).any() == changes
    # what is no limit is not said to limit
    assert (bench.law.name in log.limited_by) == bench.kind.is_limit
    log.save(bench.folder / "log.npz")
    np.testing.assert_array_equal(aa.Recording.load(bench.folder / "log.npz").applied_efforts, efforts)


def saved_states(bench: Bench) -> None:
    arrays, other = bench.arrays(), bench.arrays()
    walk(arrays)
    saved = arrays.save_state()
    for name in bench.law.state:
        assert any(bench.kind.name in key and key.endswith(f".{name}") for key in saved), [*saved]
    other.restore_state(saved)
    for name, values in other.save_state().items():
        np.testing.assert_array_equal(values, saved[name], err_msg=name)
    np.testing.assert_array_equal(walk(other, first=6), walk(arrays, first=6))


def live_view(bench: Bench) -> None:
    with aa.Simulation(bench.file(), DT) as sim, aa.ArticulationActuators(ARM):
        sim.play()
        live = Live(sim, sim._host)
        sim.step(5)
        shown = live.joints[0]
        assert bench.law.name in shown.stages, f"{shown} does not name it"
        effort = live.efforts()[0]
        has_state = bench.kind.takes_effort and bench.law.state
        assert has_state or effort.lower - 1e-4 <= effort.applied <= effort.upper + 1e-4
        live.close()


def trial_envelope(bench: Bench) -> None:
    found = envelope(bench.arrays(), "shoulder")
    if bench.kind.takes_effort:
        bounds = bench.kind.changes_effort and not bench.kind.converts
        assert (bench.law.name in found.clamps) == bounds, [*found.clamps]
    if bench.kind.name == "delay":
        steps, seconds = bench.config.delay_parts()
        assert found.delay_steps == pytest.approx(steps - 1.5) and seconds > 0.0, "a mean of 0 to 3 steps is drawn"
    assert np.shape(found.whole)[0] == 2


def trial_step_response(bench: Bench) -> None:
    seen: list[Any] = []
    file = bench.file()

    def made(*given: Any, **options: Any) -> aa.ArticulationActuators:
        wrapper = original(*given, **options)
        seen.append(wrapper)
        return wrapper

    original = aa.ArticulationActuators.from_actuators
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aa.ArticulationActuators, "from_actuators", made)
        try:
            step_response(lambda: aa.Simulation(file, DT), ARM, "shoulder", amplitude=0.02, seconds=0.02)
        except RuntimeError as error:
            # what diverges has been stepped all the same
            assert "diverged" in str(error)
    others = [one for wrapper in seen for one in wrapper.actuators if "extension" in one.dof_names]
    assert others
    for actuator in others:
        bench.component(actuator)


def stability(bench: Bench) -> None:
    with aa.Simulation(bench.file(), DT) as sim, aa.ArticulationActuators(ARM) as actuators:
        sim.play()
        table = actuators.stability()
    if bench.kind.name == "controller":
        assert table.joints[0].kp == pytest.approx(bench.value)
    # how delays and limits take no part stands in the equations
    if getattr(bench.law.config, "IS_RIGID", False):
        # a rigid gear is in the gains
        assert table.joints[0].kp == pytest.approx(PD.kp * bench.value**2) and not table.left_out
    elif Timing.is_in(bench.config):
        assert table.joints[0].latency > 0.0 and not table.left_out
    elif bench.kind.changes_loop:
        assert f"left out: {catalogue.snake_case(bench.law.config.stem())} of " in str(table)


def full(value: float, needs: bool = False) -> wp.array:
    return wp.array([value], dtype=wp.float32, device="cpu", requires_grad=needs)


NOTHING: Any = {"STATE": (), "START": {}, "KEPT": (), "ASKS": (), "PUBLISHES": {}}
NOTHING |= {"LATE": (), "PREPARE": None, "TICK": None}
"""What a stage says that is evaluated by itself."""


# rounding to multiples of these has the slope of what is rounded, unlike its differences
QUANTA = ("resolution", "velocity_resolution")


def gradients(bench: Bench) -> None:
    if bench.kind.changes_effort:
        own = type("OwnStage", (bench.law.component,), {"modify_forces": lambda *_: None, **NOTHING})
        stages: Any = [aa.ControllerPD(full(1.0), full(0.0)), own(**{name: full(1.0) for name in bench.law.parameters})]
        # a transmission must have laws, with gradients or without
        with pytest.raises(TypeError if bench.kind.converts else NotImplementedError, match="OwnStage"):
            aa.Actuator(wp.zeros(1, dtype=wp.uint32, device="cpu"), **parts_of(stages), requires_grad=True)
    names = [name for name, one in bench.described.items() if one.type == "float" and one.of_law]
    exact = {name: 0.0 for name in QUANTA if name in bench.described}
    bench.config = dataclasses.replace(bench.config, **exact)
    try:
        found = [gradient(bench, name) for name in names]
    except NotImplementedError as error:
        assert bench.law.name in str(error), f"refused without its name: {error}"
        return
    for name, value in zip(names, found, strict=True):
        step = 1e-2 * getattr(bench.config, name)
        if step == 0.0:
            continue
        ends = [stepped(bench, name, sign * step)[0] for sign in (1, -1)]
        assert value == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-2, abs=1e-4), name
    # how often a controller runs has no slope, nor has a delay in the first step, whose ring has one value
    has_slopes = bench.law.component.TICK is None and "delay" not in bench.kind.name
    assert not names or any(found) or not has_slopes, "all gradients are 0"


def gradient(bench: Bench, name: str) -> float:
    effort, array, tape = stepped(bench, name, 0.0, tape=wp.Tape())
    tape.backward(grads={effort: wp.ones(1, dtype=wp.float32, device="cpu")})
    return array.grad.numpy()[0]


def stepped(bench: Bench, name: str, more: float, tape: Any = None) -> tuple[Any, Any, Any]:
    array = full(getattr(bench.config, name) + more, tape is not None)

    def built(config: Any) -> Any:
        made = catalogue.build(config, 1, "cpu")
        if isinstance(made, bench.law.component):
            setattr(made, name, array)
        return made

    at = wp.array([0], dtype=wp.uint32, device="cpu")
    actuator = aa.Actuator(at, **motor_of(bench.motor()).each(built), requires_grad=tape is not None)
    state = SimpleNamespace(joint_q=full(0.3), joint_qd=full(0.7))
    targets = {"joint_target_q": full(2.0), "joint_target_qd": full(0.0), "joint_act": full(0.0)}
    control = SimpleNamespace(**targets, joint_f=full(0.0, tape is not None))
    with tape or contextlib.nullcontext():
        actuator.step(state, control, actuator.state(), actuator.state(), DT)
    return control.joint_f if tape else control.joint_f.numpy()[0], array, tape


def node_of_graphs(bench: Bench) -> None:
    ports = ["custom string inputs:robotPath = '/World/Arm'", pulse("T.outputs:tick")]
    stage = stage_with(graph(node("T", TICK) + node("M", ACTUATORS, *ports)))
    stage.GetRootLayer().subLayerPaths.append(str(bench.file()))
    with aa.Simulation(stage, DT) as sim, GraphRunner(sim) as runner:
        sim.play()
        runner.run(3)
        assert not any(graph.errors for graph in runner.graphs)
        (wrapper,) = attached_to(sim.bus)
        bench.component(wrapper.actuators[0])


def newton_counterpart(bench: Bench) -> None:
    pytest.importorskip("newton.actuators", reason="newton is not installed")
    arrays = bench.arrays(robots=1)
    known = bench.kind.name in ("delay", "controller", "clamping") and bench.law.schema.startswith("Newton")
    for given in (bench.config, bench.component(arrays.actuators[0]), public(bench)):
        try:
            aa.to_newton(given)
        except ValueError as error:
            assert not known and bench.law.name in str(error), str(error)
        else:
            assert known, f"{given!r} was converted without it"


def public(bench: Bench) -> Any:
    parts = motor_of(bench.motor()).each(lambda config: catalogue.build(config, 1, "cpu"))
    return aa.Actuator(wp.array([0], dtype=wp.uint32, device="cpu"), **parts)


TOOLS: dict[str, Callable[[Bench], None]] = {
    **{"reading of USD": usd_reading, "authoring": authoring, "conversion of units": units},
    "parse_actuator_prim": newton_form,
    "register_actuator_component": foreign_schema,
    **{"files of motors": motor_files, "save_usd": saved_usd, "overlays": overlays, "split": split},
    **{"inspect_robots": inspection, "inspect": command_inspect, "lint": linting, "diff": comparing},
    **{"resolve": resolving, "step": engine, "randomize": randomizing, "recorder": recording},
    **{"saved states": saved_states, "live view": live_view, "envelope": trial_envelope},
    **{"step response": trial_step_response, "stability": stability, "gradients": gradients},
    **{"action graph": node_of_graphs, "to_newton": newton_counterpart},
}
# linkages are of several joints: `tests/files/usd/test_linkages.py`
SINGLE = [kind for kind in KINDS.values() if not kind.couples]
FRICTION = "made-up friction"


@pytest.fixture(params=[*SINGLE, MADE_UP, FRICTION], ids=lambda kind: getattr(kind, "name", kind))
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Each kind with the first law of the table, stages behind the controller with one that has a state, or made up."""
    kind: Kind = KINDS["passive"] if request.param == FRICTION else request.param
    laws = [one for one in catalogue.laws() if one.kind == kind.name and request.param != FRICTION]
    law = next((one for one in laws if one.state and kind.takes_effort), next(iter(laws), None))
    with pytest.MonkeyPatch.context() as patch:
        if law is None:
            law = made_up_friction() if request.param == FRICTION else made_up_law(kind)
            add_to_table(patch, kind, law)
            # the core that was built does not know it
            patch.setattr(native, "core", None)
        yield Bench(kind, law, tmp_path)


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_drops_a_kind(tool: str, bench: Bench) -> None:
    try:
        with warnings.catch_warnings():
            # what has no limit is no matter here
            warnings.filterwarnings("ignore", category=UserWarning)
            TOOLS[tool](bench)
    except Exception as error:
        why = f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
        pytest.fail(f"{tool} does not carry kind {bench.kind.name}: {why}")


of_friction = pytest.mark.parametrize("bench", [FRICTION], indirect=True)


@of_friction
def test_the_simulator_has_no_friction_beneath_a_law_of_friction(bench: Bench) -> None:
    with aa.Simulation(ROBOTS / "unitree_go1.usda", DT) as sim:
        robot = aa.Articulation("/World/Go1")
        robot.set_dof_friction_properties(0.3, 0.3, 0.02)
        before = [part.numpy() for part in robot.get_dof_friction_properties()]
        assert np.all(before)
        with aa.ArticulationActuators.from_configs("/World/Go1", {".*": bench.motor()}):
            sim.play()
            assert not np.any([part.numpy() for part in robot.get_dof_friction_properties()])
        np.testing.assert_array_equal([part.numpy() for part in robot.get_dof_friction_properties()], before)


@of_friction
@needs_compiler
def test_a_c_header_has_the_effort_of_a_law_of_friction(bench: Bench) -> None:
    assert steps_alike(read_robot(bench.file()), bench.folder).any()
    unknown = bench.file(dataclasses.replace(bench.config, assumed_inertia=0.0), "unknown.usda")
    with pytest.raises(ValueError, match="passive grip has no assumed_inertia"):
        c_text(read_robot(unknown), [])


@of_friction
def test_a_law_of_friction_has_a_smooth_gradient(bench: Bench) -> None:
    found = []
    for smooth in (False, True):
        law = aa.ControllerPD(full(1.0), full(0.0))
        friction = catalogue.build(bench.config, 1, "cpu")
        actuator = aa.Actuator(
            wp.zeros(1, dtype=wp.uint32, device="cpu"), law, others=[friction], requires_grad=True, smooth_stick=smooth
        )
        # it sticks under a load that is told
        actuator.signals["load_is_whole"].fill_(1.0)
        target, out = full(0.8 * bench.value, True), full(0.0, True)
        state = SimpleNamespace(joint_q=full(0.0), joint_qd=full(0.0))
        control = SimpleNamespace(joint_target_q=target, joint_target_qd=full(0.0), joint_act=full(0.0), joint_f=out)
        with wp.Tape() as tape:
            actuator.step(state, control, actuator.state(), actuator.state(), DT)
        tape.backward(grads={out: wp.ones(1, dtype=wp.float32, device="cpu")})
        found.append(float(target.grad.numpy()[0]))
    assert found[0] == 0.0 and found[1] > 0.1, found
