#!/usr/bin/python3
"""check_includes.py on small trees: what is allowed passes, each broken rule is caught at its file and line."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_includes  # noqa: E402

TABLE = """# comment: kinegraph_module(ghost)
kinegraph_module(base)
kinegraph_module(lie DEPENDS base)
kinegraph_module(linear DEPENDS base LINK cholmod metis)
kinegraph_module(graph DEPENDS base lie)
kinegraph_module(factor DEPENDS graph)
kinegraph_module(solve DEPENDS factor linear)
"""


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("src/CMakeLists.txt", TABLE)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def messages(self):
        return check_includes.check(self.root)

    def test_what_the_table_allows_passes(self):
        self.write("src/graph/a.hpp", '#include <vector>\n#include "kinegraph/graph/b.hpp"\n'
                                      '#include "kinegraph/lie/so3.hpp"\n')
        self.write("src/solve/a.cpp", '#include "kinegraph/linear/plan.hpp"\n'
                                      '#include "kinegraph/base/result.hpp"\n'   # vocabulary, reached through linear
                                      '#include "kinegraph/lie/so3.hpp"\n')      # vocabulary, reached through graph
        self.write("cli/main.cpp", '#include "cli/verbs.hpp"\n#include "kinegraph/solve/a.hpp"\n')
        self.assertEqual(self.messages(), [])

    def test_include_that_is_not_in_the_table(self):
        self.write("src/linear/a.hpp", '#pragma once\n\n#include "kinegraph/graph/graph.hpp"\n')
        self.assertEqual(self.messages(),
                         ["src/linear/a.hpp:3: error: linear may not include graph (may: base)"])

    def test_angle_brackets_do_not_hide_it(self):
        self.write("src/linear/a.hpp", "#include <kinegraph/graph/graph.hpp>\n")
        self.assertEqual(len(self.messages()), 1)

    def test_transitive_is_for_vocabulary_and_unit_tests_only(self):
        self.write("src/solve/a.cpp", '#include "kinegraph/graph/graph.hpp"\n')
        self.write("src/solve/a_test.cpp", '#include "kinegraph/graph/graph.hpp"\n#include "test/shared.hpp"\n')
        self.assertEqual(self.messages(),
                         ["src/solve/a.cpp:1: error: solve may not include graph (may: base, factor, lie, linear)"])

    def test_what_the_vocabulary_is_made_of_goes_with_it(self):
        self.write("src/CMakeLists.txt", "kinegraph_module(expr)\nkinegraph_module(model DEPENDS expr)\n"
                                         "kinegraph_module(io DEPENDS model)\nkinegraph_module(tool DEPENDS io)\n")
        self.write("src/io/a.cpp", '#include "kinegraph/expr/law.hpp"\n')
        self.write("src/expr/a.cpp", '#include "kinegraph/model/model.hpp"\n')
        self.assertEqual(self.messages(), ["src/expr/a.cpp:1: error: expr may not include model (may: -)"])

    def test_unit_test_may_not_reach_beyond_its_module(self):
        self.write("src/linear/a_test.cpp", '#include "kinegraph/solve/solve.hpp"\n')
        self.assertEqual(len(self.messages()), 1)

    def test_relative_include(self):
        self.write("src/linear/a.cpp", '#include "../graph/graph.hpp"\n')
        self.assertIn("src/linear/a.cpp:1: error:", self.messages()[0])

    def test_unknown_module_and_folder(self):
        self.write("src/linear/a.cpp", '#include "kinegraph/nowhere/a.hpp"\n')
        self.write("src/stray/a.hpp", "#pragma once\n")
        self.assertEqual(self.messages(),
                         ["src/CMakeLists.txt:1: error: the folder src/stray is no module of the table",
                          "src/linear/a.cpp:1: error: there is no module 'nowhere'"])

    def test_nobody_includes_cli(self):
        self.write("bench/a.cpp", '#include "../cli/arguments.hpp"\n')
        self.write("src/graph/a.cpp", '#include "kinegraph/cli/arguments.hpp"\n')
        self.assertEqual([m.split(":")[0] for m in self.messages()], ["src/graph/a.cpp", "bench/a.cpp"])

    def test_cycle_in_the_table(self):
        self.write("src/CMakeLists.txt", "kinegraph_module(a DEPENDS b)\nkinegraph_module(b DEPENDS c)\n"
                                         "kinegraph_module(c\n  DEPENDS a)\n")
        self.assertEqual(self.messages(), ["src/CMakeLists.txt:1: error: cycle a -> b -> c -> a"])

    def test_dependency_that_is_no_module(self):
        self.write("src/CMakeLists.txt", "kinegraph_module(a)\nkinegraph_module(b DEPENDS a x)\n")
        self.assertEqual(self.messages(), ["src/CMakeLists.txt:2: error: b depends on 'x', which is no module"])

    def test_exit_status(self):
        command = [sys.executable, check_includes.__file__, str(self.root)]
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
        self.write("src/linear/a.hpp", '#include "kinegraph/graph/graph.hpp"\n')
        bad = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(bad.returncode, 1)
        self.assertIn("src/linear/a.hpp:1: error:", bad.stdout)


if __name__ == "__main__":
    unittest.main()
