"""Write the tables of `docs/tutorials/limits_and_resolution.md` from the results of the code."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg, ImplicitActuatorCfg
from isaacsim.core.experimental.actuators.compat.isaac_lab.resolve import LATER, Rules, resolve
from public_names import filled

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorials" / "limits_and_resolution.md"
END = "<!-- end of generated -->"
RULES: tuple[Rules, ...] = ("documentation", "code", "3.0")
# values of the robot and of the cfg in the tables
HAS = {"effort_limit_sim": 90.0, "velocity_limit_sim": 9.0, "stiffness": 7.0, "armature": 0.1}
GEAR = {"gear_ratio": 6.0}
SAYS = {
    "actuator_effort_limit": 50.0,
    "joint_effort_limit": 60.0,
    "actuator_velocity_limit": 5.0,
    "joint_velocity_limit": 6.0,
}


def outputs() -> dict[Path, str]:
    """Return the page with updated tables."""
    text = PAGE.read_text("utf-8")
    text = filled(PAGE, text, "<!-- generated: limits -->\n", _limits(), END)
    return {PAGE: filled(PAGE, text, "<!-- generated: rules -->\n", _rules(), END)}


def _limits() -> str:
    """Return the table of resulting limits, of the model and of the solver, by the documentation and by 3.0."""
    rows = [["model", "cfg", *(f"`{name}`" for name in SAYS)]]
    for model, cfg_class in (("implicit", ImplicitActuatorCfg), ("explicit", IdealPDActuatorCfg)):
        for said in ((), *((name,) for name in SAYS), tuple(SAYS)):
            given = {name: SAYS[name] for name in said}
            shown = ", ".join(f"`{name}={value:g}`" for name, value in given.items()) or "nothing"
            before, later = (_found(cfg_class, given, SAYS, rules) for rules in ("documentation", "3.0"))
            both = [one if one == other else f"{one}; {other}" for one, other in zip(before, later, strict=True)]
            rows.append([model, shown, *both])
    return _table(rows)


def _rules() -> str:
    """Return the table of values by each of the rules."""
    both = {"actuator_effort_limit": 50.0, "joint_effort_limit": 60.0}
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("a number", IdealPDActuatorCfg, {"armature": 0.5}, "armature"),
        ("nothing", IdealPDActuatorCfg, {}, "armature"),
        ("a dictionary without the joint", IdealPDActuatorCfg, {"armature": {"b": 0.5}}, "armature"),
        ("stiffness None, explicit", IdealPDActuatorCfg, {"stiffness": None}, "stiffness"),
        (
            "`actuator_velocity_limit=5` alone",
            ImplicitActuatorCfg,
            {"actuator_velocity_limit": 5.0},
            "joint_velocity_limit",
        ),
        ("both effort limits, implicit", ImplicitActuatorCfg, both, "joint_effort_limit"),
        ("no `joint_effort_limit`, explicit", IdealPDActuatorCfg, {}, "joint_effort_limit"),
        ("no `joint_effort_limit`, implicit", ImplicitActuatorCfg, {}, "joint_effort_limit"),
        (
            "`gear_ratio=6`, `actuator_effort_limit=10`",
            IdealPDActuatorCfg,
            GEAR | {"actuator_effort_limit": 10.0},
            "actuator_effort_limit",
        ),
        (
            "`gear_ratio=6`, `actuator_velocity_limit=5`",
            IdealPDActuatorCfg,
            GEAR | {"actuator_velocity_limit": 5.0},
            "actuator_velocity_limit",
        ),
    ]
    rows = [["cfg", "property", "robot", "documentation", "code of 2.3", "3.0"]]
    for words, cfg_class, given, name in cases:
        has = HAS.get(LATER.get(name, name), HAS.get(f"{LATER.get(name)}_sim", 0.0))
        rows.append([words, f"`{name}`", f"{has:g}", *(_found(cfg_class, given, [name], one)[0] for one in RULES)])
    return _table(rows)


def _found(cfg_class: Any, given: dict[str, Any], names: Iterable[str], rules: Rules) -> list[str]:
    """Return resulting properties of joint `a`, whose group also has a joint `b`."""
    said = {"joint_names_expr": ["a", "b"], "stiffness": 80.0, "damping": 2.0} | given
    try:
        found = resolve(cfg_class(**said), ["a", "b"], [0, 1], HAS, 1, rules=rules)
    except ValueError:
        return ["refused" for _ in names]
    return [f"{found.values[LATER.get(name, name)][0, 0]:g}" for name in names]


def _table(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"
