"""What absent keys mean: the recorded defaults as transformers declares them, and how a config takes them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build import Json
from paths import ARCHITECTURES

from hfcount.blueprints.build import build
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared, knows, version

LLAVA: Json = {"model_type": "llava"}
WHISPER: Json = {"model_type": "whisper"}

# What a config holds, how it is read, and what comes of it.
READ: dict[str, tuple[Json, Callable[[Config], Any], object]] = {
    "at the top, where the family knows no default": ({"model_type": "llama"}, lambda c: c.int("hidden_size"), 4096),
    "at the top, where it does": ({"model_type": "llama"}, lambda c: c.int("hidden_size", default=7), 7),
    "a default that is null": ({"model_type": "llama"}, lambda c: c.is_null("num_key_value_heads"), True),
    "a default that is not null": ({"model_type": "qwen2"}, lambda c: c.is_null("num_key_value_heads"), False),
    "under a further name of the class": ({**WHISPER, "hidden_size": 5}, lambda c: c.int("d_model"), 5),
    "by a further name of the class": ({**WHISPER, "d_model": 5}, lambda c: c.int("hidden_size"), 5),
    "a default by a further name": (WHISPER, lambda c: c.int("hidden_size"), 384),
    "a part's class": ({**LLAVA, "text_config": {}}, lambda c: c.part("text_config").kind, "llama"),
    "a part's own class": (
        {**LLAVA, "text_config": {"model_type": "mistral"}},
        lambda c: c.part("text_config").int("intermediate_size"),
        14336,
    ),
    "a part of one class, whatever it says": (
        {"model_type": "qwen2_vl", "vision_config": {"model_type": "qwen2_vl"}},
        lambda c: c.part("vision_config").int("depth"),
        32,
    ),
    "a part, against the family": (
        {**LLAVA, "vision_config": {}},
        lambda c: c.part("vision_config").int("patch_size", default=7),
        32,
    ),
    "a part that is absent": (LLAVA, lambda c: c.part("vision_config").int("patch_size"), 14),
    "what an absent part leaves out": (LLAVA, lambda c: c.part("vision_config").int("num_channels"), 3),
    "a part that is there takes what an absent one would": (
        {"model_type": "voxtral", "text_config": {}},
        lambda c: c.part("text_config").int("head_dim"),
        128,
    ),
    "null in a part": (
        {**LLAVA, "text_config": {"model_type": "mistral", "head_dim": None}},
        lambda c: c.part("text_config").int("head_dim", default=7),
        7,
    ),
    "a part of a part": (
        {"model_type": "qwen3_omni_moe", "thinker_config": {}},
        lambda c: c.part("thinker_config").part("text_config").int("num_hidden_layers"),
        28,
    ),
    "a class without a model_type": ({"model_type": "dbrx"}, lambda c: c.part("ffn_config").int("moe_top_k"), 1),
    "a part of a type that transformers does not have": (
        {"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2"}},
        lambda c: c.part("llm_config").int("hidden_size"),
        4096,
    ),
}


@pytest.mark.parametrize(("values", "read", "expected"), READ.values(), ids=READ)
def test_reads(values: Json, read: Callable[[Config], Any], expected: object) -> None:
    assert read(Config(values)) == expected


@pytest.mark.parametrize("values", [{}, {"model_type": "no such"}, {"model_type": 5}, {"model_type": "llama"}])
def test_what_no_class_declares_is_missing(values: Json) -> None:
    with pytest.raises(ConfigError) as raised:
        Config(values).int("a")
    assert raised.value.code == "HF101"


def test_defaults_taken_at_the_top_are_told_and_those_of_parts_are_not() -> None:
    config = Config({**LLAVA, "text_config": {}})
    config.part("text_config").int("hidden_size")
    config.int("image_seq_length")
    assert config.taken == {"image_seq_length": 576}


def test_a_default_says_so() -> None:
    assert getattr(Config({"model_type": "llama"}).int("hidden_size"), "source", "") == "hidden_size, by default"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_no_key_that_a_family_reads_is_left_out_of_the_record(every: int) -> None:
    from reference import IDS, NO_SHAPE

    read = set()
    for path in sorted(ARCHITECTURES.glob("*.json"))[::every]:
        config = Config(json.loads(path.read_text())["config"])
        if not knows(config.family):  # another library's, of whose defaults this is no record
            continue
        build(config)
        read |= {key.rpartition(".")[2] for key in config.read_keys()}
    assert {key for key in read if NO_SHAPE.search(key) and not IDS.search(key)} <= {
        "dtype",
        "torch_dtype",
        "rope_parameters",
    }


@pytest.mark.long
def test_the_record_is_what_transformers_declares() -> None:
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    if transformers.__version__ != version():
        pytest.skip(f"the record is of transformers {version()}, and {transformers.__version__} is installed")
    from reference import DECLARED, FILE, lines, recorded, text
    from reference import declared as further

    names: dict[str, set[str]] = {}
    whole = recorded(names)
    assert text(whole) == FILE.read_text()
    assert lines(further(whole, names)) == DECLARED.read_text()


# What a config holds, and which of it is news.
UNREAD: dict[str, tuple[Json, list[str]]] = {
    "a key of another type": ({"model_type": "llama", "num_experts": 8}, ["num_experts"]),
    "a key that the class declares": ({"model_type": "dpt", "head_in_index": 1}, []),
    "a key that bears on no shape by its name": ({"model_type": "gemma2", "use_cache": True}, []),
    "a further name of the class": ({"model_type": "gpt2", "n_inner": 12, "num_hidden_layers": 3}, []),
    "an object of what its own class declares": ({"model_type": "mpt", "attn_config": {"qk_ln": True}}, []),
    "an object of anything else": ({"model_type": "mpt", "attn_config": {"foo": True}}, ["attn_config"]),
    "an object of nothing": ({"model_type": "mpt", "attn_config": {"qk_ln": False}}, []),
    "any key of a type that transformers does not have": ({"model_type": "own", "head_in_index": 1}, ["head_in_index"]),
    "any key without a type": ({"head_in_index": 1}, ["head_in_index"]),
    "any key of a type that is no name": ({"model_type": 3, "head_in_index": 1}, ["model_type", "head_in_index"]),
}


@pytest.mark.parametrize(("values", "unread"), UNREAD.values(), ids=UNREAD)
def test_what_nobody_reads_is_news_unless_the_class_declares_it(values: Json, unread: list[str]) -> None:
    config = Config(values)
    if isinstance(values.get("model_type"), str):
        config.str("model_type")
    assert config.unread() == unread


def test_what_a_class_declares_of_a_part() -> None:
    config = Config({**LLAVA, "text_config": {"model_type": "gemma", "num_image_tokens": 4, "num_experts": 8}})
    config.part("text_config")
    assert config.unread() == ["text_config.num_experts"]


@pytest.mark.long
def test_of_each_type_transformers_takes_the_same(tmp_path: Path) -> None:
    """Of a nested config that is empty, and of one that is absent."""
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    for outer, inner in (("llava", "text_config"), ("llava", "vision_config"), ("voxtral", "text_config")):
        for values in ({}, {inner: {}}):
            theirs = getattr(transformers.CONFIG_MAPPING[outer](**values), inner)
            mine = Config({"model_type": outer, **values}).part(inner)
            assert mine.kind == theirs.model_type
            for key, value in declared(mine.kind).keys.items():
                if type(value) is int and key != "num_key_value_heads":
                    assert mine.int(key, minimum=-9) == getattr(theirs, key), (outer, inner, key)
