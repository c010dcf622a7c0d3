"""Full disks, broken disks, folders in the way, kills: faults_test.py PROGRAM FAULTS_LIBRARY [SUITE.TEST ...]

FAULTS_LIBRARY (faults.cpp) is preloaded and makes system calls fail. Whatever happens, nothing half written stands under
a final name, and the message and status say what happened.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

PRELOAD = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""
from verbs import COMMANDS, PAGE_ONLY, PENDULUM, PROGRAM, Cli, model, outputs, prepare  # noqa: E402

SAID = {"ENOSPC": "no space left on device", "EIO": "input/output error", "EDQUOT": "disk quota exceeded",
        "EACCES": "permission denied"}


class Faulty(Cli):
    def run_with(self, fault, *command, **environment):
        done = subprocess.run([PROGRAM, *command], cwd=self.folder, capture_output=True, timeout=100, text=True, check=False,
                              env=dict(os.environ, LD_PRELOAD=PRELOAD, KINEGRAPH_FAULT=fault, **environment))
        return done.returncode, done.stdout, done.stderr


class Writing(Faulty):
    """The writer, by the table of `simulate`, which is large enough for several writes."""

    COMMAND = ("simulate", "fourbar.yaml", "--time", "3", "--out", "a.csv")

    def test_every_call_that_can_fail(self):
        for call, error in (("write:1", "ENOSPC"), ("write:2", "ENOSPC"), ("write:3", "EIO"), ("write:1", "EDQUOT"), ("fsync:1", "EIO"),
                            ("close:1", "EIO"), ("rename:1", "EACCES")):
            self.write("a.csv", "old")
            with self.subTest(call=call, error=error):
                self.assertEqual(self.run_with(f"{call}:{error}", *self.COMMAND), (2, "", f"error: cannot write 'a.csv': {SAID[error]}\n"))
                self.assertEqual(self.read("a.csv"), "old")
                self.assertEqual(self.files(), ["a.csv"])

    def test_killed_at_any_moment(self):
        for moment in ("write:1", "write:2", "write:3", "fsync:1", "close:1", "rename:1"):
            self.write("a.csv", "old")
            with self.subTest(moment=moment):
                self.assertEqual(self.run_with(f"{moment}:KILL", *self.COMMAND)[0], -signal.SIGKILL)
                self.assertEqual(self.read("a.csv"), "old")
                for name in self.files():
                    self.assertRegex(name, r"^a\.csv$|^\.a\.csv\.\w{6}$")

    def test_short_and_interrupted_writes_lose_nothing(self):
        command = ("simulate", "fourbar.yaml", "--time", "0.05", "--out")
        self.good(*command, "whole.csv")
        status, _, err = self.run_with("write:1:SHORT", *command, "short.csv")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.read("short.csv"), self.read("whole.csv"))

    def test_a_limit_on_the_size_of_files(self):
        done = subprocess.run([PROGRAM, *self.COMMAND], cwd=self.folder, capture_output=True, timeout=100, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
        self.assertEqual((done.returncode, done.stderr), (2, "error: cannot write 'a.csv': file too large\n"))
        self.assertEqual(self.files(), [])


class EveryVerb(Faulty):
    def setUp(self):
        super().setUp()
        prepare(self)
        self.inputs = self.files()

    def test_full_disk_and_folders_in_the_way(self):
        os.mkdir(os.path.join(self.folder, "folder"))
        for name, command in COMMANDS.items():
            options, files = outputs(name, "a")
            with self.subTest(verb=name):
                status, _, err = self.run_with("write:1:ENOSPC", *command, *options, "--quiet")
                self.assertEqual(status, 2, err)
                self.assertRegex(err.splitlines()[-1], rf"^error: cannot write '({'|'.join(files)})': no space left on device$")
                for place, why in (("folder", "it is a folder"), ("none/a", "there is no folder 'none'")):
                    result = self.run_program(*command, options[0], place)
                    self.assertEqual((result.status, result.err), (2, f"error: cannot write '{place}': {why}\n"))
                self.assertEqual(self.files(), sorted([*self.inputs, "folder"]))

    def test_unwritable_folder(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        os.mkdir(os.path.join(self.folder, "locked"), 0o500)
        for name, command in COMMANDS.items():
            result = self.run_program(*command, outputs(name, "a")[0][0], "locked/a")
            self.assertEqual((result.status, result.err), (2, "error: cannot write 'locked/a': permission denied\n"), name)


def chain(links):
    """A robot of many links in a row, not all about the same axis."""
    text = "<robot name='chain'><link name='l0'/>"
    for i in range(1, links + 1):
        text += (f"<link name='l{i}'><inertial><origin xyz='0 0 -0.1'/><mass value='1'/><inertia ixx='0.01' ixy='0' ixz='0' iyy='0.01' "
                 f"iyz='0' izz='0.01'/></inertial></link><joint name='j{i}' type='continuous'><origin xyz='0 0 -0.2'/><parent "
                 f"link='l{i - 1}'/><child link='l{i}'/><axis xyz='{i % 2} {(i + 1) % 2} 0'/></joint>")
    return text + "</robot>"


class Interrupts(Cli):
    """Ctrl-C in the middle of the work of every verb."""

    def setUp(self):
        super().setUp()
        self.write("chain.urdf", chain(60))
        self.write("pendulum.urdf", PENDULUM)
        rows = 400_000
        self.write("motion.csv", "t,theta.q\n" + "".join(f"{i * 1e-3:.3f},{1e-6 * i}\n" for i in range(rows)))
        self.write("hinge.csv", "t,hinge.q,hinge.v,hinge.a\n" + "".join(f"{i * 1e-3:.3f},0,0,0\n" for i in range(rows)))
        self.write("readings.csv", "t,gyro.w,theta.q\n" + "".join(f"{i * 5e-3:.3f},0.1,0.1\n" for i in range(rows)))
        self.write("encoder.csv", "t,encoder.q\n" + "".join(f"{i * 5e-3:.3f},-1.5\n" for i in range(rows // 10)))

    LONG = {
        "kinematics": ["kinematics", "fourbar.yaml", "--move", "theta.q=0:1:900000"],
        "kinematics_robot": ["kinematics", "chain.urdf", "--move", "j1.q=0:1:900000"],
        "simulate": ["simulate", "fourbar.yaml", "--time", "10000"],
        "simulate_screw": ["simulate", "chain.urdf", "--time", "1000"],
        "simulate_maximal": ["simulate", "fourbar.yaml", "--formulation", "maximal", "--time", "1000"],
        "simulate_batch": ["simulate", "fourbar.yaml", "--method", "batch", "--time", "200"],
        "inverse": ["inverse", "fourbar.yaml", "--motion", "motion.csv"],
        "inverse_robot": ["inverse", "pendulum.urdf", "--motion", "hinge.csv"],
        "hybrid": ["hybrid", "pendulum.urdf", "--known", "hinge.csv"],
        "estimate": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv"],
        "estimate_particle": ["estimate", model("fourbar_gyro.yaml"), "--log", "readings.csv", "--filter", "particle"],
        "identify": ["identify", model("rubbing_pendulum.yaml"), "--log", "encoder.csv", "--free", "O.dry,O.viscous"],
        "plan": ["plan", model("tasks/quadruped_hexagon.yaml")],
        "codegen": ["codegen", "chain.urdf", "--problem", "forward", "--ordering", "best"],
    }

    def test_every_verb_ends_at_once_and_leaves_nothing(self):
        inputs, stopped = self.files(), 0
        for name, command in self.LONG.items():
            with self.subTest(verb=name):
                options = outputs("codegen" if name == "codegen" else "simulate", "a")[0]
                process = subprocess.Popen([PROGRAM, *command, *options], cwd=self.folder, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                try:
                    end = time.monotonic() + 30
                    while self.files() == inputs and time.monotonic() < end and process.poll() is None:
                        time.sleep(0.02)
                    time.sleep(0.1)
                    process.send_signal(signal.SIGINT)
                    _, err = process.communicate(timeout=20)
                finally:
                    process.kill()
                    process.communicate()
                if process.returncode == 0:  # done before it could be interrupted: a quick machine
                    for file in set(self.files()) - set(inputs):
                        os.remove(os.path.join(self.folder, file))
                    continue
                stopped += 1
                self.assertEqual((process.returncode, err.splitlines()[-1]), (130, "error: interrupted"))
                self.assertEqual(self.files(), inputs)
        self.assertGreaterEqual(stopped, len(self.LONG) - 4)

    def test_while_waiting_for_input(self):
        os.mkfifo(os.path.join(self.folder, "pipe"))
        for path in ("-", "pipe"):
            writer = os.open(os.path.join(self.folder, "pipe"), os.O_RDWR) if path == "pipe" else -1
            process = subprocess.Popen([PROGRAM, "inverse", "fourbar.yaml", "--motion", path, "--out", "a.csv"], cwd=self.folder,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
            err = process.stderr.read()
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()
            if writer >= 0:
                os.close(writer)
            self.assertEqual((process.returncode, err), (130, "error: interrupted\n"))
            self.assertFalse([name for name in self.files() if "a.csv" in name])


class Reading(Faulty):
    """Which files are opened: those of the command, and what the system needs to run a program."""

    SYSTEM = re.compile(r"^/(proc|sys|dev|etc/(ld\.so|localtime|nsswitch|passwd$)|lib|usr/lib|usr/share/(sdformat|locale|zoneinfo|ignition))")

    def opened(self, *command):
        log = os.path.join(self.folder, "opened")
        status, _, err = self.run_with("none:1:EIO", *command, KINEGRAPH_OPENED=log)
        self.assertEqual(status, 0, err)
        with open(log, encoding="utf-8") as file:
            paths = {os.path.normpath(os.path.join(self.folder, line.rstrip("\n"))) for line in file}
        os.remove(log)
        return {path for path in paths if not self.SYSTEM.match(path)}

    def test_only_what_the_command_names(self):
        meshes = "".join(f"<visual><geometry><mesh filename='{name}'/></geometry></visual>" for name in (
            "/etc/hostname", "/outside/b.stl", "package://../../outside/b.stl", "file:///outside/b.stl", "../outside/b.stl",
            "http://example.com/b.stl", "model://../outside/b.stl", "own.stl"))
        triangle = "solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
        for folder in ("robot", "outside"):
            os.mkdir(os.path.join(self.folder, folder))
        self.write("outside/b.stl", triangle)
        self.write("robot/own.stl", triangle)
        meshes = meshes.replace("/outside", os.path.join(self.folder, "outside"), 1)
        self.write("robot/r.urdf", PENDULUM.replace("</inertial>", "</inertial>" + meshes))
        self.write("robot/r.sdf", "<sdf version='1.9'><model name='m'><link name='a'><visual name='v'><geometry><mesh><uri>"
                   "file:///etc/passwd</uri></mesh></geometry></visual></link></model></sdf>")
        page = ("--report", "a.html")
        own = os.path.join(self.folder, "robot")
        seen = self.opened("view", "robot/r.urdf", *page)
        self.assertEqual({path for path in seen if path.startswith(own)}, {f"{own}/r.urdf", f"{own}/own.stl"})
        self.assertFalse([path for path in seen if "outside" in path or path.startswith("/etc")], seen)
        seen = self.opened("check", "robot/r.sdf")
        self.assertEqual(seen, {f"{own}/r.sdf"})
        given = self.opened("view", "robot/r.urdf", *page, "--meshes", "outside")
        self.assertIn(os.path.join(self.folder, "outside/b.stl"), given)


if __name__ == "__main__":
    unittest.main()
