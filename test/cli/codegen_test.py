"""The verb codegen and --compiled, as a user meets them: codegen_test.py PROGRAM [SUITE.TEST ...]"""

import json
import os
import re
import shutil
import subprocess
import unittest

from program import PENDULUM, Cli

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models")


class Codegen(Cli):
    def setUp(self):
        super().setUp()
        self.write("pendulum.urdf", PENDULUM)

    def test_writes_a_header_that_compiles(self):
        text = self.good("codegen", "pendulum.urdf", "--problem", "forward", "--out", "p.hpp").out
        self.assertRegex(text, r"(?m)^  function +pendulum_forward$")
        self.assertIn("wrote p.hpp", text)
        self.assertIn("inline double pendulum_forward(const double* q, const double* v, const double* tau, double* out)",
                      self.read("p.hpp"))
        if shutil.which("g++"):
            self.write("main.cpp", '#include "p.hpp"\nint main() { double x[1] = {0}, y[1]; return pendulum_forward(x, x, x, y) > 0 ? 0 : 1; }\n')
            subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"], cwd=self.folder, check=True)
            subprocess.run([os.path.join(self.folder, "main")], check=True)

    def test_joints_that_follow_leave_nothing_unused(self):
        """The angle of such a joint is computed before all else: no block computes it again."""
        follower = PENDULUM.replace("</robot>", """
<link name="tip"><inertial><mass value="1"/><origin xyz="0.1 0 0"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
<joint name="follower" type="revolute"><parent link="bob"/><child link="tip"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/>
  <mimic joint="JOINT" multiplier="-0.7" offset="0.2"/></joint></robot>""")
        joint = re.search(r'<joint name="(\w+)"', PENDULUM)[1]
        self.write("follower.urdf", follower.replace("JOINT", joint))
        self.good("codegen", "follower.urdf", "--out", "p.hpp")
        if shutil.which("g++"):
            self.write("main.cpp", '#include "p.hpp"\nint main() { double x[1] = {0}, y[1]; return follower_inverse(x, x, x, y) > 0 ? 0 : 1; }\n')
            subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "main.cpp", "-o", "main"], cwd=self.folder, check=True)

    def test_json(self):
        self.good("codegen", "pendulum.urdf", "--out", "p.hpp", "--json", "s.json")
        summary = json.loads(self.read("s.json"))
        self.assertEqual(summary["function"], "pendulum_inverse")
        self.assertEqual(summary["operations"], summary["additions"] + summary["multiplications"] + summary["divisions"])
        self.assertEqual(summary["bytes"], len(self.read("p.hpp").encode()))
        text = self.good("codegen", "pendulum.urdf", "--out", "p.hpp", "--json", "-").out
        self.assertEqual(json.loads(text)["verb"], "codegen")

    def test_operations_of_the_table_are_those_of_the_summary(self):
        """The table has no derivatives, and says so; what is taken is one of its lines."""
        run = ["codegen", os.path.join(MODELS, "arm7.urdf"), "--problem", "forward", "--out", "p.hpp", "--json", "s.json"]
        plain = self.good(*run).out
        operations = json.loads(self.read("s.json"))["operations"]
        self.assertRegex(plain, rf"(?m)^  ordering    operations$(.|\n)*^  found +{operations}$")
        text = self.good(*run, "--derivatives").out
        summary = json.loads(self.read("s.json"))
        self.assertEqual(summary["operations_without_derivatives"], operations)
        self.assertGreater(summary["operations"], operations)
        self.assertRegex(text, rf"(?m)^  without derivatives +{operations}$")
        self.assertRegex(text, rf"(?m)^  ordering    operations, without derivatives$(.|\n)*^  found +{operations}$")

    def test_standard_output_carries_the_header_alone(self):
        text = self.good("codegen", "pendulum.urdf", "--out", "-").out
        self.assertTrue(text.startswith("// inverse dynamics"))
        self.assertTrue(text.endswith("}\n"))

    def test_names(self):
        self.bad("error: name: must be letters, digits and single '_', no word that C++ or the header uses, is 'a b'; 'a_b' would do",
                 "codegen", "pendulum.urdf", "--out", "p.hpp", "--name", "a b")
        self.bad("error: name: must be letters, digits and single '_', no word that C++ or the header uses, is 'class'; 'robot_class' would do",
                 "codegen", "pendulum.urdf", "--out", "p.hpp", "--name", "class")
        for name, other in (("size_t", "size_t_robot"), ("NAN", "robot_NAN"), ("kinegraph_generated", "robot_kinegraph_generated"),
                            ("arm_batch", "arm_batch_robot")):
            self.bad(f"error: name: must be letters, digits and single '_', no word that C++ or the header uses, is '{name}'; '{other}' would do",
                     "codegen", "pendulum.urdf", "--out", "p.hpp", "--name", name)
        name = "n" * 200
        self.good("codegen", "pendulum.urdf", "--out", "p.hpp", "--name", name)
        self.assertIn(f"inline double {name}(", self.read("p.hpp"))

    def test_a_hostile_name_stays_text(self):
        self.write("evil.urdf", PENDULUM.replace('name="bob"', 'name="&quot;); system(&quot;x"').replace(
            'link="bob"', 'link="&quot;); system(&quot;x"'))
        self.good("codegen", "evil.urdf", "--problem", "kinematics", "--out", "p.hpp")
        self.assertNotIn("system(", self.read("p.hpp"))

    def test_what_does_not_apply_is_refused(self):
        self.bad("error: report: codegen has nothing to draw: 'kinegraph graph MODEL --report FILE.html' shows the order", "codegen", "pendulum.urdf", "--out", "p.hpp", "--report", "p.html")
        self.assertNotIn("--report", self.good("codegen", "--help").out)
        self.bad("error: out: is missing: kinegraph codegen MODEL --out FILE.hpp", "codegen", "pendulum.urdf")
        self.bad("error: out, json: both name the file 'a'", "codegen", "pendulum.urdf", "--out", "a", "--json", "a")
        self.bad("error: problem: must be one of forward, hybrid, inverse, kinematics, mass-matrix, is 'foward'; did you mean "
                 "'forward'?", "codegen", "pendulum.urdf", "--out", "a", "--problem", "foward")
        result = self.run_program("codegen", "pendulum.urdf", "--out", "nowhere/p.hpp")
        self.assertEqual(result.status, 2)

    def test_every_problem_of_every_model(self):
        """Code, or a cause."""
        for file in sorted(os.listdir(MODELS)):
            model = os.path.join(MODELS, file)
            if not file.endswith((".urdf", ".sdf")) and not (file.endswith(".yaml") and "planar_bodies:" in open(model, encoding="utf-8").read()):
                continue
            joint, *others = re.findall(r"""<joint\s+name=["'](\w+)["']""", open(model, encoding="utf-8").read()) or ["theta"]
            known = ",".join([f"{joint}.a"] + [f"{other}.tau" for other in others])
            for problem, *more in (["forward"], ["hybrid", "--known", known], ["inverse"], ["kinematics"], ["mass-matrix"]):
                if problem in ("forward", "hybrid", "inverse"):
                    more += ["--ordering", "rnea"]
                with self.subTest(model=file, problem=problem):
                    result = self.run_program("codegen", model, "--problem", problem, *more, "--out", "p.hpp")
                    self.assertIn(result.status, (0, 1, 2), result.err)
                    self.assertEqual(result.status == 0, "error: " not in result.err, result.err)
                    if problem in ("kinematics", "mass-matrix") and not file.endswith(".yaml"):
                        self.assertEqual(result.status, 0, result.err)

    def test_the_mass_matrix_of_a_robot_with_loops_is_that_of_its_tree(self):
        code = []
        for robot in (os.path.join(MODELS, "five_bar.urdf"), shutil.copy(os.path.join(MODELS, "five_bar.urdf"), self.folder)):
            self.good("codegen", robot, "--problem", "mass-matrix", "--out", "p.hpp")
            code.append([line for line in self.read("p.hpp").splitlines() if "=" in line or "out[" in line])
        self.assertGreater(len(code[0]), 16)
        self.assertEqual(code[0], code[1])

    def test_a_machine_without_code_leaves_no_file(self):
        self.write("weightless.urdf", PENDULUM.replace('<mass value="2"/>', '<mass value="0"/>').replace(
            'ixx="0.02" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.04"', 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'))
        result = self.run_program("codegen", "weightless.urdf", "--problem", "forward", "--out", "p.hpp")
        self.assertEqual(result.status, 1)
        self.assertIn("no straight-line code", result.err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "p.hpp")))


