"""The verb identify and files of settings, as a user meets them: identify_test.py PROGRAM [SUITE.TEST ...]"""

import json
import math
import os
import unittest

from program import Cli

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")


class IdentifyCase(Cli):
    """With the pendulum that rubs, and a log of its encoder: by steps of 1 ms, no program needed."""

    def setUp(self):
        super().setUp()
        with open(os.path.join(MODELS, "rubbing_pendulum.yaml"), encoding="utf-8") as file:
            self.write("pendulum.yaml", file.read())
        self.swing("swing.csv")

    def swing(self, name, angle=0.0, viscous=0.004, dry=0.02, time=5.0):
        mass, length, h = 0.5, 0.4, 1e-4
        inertia, weight = mass * length**2 / 3, mass * 9.81 * length / 2
        rate, noise, rows = 0.0, 12345, ["t,encoder.q"]
        for i in range(int(round(time / h)) + 1):
            if i % 50 == 0:
                noise = (1103515245 * noise + 12345) % 2**31
                rows.append(f"{i * h:.4f},{angle + 1e-3 * math.sqrt(12) * (noise / 2**31 - 0.5):.6f}")
            torque = -weight * math.cos(angle) - viscous * rate
            free = rate + h * torque / inertia
            held = h * dry / inertia
            rate = 0.0 if abs(free) <= held else free - math.copysign(held, free)
            angle += h * rate
        self.write(name, "\n".join(rows) + "\n")

    def quantities(self, name="fit.json"):
        return {q["name"]: q for q in json.loads(self.read(name))["quantities"]}


