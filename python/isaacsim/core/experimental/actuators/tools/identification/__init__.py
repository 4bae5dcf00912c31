"""Identification of motors from logs of a robot, and of the motions whose logs identify them.

`identify` needs the extra `identify`. The command line has the same as `actuators identify` and `actuators excite`.
"""

from .checks import check_log as check_log
from .checks import notes_on as notes_on
from .draft import Part as Part
from .excitation import Excitation as Excitation
from .excitation import excitation as excitation
from .excitation_output import plot_excitation as plot_excitation
from .excitation_output import save_excitation as save_excitation
from .excitation_plan import ExcitationPlan as ExcitationPlan
from .identified import ColumnUse as ColumnUse
from .identified import Estimate as Estimate
from .identified import Identified as Identified
from .identified import ModelScore as ModelScore
from .identified import Replay as Replay
from .identify import identify as identify
from .log import MotorLog as MotorLog
from .logs.read import read_logs as read_logs
from .options import FitOptions as FitOptions
from .options import published_priors as published_priors
from .output import from_identified as from_identified
from .output import save_identified as save_identified
from .report import plot_identified as plot_identified
from .report import write_report as write_report
from .safety import Limits as Limits

__all__ = [
    "ColumnUse",
    "Estimate",
    "Excitation",
    "ExcitationPlan",
    "FitOptions",
    "Identified",
    "Limits",
    "ModelScore",
    "MotorLog",
    "Part",
    "Replay",
    "check_log",
    "excitation",
    "from_identified",
    "identify",
    "notes_on",
    "plot_excitation",
    "plot_identified",
    "published_priors",
    "read_logs",
    "save_excitation",
    "save_identified",
    "write_report",
]
