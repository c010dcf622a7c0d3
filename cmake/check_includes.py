#!/usr/bin/python3
"""Checks who includes whom against the table in src/CMakeLists.txt.

    check_includes.py [ROOT]      ROOT: the repository, default the parent of this file's folder

A file of module m may include "kinegraph/<n>/…" if n is m or is listed in m's DEPENDS. Beyond it, the vocabulary (base,
lie, model, and what these are made of: a Model holds a Law of expr) may be named by whoever reaches it through DEPENDS.
A unit test may include all that its module reaches, for it links to it. The table has no cycle, nobody but python/ (which asks verbs) includes cli, and
inside src/ a project header is always named from "kinegraph/".
Prints file:line messages and exits with 1 if a rule is broken.
"""

import re
import sys
from pathlib import Path

VOCABULARY = {"base", "lie", "model"}
OUTSIDE = ["cli", "bench", "test", "examples", "experiments", "python"]  # may include every module
SUFFIXES = {".hpp", ".cpp", ".h", ".cc"}

MODULE = re.compile(r"^\s*kinegraph_module\(\s*(\w+)([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_table(cmake_file):
    """{module: [direct dependencies]} and {module: line}, from the kinegraph_module(...) calls."""
    text = re.sub(r"#[^\n]*", "", cmake_file.read_text(encoding="utf-8"))
    table, lines = {}, {}
    for match in MODULE.finditer(text):
        words = match.group(2).split()
        depends, active = [], False
        for word in words:
            if word in ("DEPENDS", "LINK"):
                active = word == "DEPENDS"
            elif active:
                depends.append(word)
        table[match.group(1)] = depends
        lines[match.group(1)] = text.count("\n", 0, match.start(1)) + 1
    return table, lines


def closure(table, module):
    """All modules that `module` reaches, itself included."""
    reached, waiting = set(), [module]
    while waiting:
        m = waiting.pop()
        if m not in reached:
            reached.add(m)
            waiting.extend(table.get(m, []))
    return reached


def allowed(table, module):
    """What a file of `module` may include: itself, its DEPENDS, and the vocabulary that it reaches."""
    may = {module, *table[module]}
    for word in closure(table, module) & VOCABULARY - {module}:
        may |= {word, *table[word]}
    return may


def find_cycle(table):
    """One cycle as a list [a, b, …, a], or None."""
    done = set()

    def visit(module, path):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return None
        for dependency in table.get(module, []):
            cycle = visit(dependency, path + [module])
            if cycle:
                return cycle
        done.add(module)
        return None

    for module in table:
        cycle = visit(module, [])
        if cycle:
            return cycle
    return None


def includes(path):
    """(line, is_quoted, name) of each #include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file()) if folder.is_dir() else []


def check_table(root, table, lines):
    where = "src/CMakeLists.txt"
    for module, depends in table.items():
        for dependency in depends:
            if dependency not in table:
                yield f"{where}:{lines[module]}: error: {module} depends on '{dependency}', which is no module"
    cycle = find_cycle(table)
    if cycle:
        yield f"{where}:{lines[cycle[0]]}: error: cycle {' -> '.join(cycle)}"
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        if folder.name not in table and sources(folder):
            yield f"{where}:1: error: the folder src/{folder.name} is no module of the table"


def check_module(root, table, module):
    for path in sources(root / "src" / module):
        is_test = path.stem.endswith("_test")
        may = closure(table, module) if is_test else allowed(table, module)
        for line, quoted, name in includes(path):
            where = f"{path.relative_to(root)}:{line}: error:"
            parts = name.split("/")
            if parts[0] == "kinegraph" and len(parts) > 2:
                if parts[1] not in table:
                    yield f"{where} there is no module '{parts[1]}'"
                elif parts[1] not in may:
                    yield f"{where} {module} may not include {parts[1]} (may: {', '.join(sorted(may - {module})) or '-'})"
            elif quoted and not (is_test and parts[0] == "test"):
                yield f'{where} "{name}": project headers are named "kinegraph/<module>/<file>"'


def check_outside(root, table, folder):
    for path in sources(root / folder):
        for line, quoted, name in includes(path):
            where = f"{path.relative_to(root)}:{line}: error:"
            parts = name.split("/")
            if parts[0] == "kinegraph" and len(parts) > 2 and parts[1] not in table:
                yield f"{where} there is no module '{parts[1]}'"
            elif quoted and folder != "cli" and "cli" in parts[:-1]:
                yield f"{where} nobody includes cli"


def check(root):
    """All broken rules of the tree at `root`, as messages."""
    table, lines = read_table(root / "src" / "CMakeLists.txt")
    messages = list(check_table(root, table, lines))
    if not table:
        messages.append("src/CMakeLists.txt:1: error: no kinegraph_module(...) found")
    for module in table:
        messages.extend(check_module(root, table, module))
    for folder in OUTSIDE:
        messages.extend(check_outside(root, table, folder))
    return messages


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    messages = check(root)
    for message in messages:
        print(message)
    if messages:
        sys.exit(1)
    print("include rules: ok")


if __name__ == "__main__":
    main()
