"""Step robots with mujoco_warp on the CPU and print its times; `benchmarks.learning` runs it in another interpreter."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from pathlib import Path

import numpy as np


def main(folder: Path, worlds: int) -> None:
    """Step the worlds from the initial state in `folder`; the last printed line is JSON."""
    import mujoco
    import mujoco_warp

    model = mujoco.MjModel.from_xml_path(str(folder / "model.xml"))
    # it does not reset by itself either
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    start, data = np.load(folder / "start.npz"), mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = np.split(start["state"], [model.nq])
    data.qfrc_applied[:] = start["efforts"]
    mujoco.mj_forward(model, data)
    there = mujoco_warp.put_model(model)
    worlds_there = mujoco_warp.put_data(model, data, nworld=worlds)
    mujoco_warp.step(there, worlds_there)
    error = float(np.abs(worlds_there.qpos.numpy() - start["after"]).max())
    rounds = []
    for _ in range(5):
        cpu, wall, count = time.process_time(), time.perf_counter(), 0
        while time.perf_counter() - wall < 0.5:
            mujoco_warp.step(there, worlds_there)
            count += worlds
        rounds.append(((time.process_time() - cpu) / count, (time.perf_counter() - wall) / count))
    cpu, wall = np.median(rounds, axis=0).tolist()
    version = importlib.metadata.version("mujoco-warp")
    print(json.dumps({"version": version, "error": error, "cpu": cpu, "wall": wall}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
