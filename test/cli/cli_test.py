"""Runs the program as a user does: cli_test.py PROGRAM [SUITE.TEST ...]"""

import json
import math
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from program import FOURBAR, PENDULUM, PROGRAM, Cli


DRIVEN = """\
points: [{name: O, x: 0, y: 0, fixed: true}, {name: P, x: 1, y: 0}]
planar_bodies: [{name: a, points: [O, P], mass: 1}]
relative_coordinates: [{name: th, type: absolute_angle, points: [O, P]}]
"""

BOX = """\
<sdf version="1.9"><world name="w">
<model name="ground"><static>true</static><link name="l"><inertial><mass>1</mass></inertial><collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry>
</collision></link></model>
<model name="box"><pose>0 0 0.11 0 0 0</pose><link name="l"><inertial><mass>2</mass>
<inertia><ixx>.0133</ixx><iyy>.0133</iyy><izz>.0133</izz></inertia></inertial>
<collision name="c"><geometry><box><size>.2 .2 .2</size></box></geometry></collision></link></model></world></sdf>
"""


class Help(Cli):
    def test_lists_the_verbs(self):
        text = self.good("--help").out
        for verb in ("check", "kinematics", "simulate", "inverse", "hybrid", "estimate", "identify", "sweep", "demo"):
            self.assertRegex(text, rf"(?m)^  {verb} +\S")
        self.assertEqual(text, self.good("help").out)

    def test_teaches_each_verb(self):
        for verb in ("check", "kinematics", "simulate", "inverse", "hybrid", "estimate", "identify", "sweep", "demo"):
            text = self.good(verb, "--help").out
            self.assertIn("Example", text)
            self.assertIn(f"  kinegraph {verb} ", text)
            self.assertEqual(text, self.good("help", verb).out)
            self.assertLessEqual(max(len(line) for line in text.splitlines()), 132)

    def test_version(self):
        self.assertRegex(self.good("--version").out, r"^kinegraph \d+\.\d+\.\d+\n$")

    def test_nothing_asked(self):
        result = self.run_program()
        self.assertEqual((result.status, result.out), (2, ""))
        self.assertIn("Usage: kinegraph VERB MODEL [options]", result.err)


class Options(Cli):
    def test_unknown_names_get_the_nearest_valid_one(self):
        self.bad("error: unknown verb 'simulat'; did you mean 'simulate'?\n'kinegraph --help' lists the verbs", "simulat")
        self.bad("error: unknown verb 'crank.yaml'\n'kinegraph --help' lists the verbs", "crank.yaml")
        self.bad("error: unknown option '--vrsion'; did you mean '--version'?", "--vrsion")
        self.bad("error: unknown option '--tmie'; did you mean '--time'?", "simulate", "fourbar.yaml", "--tmie", "5")
        self.bad("error: unknown option '--tmie'; did you mean '--time'?", "simulate", "fourbar.yaml", "--tmie=5")
        self.bad("error: unknown option '--branch'; did you mean '--branches'?", "kinematics", "fourbar.yaml", "--branch")
        self.bad("error: unknown option '--reprt'; did you mean '--report'?", "simulate", "fourbar.yaml", "--reprt", "a.html")

    def test_shape_of_the_command(self):
        self.bad("error: expected a model file: kinegraph simulate MODEL [options]", "simulate", "--time", "5")
        self.bad("error: did not expect 'b.yaml'", "check", "fourbar.yaml", "b.yaml")
        self.bad("error: --step: needs a value", "simulate", "fourbar.yaml", "--step")
        self.bad("error: --out: needs a value, found '--json'", "simulate", "fourbar.yaml", "--out", "--json")
        self.bad("error: --step: is given 2 times", "simulate", "fourbar.yaml", "--step", "1", "--step", "2")

    def test_values_that_break_a_rule(self):
        def simulate(message, *options):
            self.bad(message, "simulate", "fourbar.yaml", *options)

        simulate("error: step: must be > 0, is -0.001", "--step", "-0.001")
        simulate("error: step: must be > 0, is 0", "--step=0")
        simulate("error: time: must be > 0, is -5", "--time", "-5")
        simulate("error: time: must be at most 2e+09 steps, is 1e+15 steps", "--time", "1e9", "--step", "1us")
        simulate("error: time: expected a number, found the name 'abc'", "--time", "abc")
        simulate("error: step: expected an operator or a unit, found 'x' (character 2)", "--step", "5x")
        simulate("error: step: 'nan' is not a finite number (character 1)", "--step", "nan")
        simulate("error: window: must be >= 2, is 1", "--window", "1")
        simulate("error: window: expected a whole number, found '2.5'", "--window", "2.5")
        simulate("error: every: must be >= 1, is 0", "--every", "0")
        simulate("error: threads: must be >= 1, is 0", "--threads", "0")
        simulate("error: seed: must be >= 0, is -1", "--seed", "-1")
        simulate("error: formulation: must be one of natural, independent, screw, maximal, is 'naturl'; did you mean 'natural'?",
                 "--formulation", "naturl")
        simulate("error: method: must be one of smoother, batch, step, is 'x'", "--method", "x")
        simulate("error: integrator: must be one of euler, trapezoidal, hermite-simpson, is 'trapezoid'; did you mean "
                 "'trapezoidal'?", "--integrator", "trapezoid")
        simulate("error: weights: must be one of hard, soft, is 'firm'", "--weights", "firm")
        simulate("error: soft-scale: must be one of prior, integrator, dynamics, constraint, equality, is 'dynamic'; did "
                 "you mean 'dynamics'?", "--weights", "soft", "--soft-scale", "dynamic=2")
        simulate("error: soft-scale dynamics: must be > 0, is -2", "--weights", "soft", "--soft-scale", "dynamics=-2")
        simulate("error: soft-scale: needs --weights soft", "--soft-scale", "dynamics=2")

    def test_every_fault_is_told(self):
        self.bad("error: threads: must be >= 1, is 0\nerror: time: expected a number, found the name 'abc'\n"
                 "error: every: expected a whole number, found 'x'",
                 "simulate", "fourbar.yaml", "--time", "abc", "--every", "x", "--threads", "0")

    def test_settings(self):
        self.bad("error: set: expected name=value, found 'L'", "check", "fourbar.yaml", "--set", "L")
        self.bad("error: set L: expected a number, found the name 'b'", "check", "fourbar.yaml", "--set", "L=b")
        self.bad("error: set: 'L' is given twice", "check", "fourbar.yaml", "--set", "L=1", "--set", "L=2")

    def test_moves(self):
        def move(message, text):
            self.bad(message, "kinematics", "fourbar.yaml", "--move", text)

        move("error: move: expected name=from:to or name=from:to:samples, found 'theta.q'", "theta.q")
        move("error: move: '10' and '350deg': give both a unit, or none", "theta.q=10:350deg")
        move("error: move samples: must be >= 2, is 1", "theta.q=0:1:1")
        self.bad("error: branches, move: only one of them at a time",
                 "kinematics", "fourbar.yaml", "--branches", "--move", "theta.q=0:1")


