"""Keys that readers take differently: who takes what, when that matters, and how it is mended."""

import json
from pathlib import Path
from typing import Any

import pytest
from build import Json, config
from defects import SINGLE, Checkpoint
from paths import ARCHITECTURES

import hfcount
from hfcount.mapper.loader_differences import moved, rotary
from hfcount.repair.plan import planned

TIE, HEAD = "tie_word_embeddings", "language_model.lm_head.weight"
VISION: Json = {
    "model_type": "clip_vision_model",
    "hidden_size": 8,
    "intermediate_size": 14,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 8,
    "patch_size": 4,
    "projection_dim": 6,
}


def composite(kind: str, top: bool | None, inner: bool | None) -> Json:
    text = {key: value for key, value in config("llama").items() if key not in ("architectures", TIE)}
    values = {
        "model_type": kind,
        "architectures": ["LlavaNextForConditionalGeneration"],
        "dtype": "bfloat16",
        "vision_config": VISION,
        "text_config": text,
        "image_token_index": 3,
        "vision_feature_layer": -2,
    }
    for place, said in ((values, top), (text, inner)):
        if said is not None:
            place[TIE] = said
    return values


def checkpoint(folder: Path, values: Json, head: str) -> Path:
    """A folder with `no` head, one of its `own`, or a `copy` of the embedding."""
    tied = hfcount.blueprint(values | {TIE: True})
    tensors = {one.name: ("BF16", tuple(map(int, one.shape))) for one in tied.tensors() if one.name != HEAD}
    if head != "no":
        tensors[HEAD] = ("BF16", (50, 12))
    damage = {SINGLE: lambda content: content[:-1] + b"\1"} if head == "own" else {}
    return Checkpoint(values, {SINGLE: tensors}, weight_map={}, damage=damage).write(folder)


# Whether each level ties, which head is stored, the verdict, the findings, what is said.
TIES: list[tuple[bool | None, bool | None, str, str, str, str]] = [
    (None, True, "own", "explained", "HF112", "transformers 4.57 asks, it has one matrix for both, so one of the two"),
    (False, True, "own", "explained", "HF112", "Set tie_word_embeddings to false at both levels"),
    (None, True, "copy", "verified", "", ""),
    (None, True, "no", "mismatch", "HF112 HF201", "Set tie_word_embeddings to true at both levels"),
    (False, True, "no", "mismatch", "HF112 HF201", "does not tie the head"),
    (True, False, "no", "explained", "HF112", "is not stored and is filled with random values"),
    (True, None, "no", "explained", "HF112", "by text_config.tie_word_embeddings, which transformers 4.57 asks"),
    (True, False, "own", "explained", "HF112", "loads the stored head all the same, since it differs"),
    (True, False, "copy", "explained", "HF203", ""),
    (True, True, "no", "verified", "", ""),
    (False, False, "own", "verified", "", ""),
    (None, None, "own", "verified", "", ""),
    (None, False, "own", "verified", "", ""),
]


@pytest.mark.parametrize(("top", "inner", "head", "verdict", "codes", "says"), TIES)
def test_a_tie_at_one_level(
    tmp_path: Path, top: bool | None, inner: bool | None, head: str, verdict: str, codes: str, says: str
) -> None:
    folder = checkpoint(tmp_path / "m", composite("llava_next", top, inner), head)
    report = hfcount.verify(str(folder))
    assert (report.verdict, sorted(finding.code for finding in report.findings)) == (verdict, codes.split())
    assert says in " ".join(finding.message for finding in report.findings)


@pytest.mark.parametrize(("top", "inner", "head"), [row[:3] for row in TIES if "HF112" in row[4]])
def test_it_is_written_at_both_levels_where_that_is_asked_for(
    tmp_path: Path, top: bool | None, inner: bool | None, head: str
) -> None:
    folder = checkpoint(tmp_path / "m", composite("llava_next", top, inner), head)
    plan = planned(folder, only=["HF112"])
    assert (plan.after.report.verdict, plan.after.codes) == ("verified", frozenset())
    values = plan.after.values
    assert values[TIE] is values["text_config"][TIE] is (head == "no")


def test_without_weights_it_is_said_that_the_models_differ(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(composite("llava_next", None, True)))
    (finding,) = hfcount.verify(str(tmp_path / "config.json"), depth="config").findings
    assert (finding.code, finding.fix) == ("HF112", None)
    assert finding.message.endswith("which transformers 4.57 asks, it is another model.")


