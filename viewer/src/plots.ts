// Series against time, with bands of two deviations and with what was read or true beside them. All plots and the
// animation share one cursor: the clock's moment.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Clock } from "./clock";
import { nearest, unpack, type Packed, type Page, type Series } from "./data";
import { h, number } from "./dom";
import { color, onTheme, palette } from "./theme";

type Column = (number | null)[] | Float32Array | Float64Array;

const mostOpen = 4; // plots that are open from the start
const mostShown = 8; // series of a plot that are shown from the start

function column(packed: Packed): Column {
  const values = unpack(packed);
  for (let i = 0; i < values.length; ++i) {
    if (Number.isNaN(values[i])) return Array.from(values, (v) => (Number.isNaN(v) ? null : v));
  }
  return values;
}

function offset(values: Column, sd: Column, by: number): Column {
  return Array.from(values as ArrayLike<number | null>, (v, i) => (v === null || sd[i] === null ? null : v + by * (sd[i] as number)));
}

function limits(one: Series): string {
  const [low, high] = one.limits ?? [null, null];
  return low === null && high === null ? "" : `, limits ${number(low)} to ${number(high)} (dashed)`;
}

class Plot {
  readonly element: HTMLDetailsElement;
  private holder = h("div", { class: "plot" });
  private chips: { row: HTMLElement; value: HTMLElement }[] = [];
  private plot: uPlot | null = null;
  private shown: boolean[];
  private times: ArrayLike<number>;
  private columns = new Map<number, Column>();
  private following = false;

