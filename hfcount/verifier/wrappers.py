"""Training wrappers: how each changes the names of tensors, and the call that undoes it."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from hfcount.spec.tree.leaves import joined, split
from hfcount.spec.tree.name_patterns import Alike, filled


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One wrapper.

    Args:
        adds: a pattern for what it adds to a name.
        cure: the call that undoes it.
        stays: what stands for that in the name of the module's own.
        owns: a pattern for tensors of its own.
        beside: how the name of a tensor ends that stands beside each of these, in place of their last word.
        sure: whether nobody else uses such names.
        around: whether it only holds the module, so that its tensors are the module's own.
        adapts: whether it has tensors of its own beside each module, without which that computes something else.
    """

    name: str
    adds: str
    cure: str
    stays: str = ""
    owns: str = ""
    beside: str = ""
    sure: bool = True
    around: bool = True
    adapts: bool = False


_PEFT = "Call model.merge_and_unload() and save what it returns, or save the adapter alone."
_PRUNE = "Call torch.nn.utils.prune.remove on each module and save again."

WRAPPERS = (
    Wrapper("torch.compile", r"(^|\.)_orig_mod\.", "Save model._orig_mod instead of the compiled model.", r"\1"),
    Wrapper(
        "FSDP",
        r"(^|\.)(?:_fsdp_wrapped_module|_fpw_module)\.",
        "Save with StateDictType.FULL_STATE_DICT, which gathers each parameter under its own name.",
        r"\1",
        owns=r"(?:^|\.)_?flat_param(?:_\d+)?$",
    ),
    Wrapper(
        "activation checkpointing",
        r"(^|\.)_checkpoint_wrapped_module\.",
        "Save the model without checkpoint_wrapper, or remove _checkpoint_wrapped_module. from the names.",
        r"\1",
    ),
    Wrapper("Lightning Fabric", r"(^|\.)_forward_module\.", "Save the module inside the wrapper.", r"\1"),
    Wrapper("Opacus", r"^_module\.", "Save model._module instead of the GradSampleModule."),
    Wrapper(
        "DDP, DataParallel or DeepSpeed",
        r"^(?:module\.)+",
        "Save accelerator.unwrap_model(model), or model.module, instead of the wrapper.",
        sure=False,
    ),
    Wrapper("PEFT", r"(^|\.)base_model\.model\.", _PEFT, r"\1"),
    Wrapper(
        "PEFT",
        r"\.(?:base_layer|modules_to_save\.[^.]+)\.",
        _PEFT,
        ".",
        owns=r"\.(?:lora_[A-Za-z_]+|vera_lambda_[bd]|ia3_l|ranknum|hada_[wt][12](?:_[ab])?|lokr_\w+|oft_[RS]"
        r"|boft_[RS]|original_module|token_adapter|prompt_encoder)(?:\.|$)",
        adapts=True,
    ),
    Wrapper("TRL", r"^pretrained_model\.", "Save model.pretrained_model, without the value head.", owns=r"^v_head\."),
    Wrapper(
        "torch.nn.utils.parametrize",
        r"\.parametrizations\.(\w+)\.original$",
        "Call torch.nn.utils.parametrize.remove_parametrizations on each module and save again.",
        r".\1",
        around=False,
    ),
    Wrapper(
        "torch.nn.utils.prune", r"\.(\w+)_orig$", _PRUNE, r".\1", owns=r"\.\w+_mask$", beside="_orig", around=False
    ),
)

_AROUND = (
    "Rename them, or save the model itself; if the checkpoint is a larger model around it, name its class in"
    " architectures."
)

_ADDS = [(wrapper, re.compile(wrapper.adds)) for wrapper in WRAPPERS]
_OWNS = [(wrapper, re.compile(wrapper.owns)) for wrapper in WRAPPERS if wrapper.owns]
_ANY = re.compile("|".join(filter(None, (pattern for wrapper in WRAPPERS for pattern in (wrapper.adds, wrapper.owns)))))
_FLAT = re.compile(r"_?flat_param(?:_\d+)?$")

