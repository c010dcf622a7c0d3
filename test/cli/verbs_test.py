"""What each verb answers, as a user asks: verbs_test.py PROGRAM [SUITE.TEST ...]"""

import json
import math
import unittest

from program import PENDULUM, Cli

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
