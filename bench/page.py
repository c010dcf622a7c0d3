#!/usr/bin/python3
"""Runs the programs of bench/ one after the other and writes docs/performance.md from bench/performance.in.md.

    page.py FOLDER [--only NAME]... [--quick] [--write FILE] [--peers VENV]

FOLDER holds the programs. In the template a line `<!-- NAME -->` becomes what program NAME prints, and
`<!-- NAME: section -->` the part of it under the line `## section…`; `<!-- missed -->` and `<!-- machine -->` become what
their names say. Programs print markdown (lines that begin with `|` or `## `); what has neither is put in a code block.
A program that no line names is added at the end.

What a program printed is kept beside the programs (results/NAME.json), so that --only NAME runs one and takes the
others' text as it was; the page tells where texts are of different days. The status is 1 if a program crashed, not if
it missed a target.
"""

import argparse
import datetime
import glob
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MARK = re.compile(r"^<!-- *([a-z_]+)(?:: *(.+?))? *-->$")
MISSED = re.compile(r"\b(FAIL|MISSED)\b")
DEBIAN = ["libeigen3-dev", "libsuitesparse-dev", "libsimbody-dev", "libceres-dev", "coinor-libipopt-dev"]
WHEELS = ["pin", "mujoco", "crocoddyl"]


def programs_of(folder):
    return sorted(p.name for p in folder.iterdir() if p.is_file() and os.access(p, os.X_OK) and "." not in p.name)


def run(path, quick, limit):
    """What a program did. Threads that a peer would start by itself are forbidden to it."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if quick:
        environment["KINEGRAPH_QUICK"] = "1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        process = subprocess.Popen([str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                                   start_new_session=True)
        try:
            text = process.communicate(timeout=limit)[0]
            status = process.returncode
            why = f"ended by signal {-status}" if status < 0 else f"ended with status {status}" if status else ""
        except BaseException as stopped:  # too late, or Ctrl-C: peers that it started end with it
            os.killpg(process.pid, signal.SIGKILL)
            text = process.communicate()[0]
            if not isinstance(stopped, subprocess.TimeoutExpired):
                raise
            why = f"did not end within {limit:g} s"
    except OSError as error:
        why, text = f"could not be started: {error.strerror}", b""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"text": text.decode("utf-8", "replace").strip("\n"), "failed": why, "seconds": round(seconds, 1),
            "date": today(), "quick": quick}


def today():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def missed(record):
    return sum(bool(MISSED.search(line)) for line in record["text"].splitlines())


def sections(text):
    """[(title, lines)]; what comes before the first `## ` has no title."""
    parts = [("", [])]
    for line in text.splitlines():
        if line.startswith("## "):
            parts.append((line[3:].strip(), []))
        else:
            parts[-1][1].append(line)
    return parts


def body(lines):
    """Tables as they are, set apart by empty lines; blocks of other text as paragraphs."""
    out = []
    for line in lines:
        if line and out and out[-1] and line.startswith("|") != out[-1].startswith("|"):
            out.append("")
        out.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


def is_markdown(text):
    return any(line.startswith(("|", "## ")) for line in text.splitlines())


def insert(name, wanted, record):
    """The lines that take the place of a mark."""
    if record is None:
        return f"*`{name}` was not run here.*"
    notes = []
    if record["failed"]:
        notes.append(f"*`{name}` {record['failed']}; what it printed before:*" if record["text"] else
                     f"*`{name}` {record['failed']}, and printed nothing.*")
    text = record["text"]
    if not is_markdown(text):
        if wanted:
            return "\n\n".join(notes or [f"*`{name}` prints no section “{wanted}”.*"])
        return "\n\n".join(notes + ([f"```text\n{text}\n```"] if text else []))
    parts = sections(text)
    if wanted:
        parts = [(title, lines) for title, lines in parts if title.startswith(wanted)]
        if not parts:
            return "\n\n".join(notes + [f"*`{name}` prints no section “{wanted}”.*"])
    for title, lines in parts:
        shown = body(lines)
        if title and wanted:
            caption = title[len(wanted):].lstrip(":, ") or title
            notes.append(caption[0].upper() + caption[1:] + ":")
        elif title:
            notes.append(f"### {title}")
        if shown:
            notes.append(shown)
    return "\n\n".join(notes)


def summary(names, records):
    """How many targets were missed, by which programs; what crashed; what was not run."""
    lines = []
    run_names = [n for n in names if n in records]
    misses = {n: missed(records[n]) for n in run_names if missed(records[n])}
    total = sum(misses.values())
    told = ", ".join(f"`{n}` {count}" for n, count in misses.items())
    lines.append(f"**Lines that miss their target: {total}**" + (f" ({told})." if total else "."))
    for n in run_names:
        if records[n]["failed"]:
            lines.append(f"`{n}` {records[n]['failed']}.")
    absent = [f"`{n}`" for n in names if n not in records]
    if absent:
        lines.append(f"Not run here: {', '.join(absent)}.")
    quick = [f"`{n}`" for n in run_names if records[n]["quick"]]
    if quick:
        lines.append(f"Run with `--quick` (fewer repetitions, smaller sizes): {', '.join(quick)}.")
    dates = sorted({records[n]["date"] for n in run_names})
    if len(dates) > 1:
        each = ", ".join(f"`{n}` {records[n]['date']}" for n in run_names)
        lines.append(f"Texts are of several days: {each}.")
    return " ".join(lines)


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def processor():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    model = re.search(r"^model name\s*: *(.+)$", text, re.M)
    flags = set((re.search(r"^flags\s*: *(.+)$", text, re.M) or [" "] * 2)[1].split())
    widest = next((label for flag, label in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "no AVX2")
    return f"{model[1] if model else 'unknown'}, {os.cpu_count()} processors, {widest}"


def compiler(folder):
    """Of the build that the programs are of, by the nearest CMakeCache.txt above them."""
    for parent in [folder, *folder.parents]:
        cache = parent / "CMakeCache.txt"
        if cache.is_file():
            entries = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(encoding="utf-8"), re.M))
            path, kind = entries.get("CMAKE_CXX_COMPILER", ""), entries.get("CMAKE_BUILD_TYPE", "")
            flags = entries.get("CMAKE_CXX_FLAGS_" + kind.upper(), "")
            return f"{first_line([path, '--version']) or 'unknown'}; {kind} ({flags})"
    return "unknown"


def versions(peers):
    """Of what is measured beside us: Debian's packages, and the wheels of a virtual environment."""
    found = []
    for package in DEBIAN:
        version = first_line(["dpkg-query", "-W", "-f", "${Version}\n", package])
        found.append(f"{package} {version}" if version else f"{package} not installed")
    for wheel in WHEELS:
        there = glob.glob(f"{peers}/lib/python3*/site-packages/{wheel}-*.dist-info") if peers else []
        version = re.search(r"-([^-]+)\.dist-info$", there[0])[1] if there else ""
        found.append(f"{wheel} {version} (pip)" if version else f"{wheel} (pip) not installed")
    return ", ".join(found)


