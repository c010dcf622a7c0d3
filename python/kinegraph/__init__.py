"""How mechanisms and robots move, and the forces that move them.

    import kinegraph
    model = kinegraph.load("models/fourbar.yaml")
    motion = model.simulate(time=5)
    motion.t, motion["theta.q"], motion.summary["energy_error"]
    motion.report("motion.html")

Every verb of the command line is a function, and a method of a model: check, kinematics, simulate, inverse, hybrid,
estimate, identify, graph, codegen, view; plan takes the file of a task. help(kinegraph.simulate) lists the options.
"""

from . import log
from ._errors import Diagnostic, Error, InputError, InternalFault, NoAnswer, Warning
from ._graph import Factor, FactorGraph
from ._kinegraph import __version__
from ._model import Model, load
from ._result import Result
from ._table import Table
from ._verbs import (Estimator, check, codegen, estimate, graph, hybrid, identify, inverse, kinematics, plan, simulate,
                     view)

__all__ = [
    "Diagnostic", "Error", "Estimator", "Factor", "FactorGraph", "InputError", "InternalFault", "Model", "NoAnswer",
    "Result", "Table", "Warning", "__version__", "check", "codegen", "estimate", "graph", "hybrid", "identify", "inverse",
    "kinematics", "load", "log", "plan", "simulate", "view",
]
