"""weft: how long a training step takes, where the time goes, why, and what would help.

>>> import weft
>>> study = weft.Study(model="gpt-neox-20b", machine="frontier", nodes=32)
>>> [study.run({"batch.micro": micro}).step.time_s for micro in (1, 2)]  # doctest: +SKIP

Units are SI: seconds, bytes. Every function takes a job as a path, as a dict, as JSON text, or none where `model` and
`machine` are given. Mistakes of the input raise ConfigError.
"""

import json as _json
import os as _os

from . import _weft
from .errors import ConfigError, Diagnostic, DoesNotFit
from .records import Record, overrides as _overrides, parse as _parse, values as _values
from .results import Explanation, Imported, Plan, Step, Table, Timeline, table_of as _table_of, version as __version__

__all__ = [
    "ConfigError", "Diagnostic", "DoesNotFit", "Explanation", "Imported", "Plan", "Record", "Step", "Study", "Table",
    "Timeline", "calibrate", "collective", "compare", "explain", "export", "load", "machines", "models", "plan",
    "replay", "run", "share", "simulate", "sweep", "traffic",
]  # fmt: skip


class Study:
    """A job with its machine, topology and costs, which are worked out once. Threads may share it.

    Without a job and a layout it is data parallel; `plan` finds better ones.
    """

    def __init__(self, job=None, overrides=None, *, machine=None, nodes=None, gpus=None, model=None):
        asked = {"machine": _place(machine), "nodes": nodes, "gpus": gpus, "model": _place(model)}
        self._said = (job, _overrides(overrides, **asked))
        self._job = _open(*self._said)

    @property
    def notes(self):
        """On a file of another tool, and on what is assumed where there is no job file."""
        return self._job.notes

    def run(self, overrides=None, *, network="flow", folding="automatic", beyond_memory=False):
        """One step, of the job with these overrides: as `weft simulate`."""
        return Step(self._job.simulate(_overrides(overrides), network, folding, beyond_memory))

    def explain(self, overrides=None, *, jobs=0, progress=None):
        """The critical path by cause, and what limits and settings would change: as `weft explain`."""
        with _told(progress) as hear:
            return Explanation(_parse(self._job.explain(_overrides(overrides), jobs, hear)))

    def plan(self, *, fix=None, among=None, modelled=False, top=5, jobs=0, progress=None):
        """The best layouts: as `weft plan`. `fix`: {key: value}; `among`: {key: values to try}."""
        tried = _overrides(fix) + [f"{key}={_values(value)}" for key, value in (among or {}).items()]
        with _told(progress) as hear:
            return Plan(_parse(self._job.plan(tried, modelled, top, jobs, hear)))

    def sweep(self, vary=None, *, zipped=(), where=(), network="flow", folding="stages", jobs=0, progress=None):
        """A row per point of a grid: as `weft sweep`. `vary`: {key: values}, the last varies fastest.

        `zipped`: dicts of keys that vary together. `where`: conditions that points must hold for.
        """
        varied = [f"{key}={_values(value)}" for key, value in (vary or {}).items()]
        together = [" ".join(f"{key}={_values(value)}" for key, value in each.items()) for each in zipped]
        conditions = [where] if isinstance(where, str) else list(where)
        with _told(progress) as hear:
            return Table(*self._job.sweep(varied, together, conditions, network, folding, jobs, hear))

    def _repr_html_(self):
        return self.run(beyond_memory=True)._repr_html_()

    def __reduce__(self):
        return type(self), self._said


def simulate(job=None, overrides=None, *, machine=None, nodes=None, gpus=None, model=None, **choices):
    """One training step of one layout: as `weft simulate`."""
    return Study(job, overrides, machine=machine, nodes=nodes, gpus=gpus, model=model).run(**choices)


def explain(job=None, overrides=None, *, machine=None, nodes=None, gpus=None, model=None, **choices):
    """Why a step takes as long as it does, and what would change it: as `weft explain`."""
    return Study(job, overrides, machine=machine, nodes=nodes, gpus=gpus, model=model).explain(**choices)


def plan(job=None, overrides=None, *, machine=None, nodes=None, gpus=None, model=None, **choices):
    """Which layout is best: as `weft plan`."""
    return Study(job, overrides, machine=machine, nodes=nodes, gpus=gpus, model=model).plan(**choices)


def sweep(job=None, vary=None, *, overrides=None, machine=None, nodes=None, gpus=None, model=None, **choices):
    """A grid of simulations, a row each: as `weft sweep`."""
    return Study(job, overrides, machine=machine, nodes=nodes, gpus=gpus, model=model).sweep(vary, **choices)


def collective(op, *, machine, ranks, sizes=None, **options):
    """Rows as `weft collective OP` prints them; options are the command's: ranks_per_node=4, algorithm="ring"."""
    if sizes is not None and not isinstance(sizes, str):
        sizes = ",".join(str(int(size)) for size in sizes)
    return _table_of(_asked("collective", op, machine=_place(machine), ranks=ranks, sizes=sizes, **options)["rows"])


