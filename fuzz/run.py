#!/usr/bin/python3
"""Runs the fuzzer of build/fuzz for one reader after the other: seeds from models/ and fuzz/regressions.

    run.py [--build | --only-build] [--seconds N | --each N] [TARGET …]

--build makes it first (cmake --preset fuzz; clang with libFuzzer). --seconds N: in all; --each N: for each target, as many
at once as there are processors.
Limits: no crash, no report of a sanitizer, 1 s of processor time per input (fuzz/driver.cpp), 1 GB.
An input that breaks one is kept in build/fuzz/found/TARGET: mend the reader, then put it in fuzz/regressions/TARGET.
Ends with 77 where there is no clang with libFuzzer, or, without --build, no fuzzer.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "fuzz")
PROGRAM = os.path.join(BUILD, "fuzz", "fuzzer")
SKIPPED = 77

# What each target reads, of our own models.
SEEDS = {
    "expression": [],
    "mechanism": ["models/*.yaml"],
    "task": ["models/tasks/*.yaml"],
    "study": ["models/studies/*.yaml", "fuzz/seeds/study/*"],
    "urdf": ["models/*.urdf"],
    "sdf": ["models/*.sdf"],
    "loops": ["models/*.loops.yaml"],
    "sensors": ["models/*.sensors.yaml"],
    "table": ["models/*.csv"],
    "log": ["fuzz/seeds/log/*"],
    "settings": ["fuzz/seeds/settings/*"],
    "mesh": ["fuzz/seeds/mesh/*"],
}
LONGEST = 20000  # bytes of an input


def can_build():
    """Whether clang++ is there and links a libFuzzer program."""
    if not shutil.which("clang++") or not shutil.which("cmake"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "a.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include <string>\nextern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) '
                       "{ return 0; }\n")
        command = ["clang++", "-fsanitize=fuzzer,address,undefined", source, "-o", os.path.join(folder, "a")]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def build():
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", BUILD, "--target", "fuzzer", "--parallel", "2"]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-4000:])
            return False
    return True


def seeds_of(target):
    files = [path for pattern in SEEDS[target] for path in sorted(glob.glob(os.path.join(ROOT, pattern)))]
    files += sorted(glob.glob(os.path.join(ROOT, "fuzz", "regressions", target, "*")))
    return [path for path in files if os.path.getsize(path) <= LONGEST]


def formulas():
    """Every text in the models that could be a formula: the seeds of `expression`."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "models", "*.yaml")):
        with open(path, encoding="utf-8") as file:
            found.update(part.strip() for part in re.split(r"[:,{}\[\]\n#]", file.read()))
    return sorted(part for part in found if part)


def prepare(target, folder):
    """The seeds in a folder, and a dictionary of the words in them."""
    seeds = os.path.join(folder, "seeds")
    os.makedirs(seeds)
    texts = []
    for number, path in enumerate(seeds_of(target)):
        shutil.copyfile(path, os.path.join(seeds, f"{number:03}"))
        with open(path, "rb") as file:
            texts.append(file.read())
    if target == "expression":
        for number, formula in enumerate(formulas()):
            with open(os.path.join(seeds, f"formula{number:04}"), "w", encoding="utf-8") as file:
                file.write(formula)
            texts.append(formula.encode())
    words = sorted({word for text in texts for word in re.findall(rb"[A-Za-z_:/.]{2,24}", text)})[:1500]
    dictionary = os.path.join(folder, "words")
    with open(dictionary, "wb") as file:
        for word in words:
            file.write(b'"' + word + b'"\n')
        for odd in (b"1e308", b"1e999", b"-0", b"nan", b"inf", b"\\xEF\\xBB\\xBF", b"\\x00", b"&#x0;", b"&a [*a, *a]", b"<<: *a"):
            file.write(b'"' + odd + b'"\n')
    return seeds, dictionary


def fuzz(target, seconds):
    found = os.path.join(BUILD, "found", target) + os.sep
    corpus = os.path.join(BUILD, "corpus", target)
    os.makedirs(found, exist_ok=True)
    os.makedirs(corpus, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        seeds, dictionary = prepare(target, folder)
        # -timeout is of the clock, and the machine may be busy: the driver counts processor time.
        command = [PROGRAM, corpus, seeds, f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=30",
                   "-rss_limit_mb=1024", f"-dict={dictionary}", f"-artifact_prefix={found}", "-print_final_stats=1",
                   "-seed=10", "-verbosity=1"]
        environment = dict(os.environ, KINEGRAPH_FUZZ_TARGET=target,
                           ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=0:quarantine_size_mb=64",
                           UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False)
    text = done.stdout.decode(errors="replace")
    count = re.search(r"number_of_executed_units: (\d+)", text)
    peak = re.search(r"peak_rss_mb: +(\d+)", text)
    print(f"{target}: {count.group(1) if count else '?'} inputs, {peak.group(1) if peak else '?'} MB at most, "
          f"{'sound' if done.returncode == 0 else 'BROKEN'}", flush=True)
    if done.returncode != 0:
        print(text[-6000:], flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--only-build", action="store_true")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--each", type=int, default=600)
    parser.add_argument("targets", nargs="*", default=[], metavar="TARGET")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(SEEDS)
    if unknown:
        sys.exit(f"unknown target {', '.join(sorted(unknown))}; expected some of {', '.join(SEEDS)}")
    if arguments.build or arguments.only_build:
        if not can_build():
            print("there is no clang with libFuzzer here (Debian: clang)")
            sys.exit(SKIPPED)
        if not build():
            sys.exit("the fuzzer could not be built")
    if arguments.only_build:
        return
    targets = arguments.targets or list(SEEDS)
    if not os.path.exists(PROGRAM):
        print("the fuzzer is not built: run.py --build, or make fuzz-short")
        sys.exit(SKIPPED)
    each = max(1, arguments.seconds // len(targets)) if arguments.seconds else arguments.each
    with concurrent.futures.ThreadPoolExecutor(1 if arguments.seconds else len(os.sched_getaffinity(0))) as pool:
        sound = list(pool.map(lambda target: fuzz(target, each), targets))
    sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
