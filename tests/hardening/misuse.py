"""Misuse: public functions and methods with odd arguments, at odd moments.

    ./python.sh tests/hardening/misuse.py --count 4000 --seed 1

Arguments are drawn by the signatures: sensible ones, of which one or two are odd. Methods are called before and after
physics runs and the simulation is closed, in callbacks, threads, finalisers and forked children, on copies. Counted are
calls that were *fine*, refused in words of *ours*, refused in those of *others* with an error of a documented kind, and
what must not be: errors of *foreign* kinds, calls that *crashed* or *hung*, or took *memory* of more than 2 GB. Exits
with 1 when there is any of these. `--only NUMBER` shows a call again.
"""

import argparse
import copy
import decimal
import gc
import importlib
import inspect
import json
import os
import pickle
import re
import resource
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

PACKAGE = "isaacsim.core.experimental.actuators"
DATA = Path(__file__).parents[2] / "data"
# of a call: time [s], memory [bytes]
LIMIT, MEMORY = 60.0, 2 << 30
MOST_STEPS = 1000
BAD = ("foreign", "crashed", "hung", "memory")
DOCUMENTED = (TypeError, ValueError, RuntimeError, OSError, ModuleNotFoundError)
# what opens windows and servers, what only Kit calls, and what has Python's own arguments
LEFT_OUT = {
    *("Extension", "View", "Host", "PhysicsBus", "ArticulationPort", "view", "render", "ComponentKind", "GraphError"),
    # what plans call of components, hosts of their buses, and articulations of their hosts
    *("compute", "modify_forces", "get_delayed_targets", "update_state", "finalize", "kernel", "compile"),
    *("from_config", "LAW", "PREPARE", "emit_ready", "emit_pre_step", "emit_reset", "emit_stop"),
    *("find", "grid", "columns", "silence", "write_state", "write_gains", "read_property", "write_properties"),
}
# where else public functions and classes are, and which; all of a module that says what is public
MODULES = {
    "compat.isaac_lab": (),
    "compat.newton_actuators": (),
    "extension.action_graphs.runner": (),
    "tools.inspection.compare": ("differences",),
    "tools.inspection.lint": ("fix",),
    "tools.inspection.resolve": ("resolve", "resolve_groups"),
    "tools.training": (),
    "tools.trials.bode": ("loop_response",),
    "tools.trials.envelope": ("envelope",),
    "tools.trials.step_response": ("step_response",),
}
MOMENTS = ("before", *["playing"] * 3, "stopped", "closed", "callback", "thread", "finaliser", "fork", "copy")


class OddError(Exception):
    """What an odd object raises, which goes through."""


class Refusing:
    def _no(self, *_):
        raise OddError

    __len__ = __iter__ = __float__ = __int__ = __index__ = __array__ = __getitem__ = __bool__ = __fspath__ = _no


class Lying:
    shape, dtype, device, ndim, size = (3,), "float", "cuda:7", 1, -1

    def numpy(self):
        return "no array"

    def __len__(self) -> int:
        return 10**9


