"""Closed forms: the textbooks' terms, every printed form worked out by a reader, and where each symbol is from."""

import json
import re
from collections.abc import Mapping
from itertools import combinations

import pytest
from build import FAMILIES, TINY, Json, config
from paths import ARCHITECTURES
from tables import over

import hfcount
from hfcount import Blueprint
from hfcount.architectures import families
from hfcount.blueprints.formula.closed_form import Formula
from hfcount.blueprints.formula.latex import latex
from hfcount.spec.tree.dims import polynomial
from hfcount.spec.tree.polynomials import Monomial, Polynomial, evaluate, render

RECORDED: dict[str, Json] = {
    path.stem: json.loads(path.read_text())["config"] for path in sorted(ARCHITECTURES.glob("*.json"))
}

ATTENTION = "2·h·h_d·d + 2·h_kv·h_d·d"
NORMED = f"{ATTENTION} + 2·h_d"
BIASED = "2·h·h_d·d + h·h_d + 2·h_kv·h_d·d + 2·h_kv·h_d"
FRAME = "d·(2·|V| + 1)"


@pytest.mark.parametrize(
    ("family", "total", "active"),
    [
        ("llama", f"N·(2·d + 3·d·d_ff + {ATTENTION}) + {FRAME}", None),
        ("mistral", f"N·(2·d + 3·d·d_ff + {ATTENTION}) + {FRAME}", None),
        ("qwen2", f"N·(2·d + 3·d·d_ff + {BIASED}) + {FRAME}", None),
        ("qwen3", f"N·(2·d + 3·d·d_ff + {NORMED}) + {FRAME}", None),
        (
            "mixtral",
            f"N·(2·d + n·d + 3·n·d·d_ff + {ATTENTION}) + {FRAME}",
            f"N·(2·d + n·d + 3·k·d·d_ff + {ATTENTION}) + {FRAME}",
        ),
        (
            "qwen3_moe",
            f"N·(2·d + n·d + 3·n·d·d_ff + {NORMED}) + {FRAME}",
            f"N·(2·d + n·d + 3·k·d·d_ff + {NORMED}) + {FRAME}",
        ),
    ],
)
def test_the_whole_reads_as_it_is_taught(family: str, total: str, active: str | None) -> None:
    formula = hfcount.blueprint(TINY[family]).formula()
    assert (str(formula), formula.text(formula.active)) == (total, active or total)


@pytest.mark.parametrize(
    ("family", "component", "taught"),
    [
        ("qwen3", "embedding", ["d·|V|"]),
        ("qwen3", "lm_head", ["d·|V|"]),
        ("qwen3", "norm", ["2·N·d", "d"]),
        ("qwen3", "mlp", ["3·N·d·d_ff"]),
        ("qwen3", "attention", ["2·N·h·h_d·d", "2·N·h_kv·h_d·d", "2·N·h_d"]),
        ("qwen2", "attention", ["2·N·h·h_d·d", "2·N·h_kv·h_d·d", "N·h·h_d", "2·N·h_kv·h_d"]),
        ("qwen2", "mlp", ["3·N·d·d_ff"]),
        ("qwen3_moe", "router", ["N·n·d"]),
        ("qwen3_moe", "experts", ["3·N·n·d·d_ff"]),
        ("qwen3_moe", "attention", ["2·N·h·h_d·d", "2·N·h_kv·h_d·d", "2·N·h_d"]),
        ("qwen3_moe", "norm", ["2·N·d", "d"]),
    ],
)
def test_components_have_the_terms_of_the_literature(family: str, component: str, taught: list[str]) -> None:
    formula = hfcount.blueprint(TINY[family]).formula()
    ((terms,),) = [[terms for role, terms in formula.components.items() if role == component]]
    assert set(render(terms, formula.names).split(" + ")) == set(taught)


def test_active_experts_are_k_of_n_and_the_router_stays_whole() -> None:
    formula = hfcount.blueprint(TINY["qwen3_moe"]).formula()
    assert {role: formula.text(terms) for role, terms in formula.active_components.items() if role != "attention"} == {
        "embedding": "d·|V|",
        "norm": "2·N·d + d",
        "router": "N·n·d",
        "experts": "3·N·k·d·d_ff",
        "lm_head": "d·|V|",
    }


@pytest.mark.parametrize("part", ["gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias"])
def test_stacked_experts_are_k_of_n_too(part: str) -> None:
    values = RECORDED["gpt_oss"]
    blueprint, top_k, experts = hfcount.blueprint(values), values["num_experts_per_tok"], values["num_local_experts"]
    (leaf,) = [leaf for leaf in blueprint.leaves if leaf.name.endswith(f".{part}")]
    assert int(leaf.active_formula) == leaf.active_elements == leaf.elements * top_k // experts
    (before,), (after,) = ([re.findall(r"\b[nk]\b", _text(value))] for value in (leaf.formula, leaf.active_formula))
    assert (before, after) == (["n"], ["k"])


def _text(value: int) -> str:
    return render(getattr(value, "terms", {}))


