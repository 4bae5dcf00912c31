"""Text of USD that nests too deep is refused, and brackets in texts and comments nest nothing."""

import pytest
from isaacsim.core.experimental.actuators.usd.nesting import DEEPEST, require_shallow

DEEP = {
    "prims": (b'def "a" {\n', b"}\n"),
    "variants": (b'variantSet "v" = { "x" {\n', b"}}\n"),
    "dictionaries": (b"dictionary a = {\n", b"}\n"),
    "tuples": (b"(", b")"),
    "lists": (b"[", b"]"),
    "prims with comments": (b'def "a" { # }\n', b"}\n"),
    "prims with texts": (b'def "}" { string s = "}}\\"}" string t = ""\n', b"}\n"),
    "prims with long texts": (b'def "a" ( doc = """}\n"} \'\'\' """ ) {\n', b"}\n"),
    "prims with assets": (b"def \"a\" { asset a = @}}@ asset b = @@@}@}@@@ string c = '}'\n", b"}\n"),
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_text_is_refused(kind: str) -> None:
    """Whatever nests, and whatever stands between."""
    opening, closing = DEEP[kind]
    with pytest.raises(ValueError, match=rf"^it nests \d+ deep, more than {DEEPEST}$"):
        require_shallow(b"#usda 1.0\n" + opening * (DEEPEST + 2) + closing * (DEEPEST + 2))
    require_shallow(b"#usda 1.0\n" + opening * (DEEPEST // 3) + closing * (DEEPEST // 3))


@pytest.mark.parametrize("quote", [b'"', b"'", b'"""', b"@", b"@@@"])
def test_deep_expression_is_refused(quote: bytes) -> None:
    """Of paths, and of variables in the path of an asset."""
    deep = b"`" + b"if(true, " * 2000 + b"1" + b")" * 2000 + b"`"
    with pytest.raises(ValueError, match=r"^an expression of it nests \d+ deep"):
        require_shallow(b"#usda 1.0\nx = " + quote + deep + quote)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b'string s = "' + b"(" * 900 + b'"\n' + b'string s = ":-("\n' * 2000,
        b"# :-(\n" * 2000,
        b"# " + b"(" * 2000,
        b"points = [" + b"(1, 2, 3), " * 5000 + b"]",
        b'string[] s = ["", "", "("]\n' * 2000,
        b'def "a" {\n}\n' * 5000,
        b'string s = "\\\\" # {\n' * 2000,
    ],
)
def test_shallow_text_is_let_be(text: bytes) -> None:
    """However many brackets it has."""
    require_shallow(b"#usda 1.0\n" + text)
