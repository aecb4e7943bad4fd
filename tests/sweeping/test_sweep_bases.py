"""Rows of a sweep say what a checkpoint was made of, and with --bases whether its weight files are the base's."""

import json
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from build import TINY
from loopback import write_checkpoint
from manyhub import Hub, Window
from test_sweep_hub import Loopback

import hfcount
from hfcount.fetcher.checksums import Content
from hfcount.fetcher.endpoint import settings
from hfcount.fetcher.interface import Request
from hfcount.fetcher.model_card import NamedBase, by_metadata, by_tags, by_text
from hfcount.sweeping.base_checks import BaseChecks
from hfcount.sweeping.bases import BaseLink, WeightSums, compared, is_weights
from hfcount.sweeping.parts import parts, read, read_part
from hfcount.sweeping.rows import Task
from hfcount.sweeping.summary import summed, tables

SINGLE = "model.safetensors"


# Who names a base


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ("base_model: org/a", [("org/a", None)]),
        ("base_model: 'org/a'  # see below\nbase_model_relation: merge", [("org/a", "merge")]),
        ("base_model:\n- org/a\n- org/b\ntags: [x]", [("org/a", None), ("org/b", None)]),
        (
            'base_model:\n  - org/a\n  - "org/b"\nbase_model_relation: finetune',
            [("org/a", "finetune"), ("org/b", "finetune")],
        ),
        ("base_model: [org/a, 'org/b']", [("org/a", None), ("org/b", None)]),
        ("base_model: /models/a", []),
        ("base_model: ../a", []),
        ("base_model:", []),
        ("base_model: org/a\nbase_model_relation: [odd]", [("org/a", None)]),
        ("license: mit", []),
    ],
)
def test_cards_name_bases(front: str, found: list[tuple[str, str | None]]) -> None:
    assert [*by_text(f"---\n{front}\n---\nbase_model: org/text\n")] == [NamedBase(*one) for one in found]
    assert by_text(front) == ()


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (["x", "base_model:org/a", "base_model:merge:org/a"], [("org/a", "merge")]),
        (["base_model:merge:org/a", "base_model:org/a", "base_model:org/b"], [("org/a", "merge"), ("org/b", None)]),
        (["base_model:/etc/x", "base_model:", "base_model:a:b:c", 7, None], []),
        ({"base_model:org/a": 1}, []),
    ],
)
def test_tags_name_bases(tags: object, found: list[tuple[str, str | None]]) -> None:
    assert [*by_tags(tags)] == [NamedBase(*one) for one in found]


def test_the_metadata_of_a_listing_names_bases() -> None:
    assert by_metadata({"base_model": ["org/a", 7], "base_model_relation": "merge"}) == (NamedBase("org/a", "merge"),)
    assert by_metadata({"base_model": "org/a", "base_model_relation": "\ud800"}) == (NamedBase("org/a"),)
    assert by_metadata([]) == by_metadata({}) == by_metadata({"base_model": {"org/a": 1}}) == ()
    assert len(by_metadata({"base_model": [f"org/{number}" for number in range(99)]})) == 16


# Checksums


def content(text: str, size: int | None = 4, kind: str = "sha256") -> Content:
    return Content(size, {kind: text} if text else {})


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ({SINGLE: "a"}, {SINGLE: "a"}, ("identical", 1, 1)),
        ({SINGLE: "a"}, {"renamed.safetensors": "a", "pytorch_model.bin": "b"}, ("identical", 1, 1)),
        ({"1.safetensors": "a", "2.safetensors": "b"}, {"1.safetensors": "a"}, ("some", 1, 2)),
        ({SINGLE: "a", "original/consolidated.00.pth": "c"}, {SINGLE: "a"}, ("identical", 1, 1)),
        ({"unet/model.safetensors": "a", "vae/model.safetensors": "b"}, {"vae/x.safetensors": "b"}, ("some", 1, 2)),
        ({SINGLE: "a", "training_args.bin": "x", "optimizer.pt": "y"}, {SINGLE: "a"}, ("identical", 1, 1)),
        ({SINGLE: "a"}, {SINGLE: "b"}, ("other", 0, 1)),
        ({SINGLE: ""}, {SINGLE: "b"}, ("unknown", 0, 1)),
        ({SINGLE: "a"}, {SINGLE: ""}, ("unknown", 0, 1)),
        ({SINGLE: "a"}, {"README.md": "a"}, ("unknown", 0, 1)),
        ({SINGLE: "a"}, None, ("unknown", 0, 1)),
        ({"adapter_model.safetensors": "a", "README.md": "r"}, {SINGLE: "a"}, (None, None, None)),
    ],
)
def test_weight_files_are_compared_by_content(
    ours: Mapping[str, str], theirs: Mapping[str, str] | None, told: tuple[object, ...]
) -> None:
    base = WeightSums({name: content(one) for name, one in theirs.items()}) if theirs is not None else None
    found = compared(BaseLink("org/a", None, "tags"), {name: content(one) for name, one in ours.items()}, base)
    assert found[3:] == told


