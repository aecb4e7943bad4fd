"""Parses the names of a diffusion LoRA's tensors: the part of the pipeline, the module, and the half of the pair.

Source: diffusers 0.42.1, loaders/lora_base.py, loaders/lora_conversion_utils.py, utils/state_dict_utils.py.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Half = Literal["A", "B", "bias", "magnitude", "alpha"]
"""What a tensor is to its module: the pair that is multiplied, or what goes with it."""

Naming = Literal["diffusers", "kohya", "original", "bare", "other"]
"""How names begin: with a part of the pipeline, as kohya's scripts write them, with the original repo's
`diffusion_model.`, with a module alone, or in several ways."""

_ENDS: tuple[tuple[str, Half], ...] = (
    (r"\.lora_A(?P<left>\.[\w-]+)?\.weight", "A"),
    (r"\.lora_B(?P<left>\.[\w-]+)?\.weight", "B"),
    (r"\.lora_B(?P<left>\.[\w-]+)?\.bias", "bias"),
    (r"(?:\.lora|_lora|\.lora_linear_layer)\.down\.weight", "A"),
    (r"(?:\.lora|_lora|\.lora_linear_layer)\.up\.weight", "B"),
    (r"\.lora_down\.weight", "A"),
    (r"\.lora_up\.weight", "B"),
    (r"\.lora_magnitude_vector(?P<left>\.[\w-]+)?(?:\.weight)?", "magnitude"),
    (r"\.dora_scale", "magnitude"),
    (r"\.alpha", "alpha"),
)
_PATTERNS = tuple((re.compile(f"(?P<path>.+?){end}"), half) for end, half in _ENDS)
_PARTS = re.compile(r"(unet|transformer(?:_2)?|text_encoder(?:_[23])?|prior|decoder|controlnet)\.")
_KOHYA = re.compile(r"lora_(unet|te[123]?|transformer)_")
_KOHYA_PARTS = {"te": "text_encoder", "te1": "text_encoder", "te2": "text_encoder_2", "te3": "text_encoder_3"}
_ORIGINAL = re.compile(r"(?:model\.)?diffusion_model\.")
_OTHER_METHODS = re.compile(r"\.(hada_\w+|lokr_\w+|oft_\w+|boft_\w+|ia3_\w+|diff(_b)?)$")
_OF_TEXT = {"to_q": "q_proj", "to_k": "k_proj", "to_v": "v_proj", "to_out": "out_proj"}
LORA = re.compile(r"\.lora_(?:A|B|down|up)\.|\.lora\.(?:down|up)\.|_lora\.(?:down|up)\.|\.lora_linear_layer\.")


@dataclass(frozen=True, slots=True)
class LoraTensor:
    """A tensor of a LoRA.

    Args:
        name: as it is stored.
        part: of the pipeline; empty if the name does not say it.
        path: of the module in the part; of kohya's names with `_` for each dot.
        left: the adapter's own name, which was left in it; empty if none was.
    """

    name: str
    part: str
    path: str
    half: Half
    left: str = ""


@dataclass(frozen=True, slots=True)
class LoraNames:
    """The tensors of a LoRA, how they are named, and those that are of no pair."""

    naming: Naming
    tensors: tuple[LoraTensor, ...]
    unread: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names as they are stored."""
        return (*(tensor.name for tensor in self.tensors), *self.unread)

    @property
    def has_other_methods(self) -> bool:
        """Whether it has tensors of LoHa, LoKr and the like."""
        return any(_OTHER_METHODS.search(name) for name in self.unread)


def is_lora(names: Iterable[str]) -> bool:
    """Whether tensors of these names are a LoRA's, or one of its relatives by kohya's names."""
    return any(LORA.search(name) or (_KOHYA.match(name) and _OTHER_METHODS.search(name)) for name in names)


def read_lora_names(names: Iterable[str]) -> LoraNames:
    """The names of a LoRA."""
    listed = list(names)
    naming = _naming(listed)
    tensors, unread = [], []
    for name in listed:
        tensor = _tensor(name, naming)
        if tensor is None:
            unread.append(name)
        else:
            tensors.append(tensor)
    return LoraNames(naming, tuple(tensors), tuple(unread))


def _naming(names: list[str]) -> Naming:
    ways: tuple[tuple[re.Pattern[str], Naming], ...] = (
        (_PARTS, "diffusers"),
        (_KOHYA, "kohya"),
        (_ORIGINAL, "original"),
    )
    kinds: set[Naming] = {next((naming for start, naming in ways if start.match(name)), "bare") for name in names}
    return kinds.pop() if len(kinds) == 1 else "other"


def _tensor(name: str, naming: Naming) -> LoraTensor | None:
    for pattern, half in _PATTERNS:
        if match := pattern.fullmatch(name):
            part, path = _placed(match["path"], naming)
            return LoraTensor(name, part, path, half, (match.groupdict().get("left") or "").removeprefix("."))
    return None


def _placed(path: str, naming: Naming) -> tuple[str, str]:
    """The part and the module of a path."""
    if naming == "kohya" and (match := _KOHYA.match(path)):
        return _KOHYA_PARTS.get(match[1], ""), path[match.end() :]
    if naming == "original" and (match := _ORIGINAL.match(path)):
        return "", path[match.end() :]
    if naming in ("diffusers", "other") and (match := _PARTS.match(path)):
        return match[1], _modern(path[match.end() :], match[1])
    return "", path


def _modern(path: str, part: str) -> str:
    """The path of a module whose names are of earlier versions of diffusers."""
    path = path.replace(".processor.", ".")
    before, _, last = path.rpartition(".")
    names = _OF_TEXT if part.startswith("text_encoder") else {"to_out": "to_out.0"}
    return f"{before}.{names.get(last, last)}" if before else path
