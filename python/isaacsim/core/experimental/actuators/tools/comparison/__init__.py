"""Comparison of two simulations of the same robot: where their motions part, and what makes them part.

The command line has the same as `actuators compare`.
"""

from .compare import Blame as Blame
from .compare import Comparison as Comparison
from .compare import compare as compare
from .motion import Difference as Difference
from .motion import Motion as Motion
from .motion import Parting as Parting
from .notes import notes_on as notes_on
from .plan import Plan as Plan
from .plan import plan_of as plan_of
from .run import Link as Link
from .run import Run as Run
from .run import Values as Values
from .side import Side as Side
from .side import both_driven_alike as both_driven_alike
from .side import side_of as side_of

__all__ = [
    "Blame",
    "Comparison",
    "Difference",
    "Link",
    "Motion",
    "Parting",
    "Plan",
    "Run",
    "Side",
    "Values",
    "both_driven_alike",
    "compare",
    "notes_on",
    "plan_of",
    "side_of",
]
