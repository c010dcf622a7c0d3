// When contacts stand: bars along the time axis, with the page's one cursor.

import type { Clock } from "./clock";
import type { Timing } from "./data";
import { h, number } from "./dom";
import { palette } from "./theme";

export function makeTiming(timing: Timing, clock: Clock): HTMLElement {
  const share = (t: number) => (100 * (t - clock.from)) / (clock.length || 1);
  const rows = timing.rows.map((row, i) => {
    const rail = h("div", { class: "rail" });
    for (const [from, to] of row.spans) {
      const bar = h("i", { title: `${row.name}: ${number(from)} to ${number(to)} s`, style: `left:${share(from)}%;width:${Math.max(0.2, share(to) - share(from))}%` });
      bar.style.background = palette(i);
      rail.append(bar);
    }
    return h("div", { class: "timing-row" }, h("span", {}, row.name), rail);
  });
  const cursor = h("b", {});
  const field = h("div", { class: "timing-field" }, ...rows, h("div", { class: "timing-row over" }, h("span", {}), h("div", {}, cursor)));
  clock.onTime((t) => (cursor.style.left = `${share(t)}%`));
  field.addEventListener("click", (e) => {
    const box = (field.querySelector(".rail") as HTMLElement).getBoundingClientRect();
    if (e.clientX < box.left) return;
    clock.pause();
    clock.set(clock.from + ((e.clientX - box.left) / box.width) * clock.length);
    clock.address();
  });
  return h("section", { class: "panel timing", "aria-label": "timing" }, h("h2", {}, timing.title), field);
}