class Files(Cli):
    def test_missing_files(self):
        self.bad("none.yaml: error: cannot read the file: no such file", "check", "none.yaml")
        self.bad("none.csv: error: cannot read the file: no such file", "inverse", "fourbar.yaml", "--motion", "none.csv")
        self.bad("none.csv: error: cannot read the file: no such file", "simulate", "fourbar.yaml", "--input", "none.csv")
        self.bad("error: motion: is missing: kinegraph inverse MODEL --motion FILE.csv", "inverse", "fourbar.yaml")
        os.mkdir(os.path.join(self.folder, "sub"))
        self.bad("sub: error: cannot read the file: is a directory", "inverse", "fourbar.yaml", "--motion", "sub")

    def test_places_that_cannot_be_written(self):
        os.mkdir(os.path.join(self.folder, "sub"))
        for option in ("--out", "--json"):
            self.bad("error: cannot write 'sub': it is a folder", "simulate", "fourbar.yaml", option, "sub")
            self.bad("error: cannot write 'no/a': there is no folder 'no'", "simulate", "fourbar.yaml", option, "no/a")
        self.assertEqual(self.files(), ["sub"])

    def test_folder_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.mkdir(os.path.join(self.folder, "sub"), mode=0o555)
        self.bad("error: cannot write 'sub/a.csv': permission denied", "simulate", "fourbar.yaml", "--out", "sub/a.csv")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        command = ("simulate", "fourbar.yaml", "--time", "0.1")
        for option in ("--out", "--json"):
            self.bad("error: cannot write '/dev/full': no space left on device", *command, option, "/dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, *command], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "error: cannot write standard output: no space left on device\n"))

    def test_a_failure_leaves_what_was_there(self):
        self.write("a.csv", "old")
        self.write("motion.csv", "t,theta.q\n0,1\n1,x\n")
        result = self.run_program("inverse", "fourbar.yaml", "--motion", "motion.csv", "--out", "a.csv", "--json", "a.json")
        self.assertEqual(result.status, 2)
        self.assertEqual(self.read("a.csv"), "old")
        self.assertEqual(self.files(), ["a.csv", "motion.csv"])

    def test_standard_output_carries_one_thing(self):
        command = ("simulate", "fourbar.yaml", "--time", "0.01")
        self.assertEqual(json.loads(self.good(*command, "--json", "-").out)["steps"], 10)
        rows = self.good(*command, "--out", "-").out.splitlines()
        self.assertEqual(len(rows), 12)
        self.assertEqual(rows[0].split(",")[0], "t")
        self.bad("error: out, json: only one of them can be standard output", *command, "--out", "-", "--json", "-")
        self.bad("error: out, json: both name the file 'a'", *command, "--out", "a", "--json", "a")
        self.bad("error: out, json: both name the file 'a'\nerror: out, sensors: both name the file 'a'\n"
                 "error: json, sensors: both name the file './a'", *command, "--out", "a", "--json", "./a", "--sensors", "a")
        self.good(*command, "--out", "/dev/null", "--json", "/dev/null")

    def test_a_closed_pipe_is_no_fault_of_ours(self):
        """Nobody reads: as in kinegraph ... | true."""
        told = "error: cannot write standard output: broken pipe\n"
        turn = ("kinematics", "fourbar.yaml", "--move", "theta.q=0:1:11")
        for command in (("--help",), turn, (*turn, "--out", "-"), (*turn, "--json", "-"),
                        ("graph", "fourbar.yaml", "--out", "-")):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([PROGRAM, *command], cwd=self.folder, stdout=writer, stderr=subprocess.PIPE, text=True,
                                  timeout=100, check=False)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (2, told), command)
        tour = subprocess.Popen([PROGRAM, "demo", "--out", "tour"], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        self.addCleanup(tour.wait)
        self.addCleanup(tour.kill)
        tour.stdout.readline()
        tour.stdout.close()  # in the middle of the tour
        err = tour.stderr.read()
        tour.stderr.close()
        self.assertEqual(tour.wait(timeout=100), 2, err)
        self.assertTrue(err.startswith(told), err)
        self.assertNotIn("internal", err)


class Tables(Cli):
    def inverse(self, message, text, *options, status=2):
        self.write("motion.csv", text)
        self.bad(message, "inverse", "fourbar.yaml", "--motion", "motion.csv", "--out", "a.csv", *options, status=status)
        self.assertEqual(self.files(), ["motion.csv"])

    def test_faults_have_a_place(self):
        self.inverse("motion.csv:1:1: error: the file is empty", "")
        self.inverse("motion.csv:1:1: error: expected 't' or 'time' as the first column, found 'theta.q'", "theta.q\n1\n")
        self.inverse("motion.csv:1:11: error: column 3 has the same name as column 2: 'theta.q'", "t,theta.q,theta.q\n0,1,1\n")
        self.inverse("motion.csv:1:1: error: no rows of numbers follow the header", "t,theta.q\n")
        self.inverse("motion.csv:3:4: error: expected 2 values, found 1", "t,theta.q\n0,0\n0.1\n")
        self.inverse("motion.csv:3:5: error: expected a number for 'theta.q', found 'abc'", "t,theta.q\n0,0\n0.1,abc\n")
        self.inverse("motion.csv:3:5: error: expected a number for 'theta.q', found nothing", "t,theta.q\n0,0\n0.1,\n")
        self.inverse("motion.csv:2:3: error: expected a finite number for 'theta.q', found 'nan'", "t,theta.q\n0,nan\n")
        self.inverse("motion.csv:3:1: error: the time must increase: 0 follows 0", "t,theta.q\n0,0\n0,1\n")
        self.inverse("motion.csv:2:2: error: expected a header row, found numbers; name the columns with --columns t,…",
                     "% a table\n 0 1\n")
        self.inverse("motion.csv:1:1: error: the table has 2 columns, --columns names 3", "0 1\n", "--columns", "t,theta.q,x")

    def test_unequal_steps(self):
        rows = "".join(f"{0.01 * i:.2f},0\n" for i in range(20) if i != 7)
        self.inverse("motion.csv:9:1: error: unequal steps: t goes from 0.06 to 0.08, a step of 0.02; the others are 0.01",
                     "t,theta.q\n" + rows)

    def test_missing_column(self):
        rows = "".join(f"{0.01 * i:.2f},0\n" for i in range(20))
        self.write("motion.csv", "t,phi.q\n" + rows)
        result = self.run_program("inverse", "fourbar.yaml", "--motion", "motion.csv", "--out", "a.csv")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"^motion\.csv:1:\d+: error: .*'phi\.q'.*\n$")
        self.assertEqual(self.files(), ["motion.csv"])

    def test_a_table_without_header(self):
        rows = "".join(f"   {0.005 * i:.7e}   {1.2 * (1 - math.cos(0.01 * i)):.7e}\r\n" for i in range(100))
        self.write("motion.txt", "% timestamp  angle\r\n" + rows)
        self.good("inverse", "fourbar.yaml", "--motion", "motion.txt", "--columns", "t,theta.q", "--out", "a.csv")
        names, values = self.table("a.csv")
        self.assertEqual(len(values), 100)
        angle = names.index("theta.q")
        for i, row in enumerate(values):
            self.assertAlmostEqual(row[angle], 1.2 * (1 - math.cos(0.01 * i)), delta=1e-4)