def _worked_out(text: str, legend: Mapping[str, int]) -> int:
    """What a reader gets who works the printed formula out."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    for symbol in sorted(legend, key=len, reverse=True):
        text = re.sub(rf"(?<![\w|]){re.escape(symbol)}(?![\w|])", str(legend[symbol]), text)
    value = eval(text.replace("·", "*") or "0", {})
    assert isinstance(value, int)
    return value


def _holds(blueprint: Blueprint, formula: Formula | None = None) -> None:
    formula, components = formula or blueprint.formula(), blueprint.by_component
    for active in (False, True):
        found = formula.active_components if active else formula.components
        counts = {name: measure.active if active else measure.total for name, measure in components.items()}
        for name, terms in found.items():
            _gives(blueprint, formula, name, terms, counts[name], active)
        _gives(blueprint, formula, None, formula.active if active else formula.total, sum(counts.values()), active)
        assert list(found) == list(counts)
    inside = [(kind, _worked_out(formula.plain(kind.terms), formula.legend)) for kind in formula.kinds]
    assert all(value == evaluate(kind.terms) for kind, value in inside)
    assert sum(kind.layers for kind in formula.kinds) == blueprint.spec.depth
    # A model without layers of its own may have a part whose number of layers is N.
    outer = {term: n for term, n in formula.total.items() if not (formula.kinds and _in_layers(formula, term))}
    around = evaluate(outer)
    assert sum(kind.layers * value for kind, value in inside) + around == blueprint.total


def _gives(
    blueprint: Blueprint, formula: Formula, component: str | None, terms: Polynomial, count: int, active: bool
) -> None:
    """The printed formula gives the count, with symbols and with numbers; where not, it is said why."""
    text, numbers = formula.text(terms), formula.numbers(terms)
    value = _worked_out(text, formula.legend)
    if value == _worked_out(numbers, {}) == count:
        return
    own = [
        (leaf, leaf.active_formula, leaf.active_elements) if active else (leaf, leaf.formula, leaf.elements)
        for leaf in blueprint.leaves
        if leaf.kind == "parameter" and component in (None, leaf.component)
    ]
    wrong = [
        f"{leaf.name} has {size:,}, and its own formula {_text(made)} gives {evaluate(polynomial(made)):,}"
        for leaf, made, size in own
        if evaluate(polynomial(made)) != size
    ]
    sums = (some for many in (1, 2, 3) for some in combinations(own, many))
    gone = next((some for some in sums if sum(size for *_, size in some) == count - value), ())
    unlike = [
        f"{name} is {atom.value:,} and {formula.legend[name]:,}"
        for atom, name in formula.names.items()
        if atom.value != formula.legend[name]
    ]
    which = f"{component or 'the whole'}{', active' if active else ''}"
    pytest.fail(
        f"{which}: {text} = {numbers} gives {value:,}, and the tensors have"
        f" {count:,}, which is {count - value:+,}."
        + "".join(f"\n{line}" for line in wrong)
        + "".join(f"\nleft out: {leaf.name}, {_text(made)} = {size:,}" for leaf, made, size in gone)
        + "".join(f"\none symbol for two values: {line}" for line in unlike)
    )


def test_a_formula_that_lacks_a_tensor_says_which() -> None:
    """As it would read for whoever breaks it."""
    blueprint = hfcount.blueprint(TINY["mixtral"])
    leaves = [leaf for leaf in blueprint.leaves if leaf.kind == "parameter"]
    lacking = Formula(blueprint.spec, [leaf for leaf in leaves if ".w1." not in leaf.name])
    with pytest.raises(pytest.fail.Exception) as raised:
        _holds(blueprint, lacking)
    (name,) = [leaf.name for leaf in leaves if ".w1." in leaf.name]
    assert str(raised.value).splitlines() == [
        "experts: 2·N·n·d·d_ff = 2·3·8·12·20 gives 11,520, and the tensors have 17,280, which is +5,760.",
        f"left out: {name}, N·n·d·d_ff = 5,760",
    ]


def _in_layers(formula: Formula, term: Monomial) -> bool:
    """Whether a term is multiplied by a number of the model's own layers: N, N1, N2, ..."""
    return any(re.fullmatch(r"N\d*", formula.names[atom]) for atom in term)


@over("values", RECORDED.values(), ids=RECORDED, every=5)
def test_every_printed_formula_works_out(values: Json) -> None:
    _holds(hfcount.blueprint(values))


def test_every_family_has_a_recorded_config() -> None:
    recorded = {values["model_type"] for values in RECORDED.values()}
    assert [family.types for family in families.everyone() if recorded.isdisjoint(family.types)] == []


