"""What functions of weft give back."""

from . import _weft
from .errors import DoesNotFit
from .records import Record, parse


class Step:
    """A simulated step: what `weft simulate --json` tells, as attributes: step.time_s, memory.fits, throughput.mfu.

    Of a job that does not fit in memory there is no step.time_s, but memory and its advice.
    """

    def __init__(self, native):
        self._native = native
        self._told = None
        self._timeline = None

    @property
    def json(self):
        """The text that the command prints with --json."""
        return self._native.json() if self._native is not None else self._text

    def to_dict(self):
        if self._told is None:
            self._told = parse(self.json)
        return self._told

    @property
    def fits(self):
        return bool(self.to_dict()["memory"]["fits"])

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        told = self.to_dict()
        if name not in told:
            raise AttributeError(f"no {name!r} in a step; there are {', '.join(told)}")
        if told[name] is None:
            raise DoesNotFit(f"{name}: the job does not fit in memory (beyond_memory=True simulates it all the same)")
        return told[name]

    def __dir__(self):
        return [*super().__dir__(), *self.to_dict()]

    def metric(self, key):
        """One figure by its path in the JSON, "step.time_s": quick, since nothing else is worked out."""
        if self._native is None:
            value = self.to_dict()
            for part in key.split("."):
                value = value[part]
            return value
        return self._native.metric(key)

    @property
    def timeline(self):
        """Every operation of one rank of each class. Simulates once more."""
        if self._timeline is None:
            self._timeline = Timeline(**self._simulated().timeline())
        return self._timeline

    def report(self, path=None):
        """The page that `weft simulate --report` writes: its text, or written to a path."""
        page = self._simulated().page()
        if path is None:
            return page
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        return path

    def trace(self, path):
        """Writes a Chrome trace (.json or .json.gz)."""
        self._simulated().write_trace(str(path))
        return path

    def _simulated(self):
        if self._native is None:
            raise RuntimeError("a step that was pickled has its figures alone; simulate again for timeline and pages")
        if not self._native.simulated:
            raise DoesNotFit("the job does not fit in memory and was not simulated")
        return self._native

    def __repr__(self):
        return self._native.text() if self._native is not None else f"<weft.Step {self.job.text}>"

    def _repr_html_(self):
        from html import escape

        if self._native is None or not self._native.simulated:
            return f"<pre>{escape(repr(self))}</pre>"
        return (
            '<iframe style="width:100%;height:36em;border:0" title="weft: a simulated step" '
            f'srcdoc="{escape(self.report(), quote=True)}"></iframe>'
        )

    def __getstate__(self):
        return {"_text": self.json}

    def __setstate__(self, state):
        self._native, self._told, self._timeline = None, None, None
        self._text = state["_text"]


class Timeline:
    """Operations as columns of equal length, read-only numpy arrays, class by class of equal ranks.

    rank: that stands for its class; stage: of the pipeline; lane and label: places in `lanes` and `labels`;
    posted, begin, end: seconds since the step's start (begin - posted: waiting for others).
    """

    _columns = ("rank", "stage", "lane", "label", "posted", "begin", "end")

    def __init__(self, lanes, labels, **columns):
        self.lanes, self.labels = lanes, labels
        for name in self._columns:
            setattr(self, name, columns[name])

    def __len__(self):
        return len(self.rank)

    def to_pandas(self):
        import pandas

        frame = pandas.DataFrame({name: getattr(self, name) for name in self._columns})
        for name, words in (("lane", self.lanes), ("label", self.labels)):
            frame[name] = pandas.Categorical.from_codes(frame[name], words)
        return frame

    def __repr__(self):
        return f"<weft.Timeline of {len(self)} operations on {len(self.lanes)} lanes>"


class Table(list):
    """Rows as Records, made of lists of cells. `columns` are their keys, `units` the units of these."""

    def __init__(self, columns, units, rows):
        super().__init__(Record(zip(columns, row)) for row in rows)
        self.columns, self.units = list(columns), list(units)

    def to_pandas(self):
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def __reduce__(self):
        return type(self), (self.columns, self.units, [[row[name] for name in self.columns] for row in self])

    def _repr_html_(self):
        return self.to_pandas()._repr_html_()


def table_of(rows):
    """A Table of JSON objects that may have other objects and lists in them: these stay as they are."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return Table(columns, [""] * len(columns), [[row.get(name) for name in columns] for row in rows])


class Explanation(Record):
    """What `weft explain --json` tells: path, knobs, settings."""

    @property
    def what_if(self):
        """Knobs and settings together, the shortest step first: what, step_s, means, and for settings memory_bytes.

        means: how the figure was come by (simulated, first order ...); what nothing tells is left out.
        """
        rows = [
            {"what": f"{each['knob']}: {each['change']}", "step_s": each["step_s"], "means": each["means"]}
            for each in self["knobs"]
            if each["step_s"] is not None
        ]
        rows += [
            {"what": " ".join(each["set"])} | {key: each[key] for key in ("step_s", "means", "memory_bytes")}
            for each in self["settings"]
            if each["fits"] and each["step_s"] is not None
        ]
        return table_of(sorted(rows, key=lambda row: row["step_s"]))


class Plan(list):
    """The best layouts, the best first; `search` has all that `weft plan --json` tells."""

    def __init__(self, search):
        super().__init__(search["best"])
        self.search = search

    def __reduce__(self):
        return type(self), (self.search,)


class Imported(Record):
    """What `weft import --json` tells: format, kind, object, facts, notes."""

    @property
    def parameters(self):
        return self["facts"]["parameters"]

    @property
    def active_parameters(self):
        return self["facts"].get("active_parameters", self.parameters)


version = _weft.version
