"""Names that look like others."""

import time

from isaacsim.core.experimental.actuators.files.usd.similar_names import escaped, nearest, unescaped
from refusals import cases

KNOWN = ["NewtonPDControlAPI", "NewtonPIDControlAPI", "NewtonActuatorDelayAPI"]


@cases("name", *KNOWN)
def test_nearest_of_several_is_meant(name) -> None:
    for near in (name, name[:4] + name[5:], f"{name}s", name.lower(), name.removesuffix("API")):
        assert nearest(near, KNOWN) == name


@cases("name", *KNOWN)
def test_name_without_its_family_is_known(name) -> None:
    rest = name.removeprefix("Newton")
    for near in (rest, f"Newton:{rest}", f"newton_{rest}", f"Articulation{rest}", rest.removesuffix("API")):
        assert nearest(near, KNOWN) == name


def test_name_in_look_alike_letters_is_known() -> None:
    cyrillic = str.maketrans("eoPCAIacpty", "\u0435\u043e\u0420\u0421\u0410\u0406\u0430\u0441\u0440\u0442\u0443")
    greek = str.maketrans("oNPAIatu", "\u03bf\u039d\u03a1\u0391\u0399\u03b1\u03c4\u03c5")
    for name in KNOWN:
        assert nearest(name.translate(cyrillic), KNOWN) == nearest(name.translate(greek), KNOWN) == name


@cases("name", "", "API", "NewtonAPI", "ControlAPI", "MyControlAPI", "PhysicsDriveAPI", "\u0436" * 22, "x" * 10_000)
def test_far_name_means_none(name) -> None:
    assert nearest(name, KNOWN) is None


def test_name_of_a_million_signs_takes_no_time() -> None:
    start = time.process_time()
    assert nearest("N" * 1_000_000, KNOWN) is None
    assert nearest(KNOWN[0] + "\u200b" * 1_000_000, KNOWN) == KNOWN[0] and time.process_time() - start < 5.0


@cases("name", "plain", "with blank", "tab\t", "back\\slash", "\u200b", "caf\u00e9", "\U0001f916", "\n")
def test_visible_name_is_one_word_and_comes_back(name) -> None:
    shown = escaped(name)
    assert shown.isascii() and shown.isprintable() and " " not in shown and unescaped(shown) == name


def test_long_name_is_cut() -> None:
    assert escaped("N" * 10_000) == "N" * 200 + "\N{HORIZONTAL ELLIPSIS}"
