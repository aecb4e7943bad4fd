"""The architectures: a file each, with the parts of a model that its implementation builds nowhere else.

A file has `MODEL_TYPES`, `spec(c)` (keys to meaning) and `blueprint(s)` (meaning to names). What the
architecture alone has is a class of `Sizes` in the same file, which both name: `Spec[Tandem]`. A file may use the
blueprint of one other file, its parent: `from hfcount.architectures.models.llama import blueprint as blueprint`, and
the classes of sizes of those that are its parts. Optionally it has

- `IGNORED`: further keys that do not affect shapes, beyond those in hfcount/mapper/keys_without_shape.py,
- `CLASSES`: class names that transformers does not have, if configs of these classes have another architecture's
  model_type, or if they are not named after their own,
- `SPELLINGS`: other names that the reference takes when it loads, as regular expressions and their replacements. Names
  are one tensor's if the rules, each applied once and in turn, make the same name of them. A model around this one
  takes them too, but for those with `^`, which are of the whole name;
- `HEADED`: by head, SPELLINGS that only classes with it take, before the others;
- `WITHIN`: by model_type, the beginning of the names that the model has within a multimodal one, and what the reference
  puts in its place when it loads the model alone;
- `MERGED`: layouts that the reference converts: the end of the name of one tensor, and those of the tensors that may be
  stored in its place, or it in theirs: joined along their first dimension, and stacked where there is a `*`;
- `CONVERTED`: the types that these are for, if they are not for all;
- `TRANSPOSED`: ends of the names of tensors that it takes with their last two dimensions swapped;
- `REPLACES_PLACEHOLDERS`: whether the reference puts another id in the place of an image's, video's or audio's before
  it looks up the embedding, which then needs no row for it.

A part whose type is its own, such as a text or vision model, is described in the file of the whole if both come from
one implementation and no other model uses it. Its functions are named after it (`text_spec`, `text_blueprint`), the
docstring of its spec() says what it is, and `PARTS`, at the end of the file, has a `Family` for each: its types, both
functions and, as keywords in small letters, what is optional above. A part that several models share has a file.

The comment on MODEL_TYPES cites the implementation that the names come from; the configuration file beside it says what
absent keys mean. A file is named after one of its model_types. A type is looked for in the file of its name,
then in those whose name it begins with, and then by scanning all.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from hfcount.architectures.registry import (
    Family,
    all_types,
    described,
    everyone,
    file,
    find,
    of_class,
    together,
    unknown,
    variant,
)
from hfcount.errors import UnknownArchitecture
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
    "of_class",
    "of_speculators",
    "part",
    "read",
    "replaces_placeholders",
    "together",
    "tower",
    "tree",
    "unknown",
]


def read(c: Config, known_as: str = "") -> Spec:
    """The Spec of a config, or of one of its parts; `known_as` overrides its model_type.

    Raises:
        UnknownArchitecture: no family has the config's model_type, or it has none.
        ConfigError: the config lacks a key or contradicts itself.
    """
    model_type = known_as or c.str("model_type", default="") or of_class(next(iter(c.strs("architectures")), ""))
    model_type = _told_by_keys(c, model_type)
    if not model_type:
        raise UnknownArchitecture(f"{c.where}: {untyped(c)}")
    c.kind = c.kind or model_type
    family = find(model_type)
    if family is None:
        raise UnknownArchitecture(f"{c.where}: {unknown(model_type)}{own_code(c)}")
    first = next(iter(c.strs("architectures")), "")
    if not (c.nested or known_as or first in ("", *classes(model_type)) or described(first, model_type)) and (
        other := variant(first)
    ):
        return read(c, other)
    c.family, c.ignored = model_type, family.ignored
    return family.spec(c)


def _told_by_keys(c: Config, model_type: str) -> str:
    """The model_type of a config that names none or, of some, that of another model which its keys tell."""
    if not model_type:
        return "timm" if by_timm(c) else class_of_diffusers(c) or of_speculators(c)
    if c.nested:
        return model_type
    if c.given("_class_name") and find(model_type) is None:
        return class_of_diffusers(c) or model_type  # a class of diffusers may have a model_type among its arguments
    if model_type == "llama" and c.given("draft_vocab_size"):
        return "llama_eagle3"  # as the code of EAGLE writes it, under the target's class
    if model_type == "xlm-roberta" and c.value("position_embedding_type") == "rotary":
        return "jina_xlm_roberta"
    if model_type == "bert" and c.given("alibi_starting_size"):
        return "mosaic_bert"
    return model_type


def class_of_diffusers(c: Config) -> str:
    """The class that a config of diffusers is of, which stands for its model_type; empty if no family describes it."""
    name = c.value("_class_name")
    return name if isinstance(name, str) and find(name) else ""


def of_speculators(c: Config) -> str:
    """What stands for the model_type of a config of speculators, which has none; empty for others."""
    kind = c.value("speculators_model_type")
    return f"speculators_{kind}" if isinstance(kind, str) else ""


def part(c: Config, name: str, always: str = "") -> Spec:
    """The Spec of a part, a tower or a language model, whose model_type has a family of its own.

    Args:
        name: the key of the part, such as `vision_config`.
        always: the model_type to use, whatever the part and transformers' class of `c` say.

    Raises:
        UnknownArchitecture: no family describes it.
        ConfigError: it lacks a key or contradicts itself.
    """
    inner = c.part(name)
    inner.str("model_type", default="")  # it may be overruled
    found = read(inner, always or inner.kind)
    if found.vocab and name in ("vision_config", "audio_config"):
        raise UnknownArchitecture(f"{c.where}: {name}: {found.family} is a language model, and no tower.")
    return found


def backbone(c: Config, name: str = "backbone_config", always: str = "") -> Spec:
    """The Spec of a part that gives features of several of its layers, as transformers' AutoBackbone builds it.

    Raises:
        UnknownArchitecture: no family describes it as a backbone.
        ConfigError: it lacks a key or contradicts itself.
    """
    found = part(c, name, always)
    if found.family not in _BACKBONES:
        raise UnknownArchitecture(f"{c.where}: {name}: {printable(found.family, 60)} is no backbone.")
    return found.replace(head="backbone")


def convolutional(c: Config, places: tuple[int, ...] = (1, 2, 3, 4), usual: str = "resnet50") -> Spec:
    """The backbone of a detector that is a model of timm by default, `usual` or another by name.

    `places` are the numbers of the features that timm's model gives.
    """
    if c.given("backbone_config"):
        return backbone(c)
    if not c.bool("use_timm_backbone", default=True):
        if c.given("backbone"):
            said = "backbone names a model elsewhere, whose config is not here, and use_timm_backbone is false."
            raise UnknownArchitecture(f"{c.where}: {said}")
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
        UnknownArchitecture: a part is of a type that lacks what the family takes of it.
    """
    family = find(s.family)
    assert family is not None, f"{s.family} was read by no family"
    try:
        return family.blueprint(s)
    except (Lacking, LookupError) as error:  # sizes, a part or a module that the family takes of it
        if not s.parts:
            raise
        parts = ", ".join(f"{name} of type {printable(one.family, 60)}" for name, one in s.parts.items())
        raise UnknownArchitecture(f"{s.family} is not described with such parts: {parts}.") from error


