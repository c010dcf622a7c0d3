#!/usr/bin/env python3
"""Writes the reference numbers of test/acceptance/golden_test.cpp with Pinocchio. Not run by the tests.

    python3 -m venv venv && venv/bin/pip install pin
    venv/bin/python test/golden/make_goldens.py            all models
    venv/bin/python test/golden/make_goldens.py arm7 ur5   some of them

One file per model, test/golden/<name>.json. It holds numbers and the names of columns only. Names and conventions are
those of Kinegraph, not of Pinocchio:

  positions    "j.q"; of a floating base the quaternion w x y z, then the position
               (Pinocchio: position, then the quaternion x y z w)
  velocities   "j.v"; of a floating base its twist in its own frame, angular part first (Pinocchio: linear part first).
               Accelerations and torques stand in the same order. A twist acceleration is the derivative of the numbers
               of the twist in both programs.

Per state: q, v, a, tau (given, of order one, q within the limits), and
  rnea     the torques for (q, v, a)               pinocchio.rnea
  aba      the accelerations for (q, v, tau)       pinocchio.aba
  bias     C(q, v) v + g(q)                        pinocchio.nonLinearEffects
  gravity  g(q)                                    pinocchio.computeGeneralizedGravity
  M        the upper triangle of M(q), row by row  pinocchio.crba
  Mx       instead of M where there are more than 40 freedoms: M(q) times each of the vectors
           x(k, i) = cos((i + 1) (k + 1)), k = 0, 1, 2, i counting velocities; by rnea(q, 0, x) - rnea(q, 0, 0)

Of the first states of the robots in DERIVATIVES, row by row: dtau/dq along the freedoms ("tau_q"), dtau/dv ("tau_v") at
(q, v, a) by pinocchio.computeRNEADerivatives; da/dq, da/dv and da/dtau ("a_q", "a_v", "a_tau") at (q, v, tau) by
pinocchio.computeABADerivatives. Both programs turn and move a floating base along its own axes, so only the order of
rows and columns differs. With mimic joints, of which Pinocchio's derivatives know nothing, by those of the model with
all joints free: v = G w, hence dtau/dw = G^T (dtau/dv) G, and da/dq = -M^-1 dtau/dq at the acceleration found.

Gravity is 9.81 m/s^2 along -z. Pinocchio's algorithms know no damping, friction or springs: these are left out.

A joint that mimics another has no column: Pinocchio reads the file with mimic=True, its rnea then gives the leader's
torque with the follower's transmitted. Its aba does not know such joints: there a = M^-1 (tau - bias), by numpy.

Pinocchio refuses revolute joints without <limit>: such joints get wide limits before it reads the text. It does not read
the rotors of <transmission>; Kinegraph does (armature = reduction^2 * rotor inertia), and so they are set here.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHARED = ROOT.parent / "shared" / "models"
STATES = 20
SEED = 20240  # of every model, so that one can be made anew without the others
FULL_MATRIX = 40
DERIVATIVES = ("arm7", "quadruped", "puma560", "iiwa14", "panda", "ur5", "solo12")
DERIVED_STATES = 2

# name: (folder, path, floating)
MODELS = {
    "three_r": (ROOT, "models/three_r.urdf", False),
    "arm7": (ROOT, "models/arm7.urdf", False),
    "quadruped": (ROOT, "models/quadruped.urdf", True),
    "puma560": (SHARED, "synthetic/puma560_corke.urdf", False),
    "iiwa14": (SHARED, "arms/iiwa14_primitive_collision.urdf", False),
    "iiwa_drake": (SHARED, "arms/drake_kuka_iiwa_bench.urdf", False),
    "panda": (SHARED, "arms/panda.urdf", False),
    "panda_drake": (SHARED, "arms/drake_panda_arm_hand.urdf", False),
    "ur5": (SHARED, "arms/ur5.urdf", False),
    "solo12": (SHARED, "legged/solo12.urdf", True),
    "hyq": (SHARED, "legged/hyq.urdf", True),
    "simple_humanoid": (SHARED, "legged/simple_humanoid.urdf", True),
    "chain_200": (SHARED, "synthetic/chain_200.urdf", False),
}


def read_model(path, floating, mimic=True):
    root = ElementTree.fromstring(path.read_text(encoding="utf-8-sig"))
    for joint in root.iter("joint"):
        if joint.get("type") in ("revolute", "prismatic") and joint.find("limit") is None:
            ElementTree.SubElement(joint, "limit", lower="-3", upper="3", effort="1e3", velocity="1e3")
    text = ElementTree.tostring(root, encoding="unicode")
    if floating:
        model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer(), "base")
    else:
        model = pin.buildModelFromXML(text, mimic=mimic)
    for joint, armature in rotors(root):
        model.armature[model.joints[model.getJointId(joint)].idx_v] = armature
    return model


def rotors(root):
    """(joint, armature) of each transmission that tells the inertia of its rotor."""
    for transmission in root.iter("transmission"):
        joint = transmission.find("joint").get("name")
        found = {e.tag.split("}")[-1]: e.get("value") for e in transmission.iter()}
        if "rotor_inertia" in found:
            yield joint, float(found["gear_ratio"]) ** 2 * float(found["rotor_inertia"])


class Columns:
    """Which of our columns stands where in Pinocchio's vectors."""

    def __init__(self, model):
        self.positions, self.velocities = [], []
        self.q_at, self.v_at = [], []  # index in Pinocchio's vector; continuous joints: of the cosine
        self.kind = []
        self.mimic = False
        for i in range(1, model.njoints):
            name, joint = model.names[i], model.joints[i]
            kind = joint.shortname()
            if "Mimic" in kind:
                self.mimic = True
            elif kind == "JointModelFreeFlyer":
                assert name == "base"
                q, v = joint.idx_q, joint.idx_v
                self.positions += ["base." + s for s in ("qw", "qx", "qy", "qz", "x", "y", "z")]
                self.q_at += [q + 6, q + 3, q + 4, q + 5, q, q + 1, q + 2]
                self.velocities += ["base." + s for s in ("wx", "wy", "wz", "vx", "vy", "vz")]
                self.v_at += [v + 3, v + 4, v + 5, v, v + 1, v + 2]
                self.kind += ["quaternion"] * 4 + ["position"] * 3
            else:
                assert joint.nv == 1, (name, kind)
                self.positions.append(name + ".q")
                self.q_at.append(joint.idx_q)
                self.kind.append("angle" if joint.nq == 2 else "plain")
                self.velocities.append(name + ".v")
                self.v_at.append(joint.idx_v)
        self.v_at = np.array(self.v_at)

    def random_position(self, model, rng):
        """(ours, Pinocchio's)"""
        ours, theirs = [], np.zeros(model.nq)
        quaternion = rng.normal(size=4)
        quaternion = iter(quaternion / np.linalg.norm(quaternion))
        for at, kind in zip(self.q_at, self.kind):
            if kind == "quaternion":
                x = next(quaternion)
            elif kind == "plain":
                x = rng.uniform(max(model.lowerPositionLimit[at], -np.pi), min(model.upperPositionLimit[at], np.pi))
            else:
                x = rng.uniform(-np.pi if kind == "angle" else -1, np.pi if kind == "angle" else 1)
            ours.append(float(x))
            if kind == "angle":
                theirs[at], theirs[at + 1] = np.cos(x), np.sin(x)
            else:
                theirs[at] = x
        return ours, theirs

    def theirs(self, ours):
        x = np.zeros(len(ours))
        x[self.v_at] = ours
        return x

    def ours(self, theirs):
        return np.asarray(theirs)[self.v_at]


