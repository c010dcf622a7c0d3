// A robot on a plain canvas, where there is no WebGL: links as lines, boxes by their edges.

import type { Shape, SpatialScene } from "./data";
import { h } from "./dom";
import { extent, Poses, rotate } from "./poses";
import { fitCanvas, stride, type Layer, type Stage } from "./stage";
import { color, palette } from "./theme";

interface Stroke {
  body: number;
  points: number[][];
  width: number; // m; 0: a thin line
  hue: number;
}

export class FlatStage implements Stage {
  readonly element: HTMLElement;
  readonly kind = "flat";
  readonly layers: Layer[] = [{ key: "paths", label: "paths", on: true }];
  private canvas = h("canvas", { class: "canvas", tabindex: 0, "aria-label": "animation of the robot" });
  private paint: CanvasRenderingContext2D;
  private poses: Poses;
  private strokes: Stroke[] = [];
  private yaw = -0.9;
  private pitch = 0.45;
  private zoom = 1;
  private middle: number[];
  private size: number;

  constructor(private scene: SpatialScene) {
    this.element = h("div", { class: "stage-canvas" }, this.canvas);
    this.paint = this.canvas.getContext("2d")!;
    this.poses = new Poses(scene);
    const [low, high] = extent(scene, this.poses);
    this.middle = low.map((v, k) => (v + high[k]) / 2);
    this.size = Math.max(0.05, Math.hypot(...low.map((v, k) => high[k] - v)));
    scene.links.forEach((link, i) => link.shapes.forEach((shape) => this.add(shape, link.pose, link.body, i)));
    for (const line of scene.lines) this.strokes.push({ body: line.body, points: [line.from, line.to], width: 0.012 * this.size, hue: line.body });
    this.listen();
    fitCanvas(this.canvas, () => this.redraw());
  }

  private add(shape: Shape, link: ArrayLike<number>, body: number, hue: number) {
    const [a, b, c] = shape.size;
    const world = (p: number[]) => {
      const inLink = rotate(shape.pose.slice(3), p).map((v, k) => v + shape.pose[k]);
      return rotate(Array.from(link).slice(3), inLink).map((v, k) => v + link[k]);
    };
    if (shape.type === "box") {
      const corner = (i: number) => world([((i & 1) - 0.5) * a, (((i >> 1) & 1) - 0.5) * b, ((i >> 2) - 0.5) * c]);
      for (const [i, j] of [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]]) {
        this.strokes.push({ body, points: [corner(i), corner(j)], width: 0, hue });
      }
    } else if (shape.type === "cylinder" || shape.type === "capsule") {
      this.strokes.push({ body, points: [world([0, 0, -b / 2]), world([0, 0, b / 2])], width: 2 * a, hue });
    } else if (shape.type === "sphere" || shape.type === "ellipsoid") {
      this.strokes.push({ body, points: [world([0, 0, 0]), world([0, 0, 1e-6])], width: 2 * a, hue });
    }
  }

  private listen() {
    let from: number[] | null = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      from = [e.clientX, e.clientY];
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!from) return;
      this.yaw -= (e.clientX - from[0]) * 0.008;
      this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + (e.clientY - from[1]) * 0.008));
      from = [e.clientX, e.clientY];
      this.redraw();
    });
    this.canvas.addEventListener("pointerup", () => (from = null));
    this.canvas.addEventListener("dblclick", () => this.home());
  }

  draw(t: number) {
    this.poses.at(t);
    this.redraw();
  }
  pose(numbers: Float64Array) {
    this.poses.now.set(numbers);
    this.redraw();
  }
  home() {
    this.yaw = -0.9;
    this.pitch = 0.45;
    this.zoom = 1;
    this.redraw();
  }

  redraw() {
    const p = this.paint, { width, height } = this.canvas, ratio = width / Math.max(1, this.canvas.clientWidth);
    const scale = (0.9 * Math.min(width, height) * this.zoom) / this.size;
    const c = Math.cos(this.yaw), n = Math.sin(this.yaw), cp = Math.cos(this.pitch), sp = Math.sin(this.pitch);
    const see = (w: number[]) => {
      const [x, y, z] = w.map((v, k) => v - this.middle[k]);
      const right = -n * x + c * y, into = c * x + n * y;
      return [width / 2 + right * scale, height / 2 - (z * cp - into * sp) * scale, into * cp + z * sp];
    };
    p.clearRect(0, 0, width, height);
    p.lineCap = p.lineJoin = "round";
    const drawn = this.strokes.map((stroke) => {
      const points = stroke.points.map((at) => see(this.poses.here(stroke.body, at)));
      return { stroke, points, depth: points[0][2] + points[points.length - 1][2] };
    });
    drawn.sort((a, b) => a.depth - b.depth);
    for (const { stroke, points } of drawn) {
      p.strokeStyle = stroke.body < 0 ? color("muted") : palette(stroke.hue);
      p.lineWidth = Math.max(1.4 * ratio, stroke.width * scale);
      p.globalAlpha = stroke.width ? 0.9 : 0.75;
      p.beginPath();
      for (const at of points) p.lineTo(at[0], at[1]);
      p.stroke();
    }
    p.globalAlpha = 0.7;
    const frames = this.poses.times.length, each = stride(frames, 1000);
    if (frames > 2 && this.layers[0].on) {
      this.scene.tips.forEach((tip, i) => {
        p.strokeStyle = palette(i + 1);
        p.lineWidth = 1.4 * ratio;
        p.beginPath();
        for (let k = 0; k < frames; k += each) p.lineTo(...(see(this.poses.point(k, tip.body, tip.at)).slice(0, 2) as [number, number]));
        p.stroke();
      });
    }
    p.globalAlpha = 1;
  }
}