def traffic(pattern=None, *, machine, **options):
    """Messages between ranks, as `weft traffic PATTERN --json` tells them; methods and links are tables."""
    found = _asked("traffic", [] if pattern is None else pattern, machine=_place(machine), **options)
    for key in ("ways", "links"):
        found[key] = _table_of(found[key])
    return found


def share(file, **options):
    """Jobs on one machine, as `weft share FILE --json` tells them; jobs and links are tables."""
    found = _asked("share", file, **options)
    for key in ("jobs", "links"):
        found[key] = _table_of(found[key])
    return found


def run(job=None, overrides=None, *, machine=None, nodes=None, gpus=None, model=None, **options):
    """A whole training run with failures, as `weft run JOB --tokens N --json` tells it: weft.run(job, tokens="15T")."""
    return _asked("run", [] if job is None else job, set=overrides, machine=_place(machine), nodes=nodes, gpus=gpus,
                  model=_place(model), **options)  # fmt: skip


def export(job, format, overrides=None, out=None, **options):
    """What `weft export JOB --format FORMAT` writes, as a text; with `out` into that file or folder."""
    return _weft.command("export", _words(job, set=overrides, format=format, out=out, **options))


def compare(job, trace, overrides=None, **options):
    """A step that PyTorch's profiler recorded beside the simulated one, as `weft compare JOB TRACE --json` tells it.

    classes, layers, gaps, collectives and unmatched are tables; what has both sides has columns KEY_recorded and KEY.
    """
    step = Study(job, overrides, **options).run(beyond_memory=True)
    found = _parse(step._native.compare([_os.fspath(trace)]))
    for key in ("classes", "layers", "gaps", "collectives", "unmatched"):
        found[key] = _table_of([_flat(row) for row in found[key]])
    return found


def calibrate(traces, job, out=None, **options):
    """Constants of the job's device from recorded steps, as `weft calibrate TRACE... --job JOB`: a row each.

    `out` is the device file to write; options are the command's.
    """
    return _table_of(_asked("calibrate", traces, job=job, out=out, **options)["constants"])


def replay(traces, machine, compute="recorded", **options):
    """A recorded program (Kineto or Chakra, a file per rank; GOAL) on a machine, as `weft replay TRACE... --json` tells it.

    ranks, communication, critical_path and links are tables; options are the command's.
    """
    found = _asked("replay", traces, machine=machine, compute=compute, **options)
    for key in ("ranks", "communication", "critical_path", "links"):
        found[key] = _table_of(found[key])
    return found


def _asked(command, files, **options):
    return _parse(_weft.command(command, _words(files, json=True, **options)))


def _words(files, **options):
    """Arguments of a command: files, switches that are on, and options that have a value, repeated for overrides."""
    words = [*map(_os.fspath, [files] if isinstance(files, (str, _os.PathLike)) else files)]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if name == "set":
            words += [word for each in _overrides(value) for word in (option, each)]
        elif value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, _os.fspath(value) if hasattr(value, "__fspath__") else str(value)]
    return words


def _flat(row):
    """A pair [recorded, simulated] as two columns."""
    flat = Record()
    for key, value in row.items():
        if isinstance(value, list):
            flat[key + "_recorded"], flat[key] = value
        else:
            flat[key] = value
    return flat


def load(*files, **overrides):
    """What `weft import` makes of files of other tools: a model, a job or a machine. A model's name will do, too."""
    names = [_os.fspath(file) for file in files]
    if len(names) == 1 and not overrides and not _os.path.exists(names[0]):
        model = _parse(_weft.model(names[0]))
        facts = Record({key: model[key] for key in ("parameters", "active_parameters") if key in model})
        return Imported(format="weft", kind="model", object=model, facts=facts, notes=[])
    return Imported(_parse(_weft.import_files(names, _overrides(overrides))))


def machines():
    """Names of the machines that weft ships."""
    return _weft.machines()


def models():
    """Names of the models that weft ships."""
    return _weft.models()


def _open(job, overrides):
    if job is None:
        return _weft.Job.open("", overrides)
    if isinstance(job, dict):
        return _weft.Job.read(_json.dumps(job), overrides, "")
    if isinstance(job, str) and job.lstrip().startswith("{"):
        return _weft.Job.read(job, overrides, "")
    return _weft.Job.open(_os.fspath(job), overrides)


def _place(name):
    """A path from here, where a file of that name is here; a name otherwise."""
    return _os.path.abspath(name) if name is not None and _os.path.isfile(name) else name


class _told:
    """progress: None, a function of (done, count), or True for a bar of tqdm's."""

    def __init__(self, progress):
        self._bar = None
        if progress is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=None)
        self._hear = self._move if self._bar is not None else progress

    def _move(self, done, count):
        self._bar.total = count
        self._bar.update(done - self._bar.n)

    def __enter__(self):
        return self._hear

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()
