"""Every verb on machines that are singular, redundant, contradictory, badly scaled or cannot be put together:
odd_machines_test.py PROGRAM [SUITE.TEST ...]

Each answers with finite numbers that hold (lengths of bars, gaps of loops: measured in the table), or names a cause.
"""

import math
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verbs import Cli  # noqa: E402

SENSED = """\
sensors:
  - {name: encoder, type: encoder, coordinate: theta, noise: 1mrad, rate: 200}
disturbances:
  - {coordinate: theta, density: 0.1}
"""


def linkage(points, bars, more=""):
    """Points (x, y, fixed) by name, bars (a, b, mass[, length])."""
    text = "points:\n" + "".join(f"  - {{name: {name}, x: {x!r}, y: {y!r}{', fixed: true' if fixed else ''}}}\n"
                                 for name, (x, y, fixed) in points.items()) + "planar_bodies:\n"
    lengths = {}
    for i, (a, b, mass, *length) in enumerate(bars):
        lengths[a, b] = length[0] if length else math.dist(points[a][:2], points[b][:2])
        text += f"  - {{name: bar{i}, points: [{a}, {b}], length: {lengths[a, b]!r}, mass: {mass!r}}}\n"
    text += "relative_coordinates:\n  - {name: theta, type: absolute_angle, points: [A, P]}\nmotors: [{coordinate: theta}]\n"
    return text + SENSED + more, lengths, points


def four_bar(scale=1.0, masses=(1, 2, 4), rocker=None):
    points = {"A": (0, 0, True), "P": (scale, 0, False), "Q": (scale, 2 * scale, False), "D": (4 * scale, 0, True)}
    return linkage(points, [("A", "P", masses[0]), ("P", "Q", masses[1]), ("Q", "D", masses[2]) + ((rocker,) if rocker else ())])


def parallelogram(angle):
    c, s = math.cos(angle), math.sin(angle)
    points = {"A": (0, 0, True), "P": (c, s, False), "B": (2, 0, True), "Q": (2 + c, s, False)}
    return linkage(points, [("A", "P", 1), ("P", "Q", 1), ("Q", "B", 1)])


# Two bars stretched between two pivots: nothing moves but by less than nothing.
TAUT = linkage({"A": (0, 0, True), "P": (1, 0, False), "B": (2, 0, True)}, [("A", "P", 1), ("P", "B", 1)])
PLANAR = {
    "plain": four_bar(),
    "unassemblable": four_bar(rocker=0.5),
    "micrometres": four_bar(1e-6),
    "kilometres": four_bar(1e3),
    "light and heavy": four_bar(1, (1e-6, 1e6, 1)),
    "heavy and light": four_bar(1e-3, (1e6, 1e-6, 1e-6)),
    "change point": parallelogram(0),
    "parallelogram": parallelogram(1),
    "redundant": linkage(four_bar()[2], [("A", "P", 1), ("P", "Q", 2), ("Q", "D", 4), ("P", "Q", 1)]),
    "taut": TAUT,
    "contradictory": linkage({"A": (0, 0, True), "P": (1, 0, False), "Q": (1, 1, False), "B": (2, 0, True)},
                             [("A", "P", 1), ("P", "Q", 1), ("Q", "B", 1), ("A", "Q", 1, 3.5)]),
    "truss": linkage({"A": (0, 0, True), "P": (1, 1, False), "B": (2, 0, True)}, [("A", "P", 1), ("P", "B", 1)]),
    "crank on a slider": linkage({"A": (0, 0, True), "P": (1, 0, False), "B": (2, 0, True)}, [("A", "P", 1)],
                                 "sliders: [{point: P, line: [A, B]}]\n"),
}

MOVE = "t,theta.q\n" + "".join(f"{0.002 * i:.3f},{1e-4 * i * i:.6f}\n" for i in range(21))
PLANAR_COMMANDS = {
    "check": ["check"],
    "kinematics": ["kinematics"],
    "branches": ["kinematics", "--branches"],
    "move": ["kinematics", "--move", "theta.q=0:180deg:19"],
    **{f"simulate {name}": ["simulate", "--time", "{pace}", "--steps-of", *more]
       for name, more in (("natural", []), ("independent", ["--formulation", "independent"]), ("screw", ["--formulation", "screw"]),
                          ("maximal", ["--formulation", "maximal", "--compliance", "1e-13"]), ("batch", ["--method", "batch"]), ("step", ["--method", "step"]))},
    "inverse": ["inverse", "--motion", "move.csv"],
    "inverse screw": ["inverse", "--motion", "move.csv", "--formulation", "screw"],
    **{f"estimate {name}": ["estimate", "--log", "log.csv", "--step", "5ms", "--filter", name, *(["--particles", "50"] if name == "particle" else [])]
       for name in ("smoother", "batch", "ekf", "ukf", "particle")},
    "identify": ["identify", "--log", "log.csv", "--free", "bar0.mass"],
    "graph": ["graph", "--format", "text"],
    "view": ["view"],
    "sweep": ["sweep"],
}


