"""Messages for configs of unsupported model types."""

import re
from collections.abc import Collection

from hfcount.mapper.class_defaults import diffusers_version, is_of_diffusers, knows, version, wholes
from hfcount.mapper.classes import HEAD, classes, known, plain, stem
from hfcount.mapper.reader import Config
from hfcount.text import printable

_LISTS = "`hfcount architectures` lists the known types."
_NEWER = "If the installed transformers has it, --derive-with transformers takes names and shapes from there."
_CTRANSLATE2 = (
    "a model that CTranslate2 converted, whose model.bin has its own format and is not read: name the model that it"
    " was converted from (see its card)"
)
_OTHERS = (
    (("suppress_ids", "lang_ids"), _CTRANSLATE2),
    (("add_source_bos", "decoder_start_token"), _CTRANSLATE2),
    (("bos_token", "eos_token", "unk_token", "layer_norm_epsilon"), _CTRANSLATE2),
    (
        ("speechbrain_interface",),
        "a model of SpeechBrain, whose hyperparams.yaml names code instead of sizes: only SpeechBrain can build it",
    ),
    (
        ("registered_name", "class_name", "config"),
        "a model of Keras, whose weights (.weights.h5) are not read: if it was ported, name the model that it was"
        " converted from (see its card)",
    ),
    (
        ("d_model", "n_layer", "ssm_cfg"),
        "the package mamba_ssm, which has its own keys: transformers reads Mamba in the form of its"
        " checkpoints ending in -hf, with model_type mamba or mamba2, and names such as backbone.embeddings.weight"
        " instead of backbone.embedding.weight",
    ),
    (("istftnet", "plbert"), "Kokoro, which is pickled, and which only the package kokoro can build"),
)
"""Keys that tell a config of another library, and whose it is."""
_NEAR = 0.8  # of two names: one letter of five, or two of ten


def unknown_type(model_type: str, types: Collection[str]) -> str:
    """The message for a model type that is not among the supported `types`."""
    from difflib import get_close_matches

    if is_of_diffusers(model_type):
        return (
            f"hfcount does not know {model_type}, a class of diffusers {diffusers_version()}: --derive-with diffusers"
            " takes names and shapes from there."
        )
    text = f"hfcount does not know model_type {printable(model_type, 60)}."
    if class_type := type_of_class(model_type, types) if HEAD.search(model_type[:200]) else "":
        return f"{text} It is the name of a class: set model_type to {class_type}."
    if re.fullmatch(r"[A-Z]\w*[a-z][A-Z]\w*", model_type):
        return f"{text} It looks like a class name, but no known model has that class. {_LISTS}"
    # A type that is several times as long as any other is near to none.
    name = model_type[:200].lower()
    versions = [known for known in sorted(types) if _letters(known) == _letters(name)]
    alike = get_close_matches(name, sorted(types), n=3, cutoff=_NEAR)
    near = list(dict.fromkeys([*alike, *get_close_matches(name, versions, n=3, cutoff=0)]))[:3]
    text += f" Nearest known: {', '.join(near)}." if near else f" {_LISTS}"
    return f"{text}{_by_transformers(model_type) or f' {_NEWER}'}"


def _letters(model_type: str) -> str:
    """A type without the numbers of its version."""
    return re.sub(r"[\W\d_]+", "", model_type)


def _by_transformers(model_type: str) -> str:
    """What transformers does with a type, as the end of a message; "" if it does not have it."""
    if not knows(model_type):
        return ""
    if classes(model_type):
        return f" transformers {version()} has it: --derive-with transformers takes names and shapes from there."
    of = " and of ".join(wholes(model_type)) or "other models"
    return f" transformers {version()} has it only as a part of {of}: name the config of the whole model."


def own_code(c: Config) -> str:
    """That the repo brings the code of its model, as the end of a message; "" if its config does not say so."""
    coded = c.value("auto_map")
    models = [value for name, value in coded.items() if name.startswith("AutoModel")] if isinstance(coded, dict) else []
    if not models:
        return ""
    return (
        f" Its code is in the repo: auto_map names {printable(str(models[0]), 100)}. hfcount never runs code of a"
        " repo: load the model with trust_remote_code to see whether it is complete."
    )


def untyped(c: Config) -> str:
    """The message for a config without a model_type or a known class."""
    other, named = c.value("_class_name"), c.value("architectures")
    if isinstance(other, str):
        return (
            f"this is the config of {printable(other, 60)}, a class of diffusers that hfcount does not know. {_LISTS}"
        )
    for keys, what in _OTHERS:
        if all(map(c.has, keys)):
            return f"this is the config of {what}."
    classes = (
        f", and hfcount does not know the class {printable(str(named[0]), 60)}"
        if isinstance(named, list) and named
        else ""
    )
    return (
        f"no model_type{classes or ' and no known class in architectures'}, so this is not a config that hfcount"
        f" can read. {_LISTS}"
    )


def type_of_class(name: str, types: Collection[str]) -> str:
    """The model_type, of `types`, that a class is named after, or else one that it is of; empty if there is none."""
    model = stem(name)
    if named := next((model_type for model_type in sorted(types) if plain(model_type) == model), ""):
        return named
    class_of_name = known(name)
    return next((model_type for model_type in class_of_name.types if model_type in types), "") if class_of_name else ""


_MARKS = ("pretrained_cfg", "num_features", "num_classes", "input_size")


def by_timm(c: Config) -> bool:
    """Whether timm wrote a config that has no model_type."""
    return isinstance(c.value("architecture"), str) and any(map(c.has, _MARKS))
