"""The same input gives the same bytes, for any number of threads: determinism_test.py PROGRAM [SUITE.TEST ...]"""

import json
import re
import unittest

from verbs import COMMANDS, PAGE_ONLY, Cli, outputs, prepare

TIMES = re.compile(r"^(.*_)?wall_s$|^solve_s$|_us$|_ms$")


def without_times(value):
    """A summary without what a clock told."""
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if not TIMES.search(key)}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


class Threads(Cli):
    def test_every_verb(self):
        prepare(self)
        for name, command in COMMANDS.items():
            with self.subTest(verb=name):
                written = []
                for run, threads in enumerate(("1", "2", "4", "2")):
                    options, files = outputs(name, f"{name}{run}")
                    self.good(*command, *options, "--threads", threads, "--quiet")
                    contents = [self.read(file) for file in files]
                    if name in PAGE_ONLY:  # the page holds the command, as it was typed
                        contents = [re.sub(rf"{name}\d|--threads \d", "", text) for text in contents]
                    written.append([without_times(json.loads(text)) if file.endswith(".json") else text
                                    for file, text in zip(files, contents)])
                for run in (1, 2, 3):
                    self.assertEqual(written[run], written[0], f"run {run}")


if __name__ == "__main__":
    unittest.main()
