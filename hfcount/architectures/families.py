"""Finds the family of a config, reads the config into a Spec, and builds the tree of tensors."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from hfcount.architectures.family import Family
from hfcount.architectures.registry import (
    all_types,
    described,
    everyone,
    file,
    find,
    here,
    of_class,
    owner,
    predicts,
    together,
    unknown,
    variant,
)
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.classes import classes
from hfcount.mapper.unknown_types import by_timm, own_code, untyped
from hfcount.spec import Lacking, Spec
from hfcount.spec.tree.nodes import Block
from hfcount.text import printable

__all__ = [
    "Conversions",
    "Family",
    "all_types",
    "around",
    "backbone",
    "base",
    "conversions",
    "convolutional",
    "described",
    "everyone",
    "file",
    "find",
    "here",
    "of_class",
    "of_speculators",
    "owner",
    "part",
    "predicts",
    "read",
    "replaces_placeholders",
    "together",
    "tower",
    "tree",
    "unknown",
]


def read(c: Config, known_as: str = "") -> Spec:
    """The Spec of a config or of one of its parts; `known_as` overrides its model_type.

    Raises:
        UnknownArchitecture: no family has the config's model_type, or it has none.
        ConfigError: the config lacks a key or contradicts itself.
    """
    model_type = known_as or c.str("model_type", default="") or of_class(_first_class(c))
    model_type = _retyped(c, model_type) if model_type else _type_by_library(c)
    if not model_type:
        raise UnknownArchitecture(f"{c.where}: {untyped(c)}")
    c.kind = c.kind or model_type
    family, first = find(model_type), _first_class(c)
    if family is None:
        if not (c.nested or known_as) and (by_class := _by_class(c, first)):
            return by_class
        raise UnknownArchitecture(f"{c.where}: {unknown(model_type)}{own_code(c)}")
    fixed = c.nested or known_as or family.package
    named = first in ("", *classes(model_type)) or described(first, model_type)
    if not (fixed or named) and (other := variant(first)):
        return read(c, other)
    c.family, c.ignored = model_type, family.ignored
    spec = family.spec(c)
    trained = c.trained_activations()
    return spec.replace(kind=str(c.kind), trained=trained) if trained or spec.trained else spec


def _by_class(c: Config, name: str) -> Spec | None:
    """The Spec of an unknown type by its class, by which engines choose; None if its config is not of that class."""
    other = variant(name)
    try:
        return read(c, other) if other else None
    except ConfigError:
        return None


def _type_by_library(c: Config) -> str:
    """The type of a config without model_type, by the keys of the library that wrote it; empty if none matches."""
    return "timm" if by_timm(c) else class_of_diffusers(c) or of_speculators(c)


def _retyped(c: Config, model_type: str) -> str:
    """The model_type, or another if the config's keys show that other code wrote it: see RETYPED."""
    family = None if c.nested else find(model_type)
    if family is None:  # a class of diffusers may have a model_type among its arguments
        return model_type if c.nested else class_of_diffusers(c) or _later_class(c, model_type)
    if model_type not in family.retyped:
        return model_type
    key, value, other = family.retyped[model_type]
    return other if (c.given(key) if value is None else c.value(key) == value) else model_type


def class_of_diffusers(c: Config) -> str:
    """The class of diffusers in `_class_name`, which serves as model_type; empty if no family describes it."""
    name = c.value("_class_name")
    later = _later_class(c, name) if isinstance(name, str) else ""
    return later if find(later) else ""


def _later_class(c: Config, name: str) -> str:
    """The class of diffusers that an earlier one is loaded as, by its norms; any other name as it is."""
    later = _LATER_CLASSES.get(name)
    norm = c.value("norm_type") if later else None
    return later.get(norm, name) if later and isinstance(norm, str) else name


# _CLASS_REMAPPING_DICT in model_loading_utils.py of diffusers 0.42.1.
_LATER_CLASSES: Mapping[str, Mapping[str, str]] = {
    "Transformer2DModel": {"ada_norm_zero": "DiTTransformer2DModel", "ada_norm_single": "PixArtTransformer2DModel"}
}


def of_speculators(c: Config) -> str:
    """The type of a config of the library speculators, which writes no model_type; empty for other configs."""
    kind = c.value("speculators_model_type")
    return f"speculators_{kind}" if isinstance(kind, str) else ""


def _first_class(c: Config) -> str:
    """The first class that a config names; what a nested one says there is read by nobody, and may be anything."""
    given = c.value("architectures")
    if c.nested and not (isinstance(given, list) and all(isinstance(name, str) for name in given)):
        c.without_effect("architectures")
        return ""
    return next(iter(c.strs("architectures")), "")


def part(c: Config, name: str, always: str = "") -> Spec:
    """The Spec of a part, a tower or a language model, whose model_type has its own family.

    Args:
        name: the key of the part, such as `vision_config`.
        always: the model_type to use, regardless of the part's own and of transformers' class of `c`.

    Raises:
        UnknownArchitecture: no family describes it.
        ConfigError: it lacks a key or contradicts itself.
    """
    inner = c.part(name)
    inner.str("model_type", default="")  # it may be overruled
    spec = read(inner, always or inner.kind)
    if spec.vocab and name in ("vision_config", "audio_config"):
        raise UnknownArchitecture(f"{c.where}: {name}: {spec.family} is a language model, and no tower.")
    return spec


