"""hfcount/architectures/stand_ins.py: blueprints that were recorded, for types that no family describes."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pipeline_repos import safetensors

import hfcount
from hfcount.architectures import families, stand_ins
from hfcount.architectures.recorded_rules import At, Unprobed, decided, derived, evaluated
from hfcount.architectures.registry import is_recorded
from hfcount.architectures.stand_ins import Reading, StandIn, read, rows
from hfcount.cli.main import main

Json = dict[str, Any]

KNOWN = StandIn(
    model_type="odd",
    architecture="OddModel",
    version="transformers 9",
    names={"n_layer": "depth"},
    defaults={"width": 8, "depth": 3, "heads": 2, "share": None, "biased": False, "kinds": None},
    declared="dropout",
    spans={"width": [4, 64], "depth": [1, 40]},
    states={
        "width": "+",
        "depth": "+",
        "heads": "+",
        "share": "+|null",
        "biased": "false|true",
        "kinds": "null|[a b]|[b]",
        "mode": "'x|'y",
    },
    computed={
        "share": ["share", {"null": "width//heads", "+": "="}],
        "kinds": ["kinds", {"null": "~depth;a:1;b:2", "[a b]": "=", "[b]": "="}],
    },
    rows=[
        ("table.weight", "parameter", "width|"),
        ("layers.{}.up.weight layers.{}.gate.weight", "linear", "4*width,width|0:depth"),
        ("layers.{}.up.bias", "parameter", ["biased", {"true": "4*width|0:depth", "false": None}]),
        ("layers.{}.a.weight", "parameter", "share*heads+1|kinds=a"),
    ],
)


def answer(**values: Any) -> Json:
    return {row.name: (row.shape, [list(numbers) for numbers in row.numbers]) for row in rows(read(KNOWN, values))}


USUAL = {
    "table.weight": ((8,), []),
    "layers.{}.up.weight": ((32, 8), [[0, 1, 2]]),
    "layers.{}.gate.weight": ((32, 8), [[0, 1, 2]]),
    "layers.{}.a.weight": ((9,), [[0]]),
}


@pytest.mark.parametrize(
    ("values", "differing"),
    [
        ({}, {}),
        ({"dropout": 0.5, "architectures": ["OddModel"]}, {}),
        (
            {"n_layer": 5},
            {
                "layers.{}.up.weight": ((32, 8), [[0, 1, 2, 3, 4]]),
                "layers.{}.gate.weight": ((32, 8), [[0, 1, 2, 3, 4]]),
                "layers.{}.a.weight": ((9,), [[0, 3]]),
            },
        ),
        ({"biased": True}, {"layers.{}.up.bias": ((32,), [[0, 1, 2]])}),
        ({"share": 16}, {"layers.{}.a.weight": ((33,), [[0]])}),
        ({"heads": 3}, {"layers.{}.a.weight": ((7,), [[0]])}),  # 8 // 3, three times, and 1
        ({"kinds": ["b", "a", "a"]}, {"layers.{}.a.weight": ((9,), [[1, 2]])}),
    ],
)
def test_what_was_probed_is_answered(values: Json, differing: Json) -> None:
    assert answer(**values) == {**USUAL, **differing}


def test_a_list_without_a_word_has_none_of_its_tensors() -> None:
    assert answer(kinds=["b", "b", "b"]).keys() == {
        "table.weight",
        "layers.{}.up.weight",
        "layers.{}.gate.weight",
    }


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"mode": "z"}, 'mode = "z" was not probed'),
        ({"width": 0}, "width = 0 was not probed"),
        ({"width": None}, "width = null was not probed"),
        ({"biased": None}, "biased = null was not probed"),
        ({"kinds": ["a", "c", "a"]}, 'kinds = \\["a", "c", "a"\\] was not probed'),
        ({"kinds": ["a"]}, 'kinds = \\["a"\\] was not probed'),  # a alone was not
        ({"n_layer": 4, "depth": 5}, "depth stands there twice, 4 and 5"),
    ],
)
def test_what_was_not_probed_is_not_answered(values: Json, text: str) -> None:
    with pytest.raises(Unprobed, match=text):
        answer(**values)


def test_a_key_that_means_something_else_within_a_nested_config_is_not_answered_if_absent() -> None:
    nested = KNOWN.replace(
        parts=("inner",),
        defaults={"inner.width": 8},
        unprobed=["inner.width"],
        rows=[("table.weight", "parameter", "inner.width|")],
    )
    assert [row.shape for row in rows(read(nested, {}))] == [(8,)]
    assert [row.shape for row in rows(read(nested, {"inner": {"width": 4}}))] == [(4,)]
    with pytest.raises(Unprobed, match=r"inner\.width is absent from a nested config"):
        read(nested, {"inner": {}})


def test_a_key_that_is_null_within_a_nested_config_that_lacks_it_is_answered_so() -> None:
    nested = KNOWN.replace(
        parts=("inner",),
        defaults={"inner.width": 8},
        nulls=["inner.width"],
        states={"inner.width": "+|null"},
        rows=[("table.weight", "parameter", ["inner.width", {"+": "inner.width|", "null": "2|"}])],
    )
    widths: list[Json] = [{}, {"inner": {"width": 4}}, {"inner": {}}]
    assert [[row.shape for row in rows(read(nested, values))] for values in widths] == [[(8,)], [(4,)], [(2,)]]


def test_a_list_of_another_length_than_its_number_is_not_answered() -> None:
    known = KNOWN.replace(lengths={"kinds": "depth"})
    assert list(rows(read(known, {"kinds": ["a", "b", "b"]})))
    for values in ({"kinds": ["a", "b"]}, {"kinds": ["a", "b", "b"], "n_layer": 2}):
        with pytest.raises(Unprobed, match=r"kinds has \d entries beside depth = \d: that was not probed"):
            read(known, values)


def test_a_number_that_could_not_be_varied_is_answered_as_it_was_alone() -> None:
    known = KNOWN.replace(spans={"heads": [2, 2]})
    assert list(rows(read(known, {"heads": 2})))
    with pytest.raises(Unprobed, match="heads = 4: nothing but 2 was probed"):
        read(known, {"heads": 4})


def test_lists_of_lists_and_objects_are_answered_as_they_were_probed() -> None:
    known = KNOWN.replace(states={"kernels": "[[3, 3], [3, 1]]|{}"})
    for kernels in ([[3, 3], [3, 1]], {}):
        assert list(rows(read(known, {"kernels": kernels})))
    for kernels in ([[3, 3], [3, 0]], {"a": 1}):
        with pytest.raises(Unprobed, match=r"kernels = .* was not probed"):
            read(known, {"kernels": kernels})


def test_what_is_tied_and_has_no_elements_is_not_answered() -> None:
    """It shares no bytes with what it is tied to, and may be saved beside it."""
    known = KNOWN.replace(rows=[("head.weight", "tied table.weight", "width|")], states={})
    assert [row.shape for row in rows(read(known, {"width": 4}))] == [(4,)]
    with pytest.raises(Unprobed, match=r"head\.weight is tied and has no elements"):
        list(rows(read(known, {"width": 0})))


def test_the_product_with_a_fraction_is_answered_where_it_is_whole_as_a_machine_multiplies() -> None:
    assert evaluated("width*ratio", {"width": 1536, "ratio": 5.833333333333333}.get) == 8960
    with pytest.raises(Unprobed, match="no whole number"):
        evaluated("width*ratio", {"width": 1537, "ratio": 5.833333333333333}.get)


def test_what_is_derived_of_numbers_and_of_lists_that_are_gone_through_again() -> None:
    values = {"share": 0.3, "factor": 8, "kernels": [3, 7, 11]}
    assert [derived(name, values.get, (), ()) for name in ("share!inv", "factor!log", "factor!inv")] == [
        3,
        3,
        None,
    ]
    at = At(values, (4,), (6,))
    assert [at.get(name) for name in ("kernels!0c", "kernels!0h", "!0e", "!0f", "!0z")] == [7, 4, 16, 32, 1]


def test_a_list_that_a_class_makes_by_itself_is_not_written_out_for_any_number_of_layers() -> None:
    with pytest.raises(Unprobed, match="kinds would have 1,000,000,000,000 entries, more than 100,000"):
        list(rows(read(KNOWN, {"n_layer": 10**12})))


STAGES = KNOWN.replace(
    defaults={"sizes": [4, 6, 10], "blocks": [1, 2, 1], "step": 2, "light": [False, True, True]},
    states={"sizes": "[2]|[3]", "blocks": "[2]|[3]", "light": "[false, true, true]|[false, false]", "step": "+"},
    computed={"sizes": ["sizes", {"null": "%step,2*step,step+4", "[3]": "=", "[2]": "="}]},
    rows=[
        (
            "stages.{}.blocks.{}.weight",
            "linear",
            {
                "at": [0],
                "of": ["|0:sizes!len"],
                "rule": ["!0", {"0": "sizes!0,3|0:blocks!0", "+": "sizes!0,sizes!0p|0:blocks!0"}],
            },
        ),
        (
            "stages.{}.skips.{}.bias",
            "parameter",
            {
                "at": [0, 1],
                "of": ["|0:sizes!len", "|0:blocks!0+1"],
                "rule": ["light!0", {"false": None, "true": "2*step*!0e+!1|"}],
            },
        ),
        ("norm.weight", "parameter", "sizes!last+blocks!sum+blocks!prod|"),
    ],
)


def at_stages(**values: Any) -> list[tuple[str, tuple[int, ...], list[list[int]]]]:
    return [(row.name, row.shape, list(map(list, row.numbers))) for row in rows(read(STAGES, values))]


def test_a_rule_holds_numbers_of_names() -> None:
    weight, bias = "stages.{}.blocks.{}.weight", "stages.{}.skips.{}.bias"
    assert at_stages() == [
        (weight, (4, 3), [[0], [0]]),
        (weight, (6, 4), [[1], [0, 1]]),
        (weight, (10, 6), [[2], [0]]),
        (bias, (8,), [[1], [0]]),
        (bias, (9,), [[1], [1]]),
        (bias, (10,), [[1], [2]]),
        (bias, (16,), [[2], [0]]),
        (bias, (17,), [[2], [1]]),
        ("norm.weight", (16,), []),
    ]
    assert [row[:2] for row in at_stages(sizes=[8, 5], light=[False, False], blocks=[1, 1])] == [
        (weight, (8, 3)),
        (weight, (5, 8)),
        ("norm.weight", (8,)),
    ]


def test_a_class_makes_a_list_of_numbers() -> None:
    assert Reading(STAGES, {"step": 3, "sizes": None}).value("sizes") == [3, 6, 7]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"sizes": [1, 2, 3, 4]}, "was not probed"),
        ({"sizes": [4, 6, None]}, "sizes!0 is null, where numbers were probed"),
        ({"blocks": [1, 2**40, 1]}, "numbers are more than 10,000"),
        ({"light": [False, None, True]}, r"light = \[false, null, true\] was not probed"),
        ({"blocks": [1, 2], "light": [False, True, True]}, "blocks!0 is null"),
        ({"light": [True, True, True]}, r"light = \[true, true, true\] was not probed"),
    ],
)
def test_numbers_of_names_that_were_not_probed_are_not_answered(values: Json, text: str) -> None:
    with pytest.raises(Unprobed, match=text):
        list(rows(read(STAGES, values)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("!0", 2),
        ("!0e", 4),
        ("!0z", 1),
        ("!1", 5),
        ("!2", None),
        ("sizes!0", 10),
        ("sizes!0p", 6),
        ("sizes!0n", None),
        ("sizes!0r", 4),
        ("sizes!1", None),
        ("step!0m", 2),
        ("step!0o", 0),
        ("none!0m", None),
        ("words!len", 2),
        ("words!sum", None),
        ("step!len", None),
        ("sizes!prod", 240),
        ("step!log", 1),
        ("none!log", None),
        ("words!log", None),
        ("2!0m", 0),
        ("4!0o", 3),
    ],
)
def test_what_is_derived(name: str, value: Any) -> None:
    values = {"sizes": [4, 6, 10], "step": 3, "words": ["a", "b"], "none": 0}
    assert At(values, (2, 5), (4, 6)).get(name) == value


def test_a_zero_is_another_state_than_other_fractions() -> None:
    assert [stand_ins.state(value) for value in (0.5, 0.0, -0.0, 2.0)] == [".", "0.", "0.", "."]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7", 7),
        ("2*width", 16),
        ("width*heads+-1*depth", 13),
        ("width/heads", 4),
        ("depth//heads", 1),
        ("depth//heads*depth//heads+1", 2),
        ("width/4", 2),
        ("width^depth//heads^heads+1", 7),
        ("-1*depth//-2", 2),
        ("ratio*width", 20),
    ],
)
def test_expressions(expression: str, value: int) -> None:
    assert evaluated(expression, {"width": 8, "heads": 2, "depth": 3, "ratio": 2.5}.get) == value


@pytest.mark.parametrize(
    "expression", ["depth/heads", "width/none", "width*absent", "width//none", "width//none^heads", "flag*width"]
)
def test_an_expression_that_is_no_whole_number_is_not_answered(expression: str) -> None:
    with pytest.raises(Unprobed):
        evaluated(expression, {"width": 8, "heads": 2, "depth": 3, "none": 0, "flag": True}.get)


@pytest.mark.parametrize(
    ("decision", "rule"),
    [
        (["width<=>depth", {">": "above", "=": "same"}], "above"),
        (["heads<=>2", {"=": "two", ">": "more"}], "two"),
        (["biased&share", {"false&null": "both"}], "both"),
        (["mode", {"'y": "y", "*": "others"}], "others"),
    ],
)
def test_decisions(decision: Any, rule: str) -> None:
    assert decided(decision, Reading(KNOWN, {**KNOWN.defaults, "share": None, "mode": "x", "width": 8}).given) == rule


@pytest.mark.parametrize(
    "decision",
    [["width<=>depth", {"<": "below"}], ["heads<=>2", {">": "more"}], ["biased&share", {"true&null": ""}], "?"],
)
def test_a_decision_that_was_not_recorded_is_none(decision: Any) -> None:
    with pytest.raises(Unprobed):
        decided(decision, dict(KNOWN.defaults))


def test_recorded_types_are_described_by_no_family() -> None:
    assert [kind for kind in stand_ins.types() if families.find(kind)] == []


@pytest.mark.parametrize("kind", stand_ins.types())
def test_records_are_small_and_answer_their_defaults(kind: str) -> None:
    known = stand_ins.stand_ins(kind)
    assert all(name == one.architecture and one.model_type == kind for name, one in known.items())
    assert (stand_ins.FOLDER / f"{kind}.json").stat().st_size < 6_000 * len(known)
    for name, one in known.items():
        assert list(rows(read(one, {})))
        blueprint = hfcount.blueprint({"model_type": kind, "architectures": [name]})
        assert (blueprint.recorded_from, blueprint.tensor_count > 0) == (one.version, True)


DORY = {
    "model_type": "dory",
    "architectures": ["DoryForCausalLM"],
    "vocab_size": 30,
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 4,
    "n_input_layers": 1,
    "n_output_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 4,
}
SAVED = {  # as its class writes it: attention and the feed-forward part are layers of their own
    **DORY,
    "num_hidden_layers": 8,
    "n_input_layers": 2,
    "n_recurrent_layers": 4,
    "n_output_layers": 2,
    "layer_types": ["sliding_attention", "mlp"] * 3 + ["full_attention", "mlp"],
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    shapes = {one.name: one.shape for one in hfcount.blueprint(SAVED).tensors()}
    (tmp_path / "model.safetensors").write_bytes(safetensors(shapes, "BF16"))
    (tmp_path / "config.json").write_text(json.dumps({**SAVED, "dtype": "bfloat16"}))
    return tmp_path


def changed(folder: Path, **values: Any) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return folder


def test_a_folded_layout_is_the_same_model() -> None:
    one, other = hfcount.blueprint(DORY), hfcount.blueprint(SAVED)
    assert one.rows() == other.rows()
    assert one.total == 2 * 30 * 8 + 30 + 4 * (3 * 8 * 12 + 2 * 12 + 2 * 8 + 3 * 8 * 8 + 2 * 4 * 8 + 2 * 8)


def test_a_recorded_type_is_verified_and_the_verdict_says_so(checkpoint: Path) -> None:
    report = hfcount.verify(str(checkpoint))
    assert (report.verdict, report.recorded_from, report.derived_with) == ("verified", "transformers 5.24.0", None)
    assert report.parameters is not None
    assert report.parameters.active is None
    shown = CliRunner().invoke(main, [str(checkpoint)], standalone_mode=False).output
    assert "(dory is recorded from transformers 5.24.0, not described)" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"intermediate_size": 24}, {"HF301"}),
        ({"mlp_bias": True}, {"HF201"}),
        ({"tie_word_embeddings": True}, {"HF203"}),
    ],
)
def test_differences_are_found(checkpoint: Path, values: Json, codes: set[str]) -> None:
    report = hfcount.verify(str(changed(checkpoint, **values)))
    assert codes <= {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"hidden_act": "laplace"},
            'dory is recorded from transformers 5.24.0, not described: hidden_act = "laplace" was',
        ),
        ({"head_dim": None}, "head_dim = null was not probed"),
        ({"architectures": ["DoryForVoting"]}, "DoryForVoting is none of its recorded classes, DoryForCausalLM"),
        ({"layer_types": ["linear_attention"] * 8}, "was not probed"),
    ],
)
def test_a_config_that_was_not_probed_is_unverified(checkpoint: Path, values: Json, text: str) -> None:
    with pytest.raises(hfcount.UnknownArchitecture, match=text):
        hfcount.verify(str(changed(checkpoint, **values)))


def test_sizes_beyond_the_probes_are_counted_and_not_verified(tmp_path: Path) -> None:
    config = {**DORY, "vocab_size": 10**9}
    shapes = {one.name: one.shape for one in hfcount.blueprint(config).tensors()}
    (tmp_path / "config.json").write_text(json.dumps(config))
    index = {"metadata": {}, "weight_map": dict.fromkeys(shapes, "model-00001-of-00001.safetensors")}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    report = hfcount.verify(str(tmp_path), depth="config")
    (finding,) = [finding for finding in report.findings if finding.code == "HF120"]
    assert "vocab_size = 1,000,000,000 (0 to" in finding.message
    assert report.parameters is not None
    assert report.parameters.total == hfcount.blueprint(config).total > 10**9
    assert not hfcount.blueprint(DORY).beyond


def test_unknown_keys_that_may_bear_on_shapes_are_named() -> None:
    assert hfcount.blueprint({**DORY, "num_towers": 4, "attention_dropout": 0.1}).unread == ("num_towers",)


def test_a_billion_layers_cost_no_more_than_one() -> None:
    assert len(hfcount.blueprint({**DORY, "num_hidden_layers": 10**9}).leaves) == len(hfcount.blueprint(DORY).leaves)


def test_the_reading_leaves_the_config_alone() -> None:
    values = deepcopy(SAVED)
    hfcount.blueprint(values)
    assert values == SAVED


@pytest.mark.parametrize("model_type", ["../dory", "dory.json", "Dory", 3, ["dory"]])
def test_types_that_were_not_recorded_stay_unknown(model_type: Any) -> None:
    assert not is_recorded(model_type)
    with pytest.raises((hfcount.UnknownArchitecture, hfcount.ConfigError)):
        hfcount.blueprint({**DORY, "model_type": model_type})
