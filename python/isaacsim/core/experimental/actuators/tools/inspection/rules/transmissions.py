"""Rules on transmissions between motor and joint."""

from __future__ import annotations

from collections.abc import Iterator

from ....files.usd.edits import PropertyEdit
from ....specs.stages import is_linked
from ....specs.transmission import armature, transmission_of
from ..findings import Finding
from .rule import Checked

# tolerance of the inertia of a rotor, relative
_SAME = 0.05


def transmission_armature(checked: Checked) -> Iterator[Finding]:
    """The armature of a joint is not that of its rotor: this package replaces it, other programs use that of the file.

    A difference of 5 % is allowed, for the rounding of data sheets.
    """
    for joint, actuator in checked.actuated:
        gear, rotor = transmission_of(actuator), armature(actuator)
        authored = joint.value("armature")
        # behind a linkage the joint has the rotors of other motors, too
        if gear is None or rotor is None or is_linked(actuator) or abs(authored - rotor) <= _SAME * rotor:
            continue
        unit = joint.values["armature"].unit
        yield Finding(
            "transmission-armature",
            "warning",
            joint.path,
            f"joint {joint.name} has an armature of {authored:.4g} {unit}, and the transmission of <{actuator.path}> "
            f"comes to {rotor:.4g}, ratio²·rotor_inertia = {gear.ratio:g}²·{gear.rotor_inertia:.4g}. That acts here, "
            "the armature of the joint in other programs.",
            f"Give the joint {rotor:.4g}, as add_motors does, or correct the transmission.",
            checked.edits(actuator, [PropertyEdit(joint.path, joint.axis, "armatures", float(rotor))]),
        )
