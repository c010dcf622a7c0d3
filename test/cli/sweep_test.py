"""Sweeps, as a user meets them: sweep_test.py PROGRAM [SUITE.TEST ...]"""

import csv
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import PENDULUM, PROGRAM, Cli

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")

STUDY = """\
verb: simulate
model: fourbar.yaml
options: {time: 50ms, step: 1ms}
design: latin-hypercube
samples: 40
vary:
  L: {distribution: normal, mean: 1, sd: 5mm}
  rocker.mass: {distribution: uniform, low: 3.9, high: 4.1}
  --integrator: [trapezoidal, hermite-simpson]
outputs: {drift: energy_drift, speed: columns.theta.v.last, steps: steps}
"""


class SweepCase(Cli):
    def setUp(self):
        super().setUp()
        self.write("study.yaml", STUDY)

    def rows(self, name="study.csv"):
        with open(os.path.join(self.folder, name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def fails(self, status, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.status, status, result.err)
        return result

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def records(self, name="study.csv.journal"):
        """The numbers of the cases in a journal, in the order of the file; a torn end is passed over."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return []
        with open(path, "rb") as file:
            data = file.read()
        numbers, at = [], len(b"kinegraph sweep 2\n")
        head = True
        while at + 12 <= len(data):
            size = int.from_bytes(data[at:at + 4], "little")
            if at + 12 + size > len(data):
                break
            if not head:
                numbers.append(int.from_bytes(data[at + 12:at + 20], "little"))
            head = False
            at += 12 + size
        return numbers


class Sweeps(SweepCase):
    def test_a_table_of_all_cases_and_how_they_spread(self):
        text = self.good("sweep", "study.yaml", "--json", "s.json").out
        rows = self.rows()
        self.assertEqual([int(row["case"]) for row in rows], list(range(80)))
        self.assertEqual(list(rows[0]), ["case", "seed", "L", "rocker.mass", "--integrator", "drift", "speed", "steps", "status", "error", "warnings"])
        self.assertEqual({row["status"] for row in rows}, {"0"})
        self.assertEqual([row["--integrator"] for row in rows], 40 * ["trapezoidal"] + 40 * ["hermite-simpson"])
        self.assertEqual([row["L"] for row in rows[:40]], [row["L"] for row in rows[40:]])
        self.assertEqual(len({row["seed"] for row in rows}), 80)
        self.assertRegex(text, r"(?m)^  speed +-\d")
        self.assertRegex(text, r"wrote study.csv: 80 rows, 11 columns")
        found = json.loads(self.read("s.json"))
        self.assertEqual((found["cases"], found["failed"], found["asked"]), (80, 0, "simulate"))
        speeds = sorted(float(row["speed"]) for row in rows)
        spread = {output["name"]: output for output in found["outputs"]}["speed"]
        self.assertAlmostEqual(spread["mean"], sum(speeds) / 80, places=12)
        self.assertAlmostEqual(spread["p50"], (speeds[39] + speeds[40]) / 2, places=14)
        self.assertAlmostEqual(spread["p2.5"], speeds[1] + 0.975 * (speeds[2] - speeds[1]), places=14)
        self.assertAlmostEqual(spread["p97.5"], speeds[77] + 0.025 * (speeds[78] - speeds[77]), places=14)
        self.assertRegex(text, r"(?m)^  output .* 2\.5 % .* 97\.5 % ")
        self.assertEqual((spread["min"], spread["max"], spread["count"]), (speeds[0], speeds[-1], 80))
        self.assertEqual(self.files(), ["s.json", "study.csv", "study.yaml"])

    def test_a_case_is_the_command_that_it_shows(self):
        self.good("sweep", "study.yaml")
        rows = self.rows()
        for k in (0, 17, 79):
            command = shlex.split(self.good("sweep", "study.yaml", "--case", str(k)).out)
            self.assertEqual(command[:3], ["kinegraph", "simulate", "fourbar.yaml"])
            self.good(*command[1:], "--json", "one.json", "--out", "one.csv")
            summary = json.loads(self.read("one.json"))
            names, motion = self.table("one.csv")
            self.assertEqual(float(rows[k]["drift"]), summary["energy_drift"])
            self.assertEqual(int(rows[k]["steps"]), summary["steps"])
            self.assertEqual(float(rows[k]["speed"]), motion[-1][names.index("theta.v")])

    def test_the_rate_has_the_time_of_the_cases_that_were_tried(self):
        self.write("one.yaml", "verb: simulate\nmodel: fourbar.yaml\noptions: {time: 1}\noutputs: [wall_s]\n")
        self.assertEqual(self.run_program("sweep", "one.yaml", "--json", "s.json").status, 0)
        found = json.loads(self.read("s.json"))
        self.assertGreaterEqual(found["wall_s"], float(self.rows("one.csv")[0]["wall_s"]))
        self.assertAlmostEqual(found["rate"] * found["wall_s"], 1)

    def test_progress_in_lines(self):
        self.write("study.yaml", STUDY.replace("samples: 40", "samples: 300"))
        result = self.run_program("sweep", "study.yaml", "--progress", "50ms", "--threads", "1")
        self.assertEqual(result.status, 0)
        lines = result.err.splitlines()
        self.assertGreater(len(lines), 2, result.err)
        for line in lines:
            self.assertRegex(line, r"^sweep: \d+ of 600, [0-9.e+]+ cases/s(, \d+ s left)?$")
        counts = [int(line.split()[1]) for line in lines]
        self.assertEqual(counts, sorted(counts))
        self.bad("error: progress: must be > 0, is 0", "sweep", "study.yaml", "--progress", "0")

    def test_cases_with_warnings_are_counted(self):
        self.write("coarse.yaml", STUDY.replace("time: 50ms, step: 1ms", "time: 2").replace("samples: 40\n", "")
                   .replace("design: latin-hypercube\n", "").replace("{distribution: normal, mean: 1, sd: 5mm}", "[1]")
                   .replace("{distribution: uniform, low: 3.9, high: 4.1}", "[4]").replace(", hermite-simpson]", "]\n  --step: [1ms, 40ms, 80ms]"))
        text = self.good("sweep", "coarse.yaml", "--json", "s.json").out
        rows = self.rows("coarse.csv")
        self.assertEqual([row["warnings"] for row in rows], ["0", "1", "1"])
        self.assertEqual([float(row["drift"]) > 1e-3 for row in rows], [False, True, True])
        self.assertEqual(json.loads(self.read("s.json"))["warned"], 2)
        self.assertRegex(text, r"(?m)^  2 cases with warnings: the first is case 1: the energy is off by .*0.04 s$")
        for threads in ("1", "2"):
            self.good("sweep", "coarse.yaml", "--threads", threads, "--out", f"t{threads}.csv")
        self.assertEqual(self.read("t1.csv"), self.read("t2.csv"))

    def test_the_same_bits_on_any_number_of_threads(self):
        tables = []
        for threads in ("1", "2", "3"):
            self.good("sweep", "study.yaml", "--threads", threads)
            tables.append(self.read("study.csv"))
        self.assertEqual(tables[0], tables[1])
        self.assertEqual(tables[0], tables[2])

    def test_the_same_bits_across_processes(self):
        mpirun = shutil.which("mpirun")
        if not mpirun or not os.path.exists(os.path.join(os.path.dirname(PROGRAM), "kinegraph_mpi.so")):
            self.skipTest("no mpirun, or built without MPI")
        self.good("sweep", "study.yaml", "--out", "alone.csv")
        done = subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", PROGRAM, "sweep", "study.yaml"],
                              cwd=self.folder, capture_output=True, text=True, timeout=100,
                              env={**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.read("study.csv"), self.read("alone.csv"))
        self.assertIn("processes", done.stdout)
        self.write("bad.yaml", STUDY.replace("drift: energy_drift", "drift: energy_drfit"))
        bad = subprocess.run([mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", PROGRAM, "sweep", "bad.yaml"],
                             cwd=self.folder, capture_output=True, text=True, timeout=100)
        self.assertEqual(bad.returncode, 2, bad.stderr)
        self.assertEqual(bad.stderr.count("unknown output 'energy_drfit'"), 1, bad.stderr)

    def test_a_table_as_hdf5(self):
        first = self.run_program("sweep", "study.yaml", "--out", "study.h5", "--threads", "1")
        if "built without HDF5" in first.err:
            self.assertEqual(first.status, 2)
            self.assertEqual(first.err, "error: cannot write 'study.h5': this program was built without HDF5 (Debian: "
                             "libhdf5-dev); say --out FILE.csv\n")
            self.skipTest("built without HDF5")
        self.assertEqual(first.status, 0, first.err)
        with open(os.path.join(self.folder, "study.h5"), "rb") as file:
            one = file.read()
        self.assertTrue(one.startswith(b"\x89HDF\r\n\x1a\n"))
        self.good("sweep", "study.yaml", "--out", "study.h5", "--threads", "2")
        with open(os.path.join(self.folder, "study.h5"), "rb") as file:
            self.assertEqual(file.read(), one)
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "study" in name), ["study.h5", "study.yaml"])
        for name in ("study.H5", "study.Hdf5"):
            self.good("sweep", "study.yaml", "--out", name)
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertEqual(file.read(), one)

    def test_there_is_no_parquet(self):
        for name in ("study.parquet", "study.PARQUET"):
            self.bad("error: out: there is CSV and HDF5 (FILE.h5), no Parquet: pandas.read_csv(…).to_parquet(…) makes it of CSV",
                     "sweep", "study.yaml", "--out", name)
        self.assertEqual(self.files(), ["study.yaml"])

    def test_lists_of_numbers_with_units_are_told_in_si(self):
        self.write("study.yaml", "verb: simulate\nmodel: fourbar.yaml\noptions: {time: 10ms}\nvary:\n  L: [1000mm, 1.001, 1]\n"
                   "  --step: [1ms, 500us]\n  --integrator: [trapezoidal, hermite-simpson]\noutputs: [steps]\n")
        self.good("sweep", "study.yaml", "--out", "study.csv")
        rows = self.rows()
        self.assertEqual(sorted({row["L"] for row in rows}), ["1", "1.001"])
        self.assertEqual({row["--step"]: row["steps"] for row in rows}, {"0.001": "10", "0.0005": "20"})
        self.assertEqual({row["--integrator"] for row in rows}, {"trapezoidal", "hermite-simpson"})

    def test_a_failing_case_is_a_row(self):
        self.write("reach.yaml", STUDY.replace("samples: 40\n", "").replace("design: latin-hypercube\n", "")
                   .replace("{distribution: normal, mean: 1, sd: 5mm}", "[1, -1, 9]")
                   .replace("{distribution: uniform, low: 3.9, high: 4.1}", "[4]").replace(", hermite-simpson", ""))
        result = self.fails(1, "sweep", "reach.yaml", "--json", "s.json")
        rows = self.rows("reach.csv")
        self.assertEqual(rows[0]["status"], "0")
        self.assertEqual(rows[1]["status"], "2")
        self.assertIn("length", rows[1]["error"])
        self.assertEqual(rows[2]["status"], "1")
        self.assertTrue(rows[2]["error"])
        self.assertEqual(rows[2]["drift"], "")
        self.assertIn("error: 2 of 3 cases failed, the first is case 1: ", result.err)
        self.assertEqual(json.loads(self.read("s.json"))["failed"], 2)

    def test_seeds_differ_and_can_be_given(self):
        self.write("fourbar.yaml", self.read("fourbar.yaml") + "sensors:\n  - {type: encoder, coordinate: theta, noise: 1mrad, rate: 100}\n"
                   "disturbances:\n  - {coordinate: theta, density: 0.5}\n")
        text = ("verb: simulate\nmodel: fourbar.yaml\noptions: {time: 50ms, disturbed: true}\nrepetitions: 3\n"
                "outputs: {speed: columns.theta.v.last}\n")
        self.write("noise.yaml", text)
        self.good("sweep", "noise.yaml")
        rows = self.rows("noise.csv")
        self.assertEqual([row["repetition"] for row in rows], ["0", "1", "2"])
        self.assertEqual(len({row["speed"] for row in rows}), 3)
        self.write("noise.yaml", text.replace("disturbed: true", "disturbed: true, seed: 5"))
        self.good("sweep", "noise.yaml")
        rows = self.rows("noise.csv")
        self.assertNotIn("seed", rows[0])
        self.assertEqual(len({row["speed"] for row in rows}), 1)

    def test_what_orders_of_elimination_cost(self):
        """graph and codegen as well, without their pictures and headers."""
        shutil.copy(os.path.join(MODELS, "three_r.urdf"), self.folder)
        self.write("orders.yaml", "verb: graph\nmodel: three_r.urdf\nvary:\n  --problem: [inverse, forward]\n  --ordering: [rnea, aba, crba]\n"
                   "outputs: [fill, flops]\n")
        self.write("code.yaml", "verb: codegen\nmodel: three_r.urdf\noptions: {problem: forward}\n"
                   "vary: {--ordering: [aba, crba]}\noutputs: [operations, bytes]\n")
        before = set(self.files())
        self.good("sweep", "orders.yaml")
        self.good("sweep", "code.yaml")
        self.assertEqual(set(self.files()) - before, {"orders.csv", "code.csv"})
        rows = self.rows("orders.csv")
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.good("graph", "three_r.urdf", "--problem", row["--problem"], "--ordering", row["--ordering"], "--out", "g.svg", "--json", "g.json")
            alone = json.loads(self.read("g.json"))
            self.assertEqual((float(row["fill"]), float(row["flops"])), (alone["fill"], alone["flops"]))
        for k, row in enumerate(self.rows("code.csv")):
            command = self.good("sweep", "code.yaml", "--case", str(k)).out
            header = self.good(*shlex.split(command)[1:]).out
            self.assertEqual(int(row["bytes"]), len(header.encode()))

    def test_help_teaches_and_paths_are_listed(self):
        text = self.good("sweep", "--help").out
        for word in ("verb: simulate", "vary:", "mpirun -n 64", "--restart", "latin-hypercube"):
            self.assertIn(word, text)
        paths = self.good("sweep", "study.yaml", "--paths").out.split()
        self.assertIn("energy_drift", paths)
        self.assertIn("columns.P2.y.max", paths)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "study.csv")))


class SweepFaults(SweepCase):
    def refused(self, text, *messages):
        self.write("bad.yaml", text)
        before = sorted(os.listdir(self.folder))
        result = self.fails(2, "sweep", "bad.yaml")
        self.assertEqual(result.err.splitlines(), list(messages))
        self.assertEqual(result.out, "")
        self.assertEqual(sorted(os.listdir(self.folder)), before)  # nothing was started

    def test_unknown_names_all_at_once(self):
        self.refused(STUDY.replace("  rocker.mass:", "  rocker.mas:").replace("step: 1ms", "stpe: 1ms, out: m.csv").replace("--integrator", "--integrater"),
                     "bad.yaml:3:23: error: unknown option 'stpe' of simulate; did you mean 'step'?",
                     "bad.yaml:3:34: error: out: cannot be given in a study: cases write no files and run on one thread each",
                     "bad.yaml:8:3: error: cannot set 'rocker.mas': no such parameter, quantity or initial value; did you mean 'rocker.mass'?",
                     "bad.yaml:9:3: error: unknown option 'integrater' of simulate; did you mean 'integrator'?")

    def test_faults_of_every_kind_in_one_round(self):
        self.refused(STUDY.replace("samples: 40", "samples: 1.5").replace("low: 3.9", "low: 4.2").replace("  rocker.mass:", "  rocker.mas:")
                     .replace("step: 1ms", "step: -1ms, stpe: 1").replace("energy_drift", "energy_drfit"),
                     "bad.yaml:3:29: error: step: must be > 0, is -0.001",
                     "bad.yaml:3:35: error: unknown option 'stpe' of simulate; did you mean 'step'?",
                     "bad.yaml:5:10: error: samples: must be a whole number from 1 to 1000000000000, is 1.5",
                     "bad.yaml:8:3: error: cannot set 'rocker.mas': no such parameter, quantity or initial value; did you mean 'rocker.mass'?",
                     "bad.yaml:8:55: error: high: must be > low, which is 4.2, is 4.1",
                     "bad.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean 'energy_drift'?")
        self.refused(STUDY.replace("step: 1ms", "step: -1ms").replace("energy_drift", "energy_drfit"),
                     "bad.yaml:3:29: error: step: must be > 0, is -0.001",
                     "bad.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean 'energy_drift'?")
        self.refused(STUDY.replace("samples: 40", "samples: 1.5").replace("  rocker.mass:", "  rocker.mas:").replace("energy_drift", "energy_drfit"),
                     "bad.yaml:5:10: error: samples: must be a whole number from 1 to 1000000000000, is 1.5",
                     "bad.yaml:8:3: error: cannot set 'rocker.mas': no such parameter, quantity or initial value; did you mean 'rocker.mass'?",
                     "bad.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean 'energy_drift'?")

    def test_outputs_of_what_is_faulty_are_not_called_unknown(self):
        self.refused("verb: kinematics\nmodel: fourbar.yaml\noptions: {mvoe: 'theta.q=0:90deg'}\nvary: {L: [1, 1.1]}\noutputs: [moved]\n",
                     "bad.yaml:3:11: error: unknown option 'mvoe' of kinematics; did you mean 'move'?")

    def test_every_word_of_an_option_is_asked_before_the_start(self):
        self.refused(STUDY.replace("hermite-simpson]", "foo, hermite-simpson]").replace("energy_drift", "energy_drfit"),
                     "bad.yaml:9:31: error: integrator: must be one of euler, trapezoidal, hermite-simpson, is 'foo'",
                     "bad.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean 'energy_drift'?")

    def test_units_of_another_quantity(self):
        self.refused(STUDY.replace("step: 1ms", "step: 1ms, set: {theta.v: 3mm}").replace("low: 3.9", "low: 3.9mm")
                     .replace("  --integrator", "  theta.q: [1, 2kg]\n  --integrator"),
                     "bad.yaml:3:40: error: theta.v: expected an angular velocity (rad/s, mrad/s, deg/s, rpm), found the unit of a length: '3mm'",
                     "bad.yaml:8:45: error: rocker.mass: expected a mass (kg, g), found the unit of a length: '3.9mm'",
                     "bad.yaml:9:16: error: theta.q: expected an angle (rad, deg, mrad, rev), found the unit of a mass: '2kg'")

    def judged(self, vary, *messages, options="time: 10ms", samples=""):
        """A study of `vary` alone is refused for these, told without its name; for none: it runs."""
        text = f"verb: simulate\nmodel: fourbar.yaml\n{samples or 'seed: 1'}\noptions: {{{options}}}\noutputs: [steps]\nvary:\n  {vary}\n"
        if messages:
            return self.refused(text, *("bad.yaml:" + message for message in messages))
        self.write("good.yaml", text)
        return self.good("sweep", "good.yaml")

    def test_units_are_judged_as_written_in_every_form(self):
        time = "step: expected a time (s, ms, us, min, h), found the unit of a"
        mass = "crank.mass: expected a mass (kg, g), found the unit of a"
        self.judged("crank.mass: {list: [1mm, 2deg]}", f"7:23: error: {mass} length: '1mm'", f"7:28: error: {mass}n angle: '2deg'")
        self.judged("--step: [1mm, 2ms]", f"7:12: error: {time} length: '1mm'")
        self.judged("--step: {list: [1ms, 2kg]}", f"7:24: error: {time} mass: '2kg'")
        self.judged("--time: [10mm, 20ms]", f"7:12: error: {time.replace('step', 'time')} length: '10mm'", options="step: 1ms")
        self.judged("--step: {from: 1mm, to: 2mm, count: 3}", f"7:18: error: {time} length: '1mm'", f"7:27: error: {time} length: '2mm'")
        self.judged("--step: {from: 5ms, to: 1ms, step: -1mm}", f"7:38: error: {time} length: '-1mm'")
        self.judged("--step: {distribution: uniform, low: 1mm, high: 2ms}", f"7:40: error: {time} length: '1mm'", samples="samples: 2")
        self.judged("--step: {distribution: normal, mean: 1ms, sd: 9g}", f"7:49: error: {time} mass: '9g'", samples="samples: 2")
        # What no case has is judged by its unit alone, and numbers of grids as the cases have them.
        self.judged("--step: {from: 5ms, to: 1ms, step: -1ms}")
        self.judged("--step: {distribution: uniform, low: 0ms, high: 2ms}", samples="samples: 2")
        self.judged("--window: {from: 2, to: 1e1, count: 3}")
        self.judged("--window: {from: 1, to: 3, count: 3}", "7:20: error: window: must be >= 2, is 1")

    def test_every_word_is_judged_in_every_form(self):
        self.judged("--set: [coupler.mass=1, coupler.mas=2, coupler.mass=2mm, coupler.mass=foo, coupler.mass]",
                    "7:27: error: cannot set 'coupler.mas': no such parameter, quantity or initial value; did you mean 'coupler.mass'?",
                    "7:42: error: set coupler.mass: expected a mass (kg, g), found the unit of a length: '2mm'",
                    "7:60: error: set coupler.mass: expected a number, found the name 'foo'",
                    "7:78: error: set: expected name=value, found 'coupler.mass'")
        self.judged("--set: {list: [coupler.mas=2]}",
                    "7:18: error: cannot set 'coupler.mas': no such parameter, quantity or initial value; did you mean 'coupler.mass'?")
        words = "integrator: must be one of euler, trapezoidal, hermite-simpson, is"
        self.judged("--integrator: {list: [trapezoidal, foo]}", f"7:38: error: {words} 'foo'")
        # One does not hide the others, nor what is said of the outputs.
        self.refused("verb: simulate\nmodel: fourbar.yaml\noptions: {time: 10ms, stpe: 1, input: nope.csv}\noutputs: [stepps]\nvary:\n"
                     "  --window: [1, 2]\n  --integrator: [foo, bar]\n  --step: {list: [1mm, 2mm]}\n",
                     "bad.yaml:3:23: error: unknown option 'stpe' of simulate; did you mean 'step'?",
                     "bad.yaml:3:39: error: input: nope.csv: cannot read the file: no such file",
                     "bad.yaml:4:11: error: unknown output 'stepps' of simulate; did you mean 'steps'?",
                     "bad.yaml:6:14: error: window: must be >= 2, is 1",
                     f"bad.yaml:7:18: error: {words} 'foo'", f"bad.yaml:7:23: error: {words} 'bar'",
                     "bad.yaml:8:19: error: step: expected a time (s, ms, us, min, h), found the unit of a length: '1mm'",
                     "bad.yaml:8:24: error: step: expected a time (s, ms, us, min, h), found the unit of a length: '2mm'")

    def test_files_that_are_not_there(self):
        self.good("simulate", "fourbar.yaml", "--time", "10ms", "--out", "good.csv")
        self.write("bad.set", "crank.mass = foo\n")
        self.refused("verb: inverse\nmodel: fourbar.yaml\nvary: {--motion: [good.csv, nope.csv]}\noutputs: [samples]\n",
                     "bad.yaml:3:29: error: motion: nope.csv: cannot read the file: no such file")
        self.refused("verb: inverse\nmodel: fourbar.yaml\noptions: {motion: nope.csv}\noutputs: [samples]\n",
                     "bad.yaml:3:19: error: motion: nope.csv: cannot read the file: no such file")
        self.refused("verb: simulate\nmodel: fourbar.yaml\nvary: {--set: ['@nope.set', '@bad.set']}\noutputs: [steps]\n",
                     "bad.yaml:3:17: error: set: nope.set: cannot read the file: no such file",
                     "bad.set:1:14: error: expected a number, found the name 'foo'")

    def test_what_no_value_fits_is_told_where_it_is_varied(self):
        self.write("rubbing.yaml", self.read("fourbar.yaml") + "joint_friction:\n  - {joint: D, dry: 2}\n")
        message = "rubbing.yaml:16:5: joint friction 'D' needs --formulation screw, or maximal of simulate"
        study = "verb: simulate\nmodel: rubbing.yaml\noptions: {time: 10ms%s}\noutputs: [steps]\nvary: {%s}\n"
        self.refused(study % ("", "--formulation: [natural, independent]"), "bad.yaml:5:8: error: --formulation: with natural: " + message)
        self.refused(study % (", formulation: natural", "L: [1]"), "bad.yaml:3:36: error: --formulation: with natural: " + message)
        self.refused(study % ("", "crank.mass: [-1, -2]"), "bad.yaml:5:8: error: crank.mass: must be >= 0, is -1")

    def test_outputs_that_do_not_exist(self):
        self.refused(STUDY.replace("energy_drift", "energy_drfit").replace("theta.v.last", "theta.w.last"),
                     "bad.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean 'energy_drift'?",
                     "bad.yaml:10:39: error: unknown output 'columns.theta.w.last' of simulate; did you mean 'columns.theta.q.last'?")
        self.refused(STUDY.replace("theta.v.last", "theta.v"),
                     "bad.yaml:10:39: error: output 'columns.theta.v' is a column: name a statistic of it (.min, .max, .mean, .sd, .rms, "
                     ".first, .last, .p95)")

    def test_outputs_that_only_some_words_of_an_option_give(self):
        study = "verb: simulate\nmodel: fourbar.yaml\noptions: {time: 10ms%s}\noutputs: [columns.A.fx.max%s]\nvary: {%s}\n"
        for vary in ("--reactions: [false, true]", "--reactions: [true, false]", "--reactions: [false, true, false]"):
            self.write("study.yaml", study % ("", "", vary))
            self.good("sweep", "study.yaml")
            rows = self.rows()
            self.assertEqual([row["columns.A.fx.max"] != "" for row in rows], [row["--reactions"] == "true" for row in rows], rows)
            self.assertEqual([row["status"] for row in rows], ["0"] * len(rows))
        self.assertIn("columns.A.fx.max", self.good("sweep", "study.yaml", "--paths").out.split())
        unknown = "error: unknown output 'columns.A.fy.mean.x' of simulate; did you mean 'columns.A.fy.mean'?"
        self.refused(study % ("", ", columns.A.fy.mean.x", "--reactions: [false, true]"), "bad.yaml:4:29: " + unknown)
        self.refused(study % (", stpe: 1", "", "--reactions: [false, true]"),
                     "bad.yaml:3:23: error: unknown option 'stpe' of simulate; did you mean 'step'?")

    def test_empty_grids_and_bad_distributions(self):
        self.refused(STUDY.replace("{distribution: normal, mean: 1, sd: 5mm}", "{from: 1, to: 2, step: -0.1}")
                     .replace("low: 3.9", "low: 4.2").replace("[trapezoidal, hermite-simpson]", "[]"),
                     "bad.yaml:7:29: error: step: the grid is empty: no step of -0.1 leads from 1 to 2",
                     "bad.yaml:8:56: error: high: must be > low, which is 4.2, is 4.1",
                     "bad.yaml:9:17: error: --integrator: the list is empty")

    def test_verbs_models_and_options(self):
        self.refused(STUDY.replace("verb: simulate", "verb: simulat"),
                     "bad.yaml:1:7: error: verb: must be one of check, kinematics, simulate, inverse, hybrid, estimate, identify, plan, graph, codegen, is "
                     "'simulat'; did you mean 'simulate'?")
        self.refused(STUDY.replace("fourbar.yaml", "fivebar.yaml"),
                     "bad.yaml:2:8: error: model: fivebar.yaml: cannot read the file: no such file")
        self.refused(STUDY.replace("step: 1ms", "step: -1ms"), "bad.yaml:3:29: error: step: must be > 0, is -0.001")
        self.fails(2, "sweep", "nothing.yaml")
        self.fails(2, "sweep", "study.yaml", "--threads", "0")
        self.fails(2, "sweep", "study.yaml", "--case", "80")


class SweepJournals(SweepCase):
    def test_killed_again_and_again(self):
        """The tolerance study on two threads, SIGKILL at ten random moments: some while it starts, some when it has finished a few more
        cases."""
        cases = 800  # of its 10 000: the same machines would take too long
        with open(os.path.join(MODELS, "studies/fourbar_tolerance.yaml"), encoding="utf-8") as file:
            study = file.read()
        self.assertIn("samples: 10000\n", study)
        self.write("study.yaml", study.replace("samples: 10000", f"samples: {cases}").replace("../", MODELS + "/"))
        self.good("sweep", "study.yaml", "--out", "whole.csv", "--threads", "2")
        generator = random.Random()
        kept = []
        for i in range(10):
            process = self.start("sweep", "study.yaml", "--threads", "2")
            wanted = len(kept) + generator.randrange(1, cases // 20)
            deadline = time.monotonic() + (0.03 * generator.random() if i % 3 == 2 else 60)
            while time.monotonic() < deadline and len(self.records()) < wanted:
                time.sleep(0.005 * generator.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            numbers = self.records()
            self.assertEqual(numbers[:len(kept)], kept)  # what was finished is still there, in its place
            self.assertEqual(len(numbers), len(set(numbers)))  # no case twice
            kept = numbers
        self.assertGreater(len(kept), 10)
        self.assertLess(len(kept), cases)
        last = self.run_program("sweep", "study.yaml", "--threads", "2", "--json", "s.json")
        self.assertEqual(last.err, f"going on with study.csv.journal: {len(kept)} of {cases} cases are there\n")
        self.assertEqual(last.status, 0)
        self.assertEqual(json.loads(self.read("s.json"))["resumed"], len(kept))
        self.assertEqual(self.read("study.csv"), self.read("whole.csv"))
        self.assertEqual(self.files(), ["s.json", "study.csv", "study.yaml", "whole.csv"])

    def test_a_torn_journal_does_not_hide_faults_of_the_study(self):
        self.write("study.yaml", STUDY.replace("energy_drift", "energy_drfit"))
        for torn in ("", "k", "kinegraph sweep 2\n", "kinegraph sweep 2\n\x05\0\0\0"):
            with self.subTest(torn=torn):
                self.write("study.csv.journal", torn)
                result = self.fails(2, "sweep", "study.yaml")
                self.assertEqual(result.err, "study.yaml:10:18: error: unknown output 'energy_drfit' of simulate; did you mean "
                                 "'energy_drift'?\n")
                self.assertEqual(self.read("study.csv.journal"), torn)

    def interrupt(self):
        self.write("study.yaml", STUDY.replace("samples: 40", "samples: 100000"))
        return self.stopped()

    def stopped(self):
        """A sweep that Ctrl-C ended in the middle."""
        process = self.start("sweep", "study.yaml")
        deadline = time.monotonic() + 60
        while len(self.records()) <= 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1].decode()
        self.assertEqual(process.returncode, 130)
        return err

    def test_interrupted_and_changed(self):
        err = self.interrupt()
        self.assertRegex(err, r"\d+ of 200000 cases are kept in study.csv.journal: the same command goes on there\nerror: interrupted\n")
        self.assertFalse(os.path.exists(os.path.join(self.folder, "study.csv")))
        kept = len(self.records())
        self.write("study.yaml", STUDY)
        result = self.fails(2, "sweep", "study.yaml")
        self.assertEqual(result.err, "study.csv.journal: error: holds the unfinished sweep of another study ('samples: 40', was "
                         "'samples: 100000'); --restart throws it away\n")
        self.assertEqual(len(self.records()), kept)
        self.write("fourbar.yaml", self.read("fourbar.yaml") + "# another model\n")
        self.good("sweep", "study.yaml", "--restart")
        self.assertEqual(len(self.rows()), 80)

    def test_a_mesh_that_changed_is_another_study(self):
        self.write("arm.urdf", PENDULUM.replace(
            "</inertial>", '</inertial><collision><geometry><sphere radius="0.1"/></geometry></collision>'))
        self.write("wedge.obj", "v 3 0 0\nv 3 1 0\nv 3 0 1\nv 4 0 0\nf 1 2 3\nf 1 2 4\n")
        self.write("task.yaml", "model: arm.urdf\nhorizon: 0.2\nsteps: 4\ngoals: [{time: 0.2, joints: {hinge: 0.01}}]\n"
                   "objectives: [{type: torque, sigma: 1}]\nobstacles: [{name: w, type: mesh, file: wedge.obj}]\n")
        self.write("study.yaml", "verb: plan\nmodel: task.yaml\nsamples: 100000\n"
                   "vary: {bob.mass: {distribution: uniform, low: 1, high: 2}}\noutputs: [cost]\n")
        self.stopped()
        kept = len(self.records())
        self.write("wedge.obj", self.read("wedge.obj").replace("v 3 0 0", "v 2 0 0"))
        result = self.fails(2, "sweep", "study.yaml")
        self.assertRegex(result.err, r"study.csv.journal: error: holds the unfinished sweep of another study \('mesh .*wedge.obj: ")
        self.assertEqual(len(self.records()), kept)

    def test_memory_does_not_grow_with_the_number_of_cases(self):
        study = ("verb: check\nmodel: fourbar.yaml\ndesign: latin-hypercube\nsamples: %s\n"
                 "vary: {L: {distribution: normal, mean: 1, sd: 1mm}}\noutputs: [mass]\n")
        peaks = []
        for samples, status in (("3000", 0), ("1e7", -signal.SIGKILL)):  # of the second only so many are run
            self.write("many.yaml", study % samples)
            process = self.start("sweep", "many.yaml", "--threads", "2", "--restart")
            peak, finished, deadline = 0, 0, time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline and finished < 3000:
                peak = max(peak, resident(process.pid))
                finished = len(self.records("many.csv.journal")) if samples != "3000" else 0
                time.sleep(0.01)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(process.returncode, status)
            self.assertGreaterEqual(len(self.rows("many.csv") if status == 0 else self.records("many.csv.journal")), 3000)
            peaks.append(peak)
        self.assertGreater(peaks[0], 1000)
        self.assertLess(peaks[1], peaks[0] + 4000)  # kB

    def test_memory_does_not_grow_with_the_cases_that_are_finished(self):
        """Of the whole program, the table included: a model or a motion that a case left behind would be seen. What the sweep itself keeps
        of a case is SweepTest.MemoryDoesNotGrowWithFinishedCases."""
        peaks = {}
        for samples in (500, 3000):
            self.write("many.yaml", f"verb: check\nmodel: fourbar.yaml\nsamples: {samples}\n"
                       "vary: {L: {distribution: normal, mean: 1, sd: 1mm}}\noutputs: [mass]\n")
            process = subprocess.Popen([PROGRAM, "sweep", "many.yaml", "--threads", "2"], cwd=self.folder, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(len(self.rows("many.csv")), samples)
            peaks[samples] = used.ru_maxrss
        self.assertGreater(peaks[500], 1000)
        self.assertLess(peaks[3000], peaks[500] + 1000, peaks)  # kB

    def test_damage_in_a_journal_costs_what_is_damaged(self):
        self.write("study.yaml", STUDY.replace("samples: 40", "samples: 100000"))
        self.stopped()
        path = os.path.join(self.folder, "study.csv.journal")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        kept = self.records()
        size = len(b"kinegraph sweep 2\n")
        size += 12 + int.from_bytes(data[size:size + 4], "little")  # the head
        data[size] ^= 1  # the length of the first record
        with open(path, "wb") as file:
            file.write(data)
        process = self.start("sweep", "study.yaml")
        deadline = time.monotonic() + 60
        while os.path.getsize(path) <= len(data) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1].decode().splitlines()
        self.assertEqual(process.returncode, 130)
        self.assertEqual(err[:2], ["warning: study.csv.journal is damaged at 1 place: the cases that stood there are run again",
                                   f"going on with study.csv.journal: {len(kept) - 1} of 200000 cases are there"])


def resident(process):
    """Peak resident memory of a process that still runs, kB; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            return max((int(line.split()[1]) for line in file if line.startswith("VmHWM")), default=0)
    except OSError:
        return 0


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
