"""Every published component: how many parameters, by which formula, under which names."""

from typing import Any

import pytest

from hfcount.architectures.layers import altered, decoder, gqa, layer_norm, moe, network, pre_norm, rms_norm, swiglu
from hfcount.architectures.layers.convolution import batch_norm, conv, depthwise, frozen, led, normed, transposed
from hfcount.spec import GQA, Dense, Head, Layer, Layers, MoE, Spec
from hfcount.spec.tree.dims import Dim, polynomial
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.leaves import leaves
from hfcount.spec.tree.nodes import Block, block
from hfcount.spec.tree.polynomials import render

D, F = Dim.named("d", 8), Dim.named("d_ff", 20)
HEADS: dict[str, Any] = {"heads": 6, "kv_heads": 2, "head_dim": 4}
MOE = MoE(experts=16, active=3, width=5)


def _parameters(tree: Block) -> tuple[int, str]:
    found = [leaf for leaf in leaves(tree) if leaf.counted]
    return sum(leaf.elements for leaf in found), render(polynomial(sum(leaf.formula for leaf in found)))


@pytest.mark.parametrize(
    ("part", "count", "formula"),
    [
        (rms_norm(D), 8, "d"),
        (swiglu(D, F), 480, "3·d·d_ff"),
        (swiglu(D, F, bias=True), 528, "3·d·d_ff + 2·d_ff + d"),
        (gqa(D, GQA(**HEADS)), 512, "2·h·h_d·d + 2·h_kv·h_d·d"),
        (gqa(D, GQA(**HEADS, qkv_bias=True)), 552, "2·h·h_d·d + h·h_d + 2·h_kv·h_d·d + 2·h_kv·h_d"),
        (gqa(D, GQA(**HEADS, out_bias=True)), 520, "2·h·h_d·d + 2·h_kv·h_d·d + d"),
        (gqa(D, GQA(**HEADS, qk_norm=True)), 520, "2·h·h_d·d + 2·h_kv·h_d·d + 2·h_d"),
        (moe(D, MOE, swiglu(D, MOE.width)), 128 + 16 * 120, "n·d + 3·n·d·d_ff"),
    ],
    ids="rms_norm swiglu swiglu-bias gqa gqa-qkv-bias gqa-out-bias gqa-qk-norm moe".split(),
)
def test_parameters_and_formula(part: Block, count: int, formula: str) -> None:
    assert _parameters(part) == (count, formula)


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (rms_norm(D), "weight"),
        (swiglu(D, F), "gate_proj.weight up_proj.weight down_proj.weight"),
        (
            gqa(D, GQA(**HEADS, qkv_bias=True, out_bias=True, qk_norm=True)),
            "q_proj.weight q_proj.bias k_proj.weight k_proj.bias v_proj.weight v_proj.bias o_proj.weight o_proj.bias"
            " q_norm.weight k_norm.weight rotary_emb.inv_freq",
        ),
        (
            moe(D, MOE, swiglu(D, MOE.width)),
            "gate.weight experts.{0-15}.gate_proj.weight experts.{0-15}.up_proj.weight experts.{0-15}.down_proj.weight",
        ),
    ],
    ids="rms_norm swiglu gqa moe".split(),
)
def test_names(part: Block, names: str) -> None:
    assert [leaf.name for leaf in leaves(part)] == names.split()


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("q_proj.weight", (24, 8)),
        ("k_proj.weight", (8, 8)),
        ("v_proj.weight", (8, 8)),
        ("o_proj.weight", (8, 24)),
        ("rotary_emb.inv_freq", (2,)),
    ],
)
def test_attention_shapes(name: str, shape: tuple[int, ...]) -> None:
    assert {leaf.name: leaf.shape for leaf in leaves(gqa(D, GQA(**HEADS)))}[name] == shape


def test_the_rotary_frequencies_are_an_obsolete_buffer() -> None:
    assert [leaf.name for leaf in leaves(gqa(D, GQA(**HEADS))) if leaf.presence == "obsolete"] == [
        "rotary_emb.inv_freq"
    ]


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (
            pre_norm(D, self_attn=rms_norm(D), mlp=rms_norm(D)),
            "input_layernorm.weight self_attn.weight post_attention_layernorm.weight mlp.weight",
        ),
        (
            pre_norm(D, layer_norm, mixer=block(), feed_forward=block()),
            "input_layernorm.weight input_layernorm.bias post_attention_layernorm.weight post_attention_layernorm.bias",
        ),
        (altered(layer_norm(D), bias=None, scale=rms_norm(D)), "weight scale.weight"),
    ],
    ids="pre_norm pre_norm-layer_norm altered".split(),
)
def test_names_of_layers(layer: Block, names: str) -> None:
    assert [leaf.name for leaf in leaves(layer)] == names.split()


@pytest.mark.parametrize(("ffn", "elements"), [(Dense(width=5), 120), (Dense(width=5, bias=True), 138), (MOE, 8)])
def test_a_layer_has_one_network_or_experts(ffn: Dense | MoE, elements: int) -> None:
    tree = network(8, Layer(ffn=ffn), lambda m: rms_norm(D))
    assert sum(leaf.elements for leaf in leaves(tree)) == elements