class Identify(IdentifyCase):
    def converted(self, name, time=1.0, angle=1.0):
        _, rows = self.table("swing.csv")
        self.write(name, "t,encoder.q\n" + "".join(f"{t * time:.7g},{q * angle:.9g}\n" for t, q in rows))

    def test_names_the_unit_of_readings_that_nothing_fits(self):
        self.converted("degrees.csv", angle=180 / math.pi)
        told = self.run_program("identify", "pendulum.yaml", "--log", "degrees.csv", "--free", "O.viscous,O.dry")
        self.assertEqual(told.status, 1)
        self.assertRegex(told.err, r"error: the recordings are not fitted, so that nothing can be told: 'encoder.q' is left \S+ "
                                   r"rad off as a rule, \S+ times the noise that it is said to have, from t = \S+ s on; "
                                   r"readings are in degrees, it seems \(then what is left over the noise is \S+\): "
                                   r"SI units are expected, rad; else try ")

    def test_a_replay_that_fits_nothing_is_no_answer(self):
        self.converted("milliradians.csv", angle=1000)
        told = self.run_program("identify", "pendulum.yaml", "--log", "milliradians.csv", "--free", "O.viscous", "--fit", "replay",
                                "--save", "fitted.set")
        self.assertEqual((told.status, told.out), (1, ""))
        self.assertRegex(told.err, r"error: the recordings are not fitted, so that nothing can be told: 'encoder.q' is left \S+ "
                                   r"rad off as a rule, .*; readings are in milliradians, it seems \(then ")
        self.assertNotIn("fitted.set", self.files())

    def test_names_readings_of_the_other_sign(self):
        self.converted("flipped.csv", angle=-1)
        words = ("identify", "pendulum.yaml", "--log", "flipped.csv", "--free", "O.viscous")
        flipped = r"; of the other sign those of 'encoder.q' would fit, it seems \(then what is left over the noise is \S+\)"
        self.assertRegex(self.run_program(*words).err,
                         r"warning: the motion is not the model's: it misses \d+ % of the impulses that the motion has, as a rule, and says "
                         r"little of what is free" + flipped)
        told = self.run_program(*words, "--fit", "replay")
        self.assertEqual(told.status, 1)
        self.assertRegex(told.err, r"error: the recordings are not fitted, .*" + flipped + "; else try ")

    START = ("--set", "shoulder.q=-1", "--set", "elbow.q=1.5")

    def two_links(self, sensors=("shoulder",), time=8):
        """Writes arm.urdf and what these encoders read of its swing."""
        link = ('<link name="{}"><inertial><origin xyz="{} 0 0"/><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0" iyy="{}" iyz="0" '
                'izz="{}"/></inertial></link>')
        joint = ('<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/><axis xyz="0 1 0"/>'
                 '<dynamics damping="{}" friction="0"/></joint>')
        self.write("arm.urdf", '<robot name="arm"><link name="ground"/>' + link.format("upper", 0.2, 1.5, 0.01, 0.025, 0.025) +
                   link.format("lower", 0.15, 0.7, 0.005, 0.009, 0.009) + joint.format("shoulder", "ground", "upper", "0 0 1", 0.02) +
                   joint.format("elbow", "upper", "lower", "0.4 0 0", 0.005) + "</robot>")
        self.write("arm.sensors.yaml", "sensors:\n" + "".join(
            f"  - {{type: encoder, joint: {name}, noise: 0.001 rad, rate: 200Hz}}\n" for name in sensors))
        self.good("simulate", "arm.urdf", "--formulation", "maximal", "--sensors", "arm.csv", "--time", str(time), *self.START)

    def test_right_units_are_not_called_wrong(self):
        self.two_links()
        told = self.run_program("identify", "arm.urdf", "--log", "arm.csv", "--kappa", "100", *self.START, "--set", "upper.mass=3",
                                "--free", "shoulder.viscous")
        self.assertEqual(told.status, 1)
        self.assertIn("error: the recordings are not fitted, so that nothing can be told: 'shoulder.q' is left ", told.err)
        self.assertNotIn("it seems", told.err)

    def test_a_joint_that_nobody_reads(self):
        # The elbow turns over many times within 8 s; of its start the model is 0.3 rad off, of its numbers a third.
        self.two_links()
        truths = {"shoulder.viscous": 0.02, "elbow.viscous": 0.005, "upper.iyy": 0.025, "lower.iyy": 0.009}
        for elbow in "1.5", "1.2":
            found = json.loads(self.good("identify", "arm.urdf", "--log", "arm.csv", "--set", "shoulder.q=-1", "--set", f"elbow.q={elbow}",
                                         "--set", "upper.iyy=0.02", "--set", "lower.iyy=0.012", "--set", "shoulder.viscous=0.01",
                                         "--set", "elbow.viscous=0.001", "--free", ",".join(truths), "--json", "-").out)
            self.assertTrue(found["converged"])
            self.assertLess(found["channels"][0]["rms"], 1.2e-3)
            for quantity in found["quantities"]:
                truth = truths[quantity["name"]]
                self.assertAlmostEqual(quantity["value"], truth, delta=0.03 * truth)
                self.assertAlmostEqual(quantity["value"], truth, delta=3 * quantity["sd"])

    def test_contacts_are_told(self):
        self.write("rod.sdf", """<sdf version="1.9"><world name="w">
<model name="ground"><static>true</static><link name="l"><inertial><mass>1</mass></inertial>
  <collision name="c"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<model name="rod"><pose>0 0 0.3 0 0 0</pose>
<link name="bar"><pose>0.25 0 0 0 0 0</pose>
  <inertial><mass>1</mass><inertia><ixx>.005</ixx><iyy>.02</iyy><izz>.02</izz></inertia></inertial>
  <collision name="c"><pose>0.25 0 0 0 0 0</pose><geometry><sphere><radius>0.03</radius></sphere></geometry></collision></link>
<joint name="hinge" type="revolute"><parent>world</parent><child>bar</child><pose>-0.25 0 0 0 0 0</pose>
  <axis><xyz>0 1 0</xyz><dynamics><damping>0.01</damping></dynamics></axis></joint></model></world></sdf>
""")
        rows, q, v = ["t,rod::hinge.q"], 0.0, 0.0
        for i in range(4000):
            v += 2.5e-4 * (9.8 * 0.25 * math.cos(q) - 0.01 * v) / (0.02 + 0.0625)
            if q > 0.57 and v > 0:
                v = -0.3 * v
            q += 2.5e-4 * v
            if i % 20 == 0:
                rows.append(f"{i * 2.5e-4:.4f},{q:.6f}")
        self.write("hit.csv", "\n".join(rows) + "\n")
        told = r"warning: hit.csv: .* touch, or nearly, at t = 0\.\d+ s: identify knows no contacts, and takes what they push for " \
               r"something else; leave that out \(--from, --to\)\n"
        words = ("identify", "rod.sdf", "--log", "hit.csv", "--free", "rod::hinge.viscous")
        self.assertRegex(self.run_program(*words).err, told)
        self.assertNotIn("touch", self.run_program(*words, "--to", "0.2").err)

    def test_priors_are_told_and_count(self):
        words = ("identify", "pendulum.yaml", "--log", "swing.csv", "--json", "-", "--free")
        free = {q["name"]: q for q in json.loads(self.good(*words, "bar.I0,O.viscous,O.dry").out)["quantities"]}
        strong = json.loads(self.good(*words, "bar.I0,O.viscous,O.dry", "--prior", "bar.I0=1e-6").out)["quantities"][0]
        self.assertEqual(free["bar.I0"]["remark"], "")
        self.assertRegex(strong["remark"], r"^\d+ % from its prior$")
        self.assertLess(strong["sd_linearised"], 1.0001e-6)
        weak = json.loads(self.good(*words, "bar.I0,O.viscous,O.dry", "--prior", "bar.I0=1").out)["quantities"][0]
        self.assertEqual(weak["remark"], "")
        self.assertAlmostEqual(weak["sd"] / free["bar.I0"]["sd"], 1, delta=1e-3)
        # what no recording can tell is known by its prior, which is no answer where there is nothing else
        mass = json.loads(self.good(*words, "bar.mass,O.dry,O.viscous", "--prior", "bar.mass=0.005").out)["quantities"][0]
        self.assertTrue(mass["identifiable"])
        self.assertEqual(mass["remark"], "100 % from its prior")
        self.swing("rest.csv", angle=-math.pi / 2, time=2.0)
        self.bad("error: not identifiable: O.dry: the machine stands still in the recordings, no reading changes by more than its noise",
                 "identify", "pendulum.yaml", "--log", "rest.csv", "--free", "O.dry", "--prior", "O.dry=1e-3", status=1)

    def test_a_plane_has_no_turn_about_gravity(self):
        told = self.run_program("identify", "pendulum.yaml", "--log", "swing.csv", "--free", "gravity.direction,O.viscous")
        self.assertEqual(told.status, 0)
        self.assertNotIn("a turn of the machine", told.out)

    def test_a_search_that_does_not_end_is_no_answer(self):
        before = self.files()
        words = ("identify", "pendulum.yaml", "--log", "swing.csv", "--set", "bar.I0=0.05", "--free", "bar.I0,O.dry", "--iterations", "1")
        for more in (), ("--richardson",):
            told = self.run_program(*words, *more, "--save", "fitted.set", "--out", "motion.csv", "--json", "fit.json")
            self.assertEqual((told.status, told.out), (1, ""))
            self.assertRegex(told.err, r"^error: the search did not converge: the most iterations were done after \d+ iterations, \S+ is "
                                       r"left per number read; try more --iterations, a nearer start \(--set\), or less of the "
                                       r"recordings \(--to\)\n$")
            self.assertEqual(self.files(), before)

    def test_refuses_times_in_milliseconds(self):
        self.converted("ms.csv", time=1e3)
        self.bad("error: log: readings of 'encoder' come at 0.2 Hz, its rate is 200 Hz: are the times in ms? Seconds are "
                 "expected (if they are seconds, say --step)",
                 "identify", "pendulum.yaml", "--log", "ms.csv", "--free", "O.viscous,O.dry")

    def test_finds_friction_and_saves_it(self):
        text = self.good("identify", "pendulum.yaml", "--log", "swing.csv", "--set", "O.viscous=0.001", "--set", "O.dry=0.005",
                         "--free", "O.viscous,O.dry", "--save", "fitted.set", "--json", "fit.json", "--out", "motion.csv").out
        found = self.quantities()
        self.assertAlmostEqual(found["O.dry"]["value"], 0.02, delta=0.002)
        self.assertAlmostEqual(found["O.viscous"]["value"], 0.004, delta=0.0006)
        self.assertEqual(found["O.dry"]["start"], 0.005)
        self.assertTrue(0 < found["O.dry"]["sd"] < 0.002)
        self.assertRegex(text, r"(?m)^  name +start +fitted +± sd")
        self.assertRegex(text, r"(?m)^  O.dry +0.005 +0.0\d+ +\S+")
        names, rows = self.table("motion.csv")
        self.assertEqual(names, ["t", "theta.q", "theta.v", "theta.a", "encoder.q"])
        self.assertAlmostEqual(rows[0][1], 0, delta=0.01)
        saved = self.read("fitted.set")
        self.assertRegex(saved, r"(?m)^O.dry += 0.0\d+  # ± ")
        self.assertRegex(saved, r"(?m)^theta.q += ")
        self.good("check", "pendulum.yaml", "--set", "@fitted.set")
        again = json.loads(self.good("identify", "pendulum.yaml", "--log", "swing.csv", "--set", "@fitted.set", "--free", "O.dry",
                                     "--json", "-").out)
        self.assertAlmostEqual(again["quantities"][0]["start"], found["O.dry"]["value"])

    def test_is_the_same_every_time(self):
        words = ("identify", "pendulum.yaml", "--log", "swing.csv", "--free", "O.dry,bar.I0", "--json", "-")
        first, second = json.loads(self.good(*words).out), json.loads(self.good(*words, "--threads", "1").out)
        for found in first, second:
            del found["wall_s"], found["solve_s"]
        self.assertEqual(first, second)

    def test_a_machine_at_rest_tells_nothing(self):
        self.swing("rest.csv", angle=-math.pi / 2, time=2.0)
        self.bad("error: not identifiable: O.viscous, O.dry, bar.I0: the machine stands still in the recordings, no reading "
                 "changes by more than its noise", "identify", "pendulum.yaml", "--log", "rest.csv", "--free", "O.viscous,O.dry,bar.I0",
                 status=1)

    def test_names_what_cannot_be_told(self):
        found = json.loads(self.good("identify", "pendulum.yaml", "--log", "swing.csv", "--free", "bar.mass,O.dry,O.viscous",
                                     "--json", "-").out)
        by_name = {q["name"]: q for q in found["quantities"]}
        self.assertFalse(by_name["bar.mass"]["identifiable"])
        self.assertIsNone(by_name["bar.mass"]["sd"])
        self.assertTrue(found["unidentifiable_combinations"])

    def test_foretells_another_recording(self):
        self.swing("other.csv", angle=-0.5, time=3.0)
        found = json.loads(self.good("identify", "pendulum.yaml", "--log", "swing.csv", "--validate", "other.csv", "--free", "O.dry",
                                     "--horizon", "0.2s", "--json", "-").out)
        fitted, held_out = found["checks"]
        self.assertEqual((fitted["held_out"], held_out["held_out"], held_out["file"]), (False, True, "other.csv"))
        self.assertLess(held_out["replay"][0]["rmse"], 0.05)
        self.assertEqual([ahead["horizon"] for ahead in held_out["ahead"]], [0.01, 0.2])
        self.assertGreater(held_out["ahead"][1]["channels"][0]["r_squared"], 0.98)

    def test_a_controller_is_found_and_foretold(self):
        # A pendulum that hangs and is held at angles that change, by a law that the program does not know.
        rows, q, v, c, before = ["t,theta.q,theta.tau,wanted,more"], -1.2, 0.0, 0.0, 0.0
        for i in range(1500):
            t, wanted = 0.002 * i, -1.2 + 0.5 * math.sin(1.7 * 0.002 * i) * math.sin(0.6 * 0.002 * i)
            more = 0.05 * math.sin(9 * t)
            error = q - wanted
            c = -8 * error + 6 * (before if i else error) + 0.2 * c
            before = error
            tau = min(max(c + more, -3), 3)
            rows.append(f"{t:.3f},{q:.9f},{tau:.9f},{wanted:.9f},{more:.9f}")
            v += 0.002 * (tau - 1.0 * 9.81 * 0.5 * math.cos(q) - 0.05 * v) / (1 / 3)
            q += 0.002 * v
        self.write("held.csv", "\n".join(rows) + "\n")
        words = ("identify", "rod.yaml", "--log", "held.csv", "--free", "O.viscous,bar.I0", "--horizon", "0.2s", "--held", "--step", "4ms")
        self.write("rod.yaml", """
points:
  - {name: O, x: 0, y: 0, fixed: true}
  - {name: P, x: 1, y: 0}
planar_bodies:
  - {name: bar, points: [O, P], length: 1, mass: 1, I0: 0.3, cog: [0.5, 0]}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [O, P]}
motors:
  - {coordinate: theta}
joint_friction:
  - {joint: O, viscous: 0.02}
initial: {theta.q: -1.2}
""")
        controller = ("--controller", "theta.tau: theta.q@wanted +more limit=3")
        run = self.good(*words, *controller, "--json", "out.json")
        found = json.loads(self.read("out.json"))
        law = found["controllers"][0]
        self.assertEqual((law["command"], law["order"], law["limit"], law["added"]), ("theta.tau", 1, 3, "more"))
        for number, expected in zip(law["readings"][0]["gains"] + law["past"] + [law["constant"]], [-8, 6, 0.2, 0]):
            self.assertAlmostEqual(number, expected, delta=1e-4)
        self.assertGreater(law["explained"], 1 - 1e-9)
        by_name = {q["name"]: q["value"] for q in found["quantities"]}
        self.assertAlmostEqual(by_name["bar.I0"], 1 / 3, delta=0.01)
        self.assertAlmostEqual(by_name["O.viscous"], 0.05, delta=0.01)
        self.assertGreater(found["checks"][0]["replay"][0]["r_squared"], 0.999)
        self.assertGreater(found["checks"][0]["ahead"][1]["channels_by_past"][0]["r_squared"], 0.999)
        self.assertIn("closed loop", run.out)
        self.assertIn("theta.q − wanted: -8, 6\n", run.out)
        self.bad("held.csv:1: error: controller of 'theta.tau': there is no column 'wanted'\n"
                 "held.csv:1: error: controller of 'more': that is no torque or command of a motor", *words, *controller, "--controller",
                 "more: theta.q", "--columns", "t,theta.q,theta.tau,-,more")
        self.bad("error: controller: expected 'COMMAND: READING[@TARGET] … [+ADDED] [limit=U] [order=N]', found 'theta.tau'\n"
                 "error: controller: unknown key 'limt'; did you mean 'limit'?", *words, "--controller", "theta.tau",
                 "--controller", "theta.tau: theta.q limt=3")
        self.bad("error: controller: 'theta.tau' is given twice", *words, *controller, *controller)
        for column, name in ((2, "theta.tau"), (3, "wanted")):
            blank = [",".join("" if i and c == column else field for c, field in enumerate(row.split(","))) for i, row in enumerate(rows)]
            self.write("blank.csv", "\n".join(blank) + "\n")
            self.bad(f"blank.csv:1: error: controller of 'theta.tau': column '{name}' has no number in the time that is used",
                     *words, *controller, "--validate", "blank.csv")

    def test_compares_friction(self):
        found = json.loads(self.good("identify", "pendulum.yaml", "--log", "swing.csv", "--compare", "viscous,viscous+dry",
                                     "--json", "-").out)
        viscous, both = found["comparisons"]
        self.assertLess(both["bic"], viscous["bic"])
        self.assertLess(both["held_out"][0]["rmse"], viscous["held_out"][0]["rmse"])
        self.assertEqual([q["name"] for q in found["quantities"]], ["O.viscous", "O.dry"])

    def test_columns_by_option(self):
        lines = self.read("swing.csv").splitlines()[1:]
        self.write("plain.csv", "\n".join(line + ",7" for line in lines) + "\n")
        self.good("identify", "pendulum.yaml", "--log", "plain.csv", "--columns", "t,theta.q,-", "--free", "O.dry")

    def test_faults_of_options(self):
        self.bad("error: log: is needed: a recording of the motion\nerror: free: is needed: what is not known", "identify",
                 "pendulum.yaml")
        self.bad("error: bound: 'O.dri' is not free; did you mean 'O.dry'?\n"
                 "error: bound: expected name=low:high, found 'O.dry'\n"
                 "error: prior O.dry: must be > 0, is 0",
                 "identify", "pendulum.yaml", "--log", "swing.csv", "--free", "O.dry", "--bound", "O.dri=0:1", "--bound", "O.dry",
                 "--prior", "O.dry=0")
        self.bad("error: compliance: must be > 0, is 0", "identify", "pendulum.yaml", "--log", "swing.csv", "--free", "O.dry",
                 "--compliance", "0")
        self.bad("error: kappa: must be > 0, is -1\n"
                 "error: loss: must be one of none, huber, cauchy, tukey, is 'hubber'; did you mean 'huber'?",
                 "identify", "pendulum.yaml", "--log", "swing.csv", "--free", "O.dry", "--kappa", "-1", "--loss", "hubber")
        result = self.run_program("identify", "pendulum.yaml", "--log", "swing.csv", "--free", "O.drye")
        self.assertEqual((result.status, result.out), (2, ""))
        self.assertIn("did you mean 'O.dry'?", result.err)

    def test_faults_of_recordings(self):
        self.write("bad.csv", "t,encoder.w\n0,1\n0.1,2\n")
        result = self.run_program("identify", "pendulum.yaml", "--log", "bad.csv", "--free", "O.dry")
        self.assertEqual(result.status, 2)
        self.assertIn("bad.csv:1:3: error: column 'encoder.w' is neither a reading nor an input", result.err)

    def test_nothing_is_left_of_a_failure(self):
        self.swing("rest.csv", angle=-math.pi / 2, time=2.0)
        before = self.files()
        self.run_program("identify", "pendulum.yaml", "--log", "rest.csv", "--free", "O.dry", "--save", "fitted.set", "--out",
                         "motion.csv", "--json", "fit.json")
        self.assertEqual(self.files(), before)


