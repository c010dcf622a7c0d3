#!/usr/bin/python3
"""Runs the experiments and writes the page: out/experiments/index.html.

    run.py [--jobs N] [--quick] [--only NAME]... PROGRAM... [--alone PROGRAM...]

Programs run N at a time, the longest first; those after --alone one after the other, at the end: they measure time.
Each says what it does in OUT/NAME.log and leaves its record in OUT/NAME.json. One that fails does not end the others: the page is written
whatever happens, and the exit status is 1 if a program failed, or if of a table or figure (results.py) nothing is
recorded, not even why there is none: unless only some were run, or quickly.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import difflib
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import page

FOLDER = pathlib.Path("out/experiments")

# For the time left and the order in a first run, nothing else: processor seconds, roughly; of those that run alone by
# the clock.
ROUGH_CPU_S = {"model_errors": 240, "furuta_records": 75, "pendulum_records": 43, "branch_tracking": 41,
               "friction_prototype": 29, "furuta_sweeps": 28, "arm_outliers": 25, "quadruped_hexagon": 25,
               "furuta_swing_up": 30, "furuta_table": 15, "estimators": 15}


def expected(program, kept, field):
    """Seconds that a program takes: as last time here, else roughly."""
    name = pathlib.Path(program).name
    last = kept.get(name, {})
    known = last.get(field) if last.get("quick", False) == is_quick() else None
    return known or ROUGH_CPU_S.get(name, 5)


def last_line(log):
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def outcome_of(status, why, record):
    """done, failed or skipped, and why."""
    if status != 0:
        return "failed", why
    try:
        skipped = json.loads(record.read_text())["skipped"]
    except (OSError, ValueError, KeyError):
        return "failed", "left no record"
    return ("skipped", skipped) if skipped else ("done", "")


RUNNING = set()  # processes, to be ended with this one
INTERRUPTED = threading.Event()


def end(process, how):
    with contextlib.suppress(ProcessLookupError):  # it may just have ended by itself
        os.kill(process, how)


def interrupt(*_):
    """Ctrl-C. No exception, which could come while a program is being started and leave it running."""
    INTERRUPTED.set()
    for process in list(RUNNING):
        end(process, signal.SIGTERM)


def run(program, limit):
    """One program; its outcome as the page wants it, with the processor time of all its threads. None: interrupted."""
    if INTERRUPTED.is_set():
        return None
    name = pathlib.Path(program).name
    record, log = FOLDER / f"{name}.json", FOLDER / f"{name}.log"
    record.unlink(missing_ok=True)
    begin, status, why, cpu = time.monotonic(), -1, "", 0.0
    with open(log, "w") as out:
        try:
            process = subprocess.Popen([program], stdout=out, stderr=subprocess.STDOUT)
            RUNNING.add(process.pid)
            if INTERRUPTED.is_set():
                end(process.pid, signal.SIGTERM)
            stop = threading.Timer(limit, end, (process.pid, signal.SIGKILL))
            stop.start()
            _, waited, used = os.wait4(process.pid, 0)
            stop.cancel()
            RUNNING.discard(process.pid)
            process.returncode = status = os.waitstatus_to_exitcode(waited)
            cpu = used.ru_utime + used.ru_stime
            late = time.monotonic() - begin >= limit
            why = f"stopped after {limit:g} s" if late else f"exit status {status}: {last_line(log)}"
        except OSError as error:
            why = str(error)
    state, why = outcome_of(status, why, record)
    return {"name": name, "seconds": time.monotonic() - begin, "cpu_s": cpu, "quick": is_quick(), "state": state,
            "why": why}


def is_quick():
    return bool(os.environ.get("KINEGRAPH_QUICK"))


def read_runs(file):
    """Of an earlier run, by name; none where there was none."""
    try:
        return {run["name"]: run for run in json.loads(file.read_text())}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


class Progress:
    """What is done, what runs, and how long the rest takes: by the time that each took last time here, else by a rough
    figure."""

    def __init__(self, together, alone, jobs, kept):
        self.left_together = {pathlib.Path(p).name: expected(p, kept, "cpu_s") for p in together}
        self.left_alone = {pathlib.Path(p).name: expected(p, kept, "seconds") for p in alone}
        self.jobs, self.all, self.done = max(1, jobs), len(together) + len(alone), 0
        self.begin, self.expected = time.monotonic(), self.left()
        print(f"{self.all} program{'s' * (self.all != 1)}, about {minutes(self.expected)}", flush=True)

    def left(self):
        return sum(self.left_together.values()) / self.jobs + sum(self.left_alone.values())

    def tell(self, outcome):
        self.done += 1
        self.left_together.pop(outcome["name"], None), self.left_alone.pop(outcome["name"], None)
        spent, left = time.monotonic() - self.begin, self.left()
        pace = spent / (self.expected - left) if self.expected - left > 0 else 1  # slower or faster than foretold
        print(f'[{self.done:2}/{self.all}] {outcome["name"]}: {outcome["state"]}, {outcome["seconds"]:.1f} s, '
              f'processor {outcome["cpu_s"]:.1f} s; {minutes(spent)} gone, about {minutes(left * pace)} left'
              + (f'\n        {outcome["why"]}' if outcome["why"] else ""), flush=True)


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--alone", nargs="*", default=[], help="programs that measure time")
    parser.add_argument("--only", action="append", default=[], help="run this one; the others keep their records")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="what is random is repeated a tenth as often")
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a program may take")
    options = parser.parse_args()
    everything = [pathlib.Path(p).name for p in options.programs + options.alone]
    for name in options.only:
        if name not in everything:
            near = difflib.get_close_matches(name, everything, 1)
            parser.error(f"--only {name}: there is no such program" + (f"; {near[0]}?" if near else ""))
    FOLDER.mkdir(parents=True, exist_ok=True)
    if options.quick:
        os.environ["KINEGRAPH_QUICK"] = "1"
    kept_file = FOLDER / "runs.json"
    kept = read_runs(kept_file)
    wanted = [p for p in options.programs if not options.only or pathlib.Path(p).name in options.only]
    wanted.sort(key=lambda p: expected(p, kept, "cpu_s"), reverse=True)  # so that none is left alone at the end
    alone = [p for p in options.alone if not options.only or pathlib.Path(p).name in options.only]
    begin, outcomes = time.monotonic(), dict(kept) if options.only else {}
    progress = Progress(wanted, alone, options.jobs, kept)

    def tell(outcome):
        if INTERRUPTED.is_set():
            return
        outcomes[outcome["name"]] = outcome
        progress.tell(outcome)

    signal.signal(signal.SIGINT, interrupt)
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, p, options.limit) for p in wanted]):
            tell(future.result())
    for program in alone:
        tell(run(program, options.limit))
    if INTERRUPTED.is_set():
        print("interrupted: no page is written", file=sys.stderr)
        sys.exit(130)
    runs = [outcomes[name] for name in everything if name in outcomes]
    kept_file.write_text(json.dumps(runs, indent=1) + "\n")
    total, cpu = time.monotonic() - begin, sum(run.get("cpu_s", 0) for run in runs)
    untold = page.make(FOLDER, runs, [
        f"{datetime.date.today()}, {processor()}, {os.cpu_count()} processors, {options.jobs} programs at a time: "
        f"{minutes(total)}, {minutes(cpu)} of processor time. Times of ours are of this machine under whatever load it "
        "had; the papers’ are of theirs.",
        "Every figure of ours was written by a program " + ("of this run or of an earlier one" if options.only else
                                                            "in this run") + ". Ratio: ours over the paper’s."
        + (" A quick look: what is random was repeated a tenth as often as it should be." if is_quick() else "")])
    failed = [run["name"] for run in runs if run["state"] == "failed"]
    counts = {state: sum(run["state"] == state for run in runs) for state in ("done", "failed", "skipped")}
    print(", ".join(f"{n} {state}" for state, n in counts.items()) + f", {minutes(total)}; {FOLDER / 'index.html'}")
    if failed:
        print(f'failed: {", ".join(failed)} (what they said is in {FOLDER}/NAME.log)', file=sys.stderr)
    incomplete = untold and not options.only and not is_quick()
    if incomplete:
        print(f'incomplete: nothing is recorded of {", ".join(untold)}, nor why', file=sys.stderr)
    sys.exit(1 if failed or incomplete else 0)


if __name__ == "__main__":
    main()
