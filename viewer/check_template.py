#!/usr/bin/python3
"""Says whether dist/report.html was built from the sources beside it. Needs no Node.

    check_template.py        exit status 1, and what to do, if it was not

The page carries the SHA-256 of what it was made of (vite.config.ts: sourcesHash): for each file, sorted by name, its name,
a zero, its bytes, a zero.
"""

import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARK = re.compile(r'<meta name="kinegraph-viewer-sources" content="([0-9a-f]{64})"')


def sources_hash(folder):
    files = ["index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"]
    files += [f"src/{p.name}" for p in (folder / "src").iterdir()]
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def main():
    page = (HERE / "dist/report.html").read_text(encoding="utf-8")
    found = MARK.search(page)
    if not found:
        print("viewer/dist/report.html: error: does not say which sources it is made of")
        return 1
    if found.group(1) != sources_hash(HERE):
        print("viewer/dist/report.html: error: was made from other sources than those in viewer/: run 'make viewer'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
