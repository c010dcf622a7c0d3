"""Runs the program as a user does: cli_test.py PROGRAM [SUITE.TEST ...]"""

import array
import fcntl
import json
import math
import os
import pty
import re
import select
import signal
import socket
import subprocess
import termios
import time
import unittest

from program import FOURBAR, PENDULUM, PROGRAM, Cli


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
        simulate("error: time: must be at most 2e+09 steps, is more than can be counted", "--step", "1e-320")
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
        self.bad("error: set theta.q: expected an angle (rad, deg, mrad, rev), found the unit of a mass: '2kg'\n"
                 "error: set crank.mass: expected a mass (kg, g), found the unit of a length: '2mm'",
                 "check", "fourbar.yaml", "--set", "theta.q=2kg", "--set", "crank.mass=2mm")
        self.write("some.set", "theta.v = 1rpm\ntheta.q = 1s\n")
        self.bad("some.set:2:1: error: theta.q: expected an angle (rad, deg, mrad, rev), found the unit of a time: '1s'",
                 "check", "fourbar.yaml", "--set", "@some.set")

    def test_moves(self):
        def move(message, text):
            self.bad(message, "kinematics", "fourbar.yaml", "--move", text)

        move("error: move: expected name=from:to or name=from:to:samples, found 'theta.q'", "theta.q")
        move("error: move: '10' and '350deg': give both a unit, or none", "theta.q=10:350deg")
        move("error: move samples: must be >= 2, is 1", "theta.q=0:1:1")
        move("error: move: 'theta.q' goes 2.77778e+09 deg from one sample to the next, 57295.8 deg at most; say more samples, "
             "theta.q=FROM:TO:N", "theta.q=0:1e12deg")
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
        os.mkdir(os.path.join(self.folder, "sub"), mode=0o555)
        os.chmod(self.folder, 0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}  # root may write everywhere
        result = self.run_program("simulate", "fourbar.yaml", "--out", "sub/a.csv", **nobody)
        self.assertEqual((result.status, result.err), (2, "error: cannot write 'sub/a.csv': permission denied\n"))

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
        told = self.good(*command, "--out", "/dev/stdout").out  # a pipe here: the table, then the summary
        self.assertEqual(told.splitlines()[:12], rows)

    def test_what_a_command_reads_is_not_written(self):
        """Whoever names it: the user, a task, or nobody."""
        def refused(file, *command):
            before = self.read(file)
            self.bad(f"error: cannot write '{file}': the command reads it", *command)
            self.assertEqual(self.read(file), before)

        self.write("pendulum.urdf", PENDULUM)
        self.write("pendulum.sensors.yaml", "sensors: [{name: encoder, type: encoder, joint: hinge, noise: 1mrad, rate: 10}]\n")
        self.write("pendulum.loops.yaml", "[]\n")
        for option in ("--out", "--json", "--report", "--sensors"):
            refused("pendulum.sensors.yaml", "simulate", "pendulum.urdf", "--time", "0.01", option, "pendulum.sensors.yaml")
        refused("pendulum.loops.yaml", "check", "pendulum.urdf", "--json", "pendulum.loops.yaml")
        refused("pendulum.sensors.yaml", "codegen", "pendulum.urdf", "--out", "pendulum.sensors.yaml")
        refused("pendulum.sensors.yaml", "graph", "pendulum.urdf", "--format", "svg", "--out", "pendulum.sensors.yaml")
        os.symlink("pendulum.sensors.yaml", os.path.join(self.folder, "a.csv"))
        self.bad("error: cannot write 'a.csv': the command reads it", "simulate", "pendulum.urdf", "--time", "0.01", "--out", "a.csv")
        os.remove(os.path.join(self.folder, "a.csv"))
        os.remove(os.path.join(self.folder, "pendulum.sensors.yaml"))
        self.write("task.yaml", "model: pendulum.urdf\nhorizon: 0.2\nsteps: 10\ngoals: [{time: 0.2, joints: {hinge: 0.1}}]\n")
        for option in ("--out", "--motion", "--report", "--json"):
            refused("pendulum.urdf", "plan", "task.yaml", option, "pendulum.urdf")
        self.assertEqual(self.files(), ["pendulum.loops.yaml", "pendulum.urdf", "task.yaml"])
        self.good("simulate", "pendulum.urdf", "--time", "0.01", "--out", "a.csv")
        self.good("simulate", "pendulum.urdf", "--time", "0.01", "--out", "a.csv")  # what stood there was not read

    def test_names_of_no_file(self):
        for option in ("--out", "--json", "--report", "--sensors"):
            self.bad(f"error: {option[2:]}: the file name is empty", "simulate", "fourbar.yaml", "--time", "0.01", option, "")

    def test_a_sidecar_that_leads_nowhere(self):
        self.write("pendulum.urdf", PENDULUM)
        for sidecar in ("pendulum.loops.yaml", "pendulum.sensors.yaml"):
            os.symlink("none.yaml", os.path.join(self.folder, sidecar))
            self.bad(f"{sidecar}: error: cannot read the file: no such file", "check", "pendulum.urdf")
            os.remove(os.path.join(self.folder, sidecar))

    def test_a_pipe_that_nobody_reads(self):
        os.mkfifo(os.path.join(self.folder, "pipe"))
        command = ("simulate", "fourbar.yaml", "--time", "0.01", "--out", "pipe")
        self.bad("error: cannot write 'pipe': nobody reads from it", *command)
        with subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE, text=True) as reader:
            self.assertEqual(self.run_program(*command).status, 0)
            self.assertEqual(len(reader.communicate(timeout=100)[0].splitlines()), 12)

    def test_what_is_no_pipe_is_not_waited_for(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.join(self.folder, "socket"))
            self.bad("error: cannot write 'socket': no such device or address", "simulate", "fourbar.yaml", "--time", "0.01",
                     "--out", "socket")
        done = self.run_program("simulate", "fourbar.yaml", "--time", "0.01", "--out", "/dev/tty", start_new_session=True)
        self.assertEqual((done.status, done.err), (2, "error: cannot write '/dev/tty': no such device or address\n"))

    def test_closed_streams_are_not_taken_by_files(self):
        """Warnings would go into the table, and tables into what standard output or input was."""
        self.write("loose.urdf", PENDULUM.replace('<limit lower="-1" upper="1" effort="10" velocity="100"/>', ""))
        command = ("simulate", "loose.urdf", "--time", "0.01", "--set", "hinge.q=1", "--out")
        warned = self.run_program(*command, "a.csv")
        self.assertEqual(warned.status, 0)
        self.assertIn("warning: joint 'hinge': revolute without 'limit': taken as unlimited", warned.err)
        for closed, status in (("2>&-", 0), ("<&-", 0), ("<&- 2>&-", 0), (">&-", 2), ("<&- >&- 2>&-", 2)):
            done = subprocess.run(["sh", "-c", f'"$@" b.csv {closed}', "sh", PROGRAM, *command], cwd=self.folder,
                                  capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, status, closed + done.stderr)
            self.assertEqual(self.read("b.csv"), self.read("a.csv"), closed)
            os.remove(os.path.join(self.folder, "b.csv"))

    def test_nobody_to_be_told(self):
        """The status is the same where standard error is full or closed."""
        for words in ('"$0" check none.yaml 2>/dev/full', '"$0" check none.yaml 2>&-'):
            done = subprocess.run(["sh", "-c", words, PROGRAM], cwd=self.folder, timeout=100, check=False)
            self.assertEqual(done.returncode, 2, words)

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

    def test_numbers_that_no_machine_has(self):
        self.write("huge.csv", "t,theta.q\n0,0\n0.1,1e154\n0.2,0\n")
        self.bad("huge.csv:3:5: error: expected a number from -1e+50 to 1e+50 for 'theta.q', found '1e154'", "inverse",
                 "fourbar.yaml", "--motion", "huge.csv")
        for value in ("1e60", "-1e60"):
            self.bad(f"error: time: must be from -1e+50 to 1e+50, is {value}", "simulate", "fourbar.yaml", "--time", value)
        self.bad("error: time: number out of range (character 1)", "simulate", "fourbar.yaml", "--time", "1e999")
        self.write("a.yaml", self.read("fourbar.yaml").replace("L: 1.0", "L: -1e60"))
        self.bad("a.yaml:1:17: error: L: '-1e60' is not from -1e+50 to 1e+50", "check", "a.yaml")

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

    def test_laws_without_a_value(self):
        motor = FOURBAR.replace("coordinate: theta}", "coordinate: theta, torque: sqrt(0.0035-t)}")
        load = FOURBAR + "loads: [{name: push, point: P1, x: 1, y: log(0.0035-t)}]\n"
        for text, fault in ((motor, "motor 'theta' has no finite torque"), (load, "load 'push' has no finite y")):
            self.write("m.yaml", text)
            for more in ([], ["--method", "batch"], ["--method", "step"], ["--formulation", "independent"], ["--formulation", "screw"],
                         ["--formulation", "maximal"]):
                if "load" in fault and "screw" in more:
                    continue
                self.bad(f"error: {fault} at t = 0.004 s: its law cannot be computed there", "simulate", "m.yaml", "--time", "0.1", *more,
                         status=1)

    def test_letters_that_are_none(self):
        for name in ("a\u202eb", "a\u200b", "\ufeffa", "a\u00a0b", "a\u0085", "a\u2028b", "\U000e0041a"):
            self.write("m.yaml", FOURBAR.replace("name: crank", f'name: "{name}"'))
            result = self.run_program("check", "m.yaml")
            self.assertEqual(result.status, 2)
            self.assertIn("expected letters, digits and '_', not starting with a digit", result.err)
        self.write("m.yaml", FOURBAR.replace("name: crank", "name: Kurbelä_曲柄_١"))
        self.good("check", "m.yaml")

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
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            self.assertEqual((process.returncode, out, err), (130, "", "error: interrupted\n"))
            self.assertEqual(self.files(), [])

    def test_a_second_one_ends_at_once(self):
        """While it waits for somebody who does not read what it writes, the first one does nothing."""
        process = subprocess.Popen([PROGRAM, "simulate", "fourbar.yaml", "--time", "100", "--out", "-", "--json", "a.json"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        waiting, end = array.array("i", [0]), time.monotonic() + 20
        while waiting[0] < 65536 and time.monotonic() < end:  # until the pipe is full
            time.sleep(0.02)
            fcntl.ioctl(process.stdout, termios.FIONREAD, waiting)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=5), 130)
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
