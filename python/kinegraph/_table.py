"""Times and named series, as numpy arrays."""

from __future__ import annotations

import html
import os
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _kinegraph
from ._errors import bad_input

PathLike = Union[str, "os.PathLike[str]"]

# How the ends of names read in plots.
_UNITS = {"x": "m", "y": "m", "z": "m", "vx": "m/s", "vy": "m/s", "vz": "m/s", "ax": "m/s²", "ay": "m/s²", "az": "m/s²",
          "q": "rad or m", "v": "rad/s or m/s", "a": "rad/s² or m/s²", "tau": "N m or N", "fx": "N", "fy": "N", "fz": "N",
          "mx": "N m", "my": "N m", "mz": "N m"}


class Table:
    """A row of numbers per time: `table["theta.q"]` is a series, `table.t` the times, `table.array` all rows.

    Arrays are views that cannot be written to; take `.copy()` of what you change.
    """

    def __init__(self, table: _kinegraph.Table):
        self._table = table
        self.names: List[str] = table.names
        self.t: np.ndarray = table.t
        self.array: np.ndarray = table.array
        self._index = {name: i for i, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name == "t" or name in self._index

    def keys(self) -> List[str]:
        return list(self.names)

    def items(self) -> List[Tuple[str, np.ndarray]]:
        return [(name, self[name]) for name in self.names]

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self._index:
            return self.array[:, self._index[name]]
        if name == "t":
            return self.t
        raise KeyError(f"no series '{name}'{_kinegraph.nearest(str(name), self.names)}")

    def csv(self, path: PathLike) -> None:
        """Writes the table as every verb reads it: header row, first column t, every digit."""
        self._table.write(os.fspath(path))

    def save(self, path: PathLike) -> None:
        """Writes the table as its name ends: .csv, .h5 (needs h5py) or .mcap (needs mcap)."""
        from . import log

        log.write(path, self)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws series over time, with ±2σ where deviations are known; returns matplotlib's axes.

        Without names: positions, at most eight.
        """
        plt = _matplotlib()
        shown = list(names) or [n for n in self.names if n.rsplit(".", 1)[-1] in ("q", "x", "y", "z")][:8] or self.names[:8]
        axes = axes if axes is not None else plt.subplots()[1]
        for name in shown:
            series = self[name]
            (line,) = axes.plot(self.t, series, label=name)
            if f"{name}.sd" in self._index:
                sd = self[f"{name}.sd"]
                axes.fill_between(self.t, series - 2 * sd, series + 2 * sd, color=line.get_color(), alpha=0.2)
        units = {_UNITS.get(n.rsplit(".", 1)[-1], "") for n in shown}
        axes.set_xlabel("t / s")
        axes.set_ylabel(", ".join(sorted(u for u in units if u)))
        axes.legend(loc="best")
        return axes

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"<{type(self).__name__}: empty>"
        span = f"t = {self.t[0]:g} … {self.t[-1]:g}" if len(self) > 1 else f"t = {self.t[0]:g}"
        return f"<{type(self).__name__}: {len(self)} rows, {span}; {_few(self.names)}>"

    def _repr_html_(self) -> str:
        return _html_table(self)


def _matplotlib() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as fault:
        raise ImportError(
            "plot() draws with matplotlib, which is not installed: pip install matplotlib, or apt install "
            "python3-matplotlib; result.report('x.html') draws without it"
        ) from fault
    return plt


def _few(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f", … {len(names)} in all" if len(names) > most else "")


def _html_table(table: Table, rows: int = 5, columns: int = 8) -> str:
    names = table.names[:columns]
    more = "<th>…</th>" if len(table.names) > columns else ""
    head = "".join(f"<th>{html.escape(n)}</th>" for n in ["t", *names]) + more
    body = ""
    picked = range(len(table)) if len(table) <= 2 * rows else [*range(rows), None, *range(len(table) - rows, len(table))]
    for i in picked:
        if i is None:
            body += f"<tr><td colspan='{len(names) + 1}'>… {len(table)} rows</td></tr>"
            continue
        cells = [table.t[i], *(table.array[i, k] for k in range(len(names)))]
        body += "<tr>" + "".join(f"<td>{c:.6g}</td>" for c in cells) + "</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


TableLike = Union[Table, Mapping[str, Any]]


def to_table(value: Any, what: str) -> _kinegraph.Table:
    """A Table, a mapping {"t": …, "theta.q": …} of numbers, or a pandas frame with such columns."""
    if isinstance(value, Table):
        return value._table
    if isinstance(value, _kinegraph.Table):
        return value
    if not hasattr(value, "keys"):
        raise bad_input(f"{what}: expected a file's name, a table, or a mapping of names to numbers, found {type(value).__name__}")
    names = [str(name) for name in value.keys() if name not in ("t", "time")]
    key: Optional[str] = next((k for k in ("t", "time") if k in value.keys()), None)
    if key is None:
        raise bad_input(f"{what}: expected a series 't' or 'time', found {_few(names) or 'none'}")
    if not names:
        raise bad_input(f"{what}: expected series beside the time, found none")
    try:
        t = np.ascontiguousarray(np.atleast_1d(value[key]), dtype=float)
        series = [np.broadcast_to(np.asarray(value[name], dtype=float), t.shape) for name in names]
    except (ValueError, TypeError) as fault:
        raise bad_input(f"{what}: every series must be numbers, as many as there are times: {fault}") from fault
    return _kinegraph.Table(names, t, np.ascontiguousarray(np.stack(series, axis=1)))
