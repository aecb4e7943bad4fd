"""What transformers loses when it loads a checkpoint and saves it, as hfcount says it from headers alone."""

import json
import logging
import struct
import sys
from collections.abc import Mapping
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from build import DEEPSEEK, TINY, config
from conftest import Command
from paths import ARCHITECTURES

import hfcount
from hfcount.api.callback import VerifyCallback
from hfcount.formats.dtypes import BITS

Stored = dict[str, tuple[str, tuple[int, ...]]]

MTP: Stored = {f"mtp.layers.{n}.proj.weight": ("BF16", (4, 4)) for n in (0, 1)}
INV: Stored = {f"model.layers.{n}.self_attn.rotary_emb.inv_freq": ("F32", (2,)) for n in (0, 1)}


def stored(family: str, code: str = "BF16", **changes: Any) -> tuple[dict[str, Any], Stored]:
    """A config, and the tensors that it describes."""
    recorded = ARCHITECTURES / f"{family}.json"
    values = config(family) if family in TINY else json.loads(recorded.read_text())["config"]
    values |= changes
    return values, {one.name: (code, one.shape) for one in hfcount.blueprint(values).tensors()}


def written(folder: Path, values: Mapping[str, Any], tensors: Stored, same: bool = True) -> Path:
    """A checkpoint whose values are 0, or else its last tensor 1."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(values))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        begin, end = end, end + prod(shape) * BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    raw = json.dumps(header).encode()
    last = 0 if same else prod(shape) * BITS[dtype] // 8
    data = bytes(end - last) + b"\1" * last
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw + data)
    return folder


def names(group: hfcount.Saves | Any) -> list[str]:
    return [row.name for row in group.rows]


def test_nothing_is_lost_of_what_the_class_has(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    result = hfcount.saves(written(tmp_path / "a", values, tensors))
    assert (result.loses, result.exit_code, result.ok) == (False, 0, True)
    assert result.kept.tensors == result.stored.tensors == result.written.tensors == len(tensors)
    assert result.written.bytes == 2 * result.written.elements
    assert (result.version, result.dtype) == ("5.24.0", "bfloat16")


def test_what_no_tensor_of_the_class_is_called_is_lost(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    beyond = {"model.layers.9.mlp.up_proj.weight": ("BF16", (4, 4))}
    tower = {"vision_tower.blocks.0.proj.weight": ("BF16", (4, 4))}
    result = hfcount.saves(written(tmp_path / "a", values, tensors | MTP | INV | beyond | tower))
    assert (result.loses, result.exit_code) == (True, 1)
    assert set(names(result.lost)) == {
        "model.layers.{0-1}.self_attn.rotary_emb.inv_freq",
        "mtp.layers.{0-1}.proj.weight",
        *beyond,
        *tower,
    }
    assert (result.lost.tensors, result.lost.elements, result.lost.bytes) == (6, 68, 2 * 64 + 4 * 4)
    assert result.written.tensors == len(tensors)


def test_prediction_layers_that_the_config_announces_are_lost(tmp_path: Path) -> None:
    values = dict(DEEPSEEK)
    leaves = hfcount.blueprint(values).leaves
    tensors: Stored = {
        name: ("BF16", leaf.shape)
        for leaf in leaves
        if not leaf.tied_to and leaf.presence != "obsolete"
        for name in leaf.names()
    }
    result = hfcount.saves(written(tmp_path / "a", values, tensors))
    ahead = sum(int(leaf.count) for leaf in leaves if leaf.part == "prediction")
    assert ahead > 0
    assert result.lost.tensors == ahead
    assert all("prediction layer" in (row.why or "") for row in result.lost.rows)


def test_the_head_of_another_class_is_lost(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    values["architectures"] = ["LlamaModel"]
    bare = {name.removeprefix("model."): one for name, one in tensors.items()}
    result = hfcount.saves(written(tmp_path / "a", values, bare))
    assert names(result.lost) == ["lm_head.weight"]


def test_what_is_not_stored_is_filled(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    gone = "model.layers.1.mlp.up_proj.weight"
    shape = tensors.pop(gone)[1]
    result = hfcount.saves(written(tmp_path / "a", values, tensors))
    assert (result.loses, names(result.filled), result.filled.rows[0].shape) == (False, [gone], shape)
    assert "fills 1 tensor anew" in result.answer


@pytest.mark.parametrize("same, group", [(True, "tied"), (False, "kept")])
def test_a_tied_head_is_written_only_where_it_differs(tmp_path: Path, same: bool, group: str) -> None:
    values, tensors = stored("llama", tie_word_embeddings=True)
    head: Stored = {"lm_head.weight": tensors["model.embed_tokens.weight"]}
    folder = written(tmp_path / "a", values, tensors | head, same)
    result = hfcount.saves(folder)
    assert (result.loses, result.written.tensors) == (False, len(tensors) + (not same))
    assert "lm_head.weight" in names(getattr(result, group))
    older = hfcount.saves(folder, loader="transformers@4.57")
    assert (older.loses, names(older.lost)) == (not same, [] if same else ["lm_head.weight"])


def test_a_head_in_place_of_the_embedding_is_written_under_its_name(tmp_path: Path) -> None:
    values, tensors = stored("llama", tie_word_embeddings=True)
    alone: Stored = {"lm_head.weight": tensors.pop("model.embed_tokens.weight")}
    result = hfcount.saves(written(tmp_path / "a", values, tensors | alone))
    assert [(row.name, row.written) for row in result.renamed.rows] == [("lm_head.weight", "model.embed_tokens.weight")]


def test_names_without_the_prefix_are_written_with_it(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    bare = {name.removeprefix("model."): one for name, one in tensors.items()}
    result = hfcount.saves(written(tmp_path / "a", values, bare))
    assert (result.loses, result.renamed.tensors) == (False, len(tensors) - 1)
    assert all(row.written == f"model.{row.name}" for row in result.renamed.rows)


def test_old_spellings_are_written_again_by_version_5_alone(tmp_path: Path) -> None:
    values, tensors = stored("bert")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): one
        for name, one in tensors.items()
    }
    folder = written(tmp_path / "a", values, old)
    assert "bert.embeddings.LayerNorm.gamma" in names(hfcount.saves(folder).written)
    older = hfcount.saves(folder, loader="transformers@4.57")
    assert "bert.embeddings.LayerNorm.weight" in names(older.written)


@pytest.mark.parametrize(
    "version, dtype, said, expected",
    [
        ("5.24", None, "bfloat16", {"BF16"}),
        ("5.24", None, None, {"F32"}),
        ("5.24", "float16", "bfloat16", {"F16"}),
        ("4.57", None, "bfloat16", {"F32"}),
        ("4.57", "auto", "bfloat16", {"BF16"}),
        ("4.57", "auto", None, {"F32"}),
    ],
)
def test_the_dtype_is_that_of_the_call(
    tmp_path: Path, version: str, dtype: Any, said: str | None, expected: set[str]
) -> None:
    values, tensors = stored("llama", "F32", dtype=said)
    result = hfcount.saves(written(tmp_path / "a", values, tensors), loader=f"transformers@{version}", dtype=dtype)
    assert {row.written_dtype for row in result.written.rows} == expected
    assert bool(result.cast.tensors) == (expected != {"F32"})


def test_rows_that_the_version_keeps_in_float32(tmp_path: Path) -> None:
    values, tensors = stored("dots1")
    folder = written(tmp_path / "a", values, tensors)
    found = {
        version: {row.name.rpartition("mlp.")[2] for row in hfcount.saves(folder, loader=version).cast.rows}
        for version in ("transformers@5.23", "transformers@5.24")
    }
    assert found["transformers@5.24"] == {"gate.e_score_correction_bias", "gate.weight"}
    assert "gate.weight" not in found["transformers@5.23"]


def test_a_prefix_that_an_older_version_does_not_read(tmp_path: Path) -> None:
    values, tensors = stored("llava")
    result = hfcount.saves(written(tmp_path / "a", values, tensors), loader="transformers@4.57")
    assert result.loses
    assert all(row.name.startswith("vision_tower.") for row in result.lost.rows)
    assert all(row.name.startswith("vision_tower.vision_model.") for row in result.filled.rows)
    assert result.lost.tensors == result.filled.tensors


@pytest.mark.parametrize(
    "change, why",
    [
        ({"architectures": None}, "names no class"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}, "quantised"),
        ({"model_type": "nosuch"}, "nosuch"),
    ],
)
def test_what_is_not_known_is_said(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    values, tensors = stored("llama")
    values |= change
    result = hfcount.saves(written(tmp_path / "a", {k: v for k, v in values.items() if v is not None}, tensors))
    assert (result.loses, result.exit_code) == (None, 3)
    assert why in (result.unknown or (result.error and result.error.message) or "")


def test_what_the_version_does_not_load_is_not_written(tmp_path: Path) -> None:
    values, tensors = stored("llama")
    tensors["model.norm.weight"] = ("BF16", (5,))
    result = hfcount.saves(written(tmp_path / "a", values, tensors))
    assert (result.exit_code, result.written.tensors) == (1, 0)
    assert result.refuses is not None
    assert "HF301" in result.refuses


def test_the_command(tmp_path: Path, command: Command) -> None:
    values, tensors = stored("llama")
    whole, less = written(tmp_path / "a", values, tensors), written(tmp_path / "b", values, tensors | MTP)
    assert command("saves", str(whole), "-q").code == 0
    shown = command("saves", str(less))
    answer = f"{less}: {hfcount.saves(less).answer.partition(': ')[2]}"
    assert (shown.code, " ".join(shown.out.split()).startswith(answer)) == (1, True)
    assert "  mtp.layers.{0-1}.proj.weight  2 of 4×4 BF16: no tensor of" in shown.out
    report = command("saves", str(less), "--json").report
    assert (report["schema"], report["loses"], report["lost"]["tensors"]) == (1, True, 2)
    assert report["class"] == "LlamaForCausalLM"
    assert sum(row["tensors"] for row in report["written"]["rows"]) == len(tensors)
    assert "| `mtp.layers.{0-1}.proj.weight` |" in command("saves", str(less), "--format", "markdown").out
    assert "Written (" in command("saves", str(less), "--details").out
    assert command("saves", str(tmp_path / "nowhere")).code == 3
    for wrong in (("--with", "vllm"), ("--with", "transformers@9"), ("-q", "--json"), ("--dtype", "int4")):
        assert command("saves", str(less), *wrong).code == 2


class LlamaForCausalLM:
    """A model in memory, as far as the callback looks at where it is from."""

    def __init__(self, origin: Path) -> None:
        self.config = SimpleNamespace(name_or_path=str(origin))


@pytest.mark.parametrize("version, warns", [("5.24.0", True), ("5.24.9", True), ("9.1.0", False)])
def test_a_training_begins_with_what_its_save_loses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, version: str, warns: bool
) -> None:
    values, tensors = stored("llama")
    folder = written(tmp_path / "a", values, tensors | MTP)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(__version__=version))
    with caplog.at_level(logging.WARNING, "hfcount"):
        VerifyCallback().on_train_begin(None, SimpleNamespace(), SimpleNamespace(), model=LlamaForCausalLM(folder))
    said = [record.getMessage() for record in caplog.records]
    assert any("loses 2 of" in line and "hfcount saves" in line for line in said) == warns
