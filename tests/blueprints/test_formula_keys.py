"""A formula holds for every value: a key is doubled, the printed formula worked out anew, and the count agrees.

The legend says which keys a symbol is made of, so a reader needs nothing but the config. A key is halved where the
config refuses its double (more heads of keys than of queries), or the double makes another model of it: one with other
names, or with experts, norms or layers where there were none. It is left out where that holds of its half, too.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from build import Json
from legend import NO_ARITHMETIC, Reader
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.blueprints.formula.closed_form import Formula
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.whatif import changed, steps

RECORDED: dict[str, Json] = {
    path.stem: json.loads(path.read_text())["config"] for path in sorted(ARCHITECTURES.glob("*.json"))
}

NUMBER = re.compile(r"(?<![\w\[])\d+\b")
LAYERS = re.compile(r"(all layers|layers? \d.*)")


GLOBAL = "vision_config.global_attn_indexes"

NAMED = {
    "deepseek_v41": "kv_source_layer_ids, index_source_layer_ids and engram_layer_ids list layers, and overlap",
    "inkling2_loop": "passed layers are those between two keys, and the others those of two kinds",
    "inkling2_loop_text": "as in inkling2_loop",
    "kimi_k3": "full_attn_layers and kda_layers list layers, and count from 1",
    "minimax_m3": "sparse_attention_freq and moe_layer_freq have a flag for each layer, as its first release wrote it",
    "step3_text": "moe_layers_enum lists layers in a text",
    "step3_vl": "as in step3_text",
    "dots3_note_vision_encoder": "per_layer_config has an object for each layer, and no list of one key",
    "mistral_large4": "kv_source_layers names a layer for each, and what counts is which of them names itself",
    "mistral_large4_text": "as in mistral_large4",
    "nemotron-nas": "block_configs has an object for each layer, and no list of one key",
    "nemotron_h_puzzle": "as in nemotron-nas",
    "gigachat3_5": "full_attention_layers lists layers, of which some are among the first dense ones",
    "hymba": "kv_reuse_group lists the layers of each group, of which the first alone has keys and values",
}
"""Types of which layers are named, since no arithmetic over keys gives their number, and why."""


def _value(config: Mapping[str, Any], key: str, whole: bool = False) -> Any:
    """What the config has under a dotted key; of names their number, unless the whole is asked for."""
    found: Any = config
    for step in steps(key):
        found = found[step]
    return len(found) if isinstance(found, dict) and not whole else found


def _printed(text: str, legend: Mapping[str, int]) -> int:
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    for symbol in sorted(legend, key=len, reverse=True):
        text = re.sub(rf"(?<![\w|]){re.escape(symbol)}(?![\w|])", str(legend[symbol]), text)
    return int(eval(text.replace("·", "*") or "0", {}))


def _sizes(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number of a config, by its dotted key; of a list each that it has, by its first place."""
    for name, value in values.items():
        if type(value) is int and value > 0:
            yield f"{path}{name}", value
        elif isinstance(value, dict):
            yield from _sizes(value, f"{path}{name}.")
        elif isinstance(value, list) and all(type(one) is int and one > 0 for one in value):
            yield from ((f"{path}{name}[{value.index(one)}]", one) for one in dict.fromkeys(value))


