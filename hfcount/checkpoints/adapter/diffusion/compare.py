"""Compares a diffusion LoRA with the parts of a pipeline.

What diffusers does with names that differ was seen by loading LoRAs into small pipelines with diffusers 0.42.1.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hfcount.checkpoints.adapter.diffusion.flux import JOINED_ROWS, flux_paths
from hfcount.checkpoints.adapter.diffusion.names import Half, LoraNames, LoraTensor, Naming
from hfcount.checkpoints.adapter.diffusion.parts import BasePipeline
from hfcount.checkpoints.adapter.diffusion.sgm import diffusers_path, is_of_sgm
from hfcount.checkpoints.adapter.diffusion.wan import is_converted, kohya_names, wan_path
from hfcount.checkpoints.adapter.methods import Shape
from hfcount.checkpoints.adapter.modules import ModuleSet
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.folded_names import fold
from hfcount.verifier.loaders.labels import DIFFUSERS
from hfcount.verifier.rules.hf720_adapter_empty import AdapterEmpty
from hfcount.verifier.rules.hf734_lora_unmatched import LoraUnmatched
from hfcount.verifier.rules.hf735_lora_shape_differs import LoraShapeDiffers
from hfcount.verifier.rules.hf736_lora_half_missing import LoraHalfMissing
from hfcount.verifier.rules.hf737_lora_adapter_name_left import LoraAdapterNameLeft

_REFUSED = f"{DIFFUSERS} refuses to load it"
_WIDENED = f"{DIFFUSERS} refuses to load it, or widens the module, which then fails at the first step"
_DROPPED = f"{DIFFUSERS} leaves them out, with a warning"
_NOTHING = f"{DIFFUSERS} applies none of it and says that this is safe to ignore"
_PLAIN = ("StableDiffusion3", "StableDiffusion", "QwenImage", "Wan", "Flux")
"""How classes of pipelines begin that apply nothing where names begin with no part; seen by loading."""

_OF_OTHER_TRAINERS = (".lora_down.weight", "processor", "query_norm.scale")
"""Parts of names of Flux by which diffusers knows kohya's, XLabs' and Black Forest Labs' LoRAs."""
_FAL = "base_model.model.double_blocks.0.img_mod.lin.lora_A."
"""The first name that diffusers takes of fal's LoRAs of Flux, and refuses them without."""

_CLIP_LAYER = re.compile(r"text_model_encoder_layers_(\d+)_(\w+)")
_CLIP = {
    **{f"self_attn_{name}": f"self_attn.{name}" for name in ("q_proj", "k_proj", "v_proj", "out_proj")},
    **{f"mlp_{name}": f"mlp.{name}" for name in ("fc1", "fc2")},
}
_TEXT, _DORA = "text_model.", ".dora_scale"


class ModuleKey(NamedTuple):
    """A module that a LoRA adapts: its part and its path there; several that are adapted as one are joined by `+`."""

    part: str
    path: str


@dataclass(slots=True)
class LoraResult:
    """The result of comparing a LoRA.

    Args:
        unread: why it was not compared, or not whole; empty if it was.
        modules: how many modules it adapts.
        matched: how many of its tensors are of modules of the base.
    """

    findings: list[Finding] = field(default_factory=list)
    unread: str = ""
    modules: int = 0
    matched: int = 0


def compare_alone(names: LoraNames, stored: Mapping[str, Shape], file: str) -> LoraResult:
    """Compares the halves of pairs with each other, and looks for names of adapters."""
    result = LoraResult()
    pairs = _pairs(names, lambda tensor: ModuleKey(tensor.part, tensor.path))
    result.modules = len(pairs)
    empty = [name for name, shape in stored.items() if 0 in shape]
    if empty or not stored:
        every = len(empty) == len(stored)
        facts = _named([] if every else empty, file)
        result.findings.append(AdapterEmpty(stored=len(stored), **facts))
        return result
    result.findings += _halves(pairs, file)
    result.findings += _ranks(pairs, stored, file)
    left = [tensor for tensor in names.tensors if tensor.left]
    if left:
        facts = _named([tensor.name for tensor in left], file)
        result.findings.append(LoraAdapterNameLeft(left=left[0].left, **facts))
    return result