_TRIED = 8  # prefixes of a module around the model, the most frequent first
_FEWEST = 3  # tensors of such a module


@dataclass(slots=True)
class Wrapped:
    """The changes of training wrappers to names.

    Args:
        wrappers: what they are, the outermost first.
        outer: the prefix of another module around the model; "" if there is none.
        pairs: names with what was added, and the blueprint's names for them.
        added: names of tensors of the wrappers themselves.
        flat: prefixes of modules whose parameters are flattened into one tensor.
    """

    wrappers: list[Wrapper] = field(default_factory=list)
    outer: str = ""
    pairs: list[tuple[str, str]] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    flat: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The changes in words."""
        names = list(dict.fromkeys(wrapper.name for wrapper in self.wrappers))
        parts = [f"what {' and '.join(names)} {'add' if len(names) > 1 else 'adds'}"] if names else []
        if self.outer:
            stored, wanted = self.pairs[0]
            replaced = wanted[: -len(stored.removeprefix(self.outer))]
            parts.append(f"the prefix {self.outer}" + (f" instead of {replaced}" if replaced and not names else ""))
        return " and ".join(parts)

    @property
    def owner(self) -> str:
        """The wrapper that has tensors of its own."""
        return next((wrapper.name for wrapper, owns in _OWNS if any(map(owns.search, self.added))), "")

    @property
    def cure(self) -> str:
        """The calls that undo it."""
        return " ".join(dict.fromkeys(wrapper.cure for wrapper in self.wrappers)) or _AROUND

    @property
    def lost(self) -> bool:
        """Whether names tell of an adapter of which no tensor is stored."""
        return not self.added and any(wrapper.adapts for wrapper in self.wrappers)

    @property
    def sure(self) -> bool:
        """Whether nobody else uses such names."""
        return bool(self.added) or any(wrapper.sure for wrapper in self.wrappers)


def peel(names: Collection[str]) -> tuple[Wrapped, dict[str, str]]:
    """The changes of wrappers to these names, and the bare form of each changed name."""
    wrapped, bare, peeled, there = Wrapped(), dict[str, str](), Alike(_peeled), {*names}
    for name in names:
        ((text, marked), used, owner), numbers = peeled.of(name)
        if owner and owner.beside and f"{name.rpartition('_')[0]}{owner.beside}" not in there:
            owner = None
        rest = joined(text, filled(marked, numbers)) if used else name
        if owner is not None:
            wrapped.added.append(name)
            if _FLAT.search(rest):
                wrapped.flat += (_FLAT.sub("", rest),)
        elif used:
            bare[name] = rest
        wrapped.wrappers += [kind for kind in [*used, owner] if kind is not None and kind not in wrapped.wrappers]
    return wrapped, bare


def _peeled(name: str) -> tuple[tuple[tuple[str, ...], tuple[int, ...]], list[Wrapper], Wrapper | None]:
    """The name without what wrappers have added, split, the wrappers, and the one whose own tensor it is."""
    if not _ANY.search(name):
        return split(name), [], None
    owner = next((wrapper for wrapper, owns in _OWNS if owns.search(name)), None)
    used: list[Wrapper] = []
    while True:
        before = name
        for wrapper, adds in _ADDS:
            if (rest := adds.sub(wrapper.stays, name)) != name:
                name = rest
                used.append(wrapper)
        if name == before:
            return split(name), used, owner


def outer(names: Collection[str]) -> list[str]:
    """Prefixes, up to three segments long, that a module around the model may have given these names."""
    counts = Counter(
        ".".join(segments[:length]) + "."
        for segments in (name.split(".") for name in names)
        for length in range(1, min(4, len(segments) - 1))
    )
    return [prefix for prefix, count in counts.most_common(_TRIED) if count >= _FEWEST]
