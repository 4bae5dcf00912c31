"""Requests that a live view refuses, by their headers."""

import pytest
from isaacsim.core.experimental.actuators.tools.viewing.visitors import host_names, refusal
from refusals import cases

OWN, ALLOWED = "Robot.lan", {"proxy.example"}


@cases(
    "host, origin",
    ("127.0.0.1:8080", None),
    ("127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("localhost:9000", "http://localhost:9000"),
    ("[::1]:8080", "http://[::1]:8080"),
    # all of them are this machine
    ("127.0.0.1:8080", "http://localhost:8080"),
    ("view.localhost:8080", "http://127.0.0.1:8080"),
    # an address that is reachable from outside
    ("192.168.1.5:8080", "http://192.168.1.5:8080"),
    ("[fe80::1]:8080", "http://[fe80::1]:8080"),
    ("robot.lan:8080", "http://robot.lan:8080"),
    ("ROBOT.lan.:8080", "http://robot.lan:8080"),
    ("robot.lan", "https://robot.lan"),
    ("proxy.example", "https://proxy.example"),
    ("127.0.0.1:8080", "https://proxy.example:8443"),
)
def test_own_page_and_allowed_hosts_may_connect(host, origin) -> None:
    assert refusal([host], [] if origin is None else [origin], OWN, ALLOWED) is None


@cases(
    "origin",
    *("https://evil.example", "http://127.0.0.1", "http://127.0.0.1:3000", "http://localhost:8081"),
    *("http://127.0.0.1.evil.example:8080", "http://localhost.evil.example:8080", "http://evil.example:8080"),
    *("http://6.6.6.6:8080", "http://robot.lan:8080", "http://proxy.example.evil.com"),
    *("http://evil.example@127.0.0.1:8080x", "null", "", "file://", "http://127.0.0.1:99999", "http://[::1"),
)
def test_page_of_somebody_else_may_not(origin) -> None:
    told = refusal(["127.0.0.1:8080"], [origin], OWN, ALLOWED)
    assert told is not None and told.startswith(f"Origin = {origin!r}: must be the view's own page or")


@cases(
    "host", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io:8080", "2130706433", "", ":8080", "[::1"
)
def test_name_that_somebody_else_lets_point_here_is_refused(host) -> None:
    """Although its page has the same origin."""
    told = refusal([host], [f"http://{host}"], OWN, ALLOWED)
    assert told is not None and told.startswith(f"Host = {host!r}: must be")


def test_headers_that_come_twice_are_refused() -> None:
    assert refusal([], [], OWN, ALLOWED) is not None
    assert refusal(["127.0.0.1", "127.0.0.1"], [], OWN, ALLOWED) is not None
    assert refusal(["127.0.0.1"], ["http://127.0.0.1", "https://evil.example"], OWN, ALLOWED) is not None


def test_names_of_hosts_are_names() -> None:
    assert host_names(["Proxy.example", "robot."]) == {"proxy.example", "robot"}
    for bad in ("https://proxy.example", "proxy.example:80", "*", "", "a b"):
        with pytest.raises(ValueError, match=r"allowed_hosts: .*: must be the name of a host, no scheme, no port"):
            host_names([bad])
