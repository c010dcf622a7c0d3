"""The streaming estimator, own factors, interruption, logs."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import kinegraph
import numpy as np
from package import Package, model_file

FOURBAR = model_file("fourbar.yaml")
GYRO = model_file("fourbar_gyro.yaml")


class Live(Package):
    """Readings one by one, and a move on to every step, come to the same bits as a log."""

    def test_as_estimate(self):
        model = kinegraph.load(GYRO)
        log = model.simulate(time=0.5, sensors=True, seed=2).readings
        for kind in ("ekf", "ukf", "smoother", "particle"):
            found = model.estimate(log=log, filter=kind, step=0.005, start_sd={"theta.q": 0.05})
            live = kinegraph.Estimator(model, filter=kind, step=0.005, start_sd={"theta.q": 0.05})
            self.assertEqual(live.names, found.names)
            row = 0
            for k, t in enumerate(found.t):
                while row < len(log) and log.t[row] <= t + 1e-9:
                    for sensor, channels in model.sensors.items():
                        reading = [log[c][row] for c in channels]
                        if not np.isnan(reading).all():
                            live.push(sensor, log.t[row], reading)
                    row += 1
                live.advance(t)
                np.testing.assert_array_equal(live.array, found.array[k], err_msg=kind)
            self.assertEqual(live["theta.q"], live.array[live.names.index("theta.q")])

    def test_faults(self):
        live = kinegraph.Estimator(GYRO, filter="ekf")
        with self.assertRaisesRegex(kinegraph.InputError, "unknown sensor 'gyr'; did you mean 'gyro'"):
            live.push("gyr", 0.1, 1)
        with self.assertRaisesRegex(kinegraph.InputError, "sensor 'gyro': expected 1 numbers, found 2"):
            live.push("gyro", 0.1, 1, 2)
        with self.assertRaisesRegex(kinegraph.InputError, "batch takes all readings at once"):
            kinegraph.Estimator(GYRO, filter="batch")
        with self.assertRaisesRegex(kinegraph.InputError, "filter: must be .*did you mean 'ekf'"):
            kinegraph.Estimator(GYRO, filter="ekff")
        with self.assertRaisesRegex(kinegraph.InputError, r"log: is for estimate\(\)"):
            kinegraph.Estimator(GYRO, log="x.csv")
        live.push("gyro", 0.1, 0.2)
        with self.assertRaises(kinegraph.Error):  # before its start: no place for it
            live.push("gyro", -1, 0.2)


class OwnFactors(Package):
    """Factors written in Python, alone and with those of a machine."""

    def test_circle(self):
        graph = kinegraph.FactorGraph()
        graph.variable("tip", [2, 3])
        circle = graph.add(lambda p: ([p @ p - 25], [2 * p]), "tip", role="equality")
        graph.check_jacobians(circle)
        graph.add(lambda p: p - [2, 3], ["tip"], sigma=0.1)
        report = graph.solve()
        np.testing.assert_allclose(graph["tip"], 5 * np.array([2, 3]) / np.sqrt(13), atol=1e-6)
        self.assertLess(report["constraint_max"], 1e-9)
        # What the circle fixes has no variance; along it the sensor's.
        along = np.array([-3, 2]) / np.sqrt(13)
        self.assertAlmostEqual(along @ graph.covariance("tip") @ along, 0.1**2, places=12)
        self.assertAlmostEqual(np.array([2, 3]) @ graph.covariance("tip") @ np.array([2, 3]), 0, delta=1e-9)

    def test_not_used_while_it_is_solved(self):
        graph = kinegraph.FactorGraph()
        graph.variable("p", [2, 3])
        solving = []

        def looks_back(p):
            if solving:
                graph["p"] = [0, 0]
            return p - [1, 1]

        graph.add(looks_back, "p")
        solving.append(True)
        with self.assertRaisesRegex(RuntimeError, "is being solved"):
            graph.solve()
        solving.clear()
        graph.solve()
        np.testing.assert_allclose(graph["p"], [1, 1], atol=1e-9)

    def test_wrong_derivatives_are_found(self):
        graph = kinegraph.FactorGraph()
        graph.variable("p", [2, 3])
        wrong = graph.add(lambda p: ([p @ p - 25], [p]), "p")
        with self.assertRaisesRegex(kinegraph.InputError, "factor|lambda"):
            graph.check_jacobians(wrong)

    def test_pose_of_a_machine(self):
        # A four-bar whose P2 is to have x = 0.9, found in its own graph: the rocker has length √13 about D = (4, 0).
        graph = kinegraph.FactorGraph.pose(FOURBAR)
        x = graph.coordinates.index("P2.x")
        graph.add(lambda q: q[x] - 0.9, "q", name="over 0.9")
        graph.solve()
        q = dict(zip(graph.coordinates, graph["q"]))
        self.assertAlmostEqual(q["P2.x"], 0.9, places=7)
        self.assertAlmostEqual(q["P2.y"], np.sqrt(13 - 3.1**2), places=7)
        self.assertAlmostEqual(np.hypot(q["P2.x"] - q["P1.x"], q["P2.y"] - q["P1.y"]), 2, places=9)
        self.assertAlmostEqual(np.hypot(q["P1.x"], q["P1.y"]), 1, places=9)

    def test_pose_of_a_robot(self):
        # A tool's place by a factor of ours on its pose: the arm follows.
        bent = {f"{joint}.q": 0.4 for joint in kinegraph.load(model_file("three_r.urdf")).coordinates}
        graph = kinegraph.FactorGraph.pose(kinegraph.load(model_file("three_r.urdf"), set=bent))
        pose = [name for name in graph.names if name.endswith(".pose")][-1]
        joints = [name for name in graph.names if name.endswith(".q")]
        goal = graph[pose][4:] * 0.9
        graph.add(lambda X: (X[4:] - goal)[[0, 2]], pose, role="equality", name="reach")  # the arm moves in the x-z plane
        graph.add(lambda *q: np.concatenate(q) - 0.4, joints, name="stay")
        report = graph.solve()
        np.testing.assert_allclose(graph[pose][4:], goal, atol=1e-9)
        self.assertLess(report["constraint_max"], 1e-9)

    def test_motion_of_a_machine(self):
        seen = kinegraph.load(FOURBAR, set={"theta.v": 1}).simulate(time=0.3, step=0.01, integrator="trapezoidal", formulation="independent")
        graph = kinegraph.FactorGraph.motion(FOURBAR, time=0.3, step=0.01, free_start=True)
        at = [graph.coordinates.index(name) for name in ("P2.x", "P2.y")]
        for k in range(len(seen)):
            z = np.array([seen["P2.x"][k], seen["P2.y"][k]])
            graph.add(lambda q, z=z: q[at] - z, f"q[{k}]", sigma=0.01, name="camera")
        report = graph.solve()
        theta = graph.coordinates.index("theta")
        self.assertAlmostEqual(graph["v[0]"][theta], 1, places=7)
        self.assertLess(report["constraint_max"], 1e-9)
        self.assertLess(report["cost"], 1e-9)

    def test_faults(self):
        graph = kinegraph.FactorGraph()
        graph.variable("tip", [2, 3])
        with self.assertRaisesRegex(kinegraph.InputError, "unknown variable 'tpi'; did you mean 'tip'"):
            graph.add(lambda p: p, "tpi")
        with self.assertRaisesRegex(kinegraph.InputError, "sigma must be one number, 2 numbers"):
            graph.add(lambda p: p, "tip", sigma=[1, 2, 3])
        with self.assertRaisesRegex(kinegraph.InputError, "role must be cost or equality, is 'costs'"):
            graph.add(lambda p: p, "tip", role="costs")
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            graph.add(lambda p: 1 / 0, "tip")
        calls = []

        def later(p):
            calls.append(1)
            if len(calls) > 2:
                raise RuntimeError("from inside")
            return p - 1

        graph.add(later, "tip")
        with self.assertRaisesRegex(RuntimeError, "from inside"):  # raised through the solver
            graph.solve()
        other = kinegraph.FactorGraph()
        other.variable("x", 1)
        other.add(lambda x: x * x + 1, "x", role="equality", name="no root")
        with self.assertRaisesRegex(kinegraph.NoAnswer, "no root"):
            other.solve()


SLOW = """
import sys, time, kinegraph
print("begins", flush=True)
try:
    kinegraph.plan(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
    motion = kinegraph.simulate(sys.argv[2], time=0.01)  # nothing is left in a bad state
    print("goes on", len(motion), flush=True)
    sys.exit(7)
print("done")
"""


class Interrupts(Package):
    """Ctrl-C, and threads beside."""

    def test_interrupted_plan(self):
        task = self.write("task.yaml", f"model: {model_file('cart_pole.urdf')}\nhorizon: 30\nsteps: 6000\npassive: [pole]\n"
                          "model_limits: false\ngoals:\n  - {time: 30, joints: {cart: 1, pole: pi}, rest: true}\n"
                          "objectives:\n  - {type: torque, sigma: 20}\n")
        run = subprocess.Popen([sys.executable, "-B", "-c", SLOW, task, FOURBAR], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), "begins\n")
        time.sleep(1.0)
        asked = time.monotonic()
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(out, "interrupted\ngoes on 11\n")
        self.assertEqual(run.returncode, 7)
        self.assertLess(time.monotonic() - asked, 30)
        self.assertEqual(os.listdir(self.folder), ["task.yaml"])  # nothing half written

    def test_other_threads_run(self):
        beats = []
        stop = threading.Event()

        def beat():
            while not stop.is_set():
                beats.append(time.monotonic())
                time.sleep(0.005)

        thread = threading.Thread(target=beat)
        thread.start()
        begin = time.monotonic()
        kinegraph.simulate(FOURBAR, time=20, every=1000)
        end = time.monotonic()
        stop.set()
        thread.join()
        during = [b for b in beats if begin <= b <= end]
        self.assertGreater(len(during), (end - begin) / 0.005 / 10)

    def test_threads_at_once(self):
        results = [None] * 4

        def run(i):
            results[i] = kinegraph.simulate(FOURBAR, time=0.2, set={"theta.q": 0.1 * i})

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i, result in enumerate(results):
            self.assertAlmostEqual(result["theta.q"][0], 0.1 * i, places=12)


class Logs(Package):
    """Files of other kinds, where their packages are there."""

    def setUp(self):
        super().setUp()
        self.table = kinegraph.simulate(GYRO, time=0.1, sensors=True).readings

    def round_trip(self, name, package):
        path = self.path(name)
        try:
            __import__(package)
        except ImportError:
            with self.assertRaisesRegex(ImportError, f"need the package {package}, which is not installed"):
                self.table.save(path)
            self.skipTest(f"{package} is not installed")
        self.table.save(path)
        again = kinegraph.log.read(path)
        self.assertEqual(again.names, self.table.names)
        np.testing.assert_array_equal(again.t, self.table.t)
        np.testing.assert_array_equal(again.array, self.table.array)
        self.assertEqual(len(kinegraph.estimate(GYRO, log=again, filter="ekf").t) > 10, True)

    def test_csv(self):
        self.table.save(self.path("log.csv"))
        np.testing.assert_array_equal(kinegraph.log.read(self.path("log.csv")).array, self.table.array)

    def test_hdf5(self):
        self.round_trip("log.h5", "h5py")

    def test_mcap(self):
        self.round_trip("log.mcap", "mcap")

    def test_unknown(self):
        with self.assertRaisesRegex(kinegraph.InputError, "expected a name that ends with .csv, .h5 or .mcap"):
            self.table.save(self.path("log.xls"))


if __name__ == "__main__":
    unittest.main()
