// Factor graphs, directed graphs and clique trees as they were laid out; and the pattern of a matrix.

import type { Clock } from "./clock";
import type { Graph, GraphNode } from "./data";
import { h, number, s } from "./dom";

/** From cool to hot, by the share of what is allowed, in powers of ten: 10⁻⁹ is cool, 1 is hot. */
export function heat(residual: number): string {
  const share = Math.max(0, Math.min(1, 1 + Math.log10(Math.max(residual, 1e-12)) / 9));
  return `hsl(${Math.round(200 - 200 * share)} 75% 45%)`;
}

function label(node: GraphNode): SVGTextElement {
  const size = node.shape === "separator" ? 13 : 15;
  const text = s("text", { x: node.x, y: node.y + (node.step ? 1 : 5), "font-size": size, "xml:space": "preserve" });
  node.labels.forEach(([symbol, index], i) => {
    if (i === node.bar) text.append(" |");
    if (i > 0) text.append(" ");
    text.append(symbol);
    if (index) text.append(s("tspan", { dy: 0.25 * size, "font-size": 0.7 * size }, index), s("tspan", { dy: -0.25 * size }, "\u200b"));
  });
  return text;
}

function shape(node: GraphNode, clock: Clock | null): SVGElement {
  const round = node.shape === "variable" || node.shape === "factor" || node.shape === "created" || node.shape === "shaded";
  const group = s("g", { class: `node ${node.shape}` });
  const outline = round
    ? s("circle", { cx: node.x, cy: node.y, r: node.w })
    : s("rect", { x: node.x - node.w, y: node.y - node.h, width: 2 * node.w, height: 2 * node.h, rx: node.shape === "clique" ? 8 : node.shape === "separator" ? 2 : 1 });
  if (node.residual !== undefined) outline.style.fill = outline.style.stroke = heat(node.residual);
  group.append(outline);
  if (node.labels.length) group.append(label(node));
  if (node.step) group.append(s("text", { class: "step", x: node.x, y: node.y + 13, "font-size": 9 }, String(node.step)));
  let note = node.note ?? node.name;
  if (node.residual !== undefined) note += `; residual ${number(node.residual, 2)} of what is allowed`;
  if (node.t !== undefined) note += `; t = ${number(node.t)} s`;
  group.append(s("title", {}, note));
  if (clock && node.t !== undefined) {
    group.classList.add("moment");
    group.addEventListener("click", () => {
      clock.pause();
      clock.set(node.t!);
      clock.address();
    });
  }
  return group;
}

function bounds(graph: Graph): [number, number, number, number] {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  const add = (x: number, y: number, w: number, k: number) => {
    x0 = Math.min(x0, x - w), x1 = Math.max(x1, x + w), y0 = Math.min(y0, y - k), y1 = Math.max(y1, y + k);
  };
  for (const node of graph.nodes) add(node.x, node.y, node.w, node.h);
  for (const text of graph.texts) add(text.x, text.y, 0.3 * text.size * text.text.length, text.size);
  for (const edge of graph.edges) for (let i = 0; i + 1 < edge.curve.length; i += 2) add(edge.curve[i], edge.curve[i + 1], 2, 2);
  return x0 > x1 ? [0, 0, 10, 10] : [x0 - 16, y0 - 16, x1 - x0 + 32, y1 - y0 + 32];
}

function drawing(graph: Graph, clock: Clock | null): SVGElement {
  const box = bounds(graph);
  const id = `tip-${Math.random().toString(36).slice(2)}`;
  const tip = s("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8z", class: "tip" }));
  const picture = s("svg", { class: "graph", viewBox: box.join(" "), width: Math.min(box[2], 4000), height: Math.min(box[3], 4000), role: "img", "aria-label": graph.title }, s("defs", {}, tip));
  for (const edge of graph.edges) {
    const c = edge.curve;
    picture.append(
      s("path", {
        class: `edge ${edge.kind}`,
        d: `M${c[0]} ${c[1]}C${c[2]} ${c[3]} ${c[4]} ${c[5]} ${c[6]} ${c[7]}`,
        "marker-end": edge.kind === "arrow" ? `url(#${id})` : undefined,
      }),
    );
  }
  for (const text of graph.texts) picture.append(s("text", { class: "caption", x: text.x, y: text.y, "font-size": text.size }, text.text));
  for (const node of graph.nodes) picture.append(shape(node, clock));
  return picture;
}

function pattern(given: NonNullable<Graph["sparsity"]>[number]): HTMLElement {
  const cell = Math.max(3, Math.min(14, 320 / Math.max(given.columns.length, given.rows.length, 1)));
  const width = cell * given.columns.length, height = cell * given.rows.length;
  const picture = s("svg", { class: "pattern", viewBox: `-1 -1 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, role: "img", "aria-label": given.title });
  picture.append(s("rect", { class: "frame", x: 0, y: 0, width, height }));
  const draw = (cells: [number, number][], kind: string) => {
    for (const [r, c] of cells) {
      const gap = cell > 6 ? 0.5 : 0;
      const one = s("rect", { class: kind, x: c * cell + gap, y: r * cell + gap, width: cell - 2 * gap, height: cell - 2 * gap });
      one.append(s("title", {}, `${given.rows[r]} – ${given.columns[c]}`));
      picture.append(one);
    }
  };
  draw(given.cells, "block");
  draw(given.fill ?? [], "block fill");
  return h("figure", {}, picture, h("figcaption", {}, given.title));
}

export function makeGraph(graph: Graph, clock: Clock | null): HTMLElement {
  const section = h("section", { class: "panel" }, h("h2", {}, graph.title));
  if (graph.facts.length) section.append(h("p", { class: "note" }, graph.facts.join(" · ")));
  section.append(h("div", { class: "scroll" }, drawing(graph, clock)));
  const notes = [...graph.legend];
  if (graph.nodes.some((n) => n.t !== undefined)) notes.push("click goes to that moment");
  if (graph.nodes.some((n) => n.residual !== undefined)) notes.push("factors: blue is small, red is all that is allowed");
  if (notes.length) section.append(h("p", { class: "note" }, notes.join(" · ")));
  if (graph.sparsity?.length) section.append(h("div", { class: "patterns" }, ...graph.sparsity.map(pattern)));
  return section;
}