def odd_values() -> list[Callable]:
    import warp as wp

    ring = []
    ring.append(ring)
    read_only = np.ones((1, 1), np.float32)
    read_only.flags.writeable = False
    plain = [
        *(None, True, 0, -1, 2, 2**31, 2**63, -(2**63) - 1, 2**200, 0.5, -0.0, np.nan, np.inf, -np.inf, 1e308, 1j),
        *("", "x", "x" * 20_000, "((a+)+)+$", "[", "\0", "\ud800", "/World/../..", "/World/Pendulum", b"bytes"),
        *([], [[]], [1, "a"], [[1], [1, 2]], [None], ring, (), {}, {"a": 1}, {".*": 1}, {1: 2}, set(), {"hinge": []}),
        *(object(), int, lambda: 1, Ellipsis, NotImplemented, decimal.Decimal("NaN"), Path("/dev/zero"), Path(".")),
        *(np.zeros(0), np.zeros((3, 4, 5)), np.zeros((), bool), np.array(["a"]), np.array([None]), np.array([1 + 1j])),
        *(np.ma.array([1.0, 2.0], mask=[1, 0]), np.ones(4)[::-2], np.ones((2, 2), ">f4"), np.array(["2020"], "M8[Y]")),
        *(np.zeros(1, [("a", "f4")]), np.matrix("1 2"), np.float16(1), np.uint64(2**64 - 1), np.array([2**63], "u8")),
        *(np.broadcast_to(0.0, (10**9,)), np.full((1, 1), np.nan), read_only, range(10**12), slice(None)),
    ]
    made: list[Callable] = [lambda one=one: one for one in plain]
    return [
        *made,
        Refusing,
        Lying,
        lambda: (number for number in range(3)),
        lambda: wp.zeros(0, dtype=wp.float32, device="cpu"),
        lambda: wp.zeros((2, 3), dtype=wp.float64, device="cpu"),
        lambda: wp.zeros(4, dtype=wp.int32, device="cpu")[::2],
        lambda: wp.zeros(2, dtype=wp.vec3, device="cpu"),
        lambda: wp.zeros(1, dtype=wp.bool, device="cpu"),
    ]


class Scene:
    def __init__(self) -> None:
        self.a = importlib.import_module(PACKAGE)
        self._made: dict = {}

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._made:
            self._made[name] = getattr(self, f"_{name}")()
        return self._made[name]

    def _sim(self):
        return self.a.Simulation(DATA / "robots/pendulum.usda")

    def _wrapper(self):
        self.sim  # noqa: B018
        return self.a.ArticulationActuators("/World/Pendulum")

    def _robot(self):
        self.sim  # noqa: B018
        return self.a.Articulation("/World/Pendulum")

    def _actuator(self):
        import warp as wp

        a = self.a
        gains = [wp.full(2, 1.0, dtype=wp.float32, device="cpu") for _ in range(3)]
        law = a.ControllerPID(*gains, wp.full(2, 5.0, dtype=wp.float32, device="cpu"), gains[0])
        delay = a.Delay(wp.full(2, 1, dtype=wp.int32, device="cpu"), 2)
        return a.Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), law, delay)

    def _group(self):
        return self.a.ActuatorGroup([self.actuator])

    def _arrays(self):
        a = self.a
        return a.ActuatedArrays(["a", "b"], {".*": [a.PDControlConfig(20.0, 2.0)]}, num_robots=2)

    def _recorder(self):
        return self.wrapper.record()

    def _recording(self):
        with self.arrays.record() as log:
            for _ in range(3):
                self.arrays.step(*np.zeros((3, 2, 2), np.float32), 0.01)
        return log

    def _controller(self):
        return self.actuator.controller

    def _delay(self):
        return self.actuator.delay

    def _clamp(self):
        import warp as wp

        return self.a.ClampingMaxEffort(wp.full(2, 1.0, dtype=wp.float32, device="cpu"))

    def _state(self):
        return self.actuator.state()

    def _motor(self):
        return self.a.MotorConfig.from_catalogue("mini_cheetah", kp=1.0, kd=1.0)

    def _bus(self):
        return self.sim.bus

    def _own(self):
        import mujoco

        text = "<mujoco><worldbody><body><joint name='hinge'/><geom size='1'/></body></worldbody></mujoco>"
        model = mujoco.MjModel.from_xml_string(text)
        return self.a.MujocoSimulation(model, mujoco.MjData(model))

    def _log(self):
        training = importlib.import_module(f"{PACKAGE}.tools.training")
        return training.ActuatorLog(0.01, *np.zeros((4, 50, 2), np.float32))

    def _graphs(self):
        opened = self.a.Simulation(DATA / "graphs/pd_from_usd.usda")
        return importlib.import_module(f"{PACKAGE}.extension.action_graphs.runner").GraphRunner(opened)

    def values(self) -> dict[str, Callable]:
        a = self.a

        def arrays(*names: str) -> dict:
            import warp as wp

            return {name: wp.zeros(2, dtype=wp.float32, device="cpu") for name in names}

        plain = {
            "source file": DATA / "robots/pendulum.usda",
            "path paths articulation_path": "/World/Pendulum",
            **{"joint_names dof_names": ["a", "b"], "dt step_dt": 1 / 240},
            **{"name": "one", "target_names": "hinge", "num_robots": 2, "steps": 1},
        }
        return {
            **{one: lambda value=value: copy.copy(value) for names, value in plain.items() for one in names.split()},
            "motors": lambda: {"hinge": [a.PDControlConfig(20.0, 2.0)]},
            "actuators": lambda: [self.actuator],
            "groups": dict,
            "configs": lambda: {".*": [a.PDControlConfig(20.0, 2.0)]},
            "controller": lambda: a.PDControlConfig(20.0, 2.0),
            "simulation": lambda: self.sim,
            "sim": lambda: self.sim,
            "current_states": lambda: list(self.group.state()),
            "next_states": lambda: list(self.group.state()),
            "current_act_state": lambda: self.actuator.state() or None,
            "next_act_state": lambda: self.actuator.state() or None,
            "sim_state": lambda: arrays("joint_q", "joint_qd"),
            "sim_control": lambda: arrays("joint_target_q", "joint_target_qd", "joint_act", "joint_f"),
        }


