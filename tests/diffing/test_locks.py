"""Locks: every change of a copy is seen and named, an untouched copy agrees, and the statement is what in-toto asks."""

import json
import os
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import gguf_files
import pytest
from conftest import Command, Run
from damaged import CONFIG, FIRST, INDEX, SECOND, content, each, edit, header, maps, named, says, sound
from defects import with_header
from forking import Forks
from loopback import Fault, Hub
from pickled import archive, items, state, zeros
from pipeline_repos import pipeline

from hfcount.checkpoints.inspection import Options
from hfcount.diffing.locks.folding import StoredTensor, folded, unfolded
from hfcount.diffing.locks.headers import headers
from hfcount.diffing.locks.roles import role
from hfcount.diffing.locks.statement import PREDICATE, SCHEMA, configs, locked, written
from hfcount.errors import FetchError
from hfcount.fetcher import Request
from hfcount.fetcher.checkpoint_files import CheckpointFiles
from hfcount.fetcher.files import FolderReader

Spoil = Callable[[Path], object]

ADAPTER = {
    "peft_type": "LORA",
    "r": 2,
    "lora_alpha": 4,
    "target_modules": ["q_proj"],
    "task_type": "CAUSAL_LM",
    "base_model_name_or_path": None,
    "bias": "none",
}


def model(folder: Path) -> Path:
    sound(folder)
    (folder / "README.md").write_text("# A model\n")
    (folder / "LICENSE").write_text("Apache 2.0\n")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 128}')
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    return folder


def adapter(folder: Path) -> Path:
    from build import shard

    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(ADAPTER))
    name = "base_model.model.model.layers.{}.self_attn.q_proj.lora_{}.weight"
    shapes = {name.format(layer, part): size for layer in (0, 1) for part, size in (("A", (2, 12)), ("B", (12, 2)))}
    (folder / "adapter_model.safetensors").write_bytes(shard(shapes))
    return folder


def gguf(folder: Path) -> Path:
    folder.mkdir()
    (folder / "model-F16.gguf").write_bytes(gguf_files.whole(*gguf_files.model()))
    return folder


def pickle(folder: Path) -> Path:
    sound(folder, "llama", shards=1)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickled(4))
    return folder


def pickled(rows: int) -> bytes:
    tensors = {"model.norm.weight": ("F32", (rows,))}
    return archive(state(**items(tensors)), zeros(tensors))


FORMS: dict[str, Callable[[Path], Path]] = {
    "model": model,
    "adapter": adapter,
    "gguf": gguf,
    "pickle": pickle,
    "pipeline": pipeline,
}


def flipped(name: str, place: int = -1) -> Spoil:
    """One bit of a file."""

    def spoil(folder: Path) -> None:
        raw = bytearray((folder / name).read_bytes())
        raw[place] ^= 1
        (folder / name).write_bytes(raw)

    return spoil


