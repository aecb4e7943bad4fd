"""tests/tools/watch.py: what differs between two recorded snapshots of transformers, as a page."""

import json
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import watch

Json = dict[str, Any]

BEFORE: Json = {
    "version": "1.0",
    "failed": {},
    "types": {"CONFIG_MAPPING_NAMES": {"llama": "LlamaConfig", "old": "OldConfig"}, "OTHER": {"a_vision": "a"}},
    "classes": {"llama": "LlamaForCausalLM LlamaModel"},
    "prefixes": {"llama": "model"},
    "absent": {"llama": {"vocab_size": "32", "text_config.depth": "2"}, "other": {"vocab_size": "32"}},
    "nulls": {"llama": {"chunk": {"layer_types": '["chunked"]'}}},
    "names": {"llama": {"n_layer": "num_hidden_layers"}},
    "values": {"llama": {"types": {"depth": "int"}}},
    "tied": {"LlamaForCausalLM": {"head": "table"}},
    "renames": {"llama": ["a → b"]},
    "built": {
        "llama": {"tensors": {"w": "1 of (2×3)"}, "float32": [], "float32_of_float16": [], "ties": ["a = b"]},
        "mamba": {"tensors": {"A": "1 of (2)"}, "float32": ["A"], "float32_of_float16": [], "ties": []},
        "strict": {"refused": "ValueError: no"},
    },
}


def changed(path: str, value: object) -> Json:
    after = deepcopy(BEFORE)
    *places, last = path.split("/")
    place = after
    for name in places:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return after


@pytest.mark.parametrize(
    ("path", "value", "section", "line"),
    [
        ("types/CONFIG_MAPPING_NAMES/fresh", "FreshConfig", "Types", "`CONFIG_MAPPING_NAMES`: new `fresh`"),
        ("types/CONFIG_MAPPING_NAMES/old", None, "Types", "`CONFIG_MAPPING_NAMES`: gone `old`"),
        ("types/OTHER/a_vision", "b", "Types", "`OTHER`: `a_vision` a → b"),
        ("classes/llama", "LlamaModel", "Classes", "`llama`: gone `LlamaForCausalLM`"),
        ("classes/beam", "BeamModel", "Classes", "`beam`: new `BeamModel`"),
        ("prefixes/llama", "base", "Names of base models", "`llama`: model → base"),
        (
            "built/llama",
            {"refused": "KeyError: x"},
            "Configs that are refused",
            "`llama`: built → refused, KeyError: x",
        ),
        (
            "built/strict",
            BEFORE["built"]["llama"],
            "Configs that are refused",
            "`strict`: refused, ValueError: no → built",
        ),
        ("built/llama/tensors/w", "1 of (2×4)", "Structures", "`llama`: `w` 1 of (2×3) → 1 of (2×4)"),
        ("built/llama/tensors", {"v": "1 of (2×3)"}, "Structures", "`llama`: new `v`; gone `w`"),
        ("built/mamba/float32", [], "Kept in float32", "`mamba`: gone `A`"),
        ("built/llama/float32_of_float16", ["w"], "Kept in float32 where the model is in float16", "`llama`: new `w`"),
        ("built/llama/ties", [], "Ties", "`llama`: gone `a = b`"),
        ("built/llama/buffers", ["w"], "Saved buffers", "`llama`: new `w`"),
        ("tied/LlamaForCausalLM/head", "w", "Ties that classes declare", "`LlamaForCausalLM`: `head` table → w"),
        ("absent/llama/text_config.depth", "3", "Meanings of absent keys", "`llama`: `text_config.depth` 2 → 3"),
        (
            "nulls/llama/chunk/layer_types",
            '["full"]',
            "Lists where a number is null",
            '`llama`: `chunk layer_types` ["chunked"] → ["full"]',
        ),
        ("absent/llama/vocab_size", None, "Meanings of absent keys", "`llama`: `vocab_size` 32 → none"),
        ("names/llama/n_layer", "depth", "Further names of keys", "`llama`: `n_layer` num_hidden_layers → depth"),
        ("values/llama/types/depth", "float", "Values that are taken", "`llama`: `types depth` int → float"),
        ("renames/llama", ["a → c"], "Renames on loading", "`llama`: new `a → c`; gone `a → b`"),
        ("failed/values", "ImportError: x", "Not recorded", "values, of 1.0: ImportError: x"),
    ],
)
def test_each_kind_of_fact_has_a_section_and_empty_ones_are_left_out(
    path: str, value: object, section: str, line: str
) -> None:
    assert list(watch.page(BEFORE, changed(path, value)))[1:] == ["", f"## {section}", "", f"- {line}"]


def test_a_type_that_hfcount_knows_by_name_is_named_when_it_is_new() -> None:
    before = changed("types/CONFIG_MAPPING_NAMES/llama", None)
    assert "- `llama`: an absent key now means what the class of transformers declares" in watch.page(before, BEFORE)


def test_the_same_change_of_several_types_is_one_line() -> None:
    after = deepcopy(BEFORE)
    for kind in ("llama", "other"):
        after["absent"][kind]["vocab_size"] = "64"
    assert list(watch.page(BEFORE, after))[-1] == "- `llama`, `other`: `vocab_size` 32 → 64"


def test_two_equal_snapshots_have_no_section() -> None:
    assert list(watch.page(BEFORE, BEFORE))[1:] == ["", "Nothing that is recorded differs."]


def test_files_are_compared_without_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, recorded in zip(paths, (BEFORE, {**BEFORE, "version": "1.1"}), strict=True):
        path.write_text(json.dumps(recorded))
    monkeypatch.setattr(sys, "argv", ["watch.py", "--before", str(paths[0]), "--after", str(paths[1])])
    watch.main()
    assert capsys.readouterr().out.startswith("# transformers 1.0 → 1.1\n")


@pytest.mark.parametrize("target", ["", "../there", "5.24.0; x", "--index-url"])
def test_what_is_no_target_is_refused(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="is neither a version"):
        watch.snapshot(target)


@pytest.mark.long
def test_a_version_is_recorded_in_a_process_of_its_own() -> None:
    transformers = pytest.importorskip("transformers", reason="`pip install -e '.[oracle]'` brings it")
    pytest.importorskip("torch", reason="`pip install -e '.[oracle]'` brings it")
    found = watch.snapshot(str(Path(transformers.__path__[0]).parent), ("llama", "mamba", "gpt2"))
    assert (found["version"], found["failed"]) == (transformers.__version__, {})
    assert found["built"]["llama"]["tensors"].keys() > {"model.norm.weight", "model.layers.{}.self_attn.q_proj.weight"}
    assert found["built"]["gpt2"]["ties"] == ["lm_head.weight = transformer.wte.weight"]
    assert found["absent"]["llama"]["vocab_size"] == "32000"
