"""Open a USD stage, or an MJCF or URDF file, with embedded physics."""

from __future__ import annotations

import importlib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.errors import Closing, HostError, NotCopied
from ..base.extras import LIBRARIES, needs
from ..base.quiet_warp import start_warp
from ..base.untraced import untraced
from ..base.values import Indices
from ..specs.arguments import DEFAULT_DT, MODEL_FILES, flag_of, names_of, number_of, path_of, require_type, whole_of
from .opened import enter, leave
from .port import PhysicsBus

if TYPE_CHECKING:
    import numpy as np

    from ..tools.viewing.view import View
    from .mujoco.host import MujocoHost
    from .physics_articulation import PhysicsArticulation
    from .scene.scene import Scene

try:
    # USD learns schemas before the first stage is opened, or never
    from ..files.usd import stage as _  # noqa: F401
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] not in LIBRARIES["usd"]:
        raise


_USD_FILES = (".usd", ".usda", ".usdc")
# more fit into no memory
_MOST_ENVS = 1_000_000


class Simulation(Closing, NotCopied):
    """A USD stage, or an MJCF or URDF file, simulated here and now with MuJoCo or PhysX: no Kit, no GPU, no display.

    It is the current simulation of `Articulation`, `ArticulationActuators` and `add_actuator` until it is closed.
    Use it as a context manager, or call `close`.

    MJCF and URDF files are read by MuJoCo itself, and need no USD. Their robots are `/` and the name of a body that is
    a child of the world, `/arm`. There is no stage: what would be authored on it while physics is stopped is refused.
    The initial state is the model's own, and targets are 0, unless `keyframe` or `initial_positions` say otherwise.
    Options of an MJCF file hold; its actuators on hinges and slides become the drives of their joints, and those that
    no drive stands for stay, with a warning. A URDF file is fixed to the world unless a floating joint carries it or
    `floating_base` is asked for, and has drives without gains.

    Args:
        source: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file, or a stage; MuJoCo converts the units of USD to SI.
        dt: Physics step [s]; None means that of an MJCF file, and 1/240 for USD and URDF.
        num_envs: 1 simulates the whole stage as it is. More take it as a prototype and simulate that many isolated
            copies; robot `/World/Arm` of copy `i` is then `/World/envs/env_i/Arm`. A path means its robots in every
            copy, be it that of the robot on the stage, of a prim above it, `/World` or `/`, or a pattern,
            `/World/envs/env_.*/Arm`; one copy alone is meant by a path through its `env_i`. Only with MuJoCo.
        engine: "mujoco", which the extra `sim` brings, or "physx" for the physics of Isaac Sim, the extra `physx`.
            "mujoco_warp" steps what "mujoco" reads with mujoco_warp on the CPU, for comparisons: one environment, and
            slow.
        strict_inertia: Refuse physically impossible inertias; else MuJoCo gets the closest one that a
            body can have, and a warning names the links.
        floating_base: Give robots of an MJCF or URDF file with a fixed base a floating one.
        fixed_base: Hold robots with a floating base where they begin, as on a stand.
        ground: Add a horizontal plane at height 0 to an MJCF or URDF file. Robots with `floating_base`, and
            those of a URDF file that float by themselves, then begin on it: moved up or down until the lowest part that
            collides touches.
        keyframe: Name or number of the keyframe of an MJCF file in which physics begins, velocities included; its
            controls are not used.
        initial_positions: Initial joint positions [rad or m], by pattern that matches the whole name; they override a
            keyframe. Position targets of joints that this or a keyframe places begin at the same positions, and
            `reset` returns there. Only with MuJoCo.

    Raises:
        FileNotFoundError: No such file.
        ValueError: An argument is out of range, or the stage or file cannot be simulated; the message names the prims
            or the element.
        HostError: The simulator is not installed.

    Example:
        >>> from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation
        >>> with Simulation("data/robots/pendulum.usda") as sim:
        ...     robot = Articulation("/World/Pendulum")
        ...     actuators = ArticulationActuators("/World/Pendulum")
        ...     sim.play()
        ...     robot.set_dof_position_targets(0.5)
        ...     sim.step(480)
        >>> with Simulation("data/robots/arm_2dof.xml") as sim:
        ...     print(sim.articulation("arm").dof_names, sim.dt)
        ['shoulder', 'extension'] 0.002
    """

    _INSTEAD = "Hand the simulation itself on, or open another one of the same file."

    def __init__(
        self,
        source: str | os.PathLike[str] | Any,
        dt: float | None = None,
        num_envs: int = 1,
        *,
        engine: str = "mujoco",
        strict_inertia: bool = False,
        floating_base: bool = False,
        fixed_base: bool = False,
        ground: bool = False,
        keyframe: str | int | None = None,
        initial_positions: Mapping[str, float] | None = None,
    ) -> None:
        _require_numbers(dt, num_envs)
        is_file = is_model_file(source, engine)
        host_class = _host_class(engine)
        standing = {
            "floating_base": flag_of("floating_base", floating_base),
            "fixed_base": flag_of("fixed_base", fixed_base),
            "ground": flag_of("ground", ground),
            "keyframe": keyframe,
            "initial_positions": initial_positions,
        }
        if is_file:
            opened, own_dt = _open_file(Path(source), strict_inertia, standing)
        else:
            _refuse_on_stages(engine, **standing)
            with needs("a USD stage", "sim"):
                from ..files.usd.stage import open_stage
            opened, own_dt = open_stage(source), DEFAULT_DT
        options: dict[str, Any] = {"fixed_base": fixed_base and not is_file}
        if engine in _MUJOCO:
            options["strict_inertia"] = strict_inertia
            options["initial_positions"] = None if is_file else initial_positions
        self._source = "a stage" if source is opened else os.fspath(source)
        start_warp()
        self._host = host_class(opened, float(own_dt if dt is None else dt), int(num_envs), **options)
        self.engine = engine
        enter(self)

    @property
    def stage(self) -> Any:
        """The USD stage; None of an MJCF or URDF file."""
        return self._host.stage

    @property
    def bus(self) -> PhysicsBus:
        """Physics events, see `PhysicsBus`."""
        return self._host.bus

    @property
    def dt(self) -> float:
        """Physics step [s]."""
        return self._host.dt

    @property
    def num_envs(self) -> int:
        """Number of environments."""
        return self._host.num_envs

    @property
    def step_count(self) -> int:
        """Number of physics steps since play."""
        return self._host.step_count

    @property
    def time(self) -> float:
        """Simulated time since play [s]."""
        return self.step_count * self.dt

    @property
    def playing(self) -> bool:
        """True while physics runs."""
        return self._host.playing

    @property
    def model(self) -> Any:
        """MuJoCo's `MjModel` of environment 0 as it is now, gains of drives included: a copy.

        For MuJoCo's functions together with `data`. Physics knows nothing of what is changed in it; joints and links
        are set by `Articulation`, everything else before `play`, in the file.

        Raises:
            HostError: Called before `play`, or the simulator is not MuJoCo.
        """
        return self._mujoco("model").model_now()

    def data(self, env: int = 0) -> Any:
        """Return MuJoCo's `MjData` of an environment as it is now, everything derived computed: a copy.

        Args:
            env: Which environment.

        Raises:
            HostError: Called before `play`, or the simulator is not MuJoCo.
            ValueError: There is no such environment.

        Example:
            >>> from isaacsim.core.experimental.actuators import Simulation
            >>> with Simulation("data/robots/arm_2dof.xml") as sim:
            ...     sim.play()
            ...     print(sim.model.nq, sim.data().body("carriage").xpos)
            2 [0.5 0.  0.8]
        """
        return self._mujoco("data").data(env)

    def articulation(self, paths: str | Sequence[str]) -> PhysicsArticulation:
        """The robots at `paths`, see `Articulation`."""
        return self._host.articulation(paths)

    def disable_contacts(self) -> None:
        """Let nothing touch from the next `play` on, as a test of what contacts contribute to a motion.

        Raises:
            HostError: Physics runs.
        """
        if self.playing:
            raise HostError("physics is running: call stop() before disable_contacts().")
        self._host.disable_contacts()

    def play(self) -> None:
        """Start physics in the state the stage authors; stage edits made while stopped count."""
        self._host.play()

    @untraced
    def step(self, steps: int = 1) -> None:
        """Advance physics by `steps` steps of `dt`; actuators run before each of them.

        The result is bit-identical to as many single steps, and faster: without listeners, no Python runs in between.

        Raises:
            HostError: Called before `play`.
            ValueError: `steps` is negative.
            SimulationDivergedError: A robot's state is not finite any more; the message names it.
        """
        self._host.step(whole_of("steps", steps))

    def reset(self, env_ids: Indices = None) -> None:
        """Put environments back to the state and targets the stage authors, and their actuators' state with them.

        Args:
            env_ids: Environment indices or a boolean mask; None means all.

        Raises:
            HostError: Called before `play`.
            ValueError: An index is out of range.
        """
        self._host.reset(env_ids)

    def stop(self) -> None:
        """End physics; the next `play` starts from the stage again."""
        self._host.stop()

    def close(self) -> None:
        """Stop and cease to be the current simulation; calling it again does nothing."""
        self._host.stop()
        leave(self)

    def render(self, width: int = 1280, height: int = 720, *, env: int = 0, **camera: Any) -> np.ndarray:
        """Return a picture, uint8, shape `(height, width, 3)`; the robots fill it unless the camera is placed.

        Args:
            width: Pixels.
            height: Pixels.
            env: Which environment to show.
            camera: `lookat` (x, y, z) [m], `distance` [m], `azimuth` and `elevation` [deg] of the camera.

        Raises:
            HostError: Called before `play`, or the simulator is not MuJoCo.
        """
        host = self._mujoco("render")
        from .mujoco.picture import Camera, render

        return render(host, env, width, height, Camera(**camera))

    def view(
        self,
        native: bool | None = None,
        port: int = 8080,
        open_browser: bool | None = None,
        *,
        host: str = "127.0.0.1",
        allowed_hosts: Sequence[str] = (),
    ) -> View:
        """Show the simulation while it runs: MuJoCo's own viewer where there is a display, else a web page.

        Both show the robots and, translucent, their target poses. The page also shows what
        each motor does within its limits, and has sliders for targets and gains; the extra `view` brings it. Wrappers
        are found by themselves.

        Args:
            native: Use MuJoCo's viewer; None means where there is a display.
            port: Of the page; the next that is free is taken where it is in use.
            open_browser: Open the page in a browser; None means where there is a display. Its address is
                printed otherwise.
            host: Address that the page is served at; every program that reaches it can move the robots, without a
                password. Browsers are refused on pages that are not the view's own.
            allowed_hosts: Names of hosts by which browsers may reach it, besides addresses, `localhost` and `host`, or
                whose pages may connect to it: that of a proxy, say.

        Raises:
            HostError: Called before `play`, the simulator is not MuJoCo, or there is no display for `native = True`.
            ModuleNotFoundError: The extra `view` is not installed.

        Example:
            >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
            >>> with Simulation("data/robots/arm_2dof.usda") as sim:
            ...     sim.play()
            ...     actuators = ArticulationActuators("/World/Arm")
            ...     with sim.view(native=False) as view:
            ...         view.run(seconds=0.5)
            live view: http://127.0.0.1:...
        """
        simulator = self._mujoco("view")
        from ..tools.viewing.view import open_view

        allowed = names_of("allowed_hosts", allowed_hosts, "the name of a host")
        return open_view(self, simulator, native, (host, port, allowed), open_browser)

    def save_usd(self, path: str | os.PathLike[str]) -> None:
        """Write the physics of an MJCF or URDF file as a USD file, which every reader of UsdPhysics opens.

        That is bodies with masses and inertias, joints with limits, drives, armature, friction, damping and springs,
        joints that follow others, loops, shapes, and what does not touch: as the file has it and the simulation began,
        ground, keyframe and initial positions included, wherever the robots are now. Robots are prims below
        `/World`; their DOFs have the order that they have here, unless a warning gives another. `add_motors`
        adds motors to the stage.

        Args:
            path: Ends with .usd, .usda or .usdc.

        Raises:
            ValueError: There is a stage, the path ends otherwise, or joints are such that USD has none.
            ModuleNotFoundError: USD is missing, which the extra `usd` brings.
            OSError: The file cannot be written.

        Warns:
            UserWarning: Something has no place in USD, or another name there; one warning names each.

        Example:
            >>> import tempfile
            >>> from isaacsim.core.experimental.actuators import Simulation
            >>> file = f"{tempfile.mkdtemp()}/arm.usda"
            >>> with Simulation("data/robots/arm_2dof.xml") as sim:
            ...     sim.save_usd(file)
            >>> with Simulation(file) as sim:
            ...     print(sim.articulation("/World/arm_2dof").dof_names)
            ['shoulder', 'extension']
        """
        wanted = path_of("path", path)
        if wanted.suffix.lower() not in _USD_FILES:
            raise ValueError(f"path = {os.fspath(path)}: must end with {', '.join(_USD_FILES)}. Rename the file.")
        if self.stage is not None:
            raise ValueError(
                f"{self._source}: must be an MJCF or URDF file for this, and is a stage already. Save it by "
                "`sim.stage.Export(path)`."
            )
        with needs("save_usd", "usd"):
            from .mujoco.to_scene import whole_scene
            from .scene.write import save_scene
        scene, lost = whole_scene(self._host.file)
        otherwise = save_scene(scene, wanted)
        said = [f"USD has no place for {'; '.join(lost)}."] if lost else []
        said += [f"Otherwise in USD: {'; '.join(otherwise)}."] if otherwise else []
        if said:
            warnings.warn(f"{self._source}: {' '.join(said)}", stacklevel=2)

    def _mujoco(self, what: str) -> MujocoHost:
        """The host, where it is MuJoCo."""
        if self.engine not in _MUJOCO:
            raise HostError(f"engine = {self.engine!r}: has no {what}. Use engine='mujoco' for it.")
        return self._host

    def __repr__(self) -> str:
        state = "playing" if self.playing else "stopped"
        return f"<Simulation of {self._source} by {self.engine}: dt {self.dt:.6g} s, {self.num_envs} x, {state}>"


