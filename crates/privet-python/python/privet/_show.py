"""How answers look in a notebook: plain HTML, without scripts and without the network."""

from html import escape


class Said:
    """An answer of the command: its words, and the same as data."""

    def __init__(self, text, data):
        self._text, self._data = text, data

    def __repr__(self):
        return self._text.rstrip()

    def _repr_html_(self):
        return f'<pre style="white-space: pre-wrap">{escape(self._text.rstrip())}</pre>'

    def to_dict(self):
        """The same as data: what the command prints with ``--json``."""
        return self._data


def table(names, rows):
    """A table as HTML."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def frame(columns):
    """A pandas frame, if pandas is there; else a dictionary of lists."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)
