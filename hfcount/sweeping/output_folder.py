"""Checks that a sweep may write to the folder OUT."""

import os
from pathlib import Path

from hfcount.errors import SweepError
from hfcount.fetcher.layout import ADAPTER, BIN_INDEX, CONFIG, INDEX
from hfcount.sweeping.parts import PART
from hfcount.text import printable

STATE = ".sweep"
_MODEL = (CONFIG, INDEX, BIN_INDEX, ADAPTER, "model_index.json", "params.json")
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".onnx", ".h5", ".msgpack")
_OWN = ("data", "charts", "README.md", "summary.md", "summary.html", "LICENSE")


def check(out: Path) -> None:
    """Raises SweepError if the folder holds a model, or only files that are not a sweep's.

    Hidden files, such as git's, are fine; in a folder of a sweep so are other files, except a model's.
    """
    try:
        names = sorted(os.listdir(out)) if out.exists() else []
        parts = sorted(os.listdir(out / "data")) if "data" in names else []
    except OSError as error:
        raise SweepError(f"{printable(str(out))} cannot be used: {error.strerror}.") from None
    shown = printable(str(out))
    if model := next((name for name in names if name in _MODEL or name.endswith(_WEIGHTS)), None):
        raise SweepError(
            f"{shown} holds {printable(model)}, so it is a model; the first argument must be OUT, the folder for the"
            f" rows. Nothing was written. Name another folder first: `hfcount sweep --out rows {shown} ...`."
        )
    foreign = [name for name in names if name not in _OWN and not name.startswith(".")]
    foreign += [f"data/{name}" for name in parts if not PART.fullmatch(name) and not name.startswith(".")]
    if foreign and STATE not in names:
        raise SweepError(
            f"{shown} holds {printable(foreign[0], 100)}, which is not from a sweep; the first argument must be OUT,"
            " the folder for the rows. Nothing was written. Name a new folder, such as `hfcount sweep --out rows ...`."
        )
