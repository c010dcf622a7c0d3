"""Reports and the verb view, as a user meets them: report_test.py PROGRAM [SUITE.TEST ...]"""

import base64
import json
import struct
import unittest

from program import PENDULUM, Cli

BEGIN = '<script id="kinegraph-data" type="application/json">'


class ReportCase(Cli):
    def page(self, name):
        """The data of a page, read as a browser does: up to the first end of a script."""
        text = self.read(name)
        begin = text.index(BEGIN) + len(BEGIN)
        return json.loads(text[begin : text.index("</script>", begin)])

    @staticmethod
    def numbers(packed):
        raw = base64.b64decode(packed["f32"])
        return struct.unpack(f"<{len(raw) // 4}f", raw)

    def series(self, page):
        return {one["name"]: one for one in page["series"]["list"]}


class Reports(ReportCase):
    def test_simulate_planar(self):
        text = self.good("simulate", "fourbar.yaml", "--time", "1", "--reactions", "--report", "run.html").out
        self.assertRegex(text, r"wrote run\.html: [\d.]+ MB")
        page = self.page("run.html")
        self.assertEqual(page["verb"], "simulate")
        self.assertEqual(page["status"], "good")
        self.assertIn("kinegraph simulate fourbar.yaml --time 1 --reactions --report run.html", page["command"])
        self.assertEqual(page["scene"]["dimension"], 2)
        self.assertEqual([b["name"] for b in page["scene"]["bodies"]], ["crank", "coupler", "rocker"])
        points = self.numbers(page["scene"]["xy"])
        self.assertEqual(points[:2] + points[6:10], (0, 0, 4, 0, 0, 0))  # A and D stay
        self.assertEqual(points[-2:], (4, 0))
        self.assertEqual(len(page["scene"]["arrows"]), 4)
        self.assertEqual(self.series(page)["theta.q"]["unit"], "rad")
        rows = {row[0]: row for row in page["tables"][0]["rows"]}
        self.assertLess(rows["distance A-P1"][3], 1e-9)
        self.assertTrue(any("residual" in node for node in page["graphs"][0]["nodes"]))

    def test_long_runs_are_thinned_and_keep_their_peaks(self):
        self.good("simulate", "fourbar.yaml", "--time", "60", "--reactions", "--out", "run.csv", "--report", "run.html")
        self.assertLess(len(self.read("run.html")), 5_000_000)
        page = self.page("run.html")
        self.assertTrue(page["series"]["thinned"])
        shown = self.numbers(self.series(page)["theta.v"]["y"])
        names, rows = self.table("run.csv")
        all_of_it = [row[names.index("theta.v")] for row in rows]
        self.assertAlmostEqual(max(shown), max(all_of_it), places=5)
        self.assertAlmostEqual(min(shown), min(all_of_it), places=5)

    def test_robot(self):
        self.write("pendulum.urdf", PENDULUM)
        self.good("simulate", "pendulum.urdf", "--time", "0.3", "--report", "run.html")
        scene = self.page("run.html")["scene"]
        self.assertEqual(scene["dimension"], 3)
        self.assertEqual([link["name"] for link in scene["links"]], ["ground", "bob"])

    def test_names_are_text(self):
        evil = "<script>alert(1)</script>"
        written = evil.replace("<", "&lt;").replace(">", "&gt;")
        self.write("evil.urdf", PENDULUM.replace('"bob"', f'"{written}"'))
        self.good("simulate", "evil.urdf", "--time", "0.1", "--report", "run.html")
        self.assertNotIn(evil, self.read("run.html"))
        self.assertIn(evil, [link["name"] for link in self.page("run.html")["scene"]["links"]])

    def test_what_is_beside(self):
        self.good("simulate", "fourbar.yaml", "--time", "0.2", "--out", "a.csv")
        self.good("simulate", "fourbar.yaml", "--time", "0.2", "--beside", "a.csv", "--report", "run.html")
        self.assertEqual(self.series(self.page("run.html"))["theta.q"]["beside"][0]["label"], "beside")

    def test_branches_are_poses_without_time(self):
        self.good("kinematics", "fourbar.yaml", "--branches", "--report", "run.html")
        page = self.page("run.html")
        self.assertTrue(page["scene"]["discrete"])
        self.assertEqual(page["time"]["unit"], "")

    def test_graph_with_its_patterns(self):
        self.write("pendulum.urdf", PENDULUM)
        self.good("graph", "pendulum.urdf", "--show", "dag", "--report", "run.html")
        self.assertEqual(len(self.page("run.html")["graphs"][0]["sparsity"]), 2)

    def test_faults(self):
        self.bad("error: out, report: both name the file 'a'", "simulate", "fourbar.yaml", "--out", "a", "--report", "a")
        self.bad("error: beside: is drawn in --report, which is not given", "simulate", "fourbar.yaml", "--beside", "a.csv")
        result = self.run_program("simulate", "fourbar.yaml", "--report", "nowhere/run.html")
        self.assertEqual(result.status, 2)
        self.assertIn("nowhere/run.html", result.err)


class View(ReportCase):
    def test_planar(self):
        self.good("view", "fourbar.yaml")
        page = self.page("fourbar.html")
        self.assertEqual([c["name"] for c in page["view"]["coordinates"]], ["theta"])

    def test_robot(self):
        self.write("pendulum.urdf", PENDULUM)
        self.good("view", "pendulum.urdf", "--report", "p.html")
        view = self.page("p.html")["view"]
        self.assertEqual(view["coordinates"][0]["limits"], [[-1, 1]])
        self.assertEqual(view["bodies"][0]["joint"]["type"], "revolute")


if __name__ == "__main__":
    unittest.main()
