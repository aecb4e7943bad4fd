"""Which weight files are there, judged as folders and as repos: what the index names, of what size, and what is beside.

Each case is a small checkpoint. A repo is judged at the default depth, its recording and what is kept of it too: all
must say the same.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from build import DEEPSEEK, Json
from conftest import Result, shared
from defects import (
    EMBED,
    FIRST,
    HEAD,
    LFS,
    NORM,
    PAGE,
    SECOND,
    SINGLE,
    THIRD,
    Checkpoint,
    Tensors,
    both,
    embedding,
    file,
    into,
    one_file_beside,
    predicting,
    raw,
    sharded,
    single,
    stale_files,
    without,
)
from loopback import Hub
from pickled import archive, items, state, zeros
from tables import over

import hfcount
from hfcount.report.renderers import table

OTHER = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
FOUR = tuple(f"model-0000{number}-of-00004.safetensors" for number in (1, 2, 3, 4))
FROM_0 = tuple(f"model-0000{number}-of-00004.safetensors" for number in range(4))
BIN = "pytorch_model-0000{}-of-00003.bin"
BIN_INDEX = "pytorch_model.bin.index.json"


@dataclass(frozen=True)
class Case:
    """A checkpoint and its expected report.

    Args:
        codes: of all findings; says: what their messages, or else the error, must contain.
        asked: how many files of a repo are asked for besides config.json: as few as tell.
    """

    verdict: str
    codes: str = ""
    says: tuple[str, ...] = ()
    asked: int = 1
    make: Callable[[], Checkpoint] = sharded
    spoil: Callable[[Checkpoint], object] = lambda checkpoint: None


def four() -> Checkpoint:
    return sharded(names=FOUR)


def four_from_0() -> Checkpoint:
    return sharded(names=FROM_0)


def one_numbered() -> Checkpoint:
    return sharded(names=("model-00001-of-00001.safetensors",))


def two_named() -> Checkpoint:
    """The index names model.safetensors and another file."""
    return sharded(names=(SINGLE, "more.safetensors"))


def torch_saved(tensors: Tensors) -> bytes:
    """A file as torch.save writes it."""
    return archive(state(**items(tensors)), zeros(tensors))


def pickled(*numbers: int, listed: bool = True) -> Callable[[], Checkpoint]:
    """Some of three .bin files, and perhaps their index."""

    def make() -> Checkpoint:
        checkpoint = single()
        weight_map = {name: BIN.format(place % 3 + 1) for place, name in enumerate(checkpoint.tensors)}
        index = {"metadata": {"total_size": checkpoint.data}, "weight_map": weight_map}
        files = {
            file: {name: checkpoint.tensors[name] for name in weight_map if weight_map[name] == file}
            for file in weight_map.values()
        }
        checkpoint.shards = {}
        checkpoint.others = {BIN.format(number): torch_saved(files[BIN.format(number)]) for number in numbers}
        if listed:
            checkpoint.others[BIN_INDEX] = json.dumps(index).encode()
        return checkpoint

    return make


def bin_index(change: Callable[[Json], object]) -> Callable[[Checkpoint], None]:
    """Another index of pickled weights."""

    def spoil(checkpoint: Checkpoint) -> None:
        index = json.loads(checkpoint.others[BIN_INDEX])
        change(index)
        checkpoint.others[BIN_INDEX] = json.dumps(index).encode()

    return spoil


def cut_off(make: Callable[[], Checkpoint], name: str) -> Callable[[], Checkpoint]:
    """As `make` makes it, and one file has no end."""

    def made() -> Checkpoint:
        checkpoint = make()
        checkpoint.others[name] = checkpoint.others[name][:-100]
        return checkpoint

    return made


def other_sharding(*kept: str) -> Callable[[Checkpoint], None]:
    """The shards are of another conversion than the index."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.map()
        checkpoint.metadata["total_size"] = checkpoint.data
        others = sharded(names=OTHER).shards
        checkpoint.shards = {name: tensors for name, tensors in others.items() if not kept or name in kept}

    return spoil


def apart(*names: str, to: str) -> Callable[[Checkpoint], None]:
    """Tensors of these names lie in a file that the index does not name, and it omits them."""

    def spoil(checkpoint: Checkpoint) -> None:
        held = {name: one for name, one in checkpoint.tensors.items() if name.startswith(names)}
        checkpoint.change(lambda name, *one: None if name in held else one)
        checkpoint.map()
        checkpoint.metadata["total_size"] = checkpoint.data
        checkpoint.others[to] = raw(held)

    return spoil


