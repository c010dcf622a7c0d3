#!/usr/bin/python3
"""Writes python/kinegraph/_verbs.pyi and the verbs of _model.pyi: types of the options, from the command line's own list.

    PYTHONPATH=build/release/python python/make_stubs.py            writes them
    PYTHONPATH=build/release/python python/make_stubs.py --check    tells if they are not up to date
"""

import os
import sys

sys.path.pop(0)  # this folder: its package has no library

import kinegraph  # noqa: E402
from kinegraph._options import _ANSWERS, options_of  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinegraph")
HEAD = '''# Made by python/make_stubs.py from the options of the command line: do not edit.
from os import PathLike
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._table import Table
'''
VALUES = '''
_Path = Union[str, PathLike[str]]
_Table = Union[Table, Mapping[str, Any], _Path]
_Number = Union[float, str]
_Names = Union[str, Sequence[str]]
_Numbers = Union[Mapping[str, Any], Sequence[str], str]
'''


def type_of(verb, option):
    if option.flag:
        return "bool"
    if (verb, option.name) in _ANSWERS:
        return "Union[bool, _Path]"
    if option.type.endswith(".csv"):
        return "Union[_Table, Sequence[_Table]]" if option.repeats else "_Table"
    if "FILE" in option.type and "NAME=" not in option.type:
        return "_Path"
    if option.repeats or option.type.startswith("NAME=") or "NAME=VALUE" in option.type:
        return "_Numbers"
    if "," in option.type or option.name == "order":
        return "_Names"
    if "|" in option.type and not option.type.replace("|", "").isdigit():
        return "str"
    return "_Number"


def keywords(verb, indent):
    lines = [f"{indent}{k}: Optional[{type_of(verb, o)}] = ...," for k, o in options_of(verb).items()]
    if verb == "plan":
        lines.append(f"{indent}model: Optional[AnyModel] = ...,")
    return "\n".join(lines)


def function(verb):
    first = "task: _Path" if verb == "plan" else "model: AnyModel"
    return f"def {verb}(\n    {first},\n    *,\n{keywords(verb, '    ')}\n) -> Result: ...\n"


def method(verb):
    return f"    def {verb}(\n        self,\n        *,\n{keywords(verb, '        ')}\n    ) -> Result: ...\n"


def estimator():
    kept = {k: o for k, o in options_of("estimate").items() if k not in kinegraph.Estimator._OF_LOGS and k != "set"}
    lines = "\n".join(f"        {k}: Optional[{type_of('estimate', o)}] = ...," for k, o in kept.items())
    return f'''class Estimator:
    model: Model
    names: List[str]
    def __init__(
        self,
        model: AnyModel,
        t: float = ...,
        *,
{lines}
    ) -> None: ...
    def push(self, sensor: str, t: float, *reading: Any) -> None: ...
    def advance(self, t: float) -> None: ...
    @property
    def t(self) -> float: ...
    @property
    def array(self) -> np.ndarray: ...
    @property
    def branches(self) -> List[float]: ...
    def __getitem__(self, name: str) -> float: ...
'''


MODEL = '''
_Settings = Union[Mapping[str, Union[float, str]], str, None]

class Model:
    _model: Any
    def __init__(self, model: Any) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def spatial(self) -> bool: ...
    @property
    def parameters(self) -> Mapping[str, float]: ...
    @property
    def values(self) -> Mapping[str, float]: ...
    @property
    def points(self) -> Mapping[str, np.ndarray]: ...
    @property
    def bodies(self) -> List[str]: ...
    @property
    def masses(self) -> Mapping[str, float]: ...
    @property
    def coordinates(self) -> List[str]: ...
    @property
    def sensors(self) -> Mapping[str, List[str]]: ...
    def set(self, settings: Mapping[str, Union[float, str]]) -> "Model": ...
'''
LOAD = '''
def load(
    path: _Path,
    *,
    set: _Settings = ...,
    base: Optional[str] = ...,
    loops: Optional[_Path] = ...,
    sensor_file: Optional[_Path] = ...,
    strict: bool = ...,
) -> Model: ...

AnyModel = Union[Model, _Path]

def to_model(value: Any) -> Model: ...
'''


def stubs():
    verbs = [v for v in ("check", "kinematics", "simulate", "inverse", "hybrid", "estimate", "identify", "plan", "graph", "codegen", "view")]
    text = HEAD + "from ._model import AnyModel, Model\nfrom ._result import Result\n" + VALUES + "\n"
    text += "\n".join(function(v) for v in verbs) + "\n" + estimator()
    model = HEAD + "from ._result import Result\n" + VALUES + MODEL + "".join(method(v) for v in verbs if v != "plan") + LOAD
    return {"_verbs.pyi": text, "_model.pyi": model}


def main():
    stale = []
    for name, text in stubs().items():
        path = os.path.join(FOLDER, name)
        if "--check" in sys.argv:
            with open(path, encoding="utf-8") as file:
                stale += [name] if file.read() != text else []
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if stale:
        sys.exit(f"not up to date: {', '.join(stale)}; run python/make_stubs.py with the built package on PYTHONPATH")


if __name__ == "__main__":
    main()
