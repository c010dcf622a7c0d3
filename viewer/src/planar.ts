// A planar mechanism on a canvas: bars, pins, sliders, springs, paths, forces, ellipses.

import { locate, nearest, unpack, type PlanarScene } from "./data";
import { h, number } from "./dom";
import { fitCanvas, roundLength, stride, type Layer, type Stage } from "./stage";
import { color, palette } from "./theme";

type XY = [number, number];

export class PlanarStage implements Stage {
  readonly element: HTMLElement;
  readonly kind = "2d";
  readonly layers: Layer[];
  private canvas = h("canvas", { class: "canvas", tabindex: 0, "aria-label": "animation of the mechanism" });
  private paint: CanvasRenderingContext2D;
  private times: ArrayLike<number>;
  private xy: ArrayLike<number>;
  private arrows: ArrayLike<number>[];
  private ellipses: ArrayLike<number>[];
  private now: Float64Array;
  private frame = 0;
  private share = 0;
  private largestForce = 0;
  private box = { x: 0, y: 0, w: 1, h: 1 };
  private view = { zoom: 1, x: 0, y: 0 };
  private scale = 1;
  private origin: XY = [0, 0];
  private bar = 10;

  constructor(private scene: PlanarScene) {
    this.element = h("div", { class: "stage-canvas" }, this.canvas);
    // For those who cannot see the drawing: a canvas may hold text.
    this.canvas.append(h("p", {}, "Bodies: ", ...scene.bodies.map((b) => h("span", {}, `${b.name} `))));
    this.paint = this.canvas.getContext("2d")!;
    this.times = unpack(scene.t);
    this.xy = unpack(scene.xy);
    this.arrows = scene.arrows.map((a) => unpack(a.xy));
    this.ellipses = scene.ellipses.map((e) => unpack(e.sd));
    this.now = new Float64Array(2 * scene.points.length);
    this.layers = [
      ...(this.times.length > 2 && !scene.discrete ? [{ key: "paths", label: "paths", on: true }] : []),
      { key: "names", label: "names", on: true },
    ];
    if (this.arrows.length) this.layers.push({ key: "forces", label: "forces", on: true });
    if (this.ellipses.length) this.layers.push({ key: "ellipses", label: "2σ ellipses", on: true });
    this.measure();
    this.listen();
    this.take(0, 0);
    fitCanvas(this.canvas, () => this.redraw());
  }

  draw(t: number) {
    if (this.scene.discrete) this.take(nearest(this.times, t), 0);
    else this.take(...locate(this.times, t));
    this.redraw();
  }

  pose(points: Float64Array) {
    this.now.set(points);
    this.redraw();
  }

  /** Where a point is on the canvas, in its pixels. */
  private px(p: ArrayLike<number>, at = 0): XY {
    return [this.origin[0] + p[at] * this.scale, this.origin[1] - p[at + 1] * this.scale];
  }

  private take(frame: number, share: number) {
    const width = this.now.length;
    this.frame = frame;
    this.share = share;
    for (let i = 0; i < width; ++i) this.now[i] = this.between(this.xy, width, i);
  }

  private between(list: ArrayLike<number>, width: number, i: number): number {
    const a = list[this.frame * width + i];
    return this.share > 0 ? a + this.share * (list[(this.frame + 1) * width + i] - a) : a;
  }

