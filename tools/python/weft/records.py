"""JSON objects whose members are attributes, too."""

import json


class Record(dict):
    """A JSON object: record["time_s"] and record.time_s are the same. A plain dict otherwise."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no {name!r} here; there are {', '.join(map(str, self))}") from None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if str(key).isidentifier())]

    def __reduce__(self):
        return type(self), (dict(self),)


def parse(text):
    """JSON text with Records for objects."""
    return json.loads(text, object_hook=Record)


def overrides(changes=None, **named):
    """What --set takes, out of {"layout.tensor": 8} or {"layout": {"tensor": 8}}: a list of "key=value"."""
    found = []

    def add(prefix, value):
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                add(f"{prefix}.{key}", inner)
        else:
            found.append(f"{prefix}={value if isinstance(value, str) else json.dumps(_plain(value))}")

    for source in (named, changes or {}):
        if isinstance(source, dict):
            for key, value in source.items():
                if source is not named or value is not None:
                    add(key, value)
        else:
            found.extend(source)
    return found


def values(value):
    """Values to try of a key, as --vary takes them: a list, or a text such as "512..65536*2"."""
    if isinstance(value, str):
        return value
    if isinstance(value, range) or hasattr(value, "__iter__"):
        return ",".join(json.dumps(_plain(each)) for each in value)
    return json.dumps(_plain(value))


def _plain(value):
    """numpy's numbers are not JSON's."""
    return value.item() if hasattr(value, "item") else value
