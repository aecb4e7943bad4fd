"""Says what a recorded version of transformers makes otherwise than the newest, of a config and of stored names."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.fetcher.layout import GENERATION, WEIGHTS_KEY, names_weights
from hfcount.mapper.class_defaults import declared
from hfcount.mapper.keys_without_shape import may_bear
from hfcount.mapper.rotary_tables import RotaryTables, kindless, rotary_forms, rotary_tables
from hfcount.text import shown
from hfcount.verifier.loaders import built, config_values, heads
from hfcount.verifier.loaders.config_values import ABSENT, value_at
from hfcount.verifier.loaders.facts import Facts, Size, facts, versions
from hfcount.verifier.loaders.loader import Checkpoint, Difference, lays_out_another

_ATTENTION = frozenset({"attn_implementation", "_attn_implementation"})
_ADAPTER = "adapter_model.bin"
_DROPPED = ("HF210",)
"""Notes of what it drops, which is then lost."""


_TIED_SIDES = "tie_encoder_decoder"

GENERATION_KEYS = frozenset(
    {
        "assistant_ensemble_weight",
        "cache_implementation",
        "compile_config",
        "do_sample",
        "early_stopping",
        "max_new_tokens",
        "num_beams",
        "num_return_sequences",
        "suppress_tokens",
        "watermarking_config",
    }
)
"""The settings of generation that are checked, besides pad_token_id, which most configs have."""


def differences(version: str, recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """What this version makes otherwise than the newest, the worst first."""
    values, older = checkpoint.values, version.startswith("4.")
    yield from _of_quantisation(values, checkpoint.kind) if older else ()
    for key in config_values.refused_keys(version) & values.keys():
        yield "refuses", f"refuses a config with the key {key}, which is the name of what its class calls", ()
    if says := _of_named_weights(checkpoint):
        yield "refuses", says, ()
    for at, part, kind in configs(values, checkpoint.kind):
        inner = recorded if not at else facts(version, kind)
        yield from _of_common_keys(version, part, kind, at)
        yield from _of_rescaling(version, part, kind, at)
        if inner is not None:
            tables = rotary_tables(kind, version)
            yield from _of_config(inner, part, at, checkpoint)
            yield from _of_rotary(inner, tables, part, kind, (at, older))
            if width := tables.odd_width(part, declared(kind).keys):
                yield "refuses", f"refuses {at}head_dim {width}: rotary positions need an even width", ()
            yield from _unnamed(inner, part, kind, at)
    for says in built.refusals(version, versions()[-1], configs(values, checkpoint.kind)):
        yield "refuses", says, ()
    yield from _of_attention(version, values, checkpoint.kind)
    yield from _of_two_sides(checkpoint) if older else ()
    if _has_generation_settings(checkpoint):
        from hfcount.verifier.loaders import generation  # many have none

        yield from (("refuses", refusal.says, ()) for refusal in generation.refusals(version, checkpoint))
    if checkpoint.is_listed:
        yield from _of_names(recorded, checkpoint)
        yield from _without_prefix(recorded, checkpoint) if older else ()
    yield from heads.differences(recorded, checkpoint) if older else ()
    yield from heads.copies(recorded, checkpoint) if older else ()
    if dropped := checkpoint.codes.intersection(_DROPPED):
        yield "differs", "drops tensors that are stored", tuple(dropped)


def _of_rescaling(version: str, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Weights that are changed whenever they are loaded."""
    if "rescale_prenorm_residual" in values:
        from hfcount.verifier.loaders import rescaled  # few types have the key

        yield from rescaled.differences(version, values, kind, at)


def _of_quantisation(values: Mapping[str, Any], kind: str) -> Iterator[Difference]:
    """Empty settings of a quantisation, and null, also of a part, which version 4 asks for what they are."""
    if values.get("quantization_config") == {}:
        yield "refuses", "refuses a quantization_config without quant_method", ()
    for at, part, _ in configs(values, kind):
        if "quantization_config" in part and part["quantization_config"] is None:
            yield "refuses", f'refuses "{at}quantization_config": null', ()


