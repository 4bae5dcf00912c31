"""Motors of a robot for other systems: a file for each target, and what each target cannot say, by joint.

The command line has the same as `actuators export`.
"""

from .robot import ExportedJoint as ExportedJoint
from .robot import ExportedRobot as ExportedRobot
from .robot import read_robot as read_robot
from .ros2 import read_ros2 as read_ros2
from .targets import export as export

__all__ = ["ExportedJoint", "ExportedRobot", "export", "read_robot", "read_ros2"]
