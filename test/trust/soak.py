#!/usr/bin/python3
"""Long runs, less than an hour in all: soak.py PROGRAM [--share S]

    hostile files        each refused within one second (`make test` gives eight: it does not judge machines); alone,
                         the others after it, as many at once as there are processors
    random machines      1000 of every kind of test/trust/numerics_test.py
    fixed-lag simulation 1e7 steps of a four-bar: memory is flat, constraints do not drift, energy is kept
    particle filter      8 simulated hours of readings: the weights do not collapse, the errors stay what it says they are

--share 0.01 makes all of them a hundredth as long. The last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "../../models")
MEGABYTE = 1 << 20


def memory_of(process):
    """Resident bytes, or None once it has ended."""
    try:
        with open(f"/proc/{process.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return None


def watched(command):
    """Runs a command; its status, its output, and its memory now and then."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err) as process:
            memory = []
            while process.poll() is None:
                seen = memory_of(process)
                if seen:
                    memory.append(seen)
                time.sleep(0.05 if len(memory) < 200 else 1)
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read(), err.read(), memory


def tests(file, program, **environment):
    """What tests say in their last line, all of it where they fail; whether they passed."""
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, file), program], env=dict(os.environ, **environment),
                          stderr=subprocess.PIPE, text=True, check=False)
    told = done.stderr if done.returncode != 0 else done.stderr.splitlines()[-1]
    return told[-6000:], done.returncode == 0


def random_machines(program, share, _folder):
    cases = max(5, round(1000 * share))
    told, passed = tests("numerics_test.py", program, KINEGRAPH_CASES=str(cases))
    return f"{cases} of each kind: {told}", passed


def hostile_files(program, _share, _folder):
    return tests("hostile_test.py", program, KINEGRAPH_SECOND="1")


def fixed_lag(program, share, _folder):
    steps = round(1e7 * share)
    status, out, err, memory = watched([program, "simulate", os.path.join(MODELS, "fourbar.yaml"), "--time", repr(steps * 1e-3), "--step",
                                        "1ms", "--json", "-", "--quiet"])
    if status != 0:
        return f"status {status}: {err}", False
    found = json.loads(out)
    settled = memory[len(memory) // 5:] or memory
    growth = (max(settled) - settled[0]) / MEGABYTE
    told = (f"{found['steps']} steps of {found['step_us']:.3g} µs; memory {settled[0] / MEGABYTE:.0f} MB, grew by {growth:.1f} MB; "
            f"constraints {found['constraint_max']:.2g}, energy drift {found['energy_drift']:.2g}")
    return told, found["steps"] == steps and growth < 4 and found["constraint_max"] < 1e-8 and found["energy_drift"] < 1e-4


def particle_filter(program, share, folder):
    seconds = 8 * 3600 * share
    model = os.path.join(MODELS, "fourbar_gyro.yaml")
    truth, log, found = (os.path.join(folder, name) for name in ("truth.csv", "readings.csv", "found.csv"))
    made = subprocess.run([program, "simulate", model, "--time", repr(seconds), "--step", "5ms", "--disturbed", "--sensors", log, "--out",
                           truth, "--quiet"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"the readings: status {made.returncode}: {made.stderr}", False
    status, out, err, memory = watched([program, "estimate", model, "--log", log, "--filter", "particle", "--particles", "100", "--step",
                                        "5ms", "--out", found, "--json", "-", "--quiet"])
    if status != 0:
        return f"status {status}: {err}", False
    summary = json.loads(out)
    worst, within, rows = compare(truth, found)
    told = (f"{summary['time_end'] / 3600:.3g} h in {summary['wall_s']:.0f} s, {max(memory) / MEGABYTE:.0f} MB; largest error {worst:.2g} rad, "
            f"{100 * within / rows:.1f} % within three deviations; NIS {summary['nis_mean']:.3f}")
    return told, worst < 0.2 and within > 0.95 * rows and 0.5 < summary["nis_mean"] < 2


def compare(truth, found):
    """The largest error of the crank's angle, and how often it is within three of the standard deviations told."""
    worst, within, rows = 0.0, 0, 0
    with open(truth, encoding="utf-8") as one, open(found, encoding="utf-8") as other:
        exact = {round(float(row["t"]), 6): float(row["theta.q"]) for row in csv.DictReader(one)}
        for row in csv.DictReader(other):
            right = exact.get(round(float(row["t"]), 6))
            if right is None or float(row["t"]) < 1:
                continue
            error = abs(math.remainder(float(row["theta.q"]) - right, 2 * math.pi))
            worst, rows = max(worst, error), rows + 1
            within += error <= 3 * float(row["theta.q.sd"]) + 1e-9
    return worst, within, max(1, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--share", type=float, default=1.0)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    def one(run):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="kinegraph_soak_") as folder:
            told, passed = run(program, arguments.share, folder)
        print(f"{run.__name__.replace('_', ' ')}, {time.monotonic() - begin:.0f} s: {'passed' if passed else 'FAILED'}\n  {told}", flush=True)
        return passed

    results = [one(hostile_files)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results += pool.map(one, (random_machines, particle_filter, fixed_lag))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