def test_sums_of_other_kinds_tell_nothing_but_sizes_do() -> None:
    base = WeightSums({SINGLE: content("a", 4)})
    told = [base.has(content("b", size, "git")) for size in (4, 5, None)]
    assert told == [None, False, None]
    assert WeightSums({SINGLE: content("7 7", 4, "place")}).has(content("7 8", 4, "place")) is None


@pytest.mark.parametrize("name", ["a/model.safetensors", "x.gguf", "pytorch_model-00001-of-2.bin", "consolidated.pt"])
def test_files_of_weights(name: str) -> None:
    assert is_weights(name)


@pytest.mark.parametrize("name", ["adapter_model.bin.txt", "adapter_x.safetensors", "training_args.bin", "a.json"])
def test_files_of_no_model(name: str) -> None:
    assert not is_weights(name)


# Folders


def named(folder: Path, text: str) -> Path:
    (folder / "README.md").write_text(f"---\n{text}\n---\n")
    return folder


def loaded_from(folder: Path, name: str) -> Path:
    config = json.loads((folder / "config.json").read_bytes())
    (folder / "config.json").write_text(json.dumps(config | {"_name_or_path": name}))
    return folder


def downloaded(folder: Path, digest: str = "") -> None:
    """As `hf download --local-dir` leaves a folder."""
    kept = folder / ".cache" / "huggingface" / "download"
    kept.mkdir(parents=True)
    found = digest or sha256((folder / SINGLE).read_bytes()).hexdigest()
    (kept / f"{SINGLE}.metadata").write_text(f"{'c' * 40}\n{found}\n9999999999\n")