def test_one_symbol_never_stands_for_two_values() -> None:
    formula = hfcount.blueprint(config("qwen3_moe", mlp_only_layers=[1])).formula()
    assert {name: value for name, value in formula.legend.items() if name.startswith(("N", "d_ff"))} == {
        "N": 3,
        "N1": 2,
        "N2": 1,
        "d_ff1": 10,
        "d_ff2": 20,
    }
    assert str(formula) == f"N·(2·d + {NORMED}) + N1·(n·d + 3·n·d·d_ff1) + 3·N2·d·d_ff2 + {FRAME}"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_symbol_says_where_it_is_from(family: str) -> None:
    formula = hfcount.blueprint(config(family, "head_dim")).formula()
    derived = family == "qwen3"
    assert formula.keys.keys() == formula.legend.keys()
    assert formula.keys["h_d"] == ("head_dim, by default" if derived else "hidden_size / num_attention_heads")
    assert (formula.keys["d"], formula.keys["h_kv"], formula.keys["|V|"]) == (
        "hidden_size",
        "num_key_value_heads",
        "vocab_size",
    )


def test_one_value_from_two_keys_is_two_symbols() -> None:
    formula = hfcount.blueprint(config("qwen3_moe", mlp_only_layers=[1], intermediate_size=10)).formula()
    assert (formula.keys["d_ff1"], formula.keys["d_ff2"]) == ("intermediate_size", "moe_intermediate_size")
    assert formula.legend["d_ff1"] == formula.legend["d_ff2"] == 10


def test_a_size_without_a_symbol_of_the_literature_goes_by_its_key() -> None:
    formula = hfcount.blueprint(RECORDED["bert"] | {"type_vocab_size": 7}).formula()
    assert (formula.legend["type_vocab_size"], formula.keys["type_vocab_size"]) == (7, "type_vocab_size")


def test_the_keys_of_a_part_are_named_with_the_way_to_them() -> None:
    keys = hfcount.blueprint(RECORDED["gemma3"]).formula().keys
    assert (keys["d"], keys["d_v"]) == ("text_config.hidden_size", "vision_config.hidden_size")


@pytest.mark.parametrize(
    ("name", "changes", "kinds"),
    [
        ("qwen3", {}, [("GQA + MLP", "layers 0-2")]),
        ("qwen3", {"num_key_value_heads": None}, [("MHA + MLP", "layers 0-2")]),
        ("deepseek_v3", {}, [("MLA + MLP", "layers 0-2"), ("MLA + MoE", "layer 3")]),
        ("deepseek_v3", {"num_hidden_layers": 61}, [("MLA + MLP", "layers 0-2"), ("MLA + MoE", "layers 3-60")]),
        (
            "jamba",
            {"num_hidden_layers": 32, "attn_layer_period": 8, "expert_layer_period": 2},
            [
                ("GQA + MLP", "layers 4-28 step 8"),
                ("Mamba + MoE", "layers 1-31 step 2"),
                ("Mamba + MLP", "layers 0,2,6,8,10,14,16,... (12 in all)"),
            ],
        ),
        ("falcon", {}, [("MQA + MLP", "layers 0-2")]),
        ("falcon_h1", {}, [("GQA + Mamba-2 + MLP", "layers 0-2")]),
    ],
)
def test_layers_by_kind(name: str, changes: Json, kinds: list[tuple[str, str]]) -> None:
    formula = hfcount.blueprint(RECORDED[name] | changes).formula()
    assert [(kind.name, kind.where) for kind in formula.kinds] == kinds


def test_layers_that_differ_in_nothing_counted_are_one_kind() -> None:
    blueprint = hfcount.blueprint(RECORDED["gemma3_text"])
    assert [(kind.name, kind.layers) for kind in blueprint.formula().kinds] == [("GQA + MLP", blueprint.spec.depth)]


@pytest.mark.parametrize(
    ("text", "typeset"),
    [
        ("d·|V|", r"d \cdot \lvert V \rvert"),
        ("2·h_kv·h_d", r"2 \cdot h_{\mathrm{kv}} \cdot h_{d}"),
        ("N1·d_ff2 + 1", r"N_{1} \cdot d_{\mathrm{ff},2} + 1"),
        ("151,936·(2·N + 1)", r"151{,}936 \cdot (2 \cdot N + 1)"),
        ("d·type_vocab_size + o_lora_rank", r"d \cdot \mathrm{typeVocabSize} + o_{\mathrm{lora},\mathrm{rank}}"),
        ("patch_size2·hidden", r"\mathrm{patchSize2} \cdot \mathrm{hidden}"),
        ("(d/16)·l_dk", r"(d/16) \cdot l_{\mathrm{dk}}"),
        ("0", "0"),
    ],
)
def test_latex(text: str, typeset: str) -> None:
    assert latex(text) == typeset


@over("values", RECORDED.values(), ids=RECORDED, every=10)
def test_latex_has_every_symbol_and_nothing_that_markdown_takes_away(values: Json) -> None:
    formula = hfcount.blueprint(values).formula()
    typeset = latex(str(formula))
    assert set(re.findall(r"\\[a-z]+", typeset)) <= {r"\cdot", r"\lvert", r"\rvert", r"\mathrm"}
    assert re.search(r"\\(?![a-z])|[|$·`*<>]", typeset) is None
    assert typeset.count("{") == typeset.count("}")
