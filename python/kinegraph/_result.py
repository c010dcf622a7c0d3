"""What verbs answer with."""

from __future__ import annotations

import base64
import html
import json
import os
import warnings
from typing import Any, Dict, List, Optional

from . import _kinegraph
from ._errors import Warning
from ._table import PathLike, Table, TableLike, to_table


class Result(Table):
    """What a verb found: a table of series over time, and the summary that the command line writes with --json.

    `summary` is a dict; `tables` are what else was written (`readings` of simulate(sensors=True), `innovations`, the
    roll-out `motion` of a plan), `text` what is no table (a picture, a header, fitted numbers).
    """

    def __init__(self, answer: _kinegraph.Answer, model: Any = None):
        super().__init__(answer.table)
        self._answer = answer
        self.model = model
        self.summary: Dict[str, Any] = json.loads(answer.summary) or {}
        self.warnings: List[str] = [w[len("warning: "):] if w.startswith("warning: ") else w for w in answer.warnings]
        self.tables: Dict[str, Table] = {name.strip("<>"): Table(table) for name, table in answer.tables.items()}
        self.texts: Dict[str, str] = {name.strip("<>"): text for name, text in answer.texts.items()}

    @property
    def readings(self) -> Table:
        """What the sensors read: of simulate(sensors=True)."""
        return self._side("readings", "sensors", "simulate(…, sensors=True)")

    @property
    def innovations(self) -> Table:
        """What each reading said against what was expected: of estimate(innovations=True)."""
        return self._side("innovations", "innovations", "estimate(…, innovations=True)")

    @property
    def motion(self) -> Table:
        """The rolled-out motion of a plan: of plan(motion=True)."""
        return self._side("motion", "motion", "plan(…, motion=True)")

    def _side(self, what: str, name: str, asked: str) -> Table:
        if name not in self.tables:
            raise AttributeError(f"there are no {what} here: {asked} has them")
        return self.tables[name]

    @property
    def text(self) -> str:
        """The picture of graph(), the header of codegen()."""
        if "out" not in self.texts:
            raise AttributeError("there is no text here: graph() and codegen() have it")
        return self.texts["out"]

    @property
    def fitted(self) -> Dict[str, float]:
        """Of identify: what was fitted and the start of the first recording, by name, for model.set(result.fitted)."""
        if "save" not in self.texts:
            raise AttributeError("nothing was fitted here: identify() does that")
        lines = (line.split("#", 1)[0].strip() for line in self.texts["save"].splitlines())
        pairs = (line.split("=", 1) for line in lines if line)
        return {name.strip(): float(value) for name, value in pairs}

    def write(self, path: PathLike) -> None:
        """Writes `text`: the picture of graph(), the header of codegen()."""
        _write(path, self.text)

    def report(self, path: PathLike, beside: Optional[TableLike] = None) -> None:
        """Writes one page to look at: animation, plots, graph, residuals. `beside` is drawn beside the result."""
        _write(path, self._page(beside))

    def _page(self, beside: Optional[TableLike] = None) -> str:
        return self._answer.page(None if beside is None else to_table(beside, "beside"))

    def __repr__(self) -> str:
        verb = self.summary.get("verb", "result")
        table = super().__repr__()[1:-1].split(": ", 1)[1] if len(self) else f"{len(self.summary)} facts"
        return f"<Result of {verb}: {table}>"

    def _repr_html_(self) -> str:
        if self.text_is_svg():
            return self.text
        page = base64.b64encode(self._page().encode()).decode()
        frame = f'<iframe src="data:text/html;base64,{page}" style="width:100%;height:640px;border:0"></iframe>'
        return frame + (super()._repr_html_() if len(self) else f"<pre>{html.escape(json.dumps(self.summary, indent=1))}</pre>")

    def text_is_svg(self) -> bool:
        return self.texts.get("out", "").lstrip().startswith(("<svg", "<?xml"))


def _write(path: PathLike, text: str) -> None:
    """Whole or not at all, as everything that kinegraph writes."""
    final = os.fspath(path)
    beside = f"{final}.{os.getpid()}.part"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, final)
    except BaseException:
        if os.path.exists(beside):
            os.remove(beside)
        raise


def tell(found: List[str], level: int) -> None:
    """Warnings of a verb, at the line of who called it."""
    for text in found:
        warnings.warn(text[len("warning: "):] if text.startswith("warning: ") else text, Warning, stacklevel=level + 1)
