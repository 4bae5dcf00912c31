"""Hands and grippers of other packages: their own actuators and motors of `motors_of_model` move them alike.

    ./python.sh tests/hardening/hands.py wheels     # a folder with wheels, as `pip download --no-deps` leaves them

The wheels: gym-hil, playground, gymnasium-robotics, gym-xarm, gym-aloha. Two seconds of random commands, contacts off,
steps of 1 ms, the same positions within 1e-5 rad or m; arms whose own motion differs by more than a twentieth of that
if their controls are rounded to float32 have twenty times what they differ by. Meshes that a wheel lacks become small
spheres. No actuator is left out but those on spatial tendons, by name. Exits with 1 otherwise.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

import argparse
import re
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
from isaacsim.core.experimental.actuators.simulators.mujoco.address import element_name, mujoco, parts_of_tendon
from isaacsim.core.experimental.actuators.simulators.mujoco.model_actuators import _law, own_actuators

MODELS = {
    "gym_hil": ("panda.xml", "scene.xml"),
    "playground": (
        *("manipulator.xml", "fish.xml", "point_mass.xml", "aero_hand/xmls/right_hand.xml", "mjx_aloha.xml"),
        *("mjx_panda.xml", "panda_updated_robotiq_2f85.xml", "leap_rh_mjx.xml"),
    ),
    "gymnasium_robotics": (
        *("hand/reach.xml", "manipulate_block.xml", "manipulate_egg.xml", "manipulate_pen.xml", "adroit_hammer.xml"),
        *("adroit_relocate.xml", "adroit_pen.xml", "adroit_door.xml", "kitchen_env_model.xml", "pick_and_place.xml"),
    ),
    "gym_xarm": ("lift.xml", "reach.xml"),
    "gym_aloha": ("bimanual_viperx_transfer_cube.xml",),
}
SECONDS, DT, HELD, MOST, SHARE = 2.0, 1e-3, 100, 1e-5, 20
LEFT_OUT = re.compile(r"actuators of the model that no motor stands for: (.*)\. They go on acting", re.DOTALL)


def load(path: Path) -> mujoco.MjModel:
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        spec = mujoco.MjSpec.from_file(str(path))
        for geom in spec.geoms:
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
                geom.type, geom.size, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, [0.01, 0, 0], ""
        for mesh in list(spec.meshes):
            spec.delete(mesh)
        for texture in list(spec.textures):
            spec.delete(texture)
        model = spec.compile()
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.timestep = DT
    return model


class Commands:
    """Random controls of a model's actuators, and the targets and feedforward of joints that stand for them."""

    def __init__(self, model: mujoco.MjModel, seed: int) -> None:
        self._model, self._random = model, np.random.default_rng(seed)
        # by column of velocities: position targets, velocity targets, feedforward
        self.wanted = np.zeros((3, model.nv), np.float32)

    def draw(self) -> np.ndarray:
        model, self.wanted[:] = self._model, 0.0
        controls = np.zeros(model.nu)
        for actuator in range(model.nu):
            low, high = model.actuator_ctrlrange[actuator] if model.actuator_ctrllimited[actuator] else (-1.0, 1.0)
            controls[actuator] = self._random.uniform(low, high)
            kind, target = mujoco.mjtTrn(model.actuator_trntype[actuator]).name, model.actuator_trnid[actuator, 0]
            parts = parts_of_tendon(model, target) if kind == "mjTRN_TENDON" else {int(target): 1.0}
            law = _law(model, actuator)
            if isinstance(law, str):
                continue
            gear, gain = model.actuator_gear[actuator, 0], model.actuator_gainprm[actuator, 0]
            effort, size = gain * gear * controls[actuator], sum(one**2 for one in parts.values())
            for joint, part in parts.items():
                column = model.jnt_dofadr[joint]
                if law.kp:
                    self.wanted[0, column] += effort / law.kp * part / size
                else:
                    self.wanted[2, column] += effort * part
        return controls


def motion(model: mujoco.MjModel, motors: dict[str, Any] | None, dtype: type = float) -> np.ndarray:
    """Positions over time, by motors or, without them, by the model's own actuators with controls of this type."""
    data, commands, found = mujoco.MjData(model), Commands(model, 0), []
    if motors is None:
        for step in range(round(SECONDS / DT)):
            if step % HELD == 0:
                data.ctrl[:] = commands.draw().astype(dtype)
            mujoco.mj_step(model, data)
            found.append(data.qpos.copy())
        return np.array(found)
    by_root: dict[str, dict[str, Any]] = {}
    for name in motors:
        root = int(model.body_rootid[model.joint(name).bodyid[0]])
        by_root.setdefault(element_name(model, "body", root), {})[name] = motors[name]
    with aa.MujocoSimulation(model, data) as sim:
        robots = [(sim.articulation(re.escape(root)), root, mine) for root, mine in by_root.items()]
        actuators = [aa.ArticulationActuators.from_configs(re.escape(root), mine) for _, root, mine in robots]
        for step in range(round(SECONDS / DT)):
            if step % HELD == 0:
                data.ctrl[:] = commands.draw()
                for (robot, _, _), acts in zip(robots, actuators, strict=True):
                    columns = [model.jnt_dofadr[model.joint(name).id] for name in robot.dof_names]
                    robot.set_dof_position_targets(commands.wanted[0, columns])
                    acts.set_dof_feedforward_effort_targets(commands.wanted[2, columns])
            sim.step()
            found.append(data.qpos.copy())
    return np.array(found)


def check(path: Path) -> tuple[str, bool]:
    model = load(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motors = aa.motors_of_model(model)
    left = [found[1] for one in caught if (found := LEFT_OUT.search(str(one.message)))]
    replaced = sum(len(own) for own in own_actuators(model).values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own, ours, rounded = motion(model, None), motion(model, motors), motion(model, None, np.float32)
    most = max(MOST, SHARE * np.abs(own - rounded).max())
    off, moved = np.abs(own - ours).max(), np.ptp(own, axis=0).max()
    good = off <= most and moved > 1e-2 and all("tendon" in one for one in left)
    words = (
        f"{replaced} of {model.nu} actuators, {len(motors)} motors, moved {moved:.3g}, off by {off:.1e} of {most:.0e}"
    )
    return f"{words}{', left out: ' + left[0] if left else ''}", bool(good)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("--only", default="", help="only files whose path has this")
    arguments, failed = parser.parse_args(), 0
    with tempfile.TemporaryDirectory() as folder:
        for wheel in sorted(arguments.wheels.glob("*.whl")):
            name = wheel.name.partition("-")[0]
            zipfile.ZipFile(wheel).extractall(at := Path(folder) / name)
            for end in MODELS.get(name, ()):
                for path in sorted(one for one in at.rglob("*.xml") if str(one).endswith("/" + end)):
                    if arguments.only in str(path):
                        try:
                            line, good = check(path)
                        except Exception as error:
                            line, good = f"{type(error).__name__}: {error}", False
                        failed += not good
                        print(f"{name}/{path.relative_to(at)}: {line}  {'ok' if good else 'MISSED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