def rounded(values):
    return [float(x) for x in values]  # json writes the shortest text that gives the same number


def state(model, data, columns, rng):
    n = model.nv
    q, pin_q = columns.random_position(model, rng)
    v, a, tau = (rng.uniform(-1, 1, size=n) for _ in range(3))
    pin_v, pin_a, pin_tau = (columns.theirs(x) for x in (v, a, tau))

    rnea = pin.rnea(model, data, pin_q, pin_v, pin_a).copy()
    bias = pin.nonLinearEffects(model, data, pin_q, pin_v).copy()
    gravity = pin.computeGeneralizedGravity(model, data, pin_q).copy()
    M = np.triu(pin.crba(model, data, pin_q))
    M = M + np.triu(M, 1).T
    by_matrix = np.linalg.solve(M, pin_tau - bias)
    aba = by_matrix if columns.mimic else pin.aba(model, data, pin_q, pin_v, pin_tau).copy()
    assert np.abs(aba - by_matrix).max() < 1e-8 * np.abs(aba).max(), np.abs(aba - by_matrix).max() / np.abs(aba).max()

    answer = {"q": q, "v": rounded(v), "a": rounded(a), "tau": rounded(tau)}
    for name, x in (("rnea", rnea), ("aba", aba), ("bias", bias), ("gravity", gravity)):
        answer[name] = rounded(columns.ours(x))
    if n <= FULL_MATRIX:
        M = M[np.ix_(columns.v_at, columns.v_at)]
        answer["M"] = rounded(M[np.triu_indices(n)])
    else:
        rest = np.zeros(n)
        answer["Mx"] = []
        for k in range(3):
            x = columns.theirs(np.cos((np.arange(n) + 1) * (k + 1)))
            answer["Mx"].append(rounded(columns.ours(pin.rnea(model, data, pin_q, rest, x) - gravity)))
    return answer


