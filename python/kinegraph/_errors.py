"""What is raised. Texts are those of the command line."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence, Tuple


class Diagnostic(NamedTuple):
    """One fault, with its place. Lines and columns count from 1; 0 means unknown."""

    severity: str
    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        where = self.file
        if self.line > 0:
            where += f":{self.line}" if where else f"{self.line}"
            if self.column > 0:
                where += f":{self.column}"
        return f"{where}: {self.severity}: {self.message}" if where else f"{self.severity}: {self.message}"


class Error(Exception):
    """What all errors of kinegraph are. `diagnostics` lists all faults, not only the first."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(text)
        self.diagnostics: List[Diagnostic] = list(diagnostics)


class InputError(Error, ValueError):
    """The input is wrong: a model, a table, an option. (The command line: exit status 2.)"""


class NoAnswer(Error, ArithmeticError):
    """The problem has no answer: says which constraint, and by how much. (The command line: exit status 1.)

    `result` is the nearest that was found where there is one (a goal out of reach), else None.
    """

    result: Any = None


class InternalFault(Error, RuntimeError):
    """A fault of kinegraph, not of your input. Please report it with the model."""


class Warning(UserWarning):  # noqa: A001  (kinegraph.Warning, as `warnings` filters name it)
    """What the command line would say on standard error, and go on."""


_KINDS = {"bad_input": InputError, "no_answer": NoAnswer, "internal": InternalFault}


def make(kind: str, diagnostics: Sequence[Tuple[str, str, int, int, str]], text: str) -> BaseException:
    """Called by the library."""
    if kind == "interrupted":
        return KeyboardInterrupt()
    return _KINDS[kind](text, [Diagnostic(*d) for d in diagnostics])


def bad_input(*messages: str) -> InputError:
    """An InputError of faults that the package itself finds."""
    diagnostics = [Diagnostic("error", "", 0, 0, message) for message in messages]
    return InputError("\n".join(map(str, diagnostics)), diagnostics)