class Odd(Cli):
    def holds(self, name, command, *check):
        """Runs one; the table and summary where it answers."""
        writes = {"check": ["--json", "a.json"], "view": ["--report", "a.html"], "graph": ["--out", "a.out"], "codegen": ["--out", "a.out"],
                  "sweep": ["--out", "a.csv"]}.get(command[0], ["--out", "a.csv", "--json", "a.json"])
        for file in ("a.csv", "a.json"):
            if os.path.exists(os.path.join(self.folder, file)):
                os.remove(os.path.join(self.folder, file))
        with self.subTest(machine=name, command=" ".join(command)):
            result = self.run_program(*command, *writes, "--quiet", "--threads", "1")
            if result.status != 0:
                self.assertIn(result.status, (1, 2), result.err)
                self.assertRegex(result.err, r"(^|\n)(\S+: )?error: \S.{10,}")
                self.assertIsNone(re.search(r"\b(nan|inf)\b", result.err, re.IGNORECASE), result.err)
                return result.status
            for file in ("a.csv", "a.json"):
                if os.path.exists(os.path.join(self.folder, file)):
                    self.assertIsNone(re.search(r"(^|[\s,:\[])-?(nan|inf|infinity)\b", self.read(file), re.IGNORECASE), file)
            self.assertIsNone(re.search(r"\s-?(nan|inf)\b", result.out + result.err, re.IGNORECASE), result.out + result.err)
            for one in check:
                one()
            return 0


class Planar(Odd):
    def bars_hold(self, lengths, points, tolerance):
        if not os.path.exists(os.path.join(self.folder, "a.csv")):
            return
        names, rows = self.table("a.csv")
        for (a, b), length in lengths.items():
            def place(point, row):
                return [row[names.index(f"{point}.{axis}")] if f"{point}.{axis}" in names else points[point][k] for k, axis in enumerate("xy")]
            if any(f"{p}.x" not in names and not points[p][2] for p in (a, b)):
                continue
            for row in rows:
                self.assertAlmostEqual(math.dist(place(a, row), place(b, row)) / length, 1, delta=tolerance)

    def test_every_verb(self):
        statuses = {}
        self.write("move.csv", MOVE)
        for name, (text, lengths, points) in PLANAR.items():
            self.write("m.yaml", text)
            if name == "plain":  # the readings of the first are those of all
                self.good("simulate", "m.yaml", "--time", "0.2", "--sensors", "log.csv")
            size = max(abs(x) for x, _, _ in points.values())
            pace = 1e-3 * math.sqrt(size)
            self.write("study.yaml", f"verb: simulate\nmodel: m.yaml\noptions: {{time: {20 * pace!r}, step: {pace!r}}}\n"
                                     "samples: 2\nvary:\n  bar0.mass: {distribution: uniform, low: 0.5, high: 1}\noutputs: {drift: energy_drift}\n")
            for what, (verb, *more) in PLANAR_COMMANDS.items():
                if "--steps-of" in more:
                    at = more.index("--steps-of")
                    more = ["--time", repr(20 * pace), "--step", repr(pace), *more[at + 1:]]
                tolerance = 1e-2 if "estimate" in what else 1e-3 if "maximal" in what else 1e-6
                measured = [] if verb == "sweep" else [lambda: self.bars_hold(lengths, points, tolerance)]
                statuses[name, what] = self.holds(name, [verb, "study.yaml" if verb == "sweep" else "m.yaml", *more], *measured)
        for what in PLANAR_COMMANDS:
            self.assertEqual(statuses["plain", what], 0, what)
        for name in ("unassemblable", "contradictory"):
            for what in ("kinematics", "simulate natural", "inverse", "estimate smoother"):
                self.assertEqual(statuses[name, what], 1, (name, what))
        for name in ("micrometres", "kilometres", "light and heavy", "redundant", "parallelogram"):
            for what in ("kinematics", "move", "simulate screw") + (() if name == "parallelogram" else ("inverse screw",)):
                self.assertEqual(statuses[name, what], 0, (name, what))
        for name in ("truss", "crank on a slider"):
            self.bad("m.yaml: error: nothing can move (0 degrees of freedom): there is no motion to be estimated",
                     *self.on(name, "estimate", "--log", "log.csv"))
            for what in ("check", "kinematics", "simulate natural", "simulate maximal", "simulate step"):
                self.assertEqual(statuses[name, what], 0, (name, what))

    def on(self, name, verb, *more):
        self.write("m.yaml", PLANAR[name][0])
        return [verb, "m.yaml", *more]


