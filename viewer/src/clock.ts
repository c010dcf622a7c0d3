// The moment that the page shows: one for the animation, the plots, the scrub bar and the address (#t=1.23).

export class Clock {
  readonly from: number;
  readonly to: number;
  playing = false;
  speed = 1;
  private moment: number;
  private listeners: ((t: number) => void)[] = [];
  private states: (() => void)[] = [];
  private last = 0;

  /** `rate`: of the clock's unit per second of play (1 where that is a second). */
  constructor(from: number, to: number, private rate: number, readonly step: number, readonly seconds: boolean) {
    this.from = from;
    this.to = to;
    this.moment = from;
  }

  get t() {
    return this.moment;
  }
  get length() {
    return this.to - this.from;
  }

  onTime(listener: (t: number) => void) {
    this.listeners.push(listener);
  }
  onState(listener: () => void) {
    this.states.push(listener);
  }

  set(t: number) {
    const next = Math.min(this.to, Math.max(this.from, t));
    if (!Number.isFinite(next)) return;
    this.moment = next;
    for (const listener of this.listeners) listener(next);
  }

  setSpeed(speed: number) {
    this.speed = speed;
    this.told();
  }

  toggle() {
    this.playing ? this.pause() : this.play();
  }

  play() {
    if (this.playing || this.length <= 0) return;
    if (this.moment >= this.to) this.set(this.from);
    this.playing = true;
    this.last = performance.now();
    this.told();
    requestAnimationFrame(this.tick);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.told();
    this.address();
  }

  /** Writes the moment into the address, so that it can be sent to someone. */
  address() {
    const text = `#t=${Number(this.moment.toPrecision(6))}`;
    try {
      history.replaceState(null, "", text);
    } catch {
      /* a page without an address of its own */
    }
  }

  readAddress() {
    const found = /^#t=(-?[\d.eE+-]+)/.exec(location.hash);
    if (found && Number.isFinite(Number(found[1]))) {
      this.pause();
      this.set(Number(found[1]));
    }
  }

  private told() {
    for (const listener of this.states) listener();
  }

  private tick = (now: number) => {
    if (!this.playing) return;
    const passed = Math.max(0, Math.min(0.1, (now - this.last) / 1000)) * this.speed * this.rate;
    this.last = now;
    if (this.moment + passed >= this.to) {
      this.set(this.to);
      this.pause();
      return;
    }
    this.set(this.moment + passed);
    requestAnimationFrame(this.tick);
  };
}
