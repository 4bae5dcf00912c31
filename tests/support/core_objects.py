"""Objects of the native core made from plain arrays, with the arguments of each of its entries: without Warp."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from isaacsim.core.experimental.actuators.base.native import core

ROBOTS, SLOTS, DEPTH = 3, 4, 3
DT = 0.01
SIGNALS = ["joint_q", "joint_qd", "target_pos", "target_vel", "act"]


class Entry(NamedTuple):
    call: Callable
    arguments: list
    after: Callable[[Any], None]


def floats(*shape: int, value: float = 1.0) -> np.ndarray:
    return np.full(shape, value, np.float32)


def ints(*shape: int, value: int = 0) -> np.ndarray:
    return np.full(shape, value, np.int32)


class Bench:
    """A plan with a delay, a law that remembers, a network and all limits, and all that it is bound to."""

    def __init__(self, robots: int = ROBOTS, slots: int = SLOTS) -> None:
        self.robots, self.slots = robots, slots
        self.every = list(range(slots))
        self.network = core.Network(*self.network_arguments())
        self.plan = core.Plan(*self.plan_arguments())
        self.state, self.other = core.State(*self.state_arguments()), core.State(*self.state_arguments())
        self.plan.add_curve(*self.curve_arguments())
        self.plan.bind_columns(*self.column_arguments())
        self.plan.use(self.state, self.state)
        self.tape = core.Tape(*self.tape_arguments())

    def numbers(self) -> np.ndarray:
        return floats(self.robots, self.slots)

    @staticmethod
    def network_arguments() -> list:
        lines = [("linear", 1, 2, 0, 1, 0, 0, 0, 0), ("tanh", 3, 2, 1, 2, 0, 0, 0, 0)]
        return [1, 5, 3, 0, 0, 0, lines, floats(4, value=0.5)]

    @staticmethod
    def recurrent_arguments() -> list:
        """Of one LSTM layer of two numbers: input, four states, gates, output."""
        return [1, 1 + 8 + 8, 5, 1, 2, 2, [("lstm", 5, 2, 0, 1, 9, 8, 0, 0)], floats(8 * 1 + 8 * 2 + 8, value=0.1)]

    def plan_arguments(self) -> list:
        """PID on the first slots, a network on the last, every limit on all."""
        parameters = {"DCMotor": [5, 6, 7], "PositionBased": [], "MaxEffort": [7]}
        limits = [(f"Clamping{name}", places, self.every) for name, places in parameters.items()]
        networks = [(self.network, [(2, 1, 0, 0.0, 1.0)], [2], 2, 1.0, 0.0, self.every[-1:], True)]
        controllers = [("ControllerPID", [0, 1, 2, 3, 4], self.every[:-1])]
        return ["leg", self.robots, self.slots, [1.0] * 8, controllers, limits, self.every, DEPTH, networks]

    def state_arguments(self) -> list:
        """Three rings, how full they are, and the numbers of the law and of the network."""
        count = self.robots * self.slots
        laws = [floats(self.robots * (self.slots - 1)), floats(2, self.robots)]
        return [core.ring(DEPTH, count), ints(count, value=1), ints(1), laws]

    def curve_arguments(self) -> list:
        return [2, 0, np.array([[-1, 5, 0], [1, 5, 0]], np.float32), self.every]

    def column_arguments(self) -> list:
        wide = 2 * self.slots
        return [[floats(self.robots, wide) for _ in SIGNALS], floats(self.robots, wide), [2 * k for k in self.every]]

    def piece_arguments(self) -> list:
        self.plan.own(0, self.numbers())
        return [0, floats(self.robots, 2), [2, 0]]

    def lag_piece_arguments(self) -> list:
        self.plan.own_lag(ints(self.robots, self.slots, value=2))
        return [ints(self.robots, 2, value=1), [2, 0]]

    def tape_arguments(self) -> list:
        """All arrays of some robots and slots, the last five rows."""
        return [[0, self.robots - 1], self.every[1:], list(range(10)), 5, self.robots, self.slots]

    def handed(self) -> list:
        return [[self.numbers() for _ in SIGNALS], ints(self.robots, self.slots), self.numbers(), self.numbers()]


def run_plan(plan) -> None:
    for _ in range(3):
        plan.step(DT)
    plan.layout, plan.memory, plan.steps, plan.faults()
    plan.reset([0])
    plan.step(DT)
    plan.command(DT)
    plan.limit()


class OneJoint:
    """A plan of PID with a delay on joints found by index, as calls of an actuator have it."""

    def __init__(self) -> None:
        self.plan = core.Plan(
            "knee", ROBOTS, 1, [1.0] * 6, [("ControllerPID", [0, 1, 2, 3, 4], [0])], [("ClampingMaxEffort", [5], [0])],
            [0], DEPTH,
        )  # fmt: skip
        self.state = core.State(core.ring(DEPTH, ROBOTS), ints(ROBOTS, value=DEPTH), ints(1), [floats(ROBOTS)])
        self.arrays: list = [floats(ROBOTS) for _ in range(7)]
        self.at = np.arange(ROBOTS, dtype=np.uint32)
        self.names = [*SIGNALS, "joint_f", "computed"]
        self.sim_state = SimpleNamespace(**dict(zip(self.names, self.arrays, strict=True)))
        self.calls = core.Calls(*self.call_arguments())
        self.given = object()

    def call_arguments(self) -> list:
        return [[self.plan], [(name,) for name in self.names], [], [], True, True]

    def frame(self) -> list:
        return [list(self.arrays), [list(self.names)], [list(self.arrays)], [[self.at] * 7]]

    def states(self) -> list:
        return [self.given, [self.given], [self.state], [self.state], []]

    def run(self, _made=None) -> None:
        for now, after in ((self.given, [self.given]), (self.given, self.given)):
            self.calls.step(self.sim_state, self.sim_state, now, after, DT)
        self.plan.step(DT)


class Chain:
    """Gradients of a law with a delay and limits, and arrays of a step: PID "", "network", or "recurrent"."""

    def __init__(self, law: str = "") -> None:
        self.law = law
        self.gradients = core.Gradients(*self.arguments())
        self.state = core.State(core.ring(DEPTH, ROBOTS), ints(ROBOTS, value=DEPTH), ints(1), self.remembered())
        self.at = np.arange(ROBOTS, dtype=np.uint32)

    def arguments(self) -> list:
        curve = np.array([[-1, 5, 0], [1, 5, 0]], np.float32)
        networks = []
        if self.law == "network":
            network = core.Network(*Bench.network_arguments())
            networks = [(network, [(2, 1, 0, 0.0, 1.0)], [2], 2, 1.0, 0.0, [0], True)]
        elif self.law == "recurrent":
            network = core.Network(*Bench.recurrent_arguments())
            networks = [(network, [(2, 0, -1, 0.0, 1.0)], [], 1, 1.0, 0.0, [0], False)]
        name, limits = "" if networks else "ControllerPID", ["ClampingPositionBased", "ClampingMaxEffort"]
        return [ROBOTS, name, networks, limits, [[], [curve], []], DEPTH]

    def remembered(self) -> list[np.ndarray]:
        if self.law == "network":
            return [floats(2, ROBOTS)]
        return [floats(1, ROBOTS, 2) for _ in range(2)] if self.law else [floats(ROBOTS)]

    def parameters(self) -> list[np.ndarray]:
        return [floats(ROBOTS) for _ in range(1 if self.law else 6)]

    def noting(self) -> list:
        signals = [floats(ROBOTS) for _ in SIGNALS]
        return [signals, [self.at] * 5, self.parameters(), self.state, ints(ROBOTS, value=2), DT]

    def backing(self) -> list:
        after, before = ([*(floats(DEPTH, ROBOTS) for _ in range(3)), *self.remembered()] for _ in range(2))
        signals = [floats(ROBOTS) for _ in SIGNALS]
        numbers = {"": None, "network": floats(4), "recurrent": floats(32)}[self.law]
        flat = self.parameters()
        return [[floats(ROBOTS), None], self.at, signals, [self.at] * 5, flat, after, before, numbers]


def entries() -> dict[str, Callable[[], Entry]]:
    """Each entry by name; made anew for each call, for calls change what they are given."""

    def nothing(_made) -> None:
        pass

    def handed_over() -> Bench:
        bench = Bench()
        bench.plan.hand_over(*bench.handed())
        return bench

    def of_plan(name: str, arguments: Callable[[Bench], list]) -> Callable[[], Entry]:
        def made() -> Entry:
            bench = handed_over()
            return Entry(getattr(bench.plan, name), arguments(bench), lambda _: run_plan(bench.plan))

        return made

    def follower() -> Entry:
        bench = handed_over()
        inputs, efforts, columns = bench.column_arguments()
        bench.plan.bind_columns(inputs, efforts, columns)
        given = (*inputs[:4], None, efforts)

        def run(follow) -> None:
            if follow is not None:
                follow(*(None if one is None else np.copy(one) for one in given))
                follow(1, inputs, None, floats(2), bench, efforts)
            run_plan(bench.plan)

        return Entry(bench.plan.follower, [given], run)

    def on_tape(name: str) -> Callable[[], Entry]:
        def made() -> Entry:
            bench = handed_over()
            if name != "record":
                bench.plan.record(bench.tape)
            if name == "read":
                run_plan(bench.plan)
            given = [bench.tape, 3] if name == "read" else [bench.tape]
            return Entry(getattr(bench.plan, name), given, lambda _: run_plan(bench.plan))

        return made

    def new_plan() -> Entry:
        bench = Bench()

        def run(plan) -> None:
            plan.add_curve(*bench.curve_arguments())
            plan.bind_columns(*bench.column_arguments())
            plan.use(bench.state, bench.state)
            plan.hand_over(*bench.handed())
            run_plan(plan)

        return Entry(core.Plan, bench.plan_arguments(), run)

    def new_state() -> Entry:
        bench = Bench()

        def run(state) -> None:
            bench.plan.use(state, bench.state)
            bench.plan.step(DT)
            bench.plan.use(bench.state, state)
            bench.plan.hand_over(*bench.handed())
            run_plan(bench.plan)

        return Entry(core.State, bench.state_arguments(), run)

    def new_tape() -> Entry:
        bench = Bench()

        def run(tape) -> None:
            bench.plan.record(tape)
            for _ in range(300):
                bench.plan.step(DT)
            for which in range(10):
                try:
                    bench.plan.read(tape, which)
                except ValueError as error:
                    assert "one that is noted" in str(error)

        return Entry(core.Tape, bench.tape_arguments(), run)

    def new_network(recurrent: bool) -> Callable[[], Entry]:
        def made() -> Entry:
            bench = Bench()
            layers, rows, hidden = (1, 35, 2) if recurrent else (0, 35, 0)

            def run(network) -> None:
                now = [floats(layers, rows, hidden) for _ in range(2 if recurrent else 0)]
                network.bind(floats(rows, 1), floats(rows), now, now).run()

            return Entry(core.Network, bench.recurrent_arguments() if recurrent else bench.network_arguments(), run)

        return made

    def bound_network() -> Entry:
        network = core.Network(*Bench().recurrent_arguments())
        now, after = [[floats(1, 35, 2) for _ in range(2)] for _ in range(2)]
        return Entry(network.bind, [floats(35, 1), floats(35), now, after], lambda made: made.run())

    def other_numbers() -> Entry:
        bench = handed_over()
        return Entry(bench.network.set, [floats(4)], lambda _: run_plan(bench.plan))

    def indexed() -> Entry:
        one = OneJoint()
        one.plan.use(one.state, one.state)
        return Entry(one.plan.bind_indices, [one.names, one.arrays, [one.at] * 7], lambda _: one.plan.step(DT))

    def calls(name: str) -> Callable[[], Entry]:
        def made() -> Entry:
            one = OneJoint()
            if name == "Calls":

                def run(calls) -> None:
                    one.calls = calls
                    calls.add_frame(*one.frame())
                    calls.add_states(*one.states())
                    calls.is_current()
                    one.run()

                return Entry(core.Calls, one.call_arguments(), run)
            if name != "add_frame":
                one.calls.add_frame(*one.frame())
            if name != "add_states":
                one.calls.add_states(*one.states())
            given = {
                "add_frame": one.frame(),
                "add_states": one.states(),
                "step": [one.sim_state, one.sim_state, one.given, [one.given], DT],
            }
            return Entry(getattr(one.calls, name), given[name], one.run)

        return made

    def gradients(name: str, law: str = "") -> Callable[[], Entry]:
        def made() -> Entry:
            chain = Chain(law)
            if name == "Gradients":

                def run(made) -> None:
                    made.back(made.note(*chain.noting()), *chain.backing())

                return Entry(core.Gradients, chain.arguments(), run)
            if name == "note":

                def back(noted) -> None:
                    chain.gradients.back(noted, *chain.backing())

                return Entry(chain.gradients.note, chain.noting(), back)
            noted = chain.gradients.note(*chain.noting())
            if name == "efforts":
                return Entry(chain.gradients.efforts, [noted], nothing)
            return Entry(chain.gradients.back, [noted, *chain.backing()], nothing)

        return made

    def transfer() -> Entry:
        doubles = np.ones((ROBOTS, 6)), np.ones((ROBOTS, 6))
        there = (floats(ROBOTS, 6), [0, 1, 2], doubles[0], [3, 4, 5])
        back = (doubles[1], [5, 0], floats(ROBOTS, 6), [1, 4])
        return Entry(core.Transfer, [[there, back], np.ones((ROBOTS, 5))], lambda made: made.run())

    def velocity_limits() -> Entry:
        arrays = [np.ones((ROBOTS, 6)), np.full((ROBOTS, 6), 2.0)]
        arguments = [np.ones((ROBOTS, 2)), [1, 4], [0, 3], [(2, 5, 1, -2.0)], *arrays, DT]
        return Entry(core.VelocityLimits, arguments, lambda made: made.run())

    def roots() -> Entry:
        state = np.ones((ROBOTS, 9)), np.ones((ROBOTS, 8))
        out = floats(2 * ROBOTS, 7), floats(2 * ROBOTS, 6), floats(2 * ROBOTS, 3)
        arguments = [*state, [(1, 2, 1, np.ones((ROBOTS, 3)))], [0.0, 0.0, -1.0], 2, *out]
        return Entry(core.Roots, arguments, lambda made: made.run())

    def roots_update() -> Entry:
        made = roots()
        return Entry(made.call(*made.arguments).update, [[0, 1]], nothing)

    def effective_inertias() -> Entry:
        factors, inverses = np.ones((ROBOTS, 3)), np.ones((ROBOTS, 2))
        arguments = [factors, inverses, [1, 2], [0, 1], [0, 0, 1], [0, 1], floats(ROBOTS, 2), floats(ROBOTS, 2)]
        return Entry(core.EffectiveInertias, arguments, lambda made: made.run())

    def rollout() -> Entry:
        arrays = [floats(ROBOTS, 1) for _ in range(4)]
        return Entry(core.Rollout, [Bench(ROBOTS, SLOTS).plan, *arrays, [(floats(ROBOTS, 1), 1)]], nothing)

    def rollout_run() -> Entry:
        made = rollout()
        watched = [floats(ROBOTS)], np.zeros((1, ROBOTS, 4))
        arguments = [[np.ones((6, 4))], np.zeros((5, ROBOTS)), DT, 2, np.zeros((ROBOTS, 4)), *watched]
        return Entry(made.call(*made.arguments).run, arguments, nothing)

    def in_turn() -> Entry:
        first = [one.call(*one.arguments) for one in (velocity_limits(), roots())]
        return Entry(core.InTurn, [first, core.Transfer([])], lambda made: made.run())

    def draws() -> Entry:
        numbers = (floats(ROBOTS), floats(ROBOTS), 2, 1, 1.0, 0.1, 17, True)
        steps = (ints(ROBOTS), floats(ROBOTS), 0, 0, 1.0, 9.0, 18, False)
        counts = np.zeros(ROBOTS, np.int64)
        return Entry(core.Draws, [[numbers, steps], ROBOTS], lambda made: made.draw(np.arange(ROBOTS), counts, 0))

    def draw() -> Entry:
        made = draws()
        return Entry(made.call(*made.arguments).draw, [np.arange(ROBOTS), np.zeros(ROBOTS, np.int64), 5], nothing)

    def new_late_plan() -> Entry:
        # an encoder on all slots, behind the controller and the three limits, with rings of five rows
        bench = Bench()
        feedback = [("FeedbackEncoder", [0] * 9, bench.every)]
        return Entry(core.Plan, [*bench.plan_arguments(), feedback, [(4, 5, False)]], nothing)

    def free(name: str, *arguments) -> Callable[[], Entry]:
        return lambda: Entry(getattr(core, name), list(arguments), nothing)

    of_plans: dict[str, Callable[[Bench], list]] = {
        "share": lambda b: [0, floats(b.slots)],
        "own": lambda b: [0, b.numbers()],
        "share_lag": lambda b: [ints(b.slots, value=2)],
        "own_lag": lambda b: [ints(b.robots, b.slots, value=2)],
        "own_piece": Bench.piece_arguments,
        "own_lag_piece": Bench.lag_piece_arguments,
        "add_curve": Bench.curve_arguments,
        "bind_columns": Bench.column_arguments,
        "use": lambda b: [b.state, b.other],
        "hand_over": Bench.handed,
        "give_signal": lambda b: [1, b.numbers()],
        "add_published": lambda b: [0, b.numbers(), 25.0, -1],
        "set_totals": lambda b: [[(b.numbers(), [0, 2], b.numbers())]],
        "start_at": lambda b: [[(0.5, False, -1), (0.0, True, -1)]],
        "set_linkages": lambda b: [
            [([0, 2], [False, True], [True, False], [*[[1.0, 1.0, 1.0, -1.0]] * 2, *[[0.5, 1.0]] * 5], [2, 2], [])]
        ],
        "measure": lambda b: [[b.numbers() for _ in range(4)]],
        "on_fault": lambda b: [lambda: None],
        "observe": lambda b: [b.numbers(), np.zeros((b.robots, b.slots), np.uint8), b.numbers(), 1],
        "step": lambda _: [DT],
        "stepper": lambda _: [nothing],
        "command": lambda _: [DT],
        "reset": lambda _: [[0, 2]],
        "set_faults": lambda _: [[(0, 1, 2, 3), (2, 3, 1, 4)], 5],
    }
    return {
        "Plan": new_plan,
        "Plan, late": new_late_plan,
        **{f"Plan.{name}": of_plan(name, arguments) for name, arguments in of_plans.items()},
        **{f"Plan.{name}": on_tape(name) for name in ("record", "stop_recording", "read")},
        "Plan.bind_indices": indexed,
        "Plan.follower": follower,
        "State": new_state,
        "Tape": new_tape,
        "Network": new_network(False),
        "Network, recurrent": new_network(True),
        "Network.bind": bound_network,
        "Network.set": other_numbers,
        "Calls": calls("Calls"),
        **{f"Calls.{name}": calls(name) for name in ("add_frame", "add_states", "step")},
        "Gradients": gradients("Gradients"),
        **{f"Gradients.{name}": gradients(name) for name in ("note", "back", "efforts")},
        **{
            f"{name}, {law}": gradients(name.rpartition(".")[2], law)
            for name in ("Gradients", "Gradients.note", "Gradients.back")
            for law in ("network", "recurrent")
        },
        "Transfer": transfer,
        "VelocityLimits": velocity_limits,
        "Roots": roots,
        "Roots.update": roots_update,
        "EffectiveInertias": effective_inertias,
        "Rollout": rollout,
        "Rollout.run": rollout_run,
        "InTurn": in_turn,
        "Draws": draws,
        "Draws.draw": draw,
        "address": free("address", floats(3)),
        "recognizer": free("recognizer", (floats(3), None, floats(2, 2))),
        "unchanged": free("unchanged", [({"a": 1}, (1,)), ([], ())]),
        "law": free("law", "ClampingMaxEffort", [floats(4) for _ in range(5)]),
        "prepare": free("prepare", "ClampingMaxEffort", [floats(4), floats(4)]),
        "function": free("function", "pow", [floats(19), floats(19)], core.variants()[-1] if core else ""),
        "curve": free("curve", np.array([[-1, 5, 0], [1, 5, 0]], np.float32), floats(7)),
        "ring": free("ring", 3, 12),
    }
