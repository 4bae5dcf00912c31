"""Each trait of the fakes is needed: without it, the contract of the hosts is broken or seen to be unproven."""

import operator

from fakes import callbacks
from fakes.callbacks import CallbackList, Subscription
from fakes.contract import check_life
from fakes.omni_physics_tensors import SimulationView
from fakes.simulation_manager import PRIM_GONE, READY_EVENTS, IsaacEvents, SimulationManager
from refusals import cases, refused


def keep_numbering(cls: type[SimulationManager]) -> None:
    cls.invalidate_physics()
    cls._callbacks.clear()


def ready_before_views(cls: type[SimulationManager]) -> None:
    world, physics = cls.world, cls.world.physics
    physics.load(world.usd_context.get_stage())
    cls._simulation_view_created = True
    for event in READY_EVENTS:
        cls._dispatch(event)
    cls._view = SimulationView(physics)


def register_beside(cls: type[SimulationManager], callback, event, *, order: int = 0) -> int:
    uid = cls._callback_iter
    cls._callback_iter += 1
    call = cls._as_kept(callback)
    held = [cls._connect(call, event, order), *cls._callbacks.get(uid, ())] if event not in PRIM_GONE else []
    cls._callbacks[uid] = (event, call, held)
    return uid


def no_ready(cls: type[SimulationManager], event) -> None:
    if event is not IsaacEvents.PHYSICS_READY:
        cls.world.dispatcher.dispatch_event(event.value)


# what is changed: class, attribute, replacement; where it shows: kind of world, actions
MUTATIONS: dict[str, tuple] = {
    "order ignored": (
        *(CallbackList, "sort_key", staticmethod(operator.itemgetter(1)), "isaac-physx"),
        "wrap unwrap open wrap play frame",
    ),
    "later order first": (
        *(CallbackList, "sort_key", staticmethod(lambda entry: (-entry[0], entry[1])), "isaac-newton"),
        "wrap play frame",
    ),
    "ids not used again": (SimulationManager, "_reset", classmethod(keep_numbering), "isaac-physx", "open"),
    "callbacks outlive the stage": (
        *(SimulationManager, "_reset", classmethod(lambda cls: cls.world.physics.unload()), "isaac-physx"),
        "wrap play open play frame",
    ),
    "strong reference": (
        *(SimulationManager, "_as_kept", staticmethod(lambda callback: callback), "isaac-physx"),
        "wrap play drop",
    ),
    "open gate": (*(SimulationManager, "_is_gate_open", classmethod(lambda cls: True), "isaac-physx"), "play frame"),
    "views outlive the stop": (SimulationManager, "_STOP_ORDER", 5000, "isaac-physx", "wrap play frame stop_closing"),
    "ready before views": (
        *(SimulationManager, "initialize_physics", classmethod(ready_before_views), "isaac-physx"),
        "wrap play frame",
    ),
    "no ready event": (SimulationManager, "_dispatch", classmethod(no_ready), "isaac-newton", "wrap play frame"),
    "default callbacks keep the numbers": (
        *(SimulationManager, "enable_default_callbacks", classmethod(lambda cls: None), "isaac-physx"),
        "wrap defaults play frame",
    ),
    "an overwritten callback is still called": (
        *(SimulationManager, "register_callback", classmethod(register_beside), "isaac-physx"),
        "wrap defaults play frame",
    ),
    "dropping does not unsubscribe": (Subscription, "__del__", lambda self: None, "kit-core", "wrap play frame unwrap"),
    "dropping does not unsubscribe, older Kit": (
        *(callbacks.Subscription, "unsubscribe", lambda self: None, "kit-physx"),
        "wrap play frame unwrap",
    ),
}


@cases("name", *MUTATIONS)
def test_mutated_fake_is_noticed(name, monkeypatch) -> None:
    owner, attribute, replacement, kind, actions = MUTATIONS[name]
    check_life(kind, actions.split(), has_deprecated_view=True)
    with monkeypatch.context() as patch:
        patch.setattr(owner, attribute, replacement)
        refused(AssertionError, lambda: check_life(kind, actions.split(), has_deprecated_view=True))
