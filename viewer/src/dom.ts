// Elements of the page. Text is always text: nothing here reads HTML.

type Props = Record<string, unknown>;
type Child = Node | string | null | undefined | false;

function fill<E extends Element>(element: E, props: Props, children: Child[]): E {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") {
      element.addEventListener(key.slice(2), value as EventListener);
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]) {
  return fill(document.createElement(tag), props, children);
}

export function s<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

const subscripts = "₀₁₂₃₄₅₆₇₈₉";
const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Few digits that say enough: 0.01234, 1.23·10⁻⁷. */
export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) {
    const places = Math.max(0, Math.min(8, digits - 1 - Math.floor(Math.log10(size))));
    return minus(value.toFixed(places));
  }
  const [mantissa, exponent] = value.toExponential(Math.max(1, digits - 2)).split("e");
  const power = [...String(Math.abs(Number(exponent)))].map((d) => superscripts[Number(d)]).join("");
  return `${minus(mantissa)}·10${Number(exponent) < 0 ? "⁻" : ""}${power}`;
}

export function minus(text: string): string {
  return text.startsWith("-") ? "−" + text.slice(1) : text;
}

export function subscript(text: string): string {
  return [...text].map((c) => (c >= "0" && c <= "9" ? subscripts[Number(c)] : c)).join("");
}

export function download(name: string, text: string) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
