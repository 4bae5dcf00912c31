"""Walking quadrupeds, registered with gymnasium: `gymnasium.make_vec("learning:Quadruped-v0", num_envs=48)`."""

import gymnasium

from .quadrupeds import ANYMAL, Quadrupeds

__all__ = ["ANYMAL", "Quadrupeds"]

gymnasium.register("Quadruped-v0", f"{__name__}.one:Quadruped", vector_entry_point=f"{__name__}.quadrupeds:Quadrupeds")
