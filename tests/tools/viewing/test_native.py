"""MuJoCo's own window on a virtual display: it draws robot and ghost, and its keys work."""

import json
import os
import shutil
import subprocess
import sys
from ctypes.util import find_library
from importlib.util import find_spec

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.viewing.live import Live
from isaacsim.core.experimental.actuators.tools.viewing.native import _lines
from places import ROBOTS

XVFB = shutil.which("Xvfb")
LIBRARIES = [find_library(name) for name in ("X11", "Xtst", "GL")]
needs_window = pytest.mark.skipif(
    XVFB is None or not all(LIBRARIES) or find_spec("PIL") is None,
    reason="Xvfb, libX11, libXtst, libGL or Pillow is not installed",
)
# keys go to the window under the pointer, as there is no window manager
PROGRAM = """
import ctypes, json, sys, threading, time
import numpy as np
from PIL import ImageGrab
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation

x11, xtest = ctypes.CDLL(sys.argv[2]), ctypes.CDLL(sys.argv[3])
x11.XOpenDisplay.restype = ctypes.c_void_p
display = ctypes.c_void_p(x11.XOpenDisplay(None))

def press(symbol):
    xtest.XTestFakeMotionEvent(display, -1, 300, 200, 0)
    code = x11.XKeysymToKeycode(display, ctypes.c_ulong(symbol))
    for down in (1, 0):
        xtest.XTestFakeKeyEvent(display, code, down, 0)
        x11.XFlush(display)
        time.sleep(0.2)

def wait_for(holds):
    begin = time.monotonic()
    while not holds():
        assert time.monotonic() - begin < 40, "it never happens"
        time.sleep(0.05)

def ghost():
    red, green, blue = np.moveaxis(np.asarray(ImageGrab.grab(xdisplay=""), int)[..., :3], 2, 0)
    return float(((red > 120) & (red - blue > 60) & (red > green)).mean())

def drive():
    try:
        # a window that draws accepts keys
        wait_for(lambda: np.asarray(ImageGrab.grab(xdisplay="")).any())
        press(0x20)
        wait_for(lambda: view.paused)
        wait_for(lambda: ghost() > 0)
        told["away"], steps = ghost(), sim.step_count
        press(0xFF53)
        wait_for(lambda: sim.step_count > steps)
        time.sleep(0.3)
        told["steps"] = sim.step_count - steps
        moved = np.abs(sim.data().qpos).max()
        press(0xFF08)
        wait_for(lambda: not sim.data().qpos.any())
        told["moved"] = float(moved)
        arm.set_dof_position_targets(arm.get_dof_positions())
        wait_for(lambda: ghost() == 0)
        told["arrived"] = ghost()
        press(0x20)
        wait_for(lambda: not view.paused)
    except BaseException as error:
        told["error"] = repr(error)
    finally:
        done.set()
        view.paused = False

told, done = {}, threading.Event()
with Simulation(sys.argv[1]) as sim:
    arm, actuators = Articulation("/World/Arm"), ArticulationActuators("/World/Arm")
    sim.play()
    arm.set_dof_position_targets([2.0, 0.3])
    with sim.view() as view:
        assert view.url is None
        driver = threading.Thread(target=drive)
        driver.start()
        while not done.is_set():
            view.run(0.05)
        driver.join()
print(json.dumps(told))
"""


@pytest.fixture
def display():
    reading, writing = os.pipe()
    size = ["-screen", "0", "720x540x24", "-nolisten", "tcp"]
    command = [str(XVFB), "-displayfd", str(writing), *size]
    with subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        try:
            assert number, "Xvfb does not start"
            yield f":{number}"
        finally:
            server.terminate()


def test_lines_tell_efforts_friction_and_temperature() -> None:
    """In ASCII, as MuJoCo's viewer has nothing else; a joint without a law has no number of it."""
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    laws = [aa.ThermalConfig(1e9, 1.0, motor_constant=0.5, ambient=40.0), aa.FrictionConfig(coulomb=8.0)]
    with aa.Simulation(ROBOTS / "arm_2dof.usda", 0.005) as sim:
        sim.play()
        motors = {"shoulder": [*motor, *laws], "extension": motor}
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", motors)
        live = Live(sim, sim._host)
        sim.step()
        told = dict(_lines(live, paused=True))
        assert told["paused"] == "0.01 s" and all(text.isascii() for line in told.items() for text in line)
        assert " friction " in told["shoulder"] and told["shoulder"].endswith(" winding 40 C")
        assert "friction" not in told["extension"] and "winding" not in told["extension"]
        actuators.close()


@needs_window
def test_window_draws_robot_and_ghost_and_takes_keys(display, tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    told = window(display, program, str(ROBOTS / "arm_2dof.usda"), *map(str, LIBRARIES[:2]))
    assert "error" not in told, told
    assert 0.003 < told["away"] < 0.2 and told["arrived"] == 0.0 and told["steps"] == 1 and told["moved"] > 1e-3


def window(display: str, *command):
    environment = os.environ | {
        "DISPLAY": display,
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    environment.pop("WAYLAND_DISPLAY", None)
    command = [sys.executable, *command]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])
