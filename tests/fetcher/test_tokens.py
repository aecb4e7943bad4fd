"""Added tokens: what each of a tokenizer's files says of them, and how far a run looks for that."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from build import config, save_tiny
from conftest import Run
from loopback import Fault, Hub, write_checkpoint
from paths import ARCHITECTURES

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.fetcher import Request, tokens
from hfcount.formats.json import Document

MODEL = "org/tiny"
LAST = 49  # the last row of the tiny embedding

NAMED: dict[str, Any] = {
    "added_tokens.json": lambda **ids: ids,
    "tokenizer_config.json": lambda **ids: {
        "model_max_length": 10**30,
        "added_tokens_decoder": {str(number): {"content": token, "special": True} for token, number in ids.items()},
    },
    "tokenizer.json": lambda **ids: {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": token} for token, number in ids.items()],
        "model": {"vocab": words_below(ids), "merges": []},
    },
}


def words_below(ids: Mapping[str, int]) -> dict[str, int]:
    """A vocabulary of all ids below the last of the tokens', which alone is added to it."""
    words = {number: f"w{number}" for number in range(max(ids.values()))}
    words |= {number: token for token, number in ids.items() if number in words}
    return {word: number for number, word in words.items()}


def found(folder: Path) -> list[tuple[str, str, int]]:
    return list(tokens.added(tokens.read(folder, os.listdir(folder), None)))


@pytest.mark.parametrize("indent", [None, 2], ids=["dense", "indented"])
@pytest.mark.parametrize("file", NAMED)
def test_tokens_of_each_file(tmp_path: Path, file: str, indent: int | None) -> None:
    (tmp_path / file).write_text(json.dumps(NAMED[file](a=3, b=70), indent=indent))
    last = [(file, "w69", 69)] if file == "tokenizer.json" else []
    assert found(tmp_path) == [(file, "a", 3), (file, "b", 70), *last]


VOCABULARIES: dict[str, tuple[Any, int | None]] = {
    "BPE": ({"type": "BPE", "vocab": {"a": 0, 'b"}': 60}, "merges": []}, 60),
    "words": ({"type": "WordPiece", "max_input_chars_per_word": 100, "vocab": {"a": 0, "##é": 60}}, 60),
    "places in a list": ({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False}, None),
    "none": ({}, None),
}


@pytest.mark.parametrize("indent", [None, 2], ids=["dense", "indented"])
@pytest.mark.parametrize(("model", "highest"), VOCABULARIES.values(), ids=VOCABULARIES)
def test_the_last_token_of_a_vocabulary_needs_a_row(
    tmp_path: Path, model: Any, highest: int | None, indent: int | None
) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    tokenizer = {"added_tokens": [{"id": 0, "content": "merges"}], "model": model}
    (made / "tokenizer.json").write_text(json.dumps(tokenizer, indent=indent, ensure_ascii=False))
    found = [(one.code, one.severity, one.observed) for one in hfcount.verify(made).findings]
    assert found == ([("HF105", "error", highest)] if highest else [])


