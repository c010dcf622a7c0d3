// Light and dark: as the system has it until the reader chooses.

const listeners: (() => void)[] = [];
const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen: "light" | "dark" | null = null;

export function dark(): boolean {
  return chosen ? chosen === "dark" : system.matches;
}

function apply() {
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function toggleTheme() {
  chosen = dark() ? "light" : "dark";
  try {
    localStorage.setItem("kinegraph-theme", chosen);
  } catch {
    /* pages opened from a file may have no storage */
  }
  apply();
}

export function onTheme(listener: () => void) {
  listeners.push(listener);
}

export function startTheme() {
  try {
    const stored = localStorage.getItem("kinegraph-theme");
    if (stored === "light" || stored === "dark") chosen = stored;
  } catch {
    /* as above */
  }
  system.addEventListener("change", apply);
  apply();
}

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Distinct for most kinds of colour vision, on white and on black. */
const light = ["#0072b2", "#d55e00", "#009e73", "#b0509a", "#3fa0d8", "#b58900", "#6a4fb3", "#7a7f87"];
const night = ["#4db0f0", "#ff8a45", "#2fc99a", "#e58fcb", "#86cdf5", "#f0c04a", "#a893f0", "#a6adb8"];

export function palette(i: number): string {
  const colors = dark() ? night : light;
  return colors[i % colors.length];
}