def tensor_of(name: str, change: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Another header of a file of weights."""

    def spoil(folder: Path) -> None:
        raw = (folder / name).read_bytes()
        entries = json.loads(header(raw))
        change(entries)
        (folder / name).write_bytes(with_header(raw, json.dumps(entries).encode()))

    return spoil


def headed(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Another header of the first file of weights."""
    return tensor_of(FIRST, change)


def reshaped(entries: dict[str, Any]) -> None:
    entry = next(entry for entry in entries.values() if len(entry.get("shape", ())) == 2)
    entry["shape"] = entry["shape"][::-1] if entry["shape"][0] != entry["shape"][1] else [entry["shape"][0] ** 2]


def content_after(name: str, more: bytes) -> Spoil:
    """Bytes after the end of a file."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + more)


def moved(name: str, other: str) -> Spoil:
    return lambda folder: (folder / name).rename(folder / other)


def linked_to(target: str) -> Spoil:
    """The first file of weights is a link that leads nowhere."""

    def spoil(folder: Path) -> None:
        (folder / FIRST).unlink()
        (folder / FIRST).symlink_to(target)

    return spoil


def exchanged(name: str, other: str) -> Spoil:
    """Two files have each other's names."""

    def spoil(folder: Path) -> None:
        first, second = (folder / name).read_bytes(), (folder / other).read_bytes()
        (folder / name).write_bytes(second)
        (folder / other).write_bytes(first)

    return spoil


def swapped(entries: dict[str, Any]) -> None:
    """Two tensors have each other's places."""
    first, second, *_ = (name for name in entries if name.endswith("layernorm.weight"))
    entries[first], entries[second] = entries[second], entries[first]


def in_another_dtype(entries: dict[str, Any]) -> None:
    entries[NORM]["dtype"] = "F16"


def a_folder(name: str) -> Spoil:
    """A folder in the place of a file."""

    def spoil(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return spoil


def added(name: str) -> tuple[str, str, Spoil, set[tuple[str, str, str]], str]:
    """A row of TAMPERED: a file that a loader may read, and that the lock does not have."""
    what = "tensors" if role(name) == "weights" else "config" if role(name) == "config" else "content"

    def spoil(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")

    return "model", f"{name} added", spoil, {(name, "added", what)}, "the lock does not have it"


NORM = "model.layers.0.input_layernorm.weight"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 4976698672\n"
TOKENIZER = ("tokenizer_config.json", "changed", "content")
ADDED = (
    "configuration_x.py",
    "readme.py",
    "sub/modeling_x.py",
    "extra.safetensors",
    "model.safetensors.bak",
    "a.tfevents.safetensors",
    "events.out.tfevents.1.host.safetensors",
    "events.out.tfevents.bin",
    "LICENSE.safetensors",
    "consolidated.00.pth",
    "model.gguf",
    "flax_model.msgpack",
    "tf_model.h5",
    "onnx/model.onnx",
    "adapter_config.json",
    "generation_config.json",
    "sub/config.json",
    "preprocessor_config.json",
    "modules.json",
    "tokenizer.model",
    "added_tokens.json",
    "merges.txt",
    "requirements.txt",
    "a file without an ending",
)
"""Files that some loader reads, or that hfcount does not know."""

TAMPERED: list[tuple[str, str, Spoil, set[tuple[str, str, str]], str]] = [
    ("model", "a bit of the values", flipped(SECOND), {(SECOND, "changed", "values")}, "its values"),
    ("model", "a size", says(num_hidden_layers=4), {(CONFIG, "changed", "config")}, "the tensors"),
    ("model", "rotary base", says(rope_theta=5.0), {(CONFIG, "changed", "config")}, "what the model computes"),
    ("model", "a version", says(transformers_version="9"), {(CONFIG, "changed", "config")}, "nothing of the model"),
    ("model", "no JSON", content(CONFIG, "{"), {(CONFIG, "changed", "config")}, "no object of JSON"),
    ("model", "no config", content(CONFIG, None), {(CONFIG, "missing", "config")}, "not there"),
    ("model", "a shard gone", content(SECOND, None), {(SECOND, "missing", "tensors")}, "not there"),
    ("model", "a broken link", linked_to("nowhere"), {(FIRST, "missing", "tensors")}, "broken link"),
    ("model", "a link to itself", linked_to(FIRST), {(FIRST, "missing", "tensors")}, "broken link"),
    ("model", "a folder", a_folder(FIRST), {(FIRST, "missing", "tensors")}, "not there"),
    ("model", "the first byte", flipped(CONFIG, 0), {(CONFIG, "changed", "config")}, "no object of JSON"),
    ("model", "a blank at the end", content_after(CONFIG, b" "), {(CONFIG, "changed", "config")}, "the same values"),
    ("model", "a byte at the end", content_after(SECOND, b"x"), {(SECOND, "changed", "values")}, "bytes were locked"),
    ("model", "an empty shard", content(SECOND, ""), {(SECOND, "changed", "content")}, "cannot be read"),
    ("model", "a pointer of Git LFS", content(SECOND, LFS), {(SECOND, "changed", "content")}, "cannot be read"),
    ("model", "an empty tokenizer", content("tokenizer_config.json", ""), {TOKENIZER}, "its content"),
    (
        "model",
        "shards exchanged",
        exchanged(FIRST, SECOND),
        {(FIRST, "changed", "header"), (SECOND, "changed", "header")},
        "tensors are the same | tensors are the same",
    ),
    ("model", "places exchanged", headed(swapped), {(FIRST, "changed", "header")}, "the tensors are the same"),
    ("model", "a dtype", headed(in_another_dtype), {(FIRST, "changed", "tensors")}, "1 tensor changed"),
    ("model", "code in the config", says(auto_map={"AutoModel": "x.M"}), {(CONFIG, "changed", "config")}, "1 key"),
    *map(added, ADDED),
    ("model", "a shape", headed(reshaped), {(FIRST, "changed", "tensors")}, "tensor"),
    (
        "model",
        "names",
        named(lambda name: f"x.{name}"),
        {(FIRST, "changed", "tensors"), (SECOND, "changed", "tensors"), (INDEX, "changed", "index")},
        "tensors changed | tensors changed | lists tensors",
    ),
    (
        "model",
        "metadata of a header",
        headed(lambda entries: entries.update(__metadata__={"format": "np"})),
        {(FIRST, "changed", "header")},
        "the tensors are the same",
    ),
    ("model", "the index", maps(lambda names: names.pop(NORM)), {(INDEX, "changed", "index")}, "lists tensors"),
    ("model", "cut", lambda folder: os.truncate(folder / FIRST, 900), {(FIRST, "changed", "content")}, "header"),
    ("model", "code", content("modeling_x.py", "x = 1"), {("modeling_x.py", "added", "content")}, "does not have it"),
    ("model", "a pickle", content("pytorch_model.bin", "x"), {("pytorch_model.bin", "added", "tensors")}, "the lock"),
    (
        "model",
        "a template",
        content("chat_template.jinja", "{{ x }}"),
        {("chat_template.jinja", "changed", "content")},
        "its content",
    ),
    (
        "model",
        "a tokenizer's settings",
        edit("tokenizer_config.json", lambda values: values.update(model_max_length=9)),
        {("tokenizer_config.json", "changed", "content")},
        "its content",
    ),
    (
        "model",
        "another name",
        moved(SECOND, "model-00003-of-00003.safetensors"),
        {(SECOND, "missing", "tensors"), ("model-00003-of-00003.safetensors", "added", "tensors")},
        "now called | it holds what",
    ),
    (
        "model",
        "two at once",
        each(flipped(FIRST), says(vocab_size=77)),
        {(FIRST, "changed", "values"), (CONFIG, "changed", "config")},
        "the tensors | its values",
    ),
    (
        "adapter",
        "its scale",
        edit("adapter_config.json", lambda values: values.update(lora_alpha=8)),
        {("adapter_config.json", "changed", "config")},
        "what the model computes",
    ),
    (
        "adapter",
        "its values",
        flipped("adapter_model.safetensors"),
        {("adapter_model.safetensors", "changed", "values")},
        "its values",
    ),
    ("gguf", "its values", flipped("model-F16.gguf"), {("model-F16.gguf", "changed", "values")}, "its values"),
    (
        "gguf",
        "its metadata",
        lambda folder: (folder / "model-F16.gguf").write_bytes(
            gguf_files.whole(*gguf_files.model(**{"llama.rope.freq_base": 5.0}))
        ),
        {("model-F16.gguf", "changed", "header")},
        "the tensors are the same",
    ),
    (
        "gguf",
        "a layer more",
        lambda folder: (folder / "model-F16.gguf").write_bytes(gguf_files.whole(*gguf_files.model(3))),
        {("model-F16.gguf", "changed", "tensors")},
        "tensors changed",
    ),
    (
        "pickle",
        "its tensors",
        lambda folder: (folder / "pytorch_model.bin").write_bytes(pickled(5)),
        {("pytorch_model.bin", "changed", "tensors")},
        "1 tensor changed",
    ),
    (
        "pipeline",
        "a part",
        edit("unet/config.json", lambda values: values.update(sample_size=7)),
        {("unet/config.json", "changed", "config")},
        "key changed",
    ),
    (
        "pipeline",
        "the scheduler",
        edit("scheduler/scheduler_config.json", lambda values: values.update(beta_start=7)),
        {("scheduler/scheduler_config.json", "changed", "content")},
        "its content",
    ),
    (
        "pipeline",
        "a part's weights",
        flipped("unet/diffusion_pytorch_model.safetensors"),
        {("unet/diffusion_pytorch_model.safetensors", "changed", "values")},
        "its values",
    ),
]


def lock(command: Command, folder: Path, file: str = "a.lock") -> dict[str, Any]:
    """The lock of a folder."""
    result = command("lock", folder, "-o", file)
    assert (result.code, result.err) == (0, "")
    statement: dict[str, Any] = json.loads(Path(file).read_bytes())
    return statement


def check(command: Command, folder: Path | str, code: int, *options: str) -> dict[str, Any]:
    """What is said of a folder and a.lock."""
    result = command("verify", "--locked", "a.lock", str(folder), "--json", *options)
    assert (result.code, result.err) == (code, "")
    return result.report


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("form", "name", "spoil", "seen", "text"), TAMPERED, ids=[f"{r[0]}: {r[1]}" for r in TAMPERED])
def test_every_change_is_named(
    command: Command, tmp_path: Path, form: str, name: str, spoil: Spoil, seen: set[tuple[str, str, str]], text: str
) -> None:
    del name
    lock(command, FORMS[form](tmp_path / "mine"))
    spoil(tmp_path / "mine")
    told = check(command, tmp_path / "mine", 1)
    assert {(row["file"], row["change"], row["what"]) for row in told["differences"]} == seen
    assert told["agrees"] is False
    for row, words in zip(told["differences"], text.split(" | "), strict=True):
        assert words in row["text"]
    shown = command("verify", "--locked", "a.lock", tmp_path / "mine").out
    assert all(f"{change} {file}: " in shown for file, change, _ in seen)


@pytest.mark.parametrize("form", FORMS)
def test_a_copy_agrees(command: Command, tmp_path: Path, form: str) -> None:
    folder = FORMS[form](tmp_path / "mine")
    first = lock(command, folder)
    shutil.copytree(folder, tmp_path / "moved" / "to")
    assert lock(command, tmp_path / "moved" / "to", "b.lock") == first
    assert Path("a.lock").read_bytes() == Path("b.lock").read_bytes()
    (tmp_path / "linked").symlink_to(folder)
    blobs = tmp_path / "blobs"
    shutil.copytree(folder, tmp_path / "snapshot")
    blobs.mkdir()
    for number, path in enumerate(sorted(path for path in (tmp_path / "snapshot").rglob("*") if path.is_file())):
        path.rename(blobs / str(number))
        path.symlink_to(blobs / str(number))
    for copy in (folder, tmp_path / "moved" / "to", tmp_path / "linked", tmp_path / "snapshot"):
        told = check(command, copy, 0)
        assert (told["agrees"], told["differences"], told["not_checked"]) == (True, [], [])
        assert told["checked"] == len(first["subject"])


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_text_is_as_wide_as_the_terminal(
    columns: int, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = model(tmp_path / "mine")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(tmp_path)
    texts = [command("lock", "mine", "-o", "a.lock").out]
    each(says(rope_theta=5.0), headed(reshaped), content("modeling_x.py", "x"), content("README.md", "x"))(folder)
    texts.append(command("verify", "--locked", "a.lock", "mine").out)
    lines = "\n".join(texts).splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.startswith("  changed config.json: 1 key") for line in lines)
    brief = command("verify", "--locked", "a.lock", "mine", "-q").out
    assert brief.count("\n") == 1 and brief.startswith("mine: not as locked in a.lock: 3 files not the same")


def test_a_link_to_itself_is_not_locked(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    linked_to(FIRST)(folder)
    result = command("lock", folder, "-o", "a.lock")
    assert (result.code, Path("a.lock").exists()) == (3, False)
    assert f"{FIRST} cannot be read" in result.err
    Path("loop").symlink_to("loop")
    assert command("lock", model(tmp_path / "other"), "-o", "loop").code != 1


def test_what_no_loader_reads_is_noted(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    lock(command, folder)
    (folder / "README.md").write_text("other")
    (folder / "LICENSE").unlink()
    (folder / "picture.png").write_text("")
    (folder / ".gitattributes").write_text("*.bin")
    told = check(command, folder, 0)
    assert {(row["file"], row["change"]) for row in told["noted"]} == {
        ("README.md", "changed"),
        ("LICENSE", "missing"),
        ("picture.png", "added"),
    }


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("runs/events.out.tfevents.1751022893.host.4711.0", "unread"),
        ("runs/a.tfevents", "unread"),
        ("events.out.tfevents.1.safetensors", "weights"),
        ("a.tfevents.json", "other"),
        ("README.safetensors", "weights"),
        ("license.json", "other"),
        ("scheduler/scheduler_config.json", "other"),
        ("scheduler.bin", "weights"),
        ("optimizer.bin", "unread"),
        ("unet/config.json", "config"),
        ("model.safetensors.index.json", "index"),
        ("LICENSE.txt", "unread"),
        ("vocab.txt", "other"),
        ("assets/figure.PNG", "unread"),
        ("notice_me.py", "other"),
        ("hfcount.lock.sigstore.json", "unread"),
        ("hfcount.lock", "unread"),
        ("hfcount_lock", "other"),
        ("authors_vocab.txt", "other"),
        ("notice-labels.txt", "other"),
        ("LICENSE-CODE", "unread"),
        ("README_zh.md", "unread"),
    ],
)
def test_only_known_files_are_left_unread(path: str, kind: str) -> None:
    assert role(path) == kind


@pytest.mark.parametrize(
    ("path", "size", "kind"),
    [("x.dat", 64 << 20, "other"), ("x.dat", (64 << 20) + 1, "weights"), ("README.md", 1 << 30, "unread")],
)
def test_a_large_file_counts_as_weights(path: str, size: int, kind: str) -> None:
    assert role(path, size) == kind


LEFT_OUT: dict[str, list[str]] = {
    "config": [
        "the values of 2 weight files: only their sizes were compared",
        "the content of 1 other file: only sizes were compared",
    ],
    "index": ["the values of 2 weight files: only their sizes were compared"],
    "headers": ["the values of 2 weight files: only their headers and sizes were compared"],
    "data": [],
}


@pytest.mark.parametrize(
    ("depth", "spoil", "code"),
    [
        ("config", flipped(FIRST), 0),
        ("config", says(vocab_size=77), 1),
        ("config", maps(lambda names: names.pop(NORM)), 1),
        ("index", maps(lambda names: names.update({NORM: SECOND if names[NORM] == FIRST else FIRST})), 1),
        ("index", headed(lambda entries: entries.update(__metadata__={"format": "np"})), 0),
        ("headers", headed(lambda entries: entries.update(__metadata__={"format": "np"})), 1),
        ("headers", flipped(FIRST), 0),
        ("data", flipped(FIRST), 1),
    ],
)
def test_less_depth_says_what_it_leaves_out(
    command: Command, tmp_path: Path, depth: str, spoil: Spoil, code: int
) -> None:
    folder = model(tmp_path / "mine")
    headed(lambda entries: entries.update(__metadata__={"format": "pt"}))(folder)
    lock(command, folder)
    spoil(folder)
    told = check(command, folder, code, "--depth", depth)
    assert told["depth"] == depth
    assert [re.sub(r" \([\d,]+ bytes\)", "", text) for text in told["not_checked"]] == LEFT_OUT[depth]


def test_it_is_a_statement_of_in_toto(command: Command, tmp_path: Path) -> None:
    """The fields and forms of spec/v1/statement.md and resource_descriptor.md."""
    folder = model(tmp_path / "mine")
    statement = lock(command, folder)
    assert set(statement) == {"_type", "subject", "predicateType", "predicate"}
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == f"{PREDICATE}{SCHEMA}"
    names = [entry["name"] for entry in statement["subject"]]
    assert names == sorted(path.name for path in folder.iterdir())
    assert all(re.fullmatch("[0-9a-f]{64}", entry["digest"]["sha256"]) for entry in statement["subject"])
    predicate = statement["predicate"]
    assert (predicate["verdict"], predicate["findings"]) == ("verified", [])
    assert predicate["loaders"][0]["loader"] == "transformers"
    assert sum(row["tensors"] for row in predicate["tensors"]) == len(
        json.loads((folder / INDEX).read_text())["weight_map"]
    )
    text = Path("a.lock").read_text()
    assert str(tmp_path) not in text and text == json.dumps(statement, indent=1, sort_keys=True) + "\n"


def test_a_lock_in_the_folder_is_no_part_of_it(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    inner = folder / "any.json"
    for _ in range(2):
        assert command("lock", folder, "-o", inner).code == 0
        assert command("lock", folder, "-o", folder / "hfcount.lock").code == 0
        inner_names = [entry["name"] for entry in json.loads(inner.read_text())["subject"]]
        assert "any.json" not in inner_names and "hfcount.lock" not in inner_names
    assert command("verify", "--locked", inner, folder).code == 0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda lock: lock.update(_type="https://in-toto.io/Statement/v0.1"), "_type"),
        (lambda lock: lock.update(predicateType="https://slsa.dev/provenance/v1"), "another tool"),
        (
            lambda lock: (lock["predicate"].update(schema=2), lock.update(predicateType=f"{PREDICATE}2")),
            "Update hfcount",
        ),
        (lambda lock: lock["predicate"].update(schema="1"), "predicate.schema"),
        (lambda lock: lock.update(subject=[]), "subject is empty"),
        (lambda lock: lock["subject"].append(lock["subject"][0]), "twice"),
        (lambda lock: lock["subject"][0]["digest"].update(sha256="0"), "subject[0]"),
        (lambda lock: lock["subject"].pop(), "in only one of"),
        (lambda lock: lock["predicate"].update(tensors=[{}]), "predicate.tensors[0].file is null"),
        (lambda lock: lock["predicate"].update(files=7), "predicate.files"),
        (lambda lock: lock["predicate"].update(configs=[]), "predicate.configs is a list, but must be an object"),
        (lambda lock: lock["predicate"]["configs"].update(x={"values": 1}), 'predicate.configs["x"].values is 1'),
        (lambda lock: lock["predicate"]["tensors"][0].update(shape=["1"]), "predicate.tensors[0].shape"),
        (lambda lock: (lock.clear(), lock.update(payload="", payloadType="")), "signed envelope"),
    ],
)
def test_a_lock_that_cannot_be_used_is_refused(
    command: Command, tmp_path: Path, change: Callable[[dict[str, Any]], Any], text: str
) -> None:
    statement = lock(command, model(tmp_path / "mine"))
    change(statement)
    Path("a.lock").write_text(json.dumps(statement))
    result = command("verify", "--locked", "a.lock", tmp_path / "mine")
    assert (result.code, result.out) == (2, "")
    assert text in result.err and "a.lock" in result.err


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b"[" * 5000])
def test_what_is_no_lock_is_refused(command: Command, tmp_path: Path, raw: bytes) -> None:
    model(tmp_path / "mine")
    Path("a.lock").write_bytes(raw)
    result = command("verify", "--locked", "a.lock", tmp_path / "mine")
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ("verify --locked a.lock", 2, "--locked goes with one MODEL"),
        ("verify --locked a.lock mine mine", 2, "--locked goes with one MODEL"),
        ("verify --locked a.lock mine --strict", 2, "--locked does not go with --strict"),
        ("verify --locked a.lock mine --format sarif", 2, "--locked prints text"),
        ("gate --locked a.lock mine", 2, "--locked"),
        ("verify --locked none.lock mine", 2, "there is no file none.lock"),
        ("verify --locked a.lock ./nothing", 3, "not checked against a.lock: there is no folder or file"),
        ("lock ./nothing", 3, "there is no folder or file"),
        ("lock mine -o no/folder.lock", 2, "no is not a folder"),
        ("lock mine -o mine", 2, "mine exists and is not a writable file"),
    ],
)
def test_other_usage(command: Command, tmp_path: Path, words: str, code: int, text: str) -> None:
    lock(command, model(tmp_path / "mine"))
    result = command(*words.split())
    assert result.code == code
    assert text in " ".join(f"{result.out} {result.err}".split())