def base(s: Spec) -> Block:
    """The tree of the language model within a model, without its head."""
    return tree(s.part("text").replace(head="base"))


def tower(s: Spec, name: Literal["vision", "audio"]) -> Block:
    """The tree of a tower: all its tensors are counted under it, and text tokens skip it."""
    return replace(tree(s.parts[name]), component=name, repeats=0)


class Conversions(NamedTuple):
    """What the reference converts when it loads a model: the SPELLINGS, WITHIN, MERGED and TRANSPOSED of its files."""

    spellings: Mapping[str, str]
    within: tuple[str, str] | None
    merged: Mapping[str, tuple[str, ...]]
    transposed: tuple[str, ...]


def conversions(s: Spec) -> Conversions:
    """What the reference converts when it loads this model."""
    family = find(s.family)
    assert family is not None, f"{s.family} was read by no family"
    spellings, within, merged, transposed = dict[str, str](), None, dict[str, tuple[str, ...]](), tuple[str, ...]()
    if family.converted is None or s.family in family.converted:
        spellings = {**family.headed.get(s.head, {}), **family.spellings}
        within, merged, transposed = family.within.get(s.family), dict(family.merged), family.transposed
    for one in s.parts.values():
        if one.family != s.family:
            inner = conversions(one)
            spellings |= {rule: name for rule, name in inner.spellings.items() if not rule.startswith("^")}
            merged, transposed = {**inner.merged, **merged}, transposed + inner.transposed
    return Conversions(spellings, within, merged, transposed)


def replaces_placeholders(s: Spec) -> bool:
    """Whether ids that stand for images, videos and audio need no row of the embedding."""
    family = find(s.family)
    return family is not None and family.replaces_placeholders


def around(s: Spec) -> str | None:
    """The class and type of the multimodal model that a language model is made for; None if there is none.

    The type has the model's own name without `_text`, and its class is named alike.
    """
    stem = s.family.removesuffix("_text")
    if stem == s.family or find(stem) is None:
        return None
    known = s.architecture.replace("ForCausalLM", "ForConditionalGeneration") if s.architecture else ""
    return f"{known} (model_type {stem})" if known.endswith("ForConditionalGeneration") else f"model_type {stem}"
