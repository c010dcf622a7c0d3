"""Random machines through the program: numerics_test.py PROGRAM [SUITE.TEST ...]

KINEGRAPH_CASES is how many of each kind are tried; `make soak` tries 1000. What is checked does not rest on the solvers:
lengths of bars are measured in the table that was written, formulations are compared with each other, and torques with
those that were put in.
"""

import json
import math
import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from random_machines import Linkage, LoopRobot, Tree  # noqa: E402
from verbs import Cli  # noqa: E402

CASES = int(os.environ.get("KINEGRAPH_CASES", "15"))
LOOP_CASES = int(os.environ.get("KINEGRAPH_CASES", "50"))


class Random(Cli):
    def answer(self, *command):
        """The table and summary of a command, or None where it names a cause. Never a number that is none."""
        result = self.run_program(*command, "--out", "a.csv", "--json", "a.json", "--quiet", "--threads", "1")
        self.said = result.err
        if result.status != 0:
            self.assertEqual(result.status, 1, f"{command}: {result.err}")
            self.assertRegex(result.err, r"(^|\n)error: \w.{10,}")
            return None
        table, summary = self.read("a.csv"), self.read("a.json")
        self.assertIsNone(re.search(r"\b(nan|inf)\b", table + summary, re.IGNORECASE), command)
        names, rows = self.table("a.csv")
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}, json.loads(summary), result.err

    def bars_keep_their_length(self, machine, motion, tolerance):
        for a, b, _ in machine.bars:
            for i in range(len(motion["t"])):
                (xa, ya), (xb, yb) = ((motion[f"P{p}.x"][i], motion[f"P{p}.y"][i]) if f"P{p}.x" in motion else machine.points[p]
                                      for p in (a, b))
                self.assertAlmostEqual(math.hypot(xb - xa, yb - ya) / machine.length(a, b), 1, delta=tolerance)


