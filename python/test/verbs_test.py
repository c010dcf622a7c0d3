"""Every verb answers as the command line does: the same numbers, summaries and messages."""

import json
import re
import subprocess
import sys
import unittest
import warnings

import kinegraph
import numpy as np
from package import PROGRAM, Package, model_file

FOURBAR = model_file("fourbar.yaml")
GYRO = model_file("fourbar_gyro.yaml")
CLOCKS = re.compile(r"wall_s|_us$|solve_s|^motion$|^known$")  # what no two runs have in common, and names of tables


class Same(Package):
    """As the command line."""

    def same(self, result, *command):
        """The same summary, and the same numbers in --out, to the last digit."""
        has_table = len(result) > 0
        out = ["--out", "table.csv"] if has_table else []
        summary = self.program_json(*command, *out)
        ours = {k: v for k, v in result.summary.items() if not CLOCKS.search(k)}
        self.assertEqual(ours, {k: v for k, v in summary.items() if not CLOCKS.search(k)})
        if has_table:
            table = kinegraph.log.read(self.path("table.csv"))
            self.assertEqual(table.names, result.names)
            np.testing.assert_array_equal(table.t, result.t)
            np.testing.assert_array_equal(table.array, result.array)

    def test_check(self):
        self.same(kinegraph.check(FOURBAR), "check", FOURBAR)

    def test_kinematics(self):
        model = kinegraph.load(FOURBAR)
        self.same(model.kinematics(branches=True), "kinematics", FOURBAR, "--branches")
        self.same(model.kinematics(move={"theta.q": (0, "90deg", 10)}), "kinematics", FOURBAR, "--move", "theta.q=0:90deg:10")
        arm = model_file("arm7.urdf")
        goal = {"tool": {"x": 0.4, "y": 0.1, "z": 0.6, "offset": (0, 0, "5mm")}}
        self.same(kinegraph.kinematics(arm, goal=goal), "kinematics", arm, "--goal", "tool: x=0.4 y=0.1 z=0.6 offset=0,0,5mm")

    def test_simulate(self):
        model = kinegraph.load(FOURBAR, set={"theta.q": "30deg", "crank_length": 1.1})
        result = model.simulate(time=0.2, step="1ms", reactions=True, formulation="independent")
        self.same(result, "simulate", FOURBAR, "--set", "theta.q=30deg", "--set", "crank_length=1.1", "--time", "0.2", "--reactions",
                  "--formulation", "independent")
        pendulum = model_file("double_pendulum.urdf")
        self.same(kinegraph.simulate(pendulum, time=0.3, set={"shoulder.q": -0.5}, poses=True), "simulate", pendulum, "--time", "0.3",
                  "--set", "shoulder.q=-0.5", "--poses")

    def test_inverse(self):
        t = np.linspace(0, 1, 101)
        q = 0.3 * np.sin(2 * t)
        with open(self.path("motion.csv"), "w", encoding="utf-8") as file:
            file.write("t,theta.q\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(t.tolist(), q.tolist())))
        from_file = kinegraph.inverse(FOURBAR, motion=self.path("motion.csv"))
        self.same(from_file, "inverse", FOURBAR, "--motion", "motion.csv")
        from_memory = kinegraph.inverse(FOURBAR, motion={"t": t, "theta.q": q})
        np.testing.assert_allclose(from_memory["theta.tau"], from_file["theta.tau"], rtol=0, atol=1e-9)
        # What one verb answers, another takes.
        again = kinegraph.inverse(FOURBAR, motion=kinegraph.Table(from_memory._table))
        self.assertLess(abs(again["theta.tau"] - from_memory["theta.tau"])[2:-2].max(), 0.05)

    def test_hybrid(self):
        known = model_file("five_bar_known.csv")
        five_bar = model_file("five_bar.sdf")
        from_file = kinegraph.hybrid(five_bar, known=known)
        self.same(from_file, "hybrid", five_bar, "--known", known)
        from_memory = kinegraph.hybrid(five_bar, known=kinegraph.log.read(known))
        np.testing.assert_array_equal(from_memory.array, from_file.array)

    def test_estimate(self):
        truth = kinegraph.simulate(GYRO, time=0.5, sensors=True, seed=3)
        self.program("simulate", GYRO, "--time", "0.5", "--seed", "3", "--sensors", "log.csv", "--quiet")
        written = kinegraph.log.read(self.path("log.csv"))
        np.testing.assert_array_equal(truth.readings.array, written.array)
        result = kinegraph.estimate(GYRO, log=truth.readings, filter="ekf", start_sd={"theta.q": "5deg"}, innovations=True)
        self.same(result, "estimate", GYRO, "--log", "log.csv", "--filter", "ekf", "--start-sd", "theta.q=5deg")
        self.assertGreater(len(result.innovations), 50)

    def test_identify(self):
        rubbing = model_file("rubbing_pendulum.yaml")
        model = kinegraph.load(rubbing)
        swing = model.simulate(formulation="maximal", time=2, sensors=True).readings
        swing.csv(self.path("swing.csv"))
        result = model.identify(log=self.path("swing.csv"), free=["O.viscous", "O.dry"], bound={"O.dry": (0, 1)})
        from_memory = model.identify(log=[swing], free=["O.viscous", "O.dry"], bound={"O.dry": (0, 1)})
        np.testing.assert_array_equal(from_memory.array, result.array)
        self.same(result, "identify", rubbing, "--log", self.path("swing.csv"), "--free", "O.viscous,O.dry", "--bound", "O.dry=0:1")
        self.assertAlmostEqual(result.fitted["O.dry"], 0.02, delta=0.002)
        fitted = model.set(result.fitted)
        self.assertEqual(fitted.values["O.dry"], result.fitted["O.dry"])

    def test_graph_and_codegen(self):
        three_r = model_file("three_r.urdf")
        drawn = kinegraph.graph(three_r, problem="inverse", ordering="rnea", format="text")
        self.assertEqual(drawn.text, self.program("graph", three_r, "--ordering", "rnea", "--format", "text").stdout)
        self.assertTrue(kinegraph.graph(three_r, ordering="rnea")._repr_html_().lstrip().startswith(("<svg", "<?xml")))
        code = kinegraph.codegen(three_r, problem="forward", ordering="aba")
        self.program("codegen", three_r, "--problem", "forward", "--ordering", "aba", "--out", "a.hpp")
        code.write(self.path("b.hpp"))
        with open(self.path("a.hpp"), encoding="utf-8") as a, open(self.path("b.hpp"), encoding="utf-8") as b:
            self.assertEqual(a.read(), b.read())

    def test_plan(self):
        task = self.write("task.yaml", f"model: {model_file('cart_pole.urdf')}\nhorizon: 1\nsteps: 20\npassive: [pole]\n"
                          "goals:\n  - {time: 1, joints: {cart: 0.5}, rest: true}\nobjectives:\n  - {type: torque, sigma: 20}\n")
        result = kinegraph.plan(task, motion=True)
        self.same(result, "plan", task)
        self.assertGreater(len(result.motion), len(result))
        again = kinegraph.plan(task, guess=result, model=kinegraph.load(model_file("cart_pole.urdf")))
        self.assertLessEqual(again.summary["iterations"], result.summary["iterations"])

    def test_view(self):
        page = kinegraph.view(FOURBAR)
        page.report(self.path("view.html"))
        with open(self.path("view.html"), encoding="utf-8") as file:
            self.assertIn("</html>", file.read())


class Results(Package):
    """Arrays, files and pages."""

    def setUp(self):
        super().setUp()
        self.motion = kinegraph.simulate(FOURBAR, time=0.1)

    def test_arrays(self):
        motion = self.motion
        self.assertEqual((motion.t.shape, motion.array.shape), ((101,), (101, len(motion.names))))
        np.testing.assert_array_equal(motion["theta.q"], motion.array[:, motion.names.index("theta.q")])
        self.assertIn("theta.q", motion)
        self.assertEqual(motion.summary["verb"], "simulate")
        with self.assertRaisesRegex(KeyError, "no series 'tetha.q'; did you mean 'theta.q'"):
            motion["tetha.q"]
        with self.assertRaises(ValueError):  # views of what was found: not to be changed by accident
            motion["theta.q"][0] = 1
        kept = motion["theta.q"]
        del motion, self.motion
        self.assertTrue(np.isfinite(kept).all())  # arrays outlive the result

    def test_csv(self):
        self.motion.csv(self.path("motion.csv"))
        again = kinegraph.log.read(self.path("motion.csv"))
        np.testing.assert_array_equal(again.array, self.motion.array)
        with self.assertRaisesRegex(kinegraph.InputError, "nowhere"):
            self.motion.csv(self.path("nowhere/motion.csv"))

    def test_report(self):
        self.motion.report(self.path("motion.html"), beside=self.motion)
        with open(self.path("motion.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("kinegraph.simulate(", page)
        self.assertGreater(len(page), 100_000)
        self.assertIn("iframe", self.motion._repr_html_())

    def test_plot(self):
        try:
            import matplotlib
        except ImportError:
            with self.assertRaisesRegex(ImportError, "matplotlib, which is not installed"):
                self.motion.plot()
            return
        matplotlib.use("Agg")
        axes = self.motion.plot("theta.q", "P2.x")
        self.assertEqual([line.get_label() for line in axes.get_lines()], ["theta.q", "P2.x"])

    def test_threads_do_not_matter(self):
        log = kinegraph.simulate(GYRO, time=0.2, sensors=True).readings
        one, two = (kinegraph.estimate(GYRO, log=log, filter="particle", threads=n) for n in (1, 2))
        np.testing.assert_array_equal(one.array, two.array)

    def test_numbers_keep_every_digit(self):
        step = 0.1 / 97
        self.assertEqual(kinegraph.simulate(FOURBAR, time=0.1, step=step).summary["step"], step)


class Errors(Package):
    """What goes wrong is told as the command line tells it."""

    def told(self, kind, call, *command):
        with self.assertRaises(kind) as caught:
            call()
        status = 2 if kind is kinegraph.InputError else 1
        self.assertEqual(str(caught.exception) + "\n", self.program(*command, status=status).stderr)
        return caught.exception

    def test_bad_model(self):
        bad = self.write("bad.yaml", "points:\n  - {name: A, x: 0, y: 0, fixed: true}\n  - {name: P1, x: L, y: 0}\n"
                         "planar_bodies:\n  - {name: bar, points: [A, P2], mass: -1}\n")
        fault = self.told(kinegraph.InputError, lambda: kinegraph.load(bad), "check", bad)
        self.assertGreater(len(fault.diagnostics), 1)
        self.assertEqual({d.file for d in fault.diagnostics}, {bad})
        self.assertTrue(all(d.line > 0 and d.column > 0 for d in fault.diagnostics))
        self.assertIsInstance(fault, ValueError)

    def test_bad_options(self):
        self.told(kinegraph.InputError, lambda: kinegraph.simulate(FOURBAR, time=-1, step=0), "simulate", FOURBAR, "--time=-1", "--step=0")
        self.told(kinegraph.InputError, lambda: kinegraph.inverse(FOURBAR, motion="none.csv"), "inverse", FOURBAR, "--motion", "none.csv")
        with self.assertRaisesRegex(kinegraph.InputError, "unknown option 'tiem' of simulate; did you mean 'time'") as caught:
            kinegraph.simulate(FOURBAR, tiem=1, stepp=2)
        self.assertEqual(len(caught.exception.diagnostics), 2)
        with self.assertRaisesRegex(kinegraph.InputError, r"report: result.report\(path\) writes the page"):
            kinegraph.simulate(FOURBAR, report="x.html")
        with self.assertRaisesRegex(kinegraph.InputError, "reactions: must be True or False, is 'yes'"):
            kinegraph.simulate(FOURBAR, reactions="yes")
        with self.assertRaisesRegex(kinegraph.InputError, "crank_lenght.*did you mean 'crank_length'"):
            kinegraph.load(FOURBAR, set={"crank_lenght": 1})
        with self.assertRaisesRegex(kinegraph.InputError, "crank_lenght.*did you mean 'crank_length'"):
            kinegraph.load(FOURBAR).set({"crank_lenght": 1})

    def test_bad_tables(self):
        with self.assertRaisesRegex(kinegraph.InputError, "motion: expected a series 't' or 'time', found theta.q"):
            kinegraph.inverse(FOURBAR, motion={"theta.q": [1, 2]})
        with self.assertRaisesRegex(kinegraph.InputError, r"<motion>:3:1: error: the time must increase"):
            kinegraph.inverse(FOURBAR, motion={"t": [0, 0], "theta.q": [1, 2]})
        with self.assertRaisesRegex(kinegraph.InputError, r"<motion>:3:\d+: error: expected a number for 'theta.q', found nothing"):
            kinegraph.inverse(FOURBAR, motion={"t": [0, 1], "theta.q": [1, np.nan]})
        with self.assertRaisesRegex(kinegraph.InputError, "motion: every series must be numbers"):
            kinegraph.inverse(FOURBAR, motion={"t": [0, 1], "theta.q": [1, 2, 3]})

    def test_no_answer(self):
        far = {"tool": {"x": 40, "y": 0, "z": 0}}
        arm = model_file("arm7.urdf")
        with self.assertRaises(kinegraph.NoAnswer) as caught:
            kinegraph.kinematics(arm, goal=far)
        told = self.program("kinematics", arm, "--goal", "tool: x=40 y=0 z=0", status=1).stderr
        self.assertEqual(str(caught.exception) + "\n", told)
        self.assertEqual(caught.exception.result.summary["solved"], 0)  # the nearest pose goes with it
        self.assertEqual(len(caught.exception.result), 1)
        cannot = self.write("open.yaml", "points:\n  - {name: A, x: 0, y: 0, fixed: true}\n  - {name: P, x: 1, y: 0}\n"
                            "  - {name: B, x: 9, y: 0, fixed: true}\nplanar_bodies:\n"
                            "  - {name: a, points: [A, P], length: 1, mass: 1}\n  - {name: b, points: [P, B], length: 1, mass: 1}\n")
        self.told(kinegraph.NoAnswer, lambda: kinegraph.check(cannot), "check", cannot)

    def test_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            log = kinegraph.simulate(GYRO, time=0.2, sensors=True).readings
            model = kinegraph.load(GYRO)
            both = {"t": log.t, **dict(log.items()), "P1.x": np.zeros(len(log))}
            result = model.estimate(log=both)
        self.assertTrue(any(w.category is kinegraph.Warning and "P1.x" in str(w.message) for w in caught))
        self.assertTrue(all(w.filename == __file__ for w in caught), [w.filename for w in caught])
        self.assertTrue(any("P1.x" in w for w in result.warnings))


class Options(Package):
    """The list of options is the command line's."""

    def test_signatures(self):
        import inspect

        parameters = inspect.signature(kinegraph.simulate).parameters
        self.assertIn("time", parameters)
        self.assertIn("soft_scale", parameters)
        self.assertNotIn("quiet", parameters)
        self.assertIn("how long, default 5 s", kinegraph.simulate.__doc__)
        help_text = self.program("simulate", "--help").stdout
        for option in re.findall(r"^  --([a-z-]+)", help_text, re.MULTILINE):
            elsewhere = option in ("out", "json", "report", "beside", "quiet", "columns", "base", "loops", "sensor-file", "strict", "help")
            self.assertEqual(option.replace("-", "_") in parameters, not elsewhere, option)

    def test_stubs_are_those_of_the_options(self):
        import os

        from package import ROOT

        script = os.path.join(ROOT, "python", "make_stubs.py")
        done = subprocess.run([sys.executable, "-B", script, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_models(self):
        model = kinegraph.load(FOURBAR)
        self.assertEqual(model.parameters["crank_length"], 1)
        np.testing.assert_array_equal(model.points["D"], [4, 0])
        self.assertEqual(model.masses, {"crank": 1, "coupler": 2, "rocker": 4})
        self.assertEqual(model.coordinates, ["theta"])
        self.assertEqual(model.set({"crank_length": "1.2 m"}).parameters["crank_length"], 1.2)
        self.assertEqual(kinegraph.load(GYRO).sensors, {"gyro": ["gyro.w"], "theta": ["theta.q"]})
        self.assertIn("crank", model._repr_html_())
        robot = kinegraph.load(model_file("arm7.urdf"))
        self.assertTrue(robot.spatial)
        self.assertEqual(len(robot.coordinates), 7)


if __name__ == "__main__":
    unittest.main()
