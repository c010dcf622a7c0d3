"""The page of the experiments, made from the records that the programs wrote (record.hpp).

Pictures are embedded, so that the page is one file. No figure of ours is typed here or in results.py.
"""

import base64
import html
import json
import pathlib
import re

from results import PAPERS

STYLE = """
:root{color-scheme:light dark;--text:#1f2430;--soft:#5b6474;--line:#d5d9e0;--back:#fff;--panel:#f5f6f8;--link:#1c5a94;
--good:#1d6b3a;--bad:#a3260f;--idle:#7a5b00}
@media(prefers-color-scheme:dark){:root{--text:#e6e8ec;--soft:#a2a9b5;--line:#3a404b;--back:#16181d;--panel:#1f232a;
--link:#7db7ee;--good:#7fd49b;--bad:#ff9a85;--idle:#e3c15c}img{filter:invert(.9) hue-rotate(180deg)}}
body{font:16px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;color:var(--text);background:var(--back);
max-width:84rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.7rem}h2{margin-top:3rem;border-bottom:2px solid var(--line);padding-bottom:.3rem}
h3{margin:2.5rem 0 .3rem}a{color:var(--link)}p{max-width:52rem}.soft{color:var(--soft)}
table{border-collapse:collapse;margin:.8rem 0;font-size:.92rem;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
th{background:var(--panel);font-weight:600}td.number,th.number{text-align:right}
td.number,th.number,td.unit{white-space:nowrap}.contents table{width:100%;table-layout:fixed}.contents th:first-child{width:10rem}
.contents th:last-child{width:16rem}.figures{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start}
figure{margin:.5rem 0;max-width:min(100%,37rem)}figcaption{color:var(--soft);font-size:.9rem}
img{max-width:100%;height:auto}
pre{background:var(--panel);padding:.8rem;overflow-x:auto;font-size:.85rem}
.done{color:var(--good)}.failed{color:var(--bad);font-weight:600}.skipped,.missing{color:var(--idle)}
"""


def escape(text):
    return html.escape(str(text))


def number(value):
    """Four digits; powers of ten where there would be many zeros."""
    if value is None:
        return "–"
    text = f"{value:.4g}"
    if "e" in text:
        digits, power = text.split("e")
        return f"{digits}·10<sup>{int(power)}</sup>".replace("-", "−")
    return text.replace("-", "−")


def cell(text):
    """A cell of a program's table: powers of ten as such, real minus signs."""
    def power(found):
        digits, exponent = found.group(1), int(found.group(2))
        return f"{digits}·10<sup>{exponent}</sup>".replace("-", "−")

    text = re.sub(r"(?<![\w.])(-?[0-9.]+)e([-+][0-9]+)(?!\w)", power, escape(text))
    return re.sub(r"^-(?=[0-9.])", "−", text)


def anchor(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def table(rows, classes):
    """rows: the header first, of HTML; classes: of the columns."""
    def row(cells, tag):
        return "<tr>" + "".join(f'<{tag} class="{c}">{cell}</{tag}>' for cell, c in zip(cells, classes)) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows[1:])
    return f'<div class="wide"><table><thead>{row(rows[0], "th")}</thead><tbody>{body}</tbody></table></div>'


def column_classes(rows):
    """Columns whose cells begin like numbers are set as such."""
    columns = range(len(rows[0]))
    numeric = [all(re.match(r"[-−–]?[0-9.]*", row[i]).group() for row in rows[1:] if i < len(row)) for i in columns]
    return ["number" if i > 0 and numeric[i] else "" for i in columns]


def comparisons(items):
    rows = [["", "unit", "paper", "ours", "ours / paper", ""]]
    for item in items:
        rows.append([escape(item["quantity"]), escape(item["unit"]),
                     escape(item.get("sign", "")) + number(item["paper"]), number(item["ours"]),
                     number(item["ratio"]), escape(item["note"])])
    return table(rows, ["", "unit", "number", "number", "number", ""])


def picture(item, folder):
    path = folder / item["file"]
    if not path.exists():
        return f'<p class="failed">{escape(item["file"])} is not there</p>'
    data = base64.b64encode(path.read_bytes()).decode()
    caption = escape(item["caption"])
    told = f"<figcaption>{caption}</figcaption>" if item["caption"] not in path.read_text(errors="replace") else ""
    return f'<figure><img alt="{caption}" src="data:image/svg+xml;base64,{data}">{told}</figure>'


