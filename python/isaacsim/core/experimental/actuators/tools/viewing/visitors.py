"""Access control of a live view, by the headers Host and Origin that browsers send.

A browser lets any open page connect to a server on this machine, and sends the name by which it reached the server and
the origin of the page: a view answers its own page only. This also rejects DNS rebinding, a foreign name that resolves
to this machine. Programs other than browsers send no Origin and may connect.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL = "localhost"
_REMEDY = "Open the address that the view tells, or name the host in view(allowed_hosts=…)."


def host_names(given: Sequence[str]) -> set[str]:
    """Return host names in the form that `refusal` takes; ValueError if one is no host name."""
    names = {name.lower().removesuffix(".") for name in given}
    for name in names:
        if not re.fullmatch(r"[a-z0-9_.-]+", name):
            raise ValueError(
                f"allowed_hosts: {name!r:.200}: must be the name of a host, no scheme, no port. Correct it."
            )
    return names


def refusal(hosts: Sequence[str], origins: Sequence[str], own: str, allowed: Collection[str]) -> str | None:
    """Return why a request is refused, or None."""
    try:
        (host,) = hosts
        name, port = _place(f"//{host}")
        if not (name in allowed or name in (_LOCAL, own.lower()) or _is_address(name)):
            return f"Host = {host!r:.200}: must be an address, localhost or the name of an allowed host. {_REMEDY}"
    except ValueError:
        return f"Host = {', '.join(hosts)!r:.200}: must be one name or address. {_REMEDY}"
    try:
        # no browser sends several
        (origin,) = origins or [f"//{host}"]
        place = _place(origin)
        if place == (name, port) or place[0] in allowed:
            return None
    except ValueError:
        pass
    return f"Origin = {', '.join(origins)!r:.200}: must be the view's own page or a page of an allowed host. {_REMEDY}"


def _place(url: str) -> tuple[str, int | None]:
    """Return name and port; all names of this machine are equal; ValueError if it has none."""
    parts = urlsplit(url)
    name = (parts.hostname or "").removesuffix(".")
    if not name:
        raise ValueError(f"{url!r} names no host")
    is_local = f".{name}".endswith(f".{_LOCAL}") or (_is_address(name) and ip_address(name).is_loopback)
    return _LOCAL if is_local else name, parts.port


def _is_address(name: str) -> bool:
    """Return True if this is an IP address, which DNS rebinding cannot use."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