# engines by name: module and class of the host, the extra that brings it, and what needs that
_ENGINES = {
    "mujoco": (".mujoco.host", "MujocoHost", "sim", "Simulation"),
    "mujoco_warp": (".mujoco.warp_host", "MujocoWarpHost", "sim", "Simulation"),
    "physx": (".physx.host", "PhysxHost", "physx", "engine = 'physx'"),
}
# those whose model is MuJoCo's
_MUJOCO = ("mujoco", "mujoco_warp")


def is_model_file(source: Any, engine: str) -> bool:
    """Return True for an MJCF or URDF file; raise for a simulator that does not read it."""
    is_file = isinstance(source, str | os.PathLike) and path_of("source", source).suffix.lower() in MODEL_FILES
    if is_file and engine == "physx":
        raise ValueError(
            f"{os.fspath(source)}: engine = 'physx' reads USD only. Use engine='mujoco', or convert the file: "
            "`Simulation(file).save_usd(path)`."
        )
    return is_file


def _require_numbers(dt: float | None, num_envs: int) -> None:
    """Raise for a step or a number of environments that is out of range."""
    if dt is not None and not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0, 1/240 for instance.")
    if not (1 <= (count := number_of("num_envs", num_envs)) <= _MOST_ENVS and count.is_integer()):
        raise ValueError(f"num_envs = {num_envs}: must be an integer >= 1 and <= {_MOST_ENVS}.")


