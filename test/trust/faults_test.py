"""Full disks, broken disks, folders in the way, kills: faults_test.py PROGRAM FAULTS_LIBRARY [SUITE.TEST ...]

FAULTS_LIBRARY (faults.cpp) is preloaded and makes system calls fail. Whatever happens, nothing half written stands under
a final name, and the message and status say what happened.
"""

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

PRELOAD = os.path.abspath(sys.argv.pop(2)) if len(sys.argv) > 2 else ""
from random_machines import LoopRobot  # noqa: E402
from verbs import COMMANDS, PENDULUM, PROGRAM, STUDY, Cli, model, prepare, written  # noqa: E402

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

    # One of each verb, and of each kind of file that they write.
    NAMES = ("check", "kinematics", "kinematics_goal", "branches", "simulate", "simulate_screw", "simulate_maximal", "simulate_disturbed",
             "inverse", "hybrid", "estimate", "identify", "plan_phases", "graph", "codegen", "view", "sweep", "sweep_hdf5")

    def all_outputs(self):
        for name in (name for name in self.NAMES if name in COMMANDS):
            for option, file in written(name, "a"):
                yield name, COMMANDS[name], option, file

    def left(self):
        """What a command left behind. Of a sweep the journal stays: the same command goes on there."""
        return [name for name in self.files() if name not in self.inputs and not name.endswith(".journal")]

    def forget(self):
        for name in set(self.files()) - set(self.inputs):
            os.remove(os.path.join(self.folder, name))

    def test_full_disk(self):
        for name, command, option, file in self.all_outputs():
            with self.subTest(verb=name, option=option):
                self.forget()
                table = ("--out", "study.table") if command[0] == "sweep" and option != "--out" else ()
                status, _, err = self.run_with("write:1:ENOSPC", *command, *table, option, file, "--quiet")
                self.assertEqual(status, 2, err)
                self.assertRegex(err.splitlines()[-1], rf"^(error: cannot write '{re.escape(file)}'|(a.*|study\.table)\.journal: error: cannot "
                                                       r"write the file): no space left on device$")
                self.assertEqual(self.left(), [])

    def test_folders_in_the_way(self):
        for name, command, option, file in self.all_outputs():
            ending = os.path.splitext(file)[1]
            os.mkdir(os.path.join(self.folder, f"folder{ending}"))
            with self.subTest(verb=name, option=option):
                for place, why in ((f"folder{ending}", "it is a folder"), (f"none/a{ending}", "there is no folder 'none'")):
                    result = self.run_program(*command, option, place)
                    self.assertEqual((result.status, result.err), (2, f"error: cannot write '{place}': {why}\n"))
            os.rmdir(os.path.join(self.folder, f"folder{ending}"))
            self.assertEqual(self.left(), [])
            self.forget()

    def test_unwritable_folder(self):
        os.mkdir(os.path.join(self.folder, "locked"), 0o500)
        nobody = {}
        if os.geteuid() == 0:  # who may write everywhere
            os.chmod(self.folder, 0o777)
            os.chmod(os.path.join(self.folder, "locked"), 0o555)
            nobody = {"user": 65534}
        for name, command, option, file in self.all_outputs():
            result = self.run_program(*command, option, f"locked/{file}", **nobody)
            self.assertEqual((result.status, result.err), (2, f"error: cannot write 'locked/{file}': permission denied\n"), name)

    def test_a_sweep_where_files_cannot_be_locked(self):
        self.good("sweep", "study.yaml", "--out", "whole.csv")
        for error, why in (("ENOSYS", "function not implemented"), ("EOPNOTSUPP", "operation not supported"), ("ENOLCK", "no locks available")):
            with self.subTest(error=error):
                status, _, err = self.run_with(f"flock:1:{error}", "sweep", "study.yaml", "--out", "a.csv")
                self.assertEqual((status, err), (0, f"warning: a.csv.journal cannot be locked ({why}): see that no other sweep writes it\n"))
                self.assertEqual(self.read("a.csv"), self.read("whole.csv"))
                os.remove(os.path.join(self.folder, "a.csv"))
        for error, why in (("EWOULDBLOCK", "another sweep is writing this journal"), ("EIO", "cannot lock the file: input/output error")):
            with self.subTest(error=error):
                status, _, err = self.run_with(f"flock:1:{error}", "sweep", "study.yaml", "--out", "a.csv")
                self.assertEqual((status, err), (2, f"a.csv.journal: error: {why}\n"))

    def test_a_sweep_by_an_mpi_without_threads(self):
        mpirun = shutil.which("mpirun")
        if not mpirun or not os.path.exists(os.path.join(os.path.dirname(PROGRAM), "kinegraph_mpi.so")):
            self.skipTest("no mpirun, or built without MPI")
        done = subprocess.run([mpirun, "--allow-run-as-root", "-n", "1", "-x", f"LD_PRELOAD={PRELOAD}", "-x", "KINEGRAPH_FAULT=MPI_Init_thread:1:EIO",
                               PROGRAM, "sweep", "study.yaml"], cwd=self.folder, capture_output=True, timeout=100, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("error: this MPI was built without threads: it must give MPI_THREAD_SERIALIZED\n", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "study.csv")))

    def test_a_sweep_at_any_moment(self):
        """Whatever fails, and whenever it is killed: no half table, and the same command makes the whole one."""
        moments = [f"write:{k}" for k in (1, 3, 20, 28, 34)] + ["fsync:1", "close:1", "close:2", "rename:1"]
        for table in ("a.csv", "a.h5") if "sweep_hdf5" in COMMANDS else ("a.csv",):
            command = ("sweep", "study.yaml", "--threads", "1", "--quiet", "--out", table)
            self.good(*command)
            whole = self.bytes_of(table)
            failed = 0
            for moment in moments:
                sure = moment.endswith(":1")  # a sweep does each of these at least once
                for error in ("ENOSPC", "KILL"):
                    with self.subTest(table=table, moment=moment, error=error):
                        self.forget()
                        status, _, err = self.run_with(f"{moment}:{error}", *command)
                        failed += status != 0
                        self.assertTrue(status != 0 or not sure)
                        if status != 0:
                            self.assertEqual(status, -signal.SIGKILL if error == "KILL" else 2, err)
                            self.assertNotIn(table, self.files())
                            if error != "KILL":  # HDF5 does not pass on why a file could not be closed
                                self.assertRegex(err, r"no space left on device\n$|^error: cannot write 'a.h5': HDF5 gave up\n$")
                            self.assertEqual(self.run_program(*command).status, 0)
                        self.assertEqual(self.bytes_of(table), whole)
            self.assertGreater(failed, 4)

    def bytes_of(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()


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
        self.write("long.urdf", chain(300))
        self.write("pendulum.urdf", PENDULUM)
        rows = 400_000
        self.write("motion.csv", "t,theta.q\n" + "".join(f"{i * 1e-3:.3f},{1e-6 * i}\n" for i in range(rows)))
        self.write("hinge.csv", "t,hinge.q,hinge.v,hinge.a\n" + "".join(f"{i * 1e-3:.3f},0,0,0\n" for i in range(rows)))
        self.write("readings.csv", "t,gyro.w,theta.q\n" + "".join(f"{i * 5e-3:.3f},0.1,0.1\n" for i in range(rows)))
        robot = LoopRobot(random.Random(1), joints=4, loops=6)
        self.write("loops.urdf", robot.text)
        self.write("loops.loops.yaml", robot.loops)
        self.write("study.yaml", STUDY.replace("samples: 12", "samples: 100000"))
        self.write("encoder.csv", "t,encoder.q\n" + "".join(f"{i * 5e-3:.3f},-1.5\n" for i in range(rows // 10)))

    LONG = {
        "kinematics": ["kinematics", "fourbar.yaml", "--move", "theta.q=0:1:900000"],
        "branches": ["kinematics", "loops.urdf", "--branches"],
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
        "sweep": ["sweep", "study.yaml"],
        "codegen": ["codegen", "chain.urdf", "--problem", "forward", "--ordering", "best"],
        "codegen_long": ["codegen", "long.urdf", "--problem", "forward", "--ordering", "best"],
    }

    def test_every_verb_ends_at_once_and_leaves_nothing(self):
        inputs = self.files()
        for name, command in self.LONG.items():
            with self.subTest(verb=name):
                verb = command[0]
                options = ["--out", "a.csv"] + ([] if verb == "codegen" else ["--json", "a.json"])
                process = subprocess.Popen([PROGRAM, *command, *options], cwd=self.folder, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                try:
                    end = time.monotonic() + 30
                    # A sweep shows its journal when it begins, others what they will write, under another name.
                    awaited = 1 if verb == "sweep" else len(options) // 2
                    while len(self.files()) < len(inputs) + awaited and time.monotonic() < end and process.poll() is None:
                        time.sleep(0.02)
                    time.sleep(0.1)
                    process.send_signal(signal.SIGINT)
                    _, err = process.communicate(timeout=10)
                finally:
                    process.kill()
                    process.communicate()
                self.assertEqual((process.returncode, err.splitlines()[-1]), (130, "error: interrupted"))
                journal = "a.csv.journal"  # of a sweep it stays: the same command goes on there
                self.assertEqual([file for file in self.files() if verb != "sweep" or file != journal], inputs)
                if os.path.exists(os.path.join(self.folder, journal)):
                    os.remove(os.path.join(self.folder, journal))

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