class Models(Cli):
    """One line of file:line:column for every fault of a model; the texts are tested where the file is read."""

    def test_bad_files(self):
        faults = {
            "an unknown key": ("mass: 1}", "mas: 1}"),
            "a missing point": ("[P1, P2]", "[P1, P7]"),
            "a body of zero length": ("length: 2*L", "length: 0"),
            "a cycle of parameters": ("{L: 1.0}", "{L: M, M: L}"),
            "an unparsable expression": ("2*L, mass", "2*(L, mass"),
            "not a number": ("mass: 4", "mass: .nan"),
            "a negative mass": ("mass: 2", "mass: -2"),
        }
        for what, (before, after) in faults.items():
            with self.subTest(what):
                self.assertIn(before, FOURBAR)
                self.write("bad.yaml", FOURBAR.replace(before, after))
                for verb in ("check", "kinematics", "simulate"):
                    result = self.run_program(verb, "bad.yaml")
                    self.assertEqual((result.status, result.out), (2, ""), what)
                    self.assertRegex(result.err, r"^(bad\.yaml:\d+:\d+: (error|warning): .+\n)+$", what)
                    self.assertIn(": error: ", result.err)

    def test_a_mechanism_that_cannot_be_assembled(self):
        self.write("bad.yaml", FOURBAR.replace("length: sqrt(13)", "length: 0.5"))
        for verb in ("check", "kinematics", "simulate"):
            result = self.run_program(verb, "bad.yaml", "--json", "a.json")
            self.assertEqual((result.status, result.out), (1, ""), verb)
            self.assertRegex(result.err, r"(?s)^(bad\.yaml:\d+:\d+: )?error: .*\d.*\n$")
        self.assertEqual(self.files(), ["bad.yaml"])

    def test_unknown_settings_get_the_nearest_valid_one(self):
        result = self.run_program("check", "fourbar.yaml", "--set", "crank.mas=2")
        self.assertEqual(result.status, 2)
        self.assertIn("did you mean 'crank.mass'?", result.err)


