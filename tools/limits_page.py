"""Write the tables of `docs/tutorials/limits_and_resolution.md` from the results of the code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg, ImplicitActuatorCfg
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import Rules, resolve
from public_names import filled

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "limits_and_resolution.md"
END = "<!-- end of generated -->"
LIMITS = ("effort_limit", "effort_limit_sim", "velocity_limit", "velocity_limit_sim")
# values of the robot and of the cfg in the tables
HAS = {"effort_limit_sim": 90.0, "velocity_limit_sim": 9.0, "stiffness": 7.0, "armature": 0.1}
GEAR = {"gear_ratio": 6.0}
SAYS = {"effort_limit": 50.0, "effort_limit_sim": 60.0, "velocity_limit": 5.0, "velocity_limit_sim": 6.0}


def outputs() -> dict[Path, str]:
    """Return the page with updated tables."""
    text = PAGE.read_text("utf-8")
    text = filled(PAGE, text, "<!-- generated: limits -->\n", _limits(), END)
    return {PAGE: filled(PAGE, text, "<!-- generated: rules -->\n", _rules(), END)}


def _limits() -> str:
    """Return the table of resulting limits, of the model and of the solver."""
    rows = [["model", "cfg", *(f"`{name}`" for name in LIMITS)]]
    for model, cfg_class in (("implicit", ImplicitActuatorCfg), ("explicit", IdealPDActuatorCfg)):
        for said in ((), *((name,) for name in LIMITS), LIMITS[::2] + LIMITS[1::2]):
            given = {name: SAYS[name] for name in said}
            shown = ", ".join(f"`{name}={value:g}`" for name, value in given.items()) or "nothing"
            rows.append([model, shown, *_found(cfg_class, given, LIMITS)])
    return _table(rows)


def _rules() -> str:
    """Return the table of values by the rules of the documentation and by those of the code."""
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("a number", IdealPDActuatorCfg, {"armature": 0.5}, "armature"),
        ("nothing", IdealPDActuatorCfg, {}, "armature"),
        ("a dictionary without the joint", IdealPDActuatorCfg, {"armature": {"b": 0.5}}, "armature"),
        ("stiffness None, explicit", IdealPDActuatorCfg, {"stiffness": None}, "stiffness"),
        ("`velocity_limit=5` alone, implicit", ImplicitActuatorCfg, {"velocity_limit": 5.0}, "velocity_limit_sim"),
        ("no `effort_limit_sim`, explicit", IdealPDActuatorCfg, {}, "effort_limit_sim"),
        ("no `effort_limit_sim`, implicit", ImplicitActuatorCfg, {}, "effort_limit_sim"),
        ("`gear_ratio=6`, `effort_limit=50`", IdealPDActuatorCfg, GEAR | {"effort_limit": 50.0}, "effort_limit"),
        ("`gear_ratio=6`, `velocity_limit=5`", IdealPDActuatorCfg, GEAR | {"velocity_limit": 5.0}, "velocity_limit"),
    ]
    rows = [["cfg", "property", "robot", "documentation rules", "rules of Isaac Lab's code"]]
    for words, cfg_class, given, name in cases:
        by_rules = [_found(cfg_class, given, [name], rules)[0] for rules in ("documentation", "code")]
        has = HAS.get(name, HAS.get(f"{name}_sim", 0.0))
        rows.append([words, f"`{name}`", f"{has:g}", *by_rules])
    return _table(rows)


def _found(cfg_class: Any, given: dict[str, Any], names: Iterable[str], rules: Rules = "documentation") -> list[str]:
    """Return resulting properties of joint `a`, whose group also has a joint `b`."""
    said = {"joint_names_expr": ["a", "b"], "stiffness": 80.0, "damping": 2.0} | given
    try:
        found = resolve(cfg_class(**said), ["a", "b"], [0, 1], HAS, 1, rules=rules)
    except ValueError:
        return ["refused" for _ in names]
    return [f"{found.values[name][0, 0]:g}" for name in names]


def _table(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"
