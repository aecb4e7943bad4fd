"""Token ids of a config: which need a row of the embedding, and what is said where there is none."""

import json
from pathlib import Path
from typing import Any

import pytest
from build import Json, config, index, save
from defects import EMBED, HEAD, SINGLE, Checkpoint, stored
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.whatif import changed

LLAMA = config("llama")  # 50 rows


def recorded(name: str, **changes: Any) -> Json:
    values: Json = json.loads((ARCHITECTURES / f"{name}.json").read_text())["config"]
    return changed(values, {key.replace("__", "."): value for key, value in changes.items()})


def rows(name: str) -> int:
    """Of the recorded model's embedding of tokens."""
    return max(one.shape[0] for one in hfcount.blueprint(recorded(name)).tensors() if "embed_tokens" in one.name)


def said(values: Json, folder: Path) -> list[tuple[str, str, str | None]]:
    """Severity, message and key of what is said of ids."""
    report = hfcount.verify(str(save(folder, values)), depth="config")
    return [(one.severity, one.message, one.key) for one in report.findings if one.code == "HF104"]


CASES: dict[str, tuple[Json, str]] = {
    "the last row": ({"pad_token_id": 49}, ""),
    "padding": ({"pad_token_id": 50}, "error"),
    "an image": ({"image_token_id": 50}, "error"),
    "an image by its old key": ({"image_token_index": 50}, "error"),
    "audio": ({"audio_token_id": 51}, "error"),
    "a video": ({"video_token_id": 10**9}, "error"),
    "what a decoder starts with": ({"decoder_start_token_id": 50}, "note"),
    "the end of a text": ({"eos_token_id": 50}, "note"),
    "one end of several": ({"eos_token_id": [2, 49, 50]}, "note"),
    "ends in reach": ({"eos_token_id": [2, 49]}, ""),
    "the beginning of an image": ({"vision_start_token_id": 50}, "note"),
    "none": ({"pad_token_id": None, "image_token_id": None}, ""),
    "counted from the end": ({"pad_token_id": -1}, ""),
    "a mark that is no row": ({"image_token_index": -200}, ""),
    "no id": ({"pad_token_id": True, "image_token_id": "50", "eos_token_id": 50.0}, ""),
    "another number": ({"image_seq_length": 576, "image_token_length": 256}, ""),
    "in a part without an embedding": ({"vision_config": {"image_token_id": 50}}, ""),
}


@pytest.mark.parametrize(("changes", "severity"), CASES.values(), ids=CASES)
def test_an_id_needs_a_row(changes: Json, severity: str, tmp_path: Path) -> None:
    assert [one for one, _, _ in said(LLAMA | changes, tmp_path)] == ([severity] if severity else [])


def test_ids_are_told_together(tmp_path: Path) -> None:
    found = said(LLAMA | {"pad_token_id": 50, "image_token_id": 1234, "eos_token_id": 60}, tmp_path)
    assert found == [
        (
            "error",
            f"pad_token_id is 50, image_token_id is 1,234, but {EMBED} has 50 rows: an input with such a token fails"
            " when the model runs. Correct the id, or resize the embedding and set vocab_size.",
            "pad_token_id",
        ),
        (
            "note",
            f"eos_token_id is 60, but {EMBED} has 50 rows: generate of transformers 5.23 never produces that token, and"
            " generates until the limit of its length.",
            "eos_token_id",
        ),
    ]


@pytest.mark.parametrize(("number", "severity"), [(151_935, []), (151_936, ["note"])])
def test_text_beside_codes_has_an_embedding_of_its_own(number: int, severity: list[str], tmp_path: Path) -> None:
    assert [one for one, _, _ in said(recorded("qwen3_tts", tts_bos_token_id=number), tmp_path)] == severity


def test_a_long_list_is_cut(tmp_path: Path) -> None:
    ((_, message, _),) = said(LLAMA | {"eos_token_id": list(range(50, 60))}, tmp_path)
    assert "eos_token_id is 52 and 7 more ids, but" in message


@pytest.mark.parametrize(
    ("name", "key", "severity"),
    [
        ("llava", "image_token_index", "error"),
        ("bart", "decoder_start_token_id", "error"),
        ("qwen2_vl", "image_token_id", "error"),
        ("gemma3", "image_token_id", ""),  # transformers puts another id in its place
        ("gemma4", "audio_token_id", ""),
        ("paligemma", "image_token_index", ""),
    ],
)
def test_where_the_reference_looks_a_placeholder_up(name: str, key: str, severity: str, tmp_path: Path) -> None:
    values = recorded(name) | {key: rows(name)}
    assert [one for one, _, _ in said(values, tmp_path)] == ([severity] if severity else [])


def test_an_id_of_a_part_belongs_to_its_embedding(tmp_path: Path) -> None:
    values = recorded("llava", text_config__pad_token_id=rows("llava"))
    ((severity, _, key),) = said(values, tmp_path)
    assert (severity, key) == ("error", "text_config.pad_token_id")


def test_rows_beyond_the_vocabulary_count(tmp_path: Path) -> None:
    """Mllama's embedding has eight more, for its placeholders."""
    vocabulary = recorded("mllama")["text_config"]["vocab_size"]
    for place, last in ((tmp_path / "in", vocabulary + 7), (tmp_path / "out", vocabulary + 8)):
        assert bool(said(recorded("mllama") | {"image_token_index": last}, place)) == (last == vocabulary + 8)


def test_the_default_of_another_vocabulary_is_a_note(tmp_path: Path) -> None:
    """Small models of a type keep it."""
    small = recorded("qwen2_5_vl") | {"image_token_id": 151655}
    text = small["text_config"] | {"vocab_size": 320, "bos_token_id": 151643}
    ((severity, message, _),) = said(small | {"text_config": text}, tmp_path)
    assert (severity, "bos_token_id" in message) == ("note", False)


def test_a_resized_embedding_has_rows_that_the_config_does_not_know(tmp_path: Path) -> None:
    tensors = stored(LLAMA) | {EMBED: ("BF16", (52, 12)), HEAD: ("BF16", (52, 12))}
    made = Checkpoint(LLAMA | {"pad_token_id": 51}, {SINGLE: tensors}, weight_map={}).write(tmp_path / "model")
    assert [one.code for one in hfcount.verify(str(made)).findings] == ["HF301"]


def test_an_id_without_a_row_is_a_mismatch_at_any_depth(tmp_path: Path) -> None:
    values = LLAMA | {"image_token_index": 50}
    place = save(tmp_path, values, index(values))
    for depth in ("config", "index", "auto"):
        assert hfcount.verify(str(place), depth=depth).verdict == "mismatch"