SUBJECTS = {
    **dict.fromkeys(("robot", "recorder", "controller", "clamp", "state", "bus", "log", "graphs")),
    **{"sim": "Simulation", "wrapper": "ArticulationActuators", "actuator": "Actuator", "group": "ActuatorGroup"},
    **{"arrays": "ActuatedArrays", "recording": "Recording", "delay": "Delay", "motor": "MotorConfig"},
    "own": "MujocoSimulation",
}


def calls(scene: Scene) -> list[tuple[str, str, str]]:
    """Every call there is: subject, or nothing; name; and what signature it has."""
    names = [name for name in dir(scene.a) if not name.startswith("_") and name not in LEFT_OUT]
    found = [("", name, "") for name in names if callable(getattr(scene.a, name))]
    for module, names in MODULES.items():
        there = importlib.import_module(f"{PACKAGE}.{module}")
        for name in names or there.__all__:
            if name not in LEFT_OUT and callable(getattr(there, name)):
                found.append(("", f"{module}.{name}", ""))
    for subject in SUBJECTS:
        held = getattr(scene, subject)
        for name in dir(type(held)):
            plans = subject in ("controller", "delay", "clamp") and name == "state"
            if not name.startswith("_") and name not in LEFT_OUT and not plans:
                kind = "get" if isinstance(inspect.getattr_static(type(held), name), property) else "call"
                found.append((subject, name, kind))
    # half of all calls are methods of what people hold most
    return found + [one for one in found if one[0] in ("sim", "wrapper", "robot", "group", "actuator")]


def arguments(rng: np.random.Generator, call: Callable, scene: Scene, odd: list) -> tuple[dict, list]:
    try:
        parameters = [
            one
            for one in inspect.signature(call).parameters.values()
            if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and not one.name.startswith("_")
        ]
    except (TypeError, ValueError):
        return {}, []
    sensible = scene.values()
    given = {}
    for one in parameters:
        if one.name in sensible and (one.default is one.empty or rng.random() < 0.3):
            given[one.name] = sensible[one.name]()
    without = [one.name for one in parameters if one.default is one.empty and one.name not in given]
    names = [one.name for one in parameters]
    strange = {*without}
    if names:
        strange.update(str(name) for name in rng.choice(names, int(rng.choice([1, 1, 2]))))
    told = []
    for name in sorted(strange):
        which = int(rng.integers(len(odd)))
        given[name] = odd[which]()
        # so many steps take their time, and can be interrupted
        if name == "steps" and isinstance(given[name], int) and given[name] > MOST_STEPS:
            given[name] = MOST_STEPS
        told.append(f"{name} = {type(given[name]).__name__} #{which}")
    return given, told


