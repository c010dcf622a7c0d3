"""Examples and tutorials: their code is run as it stands."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import unittest

from package import ROOT, Package

QUESTIONS = ("pose", "motion", "torques", "mixed", "state", "parameters", "plan")
TUTORIALS = os.path.join(ROOT, "docs", "tutorials")


class InRoot(Package):
    """A folder with the models in it, as the root of the repository has them."""

    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(ROOT, "models"), self.path("models"))

    def run_file(self, path):
        done = subprocess.run([sys.executable, "-B", path], cwd=self.folder, capture_output=True, text=True, timeout=110, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout


class Examples(InRoot):
    def test_seven_questions(self):
        for name in QUESTIONS:
            path = os.path.join(ROOT, "examples", name + ".py")
            with self.subTest(name):
                with open(path, encoding="utf-8") as file:
                    lines = [line for line in file if line.strip() and not line.startswith("#")]
                self.assertLessEqual(len(lines), 10)
                self.assertNotIn("nan", self.run_file(path))

    def test_twins(self):
        out = self.run_file(os.path.join(ROOT, "examples", "fourbar.py"))
        self.assertIn("after 1 s:", out)
        self.assertIn("theta.q", out)
        out = self.run_file(os.path.join(ROOT, "examples", "own_factor.py"))
        self.assertIn("tip at (2.773501, 4.160251)", out)
        speed, sd = map(float, re.search(r"turn at ([\d.]+) ± ([\d.]+) rad/s", out).groups())
        self.assertLess(abs(speed - 1), 4 * sd)


def blocks_of(path):
    """Python blocks of a page, each with the output that the page shows after it (a block ```text```), or None."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"```(python|text)\n(.*?)```", file.read(), re.DOTALL)
    blocks = []
    for kind, text in found:
        if kind == "python":
            blocks.append([text, None])
        elif blocks and blocks[-1][1] is None:
            blocks[-1][1] = text
    return blocks


class Tutorials(InRoot):
    """The code of a page runs from top to bottom, and prints what the page says; digits after the third may differ."""

    def test_all(self):
        pages = sorted(name for name in os.listdir(TUTORIALS) if name.endswith(".md") and name != "README.md")
        self.assertGreaterEqual(len(pages), 9)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        for page in pages:
            names = {}
            for code, shown in blocks_of(os.path.join(TUTORIALS, page)):
                with self.subTest(page=page, code=code):
                    out = io.StringIO()
                    with contextlib.redirect_stdout(out):
                        exec(compile(code, page, "exec"), names)  # the point of it
                    if shown is not None:
                        self.alike(out.getvalue(), shown)
            self.assertTrue(names, f"{page} has no code")

    def alike(self, got, shown):
        number = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
        self.assertEqual(number.sub("#", got).split(), number.sub("#", shown).split())
        for a, b in zip(map(float, number.findall(got)), map(float, number.findall(shown))):
            close = abs(a - b) <= 2e-3 * max(1e-3, abs(b)) or max(abs(a), abs(b)) < 1e-6
            self.assertTrue(close, f"{a} where the page has {b}\n{got}")


if __name__ == "__main__":
    unittest.main()
