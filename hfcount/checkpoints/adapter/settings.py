"""adapter_config.json of PEFT: the method of an adapter, what it adapts, and its sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.json import Document, parse_object
from hfcount.text import shown

ADAPTER_CONFIG = "adapter_config.json"

MLX_METHODS = {"lora": "LoRA of mlx-lm", "dora": "DoRA of mlx-lm", "full": "finetune of mlx-lm"}
"""What reports call the methods of mlx-lm, by its `fine_tune_type`."""

_OF_LORA = ("target_parameters", "trainable_token_indices", "ensure_weight_tying")
_OF_LAYERS = ("layers_to_transform", "layers_pattern")
_OF_RANKS = (*_OF_LORA, "rank_pattern")
_IGNORED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("BOFT", "HRA", "OFT", "VBLORA", "FOURIERFT", "MISS"), _OF_RANKS),
    **dict.fromkeys(("VERA", "C3A"), (*_OF_RANKS, "exclude_modules")),
    **dict.fromkeys(("IA3", "LN_TUNING"), (*_OF_RANKS, *_OF_LAYERS, "bias")),
    **dict.fromkeys(("LOHA", "LOKR"), (*_OF_LORA, "bias")),
    "HIRA": (*_OF_LORA, "bias"),
    "DELORA": _OF_LORA,
    "ROAD": (*_OF_RANKS, *_OF_LAYERS, "exclude_modules", "bias"),
    "TRAINABLE_TOKENS": (*_OF_RANKS, *_OF_LAYERS, "exclude_modules", "bias", "modules_to_save"),
}
"""Settings of other methods, which a method's own config class does not have, so that PEFT leaves them out.

Source: peft 0.21.2, tuners/*/config.py; config.py (`from_peft_type`) warns of others.
"""

_KEYS_OR_NAMES = ("exclude_modules", "feedforward_modules", "modules_to_save", "target_parameters")
"""Names that PEFT only runs through, so that those of an object are its keys."""

_ANY_NAME = ("exclude_modules", "target_parameters")
"""Names that PEFT compares with the ends of paths as they are written, whatever they are."""

_EMPTY_IS_NONE = ("exclude_modules", "layers_pattern", "modules_to_save", "target_parameters")
"""Names of which PEFT asks only whether there are any: 0, "" and {} are as null to it."""

Names = tuple[str, ...] | str | None
"""Names of modules; one text is a regular expression, or `all-linear`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of adapter_config.json.

    Args:
        method: `peft_type` in capitals, such as LORA.
        base: the name or path of the base model.
        task: `task_type`, such as CAUSAL_LM.
        targets, exclude: the modules to adapt, and those to leave out.
        layers: the layers whose modules are adapted; None for all.
        layers_patterns: what stands before the number of a layer.
        parameters: parameters to adapt that are no module's weight, such as those of experts.
        saved: modules that are stored whole.
        ranks: the rank by the end of a module's path or a regular expression for it.
        values: the whole object.
    """

    where: str
    method: str
    base: str | None
    task: str | None
    targets: Names
    exclude: Names
    layers: frozenset[int] | None
    layers_patterns: tuple[str, ...]
    parameters: tuple[str, ...]
    saved: tuple[str, ...]
    ranks: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def is_of_mlx(self) -> bool:
        """Whether mlx-lm has trained it, and not PEFT."""
        return self.method in MLX_METHODS.values()

    def number(self, key: str, default: int, least: int = 1) -> int:
        """A whole number, which true and false are to Python; raises DocumentError for another value."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, int) or value < least:
            raise _wrong(self.where, key, value, f"a whole number of at least {least}")
        return int(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """Whether a setting is on: PEFT asks no more of a value than whether Python takes it for true."""
        return bool(self.values.get(key, default))

    def text(self, key: str, default: str) -> str:
        """A text; raises DocumentError for another value."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise _wrong(self.where, key, value, "a text")
        return value or default

    def names(self, key: str) -> Names:
        """Names of modules, or a regular expression; raises DocumentError for another value."""
        return _names(self.where, key, self.values.get(key))


def read_settings(document: Document) -> Settings:
    """The settings of an adapter.

    Raises:
        DocumentError: HF001, it is no object of settings.
    """
    where, values = document.where, parse_object(document)
    values = {key: _run_through(key, value) for key, value in values.items() if value or key not in _EMPTY_IS_NONE}
    method = values.get("peft_type", _method_of_mlx(values))
    if not isinstance(method, str) or not method:
        raise _wrong(where, "peft_type", method, "the name of a method, such as LORA")
    base, task = values.get("base_model_name_or_path"), values.get("task_type")
    if method in MLX_METHODS.values():
        base = values.get("model")
    method = method if method in MLX_METHODS.values() else method.upper()
    values = {key: value for key, value in values.items() if key not in _IGNORED.get(method, ())}
    pattern = None if values.get("layers_to_transform") is None else values.get("layers_pattern")  # read with it alone
    return Settings(
        where=where,
        method=method,
        base=base if isinstance(base, str) and base else None,
        task=task if isinstance(task, str) else None,
        targets=_names(where, "target_modules", values.get("target_modules")),
        exclude=_names(where, "exclude_modules", values.get("exclude_modules")),
        layers=_layers(where, values.get("layers_to_transform")),
        layers_patterns=_listed(where, "layers_pattern", pattern),
        parameters=_listed(where, "target_parameters", values.get("target_parameters")),
        saved=_listed(where, "modules_to_save", values.get("modules_to_save")),
        # HiRA has rank_pattern, and takes r all the same: tuners/hira/layer.py, dispatch
        ranks={} if method == "HIRA" else _ranks(where, values.get("rank_pattern")),
        values=values,
    )


def _run_through(key: str, value: Any) -> Any:
    """A setting as PEFT has it that runs through its names."""
    if key in _KEYS_OR_NAMES and isinstance(value, dict):
        value = tuple(value)  # which PEFT takes for no set of names
    if (
        key in _ANY_NAME
        and isinstance(value, list | tuple)
        and not any(isinstance(name, list | dict) for name in value)
    ):
        value = [str(name) for name in value]
    return value


def _method_of_mlx(values: Mapping[str, Any]) -> str | None:
    """The method of an adapter of mlx-lm; None if the settings are not its."""
    if "lora_parameters" not in values and "fine_tune_type" not in values:
        return None
    return MLX_METHODS.get(str(values.get("fine_tune_type", "lora")))


def _wrong(where: str, key: str, value: Any, wanted: str) -> DocumentError:
    return DocumentError(f"{where}: {key} is {shown(value)}, but must be {wanted}.")


def _names(where: str, key: str, value: Any) -> Names:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise _wrong(where, key, value, "a list of names or a regular expression")
    return tuple(value)


def _listed(where: str, key: str, value: Any) -> tuple[str, ...]:
    names = _names(where, key, value)
    return (names,) if isinstance(names, str) and names else tuple(names or ())


def _layers(where: str, value: Any) -> frozenset[int] | None:
    numbers = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
        raise _wrong(where, "layers_to_transform", value, "a number or a list of numbers")
    return frozenset(numbers) or None


def _ranks(where: str, value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise _wrong(where, "rank_pattern", value, "an object of ranks by module")
    return value or {}