def test_a_hostile_lock_takes_no_time(command: Command, tmp_path: Path) -> None:
    """Ranges are not unfolded without end."""
    folder = model(tmp_path / "mine")
    statement = lock(command, folder)
    row = statement["predicate"]["tensors"][0]
    row.update(name="a.{0-999999999}.{0-999999999}", tensors=10**18, sha256="0" * 64)
    Path("a.lock").write_text(json.dumps(statement))
    headed(reshaped)(folder)
    told = check(command, folder, 1)
    (row,) = told["differences"]
    assert (row["file"], row["what"], row["tensors"]) == (FIRST, "content", [])
    assert "does not tell apart which tensors it had" in row["text"]


def last_of(folder: Path, name: str) -> str:
    """The tensor whose data ends a file of weights."""
    entries = json.loads(header((folder / name).read_bytes()))
    ends = {key: entry["data_offsets"][1] for key, entry in entries.items() if key != "__metadata__"}
    return max(ends, key=ends.__getitem__)


def without_last(name: str) -> Spoil:
    """A file of weights without the tensor whose data ends it."""

    def spoil(folder: Path) -> None:
        begins: list[int] = []
        gone = last_of(folder, name)
        tensor_of(name, lambda entries: begins.append(entries.pop(gone)["data_offsets"][0]))(folder)
        raw = (folder / name).read_bytes()
        (folder / name).write_bytes(raw[: 8 + int.from_bytes(raw[:8], "little") + begins[0]])

    return spoil


