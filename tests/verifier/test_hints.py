"""What the stored sizes say of a config: values of its keys, and of keys that a size is derived from."""

import json

import pytest
from build import Json, config
from paths import ARCHITECTURES

import hfcount
from hfcount.spec.tree.dims import Dim
from hfcount.verifier.causes.hints import Hint, agreed, derived, sights
from hfcount.verifier.causes.stored_rows import StoredRows, compare


def recorded(name: str, **changes: object) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return values | changes


def agreed_on(read: Json, stored: Json) -> list[tuple[str, int, int]]:
    """What all sights of a checkpoint agree on that was built by one config and is read by another."""
    held = StoredRows.of({one.name: tuple(map(int, one.shape)) for one in hfcount.blueprint(stored).tensors()})
    blueprint = hfcount.blueprint(read)
    return [hint[:3] for hint in agreed(sights(blueprint, compare(blueprint.leaves, held), held))]


GPT2, GEMMA, BART = recorded("gpt2"), recorded("gemma3"), recorded("bart")
SAME = config("qwen3_moe", mlp_only_layers=[1], intermediate_size=10)


def within(part: str, **changes: object) -> Json:
    """Gemma 3 with another value in one of its parts."""
    return GEMMA | {part: GEMMA[part] | changes}


@pytest.mark.parametrize(
    ("read", "stored", "hints"),
    [
        (config("llama"), config("llama"), []),
        (config("llama"), config("llama", vocab_size=60), [("vocab_size", 50, 60)]),
        (recorded("focalnet", depths=[1, 2, 3]), recorded("focalnet", depths=[1, 2, 2]), [("depths[2]", 3, 2)]),
        (config("qwen3_moe"), config("qwen3_moe", moe_intermediate_size=12), [("moe_intermediate_size", 10, 12)]),
        (SAME, SAME | {"moe_intermediate_size": 12}, [("moe_intermediate_size", 10, 12)]),
        (SAME, SAME | {"intermediate_size": 12}, [("intermediate_size", 10, 12)]),
        (config("mixtral"), config("mixtral", num_local_experts=6), [("num_local_experts", 8, 6)]),
        (config("llama"), config("llama", num_hidden_layers=5), [("num_hidden_layers", 3, 5)]),
        (SAME, SAME | {"num_hidden_layers": 2}, []),  # no one key gives the number of layers of one kind
        (GPT2, GPT2 | {"n_layer": 2}, [("n_layer", GPT2["n_layer"], 2)]),
        (BART, BART | {"decoder_layers": 1}, [("decoder_layers", BART["decoder_layers"], 1)]),
        (
            GEMMA,
            within("text_config", intermediate_size=8),
            [("text_config.intermediate_size", GEMMA["text_config"]["intermediate_size"], 8)],
        ),
        (
            GEMMA,
            within("vision_config", num_hidden_layers=1),
            [("vision_config.num_hidden_layers", GEMMA["vision_config"]["num_hidden_layers"], 1)],
        ),
        (config("qwen3", "head_dim"), config("qwen3", head_dim=5), [("head_dim", 128, 5)]),
    ],
)
def test_the_keys_whose_values_all_sights_agree_on(read: Json, stored: Json, hints: list[tuple[str, int, int]]) -> None:
    assert agreed_on(read, stored) == hints


def size(name: str, axis: int) -> int:
    (leaf,) = [leaf for leaf in hfcount.blueprint(config("llama")).leaves if leaf.name.endswith(name)]
    return leaf.shape[axis]


def test_every_key_that_would_give_a_derived_size() -> None:
    rows = size("k_proj.weight", 0)
    assert isinstance(rows, Dim)
    hints = [(hint.key, hint.read, hint.fits) for hint in derived(rows, 12, ["head_dim"])]
    assert hints[:3] == [("num_key_value_heads", 2, 4), ("hidden_size", 12, 24), ("num_attention_heads", 4, 2)]
    assert ("head_dim", 3, 6) in hints
    assert derived(rows, 0, ["head_dim"]) == []


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (Hint("hidden_size", 12, 1600, "hidden_size"), "hidden_size is 12, but 1,600 would fit"),
        (Hint("head_dim", 128, 5, "head_dim, by default"), "head_dim is 128 by default, but 5 would fit"),
        (Hint("head_dim", 3, 5, "d / h"), "head_dim is derived as d / h = 3, but 5 would fit"),
        (Hint("n_layer", 3, 1, "n_layer", "layer"), "n_layer is 3, but the checkpoint has 1 layer"),
        (Hint("n", 8, 6, "n", "expert"), "n is 8, but the checkpoint has 6 experts in every layer"),
    ],
)
def test_a_hint_in_words(hint: Hint, text: str) -> None:
    assert str(hint) == text


def test_a_size_that_divides_by_a_part_of_a_key_has_no_value_where_that_is_0() -> None:
    size = Dim.named("d", 32, "hidden_size") // (Dim.named("h", 8, "num_heads") // 2)
    assert {(hint.key, hint.fits) for hint in derived(size, 16, ())} == {("hidden_size", 64), ("num_heads", 5)}
