"""What the tests of the package share. The first argument of a command is a suite of the file, as unittest takes it."""

import json
import os
import signal
import subprocess
import tempfile
import unittest

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would have it ignored

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(ROOT, "models")
PROGRAM = os.environ.get("KINEGRAPH_PROGRAM", "kinegraph")


def model_file(name):
    return os.path.join(MODELS, name)


class Package(unittest.TestCase):
    """A folder of its own for every test; the command line beside the package."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kinegraph_python_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def program(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def program_json(self, *arguments):
        return json.loads(self.program(*arguments, "--json", "-").stdout)
