#!/usr/bin/python3
"""Runs the experiments and writes the page: out/experiments/index.html.

    run.py [--jobs N] [--only NAME]... PROGRAM... [--alone PROGRAM...]

Programs run N at a time; those after --alone one after the other, at the end: they measure time. Each says what it
does in OUT/NAME.log and leaves its record in OUT/NAME.json. The page is written whatever happens; the exit status is
1 if a program failed.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import page

FOLDER = pathlib.Path("out/experiments")


def last_line(log):
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def run(program, limit):
    """One program; its outcome as the page wants it."""
    name = pathlib.Path(program).name
    record, log = FOLDER / f"{name}.json", FOLDER / f"{name}.log"
    record.unlink(missing_ok=True)
    begin = time.monotonic()
    with open(log, "w") as out:
        try:
            status = subprocess.run([program], stdout=out, stderr=subprocess.STDOUT, timeout=limit).returncode
            why = f"exit status {status}: {last_line(log)}"
        except subprocess.TimeoutExpired:
            status, why = -1, f"stopped after {limit:g} s"
        except OSError as error:
            status, why = -1, str(error)
    outcome = {"name": name, "seconds": time.monotonic() - begin, "state": "failed", "why": why}
    if status == 0 and not record.exists():
        outcome["why"] = "left no record"
    elif status == 0:
        skipped = json.loads(record.read_text())["skipped"]
        outcome.update(state="skipped" if skipped else "done", why=skipped or "")
    return outcome


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
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a program may take")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept_file = FOLDER / "runs.json"
    kept = {run["name"]: run for run in json.loads(kept_file.read_text())} if options.only and kept_file.exists() else {}
    everything = [pathlib.Path(p).name for p in options.programs + options.alone]
    wanted = [p for p in options.programs if not options.only or pathlib.Path(p).name in options.only]
    alone = [p for p in options.alone if not options.only or pathlib.Path(p).name in options.only]
    begin, outcomes = time.monotonic(), dict(kept)

    def tell(outcome):
        outcomes[outcome["name"]] = outcome
        done = sum(name in outcomes for name in everything)
        print(f'[{done:2}/{len(everything)}] {outcome["name"]}: {outcome["state"]}, {outcome["seconds"]:.1f} s '
              f'{outcome["why"]}', flush=True)

    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, p, options.limit) for p in wanted]):
            tell(future.result())
    for program in alone:
        tell(run(program, options.limit))
    runs = [outcomes[name] for name in everything if name in outcomes]
    kept_file.write_text(json.dumps(runs, indent=1) + "\n")
    total = time.monotonic() - begin
    page.make(FOLDER, runs, [
        f"{datetime.date.today()}, {processor()}, {os.cpu_count()} processors, {options.jobs} programs at a time, "
        f"{total:.0f} s in all. Times of ours are of this machine under whatever load it had; the papers’ are of theirs.",
        "Every figure of ours was written by a program in this run. Ratio: ours over the paper’s."])
    failed = [run["name"] for run in runs if run["state"] == "failed"]
    counts = {state: sum(run["state"] == state for run in runs) for state in ("done", "failed", "skipped")}
    print(", ".join(f"{n} {state}" for state, n in counts.items()) + f", {total:.0f} s; {FOLDER / 'index.html'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