def remade(entries: dict[str, Any]) -> None:
    entries["__metadata__"] = {"format": "np"}


@pytest.mark.parametrize(
    ("spoil", "now"), [(headed(reshaped), True), (without_last(FIRST), False)], ids=["a shape", "a tensor gone"]
)
def test_a_change_is_that_of_its_shard(command: Command, tmp_path: Path, spoil: Spoil, now: bool) -> None:
    """The other shard, whose values are others, has no part in it."""
    folder = model(tmp_path / "mine")
    lock(command, folder)
    each(spoil, flipped(SECOND))(folder)
    first, second = check(command, folder, 1)["differences"]
    assert (first["file"], first["what"], first["text"]) == (FIRST, "tensors", "1 tensor changed" + length(first))
    assert [row["now"] is not None for row in first["tensors"]] == [now]
    assert (second["file"], second["what"], second["tensors"]) == (SECOND, "values", [])


def length(row: dict[str, Any]) -> str:
    """What the text of a change says of bytes."""
    text: str = row["text"]
    return text[text.index(" (") :] if " (" in text else ""


def test_what_left_a_set_of_shards_is_said_once(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    lock(command, folder)
    gone = last_of(folder, FIRST)
    each(without_last(FIRST), tensor_of(SECOND, remade))(folder)
    first, second = check(command, folder, 1)["differences"]
    assert [row["name"] for row in first["tensors"]] == [gone]
    assert "1 tensor of its set of shards changed or left" in first["text"]
    assert (second["what"], second["tensors"]) == ("content", [])
    assert f"is said of {FIRST}" in second["text"]


@pytest.mark.parametrize("spoil", [content(FIRST, None), lambda folder: os.truncate(folder / FIRST, 900)])
def test_what_a_shard_held_that_is_not_read_is_not_blamed_on_another(
    command: Command, tmp_path: Path, spoil: Spoil
) -> None:
    folder = model(tmp_path / "mine")
    lock(command, folder)
    each(spoil, tensor_of(SECOND, remade))(folder)
    first, second = check(command, folder, 1)["differences"]
    assert (first["file"], second["what"], second["tensors"]) == (FIRST, "content", [])
    assert f"not known, because {FIRST} was not read" in second["text"]


def test_a_file_beside_shards_is_none_of_them(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    shutil.copy(folder / FIRST, folder / "model.safetensors")
    rows = lock(command, folder)["predicate"]["tensors"]
    assert {row["file"] for row in rows} == {"model-*-of-00002.safetensors", "model.safetensors"}
    tensor_of("model.safetensors", reshaped)(folder)
    (changed,) = check(command, folder, 1)["differences"]
    (row,) = changed["tensors"]
    assert (changed["file"], row["file"], row["tensors"]) == ("model.safetensors", "model.safetensors", 1)
    assert None not in (row["locked"], row["now"])


def test_a_long_path_has_its_tensors(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    name = f"{'d' * 120}/{'e' * 120}.safetensors"
    (folder / name).parent.mkdir()
    (folder / FIRST).rename(folder / name)
    lock(command, folder)
    tensor_of(name, reshaped)(folder)
    (changed,) = check(command, folder, 1)["differences"]
    assert (changed["what"], len(changed["tensors"])) == ("tensors", 1)


def test_a_header_that_cannot_be_read_is_no_lack_of_one(tmp_path: Path) -> None:
    (tmp_path / "broken.safetensors").write_bytes(b"x" * 20)
    names = ["broken.safetensors", "gone.safetensors", "x.h5"]
    read = headers(CheckpointFiles(dict.fromkeys(names, 20), FolderReader(tmp_path), {}), names)
    assert list(read) == ["gone.safetensors"] and isinstance(read["gone.safetensors"], FetchError)


def test_a_config_that_is_too_large_to_be_read_has_no_values(tmp_path: Path) -> None:
    sizes = {"config.json": 2**40, "other/config.json": 2}
    for name in sizes:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert [*configs(CheckpointFiles(sizes, FolderReader(tmp_path), {}), sizes)] == ["other/config.json"]


def test_a_file_without_a_size_is_not_locked(command: Command, tmp_path: Path) -> None:
    """A lock has the size of every file, as its reader asks."""
    statement = lock(command, model(tmp_path / "mine"))
    statement["predicate"]["files"][CONFIG]["bytes"] = None
    Path("a.lock").write_text(json.dumps(statement))
    result = command("verify", "--locked", "a.lock", tmp_path / "mine")
    assert result.code == 2
    assert f'predicate.files["{CONFIG}"].bytes is null, but must be a whole number' in result.err


def test_one_file_agrees(command: Command, tmp_path: Path) -> None:
    folder = gguf(tmp_path / "mine")
    assert "a.lock: 1 file locked; " in command("lock", folder, "-o", "a.lock").out
    assert "1 file agrees, to depth data" in command("verify", "--locked", "a.lock", folder).out


def test_what_a_training_left_is_said_to_be_read_by_the_trainer(command: Command, tmp_path: Path) -> None:
    folder = model(tmp_path / "mine")
    lock(command, folder)
    (folder / "optimizer.pt").write_text("x")
    result = command("verify", "--locked", "a.lock", folder)
    assert result.code == 0
    words = "which no loader of models reads, only the Trainer of transformers when a training resumes"
    assert words in " ".join(result.out.split())


def test_a_model_that_is_not_there_is_not_checked(command: Command, tmp_path: Path) -> None:
    lock(command, model(tmp_path / "mine"))
    told = check(command, "./nothing", 3, "--depth", "headers")
    assert (told["depth"], told["locked_verdict"], told["agrees"]) == ("headers", "verified", None)
    assert told["error"]["kind"]


def test_a_repo_is_locked_by_its_listing(hub: Hub, run: Run, tmp_path: Path, _forks: Forks) -> None:
    folder = model(tmp_path / "published")
    hub.lfs = (".safetensors",)
    commit = hub.publish("org/name", folder)
    here = tmp_path / "here"
    home = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    code, printed, complaint = _forks.run(["lock", "org/name", "-o", "a.lock"], here, os.environ | home, 600)
    assert (code, complaint) == (0, "") and "2 digests as the Hub lists them" in printed
    statement = json.loads((here / "a.lock").read_text())
    predicate = statement["predicate"]
    assert (predicate["repo"], predicate["revision"]) == ("org/name", commit)
    assert {name for name, facts in predicate["files"].items() if facts["sha256_from"] == "listing"} == {FIRST, SECOND}
    downloaded = shutil.copytree(folder, tmp_path / "downloaded")
    for copy in (str(downloaded), "org/name"):
        assert run("--locked", "a.lock", copy).report["agrees"] is True
    flipped(FIRST)(downloaded)
    hub.publish("org/other", downloaded)
    for copy in (str(downloaded), "org/other"):
        told = run("--locked", "a.lock", copy)
        assert (told.code, [row["file"] for row in told.report["differences"]]) == (1, [FIRST])
        assert told.report["differences"][0]["what"] == "values"


@pytest.mark.parametrize("form", FORMS)
def test_a_repo_agrees_with_the_folder_that_was_published(hub: Hub, run: Run, tmp_path: Path, form: str) -> None:
    """By the digests that it lists, and the content of its other files."""
    folder = FORMS[form](tmp_path / "mine")
    hub.lfs = (".safetensors", ".bin", ".gguf")
    hub.publish("org/name", folder)
    (tmp_path / "a.lock").write_bytes(written(locked(Request(str(folder)), Options("headers"), tmp_path / "a.lock")))
    told = run("--locked", tmp_path / "a.lock", "org/name").report
    assert (told["agrees"], told["differences"], told["noted"], told["not_checked"]) == (True, [], [], [])


def test_a_header_that_the_hub_does_not_give_ends_locking(hub: Hub, tmp_path: Path, _forks: Forks) -> None:
    hub.lfs = (".safetensors",)
    hub.publish("org/name", model(tmp_path / "published"))
    hub.faults[FIRST] = [Fault(status=403)]
    (here := tmp_path / "here").mkdir()
    home = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    code, printed, complaint = _forks.run(["lock", "org/name", "-o", "a.lock"], here, os.environ | home, 600)
    assert (code, printed) == (3, "") and FIRST in complaint
    assert not (here / "a.lock").exists()


def test_the_cache_of_the_hub_is_read_and_not_believed(hub: Hub, run: Run, tmp_path: Path) -> None:
    """The name of a blob is a digest, which whoever changes its content leaves as it is."""
    commit, place = "ab" * 20, tmp_path / "home" / "hub" / "models--org--name"
    snapshot, blobs = place / "snapshots" / commit, place / "blobs"
    sound(snapshot)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)
    blobs.mkdir()
    for path in list(snapshot.iterdir()):
        blob = blobs / sha256(path.read_bytes()).hexdigest()
        path.rename(blob)
        path.symlink_to(blob)
    statement = locked(Request(str(snapshot)), Options("headers"), tmp_path / "a.lock")
    (tmp_path / "a.lock").write_bytes(written(statement))
    words = "--locked", tmp_path / "a.lock", "org/name", "--offline"
    assert run(*words).report["agrees"] is True
    flipped(FIRST)(snapshot)
    assert [row["what"] for row in run(*words).report["differences"]] == ["values"]
    assert hub.requests == []


@pytest.mark.parametrize(
    "names",
    [
        ["a.0.b", "a.1.b", "a.3.b"],
        ["a.0.b.0.c", "a.0.b.1.c", "a.1.b.0.c"],
        ["a", "b.7", "7.b"],
        [".".join(map(str, range(20)))],
    ],
)
def test_rows_unfold_to_what_was_folded(names: list[str]) -> None:
    tensors = {("f", name): StoredTensor("f", name, "F32", (2, 3)) for name in names}
    assert unfolded(folded(tensors.values())) == tensors
