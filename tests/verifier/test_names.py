"""How a checkpoint's names match a blueprint's: exactly, under another prefix, or not."""

import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from build import DEEPSEEK, Json, config, index
from paths import ARCHITECTURES

import hfcount
from hfcount.spec.tree.leaves import Label
from hfcount.verifier.match import Match
from hfcount.verifier.names import match, set_heads_apart

Renamed = tuple[set[str], Json]
"""Names of a checkpoint, and the config beside them."""


GOOD = set(index(config("llama"))["weight_map"])
LAYER = "model.layers.1."


def _match(names: Iterable[str], values: Json | None = None) -> Match:
    blueprint = hfcount.blueprint(values or config("llama"))
    return match(blueprint.leaves, set(names), blueprint.unmodeled, lambda: blueprint.spellings)


def recorded(architecture: str) -> Json:
    """The config of a recorded architecture."""
    values: Json = json.loads((ARCHITECTURES / f"{architecture}.json").read_text())["config"]
    return values


@pytest.mark.parametrize(
    ("names", "missing", "count", "elements"),
    [
        (GOOD, [], 0, 0),
        (GOOD - {"model.norm.weight"}, ["model.norm.weight"], 1, 12),
        (GOOD - {f"{LAYER}mlp.up_proj.weight"}, ["model.layers.1.mlp.up_proj.weight"], 1, 240),
        (
            {name for name in GOOD if "mlp" not in name or LAYER in name},
            [f"model.layers.{{0,2}}.mlp.{part}_proj.weight" for part in ("gate", "up", "down")],
            6,
            6 * 240,
        ),
        (set(), [row.name for row in hfcount.blueprint(config("llama")).rows() if row.kind == "parameter"], 30, 4740),
    ],
    ids="nothing one one-of-a-layer folded everything".split(),
)
def test_missing(names: set[str], missing: list[str], count: int, elements: int) -> None:
    found = _match(names)
    assert (found.missing, found.missing_count, found.missing_elements) == (missing, count, elements)
    assert (found.weights, found.unexpected, found.renamed) == (4740 - elements, [], [])


@pytest.mark.parametrize(
    "name",
    [
        *["extra", "", ".", "model", "model.", "lm_head.bias", "model.layers.3.mlp.up_proj.weight", "lm_head.weight\n"],
        *["model.layers.01.mlp.up_proj.weight", "model.layers.-1.mlp.up_proj.weight", "\x1b[31m", "\ud800", "x" * 1000],
        ".".join("0" * 500),
    ],
    ids=lambda name: ascii(name)[1:-1][:40] or "empty",
)
def test_unexpected(name: str) -> None:
    found = _match(GOOD | {name})
    assert (found.unexpected, found.missing, found.renamed, found.weights) == ([name], [], [], 4740)


@pytest.mark.parametrize(
    ("values", "extra", "kind", "weights", "buffers"),
    [
        (config("llama", tie_word_embeddings=True), "lm_head.weight", "tied", 4740, 0),
        (config("llama"), "model.layers.1.self_attn.rotary_emb.inv_freq", "legacy", 4740, 1),
    ],
    ids=["a-tied-copy", "an-obsolete-buffer"],
)
def test_what_may_be_stored_beyond_the_parameters(
    values: Json, extra: str, kind: Label, weights: int, buffers: int
) -> None:
    found = _match({*index(values)["weight_map"], extra}, values)
    assert [count for _, count in found.extra(kind)] == [1]
    assert (found.weights, found.buffers, found.missing, found.unexpected) == (weights, buffers, [], [])


def _prefixed(prefix: str, names: Iterable[str] = GOOD) -> set[str]:
    return {prefix + name for name in names}


def _replaced(prefix: str, names: Iterable[str] = GOOD) -> set[str]:
    """The base model's names under another prefix, the head as it is."""
    return {prefix + name.removeprefix("model.") if name.startswith("model.") else name for name in names}


def _edited(family: str, *edits: tuple[str, str], **changes: Any) -> Renamed:
    """The names of a family's fixture, each edited by regular expressions, and its config."""
    values = recorded(family) | changes
    names = {tensor.name for tensor in hfcount.blueprint(values).tensors()}
    for pattern, replacement in edits:
        names = {re.sub(pattern, replacement, name) for name in names}
    return names, values