def compare_with(names: LoraNames, stored: Mapping[str, Shape], base: BasePipeline, file: str) -> LoraResult:
    """Compares a LoRA with the modules of a pipeline's parts."""
    result = compare_alone(names, stored, file)
    if any(isinstance(finding, AdapterEmpty) for finding in result.findings):
        return result
    problem, located = _located(names, base)
    if problem in (_NOTHING, _REFUSED):
        result.findings.append(LoraUnmatched(base=base.label, outcome=problem, **_named(list(stored), file)))
        return result
    if problem:
        result.unread = problem
        return result
    if names.unread:
        result.unread = _unread(names)
        return result
    result.findings += _against(names, stored, base, located, result, file)
    if _is_wan(base) and names.naming == "kohya" and (lacking := sorted(kohya_names(stored)[0] - stored.keys())):
        result.findings.append(LoraHalfMissing(outcome=_REFUSED, **_named(lacking, file)))
    return result


def _against(
    names: LoraNames,
    stored: Mapping[str, Shape],
    base: BasePipeline,
    located: "_Locate",
    result: LoraResult,
    file: str,
) -> Iterator[Finding]:
    """Tensors of another shape than their modules demand, and those of no module; counts the others."""
    unmatched, misfits = [], list[tuple[str, Shape, Shape]]()
    for tensor in names.tensors:
        part, path = located(tensor)
        if part in base.unknown:
            result.unread = f"{part} cannot be described: {base.unknown[part].rstrip('.')}"
            continue
        modules, shape = _modules(base, part, path), stored[tensor.name]
        if not modules:
            unmatched.append(tensor.name)
            continue
        result.matched += 1
        expected = _expected(tensor.half, modules, shape)
        if expected not in (None, shape) and not _is_control(base, path, tensor.half, expected, shape):
            misfits.append((tensor.name, expected or (), shape))
    if misfits:
        wide = _named([name for name, _, _ in misfits], file)
        _, first, observed = misfits[0]
        outcome = _WIDENED if base.kind.startswith("Flux") else _REFUSED
        yield LoraShapeDiffers(expected=first, observed=observed, outcome=outcome, **wide)
    if unmatched:
        outcome = _REFUSED if _refuses_strange(names, base) else _DROPPED if result.matched else _NOTHING
        yield LoraUnmatched(base=base.label, outcome=outcome, **_named(unmatched, file))
    scales = [tensor.name for tensor in names.tensors if tensor.name.endswith(_DORA)]
    if scales and base.denoiser == "unet":
        outcome = f"{DIFFUSERS} leaves out the scale of a DoRA and applies the rest as a plain LoRA"
        yield LoraUnmatched(base=base.label, outcome=outcome, **_named(scales, file))


def _refuses_strange(names: LoraNames, base: BasePipeline) -> bool:
    """Whether diffusers refuses the names of a LoRA that it does not convert."""
    if names.naming == "original":
        return _is_wan(base) and not all(_wan_module(tensor).path for tensor in names.tensors)
    if names.naming != "kohya":
        return False
    if _is_wan(base):
        paths = kohya_names(names.names)[1]
        return any(tensor.part or tensor.path not in paths for tensor in names.tensors)
    if base.kind.startswith("Flux"):
        return not all(tensor.part or flux_paths(tensor.path) for tensor in names.tensors)
    return base.kind.startswith("QwenImage")


def _is_flux(base: BasePipeline) -> bool:
    """Whether it is of Flux.1, whose LoRAs have their own names."""
    return base.kind.startswith("Flux") and not base.kind.startswith(("Flux2", "Flux3"))


def _is_wan(base: BasePipeline) -> bool:
    return base.kind.startswith("Wan")


def _is_control(base: BasePipeline, path: str, half: Half, expected: Shape | None, shape: Shape) -> bool:
    """Whether a LoRA for control widens what Flux reads, which diffusers does to the base too."""
    read = base.kind.startswith("Flux") and path == "x_embedder" and half == "A"
    return read and expected is not None and len(shape) == 2 and shape[1] == 2 * expected[1]


