// Tables: residuals and others, parameters with their correlations, branches.

import type { Clock } from "./clock";
import type { Page, Table } from "./data";
import { h, number } from "./dom";

export function makeTable(table: Table, clock: Clock | null): HTMLElement {
  const numeric = table.heads.map((_, c) => table.rows.every((row) => typeof row[c] !== "string"));
  const head = h("tr", {}, ...table.heads.map((text, c) => h("th", { class: numeric[c] ? "right" : "" }, text)));
  const body = table.rows.map((row) =>
    h(
      "tr",
      {},
      ...row.map((value, c) => {
        if (typeof value === "string") return h("td", {}, value);
        const text = value !== null && Number.isInteger(value) && Math.abs(value) < 1e9 ? String(value) : number(value);
        if (clock && table.times.includes(c) && value !== null) {
          const go = () => (clock.pause(), clock.set(value), clock.address());
          return h("td", { class: "right" }, h("button", { class: "link", type: "button", title: "go to this moment", onclick: go }, text));
        }
        return h("td", { class: "right" }, text);
      }),
    ),
  );
  const section = h("section", { class: "panel" }, h("h2", {}, table.title));
  if (table.note) section.append(h("p", { class: "note" }, table.note));
  section.append(h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...body))));
  return section;
}

type Parameters = NonNullable<Page["parameters"]>;

/** Where a value went: from the start (hollow) to the answer (full), with ± two deviations. */
function track(q: Parameters["quantities"][number]): HTMLElement {
  const cell = h("td", { class: "track" });
  if (q.start === null || q.value === null) return cell;
  const reach = Math.max(Math.abs(q.value - q.start), 2 * (q.sd ?? 0), 1e-12 * Math.abs(q.value), 1e-300) * 1.3;
  const at = (v: number) => `${(50 + (45 * (v - q.value!)) / reach).toFixed(1)}%`;
  cell.append(h("i", { class: "rail" }));
  if (q.sd !== null) {
    const left = Math.max(-1, (-2 * q.sd) / reach);
    cell.append(h("i", { class: "range", style: `left:${50 + 45 * left}%;width:${-90 * left}%` }));
  }
  cell.append(h("i", { class: "from", style: `left:${at(q.start)}` }), h("i", { class: "to", style: `left:${at(q.value)}` }));
  return cell;
}

export function makeParameters(given: Parameters): HTMLElement {
  const heads = ["parameter", "start", "fitted", "± sd", "start ○ to fitted ●, ±2σ", "what can be told"];
  const rows = given.quantities.map((q) => {
    const told = [q.identifiable ? q.remark || "identifiable" : q.remark || "cannot be told", q.at_bound ? "at its bound" : ""].filter(Boolean).join("; ");
    return h(
      "tr",
      {},
      h("td", { class: "name" }, q.name),
      h("td", { class: "right" }, number(q.start, 5)),
      h("td", { class: "right strong" }, number(q.value, 5)),
      h("td", { class: "right" }, number(q.sd, 2)),
      track(q),
      h("td", {}, h("span", { class: q.identifiable && !q.at_bound ? "badge good" : "badge warning" }, told)),
    );
  });
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text, i) => h("th", { class: i >= 1 && i <= 3 ? "right" : "" }, text)))), h("tbody", {}, ...rows));
  const section = h("section", { class: "panel", id: "parameters" }, h("h2", {}, "Parameters"), h("div", { class: "scroll" }, table));
  if (given.correlations.length > 1) section.append(correlations(given));
  return section;
}

function correlations(given: Parameters): HTMLElement {
  const names = given.quantities.map((q) => q.name);
  const table = h("table", { class: "correlations" });
  given.correlations.forEach((row, i) => {
    const cells = row.map((r, j) => {
      const cell = h("td", { title: `${names[i]} and ${names[j]}: ${number(r, 3)}` }, r === null ? "–" : r.toFixed(2).replace("-", "−"));
      if (r !== null) cell.style.background = `color-mix(in srgb, var(--${r < 0 ? "cold" : "hot"}) ${Math.round(70 * Math.abs(r))}%, transparent)`;
      return cell;
    });
    table.append(h("tr", {}, h("th", {}, names[i]), ...cells));
  });
  const feet = h("tr", {}, h("th", {}), ...names.map((name) => h("th", { class: "foot" }, h("span", {}, name))));
  table.append(feet);
  return h("div", {}, h("h3", {}, "Correlations"), h("div", { class: "scroll" }, table));
}

export function makeBranches(given: NonNullable<Page["branches"]>): HTMLElement {
  const list = h("div", { class: "branches" });
  given.probabilities.forEach((p, i) => {
    const bar = h("i", { style: `width:${(100 * p).toFixed(2)}%` });
    list.append(
      h("div", { class: i === given.winner ? "branch winner" : "branch" }, h("span", {}, given.names[i] || `branch ${i}`), h("span", { class: "bar" }, bar), h("span", { class: "right" }, `${(100 * p).toFixed(1)} %`)),
    );
  });
  const note = given.time !== null ? `The winner stays above 99 % from ${number(given.time)} s on.` : "None stays above 99 %.";
  return h("section", { class: "panel" }, h("h2", {}, "Assembly branches at the end"), list, h("p", { class: "note" }, note));
}
