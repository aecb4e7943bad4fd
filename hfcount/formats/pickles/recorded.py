"""Converts a parsed pickled file to JSON values and back, for recordings."""

from collections.abc import Mapping
from typing import Any

from hfcount.formats.pickles import Broken
from hfcount.formats.pickles.state_dict import Pickle
from hfcount.formats.pickles.values import Storage, Tensor

_FACTS = (
    *("legacy", "state_dict", "others", "leading", "nameless", "globals", "opcodes", "protocol"),
    *("unused", "longer", "compressed", "trailing"),
)
"""The fields of `Pickle` that are values of JSON."""

_LISTS = ("others", "globals", "opcodes", "longer", "compressed")


def written(file: Pickle | Broken) -> dict[str, Any]:
    """A file for a recording; `read` reads it."""
    if isinstance(file, Broken):
        facts = {"bytes": file.size, "problem": file.problem, "fix": file.fix, "code": file.code}
        return facts | {"expected": file.expected, "large": file.large}
    tensors = {name: _tensor(tensor) for name, tensor in file.tensors.items()}
    inner = file.inner and [list(file.inner[0]), {name: _tensor(tensor) for name, tensor in file.inner[1].items()}]
    storages = [list(storage) for storage in file.storages.values()]
    facts = {name: getattr(file, name) for name in _FACTS}
    return {"bytes": file.size, **facts, "tensors": tensors, "inner": inner, "storages": storages}


def read(name: str, recorded: Mapping[str, Any]) -> Pickle | Broken:
    """A file of a recording.

    Raises:
        ValueError: it is none that `written` wrote.
    """
    try:
        size = recorded["bytes"]
        if "problem" in recorded:
            facts = (recorded[key] for key in ("problem", "fix", "code", "expected", "large"))
            return Broken(name, size, *facts)
        inner, facts_ = recorded["inner"], {key: recorded[key] for key in _FACTS}
        facts_ |= {key: tuple(facts_[key]) for key in _LISTS}
        return Pickle(
            name,
            size,
            tensors=_tensors(recorded["tensors"]),
            inner=inner and (tuple(inner[0]), _tensors(inner[1])),
            storages={values[0]: Storage(*values) for values in recorded["storages"]},
            **facts_,
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{name} is not recorded as a pickled file is: {error}") from None


def _tensor(tensor: Tensor) -> list[Any]:
    held = tensor.storage
    return [tensor.dtype, tensor.bits, tensor.shape, tensor.stride, tensor.offset, held and list(held), tensor.kind]


def _tensors(recorded: Mapping[str, list[Any]]) -> dict[str, Tensor]:
    tensors = {}
    for name, (dtype, bits, shape, stride, offset, held, kind) in recorded.items():
        storage = held and Storage(*held)
        numbers = [bits, offset, *shape, *stride, *(storage[2:] if storage else ())]
        if any(type(number) is not int or number < 0 for number in numbers) or not isinstance(dtype, str):
            raise TypeError(f"what it says of {name} is no tensor")
        tensors[name] = Tensor(dtype, bits, tuple(shape), tuple(stride), offset, storage, kind)
    return tensors