def copied(to: str, *names: str) -> Callable[[Checkpoint], None]:
    """Another file holds these tensors, too."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.others[to] = raw({name: one for name, one in checkpoint.tensors.items() if name in names})

    return spoil


def also(name: str, content: bytes = b"{}") -> Callable[[Checkpoint], None]:
    return lambda checkpoint: checkpoint.others.update({name: content})


def unnamed(name: str) -> Callable[[Checkpoint], None]:
    """A file that is neither there nor in the index."""

    def spoil(checkpoint: Checkpoint) -> None:
        checkpoint.weight_map = {
            tensor: file for file, tensors in checkpoint.shards.items() if file != name for tensor in tensors
        }
        del checkpoint.shards[name]

    return spoil


def no_index(checkpoint: Checkpoint) -> None:
    checkpoint.weight_map = {}


def predicted_apart(checkpoint: Checkpoint) -> None:
    layers = f"model.layers.{DEEPSEEK['num_hidden_layers']}."
    apart(layers, to="model-mtp.safetensors")(checkpoint)


def other_values(content: bytes) -> bytes:
    """A file of ones: its tensors begin with another byte."""
    size = 8 + int.from_bytes(content[:8], "little")
    return content[:size] + b"\1" * (len(content) - size)


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


ALIEN = raw({"lora_up.weight": ("F32", (4, 12)), NORM: ("F32", (4,))})

CASES: dict[str, Case] = {
    # The files of the index
    "all there": Case("verified"),
    "one absent": Case("mismatch", "HF005", ("names 3 files", SECOND, "10 tensors"), spoil=file(None)),
    "all absent": Case("mismatch", "HF005", ("names 3 files", "3 of them"), spoil=file(None, FIRST, SECOND, THIRD)),
    "cut in half": Case("mismatch", "HF004", (SECOND,), asked=4, spoil=file(half)),
    "cut by 400 bytes": Case(
        "mismatch", "HF004", (SECOND, "400 bytes are missing"), 4, spoil=file(lambda raw: raw[:-400])
    ),
    "empty": Case("mismatch", "HF003", (SECOND, "0 bytes"), asked=4, spoil=file(lambda content: b"")),
    "2,000 bytes more": Case(
        "mismatch",
        "HF004",
        (SECOND, "2,000 bytes too many"),
        asked=4,
        spoil=file(lambda content: content + bytes(2_000)),
    ),
    "a Git LFS pointer": Case("mismatch", "HF003", (SECOND, "Git LFS pointer"), 4, spoil=file(lambda content: LFS)),
    "Git LFS pointers": Case(
        "mismatch", "HF003", ("3 files are broken",), 4, spoil=file(lambda content: LFS, FIRST, SECOND, THIRD)
    ),
    "an HTML page": Case("mismatch", "HF003", (SECOND, "HTML"), asked=4, spoil=file(lambda content: PAGE)),
    "two of four": Case(
        "mismatch",
        "HF005",
        (FOUR[2], FOUR[3], "2 of them", "(shards 3 and 4 of 4). They should hold 14 tensors."),
        make=four,
        spoil=file(None, FOUR[2], FOUR[3]),
    ),
    "an index of other files": Case(
        "mismatch",
        "HF005",
        ("names 3 files, and 3 of them", *OTHER, "hold every tensor", "Write the index again from them."),
        asked=3,
        spoil=other_sharding(),
    ),
    "an index of other files, and not all of these": Case(
        "mismatch", "HF005", (f"{OTHER[0]} holds 15 of the 30 tensors",), 2, spoil=other_sharding(OTHER[0])
    ),
    "an index of shards that became one file": Case(
        "mismatch",
        "HF005",
        ("names 3 files, and 3 of them", "model.safetensors holds every tensor", "Delete the index."),
        asked=2,
        spoil=both(one_file_beside(), file(None, FIRST, SECOND, THIRD)),
    ),
    # No index
    "only the index is missing": Case(
        "mismatch",
        "HF007",
        ("Only the index is missing", *OTHER),
        asked=2,
        make=lambda: sharded(names=OTHER),
        spoil=no_index,
    ),
    "an index that does not name the last file, which is not there": Case(
        "mismatch",
        "HF005",
        (FOUR[3], "the index names only 3 files"),
        asked=4,
        make=lambda: sharded(names=FOUR),
        spoil=unnamed(FOUR[3]),
    ),
    "no index, and a tensor is missing": Case(
        "mismatch", "HF007 HF201", (NORM,), asked=3, spoil=both(no_index, without(NORM))
    ),
    "no index, and the last two of four": Case(
        "mismatch",
        "HF005",
        (
            FROM_0[2],
            FROM_0[3],
            "(shards 2 and 3 of 4)",
            "was not completed",
            "14 of the 30 tensors that LlamaForCausalLM describes are missing",
        ),
        asked=2,
        make=four_from_0,
        spoil=both(no_index, file(None, FROM_0[2], FROM_0[3])),
    ),
    "no index, and one of four": Case(
        "mismatch",
        "HF005",
        (f"{FROM_0[1]} is missing", "(shard 1 of 4)"),
        asked=3,
        make=four_from_0,
        spoil=both(no_index, file(None, FROM_0[1])),
    ),
    "one numbered file, and no index": Case(
        "mismatch", "HF007", ("1 weight file exists",), make=one_numbered, spoil=no_index
    ),
    # model.safetensors
    "one file": Case("verified", make=single),
    "one file beside, of fewer tensors": Case(
        "mismatch",
        "HF008",
        ("lacks 1 tensor of the others", NORM, "Delete model.safetensors."),
        5,
        spoil=one_file_beside(NORM),
    ),
    "one file beside, of more layers": Case(
        "mismatch",
        "HF008",
        ("It has 9 tensors that the others lack", "model.layers.3"),
        asked=5,
        spoil=one_file_beside(num_hidden_layers=4),
    ),
    "one file beside, of another width": Case(
        "mismatch", "HF008", ("9 tensors differ in shape",), 5, spoil=one_file_beside(intermediate_size=24)
    ),
    "one file beside, in another dtype": Case(
        "mismatch", "HF008 HF302", ("differ in shape or dtype",), 5, spoil=both(one_file_beside(), into("F32", ""))
    ),
    "one file beside, alike": Case(
        "explained",
        "HF008",
        ("the bytes that were compared, at the beginning of tensors, are the same",),
        asked=11,
        spoil=one_file_beside(),
    ),
    "one file beside, of other values": Case(
        "mismatch",
        "HF008",
        ("but other values: ", HEAD),
        asked=11,
        spoil=both(one_file_beside(), file(other_values, SINGLE)),
    ),
    "one file beside, and it is a pointer": Case(
        "mismatch", "HF008", ("Git LFS pointer",), asked=5, spoil=also(SINGLE, LFS)
    ),
    "one file, and the index names another": Case(
        "mismatch", "HF008", ("as one of 2 files", "lacks 15 tensors"), make=two_named
    ),
    "one file, and shards of an earlier save": Case(
        "mismatch",
        "HF006",
        ("transformers 5.24 reads only model.safetensors", "vLLM 0.33 reads every"),
        asked=2,
        make=single,
        spoil=copied(OTHER[1], NORM, HEAD),
    ),
    "one file, and what it lacks in another": Case(
        "mismatch",
        "HF006",
        (NORM, "no other file holds"),
        asked=2,
        make=single,
        spoil=both(apart(NORM, to="more.safetensors"), no_index),
    ),
    # Beside the index
    "shards of another save": Case(
        "mismatch", "HF006", (*OTHER, "other files hold, too", "mlx-lm"), asked=6, spoil=stale_files
    ),
    "a copy that no loader takes": Case(
        "explained", "HF006", ("overlay.safetensors", EMBED), asked=5, spoil=copied("overlay.safetensors", EMBED)
    ),
    "copies beside what language models' loaders do not take": Case(
        "explained",
        "HF006",
        ("model-fp16.safetensors",),
        asked=5,
        make=lambda: sharded(architectures=["LlamaModel"]),
        spoil=copied("model-fp16.safetensors", EMBED.removeprefix("model."), NORM.removeprefix("model.")),
    ),
    "a file of no tensors": Case(
        "verified", asked=5, spoil=lambda checkpoint: checkpoint.others.update({"model-more.safetensors": raw({})})
    ),
    "tensors of something else": Case(
        "explained", "HF006", ("2 tensors that LlamaForCausalLM does not",), 5, spoil=also("lora.safetensors", ALIEN)
    ),
    "tensors of something else that loaders take": Case(
        "mismatch", "HF006", ("lora_up", "mlx-lm"), asked=5, spoil=also("model-lora.safetensors", ALIEN)
    ),
    "a pointer beside": Case("explained", "HF006", ("LFS pointer",), asked=5, spoil=also("x.safetensors", LFS)),
    "what the index omits": Case(
        "mismatch",
        "HF006",
        (NORM, "transformers 5.24 and vLLM 0.33 follow the index and lose them", "Write the index again"),
        asked=5,
        spoil=apart(NORM, to="norms.safetensors"),
    ),
    "prediction layers that the index omits": Case(
        "mismatch",
        "HF006",
        ("model-mtp.safetensors", "32 tensors", "MTP"),
        asked=3,
        make=lambda: predicting(True),
        spoil=predicted_apart,
    ),
    # Files that are no matter
    "the author's own layout beside": Case("verified", spoil=also("consolidated.safetensors", ALIEN)),
    "a variant beside": Case("verified", spoil=also("model.fp16.safetensors", ALIEN)),
    "shards of a variant beside": Case("verified", spoil=also("model.fp32-00001-of-00002.safetensors", ALIEN)),
    "an optimizer beside": Case("verified", spoil=also("optimizer.safetensors", ALIEN)),
    "pickled weights beside": Case("verified", spoil=also("model.ckpt", b"PK")),
    "other models in folders below": Case("verified", spoil=also("onnx/model.safetensors", ALIEN)),
    # Companions
    "an adapter beside": Case(
        "explained",
        "HF010",
        ("adapter_config.json, adapter_model.safetensors are in the folder",),
        spoil=both(also("adapter_config.json"), also("adapter_model.safetensors", ALIEN)),
    ),
    "an embedding model": Case("verified", asked=3, make=single, spoil=embedding("nothing")),
    "an embedding model without its last layer": Case(
        "mismatch", "HF009", ("2_Dense is missing",), asked=2, make=single, spoil=embedding("2_Dense")
    ),
    "an embedding model without the weights of its last layer": Case(
        "mismatch",
        "HF009",
        ("2_Dense/model.safetensors is missing",),
        asked=2,
        make=single,
        spoil=embedding("2_Dense/model"),
    ),
    "an embedding model whose modules are no list": Case(
        "mismatch", "HF001", ("must hold a list",), asked=2, make=single, spoil=also("modules.json")
    ),
    # Pickled weights
    "pickled": Case("verified", asked=4, make=pickled(1, 2, 3)),
    "pickled, without an index": Case(
        "mismatch",
        "HF007",
        ("pytorch_model.bin.index.json, which says what tensor is in what file, is missing",),
        3,
        pickled(1, 2, 3, listed=False),
    ),
    "pickled, and a tensor is not listed": Case(
        "mismatch",
        "HF205",
        (HEAD,),
        4,
        make=pickled(1, 2, 3),
        spoil=bin_index(lambda index: index["weight_map"].pop(HEAD)),
    ),
    "pickled, and a sum is wrong": Case(
        "explained",
        "HF401",
        ("1,000 bytes",),
        4,
        make=pickled(1, 2, 3),
        spoil=bin_index(lambda index: index["metadata"].update(total_size=1_000)),
    ),
    "pickled, and no sum": Case(
        "explained", "HF402", (), 4, make=pickled(1, 2, 3), spoil=bin_index(lambda index: index.update(metadata={}))
    ),
    "pickled, and no metadata": Case(
        "mismatch",
        "HF402",
        ("KeyError",),
        4,
        make=pickled(1, 2, 3),
        spoil=bin_index(lambda index: index.pop("metadata")),
    ),
    "pickled, and a file is cut off": Case(
        "mismatch", "HF004", (BIN.format(2),), 4, make=cut_off(pickled(1, 2, 3), BIN.format(2))
    ),
    "pickled, and the index names a file outside": Case(
        "mismatch",
        "HF002",
        ("plain .bin name",),
        make=pickled(1, 2, 3),
        spoil=bin_index(lambda index: index["weight_map"].update({HEAD: "../x.bin"})),
    ),
    "pickled, and the index is empty": Case(
        "mismatch", "HF001", ("no weight_map",), make=pickled(1, 2, 3), spoil=bin_index(lambda index: index.clear())
    ),
    "pickled, one of three absent": Case("mismatch", "HF005", (BIN.format(2),), 3, make=pickled(1, 3)),
    "pickled, all absent": Case("mismatch", "HF005", ("3 of them",), make=pickled()),
    "pickled, one of three absent and no index": Case(
        "mismatch", "HF005", (BIN.format(2), "(shard 2 of 3)"), 2, make=pickled(1, 3, listed=False)
    ),
}

NAMES = {name: f"org/case-{number}" for number, name in enumerate(CASES)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every case on disk."""
    root = tmp_path_factory.mktemp("cases")

    def write(name: str) -> Path:
        checkpoint = CASES[name].make()
        CASES[name].spoil(checkpoint)
        return checkpoint.write(root / NAMES[name])

    return {name: write(name) for name in CASES}


