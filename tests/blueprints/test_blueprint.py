"""Counts: by hand for one small model of each family, and by enumeration for any."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

import pytest
from build import FAMILIES, TINY, Json, config, named
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ARCHITECTURES

import hfcount
from hfcount import Blueprint, ConfigError

# By hand, for vocabulary 50, width 12, feed-forward 20, 3 layers, 4 heads and 2 key/value heads.
EMBEDDING = 50 * 12
AROUND = 2 * EMBEDDING + 12
NORMS = 2 * 12
ATTENTION = 2 * 12 * (4 * 3) + 2 * 12 * (2 * 3)
WIDE_ATTENTION = 2 * 12 * (4 * 6) + 2 * 12 * (2 * 6) + 2 * 6
MLP = 3 * 12 * 20
ROUTER, EXPERT = 8 * 12, 3 * 12 * 10
LLAMA = AROUND + 3 * (NORMS + ATTENTION + MLP)
QWEN2 = AROUND + 3 * (NORMS + ATTENTION + (4 + 2 + 2) * 3 + MLP)
QWEN3 = AROUND + 3 * (NORMS + WIDE_ATTENTION + MLP)
MIXTRAL = AROUND + 3 * (NORMS + ATTENTION + ROUTER + 8 * MLP)
QWEN3_MOE = AROUND + 3 * (NORMS + WIDE_ATTENTION + ROUTER + 8 * EXPERT)


@pytest.mark.parametrize(
    ("values", "total", "active", "without"),
    [
        (TINY["llama"], LLAMA, LLAMA, LLAMA - EMBEDDING),
        (TINY["mistral"], LLAMA, LLAMA, LLAMA - EMBEDDING),
        (TINY["qwen2"], QWEN2, QWEN2, QWEN2 - EMBEDDING),
        (TINY["qwen3"], QWEN3, QWEN3, QWEN3 - EMBEDDING),
        (TINY["mixtral"], MIXTRAL, MIXTRAL - 3 * 6 * MLP, MIXTRAL - 3 * 6 * MLP - EMBEDDING),
        (TINY["qwen3_moe"], QWEN3_MOE, QWEN3_MOE - 3 * 6 * EXPERT, QWEN3_MOE - 3 * 6 * EXPERT - EMBEDDING),
        (config("llama", tie_word_embeddings=True), LLAMA - EMBEDDING, LLAMA - EMBEDDING, LLAMA - EMBEDDING),
        (config("llama", architectures=["LlamaModel"]), LLAMA - 600, LLAMA - 600, LLAMA - 600 - EMBEDDING),
        (
            config("llama", architectures=["LlamaForTokenClassification"], num_labels=5, tie_word_embeddings=True),
            LLAMA - 600 + 65,
            LLAMA - 600 + 65,
            LLAMA - 600 + 65 - EMBEDDING,
        ),
        (
            config("qwen3_moe", mlp_only_layers=[1]),
            QWEN3_MOE - ROUTER - 8 * EXPERT + MLP,
            QWEN3_MOE - ROUTER - 8 * EXPERT + MLP - 2 * 6 * EXPERT,
            QWEN3_MOE - ROUTER - 8 * EXPERT + MLP - 2 * 6 * EXPERT - EMBEDDING,
        ),
    ],
    ids="llama mistral qwen2 qwen3 mixtral qwen3_moe tied base tied-without-head some-layers-dense".split(),
)
def test_counts_by_hand(values: Json, total: int, active: int, without: int) -> None:
    blueprint = hfcount.blueprint(values)
    assert (blueprint.total, blueprint.active, blueprint.active_without_embedding) == (total, active, without)


def test_components_are_in_the_order_of_the_model() -> None:
    assert [(role, *measure) for role, measure in hfcount.blueprint(TINY["qwen3_moe"]).by_component.items()] == [
        ("embedding", 600, 600),
        ("norm", 3 * NORMS + 12, 3 * NORMS + 12),
        ("attention", 3 * WIDE_ATTENTION, 3 * WIDE_ATTENTION),
        ("router", 3 * ROUTER, 3 * ROUTER),
        ("experts", 3 * 8 * EXPERT, 3 * 2 * EXPERT),
        ("lm_head", 600, 600),
    ]


def test_rows() -> None:
    rows = hfcount.blueprint(config("qwen3_moe", mlp_only_layers=[1], tie_word_embeddings=True)).rows()
    routed = [
        (row.name, row.count, row.shape, row.role, row.kind, row.elements)
        for row in rows
        if "layers.1." not in row.name
    ]
    assert routed == [
        ("model.embed_tokens.weight", 1, (50, 12), "embedding", "parameter", 600),
        ("model.layers.{0,2}.input_layernorm.weight", 2, (12,), "norm", "parameter", 24),
        ("model.layers.{0,2}.self_attn.q_proj.weight", 2, (24, 12), "attention", "parameter", 576),
        ("model.layers.{0,2}.self_attn.k_proj.weight", 2, (12, 12), "attention", "parameter", 288),
        ("model.layers.{0,2}.self_attn.v_proj.weight", 2, (12, 12), "attention", "parameter", 288),
        ("model.layers.{0,2}.self_attn.o_proj.weight", 2, (12, 24), "attention", "parameter", 576),
        ("model.layers.{0,2}.self_attn.q_norm.weight", 2, (6,), "attention", "parameter", 12),
        ("model.layers.{0,2}.self_attn.k_norm.weight", 2, (6,), "attention", "parameter", 12),
        ("model.layers.{0,2}.self_attn.rotary_emb.inv_freq", 2, (3,), "attention", "legacy", 6),
        ("model.layers.{0,2}.post_attention_layernorm.weight", 2, (12,), "norm", "parameter", 24),
        ("model.layers.{0,2}.mlp.gate.weight", 2, (8, 12), "router", "parameter", 192),
        ("model.layers.{0,2}.mlp.experts.{0-7}.gate_proj.weight", 16, (10, 12), "experts", "parameter", 1920),
        ("model.layers.{0,2}.mlp.experts.{0-7}.up_proj.weight", 16, (10, 12), "experts", "parameter", 1920),
        ("model.layers.{0,2}.mlp.experts.{0-7}.down_proj.weight", 16, (12, 10), "experts", "parameter", 1920),
        ("model.norm.weight", 1, (12,), "norm", "parameter", 12),
        ("model.rotary_emb.inv_freq", 1, (3,), "other", "legacy", 3),
        ("lm_head.weight", 1, (50, 12), "lm_head", "tied", 600),
    ]


def test_mixtral_keeps_its_own_names() -> None:
    names = [row.name for row in hfcount.blueprint(TINY["mixtral"]).rows() if row.role in ("router", "experts")]
    assert names == [
        "model.layers.{0-2}.block_sparse_moe.gate.weight",
        *(f"model.layers.{{0-2}}.block_sparse_moe.experts.{{0-7}}.w{n}.weight" for n in (1, 2, 3)),
    ]


@pytest.mark.parametrize(
    ("stored", "kinds"),
    [(True, {"parameter": 29}), (False, {"parameter": 29, "legacy": 4, "tied": 1})],
    ids=["what-a-writer-stores", "everything"],
)
def test_tensors_leave_out_what_no_current_writer_stores(stored: bool, kinds: dict[str, int]) -> None:
    blueprint = hfcount.blueprint(config("llama", tie_word_embeddings=True))
    assert Counter(tensor.kind for tensor in blueprint.tensors(stored=stored)) == kinds


def _evaluate(text: str, legend: Mapping[str, int]) -> int:
    """What a reader gets who works the printed formula out."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text).replace("·", "*").replace("|", "_")
    return int(eval(text, {name.replace("|", "_"): value for name, value in legend.items()}))


