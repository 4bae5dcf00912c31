import itertools

from isaacsim.core.experimental.actuators.tools.identification.identified import ModelScore
from isaacsim.core.experimental.actuators.tools.identification.models import FIRST, MODELS, is_clearly_better
from isaacsim.core.experimental.actuators.tools.identification.parameters import OF_LOG, PARAMETERS, fields_of
from refusals import cases


@cases("model", *MODELS)
def test_models_name_parameters_of_laws(model) -> None:
    names = MODELS[model]
    assert set(names) <= set(PARAMETERS) - set(OF_LOG)
    fields = fields_of(names, dict.fromkeys(names, 0.5))
    assert set(fields) == {place for name in names for place in PARAMETERS[name].places}
    assert fields.get("passive.static", 1.0) == 1.0


def test_models_become_richer() -> None:
    places = [{place for name in names for place in PARAMETERS[name].places} for names in MODELS.values()]
    assert all(a < b for a, b in itertools.pairwise(places)) and FIRST in MODELS


def test_a_richer_model_has_to_be_better_on_both_parts() -> None:
    nan = float("nan")

    def is_better(new: tuple[float, float], old: tuple[float, float]) -> bool:
        return is_clearly_better(ModelScore("new", (), *new), ModelScore("old", (), *old))

    assert is_better((0.9, 0.9), (1.0, 1.0)) and not is_better((0.96, 0.9), (1.0, 1.0))
    assert not is_better((0.5, 1.1), (1.0, 1.0)) and is_better((0.5, nan), (1.0, nan))