def _unread(names: LoraNames) -> str:
    what = "of another method, such as LoHa or LoKr," if names.has_other_methods else "of no pair"
    return f"tensors {what} were not compared, such as {printable(names.unread[0], 100)}"


_Locate = Callable[[LoraTensor], ModuleKey]


def _located(names: LoraNames, base: BasePipeline) -> tuple[str, _Locate]:
    """What tells the module of a tensor; or why it is not compared, or `_NOTHING`."""
    plain = base.kind.startswith(_PLAIN) and not base.kind.startswith("Flux2")
    part = base.denoiser
    if names.naming == "diffusers":
        return "", lambda tensor: ModuleKey(tensor.part, tensor.path)
    if names.naming == "kohya" and (part == "unet" or base.kind.startswith("QwenImage")):
        return "", _by_underscores(names, base)
    if _is_flux(base) or _is_wan(base):
        return _of_original(names, base)
    if base.kind.startswith("StableDiffusion3") or (names.naming == "original" and part == "unet" and plain):
        return _NOTHING, _nowhere
    if names.naming == "original" and base.kind.startswith(("QwenImage", "LTX")):
        return "", lambda tensor: ModuleKey(part, tensor.path)
    if names.naming == "bare" and plain and not base.kind.startswith("Flux"):
        return _NOTHING, _nowhere
    return _undescribed(names, base), _nowhere


def _of_original(names: LoraNames, base: BasePipeline) -> tuple[str, _Locate]:
    """What tells the modules of Flux and Wan by names that are not diffusers', as `_located` does."""
    if names.naming == "kohya" and _is_flux(base):
        return "", _of_flux
    if names.naming == "kohya":
        paths = kohya_names(names.names)[1]
        return "", lambda tensor: ModuleKey(base.denoiser, paths.get(tensor.path, "") if not tensor.part else "")
    if names.naming == "original" and _is_wan(base):
        return "" if is_converted({tensor.path for tensor in names.tensors}) else _REFUSED, _wan_module
    if names.naming in ("original", "bare") and _is_flux(base) and (problem := _of_plain_flux(names)):
        return problem, _nowhere
    if names.naming == "bare" and _is_wan(base):
        return _NOTHING, _nowhere
    return _undescribed(names, base), _nowhere


def _undescribed(names: LoraNames, base: BasePipeline) -> str:
    """That it is not known what diffusers makes of the names."""
    told: Mapping[Naming, str] = {
        "kohya": "kohya's names of its modules",
        "original": "the names of the original repo",
        "bare": "names without a part of the pipeline",
        "other": "names of several kinds",
        "diffusers": "",
    }
    kind = printable(base.kind, 60) or "that part alone"
    return f"it has {told[names.naming]}; hfcount does not know how diffusers reads them for {kind}"


def _of_plain_flux(names: LoraNames) -> str:
    """What diffusers does with a LoRA of Flux whose names begin with no part; empty where that is not described."""
    if any(mark in name for name in names.names for mark in _OF_OTHER_TRAINERS):
        return ""
    if not any("base_model" in name for name in names.names):
        return _NOTHING
    return "" if any(_FAL in name for name in names.names) else _REFUSED


def _wan_module(tensor: LoraTensor) -> ModuleKey:
    """Finds modules of Wan by the original repo's names; a scale of those outside blocks is not converted."""
    path = wan_path(tensor.path)
    return ModuleKey("transformer", "" if tensor.half == "alpha" and not path.startswith("blocks.") else path)


def _of_flux(tensor: LoraTensor) -> ModuleKey:
    """Finds modules of Flux, and of its text encoders, by kohya's names."""
    if not tensor.part:
        return ModuleKey("transformer", "+".join(flux_paths(tensor.path)) or tensor.path)
    match = _CLIP_LAYER.fullmatch(tensor.path)
    path = f"encoder.layers.{match[1]}.{_CLIP.get(match[2], match[2])}" if match else tensor.path
    return ModuleKey(tensor.part, path)


def _nowhere(tensor: LoraTensor) -> ModuleKey:
    return ModuleKey(tensor.part, tensor.path)