def _formulas_hold(blueprint: Blueprint) -> None:
    formula, counts = blueprint.formula(), {role: measure.total for role, measure in blueprint.by_component.items()}
    assert {
        role: _evaluate(formula.text(terms), formula.legend) for role, terms in formula.components.items()
    } == counts
    assert {role: _evaluate(formula.numbers(terms), {}) for role, terms in formula.components.items()} == counts
    assert _evaluate(str(formula), formula.legend) == blueprint.total == _evaluate(formula.numbers(formula.total), {})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_printed_formula_evaluates_to_its_count(family: str) -> None:
    _formulas_hold(hfcount.blueprint(TINY[family]))


@st.composite
def _configs(draw: st.DrawFn) -> Json:
    family = draw(st.sampled_from(FAMILIES))
    small = st.integers(1, 9)
    kv_heads, group, width, depth = draw(small), draw(small), draw(small), draw(small)
    experts = draw(small)
    changes: dict[str, Any] = {
        "architectures": named(
            family, draw(st.sampled_from(["ForCausalLM", "Model", "ForTokenClassification", "ForQuestionAnswering"]))
        ),
        "vocab_size": draw(small),
        "intermediate_size": draw(small),
        "num_hidden_layers": depth,
        "num_key_value_heads": kv_heads,
        "num_attention_heads": kv_heads * group,
        "hidden_size": kv_heads * group * width,
        "head_dim": draw(st.none() | small),
        "tie_word_embeddings": draw(st.booleans()),
        "attention_bias": draw(st.booleans()),
        "mlp_bias": draw(st.booleans()),
        "num_labels": draw(small),
    }
    if family == "mixtral":
        changes |= {"num_local_experts": experts, "num_experts_per_tok": draw(st.integers(1, experts))}
    if family == "qwen3_moe":
        changes |= {"num_experts": experts, "num_experts_per_tok": draw(st.integers(1, experts))}
        changes |= {"moe_intermediate_size": draw(small), "decoder_sparse_step": draw(small)}
        changes |= {"mlp_only_layers": draw(st.lists(st.integers(-1, depth), max_size=4))}
    return config(family, **changes)


