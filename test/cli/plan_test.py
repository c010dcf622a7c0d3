"""The verb plan, as a user meets it: plan_test.py PROGRAM [SUITE.TEST ...]"""

import json
import math
import os
import re
import resource
import unittest

from program import Cli

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")

ARM = """\
<robot name="arm">
  <link name="ground"/>
  <link name="upper">
    <inertial><origin xyz="0.25 0 0"/><mass value="2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial>
    <collision><origin xyz="0.25 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.04" length="0.5"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0.2 0 0"/><mass value="1"/>
      <inertia ixx="0.005" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.06 0.06"/></geometry></collision>
  </link>
  <link name="tip"/>
  <joint name="shoulder" type="revolute">
    <parent link="ground"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="60" velocity="10"/>
    <dynamics damping="0.1" friction="{friction}"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="lower"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5" effort="30" velocity="10"/>
    <dynamics damping="0.1" friction="{friction}"/>
  </joint>
  <joint name="mount" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz="0.4 0 0"/></joint>
</robot>
"""

REACH = """\
model: arm.urdf
horizon: 1
steps: 20
start: {joints: {elbow: 0.5}}
goals:
  - {name: there, time: 1, frame: tip, position: [0.3, free, 0.5], rest: true}
objectives:
  - {type: torque, sigma: 10}
  - {type: smoothness, sigma: 10}
"""