class Verbs(Cli):
    def summary(self, *arguments):
        return json.loads(self.good(*arguments, "--json", "-").out)

    def test_check(self):
        text = self.good("check", "fourbar.yaml").out
        self.assertRegex(text, r"(?m)^  degrees of freedom +1$")
        found = self.summary("check", "fourbar.yaml")
        self.assertEqual((found["bodies"], found["points"], found["pin_joints"]), (3, 4, 4))
        self.assertEqual((found["degrees_of_freedom"], found["redundant"]), (1, []))
        self.assertEqual(found["mass"], 7)

    def test_kinematics(self):
        self.good("kinematics", "fourbar.yaml", "--move", "theta.q=0:360deg:37", "--out", "turn.csv")
        names, rows = self.table("turn.csv")
        self.assertEqual(len(rows), 37)
        column = {name: i for i, name in enumerate(names)}
        for k, row in enumerate(rows):
            angle = math.radians(10 * k)
            self.assertAlmostEqual(row[column["P1.x"]], math.cos(angle), delta=1e-9)
            self.assertAlmostEqual(row[column["P1.y"]], math.sin(angle), delta=1e-9)
            self.assertAlmostEqual(math.dist((row[column["P2.x"]], row[column["P2.y"]]), (4, 0)), math.sqrt(13), delta=1e-9)

        self.good("kinematics", "fourbar.yaml", "--branches", "--out", "branches.csv")
        names, rows = self.table("branches.csv")
        column = {name: i for i, name in enumerate(names)}
        places = sorted([round(row[column[name]], 6) for name in ("P1.x", "P2.x", "P2.y")] for row in rows)
        self.assertEqual(places, [[1, 1, -2], [1, 1, 2]])

    def test_kinematics_of_robots(self):
        self.write("pendulum.urdf", PENDULUM)
        found = self.summary("kinematics", "pendulum.urdf", "--set", "hinge.q=3")
        self.assertEqual(found["limits_exceeded"], ["hinge.q: in 1 of 1 poses, by 2 at most"])
        self.assertIn("\n  limit passed   hinge.q: in 2 of 5 poses, by 1 at most\n",
                      self.good("kinematics", "pendulum.urdf", "--move", "hinge.q=0:2:5", "--out", "turn.csv").out)
        self.assertEqual([row[0] for row in self.table("turn.csv")[1]], [0, 1, 2, 3, 4])
        self.assertEqual(self.summary("kinematics", "pendulum.urdf")["limits_exceeded"], [])

        # The second row asks for 2 rad: the limit stops it at 1.
        self.write("goals.csv", "t,bob.qw,bob.qx,bob.qy,bob.qz\n0.5,{0},0,{1},0\n0.7,{2},0,{3},0\n4,{4},0,{5},0\n".format(
            *(part(angle / 2) for angle in (0.4, 2, 0.2) for part in (math.cos, math.sin))))
        result = self.run_program("kinematics", "pendulum.urdf", "--goals", "goals.csv", "--out", "joints.csv")
        self.assertEqual(result.status, 1)
        self.assertTrue(result.err.startswith("error: goal 2: link 'bob' cannot reach its goal"), result.err)
        names, rows = self.table("joints.csv")
        self.assertEqual([row[0] for row in rows], [0.5, 0.7, 4])
        for row, angle in zip(rows, (0.4, 1, 0.2)):
            self.assertAlmostEqual(row[names.index("hinge.q")], angle, delta=1e-8)

        self.bad("error: goal: expected 'LINK: x=… y=… z=… [rpy=r,p,y | quat=w,x,y,z] [offset=x,y,z]', found "
                 "'bob: 0.6 0 0.3'", "kinematics", "pendulum.urdf", "--goal", "bob: 0.6 0 0.3")
        goal = f"bob: x={math.cos(0.3)!r}, z={-math.sin(0.3)!r}, offset=1,0,0"
        self.assertLess(self.summary("kinematics", "pendulum.urdf", "--goal", goal)["distance_max"], 1e-9)

    def test_options_that_a_model_does_not_read(self):
        self.write("pendulum.urdf", PENDULUM)
        self.write("a.yaml", "")
        self.bad("error: loops: is for URDF files: a planar model closes its loops itself",
                 "check", "fourbar.yaml", "--loops", "a.yaml")
        sdf = ('<sdf version="1.7"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>'
               '<joint name="hinge" type="revolute"><parent>world</parent>'
               '<child>a</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>')
        for name in ("arm.sdf", "arm.xml"):
            self.write(name, sdf)
            self.bad("error: loops: is for URDF files: an SDF file closes its loops itself",
                     "check", name, "--loops", "a.yaml")
        self.bad("none.yaml: error: cannot read the file: no such file", "check", "pendulum.urdf", "--loops", "none.yaml")
        for message, *words in (
                ("--base floating has no effect: joints tie every link to the world", "arm.sdf", "--base", "floating"),
                ("--base fixed has no effect: a planar model says itself which points are fixed",
                 "fourbar.yaml", "--base", "fixed")):
            result = self.run_program("check", *words)
            self.assertEqual((result.status, result.err), (0, f"warning: {message}\n"))
        self.good("check", "pendulum.urdf", "--base", "floating")

    def test_graph(self):
        self.write("pendulum.urdf", PENDULUM)
        graph = ("graph", "pendulum.urdf")
        starts = {"a.svg": "<", "a.dot": "// pendulum", "a.json": "{", "a.TXT": "pendulum: inverse dynamics", "plain": "<"}
        for name, start in starts.items():
            self.good(*graph, "--out", name)
            self.assertTrue(self.read(name).startswith(start), self.read(name)[:40])
        self.good(*graph, "--out", "a.out", "--format", "dot")
        self.bad("error: out: cannot write .png files; expected .svg, .dot, .json or .txt", *graph, "--out", "x.png")
        self.bad("error: out: cannot write .pdf files; expected .svg, .dot, .json or .txt",
                 *graph, "--out", "x.pdf", "--format", "dot")
        self.bad("error: out: 'x.dot' is the name of a dot file, --format says svg",
                 *graph, "--out", "x.dot", "--format", "svg")
        self.bad("error: out: 'x.v2' does not say which format: expected .svg, .dot, .json or .txt, or give --format",
                 *graph, "--out", "x.v2")
        self.bad("error: integrator: goes with --problem trajectory\nerror: knots: goes with --problem trajectory",
                 *graph, "--knots", "3", "--integrator", "trapezoidal")
        self.assertFalse([name for name in self.files() if name.startswith("x")])

    def test_simulate(self):
        found = self.summary("simulate", "fourbar.yaml", "--time", "0.5", "--step", "1ms")
        for key in ("steps", "wall_s", "step_us", "iterations_mean", "constraint_max", "energy_drift", "integrator",
                    "formulation"):
            self.assertIsNotNone(found[key], key)
        self.assertEqual((found["steps"], found["integrator"]), (500, "hermite-simpson"))
        self.assertLess(found["constraint_max"], 1e-11)

        self.good("simulate", "fourbar.yaml", "--time", "0.5", "--every", "10", "--reactions", "--out", "m.csv")
        names, rows = self.table("m.csv")
        self.assertEqual(names[0], "t")
        self.assertEqual(len(rows), 51)
        self.assertTrue({"P1.x", "P2.vy", "theta.q", "theta.v", "theta.a"} <= set(names))
        self.assertAlmostEqual(rows[-1][0], 0.5)

    def test_simulate_robots(self):
        self.write("pendulum.urdf", PENDULUM)
        found = self.summary("simulate", "pendulum.urdf", "--time", "0.5")
        self.assertEqual((found["steps"], found["integrator"], found["formulation"]), (500, "rk4", "screw"))
        self.assertLess(found["energy_drift"], 1e-9)
        self.assertEqual(found["warnings"], [])
        self.assertEqual(len(found["limits_exceeded"]), 1)

        self.good("simulate", "pendulum.urdf", "--time", "0.1", "--poses", "--reactions", "--out", "m.csv")
        names, rows = self.table("m.csv")
        self.assertEqual(names[:4], ["t", "hinge.q", "hinge.v", "hinge.a"])
        self.assertTrue({"bob.x", "bob.qw", "hinge.reaction.mx", "hinge.reaction.fz"} <= set(names))
        self.assertAlmostEqual(rows[0][names.index("hinge.reaction.fz")], 9.81 * 2 * 0.04 / 0.54, places=9)

        found = self.summary("simulate", "fourbar.yaml", "--formulation", "screw", "--time", "0.2")
        self.assertEqual((found["loops"], found["degrees_of_freedom"]), (1, 1))
        self.assertLess(found["closure_m"], 1e-12)

        self.bad("error: window: has no meaning for robots, which are simulated by time stepping\n"
                 "error: weights: has no meaning for robots, which are simulated by time stepping\n"
                 "error: method: must be step for robots, is 'batch'\n"
                 "error: formulation: must be screw or maximal for robots, is 'natural'",
                 "simulate", "pendulum.urdf", "--window", "3", "--weights", "hard", "--method", "batch",
                 "--formulation", "natural")
        self.bad("error: poses: is for robots and --formulation screw or maximal", "simulate", "fourbar.yaml", "--poses")
        warned = self.run_program("simulate", "pendulum.urdf", "--integrator", "euler", "--step", "20ms")
        self.assertEqual(warned.status, 0)
        self.assertRegex(warned.err, r"^warning: the energy is off by .* of the motion's, most of it in the step to t = .* s; "
                                     r".*take a smaller step than 0.02 s\n$")

    def test_energy_that_does_not_balance_is_told_of_planar_machines_too(self):
        for options in (["--integrator", "trapezoidal"], ["--integrator", "heun", "--method", "step"]):
            warned = self.run_program("simulate", "fourbar.yaml", "--time", "2", "--step", "40ms", "--json", "s.json", *options)
            found = json.loads(self.read("s.json"))
            self.assertEqual(warned.status, 0)
            self.assertGreater(found["energy_drift"], 1e-3)
            self.assertEqual(warned.err, f"warning: {found['warnings'][0]}\n")
            self.assertIn("the energy is off by", warned.err)
        self.assertEqual(self.summary("simulate", "fourbar.yaml", "--time", "0.2")["warnings"], [])

    def test_a_driver_that_jumps_is_refused(self):
        self.write("jump.yaml", DRIVEN + "drivers: [{name: motor, coordinate: th, law: 2*floor(4*t)}]\n")
        self.bad("error: driver 'motor' jumps by 2 at t = 0.25 s: there is no motion through a jump; give it a law that goes there in some "
                 "time", "simulate", "jump.yaml", "--time", "1", status=1)

    def test_contacts_act_in_the_maximal_formulation_only(self):
        self.write("box.sdf", BOX)
        text = self.good("simulate", "box.sdf", "--time", "0.1").out
        self.assertRegex(text, r"(?m)^  contacts +none: shapes touch with --formulation maximal only$")
        self.assertNotIn("maximal only", self.good("simulate", "box.sdf", "--time", "0.1", "--formulation", "maximal").out)

    def test_what_a_motor_of_a_slider_gives_is_a_force(self):
        self.write("cart.yaml", """\
points: [{name: O, x: 0, y: 0, fixed: true}, {name: E, x: 1, y: 0, fixed: true}, {name: P, x: 0.2, y: 0}, {name: Q, x: 0.2, y: -1}]
planar_bodies: [{name: bob, points: [P, Q], mass: 1}]
sliders: [{point: P, line: [O, E]}]
relative_coordinates:
  - {name: s, type: relative_position, points: [O, E, P]}
  - {name: th, type: absolute_angle, points: [P, Q]}
motors: [{coordinate: s, torque: 1}, {coordinate: th, torque: 0}]
""")
        self.write("m.csv", "t,s.q,th.q\n" + "".join(f"{k / 10},{0.2 + 0.01 * k * k},-1.5\n" for k in range(11)))
        self.assertRegex(self.good("inverse", "cart.yaml", "--motion", "m.csv").out, r"(?m)^  peak torque, force +.* \(N m, N\)$")
        self.write("one.yaml", """\
points: [{name: O, x: 0, y: 0, fixed: true}, {name: E, x: 1, y: 0, fixed: true}, {name: P, x: 0.2, y: 0}, {name: Q, x: 0.4, y: 0}]
planar_bodies: [{name: cart, points: [P, Q], mass: 1}]
sliders: [{name: rear, point: P, line: [O, E]}, {name: front, point: Q, line: [O, E]}]
relative_coordinates: [{name: s, type: relative_position, points: [O, E, P]}]
motors: [{coordinate: s, torque: 1}]
""")
        self.write("m1.csv", "t,s.q\n" + "".join(f"{k / 10},{0.2 + 0.01 * k * k}\n" for k in range(11)))
        self.assertRegex(self.good("inverse", "one.yaml", "--motion", "m1.csv").out, r"(?m)^  RMS force +.* N$")

    def test_inverse_and_hybrid_of_robots(self):
        self.write("pendulum.urdf", PENDULUM)
        self.good("simulate", "pendulum.urdf", "--time", "0.2", "--poses", "--reactions", "--out", "m.csv")
        found = self.summary("inverse", "pendulum.urdf", "--motion", "m.csv", "--out", "tau.csv")
        self.assertEqual((found["samples"], found["actuators"], found["torques"]), (201, ["hinge"], ["hinge.tau"]))
        self.assertLess(found["torque_peak"][0], 1e-9)  # it swung freely
        self.assertLess(found["power_error"], 1e-6 * found["power_max"])
        names, _ = self.table("tau.csv")
        self.assertEqual(names, ["t", "hinge.q", "hinge.v", "hinge.a", "hinge.tau"])

        self.write("still.csv", "t,hinge.q,hinge.v,hinge.a\n0,0,0,0\n")
        found = self.summary("inverse", "pendulum.urdf", "--motion", "still.csv", "--ordering", "colamd")
        self.assertAlmostEqual(found["torque_peak"][0], 9.81, places=12)
        self.write("known.csv", "t,hinge.q,hinge.v,hinge.a,hinge.tau\n0,0,0,,0\n0.5,0,0,0,\n")
        found = self.summary("hybrid", "pendulum.urdf", "--known", "known.csv", "--out", "all.csv")
        self.assertEqual(found["masks"], 2)
        _, rows = self.table("all.csv")
        self.assertAlmostEqual(rows[0][3], 9.81 / 0.54, places=9)
        self.assertAlmostEqual(rows[1][4], -9.81, places=12)

        self.write("bad.csv", "t,hinge.q,hinge.v,hinge.a,hing.tau\n0,0,0,0,0\n")
        self.bad("bad.csv:1:27: error: 'hing.tau' is no quantity of the robot; did you mean 'hinge.tau'?",
                 "inverse", "pendulum.urdf", "--motion", "bad.csv")
        self.write("both.csv", "t,hinge.q,hinge.v,hinge.a,hinge.tau\n0,0,0,,0\n1,0,0,1,1\n2,0,,1,\n")
        self.bad("both.csv:4:5: error: expected a number for 'hinge.v', found nothing",
                 "hybrid", "pendulum.urdf", "--known", "both.csv")
        self.write("both.csv", "t,hinge.q,hinge.v,hinge.a,hinge.tau\n0,0,0,,0\n1,0,0,1,1\n2,0,0,,\n")
        self.bad("both.csv:3:1: error: joint 'hinge': acceleration and torque are both given: leave one of them empty\n"
                 "both.csv:4:1: error: joint 'hinge': neither acceleration nor torque is given",
                 "hybrid", "pendulum.urdf", "--known", "both.csv")
        self.bad("error: ordering: must be one of best, rnea, crba, aba, colamd, amd, metis, natural, is 'rnae'; did you "
                 "mean 'rnea'?", "hybrid", "pendulum.urdf", "--known", "known.csv", "--ordering", "rnae")
        self.bad("error: known: is missing: kinegraph hybrid MODEL --known FILE.csv", "hybrid", "pendulum.urdf")
        self.bad("error: formulation: a robot in space has no natural coordinates: leave it out, or say screw",
                 "inverse", "pendulum.urdf", "--motion", "still.csv", "--formulation", "natural")

        self.write("turn.csv", "t,theta.q\n" + "".join(f"{0.01 * k:.2f},{0.3 * math.sin(0.02 * k):.12f}\n" for k in range(101)))
        planar = self.summary("inverse", "fourbar.yaml", "--motion", "turn.csv")
        screw = self.summary("inverse", "fourbar.yaml", "--motion", "turn.csv", "--formulation", "screw")
        self.assertEqual(screw["actuators"], ["theta"])
        self.assertAlmostEqual(screw["torque_rms"][screw["torques"].index("theta.tau")], planar["torque_rms"][0], places=5)

    def test_what_one_verb_writes_another_reads(self):
        """Torques found by inverse, put into simulate, give the motion back."""
        rows = "".join(f"{1e-3 * i!r},{0.5 * (1 - math.cos(3e-3 * i))!r}\n" for i in range(1001))
        self.write("motion.csv", "t,theta.q\n" + rows)
        self.good("inverse", "fourbar.yaml", "--motion", "motion.csv", "--out", "torque.csv")
        self.good("simulate", "fourbar.yaml", "--time", "1", "--input", "torque.csv", "--out", "again.csv")
        names, values = self.table("again.csv")
        worst = max(abs(row[names.index("theta.q")] - 0.5 * (1 - math.cos(3 * row[0]))) for row in values)
        self.assertLess(worst, 1e-3)

    def test_threads_do_not_matter(self):
        for threads in ("1", "2"):
            self.good("simulate", "fourbar.yaml", "--time", "0.2", "--threads", threads, "--out", f"{threads}.csv")
        self.assertEqual(self.read("1.csv"), self.read("2.csv"))