@settings(deadline=None, max_examples=60)
@given(_configs())
def test_every_printed_formula_evaluates_to_its_count(values: Json) -> None:
    _formulas_hold(hfcount.blueprint(values))


@settings(deadline=None, max_examples=60)
@given(_configs())
def test_folds_agree_with_enumeration(values: Json) -> None:
    blueprint = hfcount.blueprint(values)
    tensors = list(blueprint.tensors())
    used = [tensor for tensor in tensors if not _idle(tensor.name, values.get("num_experts_per_tok", 0))]
    assert len({tensor.name for tensor in tensors}) == len(tensors) == blueprint.tensor_count
    assert sum(prod(tensor.shape) for tensor in tensors) == blueprint.total
    assert sum(prod(tensor.shape) for tensor in used) == blueprint.active
    assert _by_role(tensors) == {role: measure.total for role, measure in blueprint.by_component.items()}
    assert _by_role(used) == {role: measure.active for role, measure in blueprint.by_component.items()}
    everything = list(blueprint.tensors(stored=False))
    assert sum(row.count for row in blueprint.rows()) == len({tensor.name for tensor in everything}) == len(everything)
    assert sum(row.elements for row in blueprint.rows()) == sum(prod(tensor.shape) for tensor in everything)


def _idle(name: str, active: int) -> bool:
    """Whether a tensor belongs to an expert beyond the first `active`."""
    expert = re.search(r"\.experts\.(\d+)\.", name)
    return expert is not None and int(expert[1]) >= active


