#!/usr/bin/env python3
"""Writes the planar model of a chain of N mechanisms, for the benchmarks of how cost grows with size.

    chain.py N          N four-bars, one degree of freedom: the rocker of each is the crank of the next
    chain.py N --free   N four-bars, N degrees of freedom: each hangs from the coupler of the one before

The chain of one degree of freedom. Every pivot carries a lever with two opposite arms, one for the loop on either side:

      P0 o-------o Q1            o---        loops stand below and above the line of pivots in turn; each is
         |       |               |           the one before turned by half a turn, and so exchanges the arms:
      D0 ^       ^ D1    D2 ^    ^ D3        what a loop does to the angle, the next one undoes. All levers
                 |          |    |           swing through one of two ranges, however long the chain is, and
               P1 o---------o Q2 o---        stay far from positions in which the links are in line.

The centre of mass of a lever lies below its pivot and beside it, so that it swings when it is let go.
"""
import argparse
import math
import sys

SPAN = 3.0                    # between pivots
ARMS = (1.0, 1.5)             # of the levers, in turn
DEPTH, OFFSET = 0.5, 0.15     # of the levers' centres of mass: the swing is 2 atan(OFFSET/DEPTH) = 33 degrees


def point(name, x, y, fixed=False):
    return f"  - {{name: {name}, x: {x!r}, y: {y!r}{', fixed: true' if fixed else ''}}}"


def lever(i, loops):
    """Lever i: its points, and the body. Loop i lies left of it, loop i + 1 right; odd loops are below."""
    arm = ARMS[i % 2]
    lines = [point(f"D{i}", SPAN * i, 0.0, fixed=True)]
    ends = []
    tilt = 0.1 if i % 2 else -0.1   # arms are not quite parallel at the start
    for loop, name in ((i, f"Q{i}"), (i + 1, f"P{i}")):
        if not 1 <= loop <= loops:
            continue
        side = -1 if loop % 2 else 1
        lines.append(point(name, SPAN * i - side * arm * math.sin(tilt), side * arm * math.cos(tilt)))
        ends.append((name, side))
    # The body's frame: x from the pivot to its first arm's end, y to the left of that.
    side = ends[0][1]
    angle = tilt + side * math.pi / 2
    x = OFFSET * math.cos(angle) - DEPTH * math.sin(angle)
    y = -OFFSET * math.sin(angle) - DEPTH * math.cos(angle)
    names = ", ".join([f"D{i}"] + [name for name, _ in ends])
    body = f"  - {{name: lever{i}, points: [{names}], mass: 2, I0: 1, cog: [{x!r}, {y!r}]}}"
    return lines, body


def chain_of_one_freedom(loops):
    points, bodies = [], []
    for i in range(loops + 1):
        lines, body = lever(i, loops)
        points += lines
        bodies.append(body)
        if i > 0:
            bodies.append(f"  - {{name: coupler{i}, points: [P{i - 1}, Q{i}], mass: 1}}")
    return points, bodies


def chain_of_many_freedoms(loops):
    """Each four-bar's cranks turn about two points of the coupler above; the last is let go to the side."""
    points = [point("A0", 0.0, 0.0, fixed=True), point("B0", 1.0, 0.0, fixed=True)]
    bodies = []
    for i in range(1, loops + 1):
        x, y = 0.1 * i, -1.0 * i
        points += [point(f"A{i}", x, y), point(f"B{i}", x + 1.0 + 0.05 * (i % 2), y)]
        bodies += [
            f"  - {{name: left{i}, points: [A{i - 1}, A{i}], mass: 1}}",
            f"  - {{name: right{i}, points: [B{i - 1}, B{i}], mass: 1}}",
            f"  - {{name: coupler{i}, points: [A{i}, B{i}], mass: 1}}",
        ]
    return points, bodies


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loops", type=int, metavar="N")
    parser.add_argument("--free", action="store_true", help="N degrees of freedom")
    parser.add_argument("--out", help="the file to write; default: standard output")
    arguments = parser.parse_args()
    if arguments.loops < 1:
        parser.error("N must be at least 1")
    points, bodies = (chain_of_many_freedoms if arguments.free else chain_of_one_freedom)(arguments.loops)
    kind = f"{arguments.loops} degrees of freedom" if arguments.free else "one degree of freedom"
    text = "\n".join([f"name: chain of {arguments.loops} four-bars, {kind}", "points:", *points,
                      "planar_bodies:", *bodies, ""])
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