def backbone(c: Config, name: str = "backbone_config", always: str = "") -> Spec:
    """The Spec of a part that outputs features of several of its layers, as transformers' AutoBackbone builds it.

    Raises:
        UnknownArchitecture: no family describes it as a backbone.
        ConfigError: it lacks a key or contradicts itself.
    """
    spec = part(c, name, always)
    if spec.family not in _BACKBONES:
        raise UnknownArchitecture(f"{c.where}: {name}: {printable(spec.family, 60)} is no backbone.")
    return spec.replace(head="backbone")


def convolutional(c: Config, places: tuple[int, ...] = (1, 2, 3, 4), usual: str = "resnet50") -> Spec:
    """The backbone of a detector, by default a model of timm.

    Args:
        places: numbers of the features that timm's model outputs.
        usual: the name of timm's model if the config names none.
    """
    if c.given("backbone_config"):
        return backbone(c)
    if not c.bool("use_timm_backbone", default=True):
        if c.given("backbone"):
            problem = "backbone names a model elsewhere, whose config is not here, and use_timm_backbone is false."
            raise UnknownArchitecture(f"{c.where}: {problem}")
        return backbone(c)
    further = c.object("backbone_kwargs") or {}
    inner = c.part(
        "backbone_config",
        defaults={
            "backbone": c.str("backbone", default=usual),
            "num_channels": further.get("num_channels", int(c.int("num_channels", default=3))),
            "out_indices": further.get("out_indices", list(places)),
        },
    )
    inner.kind = "timm_backbone"
    return read(inner, "timm_backbone").replace(head="backbone")


_BACKBONES = frozenset(
    """
    beit bit convnext convnextv2 dinat dinov2 dinov2_with_registers dinov3_convnext dinov3_vit focalnet hgnet_v2 hiera
    lw_detr_vit maskformer-swin pixio pp_lcnet pvt_v2 resnet rf_detr_dinov2 rt_detr_resnet swin swinv2 textnet
    timm_backbone tipsv2_vision_model vitdet vitpose_backbone
    """.split()
)
"""The types that transformers builds as backbones."""


def tree(s: Spec) -> Block:
    """The tree of a model, or of a part whose tensors keep their own components.

    Raises:
        UnknownArchitecture: the type of a part lacks sizes or modules that the family needs.
    """
    family = find(s.family)
    assert family is not None, f"{s.family} was read by no family"
    try:
        described = family.blueprint(s) if s.head != "mtp" else _predictors(family, s)
    except (Lacking, LookupError) as error:  # a part lacks sizes, a part or a module
        if not s.parts:
            raise
        parts = ", ".join(f"{name} of type {printable(part.family, 60)}" for name, part in s.parts.items())
        raise UnknownArchitecture(f"{s.family} is not described with such parts: {parts}.") from error
    if not s.trained:
        return described
    from hfcount.architectures.activations import with_activations  # few models have such

    return with_activations(described, s)


def _predictors(family: Family, s: Spec) -> Block:
    """The layers of a model that predict further tokens, without it."""
    from hfcount.architectures.layers.prediction import alone  # few configs name them

    return alone(family.blueprint(s.replace(head=next(iter(s.heads), "causal_lm"))))


def base(s: Spec) -> Block:
    """The tree of the language model within a model, without its head."""
    return tree(s.part("text").replace(head="base"))


def tower(s: Spec, name: Literal["vision", "audio"]) -> Block:
    """The tree of a tower: its tensors are counted as the component `name`, and text tokens skip it."""
    return tree(s.parts[name]).replace(component=name, repeats=0)


class Conversions(NamedTuple):
    """What the reference converts when it loads: SPELLINGS, WITHIN, MERGED, TRANSPOSED and ALLOTTED of its files."""

    spellings: Mapping[str, str]
    within: tuple[str, str] | None
    merged: Mapping[str, tuple[str, ...]]
    transposed: tuple[str, ...]
    allotted: tuple[tuple[str, ...], ...] = ()


def conversions(s: Spec) -> Conversions:
    """Conversions of the reference when it loads this model, with those of its parts."""
    family = find(s.family)
    assert family is not None, f"{s.family} was read by no family"
    spellings, within, merged, transposed = dict[str, str](), None, dict[str, tuple[str, ...]](), tuple[str, ...]()
    allotted: tuple[tuple[str, ...], ...] = ()
    if family.converted is None or s.family in family.converted:
        spellings = {**family.headed.get(s.head, {}), **family.spellings}
        within, merged, transposed = family.within.get(s.family), dict(family.merged), family.transposed
        allotted = family.allotted
    for part in s.parts.values():
        if part.family != s.family:
            inner = conversions(part)
            spellings |= {rule: name for rule, name in inner.spellings.items() if not rule.startswith("^")}
            merged, transposed = {**inner.merged, **merged}, transposed + inner.transposed
            allotted += inner.allotted
    return Conversions(spellings, within, merged, transposed, allotted)


def replaces_placeholders(s: Spec) -> bool:
    """Whether placeholder ids of images, videos and audio need no row of the embedding."""
    family = find(s.family)
    return family is not None and family.replaces_placeholders


def around(s: Spec) -> str | None:
    """Class and type of the multimodal model that a language model belongs to; None if there is none.

    The type is the model's own without `_text`, and the class is named alike.
    """
    stem = s.family.removesuffix("_text")
    if stem == s.family or here(stem) is None:
        return None
    known = s.architecture.replace("ForCausalLM", "ForConditionalGeneration") if s.architecture else ""
    return f"{known} (model_type {stem})" if known.endswith("ForConditionalGeneration") else f"model_type {stem}"
