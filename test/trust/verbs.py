"""One small command of every verb, and what it needs: for tests that hold for all of them."""

import math
import os
import sys
import tempfile
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from program import FOURBAR, PENDULUM, PROGRAM, Cli  # noqa: E402,F401

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")


def model(name):
    return os.path.join(MODELS, name)


# The least time of a mass on a rail, in a phase whose duration the plan finds.
RAIL = """\
<robot name="rail"><link name="ground"/><link name="mass"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="x" type="prismatic"><parent link="ground"/><child link="mass"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="3" velocity="9"/></joint></robot>
"""
PHASES = """\
model: rail.urdf
horizon: 1
steps: 20
phases: [{until: 1, duration: [0.1, 10]}]
goals: [{time: 1, joints: {x: 3}, rest: true}]
objectives: [{type: time}]
"""
STUDY = """\
verb: simulate
model: fourbar.yaml
options: {time: 20ms}
design: latin-hypercube
samples: 12
vary:
  L: {distribution: normal, mean: 1, sd: 5mm}
  --integrator: [trapezoidal, hermite-simpson]
outputs: {drift: energy_drift, speed: columns.theta.v.last}
"""

# What each verb is asked, after `kinegraph`; its files are made by prepare().
COMMANDS = {
    "check": ["check", "fourbar.yaml"],
    "kinematics": ["kinematics", "fourbar.yaml", "--move", "theta.q=0:90deg:31"],
    "kinematics_goal": ["kinematics", model("arm7.urdf"), "--goal", "tool: x=0.4 y=0.1 z=0.6"],
    "branches": ["kinematics", model("five_bar.sdf"), "--branches"],
    "simulate": ["simulate", "fourbar.yaml", "--time", "0.2"],
    "simulate_screw": ["simulate", model("five_bar.sdf"), "--time", "0.2"],
    "simulate_maximal": ["simulate", "fourbar.yaml", "--formulation", "maximal", "--time", "0.1"],
    "simulate_batch": ["simulate", "fourbar.yaml", "--method", "batch", "--time", "0.2", "--step", "5ms"],
    "simulate_disturbed": ["simulate", model("fourbar_gyro.yaml"), "--disturbed", "--time", "0.2", "--step", "5ms"],
    "simulate_compiled": ["simulate", model("pendulum.urdf"), "--compiled", "--time", "0.2"],
    "inverse": ["inverse", "fourbar.yaml", "--motion", "motion.csv"],
    "hybrid": ["hybrid", model("five_bar.sdf"), "--known", model("five_bar_known.csv")],
    "estimate": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv"],
    "estimate_unknown": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "ekf", "--start", "unknown"],
    "estimate_ukf": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "ukf"],
    "estimate_batch": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "batch"],
    "estimate_particle": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "particle", "--particles", "100"],
    "estimate_compiled": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "particle", "--particles", "100",
                          "--compiled"],
    "identify": ["identify", model("rubbing_pendulum.yaml"), "--log", "swing.csv", "--free", "O.dry"],
    "identify_controller": ["identify", "rod.yaml", "--log", "held.csv", "--free", "O.viscous", "--horizon", "0.2s", "--held", "--step",
                            "4ms", "--controller", "theta.tau: theta.q@wanted limit=3"],
    "plan": ["plan", model("tasks/cart_pole_smooth.yaml")],
    "plan_phases": ["plan", "phases.yaml"],
    "graph": ["graph", model("three_r.urdf"), "--format", "svg"],
    "codegen": ["codegen", model("three_r.urdf"), "--problem", "inverse"],
    "codegen_derivatives": ["codegen", model("three_r.urdf"), "--problem", "forward", "--ordering", "best", "--derivatives", "--batch", "8"],
    "view": ["view", model("three_r.urdf")],
    "sweep": ["sweep", "study.yaml"],
    "sweep_hdf5": ["sweep", "study.yaml"],
}
SUFFIX = {"graph": "svg", "codegen": "hpp", "codegen_derivatives": "hpp", "sweep_hdf5": "h5"}
NO_PAGE = {"graph", "codegen", "codegen_derivatives", "sweep", "sweep_hdf5"}
# What some verbs write beside their table, summary and page.
MORE = {"simulate_disturbed": ["sensors"], "estimate": ["innovations"], "estimate_particle": ["innovations"],
        "identify": ["save"], "identify_controller": ["save"], "plan": ["motion"], "plan_phases": ["motion"]}


