#!/usr/bin/python3
"""Reads the JUnit file of a ctest run: lists what was skipped (with the reason) and what failed, then the counts.

    test_summary.py RESULTS.xml

The last line is `N passed, N failed, N skipped`. Exits with 1 if a test failed or none ran.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

# GoogleTest: "file.cpp:12: Skipped", the reason on the lines after it, then "[  SKIPPED ] …".
REASON = re.compile(r": Skipped\n(.*?)\n*\[  SKIPPED \]", re.DOTALL)


def skip_reason(case):
    match = REASON.search(case.findtext("system-out") or "")
    return " ".join(match.group(1).split()) if match else ""


def is_skipped(case):
    """Skipped by its own word. A test whose program is missing, or whose set-up failed, is "not run" too: a failure."""
    why = case.find("skipped")
    return case.get("status") == "disabled" or (why is not None and why.get("message", "").startswith("SKIP_"))


def main():
    cases = ElementTree.parse(sys.argv[1]).getroot().findall(".//testcase")
    passed = [c for c in cases if c.get("status") == "run"]
    skipped = [c for c in cases if is_skipped(c)]
    failed = [c for c in cases if c not in passed and c not in skipped]
    for case in skipped:
        reason = skip_reason(case)
        print(f"skipped: {case.get('name')}" + (f": {reason}" if reason else ""))
    for case in failed:
        print(f"failed: {case.get('name')}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