def _others(values: Json, key: str, number: int) -> Iterator[Json]:
    """The config with another number under a key, and wherever a list has the same; no two of a list are made alike."""
    name, bracket, _ = key.partition("[")
    listed = _value(values, name) if bracket else []
    for new in (2 * number, *((3 * number, 4 * number, 5 * number) if bracket else ()), number // 2):
        if new not in listed:
            yield changed(values, {name: [new if one == number else one for one in listed] if bracket else new})


def _outline(blueprint: Blueprint) -> list[object]:
    return [
        (leaf.kind, leaf.component, *(part if isinstance(part, str) else None for part in leaf.segments))
        for leaf in blueprint.leaves
    ]


def _sources(formula: Formula) -> list[str]:
    """What symbols are made of; a number that is the least of two keys may become the other one."""
    return sorted(source for source in formula.keys.values() if ", " not in source and not LAYERS.fullmatch(source))


def _legend(formula: Formula, config: Json, now: Formula) -> dict[str, int]:
    """The value of each symbol in a changed config; how many layers are of a kind is counted."""
    made = [NUMBER.sub("#", source) for source in formula.keys.values()]
    sources = {NUMBER.sub("#", source): symbol for symbol, source in now.keys.items()}
    values = Reader(config, formula.legend, formula.keys).values
    for symbol, source in formula.keys.items():
        whole = NUMBER.sub("#", source)
        if LAYERS.fullmatch(source):
            values[symbol] = now.legend[symbol]
        elif source.endswith(NO_ARITHMETIC):
            values[symbol] = now.legend[sources[whole] if made.count(whole) == 1 else symbol]
    return values


@over("values", RECORDED.values(), ids=RECORDED, every=5)
def test_the_legend_and_the_config_alone_give_every_count(values: Json) -> None:
    blueprint = hfcount.blueprint(values)
    formula, components = blueprint.formula(), blueprint.by_component
    reader = Reader(values, formula.legend, formula.keys)
    wrong = {name: formula.keys[name] for name in formula.keys if reader.values[name] != formula.legend[name]}
    assert not wrong, {name: (text, reader.values[name], formula.legend[name]) for name, text in wrong.items()}
    assert reader.formula(formula.text(formula.total)) == blueprint.total
    assert reader.formula(formula.text(formula.active)) == blueprint.active
    for name, terms in formula.components.items():
        assert reader.formula(formula.text(terms)) == components[name].total, name
    for name, terms in formula.active_components.items():
        assert reader.formula(formula.text(terms)) == components[name].active, name


@pytest.mark.long
def test_layers_are_named_only_where_no_arithmetic_gives_their_number() -> None:
    """Whoever finds the arithmetic of one takes it out of here."""
    named = {name for name, values in RECORDED.items() if any(map(LAYERS.fullmatch, _keys(values).values()))}
    assert named == {*NAMED}


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("deepseek_v3", {}, {"N1": "first_k_dense_replace", "N2": "num_hidden_layers - first_k_dense_replace"}),
        ("glm4_moe", {}, {"N1": "first_k_dense_replace", "N2": "num_hidden_layers - first_k_dense_replace"}),
        ("qwen3_5_text", {}, {"N1": "linear_attention in layer_types", "N2": "full_attention in layer_types"}),
        ("kimi_linear", {}, {"N2": "num_hidden_layers - (full_attention in layer_types)"}),
        ("bamba", {"attn_layer_indices": [1]}, {"N2": "num_hidden_layers - (entries of attn_layer_indices)"}),
        ("nemotron_h", {}, {"N1": "linear_attention in layers_block_type"}),
        ("sam", {}, {"N_v2": f"entries of {GLOBAL} below vision_config.num_hidden_layers"}),
        ("sam", {"vision_config": {"num_hidden_layers": 12}}, {"N_v2": f"entries of {GLOBAL}"}),
        ("sam2_hiera_det_model", {}, {"N5": "blocks_per_stage[1] - 1", "N7": "blocks_per_stage[2]"}),
        ("efficientnet", {}, {"N1": "num_block_repeats[0] · depth_coefficient, rounded up"}),
        ("openelm", {}, {"N1": "0.5 in ffn_multipliers"}),
        ("recurrent_gemma", {}, {"N2": "(num_hidden_layers + entries of block_types - 3) / (entries of block_types)"}),
        ("sam3_lite_text_text_model", {}, {"N1": "2, fixed", "N2": "num_hidden_layers - 2"}),
        ("zamba", {}, {"N2": "hybrid in layers_block_type", "N3": "1, fixed"}),
        ("qwen3_moe", {"decoder_sparse_step": 1}, {"N": "num_hidden_layers"}),
        ("qwen3_moe", {"decoder_sparse_step": 2}, {"N1": "num_hidden_layers / decoder_sparse_step"}),
        ("m2m_100", {"num_hidden_layers": 4}, {"N_e": "num_hidden_layers", "N": "decoder_layers"}),
        ("m2m_100", {}, {"N_e": "encoder_layers"}),
        ("qwen2_5_omni_dit", {}, {f"C{place + 1}": f"enc_channels[{place}]" for place in range(5)}),
        ("t5", {}, {"N1": "1, fixed", "N_e1": "1, fixed", "N_e2": "num_layers - 1"}),
    ],
)
def test_the_keys_of_numbers_of_layers(name: str, changes: Json, said: dict[str, str]) -> None:
    recorded = RECORDED[name]
    parts = {key: {**recorded[key], **one} for key, one in changes.items() if isinstance(one, dict)}
    found = _keys({**recorded, **changes, **parts})
    assert {symbol: found.get(symbol) for symbol in said} == said


def _keys(values: Json) -> Mapping[str, str]:
    return build(Config(values)).formula().keys


@over("values", RECORDED.values(), ids=RECORDED, every=80)
def test_the_formula_holds_with_any_key_doubled(values: Json) -> None:
    config = Config(values)
    blueprint = build(config)
    formula, read, outline = blueprint.formula(), set(config.read_keys()), _outline(blueprint)
    compared, sizes = 0, {key: value for key, value in _sizes(values) if key.partition("[")[0] in read}
    for key, value in sizes.items():
        for new in _others(values, key, value):
            try:
                other = build(Config(new))
            except HfcountError:
                continue
            same = _outline(other) == outline and _sources(other.formula()) == _sources(formula)
            if same and len(other.problems) == len(blueprint.problems):
                break
        else:
            continue
        legend = _legend(formula, new, other.formula())
        moved = {symbol: source for symbol, source in formula.keys.items() if legend[symbol] != formula.legend[symbol]}
        for counted, terms in ((other.total, formula.total), (other.active, formula.active)):
            said = _printed(formula.text(terms), legend)
            assert said == counted, f"{key} was {value:,}: {counted:,} are counted, {said:,} said; changed: {moved}"
        compared += 1
    assert compared >= min(3, len(sizes))
