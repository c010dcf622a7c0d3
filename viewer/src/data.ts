// What a page holds (docs/report.md), and how its numbers are packed.

export interface Packed {
  f32?: string;
  f64?: string;
  i16?: string;
  scale?: number;
  from?: number;
  step?: number;
  count?: number;
}

export interface Beside {
  label: string;
  dots: boolean;
  t: Packed;
  y: Packed;
}

export interface Series {
  name: string;
  unit: string;
  plot: string;
  rank: number;
  y: Packed;
  sd?: Packed;
  beside?: Beside[];
  limits?: [number | null, number | null];
}

export interface SeriesSection {
  samples: number;
  thinned: boolean;
  t: Packed;
  list: Series[];
}

export interface PlanarBody {
  name: string;
  points: number[];
  local: [number, number][];
  cog: [number, number];
  length: number;
  mass: number;
}

export interface PlanarScene {
  dimension: 2;
  discrete: boolean;
  gravity: [number, number];
  points: { name: string; fixed: boolean }[];
  bodies: PlanarBody[];
  sliders: { name: string; point: number; a: number; b: number }[];
  springs: { name: string; a: number; b: number }[];
  sensors: { name: string; body: number; at: [number, number] }[];
  t: Packed;
  xy: Packed;
  arrows: { name: string; point: number; kind: string; xy: Packed }[];
  ellipses: { point: number; sd: Packed }[];
}

export type Vector = [number, number, number];
export type Pose = [number, number, number, number, number, number, number]; // x y z qw qx qy qz

export interface Shape {
  type: "box" | "sphere" | "cylinder" | "capsule" | "ellipsoid" | "mesh" | "plane";
  size: Vector;
  pose: Pose;
  color?: [number, number, number, number];
  mesh?: number;
}

export interface SpatialScene {
  dimension: 3;
  discrete: boolean;
  gravity: Vector;
  bodies: { name: string }[];
  links: { name: string; body: number; pose: Pose; shapes: Shape[]; com?: Vector }[];
  meshes: Packed[];
  joints: { name: string; type: string; body: number; at: Vector; axis: Vector }[];
  lines: { body: number; from: Vector; to: Vector }[];
  tips: { name: string; body: number; at: Vector }[];
  t: Packed;
  places: Packed;
  turns: Packed;
  arrows: { name: string; body: number; at: Vector; kind: string; f: Packed }[];
}

export type Scene = PlanarScene | SpatialScene;

export interface GraphNode {
  shape: "variable" | "known" | "factor" | "created" | "clique" | "separator" | "shaded";
  name: string;
  x: number;
  y: number;
  w: number;
  h: number;
  labels: [string, string][];
  bar?: number;
  step?: number;
  note?: string;
  t?: number; // the moment it belongs to
  residual?: number; // of a factor, over what is allowed: 1 is a lot
}

export interface Graph {
  title: string;
  facts: string[];
  legend: string[];
  nodes: GraphNode[];
  edges: { kind: "line" | "arrow" | "fresh"; from: number; to: number; curve: number[] }[];
  texts: { text: string; x: number; y: number; size: number; t?: number }[];
  sparsity?: { title: string; rows: string[]; columns: string[]; cells: [number, number][]; fill?: [number, number][] }[];
}

/** When something holds: a row of bars for each name. */
export interface Timing {
  title: string;
  rows: { name: string; spans: [number, number][] }[];
}

export interface Table {
  title: string;
  note: string;
  heads: string[];
  times: number[];
  rows: (string | number | null)[][];
}

export interface Joint {
  type: string;
  q: number;
  ratio: number;
  offset: number;
  reversed: boolean;
  pitch: number;
  axis2: Vector;
}

export interface PlanarView {
  dimension: 2;
  coordinates: { name: string; type: "absolute_angle" | "relative_angle" | "relative_position" | "x" | "y"; points: number[] }[];
}

export interface SpatialView {
  dimension: 3;
  bodies: { parent: number; frame: Pose; joint: Joint }[];
  loops: { name: string; a: number; b: number; frame_a: Pose; frame_b: Pose; joint: Joint }[];
  coordinates: { name: string; type: string; q: number; stored: number; limits: [number | null, number | null][] }[];
  start: number[];
  driven: string[];
}

export interface Page {
  format: number;
  verb: string;
  model: string;
  file: string;
  version: string;
  command: string;
  verdict: string;
  status: "good" | "warning" | "bad";
  warnings: string[];
  facts: [string, string][];
  inputs: [string, string][];
  time: { name: string; unit: string };
  scene?: Scene;
  view?: PlanarView | SpatialView;
  series?: SeriesSection;
  timing?: Timing;
  branches?: { names: string[]; probabilities: number[]; winner: number; time: number | null };
  parameters?: {
    quantities: {
      name: string;
      start: number | null;
      value: number | null;
      sd: number | null;
      identifiable: boolean;
      at_bound: boolean;
      remark: string;
    }[];
    correlations: (number | null)[][];
  };
  graphs: Graph[];
  tables: Table[];
}

function bytes(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

/** The numbers of a packed list. The file is little endian, as all machines are that run a browser today. */
export function unpack(packed: Packed): Float64Array | Float32Array {
  if (packed.count !== undefined) {
    const out = new Float64Array(packed.count);
    for (let i = 0; i < out.length; ++i) out[i] = packed.from! + packed.step! * i;
    return out;
  }
  if (packed.f64 !== undefined) return new Float64Array(bytes(packed.f64));
  if (packed.i16 !== undefined) {
    const whole = new Int16Array(bytes(packed.i16));
    const out = new Float32Array(whole.length);
    for (let i = 0; i < out.length; ++i) out[i] = whole[i] * packed.scale!;
    return out;
  }
  return new Float32Array(bytes(packed.f32 ?? ""));
}

export function readPage(): Page {
  const block = document.getElementById("kinegraph-data");
  return JSON.parse(block?.textContent ?? "{}") as Page;
}

/** The last index with times[i] <= t, and how far t is toward the next. */
export function locate(times: ArrayLike<number>, t: number): [number, number] {
  let low = 0, high = times.length - 1;
  if (high <= 0 || !(t > times[0])) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

export function nearest(times: ArrayLike<number>, t: number): number {
  const [i, share] = locate(times, t);
  return share > 0.5 ? i + 1 : i;
}