def written(name, stem):
    """Each option with which the command writes a file, with that file."""
    verb = COMMANDS[name][0]
    files = []
    if verb not in ("check", "view"):
        files.append(("--out", f"{stem}.{SUFFIX.get(name, 'csv')}"))
    if verb not in ("graph", "view", "codegen"):
        files.append(("--json", f"{stem}.json"))
    if name not in NO_PAGE:
        files.append(("--report", f"{stem}.html"))
    return files + [(f"--{option}", f"{stem}.{option}") for option in MORE.get(name, [])]


def outputs(name, stem):
    """The options that make the command write all that it can, and the files that it then writes."""
    files = written(name, stem)
    return [word for pair in files for word in pair], [file for _, file in files]


def held_pendulum():
    """A pendulum that a law holds at angles that change, and its recording."""
    rows, q, v, c, before = ["t,theta.q,theta.tau,wanted"], -1.2, 0.0, 0.0, 0.0
    for i in range(500):
        wanted = -1.2 + 0.5 * math.sin(3.4 * 0.002 * i)
        error = q - wanted
        c, before = -8 * error + 6 * (before if i else error) + 0.2 * c, error
        tau = min(max(c, -3), 3)
        rows.append(f"{0.002 * i:.3f},{q:.9f},{tau:.9f},{wanted:.9f}")
        v += 0.002 * (tau - 9.81 * 0.5 * math.cos(q) - 0.05 * v) / (1 / 3)
        q += 0.002 * v
    machine = ("points:\n  - {name: O, x: 0, y: 0, fixed: true}\n  - {name: P, x: 1, y: 0}\nplanar_bodies:\n"
               "  - {name: bar, points: [O, P], length: 1, mass: 1}\nrelative_coordinates:\n"
               "  - {name: theta, type: absolute_angle, points: [O, P]}\nmotors: [{coordinate: theta}]\n"
               "joint_friction: [{joint: O, viscous: 0.02}]\ninitial: {theta.q: -1.2}\n")
    return machine, "\n".join(rows) + "\n"


def prepare(test):
    """The files that the commands read. What --compiled keeps stands in a folder beside the test's, not in the user's."""
    kept = tempfile.TemporaryDirectory(prefix="kinegraph_kept_")
    test.addCleanup(kept.cleanup)
    moved = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=kept.name)
    moved.start()
    test.addCleanup(moved.stop)
    test.good("kinematics", "fourbar.yaml", "--move", "theta.q=0:1:41", "--out", "turn.csv")
    names, rows = test.table("turn.csv")
    at = names.index("theta.q")
    test.write("motion.csv", "t,theta.q\n" + "".join(f"{0.01 * i:.2f},{row[at]}\n" for i, row in enumerate(rows)))
    test.good("simulate", model("fourbar_gyro.yaml"), "--time", "0.3", "--sensors", "readings.csv")
    test.good("simulate", model("rubbing_pendulum.yaml"), "--time", "2", "--step", "5ms", "--sensors", "swing.csv")
    machine, recording = held_pendulum()
    for name, text in (("rod.yaml", machine), ("held.csv", recording), ("rail.urdf", RAIL), ("phases.yaml", PHASES), ("study.yaml", STUDY)):
        test.write(name, text)
    tried = test.run_program("sweep", "study.yaml", "--out", "tried.h5", "--quiet")
    if "built without HDF5" in tried.err:
        COMMANDS.pop("sweep_hdf5", None)
    else:
        os.remove(os.path.join(test.folder, "tried.h5"))