  private measure() {
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (let i = 0; i + 1 < this.xy.length; i += 2) {
      const x = this.xy[i], y = this.xy[i + 1];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      x0 = Math.min(x0, x), x1 = Math.max(x1, x), y0 = Math.min(y0, y), y1 = Math.max(y1, y);
    }
    if (x0 > x1) x0 = x1 = y0 = y1 = 0;
    const size = Math.max(x1 - x0, y1 - y0, 1e-6);
    this.box = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, w: Math.max(x1 - x0, 0.3 * size), h: Math.max(y1 - y0, 0.3 * size) };
    for (const list of this.arrows) {
      for (let i = 0; i + 1 < list.length; i += 2) {
        const f = Math.hypot(list[i], list[i + 1]);
        if (f > this.largestForce) this.largestForce = f;
      }
    }
  }

  /** Room on all sides for what reaches beyond the moving points: when a machine is moved by hand. */
  widen(reach: number) {
    this.box.w = Math.max(this.box.w, reach);
    this.box.h = Math.max(this.box.h, reach);
  }

  home() {
    this.view = { zoom: 1, x: 0, y: 0 };
    this.redraw();
  }

  private listen() {
    const canvas = this.canvas;
    let from: XY | null = null;
    const ratio = () => canvas.width / Math.max(1, canvas.clientWidth);
    canvas.addEventListener("pointerdown", (e) => {
      from = [e.clientX, e.clientY];
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!from) return;
      this.view.x += (e.clientX - from[0]) * ratio();
      this.view.y += (e.clientY - from[1]) * ratio();
      from = [e.clientX, e.clientY];
      this.redraw();
    });
    canvas.addEventListener("pointerup", () => (from = null));
    canvas.addEventListener("dblclick", () => this.home());
    canvas.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return; // the page scrolls
        e.preventDefault();
        const by = Math.exp(-e.deltaY * 0.0015), at: XY = [e.offsetX * ratio(), e.offsetY * ratio()];
        const middle: XY = [canvas.width / 2 + this.view.x, canvas.height / 2 + this.view.y];
        this.view.zoom *= by;
        this.view.x += (at[0] - middle[0]) * (1 - by);
        this.view.y += (at[1] - middle[1]) * (1 - by);
        this.redraw();
      },
      { passive: false },
    );
  }

  private on(key: string) {
    return this.layers.some((l) => l.key === key && l.on);
  }

  redraw() {
    const { width, height } = this.canvas, p = this.paint, ratio = width / Math.max(1, this.canvas.clientWidth);
    const margin = 54 * ratio;
    const fit = Math.min((width - 2 * margin) / this.box.w, (height - 2 * margin) / this.box.h);
    this.scale = Math.max(fit, 1e-9) * this.view.zoom;
    this.origin = [width / 2 + this.view.x - this.box.x * this.scale, height / 2 + this.view.y + this.box.y * this.scale];
    this.bar = Math.max(5 * ratio, Math.min(13 * ratio, 0.035 * Math.min(width, height)));
    p.setTransform(1, 0, 0, 1, 0, 0);
    p.clearRect(0, 0, width, height);
    p.lineCap = p.lineJoin = "round";
    this.grid(ratio);
    if (this.on("paths")) this.paths(ratio);
    if (this.scene.discrete) this.ghosts(ratio);
    for (const slider of this.scene.sliders) this.rail(slider, ratio);
    for (const spring of this.scene.springs) this.spring(spring, ratio);
    this.scene.points.forEach((point, i) => point.fixed && this.ground(this.px(this.now, 2 * i), ratio));
    this.scene.bodies.forEach((body, i) => this.body(body.points, palette(i), this.now, 1, ratio));
    this.scene.bodies.forEach((_, i) => this.centre(i, ratio));
    this.pins(ratio);
    if (this.on("ellipses")) this.drawEllipses(ratio);
    if (this.on("forces")) this.forces(ratio);
    if (this.on("names")) this.names(ratio);
  }

  private grid(ratio: number) {
    const p = this.paint, { width, height } = this.canvas, step = roundLength((70 * ratio) / this.scale);
    p.strokeStyle = color("grid");
    p.lineWidth = ratio;
    p.beginPath();
    for (let x = Math.ceil(-this.origin[0] / this.scale / step) * step; this.px([x, 0])[0] <= width; x += step) {
      const at = Math.round(this.px([x, 0])[0]) + 0.5;
      p.moveTo(at, 0), p.lineTo(at, height);
    }
    for (let y = Math.floor(this.origin[1] / this.scale / step) * step; this.px([0, y])[1] <= height; y -= step) {
      const at = Math.round(this.px([0, y])[1]) + 0.5;
      p.moveTo(0, at), p.lineTo(width, at);
    }
    p.stroke();
    const length = step * this.scale, x = 16 * ratio, y = height - 18 * ratio;
    p.strokeStyle = p.fillStyle = color("muted");
    p.lineWidth = 1.5 * ratio;
    p.beginPath();
    p.moveTo(x, y - 4 * ratio), p.lineTo(x, y), p.lineTo(x + length, y), p.lineTo(x + length, y - 4 * ratio);
    p.stroke();
    p.font = `${12 * ratio}px system-ui, sans-serif`;
    p.textAlign = "left";
    p.textBaseline = "bottom";
    p.fillText(step < 0.01 ? `${number(step * 1000, 1)} mm` : `${number(step, 1)} m`, x + 3 * ratio, y - 4 * ratio);
  }

  private paths(ratio: number) {
    const p = this.paint, width = this.now.length, frames = this.times.length, each = stride(frames, 1500);
    this.scene.points.forEach((point, i) => {
      if (point.fixed || frames < 3 || this.scene.discrete) return;
      const line = (from: number, to: number) => {
        p.beginPath();
        for (let k = from; k < to; k += each) p.lineTo(...this.px(this.xy, k * width + 2 * i));
        p.lineTo(...this.px(this.xy, to * width + 2 * i));
      };
      p.strokeStyle = palette(i);
      p.globalAlpha = 0.3;
      p.lineWidth = 1.2 * ratio;
      line(0, frames - 1);
      p.stroke();
      p.globalAlpha = 0.9;
      p.lineWidth = 1.8 * ratio;
      const recent = Math.max(0, this.frame - Math.round(frames * Math.min(1, 0.6 / Math.max(1e-9, this.length()))));
      line(recent, this.frame);
      p.lineTo(...this.px(this.now, 2 * i));
      p.stroke();
      p.globalAlpha = 1;
    });
  }

  private length() {
    return this.times[this.times.length - 1] - this.times[0];
  }

  private ghosts(ratio: number) {
    const width = this.now.length, each = stride(this.times.length, 40);
    for (let k = 0; k < this.times.length; k += each) {
      if (k === this.frame) continue;
      const there = Float64Array.from({ length: width }, (_, i) => this.xy[k * width + i]);
      this.scene.bodies.forEach((body, i) => this.body(body.points, palette(i), there, 0.14, ratio));
    }
  }

  private body(points: number[], fill: string, at: ArrayLike<number>, alpha: number, ratio: number) {
    const p = this.paint, outline = hull(points.map((i) => this.px(at, 2 * i)));
    if (outline.some((c) => !Number.isFinite(c[0] + c[1]))) return;
    p.globalAlpha = alpha;
    p.beginPath();
    for (const corner of outline) p.lineTo(...corner);
    p.closePath();
    p.strokeStyle = color("panel");
    p.lineWidth = this.bar + 4 * ratio;
    p.stroke();
    p.strokeStyle = p.fillStyle = fill;
    p.lineWidth = this.bar;
    p.stroke();
    p.fill();
    p.globalAlpha = 1;
  }

  private centre(index: number, ratio: number) {
    const body = this.scene.bodies[index], p = this.paint;
    if (body.mass <= 0 || body.points.length < 2) return;
    const [x, y] = this.onBody(index, body.cog), r = 3.6 * ratio;
    if (!Number.isFinite(x + y)) return;
    p.fillStyle = color("panel");
    p.beginPath();
    p.arc(x, y, r, 0, 7);
    p.fill();
    p.fillStyle = color("text");
    for (const from of [0, Math.PI]) {
      p.beginPath();
      p.moveTo(x, y);
      p.arc(x, y, r, from, from + Math.PI / 2);
      p.fill();
    }
  }

  /** A place of a body's frame, on the canvas: origin at its first point, x toward its second. */
  private onBody(index: number, at: XY): XY {
    const [a, b] = this.scene.bodies[index].points;
    const ax = this.now[2 * a], ay = this.now[2 * a + 1], ux = this.now[2 * b] - ax, uy = this.now[2 * b + 1] - ay;
    const l = Math.hypot(ux, uy) || 1;
    return this.px([ax + (at[0] * ux - at[1] * uy) / l, ay + (at[0] * uy + at[1] * ux) / l]);
  }

  private pins(ratio: number) {
    const p = this.paint;
    this.scene.points.forEach((_, i) => {
      const [x, y] = this.px(this.now, 2 * i);
      if (!Number.isFinite(x + y)) return;
      p.beginPath();
      p.arc(x, y, this.bar * 0.3 + ratio, 0, 7);
      p.fillStyle = color("panel");
      p.strokeStyle = color("text");
      p.lineWidth = 1.6 * ratio;
      p.fill();
      p.stroke();
    });
  }

  private ground([x, y]: XY, ratio: number) {
    const p = this.paint, w = this.bar * 1.15, top = y + this.bar * 1.35;
    p.strokeStyle = color("muted");
    p.fillStyle = color("sunken");
    p.lineWidth = 1.5 * ratio;
    p.beginPath();
    p.moveTo(x, y), p.lineTo(x - w, top), p.lineTo(x + w, top), p.closePath();
    p.fill();
    p.stroke();
    p.beginPath();
    for (let k = -2; k <= 2; ++k) {
      p.moveTo(x + k * w * 0.55 + w * 0.2, top), p.lineTo(x + k * w * 0.55 - w * 0.25, top + w * 0.5);
    }
    p.moveTo(x - w * 1.4, top), p.lineTo(x + w * 1.4, top);
    p.stroke();
  }

  private rail(slider: { point: number; a: number; b: number }, ratio: number) {
    const a = this.px(this.now, 2 * slider.a), b = this.px(this.now, 2 * slider.b), c = this.px(this.now, 2 * slider.point);
    const p = this.paint, dx = b[0] - a[0], dy = b[1] - a[1], l = Math.hypot(dx, dy) || 1;
    const along = ((c[0] - a[0]) * dx + (c[1] - a[1]) * dy) / l, reach = 2.4 * this.bar;
    const first = Math.min(0, along - reach), last = Math.max(l, along + reach), u: XY = [dx / l, dy / l];
    p.strokeStyle = color("muted");
    p.lineWidth = 1.5 * ratio;
    p.setLineDash([7 * ratio, 4 * ratio]);
    p.beginPath();
    p.moveTo(a[0] + u[0] * first, a[1] + u[1] * first), p.lineTo(a[0] + u[0] * last, a[1] + u[1] * last);
    p.stroke();
    p.setLineDash([]);
    p.save();
    p.translate(c[0], c[1]);
    p.rotate(Math.atan2(dy, dx));
    p.fillStyle = color("sunken");
    p.strokeStyle = color("text");
    p.beginPath();
    p.rect(-1.3 * this.bar, -0.8 * this.bar, 2.6 * this.bar, 1.6 * this.bar);
    p.fill();
    p.stroke();
    p.restore();
  }

  private spring(spring: { a: number; b: number }, ratio: number) {
    const a = this.px(this.now, 2 * spring.a), b = this.px(this.now, 2 * spring.b), p = this.paint;
    const dx = b[0] - a[0], dy = b[1] - a[1], l = Math.hypot(dx, dy) || 1, turns = 9, wide = 0.6 * this.bar;
    p.strokeStyle = color("muted");
    p.lineWidth = 2 * ratio;
    p.beginPath();
    p.moveTo(...a);
    for (let k = 0; k <= 2 * turns; ++k) {
      const s = 0.15 + (0.7 * k) / (2 * turns), side = k === 0 || k === 2 * turns ? 0 : (k % 2 ? 1 : -1) * wide;
      p.lineTo(a[0] + dx * s - (dy / l) * side, a[1] + dy * s + (dx / l) * side);
    }
    p.lineTo(...b);
    p.stroke();
  }

  private forces(ratio: number) {
    const longest = 0.22 * Math.min(this.canvas.width, this.canvas.height);
    this.scene.arrows.forEach((arrow, i) => {
      const fx = this.between(this.arrows[i], 2, 0), fy = this.between(this.arrows[i], 2, 1);
      const size = Math.hypot(fx, fy);
      if (!(size > 1e-3 * this.largestForce)) return;
      const l = (longest * size) / this.largestForce, [x, y] = this.px(this.now, 2 * arrow.point);
      this.arrow(x, y, x + (fx / size) * l, y - (fy / size) * l, color("force"), ratio);
    });
  }

  private arrow(x0: number, y0: number, x1: number, y1: number, stroke: string, ratio: number) {
    const p = this.paint, l = Math.hypot(x1 - x0, y1 - y0) || 1, ux = (x1 - x0) / l, uy = (y1 - y0) / l;
    const head = Math.min(10 * ratio, 0.6 * l);
    p.strokeStyle = p.fillStyle = stroke;
    p.lineWidth = 2.2 * ratio;
    p.beginPath();
    p.moveTo(x0, y0), p.lineTo(x1 - ux * head, y1 - uy * head);
    p.stroke();
    p.beginPath();
    p.moveTo(x1, y1);
    p.lineTo(x1 - ux * head - uy * head * 0.45, y1 - uy * head + ux * head * 0.45);
    p.lineTo(x1 - ux * head + uy * head * 0.45, y1 - uy * head - ux * head * 0.45);
    p.closePath();
    p.fill();
  }

  /** Within two deviations: (x, y) = 2 σ (cos φ, sin(φ + asin ρ)). */
  private drawEllipses(ratio: number) {
    const p = this.paint;
    this.scene.ellipses.forEach((ellipse, i) => {
      const [sx, sy] = [0, 1].map((k) => this.between(this.ellipses[i], 3, k));
      const rho = this.ellipses[i][3 * this.frame + 2], [x, y] = this.px(this.now, 2 * ellipse.point);
      if (!Number.isFinite(sx + sy + rho)) return;
      p.beginPath();
      for (let k = 0; k <= 48; ++k) {
        const phi = (2 * Math.PI * k) / 48;
        p.lineTo(x + 2 * sx * this.scale * Math.cos(phi), y - 2 * sy * this.scale * Math.sin(phi + Math.asin(rho)));
      }
      p.closePath();
      p.fillStyle = p.strokeStyle = color("accent");
      p.globalAlpha = 0.2;
      p.fill();
      p.globalAlpha = 1;
      p.lineWidth = 2 * ratio;
      p.stroke();
    });
  }

  private names(ratio: number) {
    const p = this.paint;
    p.font = `600 ${12.5 * ratio}px system-ui, sans-serif`;
    p.textAlign = "left";
    p.textBaseline = "bottom";
    p.lineWidth = 3.5 * ratio;
    const label = (text: string, x: number, y: number, fill: string) => {
      if (!Number.isFinite(x + y)) return;
      const short = text.length > 28 ? text.slice(0, 27) + "…" : text;
      const width = p.measureText(short).width, left = p.textAlign === "right" ? x - width : p.textAlign === "center" ? x - width / 2 : x;
      const shift = Math.max(4 * ratio, Math.min(left, this.canvas.width - width - 4 * ratio)) - left, at = x + shift;
      p.strokeStyle = color("panel");
      p.strokeText(short, at, y);
      p.fillStyle = fill;
      p.fillText(short, at, y);
    };
    this.scene.points.forEach((point, i) => {
      const [x, y] = this.px(this.now, 2 * i);
      label(point.name, x + 0.75 * this.bar, y - 0.6 * this.bar, color("text"));
    });
    p.font = `${11.5 * ratio}px system-ui, sans-serif`;
    this.scene.bodies.forEach((body, i) => {
      const ends = body.points.map((k) => this.px(this.now, 2 * k));
      const x = ends.reduce((sum, e) => sum + e[0], 0) / ends.length, y = ends.reduce((sum, e) => sum + e[1], 0) / ends.length;
      const [a, b] = ends, l = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
      const side = b[0] >= a[0] ? 1 : -1; // the side that is above a bar that leans
      const nx = (side * (b[1] - a[1])) / l, ny = (-side * (b[0] - a[0])) / l;
      p.textAlign = nx < -0.35 ? "right" : nx > 0.35 ? "left" : "center";
      label(body.name, x + nx * 1.4 * this.bar, y + ny * 1.4 * this.bar + 5 * ratio, palette(i));
    });
  }
}

/** The convex outline of some places, counter-clockwise (Andrew's chains). */
function hull(places: XY[]): XY[] {
  if (places.length < 3) return places;
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: XY[]) => {
    const chain: XY[] = [];
    for (const p of list) {
      while (chain.length > 1) {
        const [a, b] = chain.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
