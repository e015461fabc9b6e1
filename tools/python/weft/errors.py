"""What goes wrong, as Python sees it."""

from typing import List, NamedTuple


class Diagnostic(NamedTuple):
    """One mistake of an input. What is unknown is empty or 0."""

    file: str
    line: int
    column: int
    key: str
    message: str
    suggestions: List[str]


class ConfigError(ValueError):
    """All mistakes of an input at once; its text has a line of each."""

    def __init__(self, message, mistakes=()):
        super().__init__(message)
        self.diagnostics = [Diagnostic(*each) for each in mistakes]

    def __reduce__(self):
        return type(self), (str(self), [tuple(each) for each in self.diagnostics])


class DoesNotFit(AttributeError):
    """Asked of a job that does not fit in memory, and was not simulated, what only a simulation tells."""