@pytest.mark.parametrize("file", NAMED)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "version https://git-lfs.github.com/spec/v1\n",
        '{"added_tokens": 3, "added_tokens_decoder": 3}',
        '{"added_tokens": [3, {}, {"id": "5", "content": "a"}], "added_tokens_decoder": {"x": {"content": "a"}}}',
        '{"added_tokens": [{"id": 5, "content": "a"}',
        '{"a": "5", "added_tokens_decoder": {"5": {"content": null}}}',
    ],
)
def test_a_file_of_another_form_says_nothing(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    assert [one for one in found(tmp_path) if one[2] != 3] == []


def test_what_comes_after_is_not_kept(tmp_path: Path) -> None:
    whole = json.dumps(NAMED["tokenizer.json"](a=3))
    (tmp_path / "tokenizer.json").write_text(whole[:-1] + ', "rest": "' + "é" * 4_000_000 + '"}')
    assert found(tmp_path) == [("tokenizer.json", "a", 3), ("tokenizer.json", "w2", 2)]
    (document,) = tokens.read(tmp_path, os.listdir(tmp_path), "org/name").values()
    assert (document.where, len(document.raw) < 150) == ("org/name tokenizer.json", True)


def test_a_folder_of_that_name_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").mkdir()
    assert found(tmp_path) == []


def test_the_first_file_is_named() -> None:
    documents = {file: Document(file, json.dumps(NAMED[file](a=60)).encode()) for file in NAMED}
    assert [file for file, _, _ in tokens.added(documents)] == list(NAMED)


@pytest.mark.parametrize(
    ("token", "number", "verdict"),
    [
        ("<|im_end|>", LAST, "verified"),
        ("<|im_end|>", LAST + 1, "mismatch"),
        ("<pad>", LAST + 1, "explained"),
        ("[PAD]", LAST + 1, "explained"),
        ("<|image_pad|>", LAST + 1, "explained"),
        ("<image>", LAST + 1, "explained"),
        ("<|reserved_special_token_3|>", LAST + 1, "explained"),
        ("<iPad>", LAST + 1, "mismatch"),
    ],
)
@pytest.mark.parametrize("file", NAMED)
def test_a_token_needs_a_row(tmp_path: Path, file: str, token: str, number: int, verdict: str) -> None:
    place = save_tiny(tmp_path / "fixtures" / MODEL)
    (place / file).write_text(json.dumps(NAMED[file](**{"<s>": 1, token: number})))
    report = hfcount.verify(MODEL, fixtures=tmp_path / "fixtures")
    assert report.verdict == verdict
    for finding in report.findings:
        assert (finding.code, finding.file, finding.observed, finding.expected) == ("HF105", file, LAST + 1, LAST + 1)
        assert f"{token} has the id 50, but model.embed_tokens.weight has only rows 0 to 49" in finding.message


def test_several_tokens_are_one_finding_of_each_kind(tmp_path: Path) -> None:
    place = save_tiny(tmp_path / "fixtures" / MODEL)
    (place / "added_tokens.json").write_text(json.dumps({"c": 53, "a": 51, "b": 52, "<pad>": 54}))
    (place / "tokenizer_config.json").write_text(json.dumps(NAMED["tokenizer_config.json"](a=51)))
    said = {one.severity: one.message for one in hfcount.verify(MODEL, fixtures=tmp_path / "fixtures").findings}
    assert "added_tokens.json: a has the id 51 (2 more tokens have such an id), but" in said["error"]
    assert "added_tokens.json: <pad> has the id 54, but" in said["note"]


def test_a_model_without_an_embedding_of_tokens_has_no_rows_to_lack(tmp_path: Path) -> None:
    values = json.loads((ARCHITECTURES / "vit.json").read_text())["config"]
    place = tmp_path / "fixtures" / MODEL
    place.mkdir(parents=True)
    (place / "config.json").write_text(json.dumps(values))
    (place / "added_tokens.json").write_text('{"a": 1000000}')
    assert "HF105" not in {one.code for one in hfcount.verify(MODEL, fixtures=tmp_path / "fixtures").findings}


def test_a_hub_is_asked_for_the_short_file_alone(hub: Hub, run: Run, tmp_path: Path) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    for file, said in NAMED.items():
        (made / file).write_text(json.dumps(said(a=50)))
    hub.publish(MODEL, made)
    online = run(MODEL, "--save", tmp_path / "saved")
    asked = sorted(path.rpartition("/")[2] for path in hub.paths() if "/resolve/" in path)
    assert asked == ["added_tokens.json", "config.json", "model.safetensors.index.json"]
    assert [one["code"] for one in online.report["findings"]] == ["HF105"]
    hub.requests.clear()
    replay = run(MODEL, "--fixtures", tmp_path / "saved")
    again = run(MODEL)  # from what was kept
    assert (replay.report, again.report) == (online.report | {"source": "fixtures"}, online.report)
    assert [path for path in hub.paths() if "/resolve/" in path] == []


@pytest.mark.parametrize(
    ("files", "asked"),
    [
        (["tokenizer.json", "tokenizer_config.json"], "tokenizer.json"),
        (["tokenizer_config.json"], "tokenizer_config.json"),
    ],
)
def test_a_hub_is_asked_for_one_file(hub: Hub, run: Run, tmp_path: Path, files: list[str], asked: str) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    for file in files:
        (made / file).write_text(json.dumps(NAMED[file](a=50)))
    hub.publish(MODEL, made)
    online = run(MODEL, "--save", tmp_path / "saved")
    assert sum("tokenizer" in path for path in hub.paths()) == 1
    assert [(one["code"], one["file"]) for one in online.report["findings"]] == [("HF105", asked)]
    assert run(MODEL, "--fixtures", tmp_path / "saved").report == online.report | {"source": "fixtures"}
    hub.requests.clear()
    assert run(MODEL).report == online.report
    assert not [path for path in hub.paths() if "/resolve/" in path]


def test_of_a_long_tokenizer_the_beginning_is_read(hub: Hub, run: Run, tmp_path: Path) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    many = {f"<{number}>": number for number in range(30, 12_000)}
    (made / "tokenizer.json").write_text(json.dumps(NAMED["tokenizer.json"](**many), indent=2))
    assert (made / "tokenizer.json").stat().st_size > tokens.BEGINNING
    hub.publish(MODEL, made)
    (finding,) = run(MODEL).report["findings"]
    assert finding["observed"] == 50
    (asked,) = (one.headers["Range"] for one in hub.requests if one.path.endswith("tokenizer.json"))
    assert asked == f"bytes=0-{tokens.BEGINNING - 1}"


def test_a_tokenizer_that_cannot_be_had_is_left(hub: Hub, run: Run, tmp_path: Path) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    (made / "tokenizer.json").write_text(json.dumps(NAMED["tokenizer.json"](a=50)))
    hub.publish(MODEL, made)
    hub.faults["tokenizer.json"] = [Fault(status=403)]
    assert run(MODEL).report["verdict"] == "verified"


def test_a_long_file_is_left(hub: Hub, run: Run, tmp_path: Path) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    (made / "added_tokens.json").write_text(json.dumps({"a": 50}) + " " * 1_000_000)
    hub.publish(MODEL, made)
    report = run(MODEL).report
    assert report["verdict"] == "verified"
    assert report["evidence"]["files"]["apart"] == {"added_tokens.json": "too long for a tokenizer"}


def test_a_folder_and_its_recording_say_the_same(tmp_path: Path) -> None:
    made = write_checkpoint(tmp_path / "m", config("llama", head_dim=6))
    for file, said in NAMED.items():
        (made / file).write_text(json.dumps(said(a=50)))
    online = inspect(Request(str(made)), Options(save=tmp_path / "saved"))
    replay = hfcount.verify("m", fixtures=tmp_path / "saved")
    assert [(one.code, one.file) for one in online.findings] == [("HF105", "added_tokens.json")]
    assert [one.message for one in replay.findings] == [one.message for one in online.findings]
    kept = json.loads((tmp_path / "saved" / "m" / "tokenizer.json").read_text())
    assert kept == {"added_tokens": [{"id": 50, "content": "a"}, {"id": 49, "content": "w49"}]}


@pytest.mark.parametrize("name", ["quantize_config.json", "quant_config.json", "hf_quant_config.json", "modules.json"])
def test_files_of_other_things_have_no_tokens(name: str) -> None:
    document = Document(name, b'{"group_size": 128, "bits": 4}')
    assert list(tokens.added({name: document})) == []
    assert list(tokens.added({"added_tokens.json": document})) == [
        ("added_tokens.json", "group_size", 128),
        ("added_tokens.json", "bits", 4),
    ]
