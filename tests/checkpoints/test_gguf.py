"""GGUF files against their own metadata, against the model that they were made of, and in sets."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf_files
import pytest
from gguf_files import CONFIG, LORA, laid_out, model, source

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import blueprint
from hfcount.checkpoints.gguf.base import compare
from hfcount.checkpoints.gguf.bert import positions_cut
from hfcount.checkpoints.gguf.check import check
from hfcount.checkpoints.gguf.lora import LoraTarget, compare_lora
from hfcount.checkpoints.gguf.lora_target import of_config, of_file
from hfcount.checkpoints.gguf.names import expected
from hfcount.checkpoints.gguf.split_set import check_pair, join, raw_part, split_name
from hfcount.checkpoints.gguf.summary import Remark, bases, role, summary
from hfcount.checkpoints.gguf.table import change, changed, folded, slots, table
from hfcount.formats.gguf.header import GgufHeader

Shapes = Mapping[str, tuple[int, ...]]

NONE: Mapping[str, Any] = {}


def header(pairs: Mapping[str, Any], shapes: Shapes, kinds: Mapping[str, str] = NONE) -> GgufHeader:
    return source(pairs, laid_out(shapes, kinds)).read()


def sound(layers: int = 2, **changed: Any) -> GgufHeader:
    return header(*model(layers, **changed))


def altered(metadata: Mapping[str, Any] = NONE, shapes: Shapes = NONE, without: str = "") -> GgufHeader:
    pairs, held = model()
    kept = {name: shape for name, shape in held.items() if not without or without not in f" {name}"}
    return header({**pairs, **metadata}, {**kept, **shapes})


def base(**changed: Any) -> Blueprint:
    return blueprint(CONFIG | changed)


def kinds(remarks: list[Remark]) -> list[tuple[str, str, str]]:
    return [(remark.kind, remark.severity, remark.facts.get("what", "")) for remark in remarks]


# Against its own metadata


def test_a_sound_file_has_nothing_to_tell() -> None:
    file = source(*_rows(model()))
    assert check(file.read(), file.size) == []


def _rows(parts: tuple[dict[str, Any], dict[str, tuple[int, ...]]]) -> Any:
    return parts[0], laid_out(parts[1])


@pytest.mark.parametrize(
    ("file", "what"),
    [
        pytest.param(altered({"qwen3.block_count": 3}), ["layers"], id="a layer too few"),
        pytest.param(altered({"qwen3.block_count": 1}), ["layers"], id="a layer too many"),
        pytest.param(altered(without="blk.1."), ["layers"], id="a layer lost"),
        pytest.param(altered(without="blk.1.ffn_up"), ["missing"], id="a tensor lost"),
        pytest.param(altered(without=".attn_k."), ["missing"], id="a tensor of all layers lost"),
        pytest.param(altered(without="token_embd"), ["missing"], id="the embedding lost"),
        pytest.param(altered(without="output_norm"), ["missing"], id="the last norm lost"),
        pytest.param(altered(shapes={"blk.1.ffn_upp.weight": (96, 64)}), ["unknown"], id="a strange name"),
        pytest.param(altered(shapes={"blk.1.attn_q.weight": (64, 96)}), ["shapes"], id="turned round"),
        pytest.param(altered({"qwen3.embedding_length": 128}), ["shapes"], id="another width"),
        pytest.param(altered({"qwen3.feed_forward_length": 100}), ["shapes"], id="another inner width"),
        pytest.param(altered({"tokenizer.ggml.tokens": ["a"] * 99}), ["shapes"], id="another vocabulary"),
        pytest.param(altered({"qwen3.attention.head_count_kv": 4}), ["shapes"], id="other heads"),
    ],
)
def test_what_metadata_does_not_describe(file: GgufHeader, what: list[str]) -> None:
    assert kinds(check(file)) == [("metadata-differs", "error", one) for one in what]


def test_the_facts_of_a_wrong_shape() -> None:
    (remark,) = check(altered(shapes={"blk.1.attn_q.weight": (64, 96)}))
    assert remark.facts["tensors"] == (("blk.1.attn_q.weight", (96, 64), (64, 96)),)


def test_keys_that_are_absent_are_no_contradiction() -> None:
    pairs, shapes = model()
    kept = ("general", "tokenizer.ggml.model")
    few = {key: value for key, value in pairs.items() if key.startswith(kept) or key.endswith("block_count")}
    assert check(header(few, shapes)) == []


@pytest.mark.parametrize(
    ("gone", "architecture", "expected"),
    [
        ("tokenizer.", "qwen3", [("tokenizer-absent", "note")]),
        ("tokenizer.ggml.tokens", "qwen3", []),
        ("tokenizer.", "flux", [("architecture-unknown", "unverified")]),
    ],
)
def test_llama_cpp_loads_no_model_without_a_tokenizer(
    gone: str, architecture: str, expected: list[tuple[str, str]]
) -> None:
    pairs, shapes = model()
    kept = {key: value for key, value in pairs.items() if not key.startswith(gone)}
    remarks = check(header(kept | {"general.architecture": architecture}, shapes))
    assert [(remark.kind, remark.severity) for remark in remarks] == expected


def test_sizes_may_differ_from_layer_to_layer() -> None:
    widths = {f"blk.1.ffn_{name}.weight": (32, 64) for name in ("gate", "up")} | {"blk.1.ffn_down.weight": (64, 32)}
    assert check(altered({"qwen3.feed_forward_length": [96, 32]}, widths)) == []
    assert kinds(check(altered({"qwen3.feed_forward_length": [32, 96]}, widths)))[0][2] == "shapes"


def test_what_converters_add_and_join_is_known() -> None:
    pairs, shapes = model()
    joined = {name: shape for name, shape in shapes.items() if not any(f".attn_{one}." in name for one in "qkv")}
    joined |= {f"blk.{layer}.attn_qkv.weight": (192, 64) for layer in range(2)}
    assert check(header(pairs, joined)) == []
    assert kinds(check(altered(shapes={"rope_freqs.weight": (12,)}))) == [("converter-added", "note", "")]


def test_types_of_forks_and_bytes_after_the_end() -> None:
    pairs, shapes = model()
    rows = laid_out(shapes)
    name, shape, _, offset = rows[-1]
    fork = source(pairs, [*rows[:-1], (name, shape, 99, offset)], more=30_000)
    assert kinds(check(fork.read(), fork.size)) == [("type-of-a-fork", "unverified", "")]
    longer = source(pairs, rows, more=4096)
    assert kinds(check(longer.read(), longer.size)) == [("bytes-after-end", "note", "")]


def test_an_architecture_that_nobody_recorded_is_not_judged() -> None:
    pairs, shapes = model()
    renamed = {key.replace("qwen3", "unheard"): value for key, value in pairs.items()}
    renamed["general.architecture"] = "unheard"
    assert kinds(check(header(renamed, shapes))) == [("architecture-unknown", "unverified", "")]
    lost = {name: shape for name, shape in shapes.items() if name != "blk.1.ffn_up.weight"}
    assert {severity for _, severity, _ in kinds(check(header(renamed, lost)))} == {"unverified"}


# What a file is


@pytest.mark.parametrize(
    ("pairs", "shapes", "kind"),
    [
        ({"general.type": "model"}, {"token_embd.weight": (2, 2)}, "model"),
        ({}, {"token_embd.weight": (2, 2)}, "model"),
        ({"general.type": "model"}, {}, "vocabulary"),
        ({"general.architecture": "clip"}, {"v.blk.0.ln1.weight": (2,)}, "projector"),
        ({"general.type": "mmproj"}, {"mm.0.weight": (2,)}, "projector"),
        ({"adapter.type": "lora"}, {"blk.0.attn_q.weight.lora_a": (2, 2)}, "adapter"),
        ({"general.type": "imatrix"}, {"blk.0.attn_q.weight.in_sum2": (1, 2)}, "imatrix"),
        ({}, {"blk.0.attn_q.weight.in_sum2": (1, 2), "blk.0.attn_q.weight.counts": (1, 1)}, "imatrix"),
    ],
)
def test_roles(pairs: dict[str, Any], shapes: Shapes, kind: str) -> None:
    assert role(header(pairs, shapes)) == kind


def test_a_summary() -> None:
    shapes = {"a": (4, 256), "b": (3,)}
    found = summary(header({"general.architecture": "x", "quantize.imatrix.entries_count": 7}, shapes, {"a": "Q4_K"}))
    assert found.types == {"Q4_K": (1, 1024, 576), "F32": (1, 3, 12)}
    assert (found.elements, found.bytes, found.imatrix) == (1027, 588, {"entries_count": 7})
    assert round(found.bits, 2) == 4.58


def test_bases() -> None:
    pairs = {
        "general.base_model.count": 3,
        "general.base_model.0.repo_url": "https://huggingface.co/org/model",
        "general.base_model.1.organization": "Other Org",
        "general.base_model.1.name": "Model 2",
    }
    assert bases(header(pairs, {})) == ("org/model", "Other-Org/Model-2")


def test_adapters() -> None:
    pairs = LORA
    good = {"blk.0.attn_q.weight.lora_a": (8, 64), "blk.0.attn_q.weight.lora_b": (96, 8)}
    assert check(header(pairs, good)) == []
    half = header(pairs, {"blk.0.attn_q.weight.lora_a": (8, 64)})
    assert kinds(check(half)) == [("half-missing", "error", "")]
    other = header(pairs, {**good, "blk.0.attn_q.weight.lora_b": (96, 4)})
    assert kinds(check(other)) == [("rank-differs", "error", "")]


# Against its base


def test_a_file_of_its_base() -> None:
    assert compare(sound(), base()) == []


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"num_hidden_layers": 3}, ("layers", (3, 2))),
        ({"vocab_size": 103}, ("rows", (103, 100))),
        ({"num_hidden_layers": 1}, ("layers", (1, 2))),
        ({"intermediate_size": 80}, ("shapes", None)),
        ({"attention_bias": True}, ("missing", None)),
    ],
)
def test_a_file_of_another_base(changes: dict[str, Any], fact: tuple[str, Any]) -> None:
    for binding, severity in ((False, "note"), (True, "error")):
        (remark,) = compare(sound(), base(**changes), binding)
        assert (remark.kind, remark.severity) == ("differs-from-base", severity)
        assert fact[0] in remark.facts
        assert fact[1] is None or remark.facts[fact[0]] == fact[1]


def test_the_head_of_a_tied_model_may_be_copied() -> None:
    assert kinds(compare(sound(), base(tie_word_embeddings=True))) == [("converter-added", "note", "")]
    assert compare(altered(without=" output.weight"), base(tie_word_embeddings=True)) == []


def test_experts_are_stacked_and_may_be_joined() -> None:
    config = json.loads(Path("fixtures/architectures/qwen3_moe.json").read_text())["config"]
    wanted = expected(blueprint(config), "qwen3moe", 3, {})
    assert wanted.shapes["blk.0.ffn_gate_exps.weight"] == (20, 56, 88)
    assert wanted.shapes["blk.2.ffn_down_exps.weight"] == (20, 88, 56)
    assert not wanted.unmapped


def test_vocabularies_cut_to_the_tokenizer() -> None:
    config = json.loads(Path("fixtures/architectures/gemma3_text.json").read_text())["config"]
    plan = blueprint(config)
    layers = config["num_hidden_layers"]
    shapes = {name: shape for name, shape in expected(plan, "gemma3", layers, {}).shapes.items() if shape}
    rows, width = shapes["token_embd.weight"]
    cut = {**shapes, "token_embd.weight": (rows - 5, width)}
    for tokens, count in ((rows - 5, 0), (rows - 4, 1)):
        pairs = {"general.architecture": "gemma3", "gemma3.block_count": layers}
        file = header({**pairs, "tokenizer.ggml.tokens": ["t"] * tokens}, cut)
        assert len(compare(file, plan)) == count


def recorded() -> dict[str, set[str]]:
    """The architectures of each recorded type."""
    found: dict[str, set[str]] = {}
    for architecture, layers in table().layers.items():
        for model_type in layers.model_types:
            if not architecture.startswith("clip:"):
                found.setdefault(model_type, set()).add(architecture)
    return found


def test_every_recorded_type_is_named_whole() -> None:
    for model_type, architectures in recorded().items():
        path = Path("fixtures/architectures", f"{model_type}.json")
        if path.exists() and path.stat().st_size < 12_000:
            config = json.loads(path.read_text())["config"]
            plan, layers = blueprint(config), config.get("num_hidden_layers", 0)
            named = [expected(plan, architecture, layers, {}) for architecture in architectures]
            assert any(wanted.shapes and not wanted.unmapped for wanted in named), model_type


# Sets


def split(count: int = 2) -> dict[str, GgufHeader]:
    pairs, shapes = model()
    names = list(shapes)
    step = -(-len(names) // count)
    parts = {}
    for number in range(count):
        own = {name: shapes[name] for name in names[number * step : (number + 1) * step]}
        facts = {"split.no": number, "split.count": count, "split.tensors.count": len(names)}
        parts[f"m-{number + 1:05}-of-{count:05}.gguf"] = header({**(pairs if number == 0 else {}), **facts}, own)
    return parts


def test_a_split_set() -> None:
    for count in (2, 3):
        whole, remarks = join(split(count))
        assert remarks == []
        assert check(whole) == []
        assert compare(whole, base()) == []


def test_split_sets_that_are_not_whole() -> None:
    parts = split(3)
    first, second, third = parts
    assert kinds(join({first: parts[first], third: parts[third]})[1]) == [("split-incomplete", "error", "parts")]
    swapped = {first: parts[first], second: parts[third], third: parts[second]}
    assert {what for _, _, what in kinds(join(swapped)[1])} == {"split.no"}
    twice = {first: parts[first], second: parts[second], third: parts[second]}
    assert "tensors twice" in {what for _, _, what in kinds(join(twice)[1])}


def test_names_of_parts() -> None:
    assert split_name("a-00002-of-00010.gguf") == ("a", 2, 10)
    assert split_name("a.gguf") is None
    assert raw_part("a.Q4_K.gguf.part1of2") and raw_part("a.gguf-split-a")
    assert not raw_part("a-00002-of-00010.gguf")


def test_projectors_have_the_width_of_their_model() -> None:
    for width, count in ((64, 0), (80, 1)):
        pairs = {"general.architecture": "clip", "clip.vision.projection_dim": width}
        assert len(check_pair(sound(), header(pairs, {"mm.0.weight": (width, 8)}))) == count
    older = header({"general.architecture": "clip", "clip.vision.projection_dim": 768}, {"mm.2.weight": (64, 64)})
    assert check_pair(sound(), older) == []


# The table


@pytest.mark.parametrize(
    ("shape", "result", "origins", "name"),
    [
        ((3, 4), (3, 4), 1, "same"),
        ((3, 1, 4), (3, 4), 1, "squeezed"),
        ((3,), (3, 1), 1, "column"),
        ((3, 4), (4, 3), 1, "turned"),
        ((3, 4), (8, 3, 4), 8, "stacked"),
        ((3, 4), (8, 4, 3), 8, "stacked-turned"),
        ((5, 6, 4), (5, 3, 4), 1, "part1of2"),
        ((5, 4, 6), (5, 3, 4), 1, "part2of2-turned"),
        ((9, 4), (5, 4), 1, "other"),
    ],
)
def test_changes_of_shape(shape: Any, result: Any, origins: int, name: str) -> None:
    assert change(shape, result, origins) == name
    assert changed(name, shape, origins) == (None if name == "other" else result)


def test_patterns() -> None:
    assert [pattern for pattern, _ in slots("a.1.b.2.c")] == ["a.#.b.#.c", "a.#.b.2.c", "a.1.b.2.c"]
    assert folded("blk.12.attn_q.weight") == ("blk.attn_q.weight", 12)
    assert folded("enc.blk.0.ffn_up.weight") == ("enc.blk.ffn_up.weight", 0)
    assert folded("output.weight") == ("output.weight", None)


# BERT and its relatives, whose rows of positions and classifiers the converter changes

CLASSIFIER: Shapes = {"cls.weight": (32, 32), "cls.bias": (32,), "cls.output.weight": (2, 32), "cls.output.bias": (2,)}


def of_bert(positions: int, further: Shapes = NONE) -> GgufHeader:
    """A file of the converter for BERT, with rows of positions."""
    pairs, shapes = gguf_files.bert(positions)
    return header(pairs, {**shapes, **further})


ROBERTA = {"model_type": "roberta", "architectures": ["RobertaModel"]}
OF_BERT: dict[str, tuple[dict[str, Any], GgufHeader, str]] = {
    "BERT": ({}, of_bert(66), ""),
    "BERT, cut": ({}, of_bert(64), "shapes"),
    "BERT that guesses words": ({"architectures": ["BertForMaskedLM"]}, of_bert(66), ""),
    "a classifier of BERT": (
        {"architectures": ["BertForSequenceClassification"]},
        of_bert(66, {"cls.weight": (2, 32), "cls.bias": (2,)}),
        "",
    ),
    "a classifier of BERT whose labels have names": (
        {"architectures": ["BertForSequenceClassification"]},
        of_bert(66, {"cls.output.weight": (2, 32), "cls.output.bias": (2,)}),
        "",
    ),
    "a classifier of BERT, lost": ({"architectures": ["BertForSequenceClassification"]}, of_bert(66), "missing"),
    "a classifier of BERT of three labels": (
        {"architectures": ["BertForSequenceClassification"]},
        of_bert(66, {"cls.weight": (3, 32), "cls.bias": (3,)}),
        "shapes",
    ),
    "RoBERTa, cut": (ROBERTA, of_bert(64), ""),
    "RoBERTa, not cut": (ROBERTA, of_bert(66), "shapes"),
    "RoBERTa whose padding is the first": (ROBERTA | {"pad_token_id": 0}, of_bert(65), ""),
    "a layer of RoBERTa more": (ROBERTA | {"num_hidden_layers": 3}, of_bert(64), "missing"),
    "XLM-R": ({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"]}, of_bert(64), ""),
    "a classifier of RoBERTa": (
        ROBERTA | {"architectures": ["RobertaForSequenceClassification"]},
        of_bert(64, CLASSIFIER),
        "",
    ),
    "a classifier that the base has not": (ROBERTA, of_bert(64, CLASSIFIER), "unexpected"),
}


@pytest.mark.parametrize(("changes", "file", "fact"), OF_BERT.values(), ids=OF_BERT)
def test_a_file_of_bert_and_its_base(changes: dict[str, Any], file: GgufHeader, fact: str) -> None:
    values = gguf_files.BERT | changes
    remarks = compare(file, blueprint(values), binding=True, positions=positions_cut(values))
    assert [fact in remark.facts for remark in remarks] == ([True] if fact else [])


# A LoRA and its base

OF_LORA: dict[str, tuple[Shapes, list[str]]] = {
    "a matrix": ({"blk.0.attn_q.weight": (96, 64)}, []),
    "the embedding": ({"token_embd.weight": (100, 64)}, []),
    "another width": ({"blk.0.attn_q.weight": (96, 72)}, ["lora-shape-differs"]),
    "other rows": ({"blk.1.ffn_down.weight": (32, 96)}, ["lora-shape-differs"]),
    "an embedding of another vocabulary": ({"token_embd.weight": (101, 64)}, ["lora-shape-differs"]),
    "a layer too many": ({"blk.2.attn_q.weight": (96, 64)}, ["lora-unmatched"]),
    "a strange name": ({"blk.0.attn_x.weight": (96, 64)}, ["lora-unmatched"]),
}


@pytest.mark.parametrize(("adapted", "told"), OF_LORA.values(), ids=OF_LORA)
def test_a_lora_and_its_base(adapted: Shapes, told: list[str]) -> None:
    adapter = header(LORA, halves(adapted))
    for target in (of_file(sound()), of_config(base(), gguf_files.CONFIG, adapter)):
        assert isinstance(target, LoraTarget)
        remarks = list(compare_lora(adapter, target))
        assert [(remark.kind, remark.severity) for remark in remarks] == [(kind, "error") for kind in told]


def halves(adapted: Shapes, rank: int = 8) -> dict[str, tuple[int, ...]]:
    """The two matrices of each tensor."""
    pairs: dict[str, tuple[int, ...]] = {}
    for name, (rows, inputs) in adapted.items():
        if name.startswith("token_embd"):  # llama.cpp looks rows of the embedding up in the first half
            pairs |= {f"{name}.lora_a": (rows, rank), f"{name}.lora_b": (inputs, rank)}
        else:
            pairs |= {f"{name}.lora_a": (rank, inputs), f"{name}.lora_b": (rows, rank)}
    return pairs


def test_a_lora_of_an_embedding_that_is_the_head_too() -> None:
    pairs, shapes = model()
    file = header(pairs, {name: shape for name, shape in shapes.items() if name != "output.weight"})
    adapter = header(LORA, halves({"token_embd.weight": (100, 64)}))
    config = {**gguf_files.CONFIG, "tie_word_embeddings": True}
    for target in (of_file(file), of_config(blueprint(config), config, adapter)):
        assert isinstance(target, LoraTarget)
        assert [remark.kind for remark in compare_lora(adapter, target)] == ["lora-not-applied"]
        assert "output.weight" not in target.shapes


def test_a_lora_of_another_architecture() -> None:
    adapter = header({**LORA, "general.architecture": "llama"}, halves({"blk.0.attn_q.weight": (96, 64)}))
    for target in (of_file(sound()), of_config(base(), gguf_files.CONFIG, adapter)):
        assert isinstance(target, LoraTarget)
        (remark,) = compare_lora(adapter, target)
        assert (remark.kind, remark.facts) == ("lora-architecture", {"expected": "qwen3", "observed": "llama"})


def test_a_lora_of_experts() -> None:
    target = LoraTarget("qwen3moe", {"blk.0.ffn_up_exps.weight": (4, 96, 64)})
    pair = {"blk.0.ffn_up_exps.weight.lora_a": (4, 8, 64), "blk.0.ffn_up_exps.weight.lora_b": (4, 96, 8)}
    own = {**LORA, "general.architecture": "qwen3moe"}
    assert list(compare_lora(header(own, pair), target)) == []
    for shape in ((1, 8, 64), (8, 64)):
        (remark,) = compare_lora(header(own, {**pair, "blk.0.ffn_up_exps.weight.lora_a": shape}), target)
        assert remark.facts["tensors"] == (("blk.0.ffn_up_exps.weight.lora_a", (4, 8, 64), shape),)


def test_a_model_that_is_refused_has_no_lora() -> None:
    assert of_file(altered(without="blk.1.ffn_up.weight")) == "llama.cpp needs the tensor blk.1.ffn_up.weight"


ODD_LORAS: dict[str, tuple[dict[str, Any], dict[str, tuple[int, ...]], str, str]] = {
    "no type": ({"general.type": None}, {}, "lora-not-applied", "general.type is absent"),
    "another type": ({"general.type": "model"}, {}, "lora-not-applied", "general.type is model"),
    "another method": ({"adapter.type": "loha"}, {}, "lora-not-applied", "adapter.type is loha"),
    "alpha as a whole number": ({"adapter.lora.alpha": 16}, {}, "lora-not-applied", "of the type u32"),
    "alpha that is no number": ({"adapter.lora.alpha": float("nan")}, {}, "lora-not-applied", "is nan"),
    "no alpha": ({"adapter.lora.alpha": None}, {}, "lora-partly-applied", "absent or 0"),
    "alpha 0": ({"adapter.lora.alpha": 0.0}, {}, "lora-partly-applied", "absent or 0"),
    "words in place of tokens": ({"adapter.alora.invocation_tokens": ["a"]}, {}, "lora-not-applied", "str[]"),
    "a norm": ({}, {"output_norm.weight": (64,)}, "lora-norms", ""),
    "a tensor of the model": ({}, {"output.weight": (100, 64)}, "lora-strange", ""),
    "a vector": ({}, {"blk.0.attn_q.weight.lora_a": (8,)}, "lora-not-applied", "is no matrix"),
}


@pytest.mark.parametrize(("pairs", "more", "kind", "says"), ODD_LORAS.values(), ids=ODD_LORAS)
def test_what_llama_cpp_refuses_of_a_lora(
    pairs: dict[str, Any], more: dict[str, tuple[int, ...]], kind: str, says: str
) -> None:
    own = {key: value for key, value in {**LORA, **pairs}.items() if value is not None}
    file = header(own, {**halves({"blk.0.attn_q.weight": (96, 64)}), **more})
    assert role(file) == "adapter"
    (remark,) = check(file)
    assert remark.kind == kind
    assert says in remark.facts.get("says", "")


def test_a_lora_that_holds_nothing_or_what_is_not_multiplied() -> None:
    (remark,) = check(header(LORA, {}))
    assert "no pair" in remark.facts["says"]
    pair = halves({"blk.0.attn_q.weight": (96, 64)})
    (remark,) = check(header(LORA, pair, {"blk.0.attn_q.weight.lora_b": "I8"}))
    assert "multiplies no matrices" in remark.facts["says"]


def test_a_lora_is_not_held_against_millions_of_tensors() -> None:
    adapter = header(LORA, halves({"blk.0.attn_q.weight": (96, 64)}))
    remark = of_config(base(num_hidden_layers=10**6), gguf_files.CONFIG, adapter)
    assert isinstance(remark, Remark)
    assert (remark.kind, remark.severity) == ("too-many", "unverified")