class Compiled(Cli):
    def setUp(self):
        super().setUp()
        self.write("pendulum.urdf", PENDULUM)
        os.environ["XDG_CACHE_HOME"] = os.path.join(self.folder, "cache")
        self.addCleanup(os.environ.pop, "XDG_CACHE_HOME")

    def numbers(self, name):
        return [[float(x) for x in line.split(",")] for line in self.read(name).splitlines()[1:]]

    def code(self, generated, numeric="numeric elimination"):
        """What --compiled says: the numeric one only where there is no compiler at all."""
        names = [os.environ["KINEGRAPH_CXX"]] if os.environ.get("KINEGRAPH_CXX") else [os.environ.get("CXX") or "c++", "c++", "g++", "clang++"]
        return generated if any(shutil.which(name) for name in names) else numeric + r" \(no C\+\+ compiler was found"

    def test_simulate_and_inverse(self):
        self.good("simulate", "pendulum.urdf", "--time", "0.2", "--out", "a.csv")
        text = self.good("simulate", "pendulum.urdf", "--time", "0.2", "--compiled", "--out", "b.csv").out
        self.assertRegex(text, "accelerations by +" + self.code(r"generated code of \d+ operations, compiled by"))
        for a, b in zip(self.numbers("a.csv"), self.numbers("b.csv")):
            for x, y in zip(a, b):
                self.assertAlmostEqual(x, y, delta=1e-9)
        text = self.good("inverse", "pendulum.urdf", "--motion", "a.csv", "--compiled", "--json", "-").out
        self.assertRegex(json.loads(text)["code"], "^" + self.code(r"generated code of \d+ operations"))

    def test_particles(self):
        """As by the kernels that serve any machine, and the same for any number of threads. Rounding may turn a choice of parents, after
        which the two are different draws of N particles, at least half of them effective: five standard deviations of their difference."""
        model, count = os.path.join(MODELS, "fourbar_gyro.yaml"), 700
        self.good("simulate", model, "--time", "0.3", "--step", "5ms", "--sensors", "readings.csv")
        run = ["estimate", model, "--log", "readings.csv", "--filter", "particle", "--particles", str(count), "--start-sd", "theta.q=2deg"]
        self.good(*run, "--out", "numeric.csv")
        text = self.good(*run, "--compiled", "--threads", "1", "--out", "one.csv").out
        self.assertRegex(text, "particles moved by +" + self.code(r"generated code, \d+ operations for accelerations, compiled by", "numeric"))
        self.good(*run, "--compiled", "--threads", "2", "--out", "two.csv")
        self.assertEqual(self.read("one.csv"), self.read("two.csv"))
        names = self.read("one.csv").splitlines()[0].split(",")
        mean, sd = names.index("theta.q"), names.index("theta.q.sd")
        for a, b in zip(self.numbers("one.csv"), self.numbers("numeric.csv")):
            self.assertAlmostEqual(a[mean], b[mean], delta=5 * (2 / (count / 2)) ** 0.5 * b[sd])

    def test_without_a_compiler(self):
        os.environ["KINEGRAPH_CXX"] = "no-such-compiler"
        self.addCleanup(os.environ.pop, "KINEGRAPH_CXX")
        text = self.good("simulate", "pendulum.urdf", "--time", "0.1", "--compiled").out
        self.assertIn("numeric elimination (no C++ compiler was found", text)

    def test_where_it_has_no_meaning(self):
        self.bad("error: compiled: is for robots and --formulation screw", "simulate", "fourbar.yaml", "--compiled")
        self.bad("error: compiled: is for --filter particle alone", "estimate", "fourbar.yaml", "--log", "x.csv", "--compiled")


if __name__ == "__main__":
    unittest.main(verbosity=2)