def swept(root: Path, out: Path, bases: bool) -> dict[str, list[tuple[Any, ...]]]:
    """The bases in the rows, by model."""
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep(root, out, executor=threads, bases=bases)
    return {row["model"]: [tuple(one.values()) for one in row["bases"]] for row in read(out)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A base and what was made of it."""
    root = tmp_path / "tree"
    write_checkpoint(root / "org" / "base", TINY["llama"], shards=1)
    for name in ("copy", "tuned", "saved", "plain"):
        shutil.copytree(root / "org" / "base", root / "org" / name)
    raw = bytearray((root / "org" / "tuned" / SINGLE).read_bytes())
    raw[-1] ^= 1
    (root / "org" / "tuned" / SINGLE).write_bytes(raw)
    named(root / "org" / "copy", "base_model: org/base\nbase_model_relation: merge")
    named(loaded_from(root / "org" / "tuned", "org/other"), "base_model: org/base")
    loaded_from(root / "org" / "saved", "org/base")
    loaded_from(root / "org" / "plain", "/models/base")
    loaded_from(root / "org" / "base", "org/base")
    return root


def test_folders_name_their_bases_and_are_compared_when_asked(tree: Path, tmp_path: Path) -> None:
    none = (None, None, None)
    assert swept(tree, tmp_path / "named", bases=False) == {
        "org/base": [],
        "org/copy": [("org/base", "merge", "card", *none)],
        "org/plain": [],
        "org/saved": [("org/base", None, "config", *none)],
        "org/tuned": [("org/base", None, "card", *none)],
    }
    out = tmp_path / "compared"
    assert swept(tree, out, bases=True) == {
        "org/base": [],
        "org/copy": [("org/base", "merge", "card", "identical", 1, 1)],
        "org/plain": [],
        "org/saved": [("org/base", None, "config", "identical", 1, 1)],
        "org/tuned": [("org/base", None, "card", "other", 0, 1)],
    }
    shown = {title: (head, lines) for title, head, lines in tables(summed(out))}
    head, lines = shown["Named base models, and weight files identical to theirs"]
    assert head == ("relation", "named", "identical", "other")
    assert sorted(map(str, lines)) == ["('_name_or_path', 1, 1, 0)", "('merge', 1, 1, 0)", "('not said', 1, 0, 1)"]
    _, copies = shown["Checkpoints whose weight files are all those of the base"]
    assert copies == [("org/copy", "org/base"), ("org/saved", "org/base")]


def test_an_adapter_names_its_base_in_its_config(tmp_path: Path) -> None:
    folder = tmp_path / "t" / "org" / "lora"
    write_checkpoint(tmp_path / "x", TINY["llama"], shards=1)
    folder.mkdir(parents=True)
    shutil.copy(tmp_path / "x" / SINGLE, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "base_model_name_or_path": "org/base"}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    found = swept(tmp_path / "t", tmp_path / "out", bases=False)
    assert found == {"org/lora": [("org/base", "adapter", "adapter", None, None, None)]}


def test_rows_of_a_version_without_the_column_are_read_and_kept(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    swept(tree, out, bases=False)
    part = parts(out)[0]
    old = [{name: value for name, value in row.items() if name != "bases"} for row in read_part(part)][:3]
    part.unlink()
    part.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in old))
    found = swept(tree, out, bases=True)
    assert [found[row["model"]] for row in old] == [[], [], []]
    assert sum(map(bool, found.values())) == 2 - sum(row["model"] in ("org/saved", "org/tuned") for row in old)


# The Hub


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Loopback]:
    """A Hub of six repos, three of one file and three in shards, some of which say what they were made of."""
    write_checkpoint(tmp_path / "repos" / "a", TINY["llama"], shards=1)
    write_checkpoint(tmp_path / "repos" / "b", TINY["qwen3"], shards=3)
    hub = Hub(sorted((tmp_path / "repos").iterdir()), 6, Window("api", 500, 300.0), Window("resolvers", 500, 300.0))
    hub.tags = {
        "org/m00001": ["base_model:org/m00003", "base_model:merge:org/m00003"],  # in shards, which are the base's
        "org/m00002": ["base_model:org/m00000"],  # a single file, which is the base's
        "org/m00004": ["base_model:org/m00000", "base_model:org/m00001", "base_model:org/gone"],
    }
    server = hub.serve()
    yield Loopback(hub, server, tmp_path / "out")
    server.shutdown()
    server.server_close()


LISTED = 1 + 3  # the page, and the sizes of those with an index
COMPARED = LISTED + 4 + 2  # each base, and the repos whose checksums no listing had


@pytest.mark.long
def test_a_hub_is_asked_once_for_each_base(many: Loopback) -> None:
    many.sweep("--hub", "--bases")
    assert many.hub.api.made == COMPARED
    assert bases(many.out) == {
        "m00001": [("org/m00003", "identical")],
        "m00002": [("org/m00000", "identical")],
        "m00004": [("org/m00000", "identical"), ("org/m00001", "other"), ("org/gone", "unknown")],
    }


@pytest.mark.long
def test_naming_bases_takes_no_request_and_comparing_them_those_that_are_planned(many: Loopback) -> None:
    many.sweep("--hub")
    files = many.hub.files.made
    assert many.hub.api.made == LISTED
    found = {
        "m00001": ["org/m00003"],
        "m00002": ["org/m00000"],
        "m00004": ["org/m00000", "org/m00001", "org/gone"],
    }
    assert bases(many.out) == {name: [(base, None) for base in names] for name, names in found.items()}
    many.out = many.out.with_name("compared")
    planned = many.sweep("--author", "org", "--bases", "--dry-run").splitlines()
    assert planned[1].startswith(f"requests: {COMPARED} of the API")
    many.sweep("--hub", "--bases")
    assert many.hub.files.made == 2 * files
    before = many.hub.api.made
    many.sweep("--hub", "--bases")
    assert many.hub.api.made - before == 1
    many.out = many.out.with_name("by-name")
    before = many.hub.api.made
    many.sweep("org/m00002", "--bases")
    assert many.hub.api.made - before == 2  # its own listing, and the base's
    assert bases(many.out) == {"m00002": [("org/m00000", "identical")]}


@pytest.mark.long
def test_a_download_is_compared_with_its_base_on_the_hub(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "repos" / "a", TINY["llama"], shards=1)
    hub = Hub([tmp_path / "repos" / "a"], 2, Window("api", 500, 300.0), Window("resolvers", 500, 300.0))
    for name, digest in (("same", ""), ("other", "0" * 64), ("bare", "")):
        folder = tmp_path / "tree" / name
        shutil.copytree(tmp_path / "repos" / "a", folder)
        named(folder, "base_model: org/m00000")
        if name != "bare":
            downloaded(folder, digest)
    server = hub.serve()
    many = Loopback(hub, server, tmp_path / "out")
    try:
        many.sweep("--tree", str(tmp_path / "tree"))
        assert (hub.api.made, hub.files.made) == (0, 0)
        many.out = tmp_path / "compared"
        many.sweep("--tree", str(tmp_path / "tree"), "--bases")
        assert (hub.api.made, hub.files.made) == (1, 0)
        found = {row["model"]: [one["weights"] for one in row["bases"]] for row in read(many.out)}
        assert found == {"same": ["identical"], "other": ["other"], "bare": ["unknown"]}
        many.sweep("--tree", str(tmp_path / "tree"), "--bases")
        assert hub.api.made == 1
    finally:
        server.shutdown()
        server.server_close()


def test_offline_no_base_is_asked_for(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(request: Request) -> None:
        asked.append(request.model)

    task = Task("copy", None, Request("org/copy", fixtures=tree), bases=(BaseLink("org/none", None, "card"),))
    checks = BaseChecks(ask)
    assert [checks.compared(task, None).bases[0].weights for _ in range(2)] == ["unknown"] * 2
    assert asked == ["org/none"]
    monkeypatch.setattr(settings(), "HF_HUB_OFFLINE", True)
    assert BaseChecks(ask).compared(task, None).bases[0].weights == "unknown"
    assert asked == ["org/none"]


def bases(out: Path) -> dict[str, list[tuple[str, str | None]]]:
    found = {row["model"].partition("/")[2]: row["bases"] for row in read(out)}
    return {name: [(one["model"], one["weights"]) for one in row] for name, row in sorted(found.items()) if row}