def at_moment(moment: str, scene: Scene, holder, do: Callable) -> None:
    if holder is None and moment in ("before", "playing", "stopped", "closed", "callback", "copy"):
        do()
        return
    errors: list[BaseException] = []

    def noted(*_) -> None:
        try:
            do()
        except BaseException as error:
            errors.append(error)

    if moment != "before" and moment != "copy":
        scene.sim.play()
    match moment:
        case "stopped":
            scene.sim.stop()
            do()
        case "closed":
            for name in ("wrapper", "sim"):
                if name in scene._made:
                    getattr(scene, name).close()
            do()
        case "callback":
            subscription = scene.sim.bus.on_pre_step(noted)
            scene.sim.step()
            subscription.close()
        case "thread":
            thread = threading.Thread(target=noted, daemon=True)
            thread.start()
            thread.join()
        case "finaliser":

            class Dying:
                pass

            dying = Dying()
            dying.self = dying  # type: ignore[attr-defined]
            weakref.finalize(dying, noted)
            del dying
            gc.collect()
        case "fork":
            read, write = os.pipe()
            pid = os.fork()
            if not pid:
                noted()
                os.write(write, judged(errors[0] if errors else None, moment).encode())
                os._exit(0)
            os.close(write)
            status = os.waitpid(pid, 0)[1]
            said = os.read(read, 1 << 16).decode()
            os.close(read)
            if status:
                os.kill(os.getpid(), os.WTERMSIG(status) or signal.SIGABRT)
            raise Judged(said)
        case _:
            do()
    if errors:
        raise errors[0]


class Judged(BaseException):
    """An error that was judged in another process."""


def judged(error: BaseException | None, moment: str) -> str:
    if error is None:
        return "fine|"
    if isinstance(error, Judged):
        return str(error.args[0])
    if isinstance(error, MemoryError):
        return f"memory|{error!r}"
    trace = traceback.extract_tb(error.__traceback__)
    where = " ".join(f"{Path(at.filename).name}:{at.lineno}" for at in trace[-4:])
    why = f"{type(error).__name__}: {str(error)[:160]} at {where}"
    if isinstance(error, OddError) or "OddError" in repr(error.__cause__):
        return "fine|"
    last = trace[-1]
    ours = "/actuators/" in last.filename and (last.line or "").startswith("raise")
    # what Python says of a call that does not fit, or a warning that is no error here
    promised = isinstance(error, DOCUMENTED) or f"{type(error).__name__}:" in PROMISED[-1]
    if promised and not isinstance(error, RecursionError):
        return ("ours" if ours or last.filename == __file__ else "others") + f"|{why}"
    return f"foreign|{why}"


def one_call(seed: int, number: int, odd: list) -> tuple[str, Callable[[], str]]:
    rng = np.random.default_rng([seed, number])
    scene = Scene()
    every = CALLS
    subject, name, kind = every[int(rng.integers(len(every)))]
    moment = str(rng.choice(MOMENTS))

    def make() -> tuple[str, Callable[[], str]]:
        holder = getattr(scene, subject) if subject else None
        own = holder
        if moment == "copy" and holder is not None:
            try:
                own = copy.copy(holder) if rng.random() < 0.5 else pickle.loads(pickle.dumps(holder))
            except Exception as error:
                ending = judged(error, moment)
                return f"copy of {subject}", lambda: ending
        if kind == "get":
            # what was not recorded is no attribute
            PROMISED[-1] = "AttributeError:" if subject == "recording" else ""
            return f"{subject}.{name} ({moment})", lambda: ended(lambda: getattr(own, name))
        module, _, last = name.rpartition(".")
        call = getattr(own if subject else importlib.import_module(f"{PACKAGE}.{module}") if module else scene.a, last)
        PROMISED[-1] = inspect.getdoc(call) or ""
        given, told = arguments(rng, call, scene, odd)
        return f"{subject}.{name}({', '.join(told)}) ({moment})", lambda: ended(lambda: call(**given))

    def ended(do: Callable) -> str:
        try:
            at_moment(moment, scene, subject or None, do)
        except BaseException as error:
            return judged(error, moment)
        return "fine|"

    return make()


