"""Finds values that versions of transformers refuse under keys that all of its config classes read alike.

Recorded by loading models of several types with each value, with 4.57.1, 5.23.0 and 5.24.0. What they refuse is in
configuration_utils.py (PreTrainedConfig), in post_init and _check_and_adjust_* of modeling_utils.py, and in
AutoConfig.from_pretrained.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from hfcount.mapper.accepted_values import shared
from hfcount.mapper.refusals import is_attention
from hfcount.text import is_whole_number, shown
from hfcount.verifier.loaders.config_values import with_experts, with_pruning

_PLANS = ("base_model_tp_plan", "base_model_pp_plan", "base_model_ep_plan")
_PLANS_OF_5 = (*_PLANS, "base_model_fsdp_plan")
_ATTENTION = ("attn_implementation", "_attn_implementation")
_EXPERTS = ("experts_implementation", "_experts_implementation")
_GROUPED = "grouped_mm"
_PROBLEMS = ("regression", "single_label_classification", "multi_label_classification")
_LISTS = (str, list, dict)

COMMON_KEYS = frozenset(
    {
        *_PLANS_OF_5,
        *_ATTENTION,
        *_EXPERTS,
        "_attn_implementation_internal",
        "attribute_map",
        "auto_map",
        "label2id",
        "problem_type",
        "pruned_heads",
        "self",
    }
)
"""The keys that are looked at; a config with none of them is refused for none of them."""

Problem = tuple[str, str]
"""A key, and why it is refused."""


def problems(
    version: str, values: Mapping[str, Any], usual: Iterable[str], is_whole: bool, kind: str = ""
) -> Iterator[Problem]:
    """The keys by which a version refuses a config, and why.

    Args:
        usual: the keys that its class declares.
        kind: its model_type; empty if that is not known.
        is_whole: whether it is the config of a model, and not one nested in it.
    """
    older = version.startswith("4.")
    if "self" in values:
        yield "self", "its class is built with that name itself"
    yield from _plans(values, older)
    yield from _mapped(values, {*usual, *values})
    if older:
        yield from _of_version_4(values)
        yield from _pruned(version, values, kind) if kind else ()
    if is_whole:
        yield from _code(values)
        yield from () if older else _implementations(values)
        yield from () if older or not kind else _grouped(version, values, kind)


def _plans(values: Mapping[str, Any], older: bool) -> Iterator[Problem]:
    """Plans that share a model among devices: copied by version 4, merged by version 5."""
    for name in _PLANS if older else _PLANS_OF_5:
        value = values.get(name)
        if isinstance(value, str | int | float) and (value or older):
            yield name, f"it is {shown(value)}, but must be an object"


def _mapped(values: Mapping[str, Any], known: Collection[str]) -> Iterator[Problem]:
    """Other names of keys, in the place of those that the class has: what they lead to has to be there."""
    given = values.get("attribute_map", {})
    if given is None or isinstance(given, int | float):
        yield "attribute_map", f"it is {shown(given)}, and takes the place of the names that its class has"
    elif isinstance(given, dict):
        lost = next((name for name, to in given.items() if name in known and not _is_among(to, known)), None)
        if lost is not None:
            yield "attribute_map", f"it leads {lost} to {shown(given[lost])}, which the config does not have"


def _is_among(key: Any, known: Collection[str]) -> bool:
    """Whether it is one of these keys; what is no text is none, and may not be hashable."""
    return isinstance(key, str) and key in known


def _of_version_4(values: Mapping[str, Any]) -> Iterator[Problem]:
    problem = values.get("problem_type")
    if problem is not None and problem not in _PROBLEMS:
        yield "problem_type", f"it is {shown(problem)}, but must be one of {', '.join(_PROBLEMS)}"
    for name in ("label2id", "pruned_heads"):
        value = values.get(name)
        if value is not None and not isinstance(value, dict):
            yield name, f"it is {shown(value)}, but must be an object"
    heads = values.get("pruned_heads")
    if isinstance(heads, dict) and not all(map(is_whole_number, heads)):
        yield "pruned_heads", "its keys must be whole numbers in quotes"
    inner = values.get("_attn_implementation_internal")
    if isinstance(inner, dict) or (isinstance(inner, str) and not _is_of_attention(inner)):
        yield "_attn_implementation_internal", f"it is {shown(inner)}, but must be an attention implementation"


def _pruned(version: str, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """Heads to prune from a class that cannot (4.57.1, modeling_utils.py: PreTrainedModel.prune_heads)."""
    pruning = with_pruning(version)
    if values.get("pruned_heads") and pruning and kind not in pruning:
        yield "pruned_heads", f"the class of {kind} cannot prune heads"


def _code(values: Mapping[str, Any]) -> Iterator[Problem]:
    named = values.get("auto_map")
    if isinstance(named, dict) and not isinstance(named.get("AutoConfig", ""), _LISTS):
        yield "auto_map", f"AutoConfig in it is {shown(named['AutoConfig'])}, but must be text"


def _implementations(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Kernels of attention and of experts, for all of the model or by its part; "" is the model around these."""
    for name in _ATTENTION:
        whole = values.get(name)
        if whole is not None and not isinstance(whole, str | dict):
            yield name, f"it is {shown(whole)}, but must be text, an object or null"
        elif isinstance(whole, dict):  # a word alone is looked at with all other words of configs
            odd = next((word for word in _words(whole) if not (isinstance(word, str) and _is_of_attention(word))), None)
            if odd is not None:
                yield name, f"{shown(odd)} in it is no attention implementation"
    for name in _EXPERTS:
        for word in _words(values.get(name)):
            if word not in shared("experts"):
                yield name, f"{shown(word)} is none of {', '.join(shared('experts'))}"


def _grouped(version: str, values: Mapping[str, Any], kind: str) -> Iterator[Problem]:
    """The one kernel of experts that a class without experts refuses (5.24.0, modeling_utils.py:1680)."""
    taking = with_experts(version)
    for name in _EXPERTS:
        given = values.get(name)
        word = given.get("") if isinstance(given, dict) else given
        if word == _GROUPED and taking and kind not in taking:
            yield name, f"the class of {kind} has no experts that it could compute by {_GROUPED}"


def _words(value: Any) -> list[Any]:
    """What a key says, but for null: itself, or the entries of an object."""
    given = value.values() if isinstance(value, dict) else [value]
    return [word for word in given if word is not None and not isinstance(word, dict)]


def _is_of_attention(word: str) -> bool:
    return word in shared("attention") or is_attention(word)
