"""How a checkpoint's names match a blueprint's: exactly, under another prefix, or not."""

from collections.abc import Callable, Iterable

import pytest
from build import Json, config, index

import hfcount
from hfcount.tree.leaves import Label
from hfcount.verifier.names import Match, match

Edit = Callable[[set[str]], set[str]]
GOOD = set(index(config("llama"))["weight_map"])
LAYER = "model.layers.1."


def _match(names: Iterable[str], values: Json | None = None) -> Match:
    return match(hfcount.blueprint(values or config("llama")).leaves, set(names))


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


BASE = set(index(config("llama", architectures=["LlamaModel"]))["weight_map"])

RENAMED: dict[str, tuple[set[str], Json, int]] = {
    "model. removed": (_replaced(""), config("llama"), 29),
    "transformer. for model.": (_replaced("transformer."), config("llama"), 29),
    "model. twice": (_replaced("model.model."), config("llama"), 29),
    "language_model. before all": (_prefixed("language_model."), config("llama"), 30),
    "language_model.model. for model.": (_replaced("language_model.model."), config("llama"), 29),
    "model.language_model. for model.": (_replaced("model.language_model."), config("llama"), 29),
    "model. added to a bare model": (_prefixed("model.", BASE), config("llama", architectures=["LlamaModel"]), 29),
}


@pytest.mark.parametrize(("names", "values", "count"), RENAMED.values(), ids=RENAMED)
def test_a_part_under_another_prefix(names: set[str], values: Json, count: int) -> None:
    found = _match(names, values)
    assert (len(found.renamed), found.missing, found.unexpected) == (count, [], [])
    expected = {tensor.name for tensor in hfcount.blueprint(values).tensors()}
    assert {listed for listed, _ in found.renamed} == names - expected
    assert {wanted for _, wanted in found.renamed} == expected - names


def test_a_part_under_another_prefix_may_lack_a_tensor() -> None:
    found = _match(_replaced("") - {"norm.weight"})
    assert (len(found.renamed), found.missing, found.unexpected) == (28, ["model.norm.weight"], [])


NOT_RENAMED: dict[str, set[str]] = {
    "one name": (GOOD - {"model.norm.weight"}) | {"norm.weight"},
    "one layer": {name.removeprefix("model.") if LAYER in name else name for name in GOOD},
    "one kind of tensor": {name.removeprefix("model.") if "q_proj" in name else name for name in GOOD},
    "all but one name": (_replaced("") - {"norm.weight"}) | {"model.norm.weight"},
    "a prefix no loader knows": _replaced("backbone."),
    "part of a prefix": _replaced("odel."),
    "a prefix in capitals": _replaced("MODEL."),
}


@pytest.mark.parametrize("names", NOT_RENAMED.values(), ids=NOT_RENAMED)
def test_what_is_no_other_spelling(names: set[str]) -> None:
    found = _match(names)
    assert (found.renamed, set(found.unexpected), found.missing_count) == ([], names - GOOD, len(GOOD - names))


def test_two_spellings_of_one_tensor_are_no_other_spelling() -> None:
    names = {name.removeprefix("model.") for name in GOOD} | _prefixed("transformer.", BASE)
    assert _match(names).renamed == []


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
