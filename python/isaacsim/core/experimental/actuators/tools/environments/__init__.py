"""Environments that teach a robot to walk, for gymnasium and Stable-Baselines3; they need the extra `gym`.

Importing this registers `actuators/Quadruped-v0` with gymnasium, which has no entry points for plugins since 1.0.
"""

from ...base.extras import needs

with needs("The environments", "gym"):
    import gymnasium

    from .quadruped import Quadruped as Quadruped
    from .quadrupeds import Quadrupeds as Quadrupeds

gymnasium.register(
    "actuators/Quadruped-v0", f"{__name__}.quadruped:Quadruped", vector_entry_point=f"{__name__}.quadrupeds:Quadrupeds"
)

__all__ = ["Quadruped", "Quadrupeds"]