class Interrupts(Cli):
    LONG = ("simulate", "fourbar.yaml", "--time", "100000", "--step", "0.1ms", "--every", "1000", "--out", "a.csv", "--json",
            "a.json")

    def start(self, **options):
        process = subprocess.Popen([PROGRAM, *self.LONG], cwd=self.folder, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 20
        while len(self.files()) < 2 and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(all(re.match(r"\.a\.(csv|json)\.\w{6}$", name) for name in self.files()), self.files())
        time.sleep(0.2)
        return process

    def test_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            self.assertEqual((process.returncode, out, err), (130, "", "error: interrupted\n"))
            self.assertEqual(self.files(), [])

    def test_a_crash_is_our_fault_and_leaves_nothing(self):
        process = self.start(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.send_signal(signal.SIGSEGV)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 3)
        self.assertTrue(err.startswith("error: internal fault: the program crashed\nThis is a fault of kinegraph"), err)
        self.assertEqual(self.files(), [])

    def test_progress_on_a_terminal_only(self):
        terminal, child = pty.openpty()
        process = self.start(stdout=subprocess.PIPE, stderr=child)
        os.close(child)
        seen, end = b"", time.monotonic() + 20
        while b"%" not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.2)[0]:
                seen += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        os.close(terminal)
        self.assertIn("simulate", seen.decode(errors="replace"))
        self.assertIn("─", seen.decode(errors="replace"))
        self.assertEqual(process.returncode, 130)