def arm(masses, scale=1.0, joints=2, loop=""):
    """Links in line, hinges about y."""
    text = "<robot name='arm'><link name='l0'/>"
    for i in range(joints):
        mass = masses[i % len(masses)]
        inertia = mass * scale * scale / 12
        text += (f"<link name='l{i + 1}'><inertial><origin xyz='{0.5 * scale!r} 0 0'/><mass value='{mass!r}'/><inertia ixx='{inertia / 10!r}' "
                 f"ixy='0' ixz='0' iyy='{inertia!r}' iyz='0' izz='{inertia!r}'/></inertial></link><joint name='j{i}' type='revolute'>"
                 f"<origin xyz='{scale if i else 0!r} 0 0'/><parent link='l{i}'/><child link='l{i + 1}'/><axis xyz='0 1 0'/>"
                 "<limit lower='-9' upper='9' effort='1e9' velocity='1e9'/></joint>")
    return text + "</robot>", loop


def closed(scale, reach):
    """Three links whose end is held on the ground: a four-bar in space, stretched where `reach` is 3."""
    return arm((1, 2, 1), scale, 3, f"- {{name: tip, parent: l3, child: l0, type: revolute, parent_xyz: [{scale!r}, 0, 0], "
                                    f"child_xyz: [{reach * scale!r}, 0, 0], axis: [0, 1, 0], passive: true}}\n")


ROBOTS = {
    "plain": arm((1, 2)),
    "micrometres": arm((1, 2), 1e-6),
    "kilometres": arm((1, 2), 1e3),
    "light and heavy": arm((1e-6, 1e6)),
    "heavy and light": arm((1e6, 1e-6)),
    "massless end": arm((1, 0.0)),
    "taut loop": closed(1, 3),
    "nearly taut loop": closed(1, 2.999999),
    "four-bar": closed(1, 2),
    "small four-bar": closed(1e-6, 2),
    "large four-bar": closed(1e3, 2),
    "unassemblable": closed(1, 3.5),
    "welded": arm((1,), 1, 1, "- {name: tip, parent: l1, child: l0, type: fixed, parent_xyz: [1, 0, 0], child_xyz: [1, 0, 0]}\n"),
    "fixed": (arm((1,))[0].replace("revolute", "fixed"), ""),
}
# A reading of the joint, or of the link where no joint moves.
ENCODER = "{name: encoder, type: encoder, joint: j0, noise: 1mrad, rate: 200}"
SHAKEN = "{name: encoder, type: accelerometer, link: l1, noise: 1e-3, rate: 200}"
ROBOT_COMMANDS = {
    "check": ["check"],
    "kinematics": ["kinematics"],
    "move": ["kinematics", "--move", "j0.q=0:30deg:7"],
    "goal": ["kinematics", "--goal", "l2: x=0.8 z=0.6"],
    **{f"simulate {name}": ["simulate", "--steps-of", *more]
       for name, more in (("screw", []), ("maximal", ["--formulation", "maximal"]), ("step", ["--method", "step"]))},
    "inverse": ["inverse", "--motion", "motion.csv"],
    "hybrid": ["hybrid", "--known", "known.csv"],
    **{f"estimate {name}": ["estimate", "--log", "log.csv", "--step", "5ms", "--filter", name, *(["--particles", "50"] if name == "particle" else [])]
       for name in ("smoother", "ekf", "ukf", "particle")},
    "identify": ["identify", "--log", "log.csv", "--free", "l1.mass"],
    "graph": ["graph", "--format", "text"],
    "codegen": ["codegen", "--problem", "inverse"],
    "codegen mass": ["codegen", "--problem", "mass-matrix"],
    "plan": ["plan"],
}