def followers(model, free):
    """G and o: velocities of `free`, the model with all joints free, are G v; its positions, G q + o."""
    G, o = np.zeros((free.nv, model.nv)), np.zeros(free.nv)
    for i in range(1, model.njoints):
        name, joint = model.names[i], model.joints[i]
        row = free.joints[free.getJointId(name)].idx_v
        G[row, joint.idx_v] = 1
        if "Mimic" in joint.shortname():
            mimic = joint.extract()
            G[row, joint.idx_v], o[row] = mimic.scaling, mimic.offset
    return G, o


def derivatives(model, free, columns, one):
    """One state's answers, in our order of rows and columns."""
    v, a, tau, aba = (columns.theirs(np.array(one[k])) for k in ("v", "a", "tau", "aba"))
    q = np.zeros(model.nq)
    for at, kind, x in zip(columns.q_at, columns.kind, one["q"]):
        if kind == "angle":
            q[at], q[at + 1] = np.cos(x), np.sin(x)
        else:
            q[at] = x
    if columns.mimic:
        assert free.nq == free.nv
        G, o = followers(model, free)
        data = free.createData()

        def inverse(a):
            pin.computeRNEADerivatives(free, data, G @ q + o, G @ v, G @ a)
            M = np.triu(data.M)
            return [G.T @ X @ G for X in (data.dtau_dq, data.dtau_dv, M + np.triu(M, 1).T)]

        tau_q, tau_v, _ = inverse(a)
        at_q, at_v, M = inverse(aba)
        a_tau = np.linalg.inv(M)
        a_q, a_v = -a_tau @ at_q, -a_tau @ at_v
    else:
        data = model.createData()
        pin.computeRNEADerivatives(model, data, q, v, a)
        tau_q, tau_v = data.dtau_dq.copy(), data.dtau_dv.copy()
        pin.computeABADerivatives(model, data, q, v, tau)
        a_q, a_v = data.ddq_dq.copy(), data.ddq_dv.copy()
        a_tau = np.triu(data.Minv)
        a_tau = a_tau + np.triu(a_tau, 1).T
    order = np.ix_(columns.v_at, columns.v_at)
    found = {"tau_q": tau_q, "tau_v": tau_v, "a_q": a_q, "a_v": a_v, "a_tau": a_tau}
    return {name: rounded(X[order].ravel()) for name, X in found.items()}


def main(names):
    for name in names or MODELS:
        folder, path, floating = MODELS[name]
        if not (folder / path).exists():
            print(f"{name}: no {folder / path}, left as it is")
            continue
        model = read_model(folder / path, floating)
        data = model.createData()
        columns = Columns(model)
        rng = np.random.default_rng(SEED)
        golden = {
            "model": path,
            "shared": folder is SHARED,
            "base": "floating" if floating else "fixed",
            "made_by": f"Pinocchio {pin.__version__}",
            "mimic": columns.mimic,
            "positions": columns.positions,
            "velocities": columns.velocities,
            "states": [state(model, data, columns, rng) for _ in range(STATES)],
        }
        if name in DERIVATIVES:
            free = read_model(folder / path, floating, mimic=False)
            golden["derivatives"] = [derivatives(model, free, columns, one) for one in golden["states"][:DERIVED_STATES]]
        file = HERE / f"{name}.json"
        lines = json.dumps(golden, separators=(",", ":")).replace('{"q":', '\n{"q":')
        file.write_text(lines + "\n")
        print(f"{file.name}: {model.nv} freedoms, {file.stat().st_size} bytes")


main(sys.argv[1:])
