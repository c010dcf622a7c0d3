"""Factor graphs of your own, alone or mixed with those of a machine."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import numpy as np

from . import _kinegraph
from ._errors import bad_input
from ._model import AnyModel, to_model


class Factor:
    """A relation between variables. Derive from it, or give FactorGraph.add() a plain function.

    evaluate() gets the numbers of each variable as arrays and returns the residual, or a tuple of it and a list of its
    derivatives, one matrix per variable. Without derivatives, differences are taken.
    """

    name = "factor"

    def evaluate(self, *x: np.ndarray) -> Any:
        raise NotImplementedError


class FactorGraph:
    """Variables, factors between them, and values that solve() finds.

        graph = kinegraph.FactorGraph()
        graph.variable("tip", [2, 3])
        graph.add(lambda p: p @ p - 25, ["tip"], role="equality")    # on a circle
        graph.add(lambda p: p - [2, 3], ["tip"], sigma=0.1)          # measured
        graph.solve()
        graph["tip"]

    pose() and motion() begin with the graph of a machine: what follows from it holds exactly, costs are yours.
    """

    def __init__(self) -> None:
        self._graph = _kinegraph.Graph()

    @classmethod
    def pose(cls, model: AnyModel) -> "FactorGraph":
        """Where a machine may be. Of a planar one: `q`, whose numbers are `coordinates`; of a robot `elbow.q` per joint
        and `hand.pose` per link (quaternion w x y z, then position)."""
        made = cls.__new__(cls)
        made._graph = _kinegraph.Graph.pose(to_model(model)._model)
        return made

    @classmethod
    def motion(cls, model: AnyModel, *, time: float, step: float, free_start: bool = False) -> "FactorGraph":
        """How a planar machine may move: `q[k]`, `v[k]`, `a[k]`, `u[k]` … at every instant k. With free_start position
        and velocity at t = 0 are unknown: factors of your own must tell them."""
        made = cls.__new__(cls)
        made._graph = _kinegraph.Graph.motion(to_model(model)._model, float(time), float(step), bool(free_start))
        return made

    @property
    def names(self) -> List[str]:
        """All variables."""
        return self._graph.names

    @property
    def coordinates(self) -> List[str]:
        """Of a planar machine: what the numbers of q, v and a are ("P1.x")."""
        return self._graph.coordinates

    @property
    def factors(self) -> List[str]:
        return self._graph.factors

    def variable(self, name: str, value: Any, type: str = "vector") -> None:  # noqa: A002
        """A new variable and where it starts. type: vector, angle (rad), rotation (quaternion w x y z), pose
        (quaternion, then position)."""
        self._graph.add_variable(name, np.atleast_1d(np.asarray(value, dtype=float)).ravel(), type)

    def add(self, factor: Union[Factor, Callable[..., Any]], variables: Union[str, Sequence[str]], *, role: str = "cost",
            sigma: Any = None, loss: str = "none", loss_scale: float = 2.0, name: Optional[str] = None) -> int:
        """Ties a factor to variables; returns its number.

        role   "cost": made small; "equality": holds exactly
        sigma  of a cost: standard deviation of the residual: one number, one per row, or a covariance matrix
        loss   of a cost: none, huber, cauchy, tukey, geman-mcclure; from loss_scale standard deviations on
        """
        function = factor.evaluate if isinstance(factor, Factor) else factor
        if not callable(function):
            raise bad_input(f"factor: must be a function or a kinegraph.Factor, is {factor!r}")
        known = name or getattr(factor, "name", None) or getattr(factor, "__name__", "factor")
        noise = None if sigma is None else np.asarray(sigma, dtype=float)
        if noise is not None:
            noise = noise.reshape(-1, 1) if noise.ndim < 2 else noise
        names = [variables] if isinstance(variables, str) else list(variables)

        def call(*x: np.ndarray) -> Any:
            return function(*x)

        return self._graph.add_factor(str(known), call, names, role, noise, loss, float(loss_scale))

    def hold(self, name: str, value: Any = None) -> None:
        """A variable keeps its value: it is known."""
        if value is not None:
            self[name] = value
        self._graph.hold(name, True)

    def free(self, name: str) -> None:
        """A variable is unknown again."""
        self._graph.hold(name, False)

    def solve(self, method: str = "levenberg-marquardt", max_iterations: int = 100) -> Dict[str, Any]:
        """Moves the unknowns to the least cost under what must hold. Returns what was done; raises NoAnswer, naming the
        constraint or the unknown, where there is no answer."""
        return self._graph.solve(method, int(max_iterations))

    def covariance(self, *names: str) -> np.ndarray:
        """How well the solved graph knows variables: the covariance of all of them together."""
        return self._graph.covariance(list(names))

    def check_jacobians(self, factor: int, tolerance: float = 1e-7) -> None:
        """Raises InputError if the derivatives of a factor do not agree with differences at the present values."""
        wrong = self._graph.check(int(factor), float(tolerance))
        if wrong:
            raise bad_input(*wrong.strip().splitlines())

    def __getitem__(self, name: str) -> np.ndarray:
        return self._graph.value(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._graph.set_value(name, np.atleast_1d(np.asarray(value, dtype=float)).ravel())

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        return f"<FactorGraph: {len(self.names)} variables, {len(self.factors)} factors>"

