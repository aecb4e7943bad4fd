"""What ends a generation, the chat template, the words of a tokenizer: beside a sound model."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from build import save_tiny

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.fetcher import Request

ADDED = {"2": {"content": "</s>"}, "48": {"content": "<|im_end|>"}, "49": {"content": "<|im_start|>"}}
TEMPLATE = "{{ '<|im_start|>' + m.content + '<|im_end|>' }}"
SETTINGS = {"eos_token": "</s>", "added_tokens_decoder": ADDED}
Files = dict[str, Any]


def said(folder: Path, files: Files, **changes: Any) -> list[str]:
    """Codes of what is said of a sound model with these files."""
    save_tiny(folder, **changes)
    for name, held in files.items():
        (folder / name).write_bytes(held if isinstance(held, bytes) else json.dumps(held).encode())
    report = hfcount.verify(str(folder))
    assert report.ok or any(finding.severity == "error" for finding in report.findings), str(report)
    return [finding.code for finding in report.findings]


def settings(**changes: Any) -> Files:
    return {"tokenizer_config.json": SETTINGS | changes}


ENDS: dict[str, tuple[Files, Any, list[str]]] = {
    "announced nowhere": (settings(chat_template=TEMPLATE, eos_token=None), None, []),
    "by the tokenizer alone": (settings(chat_template=TEMPLATE, eos_token="<|im_end|>"), None, []),
    "by an object": (settings(chat_template=TEMPLATE, eos_token={"content": "<|im_end|>"}), 48, []),
    "by the config": (settings(chat_template=TEMPLATE), [2, 48], []),
    "by the generation config": (
        {**settings(chat_template=TEMPLATE), "generation_config.json": {"eos_token_id": 48}},
        2,
        ["HF125"],
    ),
    "by none": (settings(chat_template=TEMPLATE), 2, ["HF124"]),
    "by none of several": (settings(chat_template=[{"name": "default", "template": TEMPLATE}]), [2, 3], ["HF124"]),
    "in a file": ({**settings(), "chat_template.jinja": TEMPLATE.encode()}, 2, ["HF124"]),
    "by the variable": (settings(chat_template="{{ m.content + eos_token }}"), 2, []),
    "by a word that is no token": (settings(chat_template="{{ m.content }}### User"), 2, []),
    "of another tokenizer": (settings(), 48, ["HF125"]),
    "of an unknown id": (settings(eos_token="<odd>"), 48, []),
    "two configs": ({"generation_config.json": {"eos_token_id": [3]}}, 2, ["HF125"]),
    "two configs that share one": ({"generation_config.json": {"eos_token_id": [3, 2]}}, 2, []),
    "of another form": (
        {"generation_config.json": [], "tokenizer_config.json": b"{"},
        2,
        ["HF114", "HF824", "HF824"],
    ),
}


@pytest.mark.parametrize(("files", "ends", "codes"), ENDS.values(), ids=ENDS)
def test_what_ends_a_generation(tmp_path: Path, files: Files, ends: Any, codes: list[str]) -> None:
    assert said(tmp_path, files, **({} if ends is None else {"eos_token_id": ends})) == codes


def test_an_end_without_a_row_is_never_met(tmp_path: Path) -> None:
    assert said(tmp_path, {"generation_config.json": {"eos_token_id": [50, 2]}}) == ["HF104"]
    (finding,) = hfcount.verify(str(tmp_path)).findings
    assert (finding.file, finding.severity, finding.observed) == ("generation_config.json", "note", 50)
    assert finding.message.endswith("generate of transformers 5.23 never produces that token.")


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({"vocab.json": {f"w{number}": number for number in range(50)}}, []),
        ({"vocab.json": {f"w{number}": number for number in range(51)}}, ["HF105"]),
        ({"vocab.json": {"[unused1]": 50, "a": 49}}, ["HF105"]),
        ({"vocab.txt": "\n".join(f"w{number}" for number in range(50)).encode() + b"\n"}, []),
        ({"vocab.txt": "\n".join(f"w{number}" for number in range(51)).encode()}, ["HF105"]),
        ({"vocab.txt": b"a\n" * 51, "tokenizer.json": {"added_tokens": [], "model": {}}}, []),
        ({"tokenizer.json": {"added_tokens": [], "model": {"vocab": {"a": 70, "b": 1}}}}, ["HF105"]),
        ({"tokenizer.json": {"added_tokens": [], "model": {"vocab": [[f"w{n}", 0.0] for n in range(51)]}}}, ["HF105"]),
        ({"qwen.tiktoken": b"YQ== 50\n"}, ["HF105"]),
        ({"tokenizer.model": b"\x0a\x03\x0a\x01a" * 51}, ["HF105"]),
        ({"tokenizer.model": b"\x0a\x03\x0a\x01a" * 51, "dict.txt": b"a 1\n"}, []),
    ],
    ids=str,
)
def test_every_word_needs_a_row(tmp_path: Path, files: Files, codes: list[str]) -> None:
    assert said(tmp_path, files) == codes


FULL = {f"w{number}": number for number in range(50)}


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({"vocab.json": {"a": 0, "b": 1}, "added_tokens.json": {"<x>": 1}}, ["HF127"]),
        ({"vocab.json": {"a": 0, "b": 1}, "added_tokens.json": {"b": 1, "<x>": 2}}, []),
        ({"vocab.json": {"a": 0, "b": 5}, "added_tokens.json": {"<x>": 3}}, []),
        ({"vocab.json": FULL, "added_tokens.json": {"<x>": 3}}, ["HF105", "HF127"]),  # which gets the next free id
        ({"tokenizer.json": {"model": {"vocab": FULL}, "added_tokens": [{"id": 3, "content": "<x>"}]}}, ["HF105"]),
        # Behind a gap it gets the next free id, too.
        ({"tokenizer.json": {"model": {"vocab": {"a": 0}}, "added_tokens": [{"id": 90, "content": "<x>"}]}}, ["HF127"]),
        (
            {"vocab.txt": b"a\nb\n", "tokenizer_config.json": {"added_tokens_decoder": {"0": {"content": "x"}}}},
            ["HF127"],
        ),
    ],
    ids=str,
)
def test_an_added_token_with_the_id_of_a_word(tmp_path: Path, files: Files, codes: list[str]) -> None:
    assert sorted(said(tmp_path, files)) == codes


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        (settings(tokenizer_class="LlamaTokenizer"), ["HF128"]),
        ({**settings(tokenizer_class="LlamaTokenizer"), "tokenizer.model": b""}, []),
        ({**settings(tokenizer_class="MarianTokenizer"), "source.spm": b""}, []),
        (settings(tokenizer_class="ByT5Tokenizer"), []),
        ({**settings(tokenizer_class="Own", auto_map={"AutoTokenizer": ["own.Own", None]}), "own.py": b""}, []),
        (settings(), []),
    ],
    ids=str,
)
def test_a_tokenizer_without_its_words(tmp_path: Path, files: Files, codes: list[str]) -> None:
    assert said(tmp_path, files) == codes


PAIR: Files = {"vocab.json": {"a": 0, "b": 1}, "merges.txt": b"#version: 0.2\n"}


@pytest.mark.parametrize(
    ("files", "values", "says"),
    [
        ({}, {"auto_map": {"AutoTokenizer": ["own.Own", None]}}, "own.py, which is missing"),
        ({}, {"auto_map": {"AutoTokenizer": ["there.Own", "own.Own"]}, "tokenizer_class": "Own"}, "own.py, which is"),
        ({}, {"auto_map": ["own.Own", None]}, "own.py, which is missing"),
        ({"own.py": b""}, {"auto_map": {"AutoTokenizer": ["own.Own", None]}}, None),
        ({}, {"auto_map": {"AutoTokenizer": ["org/other--own.Own", None]}}, None),
        ({}, {"auto_map": {"AutoProcessor": "own.Own"}}, None),
        ({}, {"auto_map": {"AutoTokenizer": 5}}, "has 5 for the tokenizer in auto_map"),
        ({}, {"auto_map": 5}, "has auto_map 5"),
        ({}, {"tokenizer_class": 5}, "has tokenizer_class 5, which is no name"),
        ({}, {"tokenizer_class": "NopeTokenizer"}, "has no such class"),
        ({}, {"tokenizer_class": "NopeTokenizerFast"}, "has no such class"),
        *(
            ({}, {"tokenizer_class": f"{kind}Tokenizer{fast}"}, None)
            for kind in ("GPT2", "LED")
            for fast in ("", "Fast")
        ),
        *(({}, {"tokenizer_class": kind}, None) for kind in ("TokenizersBackend", "PreTrainedTokenizerFast", "T")),
    ],
    ids=str,
)
def test_a_tokenizer_that_transformers_refuses(
    tmp_path: Path, files: Files, values: Mapping[str, Any], says: str | None
) -> None:
    named = said(tmp_path, {**PAIR, **files, "tokenizer_config.json": dict(values)})
    assert named == (["HF129"] if says else [])
    assert says is None or says in hfcount.verify(str(tmp_path)).findings[0].message


@pytest.mark.parametrize("gone", PAIR)
@pytest.mark.parametrize(
    ("kind", "more", "codes"),
    [
        ("GPT2Tokenizer", {}, ["HF129"]),
        ("Qwen2TokenizerFast", {}, ["HF129"]),
        ("Wav2Vec2CTCTokenizer", {}, []),
        ("GPT2Tokenizer", {"tokenizer.json": {"added_tokens": [], "model": {}}}, []),
        ("GPT2Tokenizer", {"tokenizer.model": b""}, []),
    ],
)
def test_half_a_vocabulary(tmp_path: Path, gone: str, kind: str, more: Files, codes: list[str]) -> None:
    files = {name: held for name, held in PAIR.items() if name != gone}
    assert said(tmp_path, {**files, **more, **settings(tokenizer_class=kind)}) == codes


def bpe(**model: Any) -> Files:
    words = {"a": 0, "b": 1, "ab": 2}
    return {"tokenizer.json": {"added_tokens": [], "model": {"type": "BPE", "vocab": words, **model}}}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"tokenizer_config.json": {"added_tokens_decoder": []}}, "added_tokens_decoder a list"),
        ({"tokenizer_config.json": {"added_tokens_decoder": {"x": {"content": "<y>"}}}}, "x in added_tokens_decoder"),
        ({"tokenizer_config.json": {"added_tokens_decoder": {"40": "<y>"}}}, "no token for 40"),
        ({"tokenizer_config.json": {"added_tokens_decoder": {"40": {"content": 5}}}}, "no token for 40"),
        ({"tokenizer_config.json": {"added_tokens_decoder": {"40": {}}}}, None),
        ({"tokenizer_config.json": {"pad_token": 5}}, "has pad_token 5, which is no token"),
        ({"tokenizer_config.json": {"pad_token": None, "eos_token": {"__type": "AddedToken", "content": "b"}}}, None),
        ({"tokenizer_config.json": {"extra_special_tokens": "x"}}, "extra_special_tokens"),
        ({"tokenizer_config.json": {"extra_special_tokens": [5]}}, "extra_special_tokens"),
        ({"tokenizer_config.json": {"extra_special_tokens": {"image": "<i>"}}}, None),
        ({"tokenizer_config.json": {"chat_template": [{"nam": "x"}]}}, "a list for chat_template"),
        ({"tokenizer_config.json": {"padding_side": None}}, "padding_side null, which must be left or right"),
        ({"tokenizer_config.json": {"model_max_length": "9"}}, "fails on every text"),
        ({"tokenizer_config.json": {"model_max_length": 1e30}}, None),
        ({"added_tokens.json": {"<z>": "80"}}, 'gives <z> the id "80", which is no number'),
        ({"special_tokens_map.json": {"eos_token": []}}, "has eos_token"),
        (bpe(merges=["a b"]), None),
        (bpe(merges=[["a", "b"]]), None),
        (bpe(merges=["a ##b"], vocab={"a": 0, "##b": 1, "ab": 2}, continuing_subword_prefix="##"), None),
        (bpe(merges=["a x"]), "merges x, which is no word of it"),
        (bpe(merges=["b a"]), "merges ba, which is no word of it"),
        (bpe(merges=["a b c"]), "a merge that is none"),
        (bpe(vocab={"a": -1}), "gives a the id -1"),
        (bpe(vocab={"a": "1"}), 'gives a the id "1"'),
    ],
    ids=str,
)
def test_a_value_that_no_tokenizer_is_loaded_with(tmp_path: Path, files: Files, says: str | None) -> None:
    assert said(tmp_path, files) == (["HF129"] if says else [])
    assert says is None or says in hfcount.verify(str(tmp_path)).findings[0].message


def test_a_template_that_is_no_text(tmp_path: Path) -> None:
    assert said(tmp_path, {"tokenizer_config.json": {"chat_template": 5}}) == ["HF126"]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"tokenizer.json": b"{ }"}, "has no added_tokens"),
        ({"tokenizer.model": b"garbage" * 9}, "no words of sentencepiece or tiktoken"),
        ({"tokenizer.model": b"<!DOCTYPE html>\n<html></html>"}, "no words of sentencepiece"),
        ({"tokenizer.model": b"garbage" * 9, "tokenizer.json": {"added_tokens": [], "model": {}}}, None),
        ({"tokenizer.model": b"YQ== 0\nYg== 1\n"}, None),
        ({"tokenizer.model": b""}, None),
        ({"tokenizer.json": {"added_tokens": []}}, None),  # as a recording keeps it
        ({"tokenizer.json": {"model": {"type": "BPE"}}}, "has no added_tokens"),
        ({"tokenizer.json": {"added_tokens": [], "version": "1.0"}}, "has no model"),
        ({"tokenizer.json": {"added_tokens": [], "model": {"type": "Nope"}}}, "a model of type Nope"),
        ({"preprocessor_config.json": b"{"}, "refuses to load the processor"),
        ({"processor_config.json": b"[]"}, "refuses to load the processor"),
        ({"preprocessor_config.json": {"image_processor_type": "CLIPImageProcessor"}}, None),
    ],
    ids=str,
)
def test_a_file_of_another_form(tmp_path: Path, files: Files, says: str | None) -> None:
    assert said(tmp_path, files) == (["HF824"] if says else [])
    assert says is None or says in hfcount.verify(str(tmp_path)).findings[0].message


@pytest.mark.parametrize(
    ("file", "folder", "severity"),
    [
        ("tokenizer_config.json", "", "error"),
        ("tokenizer.json", "", "error"),
        ("tokenizer_config.json", "0_Transformer", None),
        ("generation_config.json", "", "note"),
        ("preprocessor_config.json", "", "note"),
    ],
)
def test_sentence_transformers_loads_no_model_without_its_tokenizer(
    tmp_path: Path, file: str, folder: str, severity: str | None
) -> None:
    kinds = {folder: "Transformer", "1_Normalize": "Normalize"}
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(kinds.items())
    ]
    said(tmp_path, {"modules.json": modules, file: b"{"})
    found = [one for one in hfcount.verify(str(tmp_path)).findings if one.code == "HF824"]
    assert severity is None or [one.severity for one in found] == [severity]
    assert severity != "error" or "sentence-transformers 6.2 refuses to load the model" in found[0].message


def test_code_that_would_run_is_named(tmp_path: Path) -> None:
    own = {"auto_map": {"AutoTokenizer": ["own_tokens.Own", None], "AutoProcessor": "org/other--far.Own"}}
    assert said(tmp_path, {"tokenizer_config.json": own, "own_tokens.py": b"", "far.py": b"", "other.py": b""}) == []
    (row,) = hfcount.verify(str(tmp_path)).not_looked_at
    assert (row.kind, row.files) == ("code that trust_remote_code runs", ("org/other--far.py", "own_tokens.py"))


def test_a_recording_says_the_same(tmp_path: Path) -> None:
    files = settings(chat_template=TEMPLATE, tokenizer_class="T") | {"added_tokens.json": {"<x>": 0}}
    codes = said(tmp_path / "m", {**files, "vocab.txt": b"a\nb\n"}, eos_token_id=50)
    assert codes == ["HF104", "HF127", "HF125", "HF124"]
    inspect(Request(str(tmp_path / "m")), Options(save=tmp_path / "saved"))
    saved = hfcount.verify("m", fixtures=tmp_path / "saved")
    assert [finding.code for finding in saved.findings] == codes
    assert os.path.getsize(tmp_path / "saved" / "m" / "vocab.txt") < 20


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 7\n"


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json"])
@pytest.mark.parametrize(
    ("held", "problem"),
    [
        (b"", "is empty"),
        (LFS, "Git LFS pointer"),
        (b"<!DOCTYPE html><html></html>", "HTML page"),
        (b'{"model": {', "is not JSON"),
        (b"[]", "holds a list"),
        (b'{"a": "' + b"x" * 300_000, "is not JSON"),
        (b'{"model": {}, "added_tokens": []}', ""),
        (b'{"a": "' + b"x" * 300_000 + b'"}\n', ""),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_parsed_is_named(tmp_path: Path, name: str, held: bytes, problem: str) -> None:
    save_tiny(tmp_path)
    (tmp_path / name).write_bytes(held)
    report = hfcount.verify(str(tmp_path))
    named = [one for one in report.findings if one.code == "HF824"]
    assert (report.verdict, [one.file for one in named]) == ("verified", [name] * bool(problem))
    assert not named or problem in named[0].message


@pytest.mark.parametrize("name", ["generation_config.json", "tokenizer_config.json", "tokenizer.json"])
def test_a_key_that_recordings_use_is_nothing_in_a_file_of_ones_own(tmp_path: Path, name: str) -> None:
    save_tiny(tmp_path)
    (tmp_path / name).write_text('{"unreadable": 5, "model": {}, "added_tokens": []}')
    assert "HF824" not in [finding.code for finding in hfcount.verify(str(tmp_path)).findings]


def test_a_generation_config_that_cannot_be_parsed_is_passed_over(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    (tmp_path / "generation_config.json").write_bytes(b"{")
    (finding,) = hfcount.verify(str(tmp_path)).findings
    assert (finding.code, "loads the model without it" in finding.message) == ("HF824", True)
