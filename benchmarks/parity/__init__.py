"""Laws of peers beside ours: the same random states through both, and where they differ.

`python -m benchmarks.parity` is the command.
"""

from .compare import Compared as Compared
from .compare import Failed as Failed
from .compare import Missing as Missing
from .compare import Parity as Parity
from .compare import parity as parity
from .peer import Case as Case
from .peer import Difference as Difference
from .peer import LeftOut as LeftOut
from .peer import Peer as Peer

__all__ = [
    "Case",
    "Compared",
    "Difference",
    "Failed",
    "LeftOut",
    "Missing",
    "Parity",
    "Peer",
    "parity",
]
