"""One small command of every verb, and what it needs: for tests that hold for all of them."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from program import FOURBAR, PENDULUM, PROGRAM, Cli  # noqa: E402,F401

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")


def model(name):
    return os.path.join(MODELS, name)


# What each verb is asked, after `kinegraph`; its files are made by prepare().
COMMANDS = {
    "check": ["check", "fourbar.yaml"],
    "kinematics": ["kinematics", "fourbar.yaml", "--move", "theta.q=0:90deg:31"],
    "branches": ["kinematics", model("five_bar.sdf"), "--branches"],
    "simulate": ["simulate", "fourbar.yaml", "--time", "0.2"],
    "simulate_screw": ["simulate", model("five_bar.sdf"), "--time", "0.2"],
    "simulate_maximal": ["simulate", "fourbar.yaml", "--formulation", "maximal", "--time", "0.1"],
    "simulate_batch": ["simulate", "fourbar.yaml", "--method", "batch", "--time", "0.2", "--step", "5ms"],
    "inverse": ["inverse", "fourbar.yaml", "--motion", "motion.csv"],
    "hybrid": ["hybrid", model("five_bar.sdf"), "--known", model("five_bar_known.csv")],
    "estimate": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv"],
    "estimate_batch": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "batch"],
    "estimate_particle": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "particle", "--particles", "100"],
    "identify": ["identify", model("rubbing_pendulum.yaml"), "--log", "swing.csv", "--free", "O.dry"],
    "plan": ["plan", model("tasks/cart_pole_smooth.yaml")],
    "graph": ["graph", model("three_r.urdf"), "--format", "svg"],
    "codegen": ["codegen", model("three_r.urdf"), "--problem", "inverse"],
    "view": ["view", model("three_r.urdf")],
}
NO_TABLE = {"check", "view"}         # have no --out
PAGE_ONLY = {"view"}
NO_SUMMARY = {"graph", "codegen"}    # what --out writes is all there is


def outputs(name, stem):
    """The options that make the command write, and the files that it then writes."""
    if name in PAGE_ONLY:
        return ["--report", f"{stem}.html"], [f"{stem}.html"]
    if name in NO_SUMMARY:
        return ["--out", f"{stem}.out"], [f"{stem}.out"]
    if name in NO_TABLE:
        return ["--json", f"{stem}.json"], [f"{stem}.json"]
    return ["--out", f"{stem}.csv", "--json", f"{stem}.json"], [f"{stem}.csv", f"{stem}.json"]


def prepare(test):
    """The tables that the commands read."""
    test.good("kinematics", "fourbar.yaml", "--move", "theta.q=0:1:41", "--out", "turn.csv")
    names, rows = test.table("turn.csv")
    at = names.index("theta.q")
    test.write("motion.csv", "t,theta.q\n" + "".join(f"{0.01 * i:.2f},{row[at]}\n" for i, row in enumerate(rows)))
    test.good("simulate", model("fourbar_gyro.yaml"), "--time", "0.3", "--sensors", "readings.csv")
    test.good("simulate", model("rubbing_pendulum.yaml"), "--time", "2", "--step", "5ms", "--sensors", "swing.csv")
