// Machines that the page moves by itself: a planar mechanism by its points, a robot by its joints.

import { unpack, type Joint, type PlanarScene, type PlanarView, type SpatialScene, type SpatialView } from "./data";
import { rotate } from "./poses";
import { solve } from "./solve";

/** A number that can be set by a slider. */
export interface Handle {
  name: string;
  unit: string;
  low: number;
  high: number;
  value: number;
}

export interface Machine {
  readonly handles: Handle[];
  /** As near to `value` as the machine can be brought; the handle's value is then what was reached. */
  move(handle: number, value: number): boolean;
  /** What a stage draws: points, or poses of bodies. */
  numbers(): Float64Array;
}

abstract class Stepped implements Machine {
  abstract readonly handles: Handle[];
  abstract numbers(): Float64Array;
  /** All equations hold with the handles at these values; false, and nothing changed, if they cannot. */
  protected abstract settle(values: number[]): boolean;

  move(handle: number, value: number): boolean {
    const one = this.handles[handle], from = one.value, largest = (one.high - one.low) / 120;
    const steps = Math.max(1, Math.ceil(Math.abs(value - from) / largest));
    for (let k = 1; k <= steps; ++k) {
      const values = this.handles.map((h) => h.value);
      values[handle] = from + ((value - from) * k) / steps;
      if (!this.settle(values)) return false;
      one.value = values[handle];
    }
    return true;
  }
}

export class PlanarMachine extends Stepped {
  readonly handles: Handle[] = [];
  private x: Float64Array;
  private free: number[] = [];
  private rows = 0;
  private size: number;

  constructor(private scene: PlanarScene, private view: PlanarView) {
    super();
    this.x = Float64Array.from(unpack(scene.xy).subarray(0, 2 * scene.points.length));
    scene.points.forEach((p, i) => p.fixed || this.free.push(2 * i, 2 * i + 1));
    this.size = Math.max(1e-6, ...scene.bodies.map((b) => b.length));
    for (const body of scene.bodies) this.rows += 1 + 2 * (body.points.length - 2);
    this.rows += scene.sliders.length + view.coordinates.length;
    for (const c of view.coordinates) {
      const value = this.coordinate(c), angle = c.type.endsWith("angle");
      const reach = angle ? 2 * Math.PI : 1.5 * this.size;
      this.handles.push({ name: c.name, unit: angle ? "rad" : "m", low: value - reach, high: value + reach, value });
    }
  }

  private coordinate(c: PlanarView["coordinates"][number]): number {
    const p = (k: number) => [this.x[2 * c.points[k]], this.x[2 * c.points[k] + 1]];
    const angle = (a: number[], b: number[]) => Math.atan2(b[1] - a[1], b[0] - a[0]);
    switch (c.type) {
      case "x":
        return p(0)[0];
      case "y":
        return p(0)[1];
      case "absolute_angle":
        return angle(p(0), p(1));
      case "relative_angle": {
        const d = angle(p(2), p(3)) - angle(p(0), p(1));
        return Math.atan2(Math.sin(d), Math.cos(d));
      }
      case "relative_position": {
        const [a, b, q] = [p(0), p(1), p(2)], l = Math.hypot(b[0] - a[0], b[1] - a[1]);
        return ((q[0] - a[0]) * (b[0] - a[0]) + (q[1] - a[1]) * (b[1] - a[1])) / l;
      }
    }
  }

  private residual(x: Float64Array, r: Float64Array, values: number[]) {
    let row = 0;
    const px = (i: number) => x[2 * i], py = (i: number) => x[2 * i + 1];
    for (const body of this.scene.bodies) {
      const [a, b] = body.points, ux = px(b) - px(a), uy = py(b) - py(a);
      r[row++] = (ux * ux + uy * uy - body.length ** 2) / this.size ** 2;
      for (let k = 2; k < body.points.length; ++k) {
        const [lx, ly] = body.local[k], c = body.points[k];
        r[row++] = (px(c) - px(a) - (lx * ux - ly * uy) / body.length) / this.size;
        r[row++] = (py(c) - py(a) - (lx * uy + ly * ux) / body.length) / this.size;
      }
    }
    for (const s of this.scene.sliders) {
      const dx = px(s.b) - px(s.a), dy = py(s.b) - py(s.a), l = Math.hypot(dx, dy) || 1;
      r[row++] = (dx * (py(s.point) - py(s.a)) - dy * (px(s.point) - px(s.a))) / (l * this.size);
    }
    this.view.coordinates.forEach((c, i) => (r[row++] = this.driven(x, c, values[i])));
  }

