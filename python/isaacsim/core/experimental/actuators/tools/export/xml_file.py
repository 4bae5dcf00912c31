"""XML files of robots that get motors: what motors do not change stays as it is, comments included."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from xml.dom import expatbuilder
from xml.dom.minidom import Comment, Document, Element, Node, Text
from xml.parsers.expat import ExpatError

from .robot import ExportedJoint, ExportedRobot, text_of


def read_xml(file: Path, *roots: str) -> Document:
    """Return the content of a file, whose outermost element is one of `roots`, if any are given."""
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file. Correct the path.")
    try:
        # names with undeclared namespaces, which programs around URDF write, stay as they are
        document: Document = expatbuilder.parseString(file.read_bytes(), namespaces=False)
    except ExpatError as error:
        raise ValueError(f"{file}: must be XML ({error}). Correct the file.") from error
    if roots and (found := root_of(document).nodeName) not in roots:
        raise ValueError(f"{file}: its outermost element is <{found}>: must be <{roots[0]}>. Give a file of that kind.")
    return document


def new_document(root: str, attributes: Mapping[str, str]) -> Document:
    """Return a document of one element."""
    document = Document()
    document.appendChild(document.createElement(root))
    update(root_of(document), attributes)
    return document


def root_of(document: Document) -> Element:
    """Return the outermost element."""
    root = document.documentElement
    assert root is not None
    return root


def xml_text(document: Document) -> str:
    """Return a document as text."""
    return "\n".join(node.toxml() for node in document.childNodes) + "\n"


def children(parent: Node, *tags: str) -> Iterator[Element]:
    """Yield the elements in another one with one of the tags; all of them without tags."""
    for node in list(parent.childNodes):
        if isinstance(node, Element) and (not tags or node.tagName in tags):
            yield node


def child(parent: Element, tag: str) -> Element:
    """Return the first element in another one, added at its end if there is none."""
    return next(children(parent, tag), None) or add(parent, tag, {})


def add(parent: Element, tag: str, attributes: Mapping[str, str], before: Element | None = None) -> Element:
    """Add an element on a line of its own, at the end of another one or before an element in it."""
    element = _document_of(parent).createElement(tag)
    update(element, attributes)
    _add_line(parent, element, before)
    return element


def _add_line(parent: Element, node: Element | Comment, before: Element | None) -> None:
    document, depth, above = _document_of(parent), 0, parent.parentNode
    while above is not None:
        depth, above = depth + 1, above.parentNode
    # the line break that the node goes before
    last = parent.lastChild if before is None else before.previousSibling
    if not isinstance(last, Text):
        last = document.createTextNode("\n" + "  " * (depth - (before is None)))
        parent.insertBefore(last, before)
    for new in (document.createTextNode("\n" + "  " * depth), node):
        parent.insertBefore(new, last)


def _document_of(element: Element) -> Document:
    document = element.ownerDocument
    assert document is not None
    return document


def update(element: Element, attributes: Mapping[str, str]) -> None:
    """Set attributes; equal numbers keep their digits, and further numbers of one attribute stay."""
    for name, value in attributes.items():
        old = element.getAttribute(name).split()
        if not old or not _is_same(old[0], value):
            element.setAttribute(name, " ".join([value, *old[1:]]))


def _is_same(old: str, new: str) -> bool:
    try:
        return text_of(float(old)) == new
    except ValueError:
        return old == new


def add_comments(document: Document, sentences: Sequence[str]) -> None:
    """Add sentences as comments at the beginning of the outermost element, but for those that it has."""
    root = root_of(document)
    first = next(children(root), None)
    present = {node.data for node in root.childNodes if isinstance(node, Comment)}
    # two hyphens would end a comment
    for text in (f" {sentence.replace('--', '- -')} " for sentence in sentences):
        if text not in present:
            _add_line(root, document.createComment(text), first)


def driven(robot: ExportedRobot, file: Path, known: Collection[str]) -> list[ExportedJoint]:
    """Return the joints of a robot that have motors."""
    joints = [joint for joint in robot.joints if joint.motor is not None]
    lacking = [joint.name for joint in joints if joint.name not in known]
    if lacking:
        close = {name: difflib.get_close_matches(name, known, n=2, cutoff=0.5) for name in lacking}
        hints = [f"{name} ({' or '.join(found)}?)" if found else name for name, found in close.items()]
        raise ValueError(
            f"{file}: has no joints {', '.join(hints)}: must have each joint of {robot.name} that has a motor. Name "
            f"its joints so, or give motors of its joints by --config; it has {', '.join(known) or 'none'}."
        )
    return joints


def require_kind(joint: ExportedJoint, file: Path, is_linear: bool) -> None:
    """Raise a ValueError if a joint of a file slides where that of the motor turns, or turns where it slides."""
    if joint.is_linear != is_linear:
        ours, theirs = ("slides" if one else "turns" for one in (joint.is_linear, is_linear))
        raise ValueError(
            f"{file}: joint {joint.name!r} {theirs}: must be one that {ours}, as that of the motor. Choose another "
            "file, or give motors of its joints by --config."
        )
