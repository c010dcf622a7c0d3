"""Machines."""

from __future__ import annotations

import html
import os
from typing import Any, Dict, List, Mapping, Optional, Union

import numpy as np

from . import _kinegraph
from ._options import settings_text
from ._result import tell
from ._table import PathLike

Settings = Union[Mapping[str, Union[float, str]], str, None]


class Model:
    """A machine, as load() reads it. It does not change: set() makes another.

    Every verb is also a method: model.simulate(time=5) is simulate(model, time=5).
    """

    def __init__(self, model: _kinegraph.Model):
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def file(self) -> str:
        return self._model.file

    @property
    def spatial(self) -> bool:
        """A robot in space (URDF, SDF); else a planar mechanism (YAML)."""
        return self._model.spatial

    @property
    def parameters(self) -> Dict[str, float]:
        """The named parameters of the file."""
        return self._model.parameters

    @property
    def values(self) -> Dict[str, float]:
        """All numbers that set() takes, by name: parameters, masses, lengths, friction …"""
        return self._model.values

    @property
    def points(self) -> Dict[str, np.ndarray]:
        """Of a planar mechanism: where the file draws each point."""
        return self._model.points

    @property
    def bodies(self) -> List[str]:
        """Bodies, or links, by name."""
        return self._model.bodies

    @property
    def masses(self) -> Dict[str, float]:
        return self._model.masses

    @property
    def coordinates(self) -> List[str]:
        """Angles and positions that the file names, or joints that move."""
        return self._model.coordinates

    @property
    def sensors(self) -> Dict[str, List[str]]:
        """Sensors by name, each with its columns in a log."""
        return self._model.sensors

    def set(self, settings: Mapping[str, Union[float, str]]) -> "Model":
        """The same machine with some numbers changed: model.set({"crank_length": 1.2, "theta.q": 0.5})."""
        from ._verbs import number_of

        return Model(self._model.set({name: number_of(name, value) for name, value in settings.items()}))

    def __repr__(self) -> str:
        kind = "robot" if self.spatial else "planar mechanism"
        return f"<Model {self.name or os.path.basename(self.file)!r}: {kind}, {len(self.bodies)} bodies>"

    def _repr_html_(self) -> str:
        rows = [("file", self.file), ("bodies", ", ".join(self.bodies)), ("coordinates", ", ".join(self.coordinates)),
                ("sensors", ", ".join(self.sensors)),
                ("parameters", ", ".join(f"{k} = {v:g}" for k, v in self.parameters.items()))]
        body = "".join(f"<tr><th>{k}</th><td>{html.escape(v)}</td></tr>" for k, v in rows if v)
        return f"<b>{html.escape(self.name)}</b><table>{body}</table>"


def load(path: PathLike, *, set: Settings = None, base: Optional[str] = None, loops: Optional[PathLike] = None,  # noqa: A002
         sensor_file: Optional[PathLike] = None, strict: bool = False) -> Model:
    """Reads a machine from a YAML, URDF or SDF file.

        set          parameters and initial values: {"crank_length": 1.2, "theta.q": "30deg"}, or "@fitted.set"
        base         of a robot: "fixed" or "floating"
        loops        of a robot: the file that closes its loops; default robot.loops.yaml beside it
        sensor_file  of a robot: the file with its sensors; default robot.sensors.yaml beside it
        strict       of a robot: doubtful physics is an error, not a warning

    Raises InputError with all faults of the file, each with file, line and column.
    """
    model, warnings = _kinegraph.load(os.fspath(path), settings_text(set), base or "", os.fspath(loops or ""),
                                      os.fspath(sensor_file or ""), strict)
    tell(warnings, 2)
    return Model(model)


AnyModel = Union[Model, PathLike]


def to_model(value: Any) -> Model:
    if isinstance(value, Model):
        return value
    model, warnings = _kinegraph.load(os.fspath(value), [], "", "", "", False)
    tell(warnings, 4)
    return Model(model)