@pytest.mark.parametrize(
    ("top", "inner", "says"),
    [
        (None, True, "which transformers 4.57 and vLLM 0.33 ask"),
        (True, False, "which transformers 4.57 and vLLM 0.33 ask"),
        (True, True, ""),
    ],
)
def test_vllm_asks_the_language_model_of_idefics3(top: bool | None, inner: bool | None, says: str) -> None:
    path = ARCHITECTURES / "idefics3.json"
    values = json.loads(path.read_text())["config"] | {TIE: top}
    values["text_config"] = values["text_config"] | {TIE: inner}
    values = {key: value for key, value in values.items() if value is not None}
    found = hfcount.blueprint(values).ties_otherwise
    assert {one.place for one in found} == ({f"text_config.{TIE}"} if says else set())
    assert {one.reader for one in found} == ({"transformers 4.57", "vLLM 0.33"} if says else set())


def rope(**settings: Any) -> Json:
    return {"model_type": "llama", "rope_parameters": settings}


YARN: Json = {"rope_type": "yarn", "factor": 4.0}
LINEAR: Json = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1_000_000.0}
LOCAL: Json = {"rope_type": "default", "rope_theta": 10_000.0}

# A config, and where 4.57 looks for what 5.23 takes: its key, what 5.23 takes, what 4.57 takes.
ROTARY: dict[str, tuple[Json, list[tuple[str, Any, Any]]]] = {
    "only in version 5's spelling": (rope(rope_theta=5e5), [("rope_theta", 5e5, 1e4)]),
    "in both": (rope(rope_theta=5e5) | {"rope_theta": 5e5}, []),
    "in both, and another": (rope(rope_theta=5e5) | {"rope_theta": 1e6}, [("rope_theta", 5e5, 1e6)]),
    "in version 4's": ({"model_type": "llama", "rope_theta": 5e5}, []),
    "the default": (rope(rope_theta=1e4, rope_type="default"), []),
    "no base": (rope(rope_type="default"), []),
    "nothing": ({"model_type": "llama"}, []),
    "nothing, and defaults that differ": ({"model_type": "cohere"}, [("rope_theta", 5e5, 1e4)]),
    "null": ({"model_type": "llama", "rope_theta": None}, []),
    "scaled": (rope(rope_theta=1e4, **YARN), [("rope_scaling", "yarn", "default")]),
    "scaled in both": (rope(rope_theta=1e4, **YARN) | {"rope_scaling": YARN}, []),
    "scaled in version 4's": ({"model_type": "llama", "rope_scaling": YARN}, []),
    "a share": (
        {"model_type": "phi", "rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.4}},
        [("partial_rotary_factor", 0.4, 0.5)],
    ),
    "by kind of layer": (
        {"model_type": "gemma3_text", "rope_parameters": {"full_attention": LINEAR, "sliding_attention": LOCAL}},
        [("rope_scaling", "linear", "default")],
    ),
    "a base by kind of layer": (
        {"model_type": "gemma3_text", "rope_parameters": {"sliding_attention": LOCAL | {"rope_theta": 5e4}}},
        [("rope_local_base_freq", 5e4, 1e4)],
    ),
    "one base for all kinds of layers": (
        {"model_type": "olmo3", "rope_parameters": {"full_attention": LOCAL, "sliding_attention": LOCAL}},
        [],
    ),
    "nothing, and one base for all kinds of layers": ({"model_type": "olmo3"}, [("rope_theta", 5e5, 1e4)]),
    "in a part": (
        {"model_type": "llava", "text_config": rope(rope_theta=5e5)},
        [("text_config.rope_theta", 5e5, 1e4)],
    ),
    "the default of the type that it is nested in": (
        {"model_type": "voxtral", "text_config": {"model_type": "llama", **rope(rope_theta=1e8)}},
        [],
    ),
    "another than that": (
        {"model_type": "voxtral", "text_config": {"model_type": "llama", **rope(rope_theta=1e4)}},
        [("text_config.rope_theta", 1e4, 1e8)],
    ),
    "a type that 4.57 has not": ({"model_type": "qwen3_5_text", "rope_parameters": {"rope_theta": 7.0}}, []),
    "no object": ({"model_type": "llama", "rope_parameters": [1]}, []),
    "no number": (rope(rope_theta="5e5"), []),
}


@pytest.mark.parametrize(("values", "found"), ROTARY.values(), ids=ROTARY)
def test_rotary_positions(values: Json, found: list[tuple[str, Any, Any]]) -> None:
    assert [(one.older, one.newer, one.taken) for one in rotary(values, values["model_type"])] == found


@pytest.mark.parametrize("settings", [{"rope_theta": 5e5}, {"rope_theta": 5e5, **YARN}])
def test_rotary_positions_are_written_in_both_spellings(tmp_path: Path, settings: Json) -> None:
    values = config("llama", rope_parameters=settings)
    tensors = {one.name: ("BF16", tuple(map(int, one.shape))) for one in hfcount.blueprint(values).tensors()}
    folder = Checkpoint(values, {SINGLE: tensors}, weight_map={}).write(tmp_path / "m")
    assert {one.code for one in hfcount.verify(str(folder)).findings} == {"HF113"}
    plan = planned(folder, only=["HF113"])
    assert ([*plan.after.report.findings], plan.after.values["rope_theta"]) == ([], 5e5)


def glm(flat: bool, **changes: Any) -> Json:
    values: Json = json.loads((ARCHITECTURES / "glm4v.json").read_text())["config"] | changes
    text = values.pop("text_config")
    sizes = {key: value for key, value in text.items() if key != "model_type"}
    return {**sizes, **values} if flat else {**values, "text_config": text}


# A config, what it is changed by, and of which keys at its top level 4.57 makes another language model than 5.23.
MOVED: dict[str, tuple[Json, set[str]]] = {
    "no text_config": (
        glm(flat=True),
        {"hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size"},
    ),
    "null": ({"model_type": "glm4v", "text_config": None, "hidden_size": 512}, {"hidden_size"}),
    "the default": ({"model_type": "glm4v", "hidden_size": 4096}, set()),
    "the base of rotary positions": ({"model_type": "glm4v", "rope_theta": 5e5}, set()),
    "one key that moved": ({"model_type": "paligemma", "vocab_size": 500, "hidden_size": 64}, {"vocab_size"}),
    "at both levels": (glm(flat=False, hidden_size=512), set()),
    "in text_config": (glm(flat=False), set()),
    "flat for both": ({"model_type": "qwen2_vl", "hidden_size": 512, "sliding_window": 512}, set()),
    "for neither": ({"model_type": "llava", "hidden_size": 512}, set()),
    "a type that 4.57 has not": ({"model_type": "glm5_next", "hidden_size": 512}, set()),
    "no number": ({"model_type": "glm4v", "hidden_size": "512"}, set()),
    "no type": ({"model_type": ["glm4v"], "hidden_size": 512}, set()),
}


@pytest.mark.parametrize(("values", "keys"), MOVED.values(), ids=MOVED)
def test_sizes_at_the_top_level(values: Json, keys: set[str]) -> None:
    found = moved(values, values["model_type"])
    assert (set(found.taken) if found else set()) == keys
    assert found is None or all(found.taken[key] == values[key] != found.newer[key] for key in keys)


def stored(values: Json) -> dict[str, tuple[str, tuple[int, ...]]]:
    return {one.name: ("BF16", tuple(map(int, one.shape))) for one in hfcount.blueprint(values).tensors()}


def test_sizes_that_version_4_took_are_written_in_text_config(tmp_path: Path) -> None:
    flat, nested = glm(flat=True), glm(flat=False)
    folder = Checkpoint(flat, {SINGLE: stored(nested)}, weight_map={}).write(tmp_path / "m")
    before = hfcount.verify(str(folder))
    said = " ".join(one.message for one in before.findings if one.code == "HF112")
    assert before.verdict == "mismatch"
    assert "uses its defaults hidden_size 4,096, " in said
    assert "transformers 4.57 reads hidden_size 608, " in said
    plan = planned(folder, only=["HF112"])
    text = plan.after.values["text_config"]
    assert (plan.after.report.verdict, "HF112" in plan.after.codes) == ("verified", False)
    assert text[TIE] is False
    assert {key: text[key] for key in MOVED["no text_config"][1]} == {
        key: flat[key] for key in MOVED["no text_config"][1]
    }


def test_weights_of_the_default_sizes_are_told_that_version_4_takes_others() -> None:
    report = hfcount.verify_tensors(
        glm(flat=True), {name: (shape, kind) for name, (kind, shape) in stored(glm(flat=True)).items()}
    )
    assert (report.verdict, "HF112" in {one.code for one in report.findings}) == ("explained", True)


@pytest.mark.parametrize(
    ("kind", "top", "readers"),
    [("llava", True, 1), ("llava", False, 0), ("gemma3", False, 1), ("qwen2_vl", True, 0), ("glm4v", True, 0)],
)
def test_a_tie_without_a_text_config(kind: str, top: bool, readers: int) -> None:
    found = hfcount.blueprint({"model_type": kind, TIE: top}).ties_otherwise
    assert [one.absent is not None for one in found] == [True] * readers
