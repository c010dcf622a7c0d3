"""The verbs of the command line, as functions and as methods of a model."""

from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Dict, List, Optional

from . import _kinegraph
from ._errors import NoAnswer, bad_input
from ._model import AnyModel, Model, to_model
from ._options import help_of, signature_of, to_arguments
from ._result import Result, tell

# What is always asked for: the file that holds the answer.
_KEPT = {"graph": ["--out=<out>"], "codegen": ["--out=<out>"], "identify": ["--save=<save>"]}


def ask(verb: str, first: Any, given: Dict[str, Any]) -> Result:
    """Runs a verb: options as the command line takes them, what it would write kept in the result."""
    model: Optional[Model] = None if verb == "plan" else to_model(first)
    if verb == "plan":
        path = os.fspath(first)
        given = dict(given)
        chosen = given.pop("model", None)
        model = None if chosen is None else to_model(chosen)
    else:
        path = model.file
    arguments, tables = to_arguments(verb, given)
    command = _command(verb, path, given)
    kept = [] if given.get("compare") and verb == "graph" else _KEPT.get(verb, [])  # a table, no picture
    threads = given.get("threads")
    answer = None
    try:
        answer = _kinegraph.ask(verb, [path, *arguments, *kept], model and model._model, tables, command,
                                int(threads) if isinstance(threads, int) else 0)
    except NoAnswer as fault:
        if getattr(fault, "answer", None) is not None:
            fault.result = Result(fault.answer, model)
        raise
    result = Result(answer, model)
    tell(answer.warnings, 3)
    return result


def _command(verb: str, path: str, given: Dict[str, Any]) -> str:
    """How it was asked, for the page."""
    shown = [repr(path)]
    for keyword, value in given.items():
        short = value if isinstance(value, (str, int, float, bool, dict, list, tuple)) else "…"
        text = repr(short) if short != "…" else short
        shown.append(f"{keyword}={text if len(text) <= 60 else '…'}")
    return f"kinegraph.{verb}({', '.join(shown)})"


def number_of(name: str, value: Any) -> float:
    """A number, or a text with a unit."""
    if not isinstance(value, str):
        return float(value)
    try:
        return float(value)
    except ValueError:
        return _kinegraph.parse_number(f"set {name}", value)


def _make(verb: str, first: str) -> Callable[..., Result]:
    def function(*positional: Any, **options: Any) -> Result:
        if len(positional) == 1:
            return ask(verb, positional[0], options)
        if not positional and first in options:
            return ask(verb, options.pop(first), options)
        raise TypeError(f"{verb}() takes one positional argument, {first}, but {len(positional)} were given")

    function.__name__ = function.__qualname__ = verb
    function.__module__ = "kinegraph"
    function.__doc__ = help_of(verb)
    function.__signature__ = signature_of(verb, first)  # type: ignore[attr-defined]
    return function


check = _make("check", "model")
kinematics = _make("kinematics", "model")
simulate = _make("simulate", "model")
inverse = _make("inverse", "model")
hybrid = _make("hybrid", "model")
estimate = _make("estimate", "model")
identify = _make("identify", "model")
plan = _make("plan", "task")
graph = _make("graph", "model")
codegen = _make("codegen", "model")
view = _make("view", "model")


def _add_methods() -> None:
    for function in (check, kinematics, simulate, inverse, hybrid, estimate, identify, graph, codegen, view):

        def method(self: Model, *, _verb: str = function.__name__, **options: Any) -> Result:
            return ask(_verb, self, options)

        method.__name__ = function.__name__
        method.__qualname__ = f"Model.{function.__name__}"
        method.__doc__ = function.__doc__
        parameters = list(inspect.signature(function).parameters.values())[1:]
        me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        method.__signature__ = inspect.Signature([me, *parameters])  # type: ignore[attr-defined]
        setattr(Model, function.__name__, method)


_add_methods()


class Estimator:
    """An estimator beside a machine that runs: push readings as they come, look at what is known at any time.

        live = kinegraph.Estimator(model, filter="ekf", start_sd={"theta.q": "5deg"})
        live.push("gyro", t, 0.31)
        live["theta.q"], live["theta.q.sd"]

    Options are those of estimate() that do not need a log: filter (smoother, ekf, ukf, particle), step, window, lag,
    particles, proposal, chart, integrator, start, start_sd, start_speed, branches, process, unknown, loss, gate, seed.
    """

    _OF_LOGS = ("log", "input", "innovations", "every")

    def __init__(self, model: AnyModel, t: float = 0.0, **options: Any):
        refused = [name for name in options if name in self._OF_LOGS]
        if refused:
            raise bad_input(*(f"{name}: is for estimate(), which reads a log" for name in refused))
        self.model = to_model(model)
        arguments, _ = to_arguments("estimate", options)
        self._live = _kinegraph.Estimator(self.model._model, float(t), arguments)
        self.names: List[str] = self._live.names
        self._index = {name: i for i, name in enumerate(self.names)}
        tell(self._live.warnings, 2)

    def push(self, sensor: str, t: float, *reading: Any) -> None:
        """A reading of a sensor: a number per channel, or one array; NaN: not given."""
        numbers = reading[0] if len(reading) == 1 and hasattr(reading[0], "__len__") else reading
        self._live.push(sensor, float(t), [float(number) for number in numbers])

    def advance(self, t: float) -> None:
        """Moves on to a time without a reading."""
        self._live.advance(float(t))

    @property
    def t(self) -> float:
        return self._live.t

    @property
    def array(self) -> Any:
        """All numbers that are known now, one per name."""
        return self._live.row

    @property
    def branches(self) -> List[float]:
        """The probability of each assembly branch."""
        return self._live.branches

    def __getitem__(self, name: str) -> float:
        if name not in self._index:
            raise KeyError(f"no series '{name}'{_kinegraph.nearest(name, self.names)}")
        return float(self.array[self._index[name]])

    def __repr__(self) -> str:
        return f"<Estimator of {self.model!r} at t = {self.t:g}>"

