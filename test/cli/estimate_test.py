"""The verb estimate and logs of sensors, as a user meets them: estimate_test.py PROGRAM [SUITE.TEST ...]"""

import json
import os
import unittest

from program import FOURBAR, Cli


class Estimation(Cli):
    """simulate --sensors and estimate, on a four-bar with a gyroscope and an encoder."""

    SENSORS = FOURBAR + """\
sensors:
  - {name: gyro, type: gyroscope, body: rocker, noise: 0.3deg/s, rate: 200}
  - {name: angle, type: encoder, coordinate: theta, noise: 0.2deg, rate: 100}
disturbances:
  - {coordinate: theta, density: 0.5}
initial: {theta.q: 30deg}
"""

    def setUp(self):
        super().setUp()
        self.write("gyro.yaml", self.SENSORS)

    def log(self, *more):
        return self.good("simulate", "gyro.yaml", "--time", "0.5", "--step", "5ms", "--sensors", "log.csv", *more)

    def test_a_log(self):
        text = self.log("--out", "truth.csv").out
        self.assertIn("wrote log.csv: 101 rows, 3 columns", text)
        lines = self.read("log.csv").splitlines()
        self.assertEqual(lines[0], "t,gyro.w,angle.q")
        self.assertRegex(lines[2], r"^0\.005,[^,]+,$")
        for option in (("--seed", "1"), ("--disturbed",)):
            self.log(*option)
            self.assertNotEqual(lines, self.read("log.csv").splitlines())
        self.log("--threads", "1")
        self.assertEqual(lines, self.read("log.csv").splitlines())

    def test_a_log_on_standard_output(self):
        out = self.good("simulate", "gyro.yaml", "--time", "0.1", "--sensors", "-").out
        self.assertTrue(out.startswith("t,gyro.w,angle.q\n0,"))

    def test_faults_of_simulate(self):
        self.bad("fourbar.yaml: error: sensors: the model has none; docs/formats.md tells how to add one", "simulate",
                 "fourbar.yaml", "--sensors", "log.csv")
        self.bad("fourbar.yaml: error: disturbed: the model has neither process noise nor unknown forces", "simulate",
                 "fourbar.yaml", "--disturbed")
        self.bad("error: window: has no meaning with --disturbed, which is time stepping", "simulate", "gyro.yaml", "--disturbed",
                 "--window", "3")
        sensors = "error: sensors: their readings must take at most 1 GB of memory, take {} GB in 100000 s; lower a rate, or the time"
        for rate, take in (("rate: 100}", "1.92"), ("rate: 200}", "2.08"), ("rate: 200, delay: 1ms}", "2.56")):
            self.write("much.yaml", self.SENSORS.replace("rate: 100}", rate))
            self.bad(sensors.format(take), "simulate", "much.yaml", "--time", "1e5", "--sensors", "log.csv")
        os.remove(os.path.join(self.folder, "much.yaml"))
        self.bad("error: out, sensors: both name the file 'log.csv'", "simulate", "gyro.yaml", "--sensors", "log.csv", "--out",
                 "log.csv")
        self.assertEqual(self.files(), ["gyro.yaml"])

    def test_every_filter(self):
        self.log("--out", "truth.csv")
        names, truth = self.table("truth.csv")
        last = truth[-1][names.index("theta.q")]
        for name in ("smoother", "batch", "ekf", "ukf", "particle"):
            self.good("estimate", "gyro.yaml", "--log", "log.csv", "--filter", name, "--start-sd", "theta.q=5deg", "--out", "found.csv",
                      "--json", "found.json", "--innovations", "innovations.csv")
            columns, rows = self.table("found.csv")
            self.assertEqual(columns[0], "t")
            end = dict(zip(columns, rows[-1]))
            self.assertAlmostEqual(end["t"], 0.5)
            self.assertLess(abs(end["theta.q"] - last), 5 * end["theta.q.sd"] + 1e-3, name)
            for column in ("P1.x", "P1.x.sd", "theta.v.sd", "theta.a.sd", "gyro.w", "gyro.w.sd", "angle.q"):
                self.assertIn(column, end)
            found = json.loads(self.read("found.json"))
            self.assertEqual((found["verb"], found["filter"], found["start"]), ("estimate", name, "file"))
            self.assertEqual(found["readings"], 152)
            self.assertEqual([n["name"] for n in found["final"]], ["theta.q", "theta.v"])
            self.assertTrue(self.read("innovations.csv").startswith("t,gyro.w,gyro.w.sd,gyro.nis,gyro.used,angle.q,"))

    def test_same_seed_same_bits_whatever_the_threads(self):
        self.log()
        outputs = []
        for threads in ("1", "2"):
            self.good("estimate", "gyro.yaml", "--log", "log.csv", "--filter", "particle", "--start", "unknown", "--threads", threads, "--out",
                      "found.csv")
            outputs.append(self.read("found.csv"))
        self.assertEqual(outputs[0], outputs[1])

    def test_faults_of_estimate(self):
        self.log()
        self.bad("error: log: is needed: what the sensors read", "estimate", "gyro.yaml")
        self.bad("error: filter: must be one of smoother, batch, ekf, ukf, particle, is 'efk'; did you mean 'ekf'?", "estimate",
                 "gyro.yaml", "--log", "log.csv", "--filter", "efk")
        self.bad("error: process: 'thta' is no coordinate that can move; did you mean 'theta'?", "estimate", "gyro.yaml", "--log",
                 "log.csv", "--process", "thta=1")
        self.bad("error: gate: is for Kalman filters (take --loss), must be 0, is 0.9", "estimate", "gyro.yaml", "--log", "log.csv",
                 "--gate", "0.9")
        self.bad("error: loss: its scale must be > 0, is -1", "estimate", "gyro.yaml", "--log", "log.csv", "--loss", "huber:-1")
        log = ("estimate", "gyro.yaml", "--log", "log.csv")
        self.bad("error: window: is for --filter smoother alone\nerror: particles: is for --filter particle alone\n"
                 "error: proposal: is for --filter particle alone", *log, "--filter", "ekf", "--window", "5", "--particles", "3", "--proposal", "prior")
        self.bad("error: lag: has no meaning for all readings at once, is 0.1", *log, "--filter", "batch", "--lag", "0.1")
        self.bad("error: start-speed: is for an unknown start; take --start-sd for the rates of the file's", *log, "--start-speed", "3")
        self.bad("error: branches: must be all where the start is unknown, is file", *log, "--start", "unknown", "--branches", "file")
        self.bad("error: start-sd theta.q: has no meaning where the start is unknown; take --start file", *log, "--start", "unknown", "--start-sd",
                 "theta.q=0.1")
        self.bad("error: start-sd: 'bar' is none of the numbers of the state: theta.q, theta.v\n"
                 "error: start-sd: 'foo' is none of the numbers of the state: theta.q, theta.v", *log, "--start-sd", "foo=1", "--start-sd", "bar=1")
        self.bad("error: process: 'foo' is no coordinate that can move\nerror: unknown: 'bar' is no coordinate that can move", *log, "--process",
                 "foo=1", "--unknown", "bar=1")
        self.bad("error: unknown theta: must be > 0, else the force is known to be zero", *log, "--unknown", "theta=0")
        self.bad("error: loss: none has no scale", *log, "--loss", "none:3")
        self.bad("error: out, innovations: both name the file 'i.csv'", *log, "--out", "i.csv", "--innovations", "i.csv")
        self.bad("error: particles: must be between 1 and 1000000, is 100000000", *log, "--filter", "particle", "--particles", "100000000")
        self.write("gap.csv", "t,angle.q\n0,0\n0.01,0\n1e10,0\n")
        self.bad("error: step: the log, from 0 to 10000000000 s, must have at most 2e+09 steps of 0.01 s, is 1e+12 steps", "estimate", "gyro.yaml", "--log",
                 "gap.csv")
        self.bad("error: start-sd theta.q: must be >= 0, is -1", "estimate", "gyro.yaml", "--log", "log.csv", "--start-sd", "theta.q=-1")
        for text, place in (("t,gyro.w\n0,1\n0.1,nan\n", "log.csv:3:5"), ("t,giro.w\n0,1\n", "log.csv:1:3"),
                            ("t,gyro.w\n1,1\n0.5,1\n", "log.csv:3:1"), ("", "log.csv")):
            self.write("log.csv", text)
            result = self.run_program("estimate", "gyro.yaml", "--log", "log.csv")
            self.assertEqual(result.status, 2)
            self.assertTrue(result.err.startswith(place), result.err)

    def test_a_body_that_floats(self):
        self.write("body.urdf", '<robot name="b"><link name="body"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" '
                   'ixz="0" iyz="0"/></inertial></link></robot>')
        self.write("body.sensors.yaml", "sensors:\n  - {name: gyro, type: gyroscope, link: body, noise: 0.01}\n"
                   "  - {name: a, type: position, link: body, noise: 0.01}\n  - {name: b, type: position, link: body, xyz: [0.1, 0, 0], noise: 0.01}\n"
                   "  - {name: c, type: position, link: body, xyz: [0, 0.1, 0], noise: 0.01}\n"
                   "disturbances:\n" + "".join(f"  - {{joint: base, freedom: {i}, density: 1}}\n" for i in range(1, 7)))
        self.good("simulate", "body.urdf", "--base", "floating", "--time", "0.2", "--step", "10ms", "--set", "base.wx=1", "--sensors", "log.csv")
        text = self.good("estimate", "body.urdf", "--base", "floating", "--log", "log.csv", "--json", "found.json").out
        self.assertRegex(text, r"\n  base\.rx +[0-9.e-]+\n")  # a deviation, no mean
        self.assertNotIn("nan", text)
        self.assertEqual([n["name"] for n in json.loads(self.read("found.json"))["final"]],
                         ["base." + n for n in "rx ry rz x y z wx wy wz vx vy vz".split()])
        gyro = "\n".join(",".join(row.split(",")[:4]) for row in self.read("log.csv").splitlines()) + "\n"
        self.write("gyro.csv", gyro)
        self.bad("error: the log cannot tell base.x; base.y; base.z; base.rx; base.ry; base.rz; … 3 more: no reading changes with them; or say what "
                 "is known of them: --start-sd base.x=…", "estimate", "body.urdf", "--base", "floating", "--log", "gyro.csv", "--quiet", status=1)

    def test_what_cannot_be_seen(self):
        self.write("balanced.yaml", """\
gravity: [0, 0]
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P, x: 1, y: 0}
planar_bodies:
  - {name: crank, points: [A, P], length: 1, mass: 1, I0: 0.2, cog: [0, 0]}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, P]}
initial: {theta.v: 1}
sensors:
  - {name: gyro, type: gyroscope, body: crank, noise: 0.01}
disturbances:
  - {coordinate: theta, density: 0.1}
""")
        self.good("simulate", "balanced.yaml", "--time", "0.3", "--sensors", "log.csv")
        self.bad("error: the log cannot tell theta.q: no reading changes with it; an encoder on theta would tell it; or say what is "
                 "known of it: --start-sd theta.q=…", "estimate", "balanced.yaml", "--log", "log.csv", "--out", "found.csv", status=1)
        self.assertEqual(self.files(), ["balanced.yaml", "gyro.yaml", "log.csv"])
        self.good("estimate", "balanced.yaml", "--log", "log.csv", "--start-sd", "theta.q=1deg", "--out", "found.csv")


