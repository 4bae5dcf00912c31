"""Which web pages may reach a live view, by the headers Host and Origin that browsers send.

A browser lets any page that is open in it connect to a server on this machine. It says truly by which name the server
was reached, and which page asks: a view answers its own page only. A page of somebody else's that resolves a name of
its own to this machine is told by that name. Programs that are no browsers send no Origin, and may connect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL = "localhost"
_REMEDY = "Open the address that the view tells, or name the host in view(allowed_hosts=…)."


def host_names(given: Sequence[str]) -> set[str]:
    """Return names of hosts as `refusal` takes them.

    Raises:
        ValueError: One is none.
    """
    names = {name.lower().removesuffix(".") for name in given}
    for name in names:
        if not re.fullmatch(r"[a-z0-9_.-]+", name):
            raise ValueError(
                f"allowed_hosts: {name!r:.200}: must be the name of a host, no scheme, no port. Correct it."
            )
    return names


def refusal(hosts: Sequence[str], origins: Sequence[str], own: str, allowed: Collection[str]) -> str | None:
    """Say why a request is refused, or return None.

    Args:
        hosts: Headers Host of the request.
        origins: Its headers Origin.
        own: Name or address that the page is served at.
        allowed: Other names of hosts by which it may be reached, or whose pages may connect; see `host_names`.
    """
    try:
        (host,) = hosts
        name, port = _place(f"//{host}")
        if not (name in allowed or name in (_LOCAL, own.lower()) or _is_address(name)):
            return f"Host = {host!r:.200}: must be an address, localhost or the name of an allowed host. {_REMEDY}"
    except ValueError:
        return f"Host = {', '.join(hosts)!r:.200}: must be one name or address. {_REMEDY}"
    try:
        # of several, no browser sends any
        (origin,) = origins or [f"//{host}"]
        place = _place(origin)
        if place == (name, port) or place[0] in allowed:
            return None
    except ValueError:
        pass
    return f"Origin = {', '.join(origins)!r:.200}: must be the view's own page or a page of an allowed host. {_REMEDY}"


def _place(url: str) -> tuple[str, int | None]:
    """Name and port; all names of this machine are one.

    Raises:
        ValueError: It has none.
    """
    parts = urlsplit(url)
    name = (parts.hostname or "").removesuffix(".")
    if not name:
        raise ValueError(f"{url!r} names no host")
    is_local = f".{name}".endswith(f".{_LOCAL}") or (_is_address(name) and ip_address(name).is_loopback)
    return _LOCAL if is_local else name, parts.port


def _is_address(name: str) -> bool:
    """Whether this is a number, which nobody else can let point here."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