def _of_common_keys(version: str, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Values of keys that all classes read alike."""
    from hfcount.verifier.loaders import common_keys

    if not common_keys.COMMON_KEYS.isdisjoint(values):
        for key, why in common_keys.problems(version, values, declared(kind).keys, not at, kind):
            yield "refuses", f"refuses {at}{key}: {why}", ()


def _of_attention(version: str, values: Mapping[str, Any], kind: str) -> Iterator[Difference]:
    """Kernels of attention that the class, or that of a model within it, does not support."""
    parts = [(at, part) for at, part, _ in configs(values, kind) if not _ATTENTION.isdisjoint(part)]
    if not parts:
        return
    from hfcount.verifier.loaders import attention  # few configs name one

    for key, why in attention.refusals(version, values, kind, declared(kind)):
        yield "refuses", f"refuses {key}: {why}", ()
    if unknown := next((key for at, part in parts for key in attention.nested(version, part, at)), None):
        yield "unknown", f"may obey {unknown}, and whether its class supports that is not known here", ()


def _of_two_sides(checkpoint: Checkpoint) -> Iterator[Difference]:
    """An encoder that version 4 ties to its decoder (4.57.1, modeling_utils.py: tie_weights), where both can be."""
    two = checkpoint.blueprint is not None and "encoder" in checkpoint.blueprint.spec.parts
    if two and checkpoint.values.get(_TIED_SIDES):
        yield "unknown", f"ties the encoder to the decoder by {_TIED_SIDES} where its class can, or refuses that", ()


def _has_generation_settings(checkpoint: Checkpoint) -> bool:
    """Whether there are settings of generation that a version may refuse, in their own file or in config.json."""
    padding = checkpoint.values.get("pad_token_id")
    odd = padding is not None and not isinstance(padding, int | float)
    return GENERATION in checkpoint.companions or odd or not GENERATION_KEYS.isdisjoint(checkpoint.values)


def configs(values: Mapping[str, Any], kind: str, path: str = "") -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """A config and those nested in it: where each is, what it says, and its model_type."""
    yield path, values, kind
    known = declared(kind).parts
    for name, value in values.items():
        if isinstance(value, dict) and name in known:
            inner = value.get("model_type", known[name].kind)
            inner = known[name].kind if inner == kind else inner  # version 4 writes the type of all there
            if isinstance(inner, str):
                yield from configs(value, inner, f"{path}{name}.")


def _of_config(recorded: Facts, values: Mapping[str, Any], at: str, checkpoint: Checkpoint) -> Iterator[Difference]:
    for need in recorded.needs:
        key, _, wanted = need.partition("=")
        value = value_at(values, key)
        if value is ABSENT or (value is None and not wanted):  # who wrote the key knew what goes with its value
            yield "refuses", f"needs {at}{need}", ()
    for refused in recorded.refuses:
        value = value_at(values, refused.key)
        if value is not ABSENT and refused.holds(value):
            yield "refuses", f"refuses {at}{refused.key}: {refused.error}", ()
    for key in recorded.nulls:
        if (at or not isinstance(values.get("text_config"), dict)) and key in values and values[key] is None:
            yield "refuses", f"refuses {at}{key}: null", ()
    for size in recorded.sizes:
        other = _other_size(values, size)
        # A class that does without that part takes either size, and who saved the weights may have read it so.
        place, stored = f"{at}{size.written}", (finding.changes for finding in checkpoint.findings)
        if other is None or any(changes == {place: other} for changes in stored):
            continue
        if lays_out_another(checkpoint, place, other):
            yield "refuses", f"does not read {at}{size.written}, and takes {other} for {at}{size.read}", ()


def is_size_that_is_read(version: str, checkpoint: Checkpoint, changes: Mapping[str, Any]) -> bool:
    """Whether a version takes a size for another than the config says, with which all that is stored agrees."""
    for at, part, kind in configs(checkpoint.values, checkpoint.kind) if len(changes) == 1 else ():
        recorded = facts(version, kind)
        for size in recorded.sizes if recorded else ():
            other = _other_size(part, size)
            if other is not None and changes == {f"{at}{size.written}": other}:
                return True
    return False


def _of_named_weights(checkpoint: Checkpoint) -> str:
    """Why the file that the config names for its weights is refused; empty if it is not, or there is no such key."""
    name, files = checkpoint.values.get(WEIGHTS_KEY), checkpoint.files
    if name is None or (name == _ADAPTER and name in files):
        return ""
    if not names_weights(name):
        return f"refuses {WEIGHTS_KEY}, which is {shown(name)} and must name a file *.safetensors, or its index"
    return f"refuses {WEIGHTS_KEY}: there is no {name}" if files and name not in files else ""


def _of_rotary(
    recorded: Facts, tables: RotaryTables, values: Mapping[str, Any], name: str, place: tuple[str, bool]
) -> Iterator[Difference]:
    """Settings of rotary positions that are refused.

    Args:
        name: the model_type.
        place: the path of the config, and whether version 4 reads it.
    """
    at, older = place
    if tables.kindless is not None and (without := kindless(values, name, older)):
        if tables.refuses(without):
            yield "refuses", f"refuses {at}{without.key}, which is {without.says}", ()
        return
    for form, kind in rotary_forms(values, declared(name).keys, older) if recorded.rotary else ():
        if kind in recorded.rotary.get(form, "").split():
            key = "rope_parameters" if form in ("rope_parameters", "nested") else "rope_scaling"
            head = " without head_dim" if form == "headless" else ""
            yield "refuses", f"refuses {at}{key} of the kind {kind} in this form{head}", ()


def _unnamed(recorded: Facts, values: Mapping[str, Any], kind: str, at: str) -> Iterator[Difference]:
    """Sizes under a further name that this version does not take, so that it takes their own, or defaults."""
    known = declared(kind)
    for name in filter(known.names.__contains__, recorded.unnamed):  # what is recorded may be of a type like this
        key, value = known.names[name], values.get(name)
        usual = values.get(key, known.keys.get(key))  # the newest takes the further name of both, too
        if type(value) is int and may_bear(name, value) and usual not in (None, value):
            yield "refuses", f"does not read {at}{name}, and takes {usual} for {at}{key}", ()


def _of_names(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    for name in checkpoint.names() if recorded.renamed else ():
        if wanted := recorded.wanted(name, checkpoint.class_name):
            yield "differs", f"looks for {wanted} in place of {name}, and leaves that random", ()
            return
    if wants := recorded.random(checkpoint.class_name):
        yield from _random(wants, checkpoint)
    yield from _dropped(recorded, checkpoint) if recorded.omits else ()


def _dropped(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """A stored tensor that the newest version reads by itself, and of which this one has none, or a tied one."""
    newest = facts(versions()[-1], checkpoint.kind) if isinstance(checkpoint.kind, str) else None
    alone = newest.random(checkpoint.class_name) if newest else ()
    for name in checkpoint.names() if alone else ():
        if name in alone and recorded.is_omitted(name, checkpoint.class_name):
            yield "differs", f"does not read {name} by itself, as the newest version does", ()
            return


def _random(wants: tuple[str, ...], checkpoint: Checkpoint) -> Iterator[Difference]:
    """Names that are wanted, in every layer where they have a number, and are not stored."""
    whole = [want for want in wants if "{}" not in want]
    for want in whole and sorted(set(whole) - {name.removeprefix("model.") for name in checkpoint.names()}):
        above = want.rsplit(".", 2)[0]  # a model of other parts has no such module
        if any(name.removeprefix("model.").startswith(f"{above}.") for name in checkpoint.names()):
            yield "differs", f"leaves {want} as it is initialised, for it is not stored", ()
    layers: dict[str, set[str]] = defaultdict(set)
    stored: dict[str, set[str]] = defaultdict(set)
    for name in checkpoint.names():
        for want in wants:
            before, _, after = want.partition("{}")
            if match := re.match(rf"(?:model\.)?{re.escape(before)}(\d+)\.", name):
                layers[want].add(match[1])
                if name[match.end() - 1 :] == after:
                    stored[want].add(match[1])
    for want in wants:
        if lacking := layers[want] - stored[want]:
            yield "differs", f"leaves {want.replace('{}', min(lacking, key=int))} random, which is not stored", ()


def _without_prefix(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """Names without the base model's own, which version 4 adds by another name, or refuses beside a head."""
    if "HF209" not in checkpoint.codes:
        return
    leaves = checkpoint.blueprint.leaves if checkpoint.blueprint else ()
    prefix, dot, _ = next((leaf.name for leaf in leaves if leaf.component == "embedding"), "").partition(".")
    if not dot or any(name.startswith(f"{prefix}.") for name in checkpoint.names()):
        return
    if any(checkpoint.has(leaf.name) for leaf in heads.over_vocabulary(checkpoint) if not leaf.tied_to):
        yield "refuses", f"refuses names of a head beside names without {prefix}.", ("HF209",)
    elif prefix == "model" != recorded.prefix:
        yield "differs", f"adds no {prefix}. to names, and leaves the model random", ("HF209",)


def _other_size(values: Mapping[str, Any], size: Size) -> Any:
    """The size that is taken in place of the one that is written; None if it is the same, or not known."""
    written, read_ = value_at(values, size.written), value_at(values, size.read)
    if written is ABSENT or (size.absent is not None and read_ is not ABSENT):
        return None
    taken = read_ if size.absent is None else size.absent
    return taken if taken is not ABSENT and taken != written else None