class Plan(Cli):
    def setUp(self):
        super().setUp()
        self.write("arm.urdf", ARM.replace("{friction}", "0"))
        self.write("task.yaml", REACH)

    def seconds(self, run):
        """Of the processor: the machine may be busy."""
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start

    def summary(self, *arguments):
        self.good("plan", *arguments, "--json", "s.json")
        return json.loads(self.read("s.json"))

    def test_a_plan_its_table_its_page_and_its_roll_out(self):
        result = self.good("plan", "task.yaml", "--out", "p.csv", "--json", "s.json", "--report", "p.html", "--motion", "m.csv")
        self.assertIn("converged", result.out)
        names, rows = self.table("p.csv")
        self.assertEqual(names, ["t"] + [f"{j}.{x}" for x in ("q", "v", "a", "tau") for j in ("shoulder", "elbow")])
        self.assertEqual(len(rows), 21)
        last = dict(zip(names, rows[-1]))
        x = 0.5 * math.cos(last["shoulder.q"]) + 0.4 * math.cos(last["shoulder.q"] + last["elbow.q"])
        z = -0.5 * math.sin(last["shoulder.q"]) - 0.4 * math.sin(last["shoulder.q"] + last["elbow.q"])
        self.assertAlmostEqual(x, 0.3, places=8)
        self.assertAlmostEqual(z, 0.5, places=8)
        self.assertAlmostEqual(last["elbow.v"], 0, places=8)
        self.assertEqual(len(self.table("m.csv")[1]), 201)
        summary = json.loads(self.read("s.json"))
        self.assertTrue(summary["converged"])
        self.assertLess(summary["violation_max"], 1e-9)
        self.assertEqual(summary["misses"][0]["goal"], "there")
        self.assertIn("<html", self.read("p.html"))

    def test_a_plan_starts_from_another(self):
        self.good("plan", "task.yaml", "--out", "p.csv")
        first, again = self.summary("task.yaml"), self.summary("task.yaml", "--guess", "p.csv")
        self.assertLessEqual(again["iterations"], first["iterations"])
        self.assertAlmostEqual(again["cost"], first["cost"], delta=1e-6 * first["cost"])
        self.write("task.yaml", REACH + "guess: {type: csv, file: p.csv}\n")
        self.assertAlmostEqual(self.summary("task.yaml")["cost"], first["cost"], delta=1e-6 * first["cost"])

    def test_planning_again_from_another_start_goes_on_from_the_old_plan(self):
        def iterations(*options):
            return len(re.findall(r"^ *(?:warm start|search) ", self.run_program("plan", "task.yaml", "--verbose", *options).err, re.M))

        limited = REACH.replace("steps: 20", "steps: 40") + "obstacles: [{name: ball, type: sphere, at: [0.8, 0, 0.3], radius: 0.1}]\n"
        self.write("task.yaml", limited)
        self.good("plan", "task.yaml", "--out", "p.csv")
        self.write("task.yaml", limited.replace("elbow: 0.5", "elbow: 0.53, shoulder: -0.02"))
        self.assertLess(iterations("--guess", "p.csv", "--out", "again.csv"), 0.85 * iterations())
        names, rows = self.table("again.csv")
        self.assertEqual(dict(zip(names, rows[0]))["elbow.q"], 0.53)

    def test_goals_that_hold_at_one_time(self):
        head = "model: arm.urdf\nhorizon: 2\nsteps: 20\nobjectives: [{type: torque, sigma: 10}]\ngoals:\n  - {name: hold, time: 1, until: 2, joints: {elbow: 0.5}}\n"
        self.write("task.yaml", head + "  - {name: way, time: 1.5, joints: {elbow: 0.5, shoulder: -0.1}}\n")
        self.good("plan", "task.yaml")
        self.write("task.yaml", head + "  - {name: way, time: 1.5, joints: {elbow: 0.6}}\n")
        self.bad("task.yaml:7:37: error: cannot be met: way: elbow.q at t = 1.5 s is 0.6 rad, of hold 0.5 rad: off by 0.1 rad", "plan", "task.yaml", status=1)

    def test_the_page_draws_limits_as_the_plan_takes_them(self):
        self.write("task.yaml", REACH + "limits: [{joint: elbow, position: [-3.125, 3.125]}]\n")  # the model's: 2.5
        self.good("plan", "task.yaml", "--report", "p.html")
        self.assertIn('"limits":[-3.125,3.125]', self.read("p.html"))

    def test_shapes_have_no_numbers_that_they_do_not_use(self):
        self.write("task.yaml", REACH + "obstacles: [{name: ball, type: sphere, at: [2, 2, 2], radius: 0.1, size: [1, 1, 1], length: 3, normal: [0, 0, 1]}]\n"
                   "solids: [{link: tip, type: box, size: [0.1, 0.1, 0.1], radius: 1}]\npayload: {link: tip, mass: 1, at: [0, 0, 1]}\n")
        self.bad(
            "task.yaml:10:93: error: length: of no use to a sphere\n"
            "task.yaml:10:74: error: size: of no use to a sphere\n"
            "task.yaml:10:104: error: normal: of no use to a sphere\n"
            "task.yaml:11:64: error: radius: of no use to a box\n"
            "task.yaml:12:35: error: at: of no use without a type of shape",
            "plan", "task.yaml")

    def test_a_payload_of_every_shape_is_kept_clear(self):
        self.write("wedge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
        for shape in ("radius: 0.1", "type: capsule, radius: 0.05, length: 0.1", "type: cylinder, radius: 0.05, length: 0.2",
                      "type: box, size: [0.1, 0.2, 0.1]", "type: mesh, file: wedge.obj, scale: 0.15"):
            self.write("task.yaml", REACH + "obstacles: [{name: thing, type: sphere, at: [0.9, 0, 0.45], radius: 0.1}]\ncollision: {links: [lower]}\n"
                       f"payload: {{link: tip, mass: 0.5, {shape}}}\n")
            summary = self.summary("task.yaml")
            self.assertGreater(summary["clearance_min"], 0.01 - 1e-6, shape)

    def test_a_payload_is_a_body(self):
        for inertia in ("[-1, 0, 5]", "[0.1, 0.1, 0.3]"):
            self.write("task.yaml", REACH + f"payload: {{link: tip, mass: 1, inertia: {inertia}}}\n")
            self.bad("task.yaml:10:40: error: inertia: no body has it: none is < 0, and none larger than the other two together", "plan", "task.yaml")

    def test_a_start_that_is_too_fast_is_told(self):
        self.write("task.yaml", REACH.replace("start: {", "start: {rates: {shoulder: 60}, "))
        result = self.run_program("plan", "task.yaml")
        self.assertEqual(result.status, 1)
        self.assertIn("error: the start has shoulder.v = 60 rad/s, beyond its limit 10 rad/s\n", result.err)

    def test_soft_dynamics_cost_less_and_miss(self):
        hard, soft = self.summary("task.yaml"), self.summary("task.yaml", "--soft", "1e-2")
        self.assertLess(soft["cost"], hard["cost"])
        self.assertGreater(soft["miss_max"], hard["miss_max"])

    def test_soft_without_an_answer_says_so(self):
        result = self.run_program("plan", "task.yaml", "--soft", "1e-3", "--max-iterations", "1")
        self.assertEqual(result.status, 1)
        self.assertIn("no plan: not converged in 1 iterations", result.err)

    def test_out_of_reach(self):
        self.write("task.yaml", REACH.replace("[0.3, free, 0.5]", "[0.3, free, 1.5]"))

        def run():
            result = self.run_program("plan", "task.yaml", "--out", "p.csv")
            self.assertEqual((result.status, result.out), (1, ""))
            self.assertRegex(result.err, r"cannot be met: there: tip.* at t = 1 s: off by 0\.\d")

        self.assertLess(self.seconds(run), 5)
        self.assertNotIn("p.csv", self.files())

    def test_too_weak_to_hold_itself(self):
        self.write("task.yaml", REACH + "limits: [{joint: shoulder, torque: 2}]\n")

        def run():
            result = self.run_program("plan", "task.yaml")
            self.assertEqual(result.status, 1)
            self.assertRegex(result.err, r"not met: (limit: shoulder.tau|there: ).* at t = .* s: off by ")
            self.assertRegex(result.err, r"to stand still at t = .* s takes .* N m of shoulder.tau, its limit is 2 N m")

        self.assertLess(self.seconds(run), 5)

    def test_a_goal_beyond_a_limit_needs_no_search(self):
        self.write("task.yaml", "model: arm.urdf\nhorizon: 1\nsteps: 20\nlimits: [{joint: elbow, position: [-1, 1]}]\n"
                   "goals:\n  - {name: there, time: 1, joints: {elbow: 1.5}}\n")
        self.bad("task.yaml:6:37: error: cannot be met: there: elbow.q at t = 1 s is 1.5 rad, its limit 1 rad: off by 0.5 rad", "plan", "task.yaml",
                 status=1)

    def test_a_start_outside_its_limits_is_given(self):
        self.write("task.yaml", REACH + "limits: [{joint: elbow, position: [0.55, 2.5]}]\n")
        summary = self.summary("task.yaml")
        self.assertEqual((summary["limit_excess_max"], summary["rounds"]), (0, 1))

    def test_obstacles_of_all_shapes_are_kept_clear_of(self):
        self.write("wedge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
        shapes = {
            "sphere": "radius: 0.1",
            "capsule": "radius: 0.08, length: 0.1",
            "cylinder": "radius: 0.08, length: 0.2, rpy: [90deg, 0, 0]",
            "box": "size: [0.15, 0.2, 0.15], rpy: [0, 30deg, 0]",
            "mesh": "file: wedge.obj, scale: 0.2",
        }
        for shape, keys in shapes.items():
            self.write("task.yaml", REACH + f"obstacles: [{{name: thing, type: {shape}, at: [0.85, 0, 0.35], {keys}}}]\ncollision: {{margin: 2cm}}\n")
            summary = self.summary("task.yaml")
            self.assertGreater(summary["clearance_min"], 0.02 - 1e-6, shape)

    def test_dry_friction(self):
        self.write("arm.urdf", ARM.replace("{friction}", "0.3"))
        self.write("task.yaml", REACH.replace("steps: 20", "steps: 80"))
        summary = self.summary("task.yaml")
        self.assertTrue(summary["converged"])
        self.assertEqual(summary["friction_speed"], 0.05)
        sharp = REACH.replace("steps: 20", "steps: 20\nfriction_speed: 1")
        self.write("task.yaml", sharp)
        result = self.run_program("plan", "task.yaml", "--json", "s.json")
        self.assertEqual(json.loads(self.read("s.json"))["friction_speed"], 1)
        self.assertRegex(result.err, r"^warning: rolled out open loop, tip misses goal there by 0\.[0-9]+ m at 1 s: its dry friction is sharp, the plan "
                         r"rounds it off over 1 rad/s or m/s \(friction_speed\), or follow the plan with feedback\n$")

    def test_faults_of_a_task_have_their_places(self):
        self.write("task.yaml", REACH.replace("frame: tip", "frame: tap") + "limits: [{joint: elbo, torque: 2}]\n")
        self.bad(
            "task.yaml:10:18: error: unknown joint 'elbo'; did you mean 'elbow'?\n"
            "task.yaml:6:35: error: unknown link 'tap'; did you mean 'tip'?",
            "plan",
            "task.yaml",
        )
        self.write("task.yaml", REACH.replace("horizon: 1", "horizont: 1"))
        self.bad(
            "task.yaml:2:1: error: unknown key 'horizont' of a task; did you mean 'horizon'?\n"
            "task.yaml:1:1: error: missing key 'horizon' of a task: s, how long the motion lasts",
            "plan",
            "task.yaml",
        )
        self.write("task.yaml", REACH.replace("time: 1,", "time: 0,"))
        self.bad("task.yaml:6:5: error: time: a goal at 0 is the start's business; give it there", "plan", "task.yaml")

    def test_faults_of_options(self):
        self.bad("error: soft: must be >= 0, is -1", "plan", "task.yaml", "--soft", "-1")
        self.bad("error: motion: there is none without a roll-out", "plan", "task.yaml", "--roll-out", "0", "--motion", "m.csv")
        self.bad("error: out, motion: both name the file 'm.csv'", "plan", "task.yaml", "--out", "m.csv", "--motion", "m.csv")
        self.bad("error: out: names the file 'task.yaml' that the command reads", "plan", "task.yaml", "--out", "task.yaml")
        self.bad("error: expected a task file: kinegraph plan TASK [options]", "plan")
        self.assertIn("Usage: kinegraph plan TASK [options]", self.good("plan", "--help").out)

    def test_names_of_contacts_are_their_own(self):
        contact = "{name: foot, link: tip, closed: [[0, 1]]}"
        self.write("task.yaml", REACH + f"contacts: [{contact}, {contact}]\n")
        result = self.run_program("plan", "task.yaml")
        self.assertEqual(result.status, 2)
        self.assertIn("error: another contact is named 'foot'", result.err)


class CartPole(Cli):
    """The swing-ups of 2 s and 6 s: stationary points found independently cost 777.0301 and 1419.2494."""

    def test_the_forces_really_do_it(self):
        for file, cost in (("cart_pole_swing_up", 777.0301), ("cart_pole_twice", 1419.2494)):
            self.good("plan", os.path.join(MODELS, f"tasks/{file}.yaml"), "--json", "s.json")
            summary = json.loads(self.read("s.json"))
            self.assertLess(summary["cost"], 1.001 * cost)
            self.assertLess(summary["violation_max"], 1e-9)
            self.assertLess(summary["miss_max"], 5e-3)


    def test_other_masses_times_and_rules_of_integration(self):
        """As far as a fifth from those tasks; they cost what a search from another start finds, too."""
        task = ("model: {model}\nhorizon: {horizon}\nsteps: {steps}\ncollocation: {rule}\nmodel_limits: false\npassive: [pole]\n"
                "start: {{joints: {{cart: {cart}, pole: {pole}}}}}\ngoals:\n  - {{time: {horizon}/2, joints: {{cart: {right}, pole: pi}}, rest: true}}\n"
                "  - {{time: {horizon}, joints: {{cart: {left}, pole: -pi}}, rest: true}}\n"
                "objectives: [{{type: torque, sigma: {sigma}}}]\nguess: {{type: rest}}\n")
        model = os.path.abspath(os.path.join(MODELS, "cart_pole.urdf"))
        for rule, horizon, steps, cart, pole, right, left, sigma, masses in (
                ("hermite-simpson", 5.24, 534, -0.035, -0.282, 1.15, -1.12, 16.1, (22.07, 0.354, -0.1727)),
                ("hermite-simpson", 7, 686, -0.11, -0.003, 0.93, -0.83, 23.4, (22.23, 0.3325, -0.1608))):
            self.write("task.yaml", task.format(model=model, rule=rule, horizon=horizon, steps=steps, cart=cart, pole=pole, right=right, left=left, sigma=sigma))
            names = ("cart_body.mass", "pole_body.mass", "pole_body.com_z")
            sets = [word for name, value in zip(names, masses) for word in ("--set", f"{name}={value}")]
            self.good("plan", "task.yaml", "--refine", "0", "--json", "s.json", *sets)
            self.assertLess(json.loads(self.read("s.json"))["violation_max"], 1e-9)


class Hopper(Cli):
    """A leg on two slides that stand for a base: no motor moves them."""

    def setUp(self):
        super().setUp()
        limb = ('<link name="{0}"><inertial><origin xyz="0 0 {2}"/><mass value="{1}"/>'
                '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>')
        slide = '<joint name="{0}" type="prismatic"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/><limit lower="-9" upper="9" effort="1" velocity="99"/></joint>'
        turn = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 {3}"/><axis xyz="0 1 0"/></joint>'
        self.write("hopper.urdf", '<robot name="hopper"><link name="world"/>' + limb.format("carriage", 0.1, 0) + limb.format("torso", 5, 0)
                   + limb.format("thigh", 0.8, -0.15) + limb.format("shank", 0.4, -0.15) + slide.format("x", "world", "carriage", "1 0 0")
                   + slide.format("z", "carriage", "torso", "0 0 1") + turn.format("hip", "torso", "thigh", 0) + turn.format("knee", "thigh", "shank", -0.3)
                   + "</robot>")

    def task(self, contact, more=""):
        self.write("task.yaml", "model: hopper.urdf\nhorizon: 1\nsteps: 40\npassive: [x, z]\nstart: {joints: {z: 0.52655, hip: -0.5, knee: 1}}\n"
                   "goals: [{name: low, time: 1, joints: {z: 0.45}, rest: true}]\nobjectives: [{type: torque, sigma: 20}]\n"
                   f"contacts: [{{name: foot, link: shank, point: [0, 0, -0.3]{contact}}}]\n{more}")

    def test_all_is_at_rest_where_a_foot_stands(self):
        self.task("")
        self.good("plan", "task.yaml", "--roll-out", "0", "--out", "p.csv")
        names, rows = self.table("p.csv")
        last = dict(zip(names, rows[-1]))
        for joint in ("x", "z", "hip", "knee"):  # those of the leg follow, as far as the foot does not drift
            self.assertLess(abs(last[f"{joint}.v"]), 1e-2, joint)

    def test_contacts_that_make_no_sense(self):
        self.task(", closed: []")
        self.bad("task.yaml:8:67: error: closed: there are no intervals; a contact that never stands is none", "plan", "task.yaml")
        self.task("", "gait: {order: [foot, foot], cycle: 0.5}\n")
        result = self.run_program("plan", "task.yaml")
        self.assertEqual(result.status, 2)
        self.assertIn("task.yaml:9:22: error: contact 'foot' is lifted twice in a cycle; make it half as long", result.err)


class OnFeet(Cli):
    """A robot of twelve joints on four feet."""

    JOINTS = ", ".join(f"{leg}_flexion: 0.75, {leg}_knee: -1.5" for leg in ("fl", "fr", "rl", "rr"))

    def task(self, start="", rates="", height=0.2419, limits=""):
        contacts = "".join(f"  - {{name: {leg}, link: {leg}_foot, friction: 0.7}}\n" for leg in ("fl", "fr", "rl", "rr"))
        self.write(
            "task.yaml",
            f"model: {os.path.abspath(MODELS)}/quadruped.urdf\nbase: floating\nhorizon: 1\nsteps: 30\ncollocation: hermite-simpson\ndry_friction: false\n"
            f"start: {{{start}joints: {{{self.JOINTS}}}{rates}}}\ncontacts:\n{contacts}{limits}"
            f"goals:\n  - {{name: low, time: 0.5, frame: trunk, position: [free, free, {height}], tolerance: 2mm}}\n"
            "  - {name: up, time: 1, frame: trunk, position: [0, 0, 0.3219], rpy: [0, 0, 0], tolerance: 2mm, rest: true}\n"
            "  - {name: upright, time: 0, until: 1, frame: trunk, rpy: [0, 0, 0], sigma: 0.05}\n"
            "objectives:\n  - {type: torque, sigma: 50}\n  - {type: acceleration, sigma: 50}\n",
        )

    def test_feet_stand_on_the_ground_from_the_start(self):
        self.task()
        self.good("plan", "task.yaml", "--roll-out", "0")
        for height, how in ((0.3319, "0.009957 m above it"), (0.3119, "0.01004 m below it")):
            self.task(start=f"base: [0, 0, {height}], ")
            self.bad("\n".join(f"task.yaml:{line}:5: error: contact '{leg}': stands on its ground from the start, where it is {how}"
                               for line, leg in enumerate(("fl", "fr", "rl", "rr"), 9)), "plan", "task.yaml")
        self.task(start="base: [0, 0, 0.3224], ")  # half a millimetre
        self.good("plan", "task.yaml", "--roll-out", "0")
        self.task(rates=", rates: {fl_flexion: 1}")
        result = self.run_program("plan", "task.yaml")
        self.assertEqual(result.status, 2)
        self.assertRegex(result.err, r"task.yaml:9:5: error: contact 'fl': stands on its ground from the start, where it moves at 0\.[0-9]+ m/s\n")

    def test_a_goal_out_of_reach_of_the_feet_needs_no_search(self):
        self.task(height=1.2419)
        self.bad("error: no plan: no position within the joints' limits, with what stands in its place, reaches a goal\n"
                 "error: cannot be met: low: trunk: z at t = 0.5 s: off by 0.8 m", "plan", "task.yaml", status=1)

    def test_too_weak_to_stand(self):
        self.task(limits="limits: [{joint: all, torque: 3}]\n")
        result = self.run_program("plan", "task.yaml")
        self.assertEqual(result.status, 1)
        for leg in ("fl", "fr", "rl", "rr"):
            self.assertIn(f"error: to stand still at t = 0 s takes 6.142 N m of {leg}_knee.tau, its limit is 3 N m\n", result.err)
        self.assertRegex(result.err, r"not met: limit: .*_knee.tau below its upper limit .* at t = .* s: off by ")
        self.assertNotIn("not met: acceleration of", result.err)  # contacts are laws
        self.assertLess(int(re.search(r" in ([0-9]+) iterations", result.err)[1]), 200)  # comes no nearer: given up


class Pick(Cli):
    """The arm of seven joints: from the floor, round a post, set upright."""

    def check(self, *options, task=os.path.join(MODELS, "tasks/arm_pick.yaml")):
        result = self.run_program("plan", task, "--json", "s.json", *options)
        self.assertEqual(result.status, 0)
        summary = json.loads(self.read("s.json"))
        self.assertTrue(summary["converged"])
        self.assertLess(summary["violation_max"], 1e-9)
        self.assertLess(summary["limit_excess_max"], 1e-6)
        self.assertGreater(summary["clearance_min"], 0.01 - 1e-6)
        for miss in summary["misses"]:
            self.assertLess(miss["plan"], 1e-8)
        return result, summary

    def test_too_weak_an_arm_is_told_within_seconds(self):
        """Torques below gravity on 200 steps: what a search leaves whose violation comes no nearer."""
        task = self.text_of("tasks/arm_pick.yaml").replace("steps: 80", "steps: 200").replace("velocity: 2", "velocity: 2, torque: 10")
        self.write("task.yaml", task.replace("../arm7.urdf", os.path.abspath(os.path.join(MODELS, "arm7.urdf"))))
        result = self.run_program("plan", "task.yaml", "--threads", "1")
        self.assertEqual(result.status, 1)
        self.assertLess(int(re.search(r" in ([0-9]+) iterations", result.err)[1]), 150)
        self.assertIn("error: to stand still at t = 0 s takes 32.72 N m of joint2.tau, its limit is 10 N m\n", result.err)

    def text_of(self, file):
        with open(os.path.join(MODELS, file), encoding="utf-8") as opened:
            return opened.read()

    def test_least_torque_takes_less(self):
        """Of the joints that carry the block, at equal duration and smoothness: a fifth less at least."""
        def squares(sigma):
            task = self.text_of("tasks/arm_pick.yaml").replace("{type: torque, sigma: 10}", f"{{type: torque, sigma: {sigma}}}")
            self.write("task.yaml", task.replace("../arm7.urdf", os.path.abspath(os.path.join(MODELS, "arm7.urdf"))))
            self.run_program("plan", "task.yaml", "--refine", "0", "--json", "s.json")
            summary = json.loads(self.read("s.json"))
            return sum(summary["torque_square"][summary["torques"].index(f"joint{i}.tau")] for i in (2, 4))

        self.assertLess(squares(10), 0.8 * squares(1000))

    def test_limits_and_clearance_hold_between_the_knots(self):
        result, _ = self.check("--refine", "0")
        self.assertRegex(result.err, r"^warning: rolled out open loop, tool rotation misses goal pick by [0-9.]+ rad at 1.6 s: .*\n$")

    def test_the_roll_out_follows(self):
        task = self.text_of("tasks/arm_pick.yaml") + "dry_friction: false\n"
        self.write("task.yaml", task.replace("../arm7.urdf", os.path.abspath(os.path.join(MODELS, "arm7.urdf"))))
        result, summary = self.check(task="task.yaml")
        self.assertEqual(result.err, "")
        self.assertGreater(summary["corrections"], 0)
        self.assertNotEqual(summary["cost"], summary["cost_planned"])
        self.assertLess(summary["miss_max"], 1e-3)

    def test_sharp_friction_is_rolled_out_and_told(self):
        result, summary = self.check()
        self.assertGreater(summary["corrections"], 0)
        self.assertRegex(result.err, r"^warning: rolled out open loop, tool rotation misses goal place by [0-9.]+ rad at 4 s: its dry friction is sharp, "
                         r"the plan rounds it off over 0.05 rad/s or m/s \(friction_speed\), or follow the plan with feedback\n$")


if __name__ == "__main__":
    unittest.main()
