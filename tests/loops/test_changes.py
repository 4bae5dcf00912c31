"""What is changed of a model is given back, whoever is collected first."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.loops.changes import Changes


class Model(SimpleNamespace):
    """Other than its base it can be referred to weakly, as models can."""


class Owner:
    """Gives back when it is deleted, as actuators do."""

    def __init__(self, model: Model) -> None:
        self.model, self.changes = model, Changes(self)
        self.changes.set(model.gains, [1], 0.0)
        self.changes.set(model.gains, [1, 2], 9.0)
        self.changes.replace(model, "name", "changed")

    def __del__(self) -> None:
        self.changes.give_back()


def model() -> Model:
    return Model(gains=wp.array(np.arange(4), dtype=wp.float32, device="cpu"), name="own")


def test_the_last_change_is_given_back_first() -> None:
    one = model()
    owner = Owner(one)
    assert one.gains.numpy().tolist() == [0, 9, 9, 3] and one.name == "changed"
    owner.changes.give_back()
    assert one.gains.numpy().tolist() == [0, 1, 2, 3] and one.name == "own"
    one.gains.fill_(5.0)
    owner.changes.give_back()
    assert one.gains.numpy().tolist() == [5, 5, 5, 5]


def test_who_is_dropped_gives_back() -> None:
    one = model()
    owner = weakref.ref(Owner(one))
    gc.collect()
    assert owner() is None and one.gains.numpy().tolist() == [0, 1, 2, 3]


def test_no_freed_array_is_written_to(monkeypatch) -> None:
    """A circle of a model and its actuators is collected in any order."""
    freed: list[int] = []
    delete = wp.array.__del__
    monkeypatch.setattr(wp.array, "__del__", lambda array: (freed.append(id(array)), delete(array))[0])
    gc.collect()
    gc.disable()
    try:
        one = model()
        owner, gains = Owner(one), id(one.gains)
        seen: list[bool] = []
        owner.changes.finally_do(lambda: seen.append(gains in freed))
        one.circle, freed[:] = owner, []
        del one, owner
    finally:
        gc.enable()
    gc.collect()
    assert seen == [False]