@dataclass(frozen=True)
class Runs:
    """What one command says of all cases in a Hub, and then without it; and which paths it asked for."""

    online: dict[str, Json]
    replay: dict[str, Json]
    offline: dict[str, Json]
    paths: list[str]


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return shared(tmp_path_factory, "files", lambda: _runs(folders, tmp_path_factory.mktemp("home")))


def _runs(folders: dict[str, Path], home: Path) -> Runs:
    hub = Hub()
    hub.start()
    for name, folder in folders.items():
        hub.publish(NAMES[name], folder)

    def command(*options: str | Path) -> dict[str, Json]:
        done = subprocess.run(
            [sys.executable, "-m", "hfcount", "--format", "json", *options, *NAMES.values()],
            env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HOME": str(home)},
            cwd=home,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.stderr == ""
        return dict(zip(CASES, Result(done.returncode, done.stdout, "").reports, strict=True))

    online = command("--save", home / "saved")
    paths = hub.paths()
    hub.requests.clear()
    replay, offline = command("--fixtures", home / "saved"), command("--offline")
    assert hub.requests == []
    hub.stop()
    hub.cdn.server_close()
    return Runs(online, replay, offline, paths)


def said(report: Json) -> str:
    return "\n".join(
        [*(finding["message"] for finding in report["findings"]), report.get("error", {}).get("message", "")]
    )


def judged(report: Json) -> tuple[str, list[str]]:
    return report["verdict"], sorted(finding["code"] for finding in report["findings"])


def meets(report: Json, case: Case) -> None:
    assert judged(report) == (case.verdict, case.codes.split()), said(report)
    assert [text for text in case.says if text not in said(report)] == [], said(report)


@over("name", CASES)
def test_a_folder(folders: dict[str, Path], name: str) -> None:
    meets(json.loads(hfcount.verify(str(folders[name])).to_json()), CASES[name])


@over("name", CASES, every=4)
def test_a_repo_and_no_more_requests_than_tell(runs: Runs, name: str) -> None:
    meets(runs.online[name], CASES[name])
    asked = [path for path in runs.paths if path.startswith(f"/{NAMES[name]}/resolve/") and "config.json" not in path]
    assert len(asked) == CASES[name].asked, asked


@over("name", CASES)
def test_a_replay_and_what_is_kept_say_the_same(runs: Runs, name: str) -> None:
    online = runs.online[name]
    assert runs.replay[name] == online | {"source": "fixtures"}
    assert runs.offline[name] == online | {"source": "cache"}


# The index alone, as asked


def longer_and_shorter(checkpoint: Checkpoint) -> None:
    """What one file lacks another one has, as where the index puts tensors in the wrong one."""
    checkpoint.damage |= {FIRST: lambda content: content[:-2_000], SECOND: lambda content: content + bytes(2_000)}


WITHOUT_HEADERS: dict[str, tuple[str, str, str]] = {
    "all there": ("verified", "", ""),
    "one absent": ("mismatch", "HF005", SECOND),
    "cut in half": ("mismatch", "HF004", f"{SECOND} has"),
    "cut by 400 bytes": ("mismatch", "HF004", "for the 10 tensors that the index lists in it"),
    "a Git LFS pointer": ("mismatch", "HF004", "A Git LFS pointer is about that small"),
    "2,000 bytes more": ("unverified", "", f"{SECOND} has"),
    "an index of other files": ("mismatch", "HF005", "3 of them"),
    "only the index is missing": ("mismatch", "HF007", "Write the index"),
    "one file": ("unverified", "", "--depth headers reads them"),
    "one file beside, alike": ("unverified", "", "model.safetensors exists, but the index does not name it"),
    "shards of another save": ("unverified", "", f"{OTHER[0]} exists, but the index does not name it"),
    "a variant beside": ("verified", "", ""),
    "an embedding model without its last layer": ("mismatch", "HF009", "2_Dense"),
}


@pytest.mark.parametrize("name", WITHOUT_HEADERS)
def test_at_depth_index(folders: dict[str, Path], name: str) -> None:
    verdict, codes, text = WITHOUT_HEADERS[name]
    report = json.loads(hfcount.verify(str(folders[name]), depth="index").to_json())
    assert judged(report) == (verdict, codes.split()), said(report)
    assert text in said(report)


def test_a_size_that_may_be_the_indexs_mistake_is_no_finding(tmp_path: Path) -> None:
    checkpoint = sharded()
    longer_and_shorter(checkpoint)
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")), depth="index")
    assert (report.verdict, report.findings, report.error and report.error.kind) == ("unverified", (), "NotOpened")


LOOKED: dict[str, tuple[str, Any, str]] = {
    "the index": (
        "all there",
        "index",
        "names, total size and sizes of 3 files; headers were not read (--depth headers reads them)",
    ),
    "headers": (
        "all there",
        "headers",
        "names, shapes, dtypes, total size and sizes of 3 files by their headers; values were not read",
    ),
    "the config": ("all there", "config", "config.json only"),
    "some files": (
        "one absent",
        "index",
        "names, total size and sizes of 2 of 3 files; headers were not read (--depth headers reads them)",
    ),
    "no file": ("all absent", "index", "names and total size; no weight file is there"),
    "a file that is left alone": (
        "the author's own layout beside",
        "index",
        "names, total size and sizes of 3 files; headers were not read (--depth headers reads them);"
        " not opened: consolidated.safetensors (the author's own layout)",
    ),
}


@pytest.mark.parametrize(("name", "depth", "line"), LOOKED.values(), ids=LOOKED)
def test_a_line_says_how_far_it_looked(
    folders: dict[str, Path], name: str, depth: Any, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    lines = table.render([hfcount.verify(str(folders[name]), depth=depth)]).splitlines()
    assert (f"Read: {line}" if depth == "config" else f"Compared: {line}; there is no tokenizer") in lines


def test_what_a_file_may_take_is_what_its_header_may_take(tmp_path: Path) -> None:
    """Every size that a sound writer may give a file is accepted, and few others."""
    checkpoint = sharded()
    folder = checkpoint.write(tmp_path / "m")
    shard = folder / SECOND
    content = shard.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    data = content[8 + int.from_bytes(content[:8], "little") :]
    del header["__metadata__"]
    for text in (json.dumps(header, separators=(",", ":")), json.dumps(header), json.dumps(header) + " " * 1_000):
        shard.write_bytes(len(text).to_bytes(8, "little") + text.encode() + data)
        assert hfcount.verify(str(folder), depth="index").verdict == "verified"


def test_without_an_index_it_is_said_which_pickled_weights_are_read(tmp_path: Path) -> None:
    checkpoint = sharded(names=OTHER)
    no_index(checkpoint)
    checkpoint.others["pytorch_model.bin"] = b"x"
    text = str(hfcount.verify(str(checkpoint.write(tmp_path / "model")), depth="headers").findings[0].message)
    assert "reads pytorch_model.bin instead" in text
    assert "finds no weights" not in text


@pytest.mark.parametrize(("files", "readable"), [((SECOND,), 2), ((FIRST, SECOND, THIRD), 0)])
def test_a_row_says_how_many_files_can_be_read(tmp_path: Path, files: tuple[str, ...], readable: int) -> None:
    checkpoint = sharded()
    sound = hfcount.verify(checkpoint.write(tmp_path / "sound"))
    file(lambda content: LFS, *files)(checkpoint)
    (row,) = (row for row in hfcount.verify(checkpoint.write(tmp_path / "m")).checks if row.name == "files")
    assert (row.expected, row.observed, row.agrees, row.text) == (3, readable, False, f"{len(files)} cannot be read")
    assert "files" not in {row.name for row in sound.checks}


def test_a_module_that_cannot_be_read_is_none_of_the_model_s_files(tmp_path: Path) -> None:
    checkpoint = single()
    both(embedding(), file(lambda content: LFS, "2_Dense/model.safetensors"))(checkpoint)
    report = hfcount.verify(checkpoint.write(tmp_path / "m"))
    assert [finding.code for finding in report.findings] == ["HF003"]
    assert "files" not in {row.name for row in report.checks}
