"""Frames of any library as rows: Arrow streams without a copy, numpy buffers, lists of cells."""

import numpy as np

from . import _privet
from .errors import DeclarationError

_NUMBERS = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)} | {"float32", "float64"}


def rows(frame, names=None):
    """The rows of a frame; ``names`` are for arrays without."""
    if isinstance(frame, _privet.Rows):
        return frame
    if type(frame).__module__.split(".")[0] == "pandas":
        return _of_pandas(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return _privet.Rows.from_arrow(_typed(frame))
    if isinstance(frame, dict):
        return _privet.Rows.from_columns([_column(str(name), cells) for name, cells in frame.items()])
    array = np.asarray(frame)
    if array.ndim != 2:
        raise DeclarationError(
            "rows are a frame (pandas, polars, pyarrow), a dictionary of columns, or an array with a line for each row"
        )
    names = [f"x{i}" for i in range(array.shape[1])] if names is None else list(names)
    if len(names) != array.shape[1]:
        raise DeclarationError(f"there are {array.shape[1]} columns and {len(names)} names")
    return _privet.Rows.from_columns([_column(str(name), array[:, i]) for i, name in enumerate(names)])


def _typed(frame):
    """A frame of polars whose columns without a type are texts: all their cells are missing, and their Arrow form is not understood everywhere."""
    untyped = [name for name, kind in getattr(frame, "schema", {}).items() if str(kind) == "Null"] if _is_polars(frame) else []
    return frame.with_columns(frame[name].cast(str) for name in untyped) if untyped else frame


def _is_polars(frame):
    return type(frame).__module__.split(".")[0] == "polars"


def _of_pandas(frame):
    # An index is no column; cells are not copied.
    frame = frame.copy(deep=False)
    frame.index = range(len(frame))
    try:
        return _privet.Rows.from_arrow(frame)
    except Exception:
        # Without pyarrow, or with cells of several types in one column: what cells hold is no error.
        return _privet.Rows.from_columns([_column(str(name), frame[name]) for name in frame.columns])


def _column(name, cells):
    """Name, what it holds, values."""
    dtype = getattr(cells, "dtype", None)
    if getattr(dtype, "kind", "") in ("M", "m", "c"):
        raise DeclarationError(f"column {name!r} holds {dtype}; make it a number, a truth value or text before")
    if dtype is not None and hasattr(dtype, "categories"):
        codes = np.ascontiguousarray(cells.cat.codes, dtype=np.int32)
        return name, "codes", (codes, list(dtype.categories))
    if dtype is not None and str(dtype) in _NUMBERS:
        return name, str(dtype), np.ascontiguousarray(cells)
    if dtype is not None and str(dtype) == "bool":
        return name, "bool", np.ascontiguousarray(cells).view(np.uint8)
    if dtype is not None and dtype.__class__.__module__.startswith("pandas"):
        # Nullable types: missing cells are none of numpy's.
        cells = [None if cell is getattr(dtype, "na_value", None) else cell for cell in cells]
    if isinstance(cells, np.ndarray):
        cells = cells.tolist()
    return name, "cells", cells
