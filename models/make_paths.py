#!/usr/bin/env python3
"""Writes the L-shaped paths of the pick-and-place robots beside this file: lift, rest at the corner, carry across.

    python3 models/make_paths.py

Each leg is a straight line, its timing s(x) = 10x³ − 15x⁴ + 6x⁵, which starts and ends at rest without acceleration.
"""
import pathlib

SAMPLES, STEP = 1000, 0.005  # s
LEGS = ((0.25, 2.25), (2.75, 4.75))  # s: from, to


def share(t, start, end):
    x = min(max((t - start) / (end - start), 0.0), 1.0)
    return x * x * x * (10 - 15 * x + 6 * x * x)


def write(name, point, origin, lift, across):
    """The point goes from its origin (m) up by `lift`, then sideways by `across`."""
    lines = [f"t,{point}.x,{point}.y"]
    for k in range(SAMPLES):
        t = k * STEP
        x = origin[0] + across * share(t, *LEGS[1])
        y = origin[1] + lift * share(t, *LEGS[0])
        lines.append(f"{t:.3f},{x:.15g},{y:.15g}")
    (pathlib.Path(__file__).parent / name).write_text("\n".join(lines) + "\n")


write("pick_and_place_path.csv", "tool", (-0.10, -1.25), 0.15, 0.25)
# For the robot of paper 000, whose tool is its point 6.
write("pick_and_place_path_point6.csv", "6", (-0.5, -5.0), 0.5, 0.75)
