"""Random machines that can be assembled as they are drawn: planar linkages and robots."""

import math


class Linkage:
    """A crank and `loops` pairs of bars, each from a point that moves to another or to the ground: one freedom.

    Every length is the distance that is drawn, so the file closes its loops to rounding."""

    def __init__(self, random, loops, masses=(0.5, 2.0), scale=1.0):
        self.points, self.bars, self.fixed = [], [], set()
        self.scale = scale
        self.masses = masses
        crank = self.add(random, 0, 0, fixed=True), self.add(random, *self.around(random, 0, 0))
        self.bar(random, *crank)
        moving = [crank[1]]
        for _ in range(loops):
            start = random.choice(moving)
            x, y = self.points[start]
            if len(moving) > 1 and random.random() < 0.3:
                end = random.choice([point for point in moving if point != start])
            else:
                end = self.add(random, *self.around(random, x, y, 2.0), fixed=True)
            joint = self.elbow(random, start, end)
            self.bar(random, start, joint)
            self.bar(random, joint, end)
            moving.append(joint)

    def around(self, random, x, y, reach=1.0):
        angle, length = random.uniform(0, 2 * math.pi), self.scale * reach * random.uniform(0.8, 1.5)
        return x + length * math.cos(angle), y + length * math.sin(angle)

    def elbow(self, random, start, end):
        """A point well away from the line between two: a pair of bars that is far from stretched."""
        (x, y), (u, v) = self.points[start], self.points[end]
        length = math.hypot(u - x, v - y)
        along, across = random.uniform(0.3, 0.7), random.choice((-1, 1)) * max(length, 0.3 * self.scale) * random.uniform(0.5, 1.0)
        return self.add(random, x + along * (u - x) - across * (v - y) / length, y + along * (v - y) + across * (u - x) / length)

    def add(self, _random, x, y, fixed=False):
        self.points.append((x, y))
        if fixed:
            self.fixed.add(len(self.points) - 1)
        return len(self.points) - 1

    def bar(self, random, a, b):
        low, high = self.masses
        self.bars.append((a, b, math.exp(random.uniform(math.log(low), math.log(high)))))

    def length(self, a, b):
        return math.dist(self.points[a], self.points[b])

    def yaml(self):
        text = "points:\n"
        for i, (x, y) in enumerate(self.points):
            text += f"  - {{name: P{i}, x: {x!r}, y: {y!r}{', fixed: true' if i in self.fixed else ''}}}\n"
        text += "planar_bodies:\n"
        for i, (a, b, mass) in enumerate(self.bars):
            text += f"  - {{name: bar{i}, points: [P{a}, P{b}], length: {self.length(a, b)!r}, mass: {mass!r}}}\n"
        return text + "relative_coordinates:\n  - {name: theta, type: absolute_angle, points: [P0, P1]}\nmotors: [{coordinate: theta}]\n"


class Tree:
    """A robot of `joints` joints of one freedom, each link hanging on one before it."""

    def __init__(self, random, joints, masses=(0.5, 2.0), scale=1.0):
        self.names = [f"j{i}" for i in range(joints)]
        self.text = "<robot name='tree'><link name='l0'/>"
        for i, name in enumerate(self.names):
            low, high = masses
            mass = math.exp(random.uniform(math.log(low), math.log(high)))
            size = [scale * random.uniform(0.1, 0.3) for _ in range(3)]
            a, b, c = (mass / 12 * (size[(k + 1) % 3] ** 2 + size[(k + 2) % 3] ** 2) for k in range(3))
            limit = '<limit lower="-9" upper="9" effort="1e9" velocity="1e9"/>'
            kind = random.choice(("continuous", "continuous", "continuous", "prismatic"))
            self.text += (f"<link name='l{i + 1}'><inertial><origin xyz='{self.vector(random, 0.2 * scale)}' rpy='{self.vector(random, 1)}'/>"
                          f"<mass value='{mass!r}'/><inertia ixx='{a!r}' ixy='0' ixz='0' iyy='{b!r}' iyz='0' izz='{c!r}'/></inertial>"
                          f"</link><joint name='{name}' type='{kind}'><origin xyz='{self.vector(random, 0.5 * scale)}' "
                          f"rpy='{self.vector(random, 1)}'/><parent link='l{random.randint(max(0, i - 2), i)}'/><child link='l{i + 1}'/>"
                          f"<axis xyz='{self.vector(random, 1)}'/>"
                          f"{limit if kind == 'prismatic' else ''}</joint>")
        self.text += "</robot>"

    @staticmethod
    def vector(random, size):
        return " ".join(repr(size * random.uniform(-1, 1)) for _ in range(3))