  private driven(x: Float64Array, c: PlanarView["coordinates"][number], value: number): number {
    const p = (k: number) => [x[2 * c.points[k]], x[2 * c.points[k] + 1]];
    const line = (i: number, j: number) => [p(j)[0] - p(i)[0], p(j)[1] - p(i)[1]];
    const cos = Math.cos(value), sin = Math.sin(value);
    switch (c.type) {
      case "x":
        return (p(0)[0] - value) / this.size;
      case "y":
        return (p(0)[1] - value) / this.size;
      case "absolute_angle": {
        const u = line(0, 1);
        return (cos * u[1] - sin * u[0]) / Math.hypot(u[0], u[1]);
      }
      case "relative_angle": {
        const u = line(0, 1), w = line(2, 3), tx = cos * u[0] - sin * u[1], ty = sin * u[0] + cos * u[1];
        return (tx * w[1] - ty * w[0]) / (Math.hypot(u[0], u[1]) * Math.hypot(w[0], w[1]));
      }
      case "relative_position": {
        const u = line(0, 1), w = line(0, 2);
        return ((u[0] * w[0] + u[1] * w[1]) / Math.hypot(u[0], u[1]) - value) / this.size;
      }
    }
  }

  protected settle(values: number[]) {
    return solve(this.x, this.free, this.rows, (x, r) => this.residual(x, r, values), 1e-9);
  }

  numbers() {
    return this.x;
  }
}

interface Frame {
  p: number[];
  q: number[];
}

function product(a: number[], b: number[]): number[] {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}
const compose = (a: Frame, b: Frame): Frame => ({ p: rotate(a.q, b.p).map((v, k) => v + a.p[k]), q: product(a.q, b.q) });
const back = (a: Frame): Frame => {
  const q = [a.q[0], -a.q[1], -a.q[2], -a.q[3]];
  return { p: rotate(q, a.p).map((v) => -v), q };
};
const frame = (x: ArrayLike<number>): Frame => ({ p: [x[0], x[1], x[2]], q: [x[3], x[4], x[5], x[6]] });
const turn = (axis: ArrayLike<number>, angle: number) => {
  const s = Math.sin(angle / 2);
  return [Math.cos(angle / 2), s * axis[0], s * axis[1], s * axis[2]];
};
const z = [0, 0, 1], none: Frame = { p: [0, 0, 0], q: [1, 0, 0, 0] };
const unit = (q: number[]) => {
  const n = Math.hypot(...q) || 1;
  return q.map((v) => v / n);
};

/** X_FM, as src/mechanics/screw/joint has it: the axis is z. */
function motion(joint: Joint, all: Float64Array): Frame {
  const q = all.subarray(joint.q), one = joint.ratio * q[0] + joint.offset;
  let X = none;
  if (joint.type === "revolute" || joint.type === "continuous") X = { p: [0, 0, 0], q: turn(z, one) };
  else if (joint.type === "prismatic") X = { p: [0, 0, one], q: none.q };
  else if (joint.type === "screw") X = { p: [0, 0, one * joint.pitch], q: turn(z, one) };
  else if (joint.type === "cylindrical") X = { p: [0, 0, q[1]], q: turn(z, q[0]) };
  else if (joint.type === "planar") X = { p: [q[0], q[1], 0], q: turn(z, q[2]) };
  else if (joint.type === "universal") X = { p: [0, 0, 0], q: product(turn(z, q[0]), turn(joint.axis2, q[1])) };
  else if (joint.type === "ball") X = { p: [0, 0, 0], q: unit([q[0], q[1], q[2], q[3]]) };
  else if (joint.type === "floating") X = { p: [q[4], q[5], q[6]], q: unit([q[0], q[1], q[2], q[3]]) };
  return joint.reversed ? back(X) : X;
}

export class SpatialMachine extends Stepped {
  readonly handles: Handle[] = [];
  private q: Float64Array;
  private targets: { at: number; part: number }[] = []; // what a handle sets: a number of q, or a part of a turn
  private turns = new Map<number, number[]>(); // of balls: the rotation vector of their handles