BASE = set(index(config("llama", architectures=["LlamaModel"]))["weight_map"])
BARE = config("llama", architectures=["LlamaModel"])


def _one(wanted: str, found: str, names: Iterable[str] = GOOD) -> set[str]:
    assert wanted in names
    return {found if name == wanted else name for name in names}


RENAMED: dict[str, Renamed] = {
    "one name": (_one("model.norm.weight", "norm.weight"), config("llama")),
    "one layer": ({name.removeprefix("model.") if LAYER in name else name for name in GOOD}, config("llama")),
    "one kind of tensor": (
        {name.removeprefix("model.") if "q_proj" in name else name for name in GOOD},
        config("llama"),
    ),
    "all but one name": (_one("norm.weight", "model.norm.weight", _replaced("")), config("llama")),
    "the head under model.": (_one("lm_head.weight", "model.lm_head.weight"), config("llama")),
    "Lightning": (_prefixed("model."), config("llama")),
    "model. removed": (_replaced(""), config("llama")),
    "model. twice": (_replaced("model.model."), config("llama")),
    "model. added to a bare model": (_prefixed("model.", BASE), BARE),
    "bert. removed": _edited("bert", (r"^bert\.", "")),
    "gamma and beta": _edited(
        "bert", (r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta")
    ),
    "gamma in one LayerNorm": _edited(
        "bert", (r"layer\.0\.output\.LayerNorm\.weight$", "layer.0.output.LayerNorm.gamma")
    ),
    "gamma, and bert. removed": _edited("bert", (r"^bert\.", ""), (r"LayerNorm\.weight$", "LayerNorm.gamma")),
    "language_model.model. as model.language_model.": _edited(
        "llava",
        (r"^language_model\.model\.", "model.language_model."),
        (r"^language_model\.lm_head\.", "lm_head."),
        (r"^(vision_tower|multi_modal_projector)\.", r"model.\1."),
    ),
    "the language model alone renamed": _edited("llava", (r"^language_model\.model\.", "model.language_model.")),
    "vision_model. within the tower": _edited("llava", (r"^vision_tower\.", "vision_tower.vision_model.")),
    "visual. as model.visual.": _edited("qwen2_vl", (r"^visual\.", "model.visual.")),
    "the names of the multimodal class": _edited("qwen3_5_text", (r"^model\.", "model.language_model.")),
    "those of another multimodal class": _edited("llama4_text", (r"^", "language_model.")),
    "embed_out as lm_head": _edited("gpt_neox", (r"^embed_out\.", "lm_head.")),
    "names of the published files": _edited("bailing_hybrid", (r"\.attention\.", ".self_attn.")),
    "numbers of a list as names": _edited("vit", (r"encoder\.layer\.", "layers.")),
}


@pytest.mark.parametrize(("names", "values"), RENAMED.values(), ids=RENAMED)
def test_names_that_the_reference_takes(names: set[str], values: Json) -> None:
    found, expected = _match(names, values), {tensor.name for tensor in hfcount.blueprint(values).tensors()}
    assert (found.missing, found.unexpected, found.wrapped) == ([], [], None)
    assert {listed for listed, _ in found.renamed} == names - expected != set()
    assert {wanted for _, wanted in found.renamed} == expected - names


def test_a_part_under_another_prefix_may_lack_a_tensor() -> None:
    found = _match(_replaced("") - {"norm.weight"})
    assert (len(found.renamed), found.missing, found.unexpected) == (28, ["model.norm.weight"], [])


NOT_RENAMED: dict[str, Renamed] = {
    "the head under language_model.": (_one("lm_head.weight", "language_model.lm_head.weight"), config("llama")),
    "the head called gamma": (_one("lm_head.weight", "lm_head.gamma"), config("llama")),
    "a projection called gamma": (
        _one("model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.q_proj.gamma"),
        config("llama"),
    ),
    "an RMSNorm called gamma": (_one("model.norm.weight", "model.norm.gamma"), config("llama")),
    "gamma of a query": _edited(
        "bert", (r"layer\.0\.attention\.self\.query\.weight$", "layer.0.attention.self.query.gamma")
    ),
    "a tower's projection of another model": _edited("qwen3_vl", (r"visual\.merger\.", "visual.merger.0.")),
    "the text model of a multimodal class": _edited("qwen3_5", (r"language_model\.norm\.", "norm.")),
}


@pytest.mark.parametrize(("names", "values"), NOT_RENAMED.values(), ids=NOT_RENAMED)
def test_what_is_no_other_spelling(names: set[str], values: Json) -> None:
    found, expected = _match(names, values), {tensor.name for tensor in hfcount.blueprint(values).tensors()}
    assert (found.renamed, found.wrapped, found.missing_count) == ([], None, len(expected - names))
    assert set(found.unexpected) == names - expected != set()


def test_two_spellings_of_one_tensor_are_no_other_spelling() -> None:
    names = {name.removeprefix("model.") for name in GOOD} | _prefixed("model.model.", BASE)
    assert _match(names).renamed == []


# What was done to the names, the wrappers that are named for it, and how many tensors are their own.
WRAPPED: dict[str, tuple[set[str], str, int]] = {
    "torch.compile": (_prefixed("_orig_mod."), "what torch.compile adds", 0),
    "torch.compile of each layer": (
        {re.sub(r"(layers\.\d+\.)", r"\1_orig_mod.", name) for name in GOOD},
        "what torch.compile adds",
        0,
    ),
    "DDP": (_prefixed("module."), "what DDP, DataParallel or DeepSpeed adds", 0),
    "DDP, twice": (_prefixed("module.module."), "what DDP, DataParallel or DeepSpeed adds", 0),
    "DDP of the base model": (_prefixed("module.", BASE), "what DDP, DataParallel or DeepSpeed adds", 0),
    "torch.compile of DDP": (
        _prefixed("_orig_mod.module."),
        "what torch.compile and DDP, DataParallel or DeepSpeed add",
        0,
    ),
    "FSDP": (
        {"_fsdp_wrapped_module." + re.sub(r"(layers\.\d+\.)", r"\1_fsdp_wrapped_module.", name) for name in GOOD},
        "what FSDP adds",
        0,
    ),
    "FSDP, one flat tensor": ({"_flat_param"}, "what FSDP adds", 1),
    "FSDP, a flat tensor a layer": (
        {name for name in GOOD if "layers" not in name}
        | {f"model.layers.{number}._fsdp_wrapped_module._flat_param" for number in range(3)},
        "what FSDP adds",
        3,
    ),
    "activation checkpointing": (
        {re.sub(r"(layers\.\d+\.)", r"\1_checkpoint_wrapped_module.", name) for name in GOOD},
        "what activation checkpointing adds",
        0,
    ),
    "PEFT": (
        _prefixed("base_model.model.", (re.sub(r"(q_proj)\.", r"\1.base_layer.", name) for name in GOOD))
        | {
            f"base_model.model.model.layers.{number}.self_attn.q_proj.lora_{side}.default.weight"
            for number in range(3)
            for side in "AB"
        },
        "what PEFT adds",
        6,
    ),
    "PEFT, the head trained": (
        _prefixed("base_model.model.", (re.sub(r"(lm_head)\.", r"\1.modules_to_save.default.", name) for name in GOOD))
        | {"base_model.model.lm_head.original_module.weight"},
        "what PEFT adds",
        1,
    ),
    "TRL": (
        _prefixed("pretrained_model.") | {"v_head.summary.weight", "v_head.summary.bias"},
        "what TRL adds",
        2,
    ),
    "TRL's value head alone": (GOOD | {"v_head.summary.weight", "v_head.summary.bias"}, "what TRL adds", 2),
    "a module around the model": (_prefixed("net."), "the prefix net.", 0),
    "two modules around the model": (_prefixed("student.net."), "the prefix student.net.", 0),
    "PEFT within a module": (
        _prefixed("language_model.base_model.model."),
        "what PEFT adds and the prefix language_model.",
        0,
    ),
    "a multimodal class": (_replaced("language_model.model."), "the prefix language_model.", 0),
    "another one": (_replaced("model.language_model."), "the prefix model.language_model. instead of model.", 0),
    "the base model of GPT-2": (_replaced("transformer."), "the prefix transformer. instead of model.", 0),
    "pruning": (
        {re.sub(r"proj\.weight$", "proj.weight_orig", name) for name in GOOD}
        | {name + "_mask" for name in GOOD if name.endswith("proj.weight")},
        "what torch.nn.utils.prune adds",
        21,
    ),
    "parametrizations": (
        {re.sub(r"q_proj\.weight$", "q_proj.parametrizations.weight.original", name) for name in GOOD},
        "what torch.nn.utils.parametrize adds",
        0,
    ),
}


@pytest.mark.parametrize(("names", "title", "own"), WRAPPED.values(), ids=WRAPPED)
def test_what_wrappers_leave_in_names(names: set[str], title: str, own: int) -> None:
    found = _match(names)
    assert (found.missing, found.unexpected) == (
        [] if any("head" in name or "flat" in name for name in names) else ["lm_head.weight"],
        [],
    )
    assert found.wrapped is not None
    assert (found.wrapped.title, len(found.wrapped.added)) == (title, own)
    assert found.wrapped.cure.endswith(".")
    assert {stored for stored, _ in found.wrapped.pairs} | set(found.wrapped.added) == names - GOOD
    assert all(wanted in GOOD for _, wanted in found.wrapped.pairs)


def test_what_remains_without_the_wrapper_is_missing_or_unexpected() -> None:
    names = _prefixed("module.", GOOD - {"model.norm.weight"}) | {"module.extra", "further"}
    found = _match(names)
    assert (found.missing, set(found.unexpected)) == (["model.norm.weight"], {"module.extra", "further"})
    assert found.wrapped is not None


NOT_WRAPPED = {
    "another model's names": {f"module.transformer.h.{number}.attn.c_attn.weight" for number in range(9)},
    "a name like a wrapper's": GOOD | {"module.extra"},
    "a tensor that is there twice": GOOD | {"module.model.norm.weight"},
}


@pytest.mark.parametrize("names", NOT_WRAPPED.values(), ids=NOT_WRAPPED)
def test_what_no_wrapper_explains(names: set[str]) -> None:
    found = _match(names)
    assert (found.wrapped, set(found.unexpected), found.missing_count) == (None, names - GOOD, len(GOOD - names))


def _layout(values: Json, *edits: tuple[str, str]) -> set[str]:
    names = {tensor.name for tensor in hfcount.blueprint(values).tensors()}
    for pattern, replacement in edits:
        names = {re.sub(pattern, replacement, name) for name in names}
    return names


_PACKED = [
    (r"(experts)\.\d+\.(?:gate|up)_proj\.weight$", r"\1.gate_up_proj"),
    (r"(experts)\.\d+\.(down_proj)\.weight$", r"\1.\2"),
]
_PACKED_W = [
    (r"block_sparse_moe", "mlp"),
    (r"(experts)\.\d+\.w[13]\.weight$", r"\1.gate_up_proj"),
    (r"(experts)\.\d+\.w2\.weight$", r"\1.down_proj"),
]
_WIDER = r"model.layers.{0-2}.mlp.experts."

# The config, its names in another layout, and the rows that are stored in it, with their shapes.
LAYOUTS: dict[str, tuple[Json, set[str], dict[str, tuple[int, ...]]]] = {
    "packed experts": (
        config("qwen3_moe"),
        _layout(config("qwen3_moe"), *_PACKED),
        {f"{_WIDER}gate_up_proj": (8, 20, 12), f"{_WIDER}down_proj": (8, 12, 10)},
    ),
    "one of two packed": (
        config("qwen3_moe"),
        _layout(config("qwen3_moe"), _PACKED[1]),
        {f"{_WIDER}down_proj": (8, 12, 10)},
    ),
    "packed under another name": (
        config("mixtral"),
        _layout(config("mixtral"), *_PACKED_W),
        {
            "model.layers.{0-2}.block_sparse_moe.experts.gate_up_proj": (8, 40, 12),
            "model.layers.{0-2}.block_sparse_moe.experts.down_proj": (8, 12, 20),
        },
    ),
    "packed, of the base model": (
        config("qwen3_moe"),
        _layout(config("qwen3_moe", architectures=["Qwen3MoeModel"]), *_PACKED) | {"lm_head.weight"},
        {f"{_WIDER}gate_up_proj": (8, 20, 12), f"{_WIDER}down_proj": (8, 12, 10)},
    ),
    "three convolutions in one": (
        recorded("olmo_hybrid"),
        _layout(recorded("olmo_hybrid"), (r"[qkv]_(conv1d\.)", r"\1")),
        {"model.layers.{0-2}.linear_attn.conv1d.weight": (1536, 1, 5)},
    ),
    "a fused projection apart": (
        recorded("hrm_text"),
        {
            other
            for name in _layout(recorded("hrm_text"))
            for other in ({name} if "gate_up" not in name else {name.replace("gate_up", one) for one in ("gate", "up")})
        },
        {
            f"model.{module}_module.layers.{{0-15}}.mlp.{one}_proj.weight": (52, 44)
            for module in "LH"
            for one in ("gate", "up")
        },
    ),
}


@pytest.mark.parametrize(("values", "names", "rows"), LAYOUTS.values(), ids=LAYOUTS)
def test_layouts_that_the_reference_converts(values: Json, names: set[str], rows: dict[str, tuple[int, ...]]) -> None:
    blueprint, found = hfcount.blueprint(values), _match(names, values)
    assert (found.missing, found.unexpected, found.wrapped) == ([], [], None)
    assert {leaf.name: leaf.shape for swap in found.swapped for leaf in swap.stored} == rows
    assert found.weights + found.buffers == sum(leaf.elements for leaf in blueprint.stored_leaves())


def test_a_layer_in_two_layouts_is_in_neither() -> None:
    names = _layout(
        config("qwen3_moe"), (_PACKED[1][0].replace("(experts)", r"(layers\.0\.mlp\.experts)"), _PACKED[1][1])
    )
    found = _match(names, config("qwen3_moe"))
    assert (found.missing_count, found.unexpected) == (8, ["model.layers.0.mlp.experts.down_proj"])


TIED = config("llama", tie_word_embeddings=True)
TIED_NAMES = set(index(TIED)["weight_map"])


@pytest.mark.parametrize(
    ("values", "names", "missing", "stand_ins"),
    [
        (TIED, GOOD - {"model.embed_tokens.weight"}, [], ["lm_head.weight"]),
        (TIED, TIED_NAMES - {"model.embed_tokens.weight"}, ["model.embed_tokens.weight"], []),
        (TIED, GOOD, [], []),
        (config("llama"), GOOD - {"model.embed_tokens.weight"}, ["model.embed_tokens.weight"], []),
    ],
    ids=["only the head", "neither", "both", "not tied"],
)
def test_a_head_stands_in_for_the_embedding(
    values: Json, names: set[str], missing: list[str], stand_ins: list[str]
) -> None:
    found = _match(names, values)
    assert (found.missing, [leaf.name for leaf in found.stand_ins]) == (missing, stand_ins)


AHEAD = "model.layers.3."
WHOLE = {tensor.name for tensor in hfcount.blueprint(DEEPSEEK).tensors(stored=False)}
MODEL = {tensor.name for tensor in hfcount.blueprint(DEEPSEEK).tensors()}
OWN = {name for name in WHOLE - MODEL if name.startswith(AHEAD)}
ORDINARY = {name.replace("model.layers.2.", AHEAD) for name in MODEL if name.startswith("model.layers.2.")}
TABLES = {f"{AHEAD}embed_tokens.weight", f"{AHEAD}shared_head.head.weight"}

PREDICTING: dict[str, tuple[set[str], int, int, bool]] = {
    "whole": (OWN, 0, 0, True),
    "without its copies of the tables": (OWN - TABLES, 0, 0, True),
    "none": (set(), 0, 0, False),
    "an ordinary layer": (ORDINARY, 0, len(ORDINARY), False),
    "part of an ordinary layer": ({f"{AHEAD}mlp.gate.weight"}, 0, 1, False),
    "its own tensors alone": (OWN - ORDINARY, len(ORDINARY), 0, True),
    "but for one norm": (OWN - {f"{AHEAD}enorm.weight"}, 1, 0, True),
    "but for one expert": ({name for name in OWN if ".experts.1." not in name}, 3, 0, True),
}


@pytest.mark.parametrize(("names", "lacking", "unexpected", "stored"), PREDICTING.values(), ids=PREDICTING)
def test_prediction_layers_are_whole_or_none(names: set[str], lacking: int, unexpected: int, stored: bool) -> None:
    found = _match(MODEL | names, DEEPSEEK)
    assert (found.missing, len(found.unexpected)) == ([], unexpected)
    assert (found.unfinished.count if found.unfinished else 0) == lacking
    assert bool(found.extra("auxiliary", "auxiliary buffer")) == stored


def test_each_prediction_layer_is_judged_by_itself() -> None:
    values = DEEPSEEK | {"num_nextn_predict_layers": 2}
    later = {name.replace(AHEAD, "model.layers.4.") for name in OWN}
    assert _match(MODEL | OWN, values).unfinished is None
    assert _match(MODEL | OWN | later, values).unfinished is None
    found = _match(MODEL | OWN | (later - {"model.layers.4.enorm.weight"}), values)
    assert found.unfinished is not None
    assert (found.unfinished.lacking, found.unfinished.elements) == (["model.layers.4.enorm.weight"], 16)


HEADS: dict[str, tuple[Json, set[str], list[str], list[str], list[str]]] = {
    "another beside": (config("llama"), GOOD | {"score.weight"}, [], [], ["score.weight"]),
    "another instead": (
        config("llama"),
        GOOD - {"lm_head.weight"} | {"score.weight"},
        ["lm_head.weight"],
        [],
        ["score.weight"],
    ),
    "with its bias": (config("llama"), GOOD | {"score.weight", "score.bias"}, [], [], ["score.weight", "score.bias"]),
    "a bias that the class lacks": (
        config("llama", architectures=["LlamaForSequenceClassification"]),
        GOOD - {"lm_head.weight"} | {"score.weight", "score.bias"},
        [],
        ["score.bias"],
        [],
    ),
    "a bias that no class has": (config("llama"), GOOD | {"lm_head.bias"}, [], ["lm_head.bias"], []),
}


@pytest.mark.parametrize(("values", "names", "missing", "unexpected", "heads"), HEADS.values(), ids=HEADS)
def test_heads_of_other_classes(
    values: Json, names: set[str], missing: list[str], unexpected: list[str], heads: list[str]
) -> None:
    blueprint, found = hfcount.blueprint(values), _match(names, values)
    set_heads_apart(found, blueprint.leaves, blueprint.other_heads)
    assert (found.missing, found.unexpected, [leaf.name for leaf in found.heads]) == (missing, unexpected, heads)


HUGE: dict[str, tuple[Json, int]] = {
    "a billion layers": (config("llama", num_hidden_layers=10**9), 9 * 10**9 + 3),
    "four billion experts": (
        config("mixtral", num_local_experts=2**32, num_hidden_layers=1),
        6 + 1 + 3 * 2**32 + 3,
    ),
    "a billion layers, every other one dense": (
        config("qwen3_moe", num_hidden_layers=10**9, decoder_sparse_step=2),
        10**9 * 8 + 10**9 // 2 * (1 + 24 + 3) + 3,
    ),
}


@pytest.mark.parametrize(("values", "count"), HUGE.values(), ids=HUGE)
def test_what_a_huge_model_lacks_is_found_by_subtraction(values: Json, count: int) -> None:
    names = {"model.norm.weight", "model.layers.0.self_attn.q_proj.weight", "extra", "norm.weight"}
    found = _match(names, values)
    assert (found.missing_count, set(found.unexpected)) == (count - 2, {"extra", "norm.weight"})
    assert len(found.missing) < 50


FRUGAL: dict[str, Json] = {
    "one dense layer of 10^12": config("qwen3_moe", num_hidden_layers=10**12, mlp_only_layers=[3]),
    "2,000 dense layers of 4,000": config(
        "qwen3_moe", num_hidden_layers=4_000, mlp_only_layers=list(range(0, 4_000, 2))
    ),
}


@pytest.mark.parametrize("values", FRUGAL.values(), ids=FRUGAL)
def test_exceptions_among_many_layers_cost_no_walk_through_all(values: Json) -> None:
    assert _match(GOOD, values).missing_count > 50_000  # a walk through all would not end