def _by_role(tensors: list[Any]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for tensor in tensors:
        sums[tensor.role] += prod(tensor.shape)
    return dict(sums)


BILLION = 10**9


@pytest.mark.parametrize(
    ("values", "total"),
    [
        (config("llama", num_hidden_layers=BILLION), AROUND + BILLION * (NORMS + ATTENTION + MLP)),
        (
            config("qwen3_moe", num_hidden_layers=BILLION, decoder_sparse_step=2, mlp_only_layers=[3, 5]),
            AROUND
            + BILLION * (NORMS + WIDE_ATTENTION)
            + (BILLION // 2 - 2) * (ROUTER + 8 * EXPERT)
            + (BILLION // 2 + 2) * MLP,
        ),
        (
            config("qwen3_moe", num_experts=2**32, num_hidden_layers=2**62),
            AROUND + 2**62 * (NORMS + WIDE_ATTENTION + 2**32 * (12 + EXPERT)),
        ),
    ],
    ids=["a-billion-layers", "a-billion-of-two-kinds", "as-many-as-there-may-be"],
)
def test_counting_costs_nothing_however_large_the_model(values: Json, total: int) -> None:
    blueprint = hfcount.blueprint(values)
    assert blueprint.total == total == sum(measure.total for measure in blueprint.by_component.values())
    assert sum(row.elements for row in blueprint.rows() if row.kind == "parameter") == total
    _formulas_hold(blueprint)


@pytest.mark.parametrize(("layers", "listed"), [(555_555, True), (555_556, False), (BILLION, False)])
def test_more_than_five_million_tensors_are_not_listed(layers: int, listed: bool) -> None:
    blueprint = hfcount.blueprint(config("llama", num_hidden_layers=layers))
    if listed:
        assert next(blueprint.tensors()).name == "model.embed_tokens.weight"
    else:
        with pytest.raises(ConfigError, match=f"{9 * layers + 3:,} tensors"):
            blueprint.tensors()


@pytest.mark.parametrize(("name", "unread"), [("voxtral_realtime_encoder", ()), ("llama", ("num_experts",))])
def test_a_model_without_words_has_nothing_to_tie(name: str, unread: tuple[str, ...]) -> None:
    values = _recorded(name) | {"tie_word_embeddings": True} | dict.fromkeys(unread, 8)
    assert hfcount.blueprint(values).unread == unread


def _recorded(name: str) -> Json:
    path = ARCHITECTURES / f"{name}.json"
    found: Json = json.loads(path.read_text())["config"]
    return found


def test_of_a_table_of_n_grams_a_token_uses_the_rows_that_it_reads() -> None:
    """A row of each head's table, in each layer that has one; the tables are embeddings, wherever they are cut."""
    sizes = {"ngram_size": 3, "heads_per_ngram": 4, "ple_embed_dim": 48, "ngram_vocab_size_base": 90}
    values = _recorded("qwen4_exp_text") | sizes
    blueprint = hfcount.blueprint(values)
    tables = [leaf for leaf in blueprint.leaves if ".ngram_embedding." in leaf.name]
    assert {leaf.component for leaf in tables} == {"embedding"}
    rows = 2 * 4 * len(values["ple_layer_ids"])
    assert sum(leaf.active_elements for leaf in tables) == rows * 6
    others = hfcount.blueprint(values | {"split_ngram_parts": 3})
    assert (others.total, others.active) == (blueprint.total, blueprint.active)
    larger = hfcount.blueprint(values | {"ngram_vocab_size_base": 900})
    assert larger.total > blueprint.total
    assert larger.active == blueprint.active
    words = values["vocab_size"] * values["hidden_size"]
    assert blueprint.active_without_embedding == blueprint.active - rows * 6 - words


@pytest.mark.parametrize("pattern", ["M-*E", ["M", "-", "*", "E"]])
def test_a_pattern_of_letters_is_a_text_or_a_list(pattern: str | list[str]) -> None:
    """As transformers and mlx-lm write it."""
    values = {
        key: one for key, one in _recorded("nemotron_h").items() if key not in ("layers_block_type", "layer_types")
    }
    blueprint = hfcount.blueprint(values | {"hybrid_override_pattern": pattern})
    listed = ["linear_attention", "mlp", "full_attention", "moe"]
    assert [*blueprint.tensors()] == [*hfcount.blueprint(values | {"layers_block_type": listed}).tensors()]
    assert blueprint.formula().keys["N1"] == "M in hybrid_override_pattern"