  constructor(private page: Page, private title: string, private list: Series[], private all: Plot[], private clock: Clock, open: boolean) {
    this.shown = list.map((_, i) => i < mostShown);
    this.times = unpack(page.series!.t);
    const units = [...new Set(list.map((one) => one.unit))];
    const others = list.flatMap((one) => one.beside ?? []).map((other) => `${other.dots ? "dots" : "dashed"}: ${other.label}`);
    const notes = [units.filter(Boolean).join(", "), list.some((one) => one.sd) ? "band: ±2σ" : "", ...new Set(others)].filter(Boolean);
    const head = h("summary", {}, h("span", { class: "plot-title" }, title), h("span", { class: "unit" }, notes.join(" · ")));
    const chips = h("div", { class: "chips" });
    list.forEach((one, i) => chips.append(this.chip(one, i)));
    this.element = h("details", { class: "panel plot-panel" }, head, chips, this.holder);
    this.element.open = open;
    this.element.addEventListener("toggle", () => this.element.open && this.show());
    new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && this.element.open && this.show(), { rootMargin: "300px" }).observe(this.holder);
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(this.holder);
  }

  private chip(one: Series, i: number): HTMLElement {
    const value = h("span", { class: "value" });
    const row = h(
      "button",
      {
        class: "chip",
        type: "button",
        title: `${one.name}${limits(one)}: click to hide or show`,
        "aria-pressed": this.shown[i],
        onclick: () => {
          this.shown[i] = !this.shown[i];
          this.marks();
          this.rebuild();
        },
      },
      h("i", {}),
      h("span", {}, one.name),
      value,
    );
    this.chips.push({ row, value });
    return row;
  }

  private marks() {
    this.chips.forEach(({ row }, i) => {
      row.setAttribute("aria-pressed", String(this.shown[i]));
      row.classList.toggle("off", !this.shown[i]);
      (row.firstElementChild as HTMLElement).style.background = palette(i);
    });
  }

  private size() {
    return { width: Math.max(200, this.holder.clientWidth), height: this.page.view ? 150 : 190 };
  }

  show() {
    if (this.plot || !this.holder.clientWidth) return;
    this.marks();
    this.build();
    this.follow(this.clock.t);
  }

  rebuild() {
    if (!this.plot) return;
    const { min, max } = this.plot.scales.x;
    this.plot.destroy();
    this.plot = null;
    this.marks();
    this.build();
    if (min !== undefined && max !== undefined) this.plot!.setScale("x", { min: min!, max: max! });
    this.follow(this.clock.t);
  }

  private y(i: number): Column {
    if (!this.columns.has(i)) this.columns.set(i, column(this.list[i].y));
    return this.columns.get(i)!;
  }

  /** The tables that uPlot draws: ours, then each list that has times of its own. */
  private build() {
    const tables: uPlot.AlignedData[] = [];
    const main: Column[] = [this.times as Column];
    const series: uPlot.Series[] = [{}], bands: uPlot.Band[] = [];
    const joined = this.list.some((one, i) => this.shown[i] && one.beside?.length);
    this.list.forEach((one, i) => {
      if (!this.shown[i]) return;
      const stroke = palette(i);
      main.push(this.y(i));
      const single = this.page.scene?.discrete ?? false; // poses with nothing between them
      const points = { show: single || main[0].length < 30, size: single ? 8 : 5, fill: single ? stroke : undefined };
      series.push({ label: one.name, stroke, width: 1.6, spanGaps: joined, points, paths: single ? () => null : undefined });
      if (!one.sd) return;
      const sd = column(one.sd);
      main.push(offset(this.y(i), sd, 2), offset(this.y(i), sd, -2));
      const quiet = { stroke: "transparent", width: 0, spanGaps: joined, points: { show: false } };
      series.push({ label: `${one.name} + 2σ`, ...quiet }, { label: `${one.name} − 2σ`, ...quiet });
      bands.push({ series: [main.length - 2, main.length - 1], fill: stroke + "2e" });
    });
    tables.push(main as uPlot.AlignedData);
    this.list.forEach((one, i) => {
      if (!this.shown[i]) return;
      for (const other of one.beside ?? []) {
        tables.push([Array.from(unpack(other.t)), column(other.y)] as uPlot.AlignedData);
        series.push({
          label: `${one.name}, ${other.label}`,
          stroke: other.dots ? palette(i) : color("text"),
          width: other.dots ? 0 : 1.4,
          dash: other.dots ? undefined : [6, 4],
          spanGaps: !other.dots,
          paths: other.dots ? () => null : undefined,
          points: { show: other.dots, size: 4, stroke: palette(i), fill: color("panel"), width: 1 },
        });
      }
    });
    const data = tables.length > 1 ? uPlot.join(tables) : tables[0];
    this.plot = new uPlot(this.options(series, bands), data, this.holder);
  }

  private options(series: uPlot.Series[], bands: uPlot.Band[]): uPlot.Options {
    const axis = {
      stroke: color("muted"),
      grid: { stroke: color("grid"), width: 1 },
      ticks: { stroke: color("grid"), width: 1, size: 4 },
      font: "11.5px system-ui, sans-serif",
    };
    return {
      ...this.size(),
      series,
      bands,
      legend: { show: false },
      scales: { x: { time: false }, y: { range: (_, low, high) => room(low, high) } },
      axes: [
        { ...axis, size: 30, values: (_, list) => list.map((v) => number(v, 3).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")) },
        { ...axis, size: 62, values: (_, list) => list.map(tick) },
      ],
      cursor: {
        y: false,
        drag: { x: true, y: false, dist: 6 },
        focus: { prox: -1 },
        points: { size: 7, width: 2 },
        bind: { dblclick: () => () => (this.zoom(null), null) },
      },
      hooks: {
        draw: [(u) => this.drawLimits(u)],
        setCursor: [(u) => this.pointed(u)],
        setSelect: [
          (u) => {
            if (u.select.width < 6) return;
            const from = u.posToVal(u.select.left, "x"), to = u.posToVal(u.select.left + u.select.width, "x");
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            this.zoom([from, to]);
          },
        ],
        ready: [
          (u) => {
            this.follow(this.clock.t); // places are known from now on
            u.over.addEventListener("click", (e) => {
              this.clock.pause();
              this.clock.set(u.posToVal(e.offsetX, "x"));
              this.clock.address();
            });
            u.over.addEventListener("mouseleave", () => this.follow(this.clock.t));
          },
        ],
      },
    };
  }

  /** Limits of the series that are shown: dashed, in their colours, where they are in the picture. */
  private drawLimits(u: uPlot) {
    const paint = u.ctx, { left, top, width, height } = u.bbox;
    paint.save();
    paint.lineWidth = Math.max(1, window.devicePixelRatio || 1);
    paint.setLineDash([8 * paint.lineWidth, 5 * paint.lineWidth]);
    paint.globalAlpha = 0.7;
    this.list.forEach((one, i) => {
      if (!this.shown[i]) return;
      for (const limit of one.limits ?? []) {
        if (limit === null) continue;
        const y = u.valToPos(limit, "y", true);
        if (y < top || y > top + height) continue;
        paint.strokeStyle = palette(i);
        paint.beginPath();
        paint.moveTo(left, y);
        paint.lineTo(left + width, y);
        paint.stroke();
      }
    });
    paint.restore();
  }

  private zoom(range: [number, number] | null) {
    for (const plot of this.all) {
      const u = plot.plot;
      if (!u) continue;
      const x = u.data[0];
      u.setScale("x", range ? { min: range[0], max: range[1] } : { min: x[0], max: x[x.length - 1] });
      plot.follow(this.clock.t);
    }
  }

  /** The reader points at a moment: all follow, unless the animation runs by itself. */
  private pointed(u: uPlot) {
    const event = u.cursor.event;
    if (this.following || !event || event.type !== "mousemove" || this.clock.playing) return;
    const left = u.cursor.left ?? -1;
    if (left < 0) return;
    this.clock.set(u.posToVal(left, "x"));
  }

  follow(t: number) {
    if (!this.element.open) return;
    const k = this.times.length ? nearest(this.times, t) : -1;
    const written = this.chips.length <= 24 ? this.chips.length : mostShown;
    for (let i = 0; i < written; ++i) {
      if (this.shown[i] && k >= 0) this.chips[i].value.textContent = number(this.y(i)[k] as number);
      else this.chips[i].value.textContent = "";
    }
    const u = this.plot;
    if (!u) return;
    this.following = true;
    u.setCursor({ left: u.valToPos(t, "x"), top: 10 }, false);
    this.following = false;
  }

  /** Where the cursor stands: for tests. */
  cursor(): number | null {
    return this.plot ? this.plot.posToVal(this.plot.cursor.left ?? -1, "x") : null;
  }

  get name() {
    return this.title;
  }
}

/** The range of an axis with a little room; of a constant, so that it is seen as one. */
function room(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [-1, 1];
  if (Math.max(Math.abs(low), Math.abs(high)) < 1e-12) return [-1e-3, 1e-3]; // rounding alone
  const by = high > low ? 0.06 * (high - low) : Math.max(0.2 * Math.abs(low), 1e-3);
  return high - low < 1e-12 * Math.abs(high) ? [low - by, high + Math.max(by, 0.2 * Math.abs(low))] : [low - by, high + by];
}

function tick(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-4) return number(value, 3);
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

export interface Plots {
  element: HTMLElement;
  list: Plot[];
}

export function makePlots(page: Page, clock: Clock): Plots {
  const element = h("section", { class: "plots", "aria-label": "plots" });
  const plots: Plot[] = [];
  const groups = new Map<string, Series[]>();
  for (const one of [...page.series!.list].sort((a, b) => a.rank - b.rank)) {
    const key = `${one.plot}|${one.unit}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key)!.push(one);
  }
  for (const list of groups.values()) {
    const plot = new Plot(page, list[0].plot, list, plots, clock, plots.length < mostOpen);
    plots.push(plot);
    element.append(plot.element);
  }
  clock.onTime((t) => plots.forEach((plot) => plot.follow(t)));
  onTheme(() => plots.forEach((plot) => plot.rebuild()));
  return { element, list: plots };
}

/** Of each stretch of a thinned series, which has two samples of it, the smaller and the larger. */
function ends(values: ArrayLike<number>, larger: boolean): number[] {
  const pick = larger ? Math.max : Math.min;
  return Array.from({ length: values.length >> 1 }, (_, k) => pick(values[2 * k], values[2 * k + 1]));
}

/** All series as a table: first column t. Thinned ones: t where a stretch begins, the smallest and the largest in it. */
export function csv(page: Page): string {
  const section = page.series!, all = unpack(section.t), names = [page.time.name || "t"];
  const times = section.thinned ? Array.from({ length: all.length >> 1 }, (_, k) => all[2 * k]) : all;
  const columns: ArrayLike<number>[] = [times];
  for (const one of section.list) {
    const values = unpack(one.y);
    if (section.thinned) {
      names.push(`${one.name}.min`, `${one.name}.max`);
      columns.push(ends(values, false), ends(values, true));
      continue;
    }
    names.push(one.name);
    columns.push(values);
    if (one.sd) names.push(`${one.name}.sd`), columns.push(unpack(one.sd));
  }
  const quoted = names.map((name) => (/[",\n]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name));
  const lines = [quoted.join(",")];
  for (let k = 0; k < times.length; ++k) {
    lines.push(columns.map((c, i) => (Number.isNaN(c[k]) ? "" : Number(c[k].toPrecision(i === 0 ? 12 : 8)))).join(","));
  }
  return lines.join("\n") + "\n";
}