class SettingsFiles(IdentifyCase):
    def test_every_verb_reads_them(self):
        self.write("long.set", "# another bar\nL = 0.8 m\nbar.mass = 2\n")
        found = json.loads(self.good("check", "pendulum.yaml", "--set", "@long.set", "--json", "-").out)
        self.assertEqual(found["mass"], 2)

    def test_what_the_line_says_counts(self):
        self.write("long.set", "bar.mass = 2\n")
        found = json.loads(self.good("check", "pendulum.yaml", "--set", "@long.set", "--set", "bar.mass=3", "--json", "-").out)
        self.assertEqual(found["mass"], 3)

    def test_faults_have_their_places(self):
        self.write("bad.set", "L = 1 m\nbar.mass 2\nO.dry = much\n")
        self.bad("bad.set:2:1: error: expected name = value, found 'bar.mass 2'\n"
                 "bad.set:3:9: error: expected a number, found the name 'much'", "check", "pendulum.yaml", "--set", "@bad.set")
        self.write("wrong.set", "L = 1 m\n  bar.mess = 2\n")
        result = self.run_program("check", "pendulum.yaml", "--set", "@wrong.set")
        self.assertEqual(result.status, 2)
        self.assertTrue(result.err.startswith("wrong.set:2:3: error: "), result.err)
        self.assertIn("did you mean 'bar.mass'?", result.err)
        self.bad("none.set: error: cannot read the file: no such file", "check", "pendulum.yaml", "--set", "@none.set")


if __name__ == "__main__":
    unittest.main(verbosity=2)
