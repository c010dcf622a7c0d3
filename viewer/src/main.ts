// The page, from top to bottom: verdict, animation and plots, what was found, graphs, tables, how to do it again.

import "./style.css";
import { Clock } from "./clock";
import { readPage, unpack, type Page } from "./data";
import { download, h } from "./dom";
import { FlatStage } from "./flat";
import { makeGraph } from "./graph";
import { PlanarStage } from "./planar";
import { csv, makePlots, type Plots } from "./plots";
import { SpatialStage } from "./spatial";
import type { Stage } from "./stage";
import { makeBranches, makeParameters, makeTable } from "./tables";
import { dark, onTheme, startTheme, toggleTheme } from "./theme";
import { makeTiming } from "./timing";
import { makeTransport } from "./transport";
import { makeView } from "./view";

function makeClock(page: Page): Clock {
  const list: number[] = [];
  for (const packed of [page.scene?.t, page.series?.t]) {
    if (!packed) continue;
    const times = unpack(packed);
    if (times.length) list.push(times[0], times[times.length - 1]);
  }
  const from = list.length ? Math.min(...list) : 0, to = list.length ? Math.max(...list) : 0;
  const seconds = page.time.unit !== "";
  const frames = page.scene ? unpack(page.scene.t).length : 2;
  const discrete = page.scene?.discrete ?? false;
  const rate = seconds ? 1 : discrete ? 1 : (to - from) / 8; // a count of poses: all of them in eight seconds
  const step = discrete ? 1 : Math.max((to - from) / Math.max(1, frames - 1), (to - from) / 400);
  return new Clock(from, to, rate, step, seconds);
}

function makeStage(page: Page): Stage | null {
  if (!page.scene) return null;
  if (page.scene.dimension === 2) return new PlanarStage(page.scene);
  const flat = new URLSearchParams(location.search).has("flat");
  try {
    if (!flat) return new SpatialStage(page.scene);
  } catch {
    /* no WebGL: lines on a plain canvas */
  }
  return new FlatStage(page.scene);
}

function stagePanel(stage: Stage): HTMLElement {
  const tools = h("div", { class: "tools" });
  for (const layer of stage.layers) {
    const box = h("input", { type: "checkbox", ...(layer.on ? { checked: true } : {}) });
    box.addEventListener("change", () => {
      layer.on = box.checked;
      stage.redraw();
    });
    tools.append(h("label", {}, box, layer.label));
  }
  tools.append(h("button", { type: "button", class: "link", title: "the whole machine again (double click)", onclick: () => stage.home() }, "fit"));
  onTheme(() => stage.redraw());
  return h("section", { class: "panel stage", "data-kind": stage.kind, "aria-label": "animation" }, stage.element, tools);
}

function header(page: Page): HTMLElement {
  const theme = h("button", { type: "button", class: "theme", onclick: toggleTheme });
  const told = () => {
    theme.textContent = dark() ? "☀" : "☾";
    theme.title = dark() ? "light" : "dark";
    theme.setAttribute("aria-label", `${theme.title} colours`);
  };
  onTheme(told);
  told();
  const tools = h("div", { class: "actions" });
  if (page.series && !page.view) {
    const save = () => download(`${page.model || "kinegraph"}.csv`, csv(page));
    const note = page.series.thinned ? "smallest and largest of every stretch; --out has every sample" : "every sample";
    tools.append(h("button", { type: "button", onclick: save, title: `the series of this page as a table: ${note}` }, "CSV"));
  }
  tools.append(theme);
  return h("header", {}, h("div", {}, h("span", { class: "verb" }, page.verb), h("h1", {}, page.model)), tools);
}

function facts(page: Page): HTMLElement | null {
  if (!page.facts.length) return null;
  const list = h("dl", {});
  for (const [label, value] of page.facts) list.append(h("div", {}, h("dt", {}, label), h("dd", {}, value)));
  return h("section", { class: "panel" }, h("h2", {}, "Summary"), list);
}

function origin(page: Page): HTMLElement {
  const rows = [["model", page.file], ...page.inputs, ["made by", `kinegraph ${page.version}`]];
  const list = h("dl", { class: "origin" });
  for (const [label, value] of rows) list.append(h("div", {}, h("dt", {}, label), h("dd", {}, value)));
  const command = h("code", { class: "command" }, page.command);
  return h("section", { class: "panel" }, h("h2", {}, "To do it again"), command, list);
}

function build(page: Page) {
  startTheme();
  document.title = `${page.model}: ${page.verb}`;
  const main = document.getElementById("page")!;
  main.append(header(page));
  main.append(h("p", { class: `verdict ${page.status}`, role: "status" }, page.verdict));
  if (page.warnings.length) main.append(h("ul", { class: "warnings" }, ...page.warnings.map((text) => h("li", {}, text))));

  const clock = makeClock(page), stage = makeStage(page);
  const moving = clock.length > 0;
  const row = h("div", { class: "row" });
  main.append(row);
  const left = h("div", { class: "left" });
  if (stage) {
    left.append(stagePanel(stage));
    row.append(left);
    if (page.view && page.scene) {
      row.append(makeView(page.view, page.scene, stage));
      row.classList.add("view");
    }
  }
  let plots: Plots | null = null;
  if (page.series && page.series.list.length && moving && !page.view) {
    plots = makePlots(page, clock);
    row.append(plots.element);
  } else if (!page.view) {
    row.classList.add("single");
  }
  if (stage && !page.view) clock.onTime((t) => stage.draw(t));
  const below = h("div", { class: "below" });
  main.append(below);
  const timed = moving ? clock : null;
  if (page.timing && timed) below.append(makeTiming(page.timing, clock));
  if (page.parameters) below.append(makeParameters(page.parameters));
  if (page.branches) below.append(makeBranches(page.branches));
  const found = facts(page);
  if (found) below.append(found);
  for (const table of page.tables) below.append(makeTable(table, timed));
  for (const graph of page.graphs) below.append(makeGraph(graph, timed));
  below.append(origin(page));
  if (moving && !page.view) document.body.append(makeTransport(clock, page.time.unit));
  clock.set(clock.from);
  clock.readAddress();
  window.addEventListener("hashchange", () => clock.readAddress());
  // For tests and for the curious.
  Object.assign(window, { kinegraph: { page, clock, stage, plots: plots?.list ?? [], opened: performance.now() } });
}

build(readPage());
