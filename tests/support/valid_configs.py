"""Valid configs of any class, whose numbers tell their parameters apart."""

import itertools

from isaacsim.core.experimental.actuators.specs.fields import Parameter, conflicts, parameters_of


def valid(described: Parameter, number: float):
    # twice the value is in range, too
    nearest = min(abs(number) if described.lower >= 0.0 else number, described.upper / 2.0)
    others = {"int": 3, "bool": True, "token": described.choices[-1:] and described.choices[-1]}
    tables = {"float[]": [nearest], "token[]": ["hinge"], "asset": "network.onnx"}
    return (others | tables).get(described.type, nearest)


def left_out(config) -> dict[str, object]:
    """Values that do nothing, of parameters of a config that cannot stand beside its others."""
    refused = {one.partition(" = ")[0].lstrip(".") for one in conflicts(config, "")}
    described = parameters_of(config)
    return {name: one.fallback for name, one in described.items() if name in refused and one.fallback is not None}


def numbered(config_type: type, first: float = 10.0):
    described = parameters_of(config_type)
    # the numbers fall, or rise where a law wants that
    for leaves_out, step in itertools.product((False, True), (-0.1, 2.0, -0.3)):
        numbers = {name: first * (1.0 + step * at) for at, name in enumerate(described)}
        values = {name: valid(one, numbers[name]) if one.of_law else one.fallback for name, one in described.items()}
        # a linkage has coefficients, or this table
        values |= {name: [] for name in ("angles", "slopes") if name in values}
        try:
            config = config_type(**values)
        except ValueError:
            continue
        config = config_type(**values | left_out(config)) if leaves_out else config
        if not conflicts(config, ""):
            return config
    raise AssertionError(f"{config_type.__name__} takes none of the numbers that are tried here")