class Demo(Cli):
    def test_the_tour(self):
        text = self.good("demo", "--out", "a/tour").out
        written = sorted(os.listdir(os.path.join(self.folder, "a/tour")))
        self.assertEqual(written, ["arm7.html", "arm7.urdf", "arm_torque.csv", "arm_torque.html", "arm_torque.svg", "branches.csv",
                                   "estimate.csv", "estimate.html", "estimate.json", "estimate.svg", "fitted.set", "five_bar.csv",
                                   "five_bar.html", "five_bar.sdf", "fourbar.yaml", "fourbar_gyro.yaml", "gyro.csv", "hybrid.csv",
                                   "identify.csv", "identify.html", "identify.json", "identify.svg", "known.csv", "motion.csv",
                                   "motion.html", "motion.json", "motion.svg", "reach.csv", "readings.csv", "rnea.svg",
                                   "rubbing.csv", "rubbing_pendulum.yaml", "swing.csv", "three_r.urdf", "torque.csv",
                                   "torque.html", "torque.json", "torque.svg", "truth.csv", "turn.csv", "turn.html", "turn.svg",
                                   "wanted.csv"])
        for name in written:
            self.assertIn(f"wrote a/tour/{name}", text)
        commands = [line.split()[1:] for line in text.splitlines() if line.startswith("$ ")]
        self.assertEqual([words[1] for words in commands], ["check", "kinematics", "kinematics", "simulate", "inverse", "simulate",
                          "estimate", "simulate", "identify", "check", "view", "kinematics", "inverse", "graph", "graph", "graph", "simulate",
                          "hybrid"])
        self.good(*commands[0][1:])  # what it prints can be typed
        self.assertGreater(json.loads(self.read("a/tour/torque.json"))["torque_peak"][0], 10)
        self.assertGreater(json.loads(self.read("a/tour/estimate.json"))["branches"][0], 0.99)
        found = {q["name"]: q["value"] for q in json.loads(self.read("a/tour/identify.json"))["quantities"]}
        self.assertAlmostEqual(found["O.dry"], 0.02, delta=0.002)
        names, rows = self.table("a/tour/hybrid.csv")  # known.csv is of the motion 0.2 (1 - cos 5t), half of it back
        for row in rows:
            self.assertAlmostEqual(row[names.index("left_motor.a")], 5 * math.cos(5 * row[0]), delta=0.01)
            self.assertAlmostEqual(row[names.index("right_motor.a")], -2.5 * math.cos(5 * row[0]), delta=0.01)

    def test_the_table_of_the_tour_is_that_of_the_models(self):
        self.good("demo", "--out", "tour", "--quiet")
        models = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")
        with open(os.path.join(models, "five_bar_known.csv"), encoding="utf-8") as file:
            lines = [line for line in file if not line.startswith("#")]
        self.assertEqual(self.read("tour/known.csv"), "".join(lines))

    def test_a_folder_that_cannot_be_made(self):
        self.write("plain", "")
        result = self.run_program("demo", "--out", "plain/tour")
        self.assertEqual((result.status, result.err), (2, "error: cannot make the folder 'plain/tour': Not a directory\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
