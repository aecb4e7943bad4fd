"""The dtype that a version of transformers loads a checkpoint in, and so writes it in.

Source: transformers 5.24, modeling_utils.py:4186 (`dtype` is "auto" where none is given), 810 (_get_dtype) and 3844
(_get_dtype_plan); 4.57.1, modeling_utils.py:1219 (_get_dtype: float32 where none is given).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hfcount.formats import dtypes
from hfcount.options import AskedDtype
from hfcount.text import shown
from hfcount.verifier.header_view import HeaderView

_KEYS = ("dtype", "torch_dtype")  # where both are given, the first counts: configuration_utils.py:440


class LoadedDtype(NamedTuple):
    """The dtype of a model in memory.

    Args:
        name: as configs call it; empty if it is not known.
        code: as the format calls it.
        why: why it is that one, or why it is not known.
    """

    name: str
    code: str
    why: str


def loaded_dtype(version: str, asked: AskedDtype | None, values: Mapping[str, Any], view: HeaderView) -> LoadedDtype:
    """The dtype that from_pretrained builds the model in.

    Args:
        asked: its argument `dtype`; None if it is given none.
        values: config.json.
        view: the headers of the weight files.
    """
    if asked is None and version.startswith("4."):
        return LoadedDtype("float32", "F32", "the default of this version")
    if asked not in (None, "auto"):
        return _known(str(asked), f"dtype={asked}")
    key = next((key for key in _KEYS if values.get(key) is not None), None)
    if key is not None:
        return _known(values[key], f"{key} in config.json")
    return _of_first_tensor(view)


def _known(value: object, why: str) -> LoadedDtype:
    name = value.removeprefix("torch.") if isinstance(value, str) else ""
    code = dtypes.code(name) if name in dtypes.MODELS else None
    return LoadedDtype(name, code, why) if code else LoadedDtype("", "", f"the dtype is {shown(value)}")


def _of_first_tensor(view: HeaderView) -> LoadedDtype:
    """That of the first tensor of floating point in the first file, by name, where config.json names none."""
    for file in sorted(view.shards)[:1]:
        header = view.shards[file].header
        for name in sorted(header.tensors) if header else ():
            code = header.tensors[name].dtype if header else ""
            if code in dtypes.FLOATING - dtypes.FLOAT8:
                named = next(known for known in dtypes.MODELS if dtypes.code(known) == code)
                return LoadedDtype(named, code, "config.json names no dtype: that of the first tensor")
    return LoadedDtype("", "", "config.json names no dtype, and no tensor has one of floating point")