def test_a_token_passes_through_the_whole_router_and_some_experts() -> None:
    found = {leaf.component: (leaf.count, leaf.active) for leaf in leaves(moe(D, MOE, block("experts", w=rms_norm(D))))}
    assert found == {"router": (1, 1), "experts": (16, 3)}


def _spec(head: Head, tied: bool = False) -> Spec:
    layer = Layer(mixer=GQA(**HEADS), ffn=Dense(width=20))
    layers = (Layers(indices=Indices.below(3), layer=layer),)
    return Spec(
        family="any", architecture="", dtype=None, vocab=50, hidden=8, layers=layers, head=head, tied=tied, labels=7
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("base", "embed_tokens.weight layers.{0-2}.weight norm.weight"),
        ("causal_lm", "model.embed_tokens.weight model.layers.{0-2}.weight model.norm.weight lm_head.weight"),
        (
            "sequence_classification",
            "model.embed_tokens.weight model.layers.{0-2}.weight model.norm.weight score.weight",
        ),
        (
            "token_classification",
            "model.embed_tokens.weight model.layers.{0-2}.weight model.norm.weight score.weight score.bias",
        ),
        (
            "question_answering",
            "base.embed_tokens.weight base.layers.{0-2}.weight base.norm.weight qa_outputs.weight qa_outputs.bias",
        ),
    ],
)
def test_the_head_decides_the_prefix_and_what_follows(head: Head, expected: str) -> None:
    tree = decoder(_spec(head), lambda _: rms_norm(D), question_answering="base")
    assert [leaf.name for leaf in leaves(tree) if leaf.presence != "obsolete"] == expected.split()


@pytest.mark.parametrize(
    ("head", "name", "shape"),
    [
        ("causal_lm", "lm_head.weight", (50, 8)),
        ("sequence_classification", "score.weight", (7, 8)),
        ("token_classification", "score.bias", (7,)),
        ("question_answering", "qa_outputs.weight", (2, 8)),
    ],
)
def test_head_shapes(head: Head, name: str, shape: tuple[int, ...]) -> None:
    found = {leaf.name: leaf.shape for leaf in leaves(decoder(_spec(head), lambda _: rms_norm(D)))}
    assert found[name] == shape


def test_a_tied_head_is_a_second_name_of_the_embedding() -> None:
    last = leaves(decoder(_spec("causal_lm", tied=True), lambda _: rms_norm(D)))[-1]
    assert (last.name, last.label, last.tied_to) == ("lm_head.weight", "tied", "model.embed_tokens.weight")


@pytest.mark.parametrize(
    ("part", "count", "formula"),
    [
        (conv(D, F, 3), 8 * 20 * 9, "9·d·d_ff"),
        (conv(D, F, 1, 3, bias=True), 8 * 20 * 3 + 20, "3·d·d_ff + d_ff"),
        (conv(8, 20, 3, groups=4), 20 * 2 * 9, "360"),
        (depthwise(D, 5), 8 * 25, "25·d"),
        (transposed(D, F, 2, bias=False), 8 * 20 * 4, "4·d·d_ff"),
        (normed(D, F, 1), 8 * 20 + 2 * 20, "d·d_ff + 2·d_ff"),
    ],
    ids="conv oblong groups depthwise transposed normed".split(),
)
def test_convolutions_and_their_formula(part: Block, count: int, formula: str) -> None:
    assert _parameters(part) == (count, formula)


def test_batch_normalisation_stores_more_than_it_learns() -> None:
    stored = {leaf.name: (tuple(leaf.shape), leaf.kind, leaf.whole) for leaf in leaves(batch_norm(8))}
    learned, seen = ((8,), "parameter", False), ((8,), "buffer", False)
    assert stored == {
        "weight": learned,
        "bias": learned,
        "running_mean": seen,
        "running_var": seen,
        "num_batches_tracked": ((), "buffer", True),
    }


def test_frozen_batch_normalisation_is_all_buffers_wherever_it_is() -> None:
    stage = block(layers=led(3, normed(3, 8, 3), normed(8, 8, 3)))
    found = {leaf.name: leaf.kind for leaf in leaves(block(stage=frozen(stage)))}
    assert {kind for name, kind in found.items() if ".convolution." in name} == {"parameter"}
    assert {kind for name, kind in found.items() if ".normalization." in name} == {"buffer"}
    assert not any("num_batches_tracked" in name for name in found)
    assert {name for name in found if name.endswith("running_mean")} == {
        "stage.layers.0.normalization.running_mean",
        "stage.layers.{1-2}.normalization.running_mean",
    }


@pytest.mark.parametrize(("count", "numbers"), [(0, ["0"]), (1, ["0"]), (4, ["0", "{1-3}"])])
def test_the_first_layer_of_a_stage_is_always_there(count: int, numbers: list[str]) -> None:
    one = block(norm=layer_norm(8, bias=False))
    found = [leaf.name for leaf in leaves(block(layers=led(count, one, one)))]
    assert found == [f"layers.{number}.norm.weight" for number in numbers]
