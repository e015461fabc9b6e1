from os import PathLike
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

Job = Union[None, str, PathLike[str], Mapping[str, Any]]
Overrides = Union[None, Mapping[str, Any], Sequence[str]]
Values = Union[str, int, float, Iterable[Any]]
Progress = Union[None, bool, Callable[[int, int], None]]
Sizes = Union[None, str, Iterable[int]]

class Diagnostic(NamedTuple):
    file: str
    line: int
    column: int
    key: str
    message: str
    suggestions: List[str]

class ConfigError(ValueError):
    diagnostics: List[Diagnostic]

class DoesNotFit(AttributeError): ...

class Record(Dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

class Timeline:
    rank: Any
    stage: Any
    lane: Any
    label: Any
    posted: Any
    begin: Any
    end: Any
    lanes: List[str]
    labels: List[str]
    def __len__(self) -> int: ...
    def to_pandas(self) -> Any: ...

class Step:
    job: Record
    step: Record
    throughput: Record
    memory: Record
    @property
    def json(self) -> str: ...
    @property
    def fits(self) -> bool: ...
    @property
    def timeline(self) -> Timeline: ...
    def to_dict(self) -> Record: ...
    def metric(self, key: str) -> float: ...
    def report(self, path: Union[None, str, PathLike[str]] = None) -> Any: ...
    def trace(self, path: Union[str, PathLike[str]]) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Table(List[Record]):
    columns: List[str]
    units: List[str]
    def to_pandas(self) -> Any: ...

class Explanation(Record):
    @property
    def what_if(self) -> Table: ...

class Plan(List[Record]):
    search: Record

class Imported(Record):
    @property
    def parameters(self) -> int: ...
    @property
    def active_parameters(self) -> int: ...

class Study:
    def __init__(
        self, job: Job = None, overrides: Overrides = None, *, machine: Optional[str] = None,
        nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None,
    ) -> None: ...  # fmt: skip
    @property
    def notes(self) -> List[str]: ...
    def run(
        self, overrides: Overrides = None, *, network: str = "flow", folding: str = "automatic",
        beyond_memory: bool = False,
    ) -> Step: ...  # fmt: skip
    def explain(self, overrides: Overrides = None, *, jobs: int = 0, progress: Progress = None) -> Explanation: ...
    def plan(
        self, *, fix: Optional[Mapping[str, Any]] = None, among: Optional[Mapping[str, Values]] = None,
        modelled: bool = False, top: int = 5, jobs: int = 0, progress: Progress = None,
    ) -> Plan: ...  # fmt: skip
    def sweep(
        self, vary: Optional[Mapping[str, Values]] = None, *, zipped: Iterable[Mapping[str, Values]] = (),
        where: Union[str, Iterable[str]] = (), network: str = "flow", folding: str = "stages", jobs: int = 0,
        progress: Progress = None,
    ) -> Table: ...  # fmt: skip

def simulate(
    job: Job = None, overrides: Overrides = None, *, machine: Optional[str] = None,
    nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None, network: str = "flow",
    folding: str = "automatic", beyond_memory: bool = False,
) -> Step: ...  # fmt: skip
def explain(
    job: Job = None, overrides: Overrides = None, *, machine: Optional[str] = None,
    nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None, jobs: int = 0,
    progress: Progress = None,
) -> Explanation: ...  # fmt: skip
def plan(
    job: Job = None, overrides: Overrides = None, *, machine: Optional[str] = None,
    nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None,
    fix: Optional[Mapping[str, Any]] = None,
    among: Optional[Mapping[str, Values]] = None, modelled: bool = False, top: int = 5, jobs: int = 0,
    progress: Progress = None,
) -> Plan: ...  # fmt: skip
def sweep(
    job: Job = None, vary: Optional[Mapping[str, Values]] = None, *, overrides: Overrides = None,
    machine: Optional[str] = None, nodes: Optional[int] = None, gpus: Optional[int] = None,
    model: Optional[str] = None,
    zipped: Iterable[Mapping[str, Values]] = (), where: Union[str, Iterable[str]] = (), network: str = "flow",
    folding: str = "stages", jobs: int = 0, progress: Progress = None,
) -> Table: ...  # fmt: skip
def collective(op: str, *, machine: str, ranks: int, sizes: Sizes = None, **options: Any) -> Table: ...
def compare(
    job: Job, trace: Union[str, PathLike[str]], overrides: Overrides = None, *, machine: Optional[str] = None,
    nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None,
) -> Record: ...  # fmt: skip
def traffic(pattern: Optional[str] = None, *, machine: str, **options: Any) -> Record: ...
def share(file: Union[str, PathLike[str]], **options: Any) -> Record: ...
def run(
    job: Union[None, str, PathLike[str]] = None, overrides: Overrides = None, *, machine: Optional[str] = None,
    nodes: Optional[int] = None, gpus: Optional[int] = None, model: Optional[str] = None, **options: Any,
) -> Record: ...  # fmt: skip
def export(
    job: Union[str, PathLike[str]], format: str, overrides: Overrides = None,
    out: Union[str, PathLike[str], None] = None, **options: Any,
) -> str: ...  # fmt: skip
def calibrate(
    traces: Union[str, PathLike[str], Iterable[Union[str, PathLike[str]]]], job: Union[str, PathLike[str]],
    out: Union[str, PathLike[str], None] = None, **options: Any,
) -> Table: ...  # fmt: skip
def replay(
    traces: Union[str, PathLike[str], Iterable[Union[str, PathLike[str]]]], machine: Union[str, PathLike[str]],
    compute: Union[str, float] = "recorded", **options: Any,
) -> Record: ...  # fmt: skip
def load(*files: Union[str, PathLike[str]], **overrides: Any) -> Imported: ...
def machines() -> List[str]: ...
def models() -> List[str]: ...

__version__: str