  constructor(scene: SpatialScene, private view: SpatialView) {
    super();
    this.q = Float64Array.from(view.start);
    const reach = Math.max(0.2, ...scene.lines.map((l) => Math.hypot(...l.to)));
    for (const c of view.coordinates) {
      if (view.loops.length && !view.driven.some((name) => name === c.name || name.startsWith(c.name + "."))) continue;
      this.addHandles(c, reach);
    }
    if (view.loops.length) this.settle(this.handles.map((h) => h.value));
  }

  private addHandles(c: SpatialView["coordinates"][number], reach: number) {
    const add = (name: string, at: number, part: number, slides: boolean, limit?: [number | null, number | null]) => {
      const value = part < 0 ? this.q[at] : 0, most = slides ? reach : Math.PI;
      let low = limit?.[0] ?? value - most, high = limit?.[1] ?? value + most;
      if (!(high > low)) (low = value - most), (high = value + most);
      this.handles.push({ name, unit: slides ? "m" : "rad", low: Math.min(low, value), high: Math.max(high, value), value });
      this.targets.push({ at, part });
    };
    if (c.type === "ball" || c.type === "floating") {
      this.turns.set(c.q, [0, 0, 0]);
      ["rx", "ry", "rz"].forEach((part, k) => add(`${c.name}.${part}`, c.q, k, false));
      if (c.type === "floating") ["x", "y", "z"].forEach((part, k) => add(`${c.name}.${part}`, c.q + 4 + k, -1, true));
      return;
    }
    for (let k = 0; k < c.stored; ++k) {
      const free = this.view.loops.length === 0 || this.view.driven.includes(c.stored > 1 ? `${c.name}.q${k + 1}` : `${c.name}.q`);
      if (!free && !this.view.driven.includes(c.name)) continue;
      const slides = c.type === "prismatic" || (c.type === "cylindrical" && k === 1) || (c.type === "planar" && k < 2);
      add(c.stored > 1 ? `${c.name}.q${k + 1}` : c.name, c.q + k, -1, slides, c.limits[k]);
    }
  }

  private frames(q: Float64Array): Frame[] {
    const out: Frame[] = [];
    for (const body of this.view.bodies) {
      const X = compose(frame(body.frame), motion(body.joint, q));
      out.push(body.parent < 0 ? X : compose(out[body.parent], X));
    }
    return out;
  }

  protected settle(values: number[]): boolean {
    const before = Float64Array.from(this.q), held = new Set<number>();
    this.targets.forEach(({ at, part }, i) => {
      if (part < 0) return void ((this.q[at] = values[i]), held.add(at));
      const turned = this.turns.get(at)!;
      turned[part] = values[i];
      const angle = Math.hypot(...turned);
      const set = angle > 0 ? turn(turned.map((v) => v / angle), angle) : none.q;
      for (let k = 0; k < 4; ++k) this.q[at + k] = set[k], held.add(at + k);
    });
    if (!this.view.loops.length) return true;
    const free = [...this.q.keys()].filter((i) => !held.has(i));
    if (solve(this.q, free, 6 * this.view.loops.length, (q, r) => this.open(q, r), 1e-7)) return true;
    this.q.set(before);
    return false;
  }

  /** How far each loop is open: the turn, then the place, seen from the joint. */
  private open(q: Float64Array, r: Float64Array) {
    const frames = this.frames(q), at = (b: number) => (b < 0 ? none : frames[b]);
    this.view.loops.forEach((loop, i) => {
      const said = compose(compose(at(loop.a), frame(loop.frame_a)), motion(loop.joint, q));
      const gap = compose(back(said), compose(at(loop.b), frame(loop.frame_b)));
      const sign = gap.q[0] < 0 ? -2 : 2;
      for (let k = 0; k < 3; ++k) (r[6 * i + k] = sign * gap.q[k + 1]), (r[6 * i + 3 + k] = gap.p[k]);
    });
  }

  numbers(): Float64Array {
    const out = new Float64Array(7 * this.view.bodies.length);
    this.frames(this.q).forEach((X, b) => out.set([...X.p, ...X.q], 7 * b));
    return out;
  }
}
