// The bar at the foot: play, speed, scrub, step.

import type { Clock } from "./clock";
import { h, minus, number } from "./dom";

const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

export function makeTransport(clock: Clock, unit: string): HTMLElement {
  const play = h("button", { class: "play", type: "button", "aria-label": "play or pause (space)", title: "play or pause (space)" });
  const speed = h("select", { "aria-label": "speed", title: "speed (+ and −)" });
  for (const value of speeds) speed.append(h("option", { value, ...(value === 1 ? { selected: true } : {}) }, `${value}×`));
  const bar = h("input", { type: "range", min: 0, max: 10000, step: 1, value: 0, class: "scrub", "aria-label": "time" });
  const digits = clock.length > 0 ? Math.max(0, Math.min(6, Math.ceil(2 - Math.log10(clock.length / 10)))) : 0;
  const text = (t: number) => (clock.seconds ? `${minus(t.toFixed(digits))} ${unit}` : `${Math.round(t)}`);
  const time = h("output", { class: "time" });
  const share = (t: number) => (clock.length > 0 ? (t - clock.from) / clock.length : 0);

  play.addEventListener("click", () => clock.toggle());
  speed.addEventListener("change", () => clock.setSpeed(Number(speed.value)));
  bar.addEventListener("input", () => {
    clock.pause();
    clock.set(clock.from + (clock.length * Number(bar.value)) / 10000);
  });
  bar.addEventListener("change", () => clock.address());
  clock.onTime((t) => {
    bar.value = String(Math.round(10000 * share(t)));
    bar.style.setProperty("--share", `${100 * share(t)}%`);
    time.textContent = text(t);
  });
  const told = () => {
    play.textContent = clock.playing ? "❚❚" : "▶";
    play.classList.toggle("playing", clock.playing);
    speed.value = String(clock.speed);
  };
  clock.onState(told);
  told();
  keys(clock);
  return h("div", { class: "transport", role: "group", "aria-label": "animation" }, play, speed, bar, time, h("span", { class: "muted end" }, `/ ${clock.seconds ? number(clock.to, 3) + " " + unit : text(clock.to)}`));
}

function keys(clock: Clock) {
  document.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const slider = target instanceof HTMLInputElement && (target.type !== "range" || target.classList.contains("handle"));
    const step = e.shiftKey ? 10 * clock.step : clock.step;
    const go = (t: number) => {
      e.preventDefault();
      clock.pause();
      clock.set(t);
      clock.address();
    };
    if (e.key === " " && target.tagName !== "BUTTON" && target.tagName !== "SUMMARY") e.preventDefault(), clock.toggle();
    else if (slider) return;
    else if (e.key === "ArrowRight") go(clock.t + step);
    else if (e.key === "ArrowLeft") go(clock.t - step);
    else if (e.key === "Home") go(clock.from);
    else if (e.key === "End") go(clock.to);
    else if (e.key === "+" || e.key === "-") {
      const at = speeds.indexOf(clock.speed) + (e.key === "+" ? 1 : -1);
      if (speeds[at]) clock.setSpeed(speeds[at]);
    }
  });
}
