"""What lies beside a model and was not opened: named in the second line, the verdict and JSON, of folders and repos."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from build import Json
from conftest import Run
from defects import SINGLE, Checkpoint, embedding, sharded, single
from loopback import Hub

import hfcount
from hfcount.fetcher import unread_files
from hfcount.report.renderers import brief, github, junit, markdown, table
from hfcount.sweeping.parts import read

KINDS: dict[str, Sequence[str]] = {
    "adapters": ("adapter_config.json", "adapter_model.safetensors", "speech-lora/adapter_model.bin"),
    "the author's own layout": ("consolidated.safetensors", "consolidated.00.pth", "original/consolidated.00.pth"),
    "GGUF": ("model-Q4_K_M.gguf", "gguf/m-00001-of-00002.gguf"),
    "ONNX": ("onnx/model.onnx", "model.onnx_data", "onnx/model_q4.onnx_data_1", "model.onnx.data"),
    "OpenVINO": ("openvino/openvino_model.bin", "openvino_model.xml"),
    "Core ML": ("coreml/m.mlpackage/Data/com.apple.CoreML/weights/weight.bin",),
    "TensorFlow": ("tf_model.h5", "saved_model/saved_model.pb", "bert.ckpt.data-00000-of-00001", "m.keras"),
    "Flax": ("flax_model.msgpack",),
    "files of other libraries": ("rust_model.ot", "m.nemo", "weights.npz"),
    "pickled weights": ("model.pt", "pytorch_model.bin", "checkpoint.pth", "pytorch_model-00001-of-00002.bin"),
    "safetensors of other folders": ("vae/diffusion_pytorch_model.safetensors", "checkpoint-500/model.safetensors"),
    "another library's layout": ("open_clip_model.safetensors",),
    "variants": ("model.fp16.safetensors", "model.fp32-00001-of-00002.safetensors"),
    "the state of a training": ("optimizer.pt", "checkpoint-9/rng_state_0.pth", "training_args.bin"),
}
NOT = ("README.md", "config.json", "tokenizer.json", "spiece.model", "vocab.txt", "params.json", ".cache/x.bin")


def test_every_kind_is_told_by_its_name() -> None:
    found = {kind: [name for name in names if unread_files.kind(name) != kind] for kind, names in KINDS.items()}
    assert not any(found.values()), found
    assert [name for name in NOT if unread_files.kind(name)] == []


ABSENT = unread_files.ABSENT_TOKENIZER


def left(report: Json) -> dict[str, list[str]]:
    """What was not read, by kind; none of these checkpoints has a tokenizer."""
    listed = {one["kind"]: one["files"] for one in report["not_looked_at"]}
    assert listed.pop(ABSENT, []) == []
    return listed


def kinds(report: hfcount.Report) -> list[str]:
    """The kinds of what was not read, less the tokenizer that none of these checkpoints has."""
    return [one.kind for one in report.not_looked_at if one.kind != ABSENT]


def with_more() -> tuple[Checkpoint, dict[str, list[str]]]:
    """A sound checkpoint, and one file of each kind beside it."""
    checkpoint, files = sharded(), {kind: names[0] for kind, names in KINDS.items()}
    for looked_at in ("adapters", "GGUF"):  # which have findings of their own
        files.pop(looked_at)
    checkpoint.others = dict.fromkeys(files.values(), b"x") | {"params.json": b'{"quantization": {"bits": 4}}'}
    wanted = {kind: [name] for kind, name in files.items()}
    wanted["the author's own layout"].append("params.json")
    return checkpoint, wanted


@pytest.mark.parametrize("depth", ["index", "headers"])
def test_of_a_folder(tmp_path: Path, depth: Literal["index", "headers"]) -> None:
    checkpoint, wanted = with_more()
    folder = checkpoint.write(tmp_path / "m")
    (folder / ".git").mkdir()
    (folder / ".git" / "old.bin").write_bytes(b"")
    report = hfcount.verify(str(folder), depth=depth)
    assert left(json.loads(report.to_json())) == wanted
    assert report.verdict == "verified"
    short = sorted(kind for kind in wanted if kind != "the state of a training")
    for text in (brief.render([report]), junit.render([report]), github.render([report]), markdown.render([report])):
        plain = text.replace("\\", "").replace("&#39;", "'")
        listed = plain.partition("; not opened: ")[2].splitlines()[0].partition("<")[0].removesuffix("**")
        assert sorted(listed.split(", ")) == short
    second = " ".join(table.render([report]).splitlines()[1:20])
    assert "tf_model.h5 (TensorFlow)" in second
    assert "consolidated.safetensors, params.json (the author's own layout)" in second


def test_of_a_repo_its_replay_and_what_is_kept(hub: Hub, run: Run, tmp_path: Path) -> None:
    checkpoint, wanted = with_more()
    folder = checkpoint.write(tmp_path / "m")
    hub.publish("org/m", folder)
    online = run("org/m", "--save", tmp_path / "saved").report
    assert left(online) == wanted
    assert run("org/m", "--offline").report["not_looked_at"] == online["not_looked_at"]
    assert left(run("org/m", "--fixtures", tmp_path / "saved").report) == left(online)
    run(folder, "--save", tmp_path / "own")
    assert left(run("m", "--fixtures", tmp_path / "own").report) == left(online)


def test_modules_of_sentence_transformers(tmp_path: Path) -> None:
    checkpoint = single()
    embedding("nothing")(checkpoint)
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    assert kinds(report) == []
    rows = [(one.path, one.kind, one.verdict, one.parameters, one.width) for one in report.modules or ()]
    dense, normalize = ("2_Dense", "Dense", "verified", 48, 4), ("3_Normalize", "Normalize", "verified", 0, 4)
    assert rows == [("1_Pooling", "Pooling", "verified", 0, 12), dense, normalize]
    assert "2_Dense" in table.render([report])


def test_pickled_weights_of_a_module_count_where_there_are_no_others(tmp_path: Path) -> None:
    checkpoint = single()
    embedding()(checkpoint)
    checkpoint.others["2_Dense/pytorch_model.bin"] = b"x"
    report = hfcount.verify(str(checkpoint.write(tmp_path / "both")))
    one = report.not_looked_at[0]
    assert len(kinds(report)) == 1
    assert (one.kind, one.files) == ("sentence-transformers modules", ("2_Dense/pytorch_model.bin",))
    assert brief.render([report]).endswith("; not opened: sentence-transformers modules")
    del checkpoint.others["2_Dense/model.safetensors"]
    report = hfcount.verify(str(checkpoint.write(tmp_path / "pickled")))
    assert [(one.code, one.file) for one in report.findings] == [("HF003", "2_Dense/pytorch_model.bin")]
    assert kinds(report) == []


def test_many_files_are_counted(tmp_path: Path) -> None:
    checkpoint = sharded()
    checkpoint.others = {f"m-{number:03}.onnx": b"" for number in range(130)}
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    one = report.not_looked_at[0]
    assert len(kinds(report)) == 1
    assert (one.count, len(one.files)) == (130, 100)
    assert "m-000.onnx, m-001.onnx, m-002.onnx and 127 more (ONNX)" in " ".join(table.render([report]).split())


def test_what_was_looked_at_is_not_listed(tmp_path: Path) -> None:
    for number, make in enumerate((sharded, single)):
        report = hfcount.verify(str(make().write(tmp_path / str(number))))
        assert (report.verdict, kinds(report)) == ("verified", [])
        assert "; there is no tokenizer" in " ".join(table.render([report]).split())
    checkpoint = single()
    checkpoint.others = {"pytorch_model.bin": b"x"}
    report = hfcount.verify(str(checkpoint.write(tmp_path / "config")), depth="config")
    assert (report.verdict, report.not_looked_at) == ("unverified", ())
    checkpoint.shards = {}
    report = hfcount.verify(str(checkpoint.write(tmp_path / "pickled")))
    assert (report.verdict, kinds(report)) == ("mismatch", [])
    assert SINGLE not in str(report.not_looked_at)


def test_a_row_of_a_sweep_names_it(tmp_path: Path) -> None:
    checkpoint, wanted = with_more()
    checkpoint.write(tmp_path / "tree" / "org" / "m")
    assert hfcount.sweep(tmp_path / "tree", tmp_path / "rows").written == 1
    (row,) = read(tmp_path / "rows")
    assert left(row) == wanted
    assert [one["count"] for one in row["not_looked_at"]] == [len(one["files"]) for one in row["not_looked_at"]]


@pytest.mark.parametrize(
    ("others", "absent"),
    [
        ({}, True),
        ({"tokenizer.json": b"{}"}, False),
        ({"spiece.model": b""}, False),
        ({"tokenizer_config.json": b"{}"}, False),
        ({"chat_template.jinja": b""}, True),
    ],
)
def test_a_tokenizer_that_is_not_there_is_named(tmp_path: Path, others: dict[str, bytes], absent: bool) -> None:
    checkpoint = single()
    checkpoint.others = others
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    assert (report.verdict, ABSENT in [one.kind for one in report.not_looked_at]) == ("verified", absent)


def test_code_of_other_repos_and_of_generating_is_named() -> None:
    settings = {"auto_map": {"AutoConfig": "org/m--configuration.Config", "AutoModel": "modeling.Model"}}
    names = ["modeling.py", "custom_generate/generate.py", "other.py"]
    listed = unread_files.code(names, [settings])
    assert listed == ["custom_generate/generate.py", "modeling.py", "org/m--configuration.py"]