CALLS: list[tuple[str, str, str]] = []
# what the call that is made says of its errors
PROMISED = [""]


def child(seed: int, numbers: list[int], out: int) -> None:
    # it and its children are ended together
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    odd = odd_values()
    CALLS[:] = calls(Scene())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in numbers:
        os.write(out, json.dumps([number, "?", ""]).encode() + b"\n")
        what, do = one_call(seed, number, odd)
        os.write(out, json.dumps([number, what, ""]).encode() + b"\n")
        ending = do()
        if (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 > MEMORY:
            ending = f"memory|{ending}"
            os.write(out, json.dumps([number, what, ending]).encode() + b"\n")
            os._exit(0)
        os.write(out, json.dumps([number, what, ending]).encode(errors="replace") + b"\n")
    os._exit(0)


def results(seed: int, numbers: list[int]):
    left = list(numbers)
    while left:
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                if len(numbers) > 1:
                    null = os.open(os.devnull, os.O_RDWR)
                    os.dup2(null, 1)
                    os.dup2(null, 2)
                child(seed, left[:100], write)
            finally:
                traceback.print_exc()
                os._exit(3)
        os.close(write)
        text, last, hung = b"", (left[0], "?"), False
        while True:
            if not select.select([read], [], [], LIMIT)[0]:
                hung = True
                os.killpg(pid, signal.SIGKILL)
            elif not (more := os.read(read, 1 << 16)):
                break
            else:
                text += more
            *lines, text = text.split(b"\n")
            for number, what, ending in map(json.loads, lines):
                last = number, what
                if ending:
                    left.remove(number)
                    yield number, what, ending
        os.close(read)
        status = os.waitpid(pid, 0)[1]
        if status and last[0] in left:
            left.remove(last[0])
            yield (*last, "hung|" if hung else f"crashed|status {status}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=4000, help="calls (default %(default)s)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: another one each time")
    parser.add_argument("--only", type=int, help="this call alone")
    args = parser.parse_args()
    for module in ("simulators.mujoco.host", "tools.stability.table", *MODULES):
        importlib.import_module(f"{PACKAGE}.{module}")
    start, ends, shown = time.perf_counter(), Counter[str](), Counter[str]()
    print(f"seed {args.seed}, {args.count} calls", flush=True)
    folder = tempfile.TemporaryDirectory(prefix="misuse-", ignore_cleanup_errors=True)
    os.chdir(folder.name)
    for number, what, ending in results(args.seed, list(range(args.count)) if args.only is None else [args.only]):
        end, _, why = ending.partition("|")
        ends[end] += 1
        place = re.sub(r"\d+", "#", why.rpartition(" ")[2]) if end != "others" else why.rpartition(" ")[2]
        if args.only is not None or end in ("crashed", "hung") or (end in (*BAD, "others") and not shown[end + place]):
            print(f"{end}, seed {args.seed}, call {number}: {what}: {why}", flush=True)
        shown[end + place] += 1
    os.chdir(DATA)
    folder.cleanup()
    told = ", ".join(f"{ends[end]} {end}" for end in ("fine", "ours", "others", *BAD))
    print(f"{told}; {time.perf_counter() - start:.0f} s")
    return int(any(ends[end] for end in BAD))


if __name__ == "__main__":
    sys.exit(main())