class Linkages(Random):
    def test_formulations_agree_and_energy_is_kept(self):
        answered = 0
        for case in range(CASES):
            generator = random.Random(case)
            machine = Linkage(generator, loops=1 + case % 5)
            self.write("m.yaml", machine.yaml())
            with self.subTest(case=case):
                runs = [self.answer("simulate", "m.yaml", "--time", "0.1", "--step", "0.5ms", "--every", "20", *more)
                        for more in ([], ["--formulation", "independent"], ["--formulation", "screw"])]
                sound = [run for run in runs if run and run[1]["energy_drift"] < 1e-6 and not run[2]]
                answered += len(sound) == len(runs)
                for motion, _, _ in sound:
                    self.bars_keep_their_length(machine, motion, 1e-8)
                    for i in range(len(machine.points)):
                        for axis in (f"P{i}.x", f"P{i}.y"):
                            if axis in motion and axis in sound[0][0]:
                                self.assertAlmostEqual(motion[axis][-1], sound[0][0][axis][-1], delta=1e-5)
        self.assertGreater(answered, 0.8 * CASES)  # the rest passes a singular position, and says so

    def test_torques_come_back(self):
        """inverse(forward(τ)) = τ, the loops in the way."""
        answered = doubtful = 0
        for case in range(CASES):
            generator = random.Random(1000 + case)
            machine = Linkage(generator, loops=1 + case % 5)
            self.write("m.yaml", machine.yaml())
            torque = generator.uniform(-20, 20)
            self.write("u.csv", f"t,theta.tau\n0,{torque!r}\n1,{torque!r}\n")
            with self.subTest(case=case):
                forward = self.answer("simulate", "m.yaml", "--time", "0.05", "--step", "0.5ms", "--input", "u.csv")
                if not forward or forward[2] or forward[1]["energy_drift"] > 1e-6:
                    continue
                angle = forward[0]["theta.q"]
                self.write("motion.csv", "t,theta.q\n" + "".join(f"{0.0005 * i:.4f},{value!r}\n" for i, value in enumerate(angle)))
                inverse = self.answer("inverse", "m.yaml", "--motion", "motion.csv")
                if not inverse or "singular position" in inverse[2]:
                    self.assertIn("singular position", self.said)
                    doubtful += 1
                    continue
                middle = inverse[0]["theta.tau"][30:-30]  # the ends of a differentiated table are less certain
                self.assertLess(max(abs(value - torque) for value in middle), 2e-3 * (1 + abs(torque)))
                answered += 1
        self.assertGreater(answered, 0.8 * CASES)
        self.assertLessEqual(doubtful, math.ceil(0.03 * CASES))

    def test_bad_scales(self):
        """Masses from 1e-6 to 1e6, lengths from 1e-6 to 1e3: an answer that holds, or a cause."""
        answered = 0
        for case in range(CASES):
            generator = random.Random(2000 + case)
            scale = 10 ** generator.uniform(-6, 3)
            machine = Linkage(generator, loops=1 + case % 5, masses=(1e-6, 1e6), scale=scale)
            self.write("m.yaml", machine.yaml())
            pace = 1e-3 * math.sqrt(scale)  # a thousandth of the time in which it falls its own size
            for command in (["simulate", "m.yaml", "--time", repr(50 * pace), "--step", repr(pace)], ["kinematics", "m.yaml"]):
                with self.subTest(case=case, command=command[0], scale=scale):
                    run = self.answer(*command)
                    answered += bool(run)
                    if run:
                        motion = run[0] if "t" in run[0] else {"t": [0.0], **run[0]}
                        self.bars_keep_their_length(machine, motion, 1e-6)
        self.assertGreater(answered, 1.5 * CASES)

    def test_what_cannot_be_assembled_is_named(self):
        for case in range(CASES // 5):
            generator = random.Random(3000 + case)
            machine = Linkage(generator, loops=1 + case % 5)
            a, b, _ = machine.bars[-1]
            text = machine.yaml().replace(f"length: {machine.length(a, b)!r}", "length: 1000")
            self.write("m.yaml", text)
            for verb in ("check", "kinematics", "simulate"):
                result = self.run_program(verb, "m.yaml")
                self.assertEqual(result.status, 1, result.err)
                self.assertRegex(result.err, r"bar\d+|P\d+")


class Robots(Random):
    def test_torques_come_back(self):
        """inverse(forward(τ)) = τ at random positions and speeds."""
        for case in range(CASES):
            generator = random.Random(4000 + case)
            robot = Tree(generator, joints=1 + case % 8)
            self.write("r.urdf", robot.text)
            torques = {name: generator.uniform(-10, 10) for name in robot.names}
            state = {name: (generator.uniform(-2, 2), generator.uniform(-3, 3)) for name in robot.names}
            known = ["t"] + [f"{name}.{part}" for name in robot.names for part in ("q", "v", "tau")]
            values = ["0"] + [repr(value) for name in robot.names for value in (*state[name], torques[name])]
            self.write("known.csv", ",".join(known) + "\n" + ",".join(values) + "\n")
            with self.subTest(case=case):
                forward = self.answer("hybrid", "r.urdf", "--known", "known.csv")
                self.assertIsNotNone(forward)
                parts = [(name, part) for name in robot.names for part in ("q", "v", "a")]
                self.write("motion.csv", "t," + ",".join(f"{name}.{part}" for name, part in parts) + "\n0," +
                           ",".join(repr(forward[0][f"{name}.{part}"][0]) for name, part in parts) + "\n")
                inverse = self.answer("inverse", "r.urdf", "--motion", "motion.csv")
                self.assertIsNotNone(inverse)
                largest = max(abs(torque) for torque in torques.values())
                for name, torque in torques.items():
                    self.assertAlmostEqual(inverse[0][f"{name}.tau"][0], torque, delta=1e-9 * (1 + largest))

    def test_energy_is_kept(self):
        kept = 0
        for case in range(CASES):
            generator = random.Random(5000 + case)
            self.write("r.urdf", Tree(generator, joints=1 + case % 8).text)
            with self.subTest(case=case):
                run = self.answer("simulate", "r.urdf", "--time", "0.2", "--step", "0.5ms", "--every", "100")
                if not run:
                    continue
                kept += run[1]["energy_drift"] < 1e-8
                if run[1]["energy_drift"] > 1e-3:
                    self.assertIn("warning", run[2])
        self.assertGreater(kept, 0.8 * CASES)

    def test_bad_scales(self):
        for case in range(CASES):
            generator = random.Random(6000 + case)
            scale = 10 ** generator.uniform(-6, 3)
            self.write("r.urdf", Tree(generator, joints=1 + case % 8, masses=(1e-6, 1e6), scale=scale).text)
            pace = 1e-3 * math.sqrt(scale)
            with self.subTest(case=case, scale=scale):
                self.answer("simulate", "r.urdf", "--time", repr(50 * pace), "--step", repr(pace))


class Loops(Random):
    """Trees with one to three loops, of which some are flat: they have more constraints than they need."""

    def draw(self, seed, case, bent=True):
        generator = random.Random(seed + case)
        robot = LoopRobot(generator, joints=1 + case % 4, loops=1 + case % 3, bent=bent)
        self.write("r.urdf", robot.text)
        self.write("r.loops.yaml", robot.loops)
        return generator, robot

    def loops_stay_closed(self, robot, motion, tolerance):
        """Measured in the poses of the links, not by the solver."""
        def place(link, point, i):
            w, *u = (motion[f"{link}.{part}"][i] for part in ("qw", "qx", "qy", "qz"))
            across = [u[(k + 1) % 3] * point[(k + 2) % 3] - u[(k + 2) % 3] * point[(k + 1) % 3] for k in range(3)]
            return [motion[f"{link}.{axis}"][i] + point[k] + 2 * (w * across[k] + u[(k + 1) % 3] * across[(k + 2) % 3] -
                                                                  u[(k + 2) % 3] * across[(k + 1) % 3])
                    for k, axis in enumerate("xyz")]

        for link, point, other, there in robot.closings:
            for i in range(len(motion["t"])):
                self.assertLess(math.dist(place(link, point, i), place(other, there, i)), tolerance)

    def test_formulations_agree_and_energy_is_kept(self):
        answered = 0
        for case in range(LOOP_CASES):
            _, robot = self.draw(7000, case)
            command = ["simulate", "r.urdf", "--time", "0.1", "--step", "0.5ms", "--every", "50", "--poses"]
            with self.subTest(case=case):
                hard = self.answer(*command)
                soft = self.answer(*command, "--formulation", "maximal", "--compliance", "1e-10")
                if not hard or not soft or hard[2] or soft[2]:
                    continue
                answered += 1
                self.assertLess(hard[1]["energy_drift"], 1e-8)
                self.loops_stay_closed(robot, hard[0], 1e-9)
                self.loops_stay_closed(robot, soft[0], 1e-6)
                for name in robot.names:
                    self.assertAlmostEqual(hard[0][f"{name}.q"][-1], soft[0][f"{name}.q"][-1], delta=1e-4)
        self.assertGreater(answered, 0.8 * LOOP_CASES)  # the rest passes a singular position, and says so

    def torques_come_back(self, seed, cases, seconds, bent):
        """inverse(forward(τ)) = τ, told the motion of the motors only, on the branch of the forward run: within the digits that
        the program says it has. Of how many it says that the motion does not tell."""
        doubtful = 0
        for case in range(cases):
            generator, robot = self.draw(seed, case, bent)
            torques = {name: generator.uniform(-3, 3) for name in robot.motors}
            given = ",".join(map(repr, torques.values()))
            self.write("u.csv", "t," + ",".join(f"{name}.tau" for name in torques) + f"\n0,{given}\n1,{given}\n")
            with self.subTest(case=case):
                forward = self.answer("simulate", "r.urdf", "--time", seconds, "--step", "0.5ms", "--input", "u.csv")
                self.assertIsNotNone(forward, self.said)
                columns = ["t"] + [f"{name}.{part}" for name in torques for part in ("q", "v", "a")]
                rows = zip(*(forward[0][column] for column in columns))
                self.write("motion.csv", "\n".join([",".join(columns)] + [",".join(map(repr, row)) for row in rows]) + "\n")
                inverse = self.answer("inverse", "r.urdf", "--motion", "motion.csv", "--actuators", ",".join(torques))
                if not inverse:
                    self.assertIn("singular position", self.said)
                    doubtful += 1
                    continue
                doubt = inverse[1]["torque_doubt"]
                if doubt > 1e-3:
                    self.assertIn("singular position", self.said)
                for name in robot.names:
                    for found, right in zip(inverse[0][f"{name}.q"], forward[0][f"{name}.q"]):
                        self.assertAlmostEqual(found, right, delta=1e-6)
                digits = 1e-5 if "singular position" in self.said else 1e-6  # of the elimination itself
                for name, torque in torques.items():
                    for found in inverse[0][f"{name}.tau"]:
                        self.assertAlmostEqual(found, torque, delta=digits + 20 * doubt)
        return doubtful

    def test_torques_come_back(self):
        self.assertLessEqual(self.torques_come_back(8000, LOOP_CASES, "0.05", True), math.ceil(0.01 * LOOP_CASES))

    def test_torques_come_back_from_stretched_legs(self):
        self.assertLessEqual(self.torques_come_back(9000, LOOP_CASES, "0.05", False), math.ceil(0.02 * LOOP_CASES))

    def test_torques_come_back_from_long_runs(self):
        """In which many legs pass stretched positions, where one row may be so near that nothing is left of its torques."""
        cases = LOOP_CASES // 5
        self.assertLessEqual(self.torques_come_back(10000, cases, "0.3", False), math.ceil(0.2 * cases))


if __name__ == "__main__":
    unittest.main()
