"""The program, and a folder in which a test runs it. The first argument of the command is the program."""

import csv
import os
import signal
import subprocess
import sys
import tempfile
import unittest

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would have it ignored

PROGRAM = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "kinegraph"

FOURBAR = """\
parameters: {L: 1.0}
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P1, x: L, y: 0}
  - {name: P2, x: L, y: 2*L}
  - {name: D, x: 4, y: 0, fixed: true}
planar_bodies:
  - {name: crank, points: [A, P1], length: L, mass: 1}
  - {name: coupler, points: [P1, P2], length: 2*L, mass: 2}
  - {name: rocker, points: [P2, D], length: sqrt(13), mass: 4}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, P1]}
motors:
  - {coordinate: theta}
"""

PENDULUM = """\
<robot name="pendulum">
  <link name="ground"/>
  <link name="bob">
    <inertial>
      <origin xyz="0.5 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.04" iyz="0" izz="0.04"/>
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="ground"/>
    <child link="bob"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="100"/>
  </joint>
</robot>
"""


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


class Cli(unittest.TestCase):
    """A folder of its own for every test, with a four-bar in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kinegraph_cli_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("fourbar.yaml", FOURBAR)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def table(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            rows = list(csv.reader(file))
        return rows[0], [[float(value) for value in row] for row in rows[1:]]

    def files(self):
        return sorted(set(os.listdir(self.folder)) - {"fourbar.yaml"})

    def run_program(self, *arguments, **options):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, timeout=100, text=True, **options)
        return Result(done.returncode, done.stdout, done.stderr)

    def good(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual((result.status, result.err), (0, ""), result.out)
        return result

    def bad(self, message, *arguments, status=2):
        result = self.run_program(*arguments)
        self.assertEqual(result.err, message + "\n")
        self.assertEqual((result.status, result.out), (status, ""))
