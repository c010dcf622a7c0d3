"""Options of verbs: names and values of Python, as the command line takes them. The list of options, their help and
every check of a value are the command line's own."""

from __future__ import annotations

import functools
import inspect
import numbers
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

import numpy as np

from . import _kinegraph
from ._errors import bad_input
from ._table import to_table

# Options that Python says otherwise.
_ELSEWHERE = {
    "out": "result.csv(path) writes the table",
    "json": "result.summary has it",
    "report": "result.report(path) writes the page",
    "beside": "result.report(path, beside=table) draws it",
    "quiet": "there is no progress bar here",
    "columns": "name the series of the table instead: {'t': …, 'theta.q': …}",
    "save": "result.fitted has the numbers",
}
# Files that are answers: True keeps them in the result.
_ANSWERS = {("simulate", "sensors"), ("estimate", "innovations"), ("plan", "motion")}
# Options of reading a model: load() has them.
_OF_LOAD = ("base", "loops", "sensor-file", "strict")


class Option(NamedTuple):
    name: str  # of the command line, without dashes
    flag: bool
    repeats: bool
    type: str
    help: str
    group: str

    @property
    def keyword(self) -> str:
        name = self.name.replace("-", "_")
        return name + "_" if name in ("from", "lambda") else name


@functools.lru_cache(maxsize=None)
def options_of(verb: str) -> Dict[str, Option]:
    """The options of a verb by their keywords."""
    found = {}
    for raw in _kinegraph.options(verb):
        option = Option(*raw)
        if option.name not in _ELSEWHERE and (option.name not in _OF_LOAD or verb == "plan"):
            found[option.keyword] = option
    return found


def signature_of(verb: str, first: str) -> inspect.Signature:
    kind = inspect.Parameter
    parameters = [kind(first, kind.POSITIONAL_OR_KEYWORD)]
    parameters += [kind(keyword, kind.KEYWORD_ONLY, default=None) for keyword in options_of(verb)]
    return inspect.Signature(parameters)


def help_of(verb: str) -> str:
    """The help of the command line, by keywords."""
    purpose, _ = _kinegraph.about(verb)
    lines = [f"{purpose[0].upper()}{purpose[1:]}.", ""]
    for keyword, option in options_of(verb).items():
        kind = "True" if option.flag else option.type
        lines.append(f"    {keyword}: {kind}")
        lines.append(f"        {option.help}")
    lines += ["", f"The same as `kinegraph {verb}`, where values may carry units too: step='1ms'."]
    return "\n".join(lines)


def to_arguments(verb: str, given: Mapping[str, Any]) -> Tuple[List[str], Dict[str, _kinegraph.Table]]:
    """Keywords as arguments of the command line, and the tables that they name. All faults at once."""
    known = options_of(verb)
    arguments: List[str] = []
    tables: Dict[str, _kinegraph.Table] = {}
    faults: List[str] = []
    for keyword, value in given.items():
        option = known.get(keyword) or known.get(keyword.rstrip("_"))
        if option is None:
            faults.append(_unknown(verb, keyword, list(known)))
        elif value is not None:
            arguments += _spell(verb, option, value, tables)
    if faults:
        raise bad_input(*faults)
    return arguments, tables


def _unknown(verb: str, keyword: str, known: List[str]) -> str:
    plain = keyword.replace("_", "-")
    if plain in _ELSEWHERE:
        return f"{keyword}: {_ELSEWHERE[plain]}"
    if plain in _OF_LOAD:
        return f"{keyword}: is for load(), which reads the model"
    return f"unknown option '{keyword}' of {verb}{_kinegraph.nearest(keyword, known)}"


def _spell(verb: str, option: Option, value: Any, tables: Dict[str, _kinegraph.Table]) -> List[str]:
    name = f"--{option.name}"
    if option.flag:
        if not isinstance(value, (bool, np.bool_)):
            raise bad_input(f"{option.keyword}: must be True or False, is {value!r}")
        return [name] if value else []
    if (verb, option.name) in _ANSWERS:
        if value is False:
            return []
        return [f"{name}=<{option.name}>" if value is True else f"{name}={os.fspath(value)}"]
    if option.type.endswith(".csv"):
        many = value if option.repeats and isinstance(value, (list, tuple)) else [value]
        return [f"{name}={_file(option, one, tables)}" for one in many]
    if option.repeats:
        return [f"{name}={text}" for text in _many(option, value)]
    return [f"{name}={_text(option, value)}"]


def _file(option: Option, value: Any, tables: Dict[str, _kinegraph.Table]) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    number = sum(name.startswith(f"<{option.name}") for name in tables)
    name = f"<{option.name}>" if number == 0 else f"<{option.name}-{number + 1}>"
    tables[name] = to_table(value, option.keyword)
    return name


def _many(option: Option, value: Any) -> List[str]:
    if isinstance(value, Mapping):
        if "LINK" in option.type:
            return [f"{link}: {_goal(goal)}" for link, goal in value.items()]
        return [f"{name}={_range(option, part)}" for name, part in value.items()]
    if isinstance(value, (list, tuple, set)):
        return [_text(option, part) for part in value]
    return [_text(option, value)]


def _range(option: Option, value: Any) -> str:
    """0.1, or (0.1, 0.5) as low:high; None leaves an end open."""
    if isinstance(value, (tuple, list)):
        return ":".join("" if part is None else _text(option, part) for part in value)
    return _text(option, value)


def _goal(goal: Any) -> str:
    if isinstance(goal, str):
        return goal
    if not isinstance(goal, Mapping):
        raise bad_input(f"goal: expected a mapping of x, y, z, rpy, quat, offset to numbers, found {goal!r}")
    parts = []
    for key, value in goal.items():
        numbers_ = value if isinstance(value, (tuple, list, np.ndarray)) else [value]
        parts.append(f"{key}=" + ",".join(number_text(v) for v in numbers_))
    return " ".join(parts)


def _text(option: Option, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Mapping):  # {"theta.q": (0, 6.28, 73)}
        return ",".join(f"{name}={_range(option, part)}" for name, part in value.items())
    if isinstance(value, (list, tuple, set)) and all(isinstance(part, str) for part in value):
        return (" " if option.name == "order" else ",").join(value)
    if isinstance(value, (numbers.Number, np.generic)) and not isinstance(value, (bool, np.bool_)):
        return number_text(value)
    raise bad_input(f"{option.keyword}: expected {option.type or 'a value'}, found {value!r}")


def number_text(value: Any) -> str:
    """Every digit."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    return repr(float(value))


def settings_text(given: Any) -> List[str]:
    """{"theta.q": 0.5, "L": "20mm"} or "@fitted.set" as the command line takes --set."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping):
        return [f"{name}={number_text(value)}" for name, value in given.items()]
    return list(given)
