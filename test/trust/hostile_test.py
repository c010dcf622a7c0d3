"""Files that somebody made to do harm, or that are far from what was meant: hostile_test.py PROGRAM [SUITE.TEST ...]

Each is refused within a second of processor time and a gigabyte of memory, with status 2 and a message that can be read;
nothing is opened beside the files that the command names and, for meshes, those in the model's folder. How fast a machine is
must not decide whether `make test` passes: here a second is eight; soak.py asks for one (KINEGRAPH_SECOND=1).
"""

import os
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from program import FOURBAR, PENDULUM, PROGRAM, Cli  # noqa: E402

SANITIZED = os.environ.get("KINEGRAPH_SANITIZED") == "1"
SECOND = float(os.environ.get("KINEGRAPH_SECOND", "8")) * (6 if SANITIZED else 1)
GIGABYTE = 1 << 30


def limited():
    if not SANITIZED:  # the sanitizer reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))


class Hostile(Cli):
    def put(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(os.path.join(self.folder, name), mode) as file:
            file.write(content)

    def refused(self, *command, says, status=2):
        """Runs the program; `says` is part of what it tells."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([PROGRAM, *command], cwd=self.folder, capture_output=True, timeout=100, check=False,
                              preexec_fn=limited, stdin=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        message = done.stderr.decode("utf-8")  # a message is text, whatever the file was
        self.assertEqual(done.returncode, status, message[:500])
        self.assertEqual(done.stdout, b"")
        self.assertIn(says, message)
        self.assertLess(len(message), 60000)
        self.assertLess(max(len(line) for line in message.splitlines()), 2000)
        self.assertFalse([c for c in message if ord(c) < 32 and c != "\n"], message[:200])
        self.assertLess(spent, SECOND, message[:200])
        return message

    def refused_text(self, name, content, says, *command):
        self.put(name, content)
        return self.refused(*(command or ("check",)), name, says=says)


class Yaml(Hostile):
    def test_aliases_that_multiply(self):
        bomb = "a: &a0 {x: 0, y: 0}\n"
        for i in range(1, 10):
            bomb += f"{chr(97 + i)}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
        bomb += "points: *a9\n"  # a billion points
        self.refused_text("a.yaml", bomb, "more than 300000 values: aliases multiply them")
        flat = "points: [" + "{x: 0, y: 0}, " * 1000 + "]\nplanar_bodies:\n  - &b {points: [" + "0, " * 1000 + "0]}\n"
        self.refused_text("b.yaml", flat + "  - *b\n" * 5000, "more than 300000 values: aliases multiply them")
        self.refused_text("c.yaml", "points: &a [*a, *a]\n", "an alias within what it names")
        task = "model: fourbar.yaml\nhorizon: 1\nsteps: 2\ncontacts:\n  - &c {name: a, link: a, closed: [" + "[0, 1], " * 9000 + "]}\n"
        self.refused_text("task.yaml", task + "  - *c\n" * 9000, "more than 300000 values: aliases multiply them", "plan")

    def test_depth(self):
        for opening in ("[", "{", "- ", "? ", "a: {", "&a [", "!t [", "\"[", "'["):
            message = self.refused_text("a.yaml", opening * 500_000, "a.yaml:")
            self.assertIn("error: ", message)

    def test_ten_megabytes_of_one_thing(self):
        size = 9_900_000
        for unit in ("points: []\n", "k: 1\n", "- 1\n", "*a ", "&a ", "!a ", "# x\n", "'", "\"", "\\", "|\n", "%", "---\n", "...\n",
                     "a", " ", "\n", "\t", ": ", "? \n", ",", "é", "points:\n  - {x: 0}\n"):
            self.refused_text("a.yaml", unit * (size // len(unit.encode())), "a.yaml:")

    def test_many_distinct_names(self):
        self.refused_text("a.yaml", "".join(f"k{i}: 1\n" for i in range(140_000)), "unknown key 'k0'")
        self.refused_text("b.yaml", "parameters:\n" + "".join(f"  k{i}: k{i + 1}\n" for i in range(140_000)), "b.yaml:")
        points = "points:\n" + "".join(f"  - {{name: p{i}, x: q{i}, y: 0}}\n" for i in range(40_000))
        self.refused_text("c.yaml", points, "unknown")
        self.refused_text("d.yaml", "model: a\n" + "".join(f"k{i}: 1\n" for i in range(140_000)), "d.yaml:", "plan")
        joints = "model: a\nstart: {joints: {" + "".join(f"k{i}: x, " for i in range(140_000)) + "}}\n"
        self.refused_text("e.yaml", joints, "e.yaml:", "plan")
        study = "verb: check\nmodel: a\noutputs: [mass]\nvary:\n" + "".join(f"  k{i}: x\n" for i in range(140_000))
        self.refused_text("f.yaml", study, "f.yaml:", "sweep")

    def test_formulas(self):
        def model(formula):
            return f"points:\n  - {{x: {formula}, y: 0}}\n"
        self.refused_text("a.yaml", model("1+" * 500_000 + "1"), "formula too long")
        self.refused_text("b.yaml", model("'" + "(" * 4000 + "1" + ")" * 4000 + "'"), "nested too deeply")
        self.refused_text("c.yaml", model("-" * 9000 + "1"), "nested too deeply")
        self.refused_text("d.yaml", model("2" + "^2" * 4000), "nested too deeply")
        self.refused_text("e.yaml", model("1e999"), "number out of range")
        self.refused_text("f.yaml", model("10^400"), "infinite")
        self.refused_text("g.yaml", model("0/0"), "not a number")
        self.refused_text("h.yaml", model("9" * 9000), "number out of range")
        self.refused("simulate", "fourbar.yaml", "--time", "(" * 5000, says="nested too deeply")
        self.refused("simulate", "fourbar.yaml", "--set", "L=" + "1+" * 50_000 + "1", says="formula too long")

    def test_rates_and_numbers_beyond_all_machines(self):
        sensors = "\nsensors: [{name: gyro, type: gyroscope, body: crank, rate: 1e15}]\n"
        self.put("rate.yaml", FOURBAR + sensors)
        self.refused("simulate", "rate.yaml", "--time", "1", "--sensors", "a.csv", says="their readings must take at most 1 GB of memory, take 5.6e+07 GB in 1 s")
        self.put("noise.yaml", FOURBAR + sensors.replace("rate: 1e15", "rate: 100, noise: 1e308"))
        self.refused("check", "noise.yaml", says="is not from -1e+50 to 1e+50")

    def test_texts_that_are_none(self):
        for name, content, says in (("nul", b"points: [{x: 0\0, y: 0}]", "not a text in UTF-8"),
                                    ("latin", "name: café\n".encode("latin-1"), "not a text in UTF-8"),
                                    ("utf16", "points: []\n".encode("utf-16"), "not a text in UTF-8"),
                                    ("overlong", b"name: \xc0\xaf\n", "not a text in UTF-8"),
                                    ("bytes", bytes(range(256)) * 100, "not a text in UTF-8"),
                                    ("empty", b"", "the file is empty"),
                                    ("bom", b"\xef\xbb\xbf", "the file is empty")):
            self.refused_text(f"{name}.yaml", content, says)

    def test_other_line_ends_and_a_byte_order_mark_are_fine(self):
        for name, text in (("crlf", FOURBAR.replace("\n", "\r\n")), ("cr", FOURBAR.replace("\n", "\r")), ("bom", "\ufeff" + FOURBAR)):
            self.put(f"{name}.yaml", text.encode())
            self.good("check", f"{name}.yaml")


class Xml(Hostile):
    def test_entities(self):
        bomb = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "ha">'
        bomb += "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
        bomb += ']><robot name="r"><link name="&a9;"/></robot>'
        outside = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/></robot>'
        for extension in ("urdf", "sdf", "xml", "world"):
            self.refused_text(f"a.{extension}", bomb, "the DOCTYPE defines an entity: entities are not expanded")
            self.refused_text(f"b.{extension}", outside, "the DOCTYPE defines an entity: entities are not expanded")
        self.refused_text("c.urdf", "<robot name='&lol;'/>", "unknown entity '&lol;'; entities are not expanded")

    def test_a_million_nested_elements(self):
        for extension in ("urdf", "sdf"):
            self.refused_text(f"a.{extension}", "<a>" * 1_000_000, "nested too deeply: more than")
            nested = f"<{'robot' if extension == 'urdf' else 'sdf'}>" + "<model name='m'>" * 500_000
            self.refused_text(f"b.{extension}", nested, "nested too deeply: more than")

    def test_ten_megabytes_of_one_thing(self):
        size = 9_900_000
        for begin, unit, end in (("<robot name='r'>", "<link/>", "</robot>"), ("<robot name='r'>", "<joint/>", "</robot>"),
                                 ("<robot name='r'>", "<x/>", "</robot>"), ("<robot name='r'>", "<mass/>", "</robot>"),
                                 ("<sdf version='1.9'><model name='m'>", "<link/>", "</model></sdf>"),
                                 ("<sdf version='1.9'><model name='m'>", "<x/>", "</model></sdf>"),
                                 ("<robot name='", "a", "'/>"), ("<robot ", "a='' ", "/>"), ("", "<!---->", ""), ("", "<?a?>", ""),
                                 ("<robot name='r'>", "&amp;", "</robot>"), ("<", "a", "/>"), ("<robot>", "<![CDATA[]]>", "</robot>"),
                                 ("<!DOCTYPE ", "[]", ">")):
            for extension in ("urdf", "sdf"):
                with self.subTest(begin=begin, unit=unit, extension=extension):
                    self.refused_text(f"a.{extension}", begin + unit * (size // len(unit)) + end, f"a.{extension}:")

    def test_many_distinct_names(self):
        attributes = " ".join(f"xmlns:a{i}='' a{i}:b=''" for i in range(200_000))
        self.refused_text("a.urdf", f"<robot name='r' {attributes}/>", "the robot has no links")
        joints = "".join(f"<joint name='j{i}' type='fixed'><parent link='a{i}'/><child link='b{i}'/></joint>" for i in range(60_000))
        self.refused_text("b.urdf", f"<robot name='r'><link name='l'/>{joints}</robot>", "unknown link 'a0'")
        links = "".join(f"<link name='l{i}'/>" for i in range(60_000))
        mimics = "".join(f"<joint name='j{i}' type='fixed'><parent link='l0'/><child link='l{i + 1}'/><mimic joint='k{i}'/></joint>"
                         for i in range(30_000))
        self.refused_text("c.urdf", f"<robot name='r'>{links}{mimics}</robot>", "mimics the unknown joint 'k0'")
        models = "".join(f"<joint name='j{i}' type='fixed'><parent>a{i}</parent><child>b</child></joint>" for i in range(50_000))
        self.refused_text("d.sdf", f"<sdf version='1.9'><model name='m'>{models}</model></sdf>", "too many for libsdformat")

    def test_numbers(self):
        def mass(value):
            return f"<robot name='r'><link name='a'><inertial><mass value='{value}'/></inertial></link></robot>"
        for value in ("1e999", "nan", "inf", "-inf", "0x10", "1,5", "1e", "--1", "9" * 100_000):
            self.refused_text("a.urdf", mass(value), "a.urdf:1:")
        self.refused_text("b.urdf", mass("1e308").replace("/></inertial>", "/><inertia ixx='1e308' ixy='1e308' ixz='1e308' "
                          "iyy='1e308' iyz='1e308' izz='1e308'/></inertial>"), "b.urdf:1:")

    def test_texts_that_are_none(self):
        good = PENDULUM.encode()
        for extension in ("urdf", "sdf", "xml"):
            for name, content in (("nul", good.replace(b"bob", b"b\0b")), ("latin", good.replace(b"bob", b"b\xe9b")),
                                  ("utf16", PENDULUM.encode("utf-16")), ("bytes", bytes(range(256)) * 100)):
                self.refused_text(f"{name}.{extension}", content, "not a text in UTF-8")
            self.refused_text(f"empty.{extension}", b"", "not an XML file")
        self.refused_text("escaped.urdf", good.replace(b"bob", b"b&#0;b"), "'&#0;' is not a character")


class Tables(Hostile):
    MOTION = ("inverse", "fourbar.yaml", "--motion")

    def table(self, content, says, name="a.csv"):
        self.put(name, content)
        for command in (self.MOTION, ("simulate", "fourbar.yaml", "--input")):
            self.refused(*command, name, says=says)

    def test_a_line_of_100_megabytes(self):
        self.table("t,theta.q\n0," + "1" * 100_000_000, "the line is longer than 10 MB; this is no table")
        self.table("t," + "a," * 50_000_000, "the line is longer than 10 MB; this is no table")

    def test_columns(self):
        self.table("t," + ",".join(f"c{i}" for i in range(1_000_000)) + "\n0\n", "the table has 1000001 columns, more than 100000")
        self.table("t," + ",".join(f"c{i}" for i in range(90_000)) + "\n0\n", "a.csv:")
        self.table("t," + "a," * 90_000 + "\n0\n", "column 3 has the same name as column 2: 'a'")

    def test_texts_that_are_none(self):
        self.table(b"t,theta.q\n0,1\0\n", "expected a number for 'theta.q', found '1 '")
        self.table(b"t,th\0eta.q\n0,1\n", "found bytes that are no text")
        self.table("t,theta.q\n0,1\n".encode("utf-16"), "the text is UTF-16; save it as UTF-8")
        self.table(b"", "the file is empty")
        self.table(b"\xef\xbb\xbf", "a.csv:1:1: error: there are only comments")
        for value in ("1e999", "nan", "inf", "-inf", "1e", "0x1p3", "٣"):
            self.table(f"t,theta.q\n0,{value}\n", " for 'theta.q', found '")

    def test_names_that_are_long_or_odd(self):
        self.table("t," + "a" * 1_000_000 + "\n0,x\n", "a.csv:")
        self.table('t,"\x7f\x1b[31m"\n0,1\n', "a.csv:1:")


class Places(Hostile):
    """What is no file, and what lies elsewhere."""

    def test_no_files(self):
        os.mkdir(os.path.join(self.folder, "folder.yaml"))
        os.mkdir(os.path.join(self.folder, "folder.urdf"))
        os.mkfifo(os.path.join(self.folder, "pipe.yaml"))
        os.mkfifo(os.path.join(self.folder, "pipe.sdf"))
        os.symlink("/dev/zero", os.path.join(self.folder, "zero.yaml"))
        os.symlink("loop.urdf", os.path.join(self.folder, "loop.urdf"))
        for name in ("folder.yaml", "folder.urdf"):
            self.refused("check", name, says=f"{name}: error: cannot read the file: it is a directory")
        for name in ("pipe.yaml", "pipe.sdf", "zero.yaml"):
            self.refused("check", name, says=f"{name}: error: cannot read the file: it is a pipe or a device")
        self.refused("check", "loop.urdf", says="loop.urdf: error: cannot read the file: too many levels of symbolic links")
        self.refused("plan", "pipe.yaml", says="it is a pipe or a device")
        self.refused("check", "fourbar.yaml", "--set", "@pipe.yaml", says="it is a pipe or a device")
        motion = ("inverse", "fourbar.yaml", "--motion")
        self.refused(*motion, "folder.yaml", says="folder.yaml: error: cannot read the file: is a directory")
        self.refused(*motion, "pipe.yaml", says="pipe.yaml: error: cannot read the file: nobody writes to this pipe")
        self.refused(*motion, "zero.yaml", says="the line is longer than 10 MB")

    def test_names_that_mean_something_elsewhere(self):
        """Quotes, HTML, shell and C++ in names stay names: in messages, tables, pages and code."""
        name = "a\"'><script>alert(1)</script>$(touch hacked)`touch hacked`;\\n*/ } int main() {"
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        self.put("names.yaml", FOURBAR.replace("crank", f'"{quoted}"').replace("name: theta", f'name: "{quoted}t"')
                 .replace("coordinate: theta", f'coordinate: "{quoted}t"'))
        escaped = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        self.put("names.urdf", PENDULUM.replace("bob", escaped).replace("hinge", escaped + "j"))
        self.refused("check", "names.yaml", says="names.yaml:8:")  # formulas name them
        for model in ("names.urdf",):
            self.good("check", model)
            self.good("simulate", model, "--time", "0.01", "--out", "a.csv", "--report", "a.html", "--json", "a.json")
            page = self.read("a.html")
            self.assertNotIn("<script>alert(1)", page)
            self.good("graph", model, "--format", "svg", "--out", "a.svg")
            self.assertNotIn("<script", self.read("a.svg"))
            self.good("graph", model, "--format", "dot", "--out", "a.dot")
        code = self.run_program("codegen", "names.urdf", "--problem", "inverse", "--out", "a.hpp")
        self.assertEqual(code.status, 0, code.err)
        subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-include", os.path.join(self.folder, "a.hpp"), "-x", "c++",
                        "/dev/null"], check=True, timeout=100)
        self.assertNotIn("hacked", os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
