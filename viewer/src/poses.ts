// Where the bodies of a robot are at a moment: recorded frames, and what is between them.

import { locate, nearest, unpack, type SpatialScene } from "./data";

/** Seven numbers per body: x y z qw qx qy qz. */
export class Poses {
  readonly times: ArrayLike<number>;
  readonly bodies: number;
  readonly now: Float64Array;
  frame = 0;
  share = 0;
  private places: ArrayLike<number>;
  private turns: ArrayLike<number>;

  constructor(private scene: SpatialScene) {
    this.times = unpack(scene.t);
    this.places = unpack(scene.places);
    this.turns = unpack(scene.turns);
    this.bodies = scene.bodies.length;
    this.now = new Float64Array(7 * this.bodies);
    this.at(this.times.length ? this.times[0] : 0);
  }

  at(t: number) {
    [this.frame, this.share] = this.scene.discrete ? [nearest(this.times, t), 0] : locate(this.times, t);
    for (let b = 0; b < this.bodies; ++b) this.body(b);
  }

  /** The place of a body's point in a frame. */
  point(frame: number, body: number, at: ArrayLike<number>): [number, number, number] {
    if (body < 0) return [at[0], at[1], at[2]];
    const k = frame * this.bodies + body;
    const q = [0, 1, 2, 3].map((i) => this.turns[4 * k + i]);
    const r = rotate(q, at);
    return [this.places[3 * k] + r[0], this.places[3 * k + 1] + r[1], this.places[3 * k + 2] + r[2]];
  }

  /** The place of a body's point now. */
  here(body: number, at: ArrayLike<number>): [number, number, number] {
    if (body < 0) return [at[0], at[1], at[2]];
    const p = this.now.subarray(7 * body, 7 * body + 7), r = rotate(p.subarray(3), at);
    return [p[0] + r[0], p[1] + r[1], p[2] + r[2]];
  }

  private body(b: number) {
    const i = this.frame * this.bodies + b, j = i + this.bodies, s = this.share, out = 7 * b;
    for (let k = 0; k < 3; ++k) {
      const p = this.places[3 * i + k];
      this.now[out + k] = s > 0 ? p + s * (this.places[3 * j + k] - p) : p;
    }
    let dot = 0, norm = 0;
    if (s > 0) for (let k = 0; k < 4; ++k) dot += this.turns[4 * i + k] * this.turns[4 * j + k];
    for (let k = 0; k < 4; ++k) {
      const q = this.turns[4 * i + k];
      const next = s > 0 ? Math.sign(dot || 1) * this.turns[4 * j + k] : q;
      this.now[out + 3 + k] = q + s * (next - q);
      norm += this.now[out + 3 + k] ** 2;
    }
    norm = Math.sqrt(norm) || 1;
    for (let k = 3; k < 7; ++k) this.now[out + k] /= norm;
  }
}

/** q v q⁻¹ of a unit quaternion w x y z. */
export function rotate(q: ArrayLike<number>, v: ArrayLike<number>): [number, number, number] {
  const [w, x, y, z] = [q[0], q[1], q[2], q[3]];
  const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  return [
    v[0] + w * tx + y * tz - z * ty,
    v[1] + w * ty + z * tx - x * tz,
    v[2] + w * tz + x * ty - y * tx,
  ];
}

/** The box that holds everything in all frames: from, to. */
export function extent(scene: SpatialScene, poses: Poses): [number[], number[]] {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const add = (p: number[], r: number) => {
    for (let k = 0; k < 3; ++k) {
      if (!Number.isFinite(p[k])) continue;
      low[k] = Math.min(low[k], p[k] - r);
      high[k] = Math.max(high[k], p[k] + r);
    }
  };
  const frames = poses.times.length, each = Math.max(1, Math.floor(frames / 120));
  const spots: { body: number; at: number[]; r: number }[] = [];
  for (const line of scene.lines) spots.push({ body: line.body, at: line.from, r: 0 }, { body: line.body, at: line.to, r: 0 });
  for (const link of scene.links) {
    for (const shape of link.shapes) {
      if (shape.type === "plane" || shape.type === "mesh") continue;
      const [a, b, c] = shape.size;
      const r = shape.type === "box" ? Math.max(a, b, c) / 2 : shape.type === "sphere" ? a : Math.max(a, b / 2, shape.type === "ellipsoid" ? c : 0);
      const local = rotate(link.pose.slice(3), shape.pose);
      spots.push({ body: link.body, at: [0, 1, 2].map((k) => link.pose[k] + local[k]), r: Math.min(r, 5) });
    }
  }
  for (let k = 0; k < frames; k += each) for (const spot of spots) add(poses.point(k, spot.body, spot.at), spot.r);
  if (low[0] > high[0]) return [[-0.5, -0.5, 0], [0.5, 0.5, 1]];
  return [low, high];
}
