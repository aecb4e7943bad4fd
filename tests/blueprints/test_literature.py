"""Rules of thumb and told numbers: each comes out as told, and the truth beside it is a published count."""

import re

import pytest
from literature import MISTAKES, RULES, Mistake, Rule, model, sizes

_PUBLISHED = {
    "Qwen/Qwen3-32B": 32_762_123_264,
    "Qwen/Qwen3-235B-A22B": 235_093_634_560,
    "Qwen/Qwen2.5-3B": 3_085_938_688,
    "mistralai/Mistral-7B-v0.1": 7_241_732_096,
    "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,
    "meta-llama/Llama-3.1-8B": 8_030_261_248,
    "configs/llama-7b.json": 6_738_415_616,
    "configs/gpt2-medium.json": 354_823_168,
    "configs/bert-base-uncased.json": 109_514_298,
    "configs/deepseek-moe-16b-base.json": 16_375_728_128,
}


@pytest.mark.parametrize("name", _PUBLISHED)
def test_the_models_are_what_they_are(name: str) -> None:
    assert model(name).total == _PUBLISHED[name]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.subject)
def test_the_mistake_comes_to_what_was_told(mistake: Mistake) -> None:
    wrong, told = mistake.wrong(model(*mistake.model)), mistake.told
    if re.fullmatch(r"[\d,]+", told):
        assert f"{wrong + mistake.slip:,}" == told
    elif mistake.unit > 1:
        number = told.rstrip("BMG")
        last_place = 10 ** -len(number.partition(".")[2])
        assert wrong / mistake.unit == pytest.approx(float(number), abs=2 * last_place)
    else:
        assert wrong != mistake.true(model(*mistake.model))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.subject)
def test_what_is_called_right_is(mistake: Mistake) -> None:
    blueprint = model(*mistake.model)
    assert (mistake.wrong(blueprint) == mistake.true(blueprint)) == (mistake.why == "right")


@pytest.mark.parametrize(
    ("name", "rule", "percent"),
    [
        ("configs/llama-7b.json", "4·d²", 0.0),
        ("Qwen/Qwen3-8B", "4·d²", 60.0),
        ("Qwen/Qwen3-32B", "4·d²", 11.1),
        ("Qwen/Qwen3-32B", "d²·(2 + 2·h_kv/h)", -37.5),
        ("configs/gpt2-medium.json", "12·d²", -0.1),
        ("Qwen/Qwen3-32B", "12·d²", -35.5),
        ("configs/llama-7b.json", "16·d²", 32.6),
        ("mistralai/Mistral-7B-v0.1", "2·|V|·d + N·(4·d² + 3·d·d_ff)", 11.1),
        ("Qwen/Qwen2.5-3B", "2·|V|·d + N·(4·d² + 3·d·d_ff)", 18.6),
    ],
)
def test_how_far_a_rule_is_off(name: str, rule: str, percent: float) -> None:
    (found,) = [one for one in RULES if (one.model, one.text) == (name, rule)]
    rough, exact = found.numbers
    assert 100 * (rough - exact) / exact == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.text}-{rule.model}")
def test_a_rule_is_the_formula_that_it_says(rule: Rule) -> None:
    text = rule.text.replace("|V|", "V").replace("·", "*").replace("²", "**2")
    assert eval(text, {}, sizes(model(rule.model))) == rule.numbers[0]


def test_sixteen_d_squared_holds_only_where_the_network_is_four_times_as_wide() -> None:
    wide = model("configs/llama-7b.json", "intermediate_size=16384").formula()
    (kind,) = wide.kinds
    d = wide.legend["d"]
    assert wide.legend["d_ff"] == 4 * d
    assert {role: wide.text(terms) for role, terms in kind.parts.items()} == {
        "norm": "2·d",
        "attention": "h_d·d·(2·h + 2·h_kv)",
        "mlp": "3·d·d_ff",
    }
    assert 4 * d * d + 3 * d * 4 * d == 16 * d * d


def test_the_bare_encoder_and_what_its_file_holds_besides() -> None:
    blueprint = model("configs/bert-base-uncased.json")
    bare = model("configs/bert-base-uncased.json", 'architectures=["BertModel"]')
    beside = {leaf.name: leaf.elements for leaf in blueprint.other_heads}
    pooler = sum(size for name, size in beside.items() if "pooler" in name)
    next_sentence = sum(size for name, size in beside.items() if "seq_relationship" in name)
    assert (bare.total, pooler, next_sentence) == (109_482_240, 590_592, 1_538)
    assert blueprint.total + pooler + next_sentence == 110_106_428


def test_compute_grows_with_the_chosen_experts_and_parameters_with_all_of_them() -> None:
    name = "Qwen/Qwen3-235B-A22B"
    base, chosen, more = model(name), model(name, "num_experts_per_tok=16"), model(name, "num_experts=256")
    s = base.formula().legend
    expert, router = 3 * s["N"] * s["d"] * s["d_ff"], s["N"] * s["d"]
    assert (chosen.total - base.total, chosen.active - base.active) == (0, 8 * expert)
    assert (more.total - base.total, more.active - base.active) == (128 * (expert + router), 128 * router)


@pytest.mark.parametrize(("kv_heads", "parameters"), [(64, 64), (8, 8), (1, 1)], ids=["mha", "gqa", "mqa"])
def test_attention_by_key_value_heads(kv_heads: int, parameters: int) -> None:
    blueprint = model("Qwen/Qwen3-32B", f"num_key_value_heads={kv_heads}")
    norms = 2 * 128
    assert blueprint.by_component["attention"].total == 64 * (2 * 64 * 128 * 5120 + 2 * parameters * 128 * 5120 + norms)
