// What draws a machine at a moment.

export interface Layer {
  key: string;
  label: string;
  on: boolean;
}

export interface Stage {
  readonly element: HTMLElement;
  readonly layers: Layer[];
  readonly kind: string; // "2d", "webgl", "flat"
  draw(t: number): void;
  /** The machine in a pose of its own, not of a recorded frame: points (planar) or body poses (7 numbers each). */
  pose(numbers: Float64Array): void;
  redraw(): void;
  home(): void;
}

/** A canvas that fills its parent at the screen's resolution; `draw` is called when its size has changed. */
export function fitCanvas(canvas: HTMLCanvasElement, draw: () => void) {
  const fit = () => {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
    draw();
  };
  new ResizeObserver(fit).observe(canvas);
  fit();
}

/** Every n-th of a path, so that no path has more than `most` points. */
export function stride(count: number, most: number): number {
  return Math.max(1, Math.ceil(count / most));
}

/** A round length near `wanted`: 1, 2 or 5 times a power of ten. */
export function roundLength(wanted: number): number {
  const power = Math.pow(10, Math.floor(Math.log10(wanted)));
  const share = wanted / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}