def shown(kind, items, folder):
    if kind == "comparison":
        return comparisons(items)
    if kind == "table":
        return "".join(table([[cell(c) for c in row] for row in item["rows"]], column_classes(item["rows"]))
                       for item in items)
    if kind == "picture":
        return '<div class="figures">' + "".join(picture(item, folder) for item in items) + "</div>"
    if kind == "text":
        return "".join(f'<p>{escape(item["caption"])}</p><pre>{escape(item["text"])}</pre>' for item in items)
    return "".join(f'<p class="missing">Not reproduced: {escape(item["why"])}</p>' for item in items)


def section(name, title, remark, items, folder):
    parts = [f'<h3 id="{anchor(name)}">{escape(name)}: {escape(title)}</h3>']
    if remark:
        parts.append(f'<p class="soft">{escape(remark)}</p>')
    for kind in ("comparison", "missing", "picture", "text", "table"):
        these = [item for item in items if item["kind"] == kind]
        if these:
            parts.append(shown(kind, these, folder))
    programs = sorted({item["program"] for item in items})
    parts.append(f'<p class="soft">by {escape(", ".join(programs))}</p>' if programs else
                 '<p class="missing">No program of this run recorded this result.</p>')
    return "\n".join(parts)


def state_of(items):
    if not items:
        return "missing", "no result"
    if all(item["kind"] == "missing" for item in items):
        return "missing", "not reproduced"
    ratios = [item["ratio"] for item in items if item.get("ratio") is not None]
    found = f"{len(ratios)} compared" if ratios else "shown"
    return "done", found + (", part not reproduced" if any(item["kind"] == "missing" for item in items) else "")


def contents(found):
    parts = []
    for paper, title, results in PAPERS:
        rows = [["result", "what", "in this run"]]
        for name, what, _ in results:
            state, text = state_of(found[f"{paper} {name}"])
            full = f"{paper} {name}"
            rows.append([f'<a href="#{anchor(full)}">{escape(full)}</a>', escape(what),
                         f'<span class="{state}">{text}</span>'])
        parts.append(f'<p><a href="#p{paper}"><b>{paper}</b></a> {escape(title)}</p>' + table(rows, ["", "", ""]))
    return "\n".join(parts)


def programs(runs):
    rows = [["program", "seconds", "of processors", "outcome"]]
    for run in runs:
        rows.append([escape(run["name"]), f'{run["seconds"]:.1f}', f'{run.get("cpu_s", 0):.1f}',
                     f'<span class="{run["state"]}">{escape(run["state"])}</span> {escape(run["why"])}'])
    return table(rows, ["", "number", "number", ""])


def make(folder, runs, facts):
    """Writes folder/index.html. runs: name, state (done, failed, skipped), why, seconds; facts: lines for the top.

    Gives the results of which nothing is recorded, not even why there is none.
    """
    folder = pathlib.Path(folder)
    found = {f"{paper} {name}": [] for paper, _, results in PAPERS for name, _, _ in results}
    others = {}
    for run in runs:
        path = folder / f'{run["name"]}.json'
        if not path.exists():
            continue
        for item in json.loads(path.read_text())["items"]:
            item["program"] = run["name"]
            (found[item["result"]] if item["result"] in found else others.setdefault(item["result"], [])).append(item)
    parts = ["<h1>The papers’ experiments</h1>"] + [f'<p class="soft">{escape(fact)}</p>' for fact in facts]
    parts += ["<h2>Tables and figures</h2>", f'<div class="contents">{contents(found)}</div>',
              '<h2 id="programs">Programs</h2>', programs(runs)]
    for paper, title, results in PAPERS:
        parts.append(f'<h2 id="p{paper}">{paper}: {escape(title)}</h2>')
        for name, what, remark in results:
            full = f"{paper} {name}"
            parts.append(section(full, what, remark, found[full], folder))
    if others:
        parts.append('<h2 id="others">Beyond the papers</h2>')
        parts += [section(name, "", "", items, folder) for name, items in others.items()]
    text = ('<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Kinegraph: the papers’ experiments</title>'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<style>{STYLE}</style></head><body>" + "\n".join(parts) + "</body></html>\n")
    whole = folder / "index.html.part"
    whole.write_text(text)
    whole.replace(folder / "index.html")
    return [name for name, items in found.items() if not items]
