"""What-ifs: which configs come of --set, what they count, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from build import TINY, Json, config, save
from hypothesis import given
from hypothesis import strategies as st

from hfcount.checkpoints.inspect import Options, what_ifs
from hfcount.errors import BadSetting
from hfcount.fetcher import Request
from hfcount.mapper.whatif import changed, parsed, steps, variants, written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        ("-1", -1),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('["a"]', ["a"]),
        ('{"a": 1}', {"a": 1}),
        ('"64"', "64"),
        ("qwen3", "qwen3"),
        ("", ""),
        ("True", "True"),
        ("1,000", "1,000"),
        ("[" * 100_000, "[" * 100_000),
        ("9" * 5000, "9" * 5000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_values_are_json_or_else_text(text: str, value: Any) -> None:
    assert parsed(text) == value


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ([], []),
        ([("a", 1)], [{"a": 1}]),
        ([("a", 1), ("b", 2)], [{"a": 1, "b": 2}]),
        ([("a", 1), ("a", 2)], [{"a": 1}, {"a": 2}]),
        ([("a", 1), ("a", 1)], [{"a": 1}]),
        ([("a", 1), ("a", True)], [{"a": 1}, {"a": True}]),
        (
            [("a", 1), ("b", 3), ("a", 2), ("b", 4)],
            [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}],
        ),
    ],
    ids=["none", "one", "together", "twice", "the-same-twice", "one-is-not-true", "every-combination"],
)
def test_variants(settings: list[tuple[str, Any]], expected: list[Json]) -> None:
    assert variants(settings) == expected


_NAMES = st.text("ab", min_size=1, max_size=2)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab.", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3)
    ),
)


@given(
    values=st.dictionaries(_NAMES, _JSON, max_size=4),
    key=st.text("ab.", min_size=1, max_size=6).filter(lambda key: all(key.split("."))),
    value=_JSON,
)
def test_only_what_is_set_changes_and_the_original_stays(values: Json, key: str, value: Any) -> None:
    before = json.dumps(values)
    result = changed(values, {key: value})
    assert json.dumps(values) == before
    found: Any = result
    for name in key.split("."):
        found = found[name]
    assert found == value
    first = key.partition(".")[0]
    assert {name: one for name, one in result.items() if name != first} == {
        name: one for name, one in values.items() if name != first
    }


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("a[2]", ["a", 2]),
        ("a.b[2][10].c", ["a", "b", 2, 10, "c"]),
        ("[0]", [0]),
        ("", [""]),
        (".", ["", ""]),
        ("a.", ["a", ""]),
        ("a..b", ["a", "", "b"]),
        ("a[", ["a["]),
        ("a[b]", ["a[b]"]),
        ("a[-1]", ["a[-1]"]),
        ("a[0]b", ["a[0]b"]),
    ],
)
def test_only_places_at_the_end_of_a_name_lead_into_lists(key: str, expected: list[str | int]) -> None:
    assert steps(key) == expected


def test_changes_are_written_as_they_are_given() -> None:
    assert written({"a": 1, "b.c": [True, None], "d": "x\x1b"}) == r'a=1 b.c=[true, null] d="x\u001b"'


def _counted(folder: Path, values: Json, *changes: Json) -> list[Any]:
    save(folder / "org" / "name", values)
    reports = what_ifs(Request("org/name", fixtures=folder), Options(), changes)
    assert [report.overrides for report in reports] == [None, *changes]
    assert {(report.model, report.depth) for report in reports} == {("org/name", "config")}
    return [report.parameters.total if report.parameters else report.findings[0] for report in reports]


def test_the_model_stands_beside_what_it_might_be(tmp_path: Path) -> None:
    keys, gone = 2 * 12 * 3 * 3, 50 * 12
    assert _counted(
        tmp_path,
        TINY["llama"],
        {"num_key_value_heads": 4},
        {"num_key_value_heads": 1},
        {"tie_word_embeddings": True},
        {"num_hidden_layers": 6},
        {"head_dim": 6},
    ) == [4740, 4740 + 2 * keys, 4740 - keys, 4740 - gone, 4740 + 3 * 1176 + 3 * 4 - 12, 4740 + 1296]


def test_a_nested_key(tmp_path: Path) -> None:
    text = {key: value for key, value in TINY["llama"].items() if key not in ("architectures", "tie_word_embeddings")}
    values = {
        "architectures": ["LlavaForConditionalGeneration"],
        "model_type": "llava",
        "text_config": {**text, "tie_word_embeddings": False},
        "vision_config": {"model_type": "clip_vision_model", "hidden_size": 8, "num_attention_heads": 2},
    }
    one, wider = _counted(tmp_path, values, {"text_config.vocab_size": 51})
    assert wider - one == 2 * 12


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_key_value_heads": 3}, "with num_key_value_heads=3: num_attention_heads 4 is not a multiple"),
        ({"hidden_size": "wide"}, 'with hidden_size="wide": hidden_size is "wide", but must be a whole number'),
        ({"vocab_size": None}, "with vocab_size=null: no vocab_size, and llama needs it"),
        ({"num_hidden_layers": 0}, "with num_hidden_layers=0: num_hidden_layers is 0: a model may still be built"),
        ({"model_type": "foo"}, 'with model_type="foo": hfcount does not know model_type foo'),
        ({"architectures": ["AnyForDancing"]}, "AnyForDancing, which architectures names, is no class of llama"),
    ],
    ids=["contradiction", "type", "gone", "range", "family", "head"],
)
def test_a_value_that_cannot_be_is_refused(tmp_path: Path, changes: Json, message: str) -> None:
    save(tmp_path / "org" / "name", TINY["llama"])
    with pytest.raises(BadSetting) as refused:
        what_ifs(Request("org/name", fixtures=tmp_path), Options(), [{"hidden_size": 24}, changes])
    assert message in str(refused.value)


def test_a_list_that_is_in_the_way_is_named_with_what_to_set(tmp_path: Path) -> None:
    values = {**TINY["qwen3"], "layer_types": ["full_attention"] * TINY["qwen3"]["num_hidden_layers"]}
    save(tmp_path / "org" / "name", values)
    request = Request("org/name", fixtures=tmp_path)
    with pytest.raises(BadSetting, match=r"layer_types has .* Or also set layer_types=null, for its default\.$"):
        what_ifs(request, Options(), [{"num_hidden_layers": 1}])
    _, fewer = what_ifs(request, Options(), [{"num_hidden_layers": 1, "layer_types": None}])
    assert fewer.parameters is not None


def test_a_config_that_is_broken_itself_is_not_the_settings_fault(tmp_path: Path) -> None:
    save(tmp_path / "org" / "name", config("llama", num_key_value_heads=3))
    first, second = what_ifs(Request("org/name", fixtures=tmp_path), Options(), [{"num_key_value_heads": 2}])
    assert [finding.code for finding in first.findings] == ["HF103"]
    assert second.parameters is not None


def test_an_alias_goes_before_the_key_that_the_config_has(tmp_path: Path) -> None:
    values = config("qwen3_moe", "num_experts", num_experts=8)
    assert _counted(tmp_path, values, {"num_local_experts": 4})[1] == 12840 - 3 * 4 * (3 * 12 * 10 + 12)


def test_too_many_combinations_are_refused() -> None:
    settings = [(key, value) for key in "abc" for value in range(5)]
    with pytest.raises(BadSetting, match="125 combinations; at most 100"):
        variants(settings)
    assert len(variants(settings[:10])) == 25


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("num_kv_heads", "num_key_value_heads"),
        ("hiden_size", "hidden_size"),
        ("text_config.hidden_size", "hidden_size"),
    ],
)
def test_a_key_that_nobody_knows_is_refused(tmp_path: Path, key: str, near: str) -> None:
    save(tmp_path / "org" / "name", config("llama"))
    with pytest.raises(
        BadSetting, match=f"org/name config.json has no {key}, and llama does not read it. Nearest: .*{near}"
    ):
        what_ifs(Request("org/name", fixtures=tmp_path), Options(), [{key: 8}])


def test_a_key_that_the_family_reads_may_be_set_where_the_config_has_none(tmp_path: Path) -> None:
    assert "head_dim" not in TINY["llama"]
    assert _counted(tmp_path, TINY["llama"], {"head_dim": 3}) == [4740, 4740]


def test_null_takes_a_key_away(tmp_path: Path) -> None:
    _, without = _counted(tmp_path, config("llama", head_dim=6), {"head_dim": None})
    assert without == 4740


@pytest.mark.parametrize("key", ["a[2]", "a[0][0]", "b[0]", "c[0].d", "[0]"])
def test_a_place_that_no_list_has_is_refused(key: str) -> None:
    with pytest.raises(BadSetting, match="place"):
        changed({"a": [1, 2], "b": {"c": 1}}, {key: 1})


def test_places_of_lists_are_set() -> None:
    values = {"a": [1, {"b": 2}], "c": [3]}
    assert changed(values, {"a[1].b": 5, "a[0]": 4, "c.d": 6}) == {"a": [4, {"b": 5}], "c": {"d": 6}}
    assert values == {"a": [1, {"b": 2}], "c": [3]}