def machine(folder, peers):
    rows = [("processor", processor()), ("compiler", compiler(folder)), ("peers and libraries", versions(peers)),
            ("date", today()),
            ("load when this was written", f"{os.getloadavg()[1]:.1f} processes on {os.cpu_count()} processors")]
    return "| | |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)


def marks(template):
    """Names of programs in the template, in its order."""
    found = [m[1] for m in map(MARK.match, template.splitlines()) if m]
    return list(dict.fromkeys(n for n in found if n not in ("missed", "machine")))


def render(template, records, about_machine):
    names = marks(template)
    others = [n for n in sorted(records) if n not in names]
    lines = ["<!-- Written by bench/page.py from bench/performance.in.md: edit that, then `make bench`. -->", ""]
    for line in template.rstrip("\n").splitlines():
        mark = MARK.match(line)
        if not mark:
            lines.append(line)
        elif mark[1] == "missed":
            lines.append(summary(names + others, records))
        elif mark[1] == "machine":
            lines.append(about_machine)
        else:
            lines.append(insert(mark[1], mark[2], records.get(mark[1])))
    for name in others:
        lines += ["", f"## `{name}`", "", insert(name, None, records[name])]
    return "\n".join(lines) + "\n"


def load(results, names):
    """Records kept by an earlier run, of programs that are still there."""
    return {n: json.loads((results / f"{n}.json").read_text(encoding="utf-8"))
            for n in names if (results / f"{n}.json").is_file()}


def measure(folder, only, quick, limit):
    """Runs what is asked for and keeps it. Returns all records, and how many programs crashed now."""
    results = folder / "results"
    results.mkdir(exist_ok=True)
    names, crashed = programs_of(folder), 0
    for name in only or names:
        if name not in names:
            sys.exit(f"page.py: {folder} has no program {name}; it has: {', '.join(names) or 'none'}")
    for i, name in enumerate(chosen := only or names):
        print(f"\n[{i + 1}/{len(chosen)}] {name}", flush=True)
        record = run(folder / name, quick, limit)
        print(record["text"], flush=True)
        print(f"{name}: {record['failed'] or 'done'}, {record['seconds']:g} s of the processor", flush=True)
        crashed += bool(record["failed"])
        (results / f"{name}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    return load(results, names), crashed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", action="append", metavar="NAME", help="run this program alone; may be repeated")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and smaller sizes")
    parser.add_argument("--page-only", action="store_true", help="run nothing: the page from the texts that are kept")
    parser.add_argument("--limit", type=float, default=1800, metavar="SECONDS", help="for each program, default 1800")
    parser.add_argument("--peers", default="", metavar="VENV", help="where pip put the peers")
    parser.add_argument("--write", type=pathlib.Path, default=HERE.parent / "docs/performance.md", metavar="FILE")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not folder.is_dir():
        sys.exit(f"page.py: no folder {options.folder}")
    if options.page_only:
        records, crashed = load(folder / "results", programs_of(folder)), 0
    else:
        records, crashed = measure(folder, options.only, options.quick, options.limit)
    template = (HERE / "performance.in.md").read_text(encoding="utf-8")
    options.write.write_text(render(template, records, machine(folder, options.peers)), encoding="utf-8")
    print(f"\n{options.write}: {sum(map(missed, records.values()))} lines miss their target, {crashed} programs crashed")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
