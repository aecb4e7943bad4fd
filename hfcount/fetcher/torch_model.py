"""Presents a transformers model in memory as save_pretrained would write it: its config and tensors."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hfcount.fetcher.interface import Documents
from hfcount.fetcher.memory import MemoryShards, documents
from hfcount.text import typed

_AROUND = {
    "OptimizedModule": "_orig_mod",  # torch.compile
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "DeepSpeedEngine": "module",
}
"""Classes that wrap a whole model, and what they call it."""

_TAKEN = "a model of transformers: a torch module with a config that has a model_type"
_OTHERS = "verify_tensors takes the config and the tensors of any other"


def opened(model: Any) -> Documents:
    """The documents of a model that is in memory, on any device, the meta device included; no data is copied.

    Of tensors that share their memory the first is written, or the one that the others are said to be tied to.

    Raises:
        TypeError: it is no model of transformers, or what it would save is not what it holds: quantised weights, an
            adapter, one rank's part.
    """
    model = _unwrapped(model)
    _check(model)
    config = _config(model)
    tensors = model.state_dict(keep_vars=True)
    spare = {*_ties(model, tensors), *(getattr(model, "_keys_to_ignore_on_save", None) or ())}
    kept = {name: tensor for name, tensor in tensors.items() if name not in spare}
    return documents(config, kept, f"{config['architectures'][0]} in memory", _alike)


def base_of(model: Any) -> Mapping[str, Any] | None:
    """The config of the model that an adapter of PEFT is on; None for a model without one."""
    model = _unwrapped(model)
    if not getattr(model, "peft_config", None):
        return None
    inner = getattr(model, "get_base_model", None)  # transformers' own models that were given an adapter have none
    model = inner() if callable(inner) else model
    return _config(model) if callable(getattr(getattr(model, "config", None), "to_dict", None)) else None


def tensors_of(documents: Documents) -> Mapping[str, Any]:
    """The tensors that were opened, by name.

    Raises:
        TypeError: they have no values.
    """
    shards = documents.shards
    tensors = shards.tensors if isinstance(shards, MemoryShards) else {}
    if any(getattr(tensor, "is_meta", False) for tensor in tensors.values()):
        raise TypeError(
            "model is on the meta device, where tensors have no values. Leave out data, or load its weights."
        )
    return tensors


def _unwrapped(model: Any) -> Any:
    while (inner := _AROUND.get(type(model).__name__)) and hasattr(model, inner):
        model = getattr(model, inner)
    return model


def _config(model: Any) -> dict[str, Any]:
    """What config.json would hold, with the model's own class and dtype."""
    config = dict(model.config.to_dict())
    config["architectures"] = [type(model).__name__.removeprefix("FSDP")]  # what fully_shard puts before the name
    config["dtype"] = str(model.dtype).removeprefix("torch.")
    config.pop("torch_dtype", None)
    return config


def _check(model: Any) -> None:
    """Raises TypeError unless what the model holds is what it would save."""
    config = getattr(model, "config", None)
    if not callable(getattr(model, "state_dict", None)):
        raise TypeError(f"model is {typed(model)}, but must be {_TAKEN}.")
    name = type(model).__name__
    if getattr(model, "peft_config", None):
        raise TypeError(
            f"model is a {name} with an adapter of PEFT, which is saved separately. Pass the model that"
            " merge_and_unload() returns, or the model without the adapter."
        )
    if not (callable(getattr(config, "to_dict", None)) and getattr(config, "model_type", None)):
        raise TypeError(f"model is a {name}, which has no such config, but must be {_TAKEN}; {_OTHERS}.")
    if getattr(model, "hf_quantizer", None) or getattr(model, "is_quantized", False):
        raise TypeError(
            f"model is a {name} whose weights are quantised in memory, but may be saved in another form. Save it and"
            " verify the folder."
        )
    if any(_in_part(parameter) for parameter in model.parameters()):
        raise TypeError(
            f"model is a {name} of which this process holds only a part (FSDP or ZeRO-3). Gather and save it, and"
            " verify the folder."
        )


def _in_part(parameter: Any) -> bool:
    """Whether a parameter is one rank's share: of ZeRO-3, or flattened by FSDP."""
    return hasattr(parameter, "ds_id") or type(parameter).__name__ == "FlatParameter"


def _ties(model: Any, tensors: Mapping[str, Any]) -> Iterator[str]:
    """The names that share their memory with another one, which alone is written."""
    sources = {*(getattr(model, "all_tied_weights_keys", None) or {}).values()}
    groups: dict[object, list[str]] = {}
    for name, tensor in tensors.items():
        groups.setdefault(_memory(tensor), []).append(name)
    for names in groups.values():
        kept = next((name for name in names if name in sources), names[0])
        yield from (name for name in names if name != kept)


def _memory(tensor: Any) -> object:
    """A key that is equal for tensors with the same elements in the same memory."""
    pointer: Callable[[], int] | None = getattr(tensor, "data_ptr", None)
    if pointer is None or getattr(tensor, "is_meta", True) or not tensor.numel():
        return id(tensor)
    return pointer(), str(tensor.device), tuple(tensor.shape), tuple(tensor.stride()), str(tensor.dtype)


def _alike(tensor: Any, other: Any) -> bool | None:
    """Whether two tensors hold the same values; None where that cannot be told, as of those without data."""
    if getattr(tensor, "is_meta", True) or getattr(other, "is_meta", True) or tensor.device != other.device:
        return None
    return bool(tensor.equal(other))
