# Made by python/make_stubs.py from the options of the command line: do not edit.
from os import PathLike
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._table import Table
from ._model import AnyModel, Model
from ._result import Result

_Path = Union[str, PathLike[str]]
_Table = Union[Table, Mapping[str, Any], _Path]
_Number = Union[float, str]
_Names = Union[str, Sequence[str]]
_Numbers = Union[Mapping[str, Any], Sequence[str], str]

def check(
    model: AnyModel,
    *,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def kinematics(
    model: AnyModel,
    *,
    branches: Optional[bool] = ...,
    move: Optional[_Numbers] = ...,
    goal: Optional[_Numbers] = ...,
    goals: Optional[_Table] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def simulate(
    model: AnyModel,
    *,
    time: Optional[_Number] = ...,
    step: Optional[_Number] = ...,
    formulation: Optional[str] = ...,
    method: Optional[str] = ...,
    integrator: Optional[str] = ...,
    compliance: Optional[_Number] = ...,
    relaxation: Optional[_Number] = ...,
    window: Optional[_Number] = ...,
    weights: Optional[str] = ...,
    soft_scale: Optional[_Numbers] = ...,
    input: Optional[_Table] = ...,
    reactions: Optional[bool] = ...,
    poses: Optional[bool] = ...,
    compiled: Optional[bool] = ...,
    every: Optional[_Number] = ...,
    sensors: Optional[Union[bool, _Path]] = ...,
    disturbed: Optional[bool] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def inverse(
    model: AnyModel,
    *,
    motion: Optional[_Table] = ...,
    actuators: Optional[_Names] = ...,
    noise: Optional[_Number] = ...,
    formulation: Optional[str] = ...,
    ordering: Optional[str] = ...,
    planar_loops: Optional[bool] = ...,
    compiled: Optional[bool] = ...,
    reactions: Optional[bool] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def hybrid(
    model: AnyModel,
    *,
    known: Optional[_Table] = ...,
    noise: Optional[_Number] = ...,
    ordering: Optional[str] = ...,
    planar_loops: Optional[bool] = ...,
    reactions: Optional[bool] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def estimate(
    model: AnyModel,
    *,
    log: Optional[Union[_Table, Sequence[_Table]]] = ...,
    filter: Optional[str] = ...,
    step: Optional[_Number] = ...,
    window: Optional[_Number] = ...,
    lag: Optional[_Number] = ...,
    particles: Optional[_Number] = ...,
    compiled: Optional[bool] = ...,
    proposal: Optional[str] = ...,
    chart: Optional[str] = ...,
    integrator: Optional[_Number] = ...,
    start: Optional[str] = ...,
    start_sd: Optional[_Numbers] = ...,
    start_speed: Optional[_Number] = ...,
    branches: Optional[str] = ...,
    process: Optional[_Numbers] = ...,
    unknown: Optional[_Numbers] = ...,
    input: Optional[_Table] = ...,
    loss: Optional[str] = ...,
    gate: Optional[_Number] = ...,
    innovations: Optional[Union[bool, _Path]] = ...,
    every: Optional[_Number] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def identify(
    model: AnyModel,
    *,
    log: Optional[Union[_Table, Sequence[_Table]]] = ...,
    free: Optional[_Numbers] = ...,
    bound: Optional[_Numbers] = ...,
    prior: Optional[_Numbers] = ...,
    step: Optional[_Number] = ...,
    fit: Optional[str] = ...,
    kappa: Optional[_Number] = ...,
    compliance: Optional[_Number] = ...,
    relaxation: Optional[_Number] = ...,
    loss: Optional[str] = ...,
    noise: Optional[_Number] = ...,
    from_: Optional[_Number] = ...,
    to: Optional[_Number] = ...,
    validate: Optional[Union[_Table, Sequence[_Table]]] = ...,
    validate_from: Optional[_Number] = ...,
    horizon: Optional[_Numbers] = ...,
    controller: Optional[_Numbers] = ...,
    held: Optional[bool] = ...,
    richardson: Optional[bool] = ...,
    compare: Optional[_Names] = ...,
    smoothing: Optional[_Number] = ...,
    iterations: Optional[_Number] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def plan(
    task: _Path,
    *,
    guess: Optional[_Table] = ...,
    soft: Optional[_Number] = ...,
    max_iterations: Optional[_Number] = ...,
    tolerance: Optional[_Number] = ...,
    optimality: Optional[_Number] = ...,
    roll_out: Optional[_Number] = ...,
    refine: Optional[_Number] = ...,
    motion: Optional[Union[bool, _Path]] = ...,
    verbose: Optional[bool] = ...,
    set: Optional[_Numbers] = ...,
    base: Optional[str] = ...,
    meshes: Optional[_Numbers] = ...,
    loops: Optional[_Path] = ...,
    sensor_file: Optional[_Path] = ...,
    strict: Optional[bool] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
    model: Optional[AnyModel] = ...,
) -> Result: ...

def graph(
    model: AnyModel,
    *,
    problem: Optional[str] = ...,
    ordering: Optional[_Number] = ...,
    order: Optional[_Names] = ...,
    known: Optional[_Names] = ...,
    compare: Optional[bool] = ...,
    show: Optional[str] = ...,
    after: Optional[_Number] = ...,
    format: Optional[str] = ...,
    planar_loops: Optional[bool] = ...,
    hide_known: Optional[bool] = ...,
    formulation: Optional[str] = ...,
    integrator: Optional[_Number] = ...,
    knots: Optional[_Number] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def codegen(
    model: AnyModel,
    *,
    problem: Optional[str] = ...,
    ordering: Optional[str] = ...,
    order: Optional[_Names] = ...,
    known: Optional[_Names] = ...,
    name: Optional[_Number] = ...,
    derivatives: Optional[bool] = ...,
    single: Optional[bool] = ...,
    batch: Optional[_Number] = ...,
    no_joint_forces: Optional[bool] = ...,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

def view(
    model: AnyModel,
    *,
    set: Optional[_Numbers] = ...,
    meshes: Optional[_Numbers] = ...,
    threads: Optional[_Number] = ...,
    seed: Optional[_Number] = ...,
) -> Result: ...

class Estimator:
    model: Model
    names: List[str]
    def __init__(
        self,
        model: AnyModel,
        t: float = ...,
        *,
        filter: Optional[str] = ...,
        step: Optional[_Number] = ...,
        window: Optional[_Number] = ...,
        lag: Optional[_Number] = ...,
        particles: Optional[_Number] = ...,
        compiled: Optional[bool] = ...,
        proposal: Optional[str] = ...,
        chart: Optional[str] = ...,
        integrator: Optional[_Number] = ...,
        start: Optional[str] = ...,
        start_sd: Optional[_Numbers] = ...,
        start_speed: Optional[_Number] = ...,
        branches: Optional[str] = ...,
        process: Optional[_Numbers] = ...,
        unknown: Optional[_Numbers] = ...,
        loss: Optional[str] = ...,
        gate: Optional[_Number] = ...,
        meshes: Optional[_Numbers] = ...,
        threads: Optional[_Number] = ...,
        seed: Optional[_Number] = ...,
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