class Trust(Cli):
    """What an estimate says of readings that it cannot explain, and of logs in other shapes."""

    SIXBAR = """\
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: D, x: 3, y: 0, fixed: true}
  - {name: B, x: 0, y: 1}
  - {name: C, x: 2.4, y: 2.1}
  - {name: E, x: 1.5, y: 2.8}
  - {name: F, x: 4, y: 2}
  - {name: G, x: 3.7, y: 3.6}
planar_bodies:
  - {name: crank, points: [A, B], mass: 1}
  - {name: coupler, points: [B, C, E], mass: 2, I0: 4, cog: [1.2, 0.4]}
  - {name: rocker, points: [D, C, F], mass: 1.5, I0: 3, cog: [0.9, -0.3]}
  - {name: l5, points: [E, G], mass: 0.7}
  - {name: l6, points: [F, G], mass: 0.9}
relative_coordinates: [{name: th, type: absolute_angle, points: [A, B]}]
sensors:
  - {name: im, type: imu, body: l5, gyro_noise: 0.01, accel_noise: 0.05, rate: 100, gyro_bias_sd: 0.02}
disturbances: [{coordinate: th, density: 0.05}]
initial: {th.q: 80deg, th.v: 1}
"""

    PENDULUM = """\
points:
  - {name: O, x: 0, y: 0, fixed: true}
  - {name: P, x: 0.5, y: 0}
planar_bodies: [{name: bar, points: [O, P], mass: 1}]
relative_coordinates: [{name: th, type: absolute_angle, points: [O, P]}]
sensors:
  - {type: encoder, coordinate: th, noise: 2mrad, rate: 100}
  - {name: g, type: gyroscope, body: bar, noise: 0.01, rate: 50}
disturbances: [{coordinate: th, density: 0.05}]
initial: {th.q: -20deg, th.v: 0.5}
"""

    def recorded(self, text, time="1", *more, step="1ms"):
        self.write("m.yaml", text)
        self.good("simulate", "m.yaml", "--time", time, "--step", step, "--sensors", "log.csv", "--out", "truth.csv", *more)
        return self.read("log.csv").splitlines()

    def last(self, file, column):
        names, rows = self.table(file)
        return rows[-1][names.index(column)]

    def end_error(self, column):
        return abs(self.last("found.csv", column) - self.last("truth.csv", column))

    def test_an_unknown_start_in_motion(self):
        # Accelerations go with the square of the speed: of a machine at rest no hypothesis expects them.
        for angle in ("80deg", "200deg"):
            self.recorded(self.SIXBAR, "1", "--set", "th.q=" + angle)
            for name in ("ekf", "smoother"):
                self.good("estimate", "m.yaml", "--log", "log.csv", "--filter", name, "--start", "unknown", "--start-speed", "4", "--out",
                          "found.csv", "--json", "found.json")
                error = self.end_error("th.q")
                self.assertLess(abs(error - round(error / 6.283185307) * 6.283185307), 0.03, (angle, name))
                self.assertLess(json.loads(self.read("found.json"))["nis_mean"], 3)

    def test_a_machine_that_turns_far_within_a_step(self):
        self.recorded(self.PENDULUM, "0.5", "--set", "th.v=120", step="0.1ms")
        log = ("estimate", "m.yaml", "--log", "log.csv", "--set", "th.v=120", "--out", "found.csv", "--json", "found.json")
        for name in ("smoother", "ekf", "batch"):
            self.good(*log, "--filter", name)
            self.assertGreaterEqual(json.loads(self.read("found.json"))["substeps"], 3)
            self.assertLess(self.end_error("th.v"), 0.1, name)
        refused = self.run_program(*log, "--step", "10ms")
        self.assertEqual(refused.status, 1)
        self.assertRegex(refused.err, r"; the machine turns by up to 1\.\d rad within a step of 0\.01 s: take a smaller --step, [12]ms\n")

    def test_units(self):
        lines = self.recorded(self.PENDULUM)
        degrees = [lines[0]] + [",".join([f[0], repr(float(f[1]) * 57.29577951308232), *f[2:]]) for f in (row.split(",") for row in lines[1:])]
        self.write("degrees.csv", "\n".join(degrees) + "\n")
        for name in ("smoother", "ukf"):
            result = self.run_program("estimate", "m.yaml", "--log", "degrees.csv", "--filter", name, "--out", "found.csv")
            self.assertEqual(result.status, 1)
            self.assertRegex(result.err, r"error: no motion of this model explains the readings: mean NIS per number read is .* worst is 'th\.q', off by "
                             r".* rad as a rule, .* standard deviations; those of 'th' are in degrees, it seems .*: SI units are expected, rad\n")
            self.assertNotIn("found.csv", self.files())
        milliseconds = [lines[0]] + [repr(float(row.split(",", 1)[0]) * 1e3) + "," + row.split(",", 1)[1] for row in lines[1:]]
        self.write("ms.csv", "\n".join(milliseconds) + "\n")
        self.bad("error: log: readings of 'th' come at 0.1 Hz, its rate is 100 Hz: are the times in ms? Seconds are expected (if they are seconds, say "
                 "--step)", "estimate", "m.yaml", "--log", "ms.csv")

    def test_noise_that_is_set_too_small(self):
        self.recorded(self.PENDULUM)
        self.write("m.yaml", self.PENDULUM.replace("noise: 2mrad", "noise: 0.1mrad"))
        result = self.run_program("estimate", "m.yaml", "--log", "log.csv")
        self.assertEqual(result.status, 0)
        self.assertRegex(result.err, r"warning: the motion does not explain the readings, do not trust its deviations: mean NIS per number read is ")

    def test_friction_in_joints(self):
        friction = self.PENDULUM + "joint_friction: [{joint: O, viscous: 0.05}]\n"
        self.recorded(friction, "1", "--formulation", "screw")
        self.good("estimate", "m.yaml", "--log", "log.csv", "--out", "found.csv", "--json", "found.json")
        self.assertEqual(json.loads(self.read("found.json"))["formulation"], "screw")
        self.assertLess(self.end_error("th.v"), 0.05)
        self.good("estimate", "m.yaml", "--log", "log.csv", "--set", "O.viscous=0", "--process", "th=2", "--json", "found.json")
        self.assertEqual(json.loads(self.read("found.json"))["formulation"], "natural")
        self.write("m.yaml", self.PENDULUM + "joint_friction: [{joint: O, viscous: 0.05, quadratic: 0.1}]\n")
        self.assertIn("joint friction 'O': estimators cannot follow quadratic (simulate --formulation maximal can): leave it out, --set O.quadratic=0",
                      self.run_program("estimate", "m.yaml", "--log", "log.csv").err)

    def test_tabs_and_seconds_since_1970(self):
        lines = self.recorded(self.PENDULUM)
        self.good("estimate", "m.yaml", "--log", "log.csv", "--out", "commas.csv")
        self.write("tabs.csv", "\n".join(lines).replace(",", "\t") + "\n")
        self.good("estimate", "m.yaml", "--log", "tabs.csv", "--out", "tabs.out.csv")
        self.assertEqual(self.read("commas.csv"), self.read("tabs.out.csv"))
        epoch = [lines[0]] + [f"{1.7e9 + float(row.split(',', 1)[0]):.6f}," + row.split(",", 1)[1] for row in lines[1:]]
        self.write("epoch.csv", "\n".join(epoch) + "\n")
        text = self.good("estimate", "m.yaml", "--log", "epoch.csv", "--out", "epoch.out.csv").out
        self.assertRegex(text, r"\n  to +1700000001 s\n")
        self.assertRegex(text, r" sd, at t = 170000000[01]\.[0-9]+ s\n")
        self.assertEqual(len(self.table("epoch.out.csv")[1]), len(self.table("commas.csv")[1]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
