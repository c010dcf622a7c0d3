#!/usr/bin/python3
"""page.py on made-up programs: one that prints tables, one plain, one that crashes, one that is not there."""

import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import page

TABLES = """before all
## first: of two, ms
| a | b |
|---|--:|
| x | 1 | pass |
| y | 2 | FAIL |
after the table
## second: of two
| c |
|---|
| 3 |"""
TEMPLATE = """# Title
<!-- missed -->
<!-- machine -->
text <!-- not a mark -->
<!-- tables: second -->
<!-- plain -->
<!-- broken -->
<!-- absent -->
"""


def record(text, failed="", date="2026-01-02", quick=False):
    return {"text": text, "failed": failed, "seconds": 1.0, "date": date, "quick": quick}


class Render(unittest.TestCase):
    def setUp(self):
        self.records = {"tables": record(TABLES), "plain": record("a  b\n1  MISSED"),
                        "broken": record("half", "ended by signal 11")}

    def page(self):
        return page.render(TEMPLATE, self.records, "MACHINE")

    def test_marks_are_replaced_and_other_comments_are_not(self):
        text = self.page()
        self.assertIn("MACHINE", text)
        self.assertIn("text <!-- not a mark -->", text)
        self.assertIn("```text\na  b\n1  MISSED\n```", text)
        for mark in ("missed", "machine", "plain", "broken", "absent", "tables: second"):
            self.assertNotIn(f"<!-- {mark} -->", text)

    def test_a_section_is_taken_alone_with_its_caption(self):
        text = page.insert("tables", "second", self.records["tables"])
        self.assertEqual(text, "Of two:\n\n| c |\n|---|\n| 3 |")

    def test_a_whole_program_keeps_its_order_and_tables_stand_apart(self):
        text = page.insert("tables", None, self.records["tables"])
        self.assertLess(text.index("before all"), text.index("### first"))
        self.assertIn("| y | 2 | FAIL |\n\nafter the table", text)

    def test_missed_targets_crashes_and_absences_are_told_at_the_top(self):
        top = self.page().split("MACHINE")[0]
        self.assertIn("miss their target: 2** (`tables` 1, `plain` 1)", top)
        self.assertIn("`broken` ended by signal 11", top)
        self.assertIn("Not run here: `absent`", top)
        self.assertNotIn("--quick", top)

    def test_a_section_that_is_not_printed_is_told(self):
        self.assertIn("prints no section", page.insert("tables", "third", self.records["tables"]))
        self.assertIn("prints no section", page.insert("plain", "third", self.records["plain"]))

    def test_programs_that_no_mark_names_are_added(self):
        self.records["stray"] = record("lost?")
        self.assertIn("## `stray`\n\n```text\nlost?\n```", self.page())

    def test_quick_runs_and_several_days_are_told(self):
        self.records["plain"] = record("x", date="2026-01-03", quick=True)
        top = self.page().split("MACHINE")[0]
        self.assertIn("Run with `--quick`", top)
        self.assertIn("`plain` 2026-01-03", top)

    def test_the_template_names_only_programs_that_there_are(self):
        template = (HERE / "performance.in.md").read_text(encoding="utf-8")
        for name in page.marks(template):
            self.assertTrue((HERE / f"{name}.cpp").is_file(), name)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program("good", "echo one thread: $OMP_NUM_THREADS quick: $KINEGRAPH_QUICK; echo FAIL")
        (self.folder / "notes.txt").write_text("no program")

    def program(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def run_page(self, *options):
        out = self.folder / "page.md"
        done = subprocess.run([sys.executable, "-B", str(HERE / "page.py"), str(self.folder), "--write", str(out), *options],
                              capture_output=True, text=True, check=False)
        return done, out.read_text(encoding="utf-8") if out.exists() else ""

    def test_a_missed_target_is_no_failure(self):
        done, text = self.run_page()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("miss their target: 1**", text)
        self.assertIn("one thread: 1 quick:", text)
        self.assertNotIn("notes", text)

    def test_a_crash_is_one_and_the_others_still_run(self):
        self.program("bad", "echo half; kill -SEGV $$")
        done, text = self.run_page()
        self.assertEqual(done.returncode, 1)
        self.assertIn("`bad` ended by signal 11; what it printed before", text)
        self.assertIn("one thread: 1", text)

    def test_a_program_that_does_not_end_is_ended(self):
        self.program("slow", "exec sleep 20")
        done, text = self.run_page("--only", "slow", "--limit", "0.2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did not end within 0.2 s", text)

    def test_only_runs_one_and_keeps_the_others(self):
        self.run_page()
        self.program("other", "echo new")
        self.program("good", "echo changed")
        done, text = self.run_page("--only", "other", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("new", text)
        self.assertIn("one thread: 1", text)
        self.assertNotIn("changed", text)
        kept = json.loads((self.folder / "results/other.json").read_text(encoding="utf-8"))
        self.assertTrue(kept["quick"])

    def test_an_unknown_name_is_refused(self):
        done, _ = self.run_page("--only", "goood")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has no program goood; it has: good", done.stderr)

    def test_no_host_name_is_written(self):
        _, text = self.run_page()
        self.assertNotIn(str(self.folder), text)
        self.assertNotIn(platform.node(), text)


if __name__ == "__main__":
    unittest.main()