def _refuse_on_stages(engine: str, **asked: object) -> None:
    """Raise for what only files can be asked for, or only MuJoCo."""
    for name in ("floating_base", "ground", "keyframe"):
        if asked[name] is not False and asked[name] is not None:
            raise ValueError(
                f"{name} = {asked[name]!r}: must be left out for USD, whose stage says it. Author it on the stage."
            )
    if engine == "physx" and asked["initial_positions"] is not None:
        raise ValueError(
            "initial_positions: must be left out with engine='physx'. Author the joint state, or call "
            "set_dof_positions after play()."
        )


def _open_file(path: Path, strict_inertia: bool, standing: Mapping[str, Any]) -> tuple[Scene, float]:
    """Scene of an MJCF or URDF file, and its physics step."""
    from .mujoco.file_reader import read_file
    from .mujoco.standing import Standing

    given = {name: value for name, value in standing.items() if value is not None}
    scene = read_file(path, strict_inertia=strict_inertia, standing=Standing(**given))
    return scene, scene.spec.option.timestep


def _host_class(simulator: str) -> Any:
    """The host of a simulator, imported only when it is used."""
    *others, last = map(repr, _ENGINES)
    names = f"{', '.join(others)} or {last}"
    require_type("engine", simulator, str, names)
    if simulator not in _ENGINES:
        raise ValueError(f"engine = {simulator!r}: must be {names}. Correct the name.")
    module, name, extra, subject = _ENGINES[simulator]
    with needs(subject, extra, HostError):
        return getattr(importlib.import_module(module, __package__), name)