class Spatial(Odd):
    def loops_hold(self, closing, scale):
        """The last link's end, where the ground holds it: turns about y by the sum of the angles."""
        if not closing or not os.path.exists(os.path.join(self.folder, "a.csv")):
            return
        names, rows = self.table("a.csv")
        if any(f"j{i}.q" not in names for i in range(3)):
            return
        reach = float(re.search(r"child_xyz: \[([^,]+),", closing)[1])
        for row in rows:
            angle = x = z = 0
            for i in range(3):
                angle += row[names.index(f"j{i}.q")]
                x, z = x + scale * math.cos(angle), z - scale * math.sin(angle)
            self.assertLess(math.hypot(x - reach, z), 1e-4 * scale)

    def test_every_verb(self):
        statuses = {}
        for name, (text, loop) in ROBOTS.items():
            self.write("r.urdf", text)
            self.write("r.loops.yaml", loop or "[]\n")
            joints = text.count("<joint")
            scale = float(re.search(r"parent_xyz: \[([^,]+),", loop)[1]) if loop else {"micrometres": 1e-6, "kilometres": 1e3}.get(name, 1.0)
            pace = 1e-3 * math.sqrt(scale)
            fixed = name == "fixed"
            lead = [] if fixed else ["j0"] if loop else [f"j{i}" for i in range(joints)]
            self.write("motion.csv", ",".join(["t"] + [f"{j}.q" for j in lead]) + "\n" +
                       "".join(",".join([f"{0.002 * i:.3f}"] + [f"{0.9 + 1e-4 * i * i:.6f}"] * len(lead)) + "\n" for i in range(21)))
            idle = [] if fixed else [f"j{i}.tau" for i in range(len(lead), joints)]
            self.write("known.csv", ",".join(["t"] + [f"{j}.q,{j}.v,{j}.tau" for j in lead] + idle) + "\n" +
                       ",".join(["0"] + ["0.9,0.1,1"] * len(lead) + ["0"] * len(idle)) + "\n")
            self.write("r.sensors.yaml", f"sensors:\n  - {SHAKEN if fixed else ENCODER}\n"
                       "disturbances: [" + ", ".join(f"{{joint: {j}, density: 0.1}}" for j in lead) + "]\n")
            if name == "plain":
                self.good("simulate", "r.urdf", "--time", "0.2", "--sensors", "log.csv")
            if fixed:
                self.write("log.csv", "t,encoder.ax,encoder.ay,encoder.az\n0,0,0,9.81\n0.005,0,0,9.81\n")
            self.write("task.yaml", "model: r.urdf\nhorizon: 0.2\nsteps: 10\ncollocation: trapezoidal\n"
                                    "goals:\n  - {name: there, time: 0.2, joints: {j0: 0.1}, rest: true}\nobjectives:\n  - {type: torque, sigma: 20}\n")
            for what, (verb, *more) in ROBOT_COMMANDS.items():
                if "--steps-of" in more:
                    more = ["--time", repr(20 * pace), "--step", repr(pace), *more[1:]]
                model = "task.yaml" if verb == "plan" else "r.urdf"
                measured = what in ("kinematics", "move", "simulate screw", "inverse", "hybrid")
                statuses[name, what] = self.holds(name, [verb, model, *more], *([lambda: self.loops_hold(loop, scale)] if measured else []))
        for what in set(ROBOT_COMMANDS) - {"estimate particle"}:  # fifty particles may lose an arm
            self.assertEqual(statuses["plain", what], 0, what)
        for what in ("kinematics", "simulate screw", "inverse", "hybrid", "simulate maximal"):
            self.assertEqual(statuses["unassemblable", what], 1, what)
        for name in ("micrometres", "kilometres", "light and heavy", "four-bar", "large four-bar", "small four-bar"):
            for what in ("kinematics", "simulate screw", "inverse", "hybrid"):
                self.assertEqual(statuses[name, what], 0, (name, what))
        for name in ("welded", "fixed"):
            for what in ("check", "kinematics", "simulate screw", "simulate maximal"):
                self.assertEqual(statuses[name, what], 0, (name, what))
            for what in ("estimate smoother", "estimate ekf", "estimate ukf", "estimate particle"):
                self.assertEqual(statuses[name, what], 2, (name, what))


if __name__ == "__main__":
    unittest.main()
