"""Typed reads of a config: what counts as absent, which error says what, and which keys nobody read."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from build import Json
from tables import over

from hfcount.errors import ConfigError
from hfcount.mapper import Config

Read = Callable[[Config], Any]

READS: dict[str, Read] = {
    "int": lambda c: c.int("a"),
    "bool": lambda c: c.bool("a"),
    "str": lambda c: c.str("a"),
    "strs": lambda c: c.strs("a"),
    "ints": lambda c: c.ints("a"),
    "object": lambda c: c.object("a"),
}


READ_AS: dict[str, tuple[Json, Read, object]] = {
    "a number": ({"a": 5}, lambda c: c.int("a"), 5),
    "the first name": ({"a": 5}, lambda c: c.int("a", "b"), 5),
    "an alias": ({"b": 5}, lambda c: c.int("a", "b"), 5),
    "both names alike": ({"a": 5, "b": 5}, lambda c: c.int("a", "b"), 5),
    "null and an alias": ({"a": None, "b": 5}, lambda c: c.int("a", "b"), 5),
    "an alias that is null": ({"a": 5, "b": None}, lambda c: c.int("a", "b"), 5),
    "absent, with a default": ({}, lambda c: c.int("a", default=7), 7),
    "null, with a default": ({"a": None}, lambda c: c.int("a", default=7), 7),
    "a default of none": ({}, lambda c: c.int("a", default=None), None),
    "zero, where allowed": ({"a": 0}, lambda c: c.int("a", minimum=0), 0),
    "the largest size": ({"a": 2**32}, lambda c: c.int("a"), 2**32),
    "false against the default": ({"a": False}, lambda c: c.bool("a", default=True), False),
    "null for a truth value": ({"a": None}, lambda c: c.bool("a", default=True), False),
    "null for one of two names": ({"a": None, "b": True}, lambda c: c.bool("a", "b"), True),
    "an empty text": ({"a": ""}, lambda c: c.str("a"), ""),
    "no text": ({}, lambda c: c.str("a", default="x"), "x"),
    "texts": ({"a": ["x", ""]}, lambda c: c.strs("a"), ["x", ""]),
    "no texts": ({}, lambda c: c.strs("a"), []),
    "numbers of either sign": ({"a": [1, -2]}, lambda c: c.ints("a"), [1, -2]),
    "null for numbers": ({"a": None}, lambda c: c.ints("a"), []),
    "an object": ({"a": {"b": 1}}, lambda c: c.object("a"), {"b": 1}),
    "no object": ({}, lambda c: c.object("a"), None),
    "dtype": ({"dtype": "bfloat16"}, lambda c: c.dtype(), "bfloat16"),
    "torch_dtype": ({"torch_dtype": "float16"}, lambda c: c.dtype(), "float16"),
    "both dtypes alike": ({"dtype": "float16", "torch_dtype": "float16"}, lambda c: c.dtype(), "float16"),
    "both dtypes, which differ": ({"dtype": "bfloat16", "torch_dtype": "float32"}, lambda c: c.dtype(), "bfloat16"),
    "both dtypes, one of them null": ({"dtype": None, "torch_dtype": "float16"}, lambda c: c.dtype(), "float16"),
    "a dtype of torch": ({"torch_dtype": "torch.bfloat16"}, lambda c: c.dtype(), "bfloat16"),
    "a dtype of a part, by another of its names": ({"a": {"dtype": "long"}}, lambda c: c.part("a").dtype(), None),
    "a null dtype": ({"torch_dtype": None}, lambda c: c.dtype(), None),
    "no dtype": ({}, lambda c: c.dtype(), None),
    "a dtype for each part": ({"dtype": {"": "bfloat16", "vision": "float32"}}, lambda c: c.dtype(), None),
    "null is null": ({"a": None}, lambda c: c.is_null("a"), True),
    "zero is not null": ({"a": 0}, lambda c: c.is_null("a"), False),
    "absent is not null": ({}, lambda c: c.is_null("a"), False),
}


@over(("values", "read", "expected"), READ_AS.values(), READ_AS)
def test_reads(values: Json, read: Read, expected: object) -> None:
    assert read(Config(values)) == expected


REFUSED: dict[str, tuple[Json, Read, str]] = {
    "missing": ({}, READS["int"], "HF101"),
    "null is missing": ({"a": None}, READS["int"], "HF101"),
    "under another name": ({"b": 5}, READS["int"], "HF101"),
    "no truth value": ({}, READS["bool"], "HF101"),
    "no text": ({}, READS["str"], "HF101"),
    "zero, where a minimum is given": ({"a": 0}, lambda c: c.int("a", minimum=1), "HF103"),
    "negative": ({"a": -1}, READS["int"], "HF103"),
    "above the largest size": ({"a": 2**32 + 1}, READS["int"], "HF103"),
    "4,001 digits": ({"a": 10**4000}, READS["int"], "HF103"),
    "above a maximum": ({"a": 9}, lambda c: c.int("a", maximum=8), "HF103"),
    "a number without end": ({"a": float("inf")}, READS["int"], "HF103"),
    "no number at all": ({"a": float("nan")}, READS["bool"], "HF103"),
    "numbers at odds": ({"a": 5, "b": 6}, lambda c: c.int("a", "b"), "HF103"),
    "truth values at odds": ({"a": True, "b": False}, lambda c: c.bool("a", "b"), "HF103"),
    "a number for a dtype": ({"dtype": 16}, lambda c: c.dtype(), "HF001"),
    "an alias that is true, not 1": ({"a": 1, "b": True}, lambda c: c.int("a", "b"), "HF001"),
    "an alias that is 4.0, not 4": ({"a": 4, "b": 4.0}, lambda c: c.int("a", "b"), "HF001"),
}


@pytest.mark.parametrize(("values", "read", "code"), REFUSED.values(), ids=REFUSED)
def test_errors_carry_the_rule(values: Json, read: Read, code: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(Config(values))
    assert raised.value.code == code


@over(
    ("kind", "value"),
    [
        ("int", "5"),
        ("int", 5.0),
        ("int", True),
        ("int", [5]),
        ("int", {}),
        ("bool", 0),
        ("bool", 1),
        ("bool", "true"),
        ("bool", []),
        ("str", 5),
        ("str", False),
        ("str", ["x"]),
        ("strs", "x"),
        ("strs", ["x", 5]),
        ("strs", ["x", None]),
        ("strs", {}),
        ("ints", 5),
        ("ints", ["5"]),
        ("ints", [True]),
        ("ints", [1.0]),
        ("ints", [[1]]),
        ("object", []),
        ("object", "x"),
        ("object", 0),
    ],
)
def test_another_type_is_malformed(kind: str, value: object) -> None:
    with pytest.raises(ConfigError) as raised:
        READS[kind](Config({"a": value}))
    assert raised.value.code == "HF001"


@pytest.mark.parametrize("declared", ["auto", "int8", "bool", "fp16", "BF16", "torch.float16", "float8_e4m3fn", ""])
@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
def test_a_dtype_that_no_model_is_built_in(key: str, declared: str) -> None:
    config = Config({key: declared})
    config.dtype()
    assert [(problem.code, problem.key) for problem in config.problems] == [("HF103", key)]


def test_the_dtypes_that_models_are_built_in() -> None:
    for declared in ("bfloat16", "float16", "float32", "float64", "half", "float", "double", None):
        config = Config({"dtype": declared})
        config.dtype()
        assert config.problems == ()


@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
@pytest.mark.parametrize(
    ("declared", "codes"),
    [("int8", []), ("float8_e4m3fn", []), (32, []), (True, []), ({}, []), ("half", [])]
    + [(word, ["HF103"]) for word in ("auto", "bf16", "torch.float16", "")],
)
def test_a_nested_dtype_is_any_of_torch_and_no_number_is_read(key: str, declared: object, codes: list[str]) -> None:
    part = Config({"part": {key: declared}}).part("part")
    assert part.dtype() == ("half" if declared == "half" else None)
    assert [problem.code for problem in part.problems] == codes


MESSAGES: dict[str, tuple[Json, Read, list[str]]] = {
    "missing": ({}, READS["int"], ["org/m@ad44e77 config.json", "no a", "llama"]),
    "missing under three names": ({}, lambda c: c.int("a", "b", "c"), ["none of a, b, c"]),
    "wrong type": ({"a": "5"}, READS["int"], ['a is "5"', "whole number"]),
    "out of range": ({"a": -1}, READS["int"], ["a is -1", "1 to 4,294,967,296"]),
    "without end": ({"a": float("-inf")}, READS["int"], ["a is -Infinity", "whole number"]),
    "longer than Python prints": ({"a": 10**5000}, READS["int"], ["a is a number of"]),
    "at odds": ({"a": 5, "b": 6}, lambda c: c.int("a", "b"), ["a is 5", "b is 6"]),
    "hostile": ({"a": "\x1b[31m\ud800"}, READS["int"], [r"\x1b[31m\ud800"]),
}


@pytest.mark.parametrize(("values", "read", "parts"), MESSAGES.values(), ids=MESSAGES)
def test_messages_say_where_what_and_what_is_needed(values: Json, read: Read, parts: list[str]) -> None:
    with pytest.raises(ConfigError) as raised:
        read(Config(values, where="org/m@ad44e77 config.json", family="llama"))
    assert [part for part in parts if part not in str(raised.value)] == []


def test_a_size_of_zero_is_read_and_noted() -> None:
    config = Config({"model_type": "x", "part": {"a": 0}})
    assert config.part("part").int("a") == 0
    assert [(problem.code, problem.key, problem.observed) for problem in config.problems] == [("HF103", "part.a", 0)]


def test_what_cannot_run_is_said_once() -> None:
    config = Config({"a": 5})
    for _ in range(2):
        config.cannot_run("out-of-range", "a is 5.", "a", "Correct it.")
    assert list(map(str, config.problems)) == [
        "config.json: a is 5. A model can be built with that, but cannot run. Correct it."
    ]


@pytest.mark.parametrize(
    ("key", "value", "unread"),
    [
        ("num_nextn_predict_layers", 1, True),
        ("use_gate", True, True),
        ("use_gate", False, False),
        ("block_configs", [], False),
        ("widening_factor", 1.5, False),
        ("activation", "silu", False),
        ("vision_config", {}, False),
        ("vision_config", {"hidden_size": 8}, True),
        ("vision_config", {"hidden_act": "gelu", "initializer_range": 1}, False),
        ("block_configs", [{"width": 8}], True),
        ("rope_scaling", {"factor": 8}, False),
        ("quantization_config", {"bits": 4}, False),
        ("new_key", None, False),
        ("moe_layer_freq", 1, False),
        ("moe_layer_freq", 2, True),
        ("moe_layer_freq", [0, 1], True),
        ("bos_token_id", 1, False),
        ("rope_theta", 10_000, False),
        ("max_position_embeddings", 4096, False),
        ("use_cache", True, False),
        ("hidden_size", 8, False),
        ("alias_of_hidden", 8, False),
    ],
)
def test_unread_keys_are_those_that_may_bear_on_shapes(key: str, value: object, unread: bool) -> None:
    config = Config({key: value})
    config.int("hidden_size", "alias_of_hidden", default=8)
    assert config.unread() == [key] * unread


def test_an_error_holds_the_way_to_its_key_and_what_was_found_there() -> None:
    part = Config({"text_config": {"hidden_size": "wide"}}).part("text_config")
    with pytest.raises(ConfigError) as raised:
        part.int("hidden_size")
    with pytest.raises(ConfigError) as missing:
        part.int("vocab_size")
    error, lacking = pickle.loads(pickle.dumps(raised.value)), missing.value
    assert (error.code, error.key, error.expected, error.observed, error.fix) == (
        "HF001", "text_config.hidden_size", "a whole number", "wide", None
    )  # fmt: skip
    assert str(error) == 'config.json: text_config: hidden_size is "wide", but must be a whole number.'
    assert (lacking.code, lacking.key, str(lacking).endswith(lacking.fix or "?")) == (
        "HF101",
        "text_config.vocab_size",
        True,
    )