def _by_underscores(names: LoraNames, base: BasePipeline) -> _Locate:
    """Finds modules by kohya's names, which have `_` in place of dots."""
    known = {part.name: {path.replace(".", "_"): path for path in part.modules} for part in base.parts.values()}
    sgm = any(is_of_sgm(tensor.path) for tensor in names.tensors)
    unet = base.parts.get("unet")
    layers = unet.layers_per_block if unet else 0

    def located(tensor: LoraTensor) -> ModuleKey:
        part = tensor.part or base.denoiser
        path = diffusers_path(tensor.path, layers) if sgm and part == "unet" else tensor.path
        paths = known.get(part, {})
        return ModuleKey(part, paths.get(path) or paths.get(path.removeprefix("text_model_")) or path)

    return located


def _modules(base: BasePipeline, part: str, path: str) -> list[ModuleSet]:
    """The modules at a path; empty if one of them is not there, or cannot be adapted."""
    known = base.parts.get(part)
    if known is None:
        return []
    headless = not any(name.startswith(_TEXT) for name in known.modules)
    paths = (name.removeprefix(_TEXT) if headless else name for name in path.split("+"))
    modules = [known.modules.get(name) for name in paths]
    kinds = ("linear", "transposed", "conv", "embedding")
    return [module for module in modules if module and module.kind in kinds] if None not in modules else []


def _expected(half: Half, modules: list[ModuleSet], shape: Shape) -> Shape | None:
    """The shape of a tensor of modules with the rank that it has; None where any is taken."""
    kernel, outputs = modules[0].weight[2:], sum(module.outputs for module in modules)
    if half == "A":
        return (shape[0] if shape else 0, modules[0].inputs, *kernel)
    if half == "B":
        rows = JOINED_ROWS if len(modules) > 3 and shape[:1] == (outputs,) else outputs  # diffusers' own sizes
        return (rows, shape[1] if len(shape) > 1 else 0, *((1,) * len(kernel)))
    if half == "bias":
        return (outputs,)
    return None


_Pairs = Mapping[ModuleKey, Mapping[Half, LoraTensor]]


def _pairs(names: LoraNames, located: _Locate) -> _Pairs:
    pairs: dict[ModuleKey, dict[Half, LoraTensor]] = {}
    for tensor in names.tensors:
        pairs.setdefault(located(tensor), {})[tensor.half] = tensor
    return pairs


def _halves(pairs: _Pairs, file: str) -> Iterator[Finding]:
    """Halves without the other one, called by the names that they would have."""
    lacking = []
    for key, held in pairs.items():
        halves: tuple[tuple[Half, Half], ...] = (("A", "B"), ("B", "A"))
        for half, other in halves:
            if half in held and other not in held:
                lacking.append(_other_half(held[half].name))
        if "A" not in held and "B" not in held:
            lacking.append(f"{key.path} has neither half")
    if lacking:
        outcome = f"{DIFFUSERS} refuses the LoRA, or leaves those modules without data"
        yield LoraHalfMissing(outcome=outcome, **_named(lacking, file))


_SWAPS = (("lora_A", "lora_B"), ("lora_down", "lora_up"), (".down.", ".up."))


def _other_half(name: str) -> str:
    for first, second in _SWAPS:
        if first in name:
            return name.replace(first, second)
        if second in name:
            return name.replace(second, first)
    return name


def _ranks(pairs: _Pairs, stored: Mapping[str, Shape], file: str) -> Iterator[Finding]:
    """Pairs whose halves are of different ranks."""
    for held in pairs.values():
        if "A" not in held or "B" not in held:
            continue
        first, second = stored[held["A"].name], stored[held["B"].name]
        if first and len(second) > 1 and first[0] != second[1]:
            expected = (second[0], first[0], *second[2:])
            facts = _named([held["B"].name], file)
            yield LoraShapeDiffers(expected=expected, observed=second, outcome=_REFUSED, **facts)
            return


def _named(names: list[str], file: str) -> dict[str, Any]:
    return {"file": file, "tensors": tuple(fold(names)), "count": len(names)}
