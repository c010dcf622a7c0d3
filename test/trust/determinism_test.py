"""The same input gives the same bytes, for any number of threads: determinism_test.py PROGRAM [SUITE.TEST ...]"""

import json
import os
import re
import shutil
import unittest

from verbs import COMMANDS, Cli, outputs, prepare

TIMES = re.compile(r"^(.*_)?wall_s$|^solve_s$|_us$|_ms$|^rate$|^threads$")

# The same in the words of a page: rows of its table of numbers, and the sentence on how fast it was.
CLOCKS = re.compile(r'\["[^"]*","[\d.e+-]+ [nµm]?s"\]|[\d.e+-]+ times as fast as real time')


def without_times(value):
    """A summary without what a clock told, and without how many threads were asked for."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if not TIMES.search(key)}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


class Threads(Cli):
    def bytes_of(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def content(self, file, run):
        """What must be the same: pages hold the command, as it was typed, and what a clock told."""
        if file.endswith(".json"):
            return without_times(json.loads(self.bytes_of(file)))
        if file.endswith(".html"):
            return CLOCKS.sub("", re.sub(rf"{re.escape(run)}|--threads \d", "", self.read(file)))
        if file.endswith(".save"):
            return re.sub(rf"{re.escape(run)}|--threads \d", "", self.read(file))
        return self.bytes_of(file)

    def test_every_verb(self):
        prepare(self)
        for name, command in COMMANDS.items():
            with self.subTest(verb=name):
                written = []
                for run, threads in enumerate(("1", "2", "4", "2")):
                    stem = f"{name}_run{run}"
                    options, files = outputs(name, stem)
                    done = self.run_program(*command, *options, "--threads", threads, "--quiet")
                    self.assertEqual(done.status, 0, done.err)
                    written.append([self.content(file, stem) for file in files])
                for run in (1, 2, 3):
                    for file, one, first in zip(files, written[run], written[0]):
                        self.assertEqual(one, first, file)

    def test_the_tour(self):
        tours = []
        for _ in range(2):
            self.good("demo", "--out", "tour", "--quiet")
            folder = os.path.join(self.folder, "tour")
            tours.append({file: self.content(os.path.join("tour", file), "tour") for file in sorted(os.listdir(folder))})
            shutil.rmtree(folder)
        self.assertEqual(list(tours[0]), list(tours[1]))
        for file, content in tours[0].items():
            with self.subTest(file=file):
                self.assertEqual(tours[1][file], content)


if __name__ == "__main__":
    unittest.main()
