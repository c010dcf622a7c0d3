// Sliders for the joints: the machine follows, closed loops stay closed.

import type { PlanarView, Scene, SpatialView, PlanarScene, SpatialScene } from "./data";
import { h, minus } from "./dom";
import { PlanarMachine, SpatialMachine, type Machine } from "./machine";
import { PlanarStage } from "./planar";
import type { Stage } from "./stage";

export function makeView(view: PlanarView | SpatialView, scene: Scene, stage: Stage): HTMLElement {
  const machine: Machine = view.dimension === 2 ? new PlanarMachine(scene as PlanarScene, view) : new SpatialMachine(scene as SpatialScene, view);
  if (stage instanceof PlanarStage) stage.widen(1.6 * Math.max(...(scene as PlanarScene).bodies.map((b) => b.length)));
  const section = h("section", { class: "panel sliders", "aria-label": "joints" });
  const note = h("p", { class: "note" });
  const rows: { bar: HTMLInputElement; value: HTMLElement }[] = [];
  const tell = (i: number) => {
    const handle = machine.handles[i];
    const degrees = handle.unit === "rad" ? (handle.value * 180) / Math.PI : handle.value;
    rows[i].value.textContent = handle.unit === "rad" ? `${minus(degrees.toFixed(1))}°` : `${minus(handle.value.toFixed(4))} m`;
    rows[i].bar.value = String(handle.value);
    const share = (handle.value - handle.low) / (handle.high - handle.low);
    rows[i].bar.style.setProperty("--share", `${100 * share}%`);
  };
  const set = (i: number, value: number) => {
    const reached = machine.move(i, value);
    stage.pose(machine.numbers());
    tell(i);
    note.textContent = reached ? hint : `${machine.handles[i].name} can go no further: the mechanism cannot be assembled there`;
    note.classList.toggle("stop", !reached);
  };
  const hint = machine.handles.length ? "drag a slider; arrow keys move it by small steps" : "this machine has no joint that moves";
  machine.handles.forEach((handle, i) => {
    const bar = h("input", { type: "range", class: "scrub", min: handle.low, max: handle.high, step: (handle.high - handle.low) / 2000, "aria-label": handle.name });
    bar.classList.add("handle");
    const value = h("output", {});
    bar.addEventListener("input", () => set(i, Number(bar.value)));
    rows.push({ bar, value });
    section.append(h("label", { class: "slider" }, h("span", { class: "name", title: handle.name }, handle.name), bar, value));
    tell(i);
  });
  const starts = machine.handles.map((handle) => handle.value);
  const reset = () => starts.forEach((value, i) => set(i, value));
  section.append(h("div", { class: "slider-foot" }, note, h("button", { type: "button", onclick: reset }, "as in the file")));
  note.textContent = hint;
  stage.pose(machine.numbers());
  return section;
}
