"""Compares a diffusion LoRA with the parts of a pipeline.

What diffusers does with names that differ was seen by loading LoRAs into small pipelines with diffusers 0.42.1.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hfcount.checkpoints.adapter.diffusion.names import Half, LoraNames, LoraTensor, Naming
from hfcount.checkpoints.adapter.diffusion.parts import BasePipeline
from hfcount.checkpoints.adapter.diffusion.sgm import diffusers_path, is_of_sgm
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
_DROPPED = f"{DIFFUSERS} leaves them out, with a warning"
_NOTHING = f"{DIFFUSERS} applies nothing of it and says that this is safe to ignore"
_PLAIN = ("StableDiffusion3", "StableDiffusion", "QwenImage", "Wan", "Flux")
"""How classes of pipelines begin that apply nothing where names begin with no part; seen by loading."""

_TEXT, _DORA = "text_model.", ".dora_scale"


class ModuleKey(NamedTuple):
    """A module that a LoRA adapts: its part and its path there."""

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
    if problem == _NOTHING:
        result.findings.append(LoraUnmatched(base=base.label, outcome=_NOTHING, **_named(list(stored), file)))
        return result
    if problem:
        result.unread = problem
        return result
    if names.unread:
        result.unread = _unread(names)
        return result
    result.findings += _against(names, stored, base, located, result, file)
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
        module, shape = _module(base, part, path), stored[tensor.name]
        if module is None:
            unmatched.append(tensor.name)
            continue
        result.matched += 1
        expected = _expected(tensor.half, module, shape)
        if expected not in (None, shape):
            misfits.append((tensor.name, expected or (), shape))
    if misfits:
        wide = _named([name for name, _, _ in misfits], file)
        _, first, observed = misfits[0]
        yield LoraShapeDiffers(expected=first, observed=observed, outcome=_REFUSED, **wide)
    if unmatched:
        outcome = _DROPPED if result.matched else _NOTHING
        yield LoraUnmatched(base=base.label, outcome=outcome, **_named(unmatched, file))
    scales = [tensor.name for tensor in names.tensors if tensor.name.endswith(_DORA)]
    if scales and base.denoiser == "unet":
        outcome = f"{DIFFUSERS} leaves out what scales a DoRA, and applies the rest as a plain LoRA"
        yield LoraUnmatched(base=base.label, outcome=outcome, **_named(scales, file))


def _unread(names: LoraNames) -> str:
    what = "of another method, such as LoHa or LoKr," if names.has_other_methods else "of no pair"
    return f"tensors {what} are not compared, such as {printable(names.unread[0], 100)}"


_Locate = Callable[[LoraTensor], ModuleKey]


def _located(names: LoraNames, base: BasePipeline) -> tuple[str, _Locate]:
    """What tells the module of a tensor; or why it is not compared, or `_NOTHING`."""
    plain = base.kind.startswith(_PLAIN) and not base.kind.startswith("Flux2")
    part = base.denoiser
    if names.naming == "diffusers":
        return "", lambda tensor: ModuleKey(tensor.part, tensor.path)
    if names.naming == "kohya" and (part == "unet" or base.kind.startswith("QwenImage")):
        return "", _by_underscores(names, base)
    if base.kind.startswith("StableDiffusion3") or (names.naming == "original" and part == "unet" and plain):
        return _NOTHING, _nowhere
    if names.naming == "original" and base.kind.startswith(("QwenImage", "LTX")):
        return "", lambda tensor: ModuleKey(part, tensor.path)
    if names.naming == "bare" and plain and not base.kind.startswith("Flux"):
        return _NOTHING, _nowhere
    told: Mapping[Naming, str] = {
        "kohya": "kohya's names of its modules",
        "original": "the names of the original repo",
        "bare": "names without a part of the pipeline",
        "other": "names of several kinds",
        "diffusers": "",
    }
    kind = printable(base.kind, 60) or "that part alone"
    return f"it has {told[names.naming]}, and what diffusers makes of these for {kind} is not described", _nowhere


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


def _module(base: BasePipeline, part: str, path: str) -> ModuleSet | None:
    known = base.parts.get(part)
    if known is None:
        return None
    module = known.modules.get(path)
    if module is None and path.startswith(_TEXT) and not any(name.startswith(_TEXT) for name in known.modules):
        module = known.modules.get(path.removeprefix(_TEXT))
    return module if module is not None and module.kind in ("linear", "transposed", "conv", "embedding") else None


def _expected(half: Half, module: ModuleSet, shape: Shape) -> Shape | None:
    """The shape of a tensor of a module with the rank that it has; None where any is taken."""
    kernel = module.weight[2:]
    if half == "A":
        return (shape[0] if shape else 0, module.inputs, *kernel)
    if half == "B":
        return (module.outputs, shape[1] if len(shape) > 1 else 0, *((1,) * len(kernel)))
    if half == "bias":
        return (module.outputs,)
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
