"""Random machines that can be assembled as they are drawn: planar linkages, robots, robots with loops."""

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


def turned(rotation, v):
    return [sum(rotation[i][k] * v[k] for k in range(3)) for i in range(3)]


def cross(u, v):
    return [u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3] for k in range(3)]


def transposed(rotation):
    return [[rotation[k][i] for k in range(3)] for i in range(3)]


def rotation_of(roll, pitch, yaw):
    """R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it."""
    (a, b), (c, d), (e, f) = ((math.sin(angle), math.cos(angle)) for angle in (roll, pitch, yaw))
    return [[f * d, f * c * a - e * b, f * c * b + e * a], [e * d, e * c * a + f * b, e * c * b - f * a], [-c, d * a, d * b]]


def angles_of(rotation):
    """The roll, pitch and yaw of a rotation."""
    return [math.atan2(rotation[2][1], rotation[2][2]), math.asin(max(-1, min(1, -rotation[2][0]))), math.atan2(rotation[1][0], rotation[0][0])]


class LoopRobot:
    """A random tree with `loops` loops, each of one freedom: a leg of four joints whose tip a ball joins to a link of the
    tree, or a flat four-bar that hangs on one. Drawn closed; `bent`: no leg is near a stretched position. `motors` are as
    many joints as there are freedoms.

    `closings` are (link, place in it, other link, place in it): points that must stay together."""

    def __init__(self, random, joints, loops, bent=True):
        self.random, self.bent = random, bent
        self.names, self.motors, self.closings, self.axes = [], [], [], [None]
        self.poses = [([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.0, 0.0, 0.0])]  # of the links, all joints at zero
        self.text, self.loops = "<robot name='loops'><link name='l0'/>", ""
        for _ in range(joints):
            self.hang(random.randrange(len(self.poses)), motor=True)
        for _ in range(loops):
            random.choice((self.leg, self.four_bar))()
        self.text += "</robot>"

    def vector(self, size):
        return [size * self.random.uniform(-1, 1) for _ in range(3)]

    def hang(self, parent, motor, xyz=None, rpy=None, axis=None):
        """A link of its own on another; its number."""
        def written(v):
            return " ".join(map(repr, v))

        random, child = self.random, len(self.poses)
        xyz, rpy, axis = xyz or self.vector(0.5), rpy or self.vector(1), axis or self.vector(1)
        mass = random.uniform(0.5, 2)
        size = [random.uniform(0.1, 0.3) for _ in range(3)]
        a, b, c = (mass / 12 * (size[(k + 1) % 3] ** 2 + size[(k + 2) % 3] ** 2) for k in range(3))
        name = f"j{len(self.names)}"
        self.text += (f"<link name='l{child}'><inertial><origin xyz='{written(self.vector(0.2))}' rpy='{written(self.vector(1))}'/>"
                      f"<mass value='{mass!r}'/><inertia ixx='{a!r}' ixy='0' ixz='0' iyy='{b!r}' iyz='0' izz='{c!r}'/></inertial>"
                      f"</link><joint name='{name}' type='continuous'><origin xyz='{written(xyz)}' rpy='{written(rpy)}'/>"
                      f"<parent link='l{parent}'/><child link='l{child}'/><axis xyz='{written(axis)}'/></joint>")
        rotation, place = self.poses[parent]
        own = rotation_of(*rpy)
        self.poses.append(([[sum(rotation[i][k] * own[k][j] for k in range(3)) for j in range(3)] for i in range(3)],
                           [p + d for p, d in zip(place, turned(rotation, xyz))]))
        self.names.append(name)
        self.axes.append([a / math.hypot(*axis) for a in axis])
        if motor:
            self.motors.append(name)
        return child

    def leg(self):
        link, other = (self.random.randrange(len(self.poses)) for _ in range(2))
        links = [link := self.hang(link, motor=k == 0) for k in range(4)]
        tips = [self.vector(0.4) for _ in range(20 if self.bent else 1)]
        self.close(link, other, max(tips, key=lambda tip: self.freedom(links[1:], tip)), "ball", "")

    def freedom(self, links, tip):
        """How far three joints are from a position in which they cannot move the tip every way: |det(c₁ c₂ c₃)| / Π |cᵢ| with
        cᵢ = aᵢ × (p − oᵢ), what the i-th of them does to it."""
        rotation, origin = self.poses[links[-1]]
        point = [o + d for o, d in zip(origin, turned(rotation, tip))]
        moves = []
        for link in links:
            rotation, origin = self.poses[link]
            arm = [p - o for p, o in zip(point, origin)]
            moves.append(cross(turned(rotation, self.axes[link]), arm))
        volume = sum(a * b for a, b in zip(moves[0], cross(moves[1], moves[2])))
        return abs(volume) / max(1e-12, math.prod(math.hypot(*move) for move in moves))

    def four_bar(self):
        """In the plane x y of its frame: a crank from (0, 0), a rocker from (1, 0) of its size, and a coupler."""
        random = self.random
        parent, rpy, origin = random.randrange(len(self.poses)), self.vector(1), self.vector(0.5)
        plane = rotation_of(*rpy)
        size = random.uniform(0.4, 0.8)
        elbow = [size * random.uniform(-0.2, 0.2), size * random.uniform(0.3, 0.5), 0]
        end = [size * random.uniform(0.8, 1.2), size * random.uniform(0.6, 1.0), 0]
        foot = [o + p for o, p in zip(origin, turned(plane, [size, 0, 0]))]
        crank = self.hang(parent, True, origin, rpy, [0, 0, 1])
        coupler = self.hang(crank, False, elbow, [0, 0, 0], [0, 0, 1])
        rocker = self.hang(parent, False, foot, rpy, [0, 0, 1])
        self.close(coupler, rocker, [end[k] - elbow[k] for k in range(3)], "revolute", ", axis: [0, 0, 1]")

    def close(self, link, other, place, kind, more):
        """Joins `place` of a link to where it is on another. A ball has its axes in those of the world, a hinge in those of
        the four-bar's plane, which both links have."""
        rotation, origin = self.poses[link]
        point = [o + d for o, d in zip(origin, turned(rotation, place))]
        if kind == "ball":
            more += f", parent_rpy: {angles_of(transposed(rotation))!r}, child_rpy: {angles_of(transposed(self.poses[other][0]))!r}"
        rotation, origin = self.poses[other]
        there = turned(transposed(rotation), [p - o for p, o in zip(point, origin)])
        self.loops += (f"- {{name: loop{len(self.closings)}, parent: l{link}, child: l{other}, type: {kind}, parent_xyz: {place!r}, "
                       f"child_xyz: {there!r}{more}, passive: true}}\n")
        self.closings.append((f"l{link}", place, f"l{other}", there))
