"""MuJoCo as embedded physics: USD read by newton, translated to MjSpec, stepped by `mujoco.batch`."""
