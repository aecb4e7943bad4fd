"""What runs have seen of a commit: no later run forgets it, whatever its depth, and a fresh listing corrects it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Run
from defects import raw
from loopback import Fault, Hub, write_checkpoint
from test_hub import CONFIG, INDEX_NAME, MODEL, TOTAL

from hfcount.fetcher import Request, evidence_cache
from hfcount.fetcher.folder import read_folder

SECOND = "model-00002-of-00002.safetensors"
KEPT = "*/*/*/headers.json"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A checkpoint of CONFIG, in two shards."""
    return write_checkpoint(tmp_path / "tiny", CONFIG)


def another_shape(folder: Path) -> None:
    """Two tensors of the same file swap their shapes: names and sizes say nothing of it."""
    path = folder / SECOND
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    name = next(name for name, one in header.items() if len(one.get("shape", ())) == 2)
    header[name]["shape"].reverse()
    text = json.dumps(header).encode().ljust(length)
    path.write_bytes(raw[:8] + text + raw[8 + length :])


def kept_below(tmp_path: Path) -> list[Path]:
    """Every headers.json that runs have kept."""
    return sorted((tmp_path / "home" / "assets" / "hfcount").glob(KEPT))


LATER = ([], ["--depth", "index"], ["--offline"], ["--offline", "--depth", "index"])


@pytest.mark.parametrize("options", LATER, ids=" ".join)
def test_what_headers_showed_is_not_forgotten(hub: Hub, run: Run, tiny: Path, options: list[str]) -> None:
    another_shape(tiny)
    hub.publish(MODEL, tiny)
    assert run(MODEL).report["verdict"] == "verified", "what the index shows"
    assert run(MODEL, "--depth", "headers").report["verdict"] == "mismatch"
    hub.requests.clear()
    report = run(MODEL, *options).report
    assert (report["verdict"], report["depth"]) == ("mismatch", "headers")
    assert len(hub.requests) == (0 if "--offline" in options else 1), "the headers are on disk"
    assert run(MODEL, *options).report == report


def test_a_run_that_reads_less_leaves_what_was_kept(
    hub: Hub, run: Run, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even one that finds what it needs damaged, or that another run overtook, does not write less."""
    another_shape(tiny)
    commit = hub.publish(MODEL, tiny)
    run(MODEL, "--depth", "headers")
    (path,) = kept_below(tmp_path)
    before = path.read_bytes()
    less = read_folder(tiny, MODEL, "hub", commit).replace(sizes=None)
    monkeypatch.setattr("huggingface_hub.constants.HF_ASSETS_CACHE", str(tmp_path / "home" / "assets"))
    evidence_cache.keep(Request(MODEL), hub.url, less, None, {})
    assert json.loads(path.read_text())["files"] == json.loads(before)["files"]
    assert run(MODEL, "--offline").report["verdict"] == "mismatch"


def test_headers_of_some_files_are_no_green_for_all(hub: Hub, run: Run, tiny: Path, tmp_path: Path) -> None:
    """A cache that has the headers of one shard alone: the index is not enough any more, and the rest is read."""
    hub.publish(MODEL, tiny)
    run(MODEL, "--depth", "headers")
    _forget(tmp_path, SECOND)
    report = run(MODEL, "--depth", "index").report
    assert (report["verdict"], report["error"]["kind"]) == ("unverified", "NotOpened")
    hub.requests.clear()
    report = run(MODEL).report
    assert (report["verdict"], report["depth"]) == ("verified", "headers")
    assert [path.rpartition("/")[2] for path in hub.paths() if "safetensors" in path] == [SECOND]
    hub.requests.clear()
    assert run(MODEL, "--depth", "index").report["depth"] == "headers"
    assert len(hub.requests) == 1


def _forget(tmp_path: Path, file: str) -> None:
    """Drops the headers of a file from what is kept."""
    (path,) = kept_below(tmp_path)
    content = json.loads(path.read_text())
    del content["files"][file]
    path.write_text(json.dumps(content))
    sums = path.with_name("checksums.json")
    whole = {name: path.with_name(name).read_bytes() for name in json.loads(sums.read_text())}
    sums.write_bytes(evidence_cache._sums(whole))


# A fresh listing


def without_sizes(hub: Hub, folder: Path, commit: str) -> None:
    siblings = [{"rfilename": path.name} for path in folder.iterdir()]
    hub.faults["revision/main"] = [Fault(body=json.dumps({"sha": commit, "siblings": siblings}).encode())]


def unlisted(hub: Hub, folder: Path, commit: str) -> None:
    hub.faults["revision/main"] = [Fault(status=404)]
    hub.faults[f"tree/{commit}"] = [Fault(status=404)]


@pytest.mark.parametrize("first", [without_sizes, unlisted])
def test_a_fresh_listing_beats_sizes_that_were_kept(
    hub: Hub, run: Run, tiny: Path, first: Callable[[Hub, Path, str], None]
) -> None:
    first(hub, tiny, hub.publish(MODEL, tiny))
    report = run(MODEL, "--depth", "index").report
    assert (report["verdict"], report["evidence"]["files"]["sized"]) == ("unverified", 0)
    hub.faults.clear()
    report = run(MODEL, "--depth", "index").report
    assert (report["verdict"], report["evidence"]["files"]["sized"]) == ("verified", 2)
    assert run(MODEL, "--offline").report["verdict"] == "verified", "the sizes are kept now"


def test_a_file_that_is_listed_with_another_size_is_read_again(hub: Hub, run: Run, tiny: Path) -> None:
    """Whatever gave another size before, the file that is there now decides."""
    hub.publish(MODEL, tiny)
    run(MODEL, "--depth", "headers")
    with (tiny / SECOND).open("ab") as file:
        file.write(bytes(7))
    index = tiny / INDEX_NAME
    index.write_text(index.read_text() + " ")
    hub.requests.clear()
    report = run(MODEL).report
    assert (report["verdict"], [one["code"] for one in report["findings"]]) == ("mismatch", ["HF004"])
    read = sorted(path.rpartition("/")[2] for path in hub.paths() if "/resolve/" in path)
    assert read == [SECOND, INDEX_NAME]
    assert run(MODEL, "--offline").report["verdict"] == "mismatch"


def test_a_mirror_without_a_listing_is_remembered_by_the_commit(hub: Hub, run: Run, tiny: Path) -> None:
    another_shape(tiny)
    unlisted(hub, tiny, hub.publish(MODEL, tiny))
    assert run(MODEL, "--depth", "headers").report["verdict"] == "mismatch"
    for options in ([], ["--depth", "index"], ["--offline"]):
        assert run(MODEL, *options).report["verdict"] == "mismatch", options


def test_a_tokenizer_that_was_out_of_reach_costs_nothing_else(hub: Hub, run: Run, tiny: Path) -> None:
    """What was kept beside it stays, and it is asked for again."""
    another_shape(tiny)
    (tiny / "added_tokens.json").write_text('{"<extra>": 900}')
    hub.publish(MODEL, tiny)
    hub.faults["added_tokens.json"] = [Fault(status=403)]
    assert run(MODEL, "--depth", "headers").report["verdict"] == "mismatch"
    assert run(MODEL).report["verdict"] == "mismatch"
    assert run(MODEL, "--offline").report["verdict"] == "mismatch"
    hub.faults.clear()
    codes = [one["code"] for one in run(MODEL).report["findings"]]
    assert "HF105" in codes
    assert [one["code"] for one in run(MODEL, "--offline").report["findings"]] == codes


# Places


def test_every_server_has_a_place_of_its_own() -> None:
    """Addresses of which no two are the same server."""
    urls = [
        "https://hub.test",
        "http://hub.test",
        "https://hub.test:8080",
        "http://hub.test:8080",
        "https://hub.test-8080",
        "https://http-hub.test",
        "https://hub.test/api",
        "https://[::1]",
        "https://[::1]:80",
        "https://[::1:80]",
    ]
    assert len({evidence_cache._repo(Request(MODEL), url) for url in urls}) == len(urls)
    assert evidence_cache._repo(Request(MODEL), "https://Hub.test") == evidence_cache._repo(Request(MODEL), urls[0])


# The standard cache


def snapshot(tmp_path: Path, folder: Path, commit: str) -> Path:
    """What transformers would have left in the standard cache."""
    repo = tmp_path / "home" / "hub" / "models--org--tiny"
    shutil.copytree(folder, repo / "snapshots" / commit)
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(commit)
    return repo


def test_offline_opens_weights_that_are_in_the_standard_cache(hub: Hub, run: Run, tiny: Path, tmp_path: Path) -> None:
    another_shape(tiny)
    commit = hub.publish(MODEL, tiny)
    assert run(MODEL).report["verdict"] == "verified"
    repo = snapshot(tmp_path, tiny, commit)
    report = run(MODEL, "--offline").report
    assert (report["verdict"], report["depth"]) == ("mismatch", "headers")
    (repo / "snapshots" / commit / SECOND).unlink()  # some of the files are no evidence of the others
    report = run(MODEL, "--offline").report
    assert (report["verdict"], report["depth"]) == ("verified", "index")


def test_offline_takes_the_commit_that_was_seen_last(hub: Hub, run: Run, tiny: Path, tmp_path: Path) -> None:
    hub.publish(MODEL, tiny)
    assert run(MODEL).report["parameters"]["total"] == TOTAL
    wider = write_checkpoint(tmp_path / "wider", CONFIG | {"intermediate_size": 192})
    repo = snapshot(tmp_path, wider, "a" * 40)
    (ref,) = (tmp_path / "home" / "assets" / "hfcount").glob("*/*/refs/main")
    times = ref.stat().st_mtime_ns
    for later, revision in ((10**9, "a" * 40), (-(10**9), ref.read_text())):
        os.utime(repo / "refs" / "main", ns=(times + later, times + later))
        assert run(MODEL, "--offline").report["revision"] == revision


# Mirrors that list one folder at a time


WIDTH = CONFIG["hidden_size"]


def with_modules(folder: Path) -> Path:
    """A checkpoint of sentence-transformers with a module of one file and one of two."""
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"embedding_dimension": WIDTH}))
    (folder / "2_Dense").mkdir()
    dense = {"in_features": WIDTH, "out_features": 4, "bias": False}
    (folder / "2_Dense" / "config.json").write_text(json.dumps(dense))
    (folder / "2_Dense" / "model.safetensors").write_bytes(raw({"linear.weight": ("F32", (4, WIDTH))}))
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    modules = [
        {"name": kind, "path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def top_alone(folder: Path) -> bytes:
    """A listing of the files at the top that names no folder."""
    files = [one for one in sorted(folder.iterdir()) if one.is_file()]
    return json.dumps([{"type": "file", "path": one.name, "size": one.stat().st_size} for one in files]).encode()


MIRRORS: dict[str, Callable[[Path, str], dict[str, list[Fault]]]] = {
    "lists folders one by one": lambda folder, commit: {},
    "names no folders": lambda folder, commit: {f"tree/{commit}": [Fault(body=top_alone(folder))]},
    "knows the top alone": lambda folder, commit: {
        path: [Fault(body=top_alone(folder))]
        for path in (f"tree/{commit}", f"tree/{commit}/1_Pooling", f"tree/{commit}/2_Dense")
    },
    "refuses folders": lambda folder, commit: {
        f"tree/{commit}": [Fault(body=top_alone(folder))],
        f"tree/{commit}/1_Pooling": [Fault(status=404)],
        f"tree/{commit}/2_Dense": [Fault(status=404)],
    },
}


@pytest.mark.parametrize(
    ("faults", "subfolder"),
    [*((faults, None) for faults in MIRRORS.values()), (MIRRORS["lists folders one by one"], "text/large")],
    ids=[*MIRRORS, "a subfolder"],
)
@pytest.mark.parametrize("lost", [None, "2_Dense"])
def test_modules_that_a_mirror_does_not_list_are_not_missing(
    hub: Hub,
    run: Run,
    tmp_path: Path,
    faults: Callable[[Path, str], dict[str, list[Fault]]],
    subfolder: str | None,
    lost: str | None,
) -> None:
    root = tmp_path / "tiny"
    place = with_modules(write_checkpoint(root / (subfolder or ""), CONFIG))
    if lost:
        shutil.rmtree(place / lost)
    commit = hub.publish(MODEL, root)
    hub.faults = faults(place, commit)
    hub.faults["revision/main"] = [Fault(status=404)]
    report = run(MODEL, *(["--subfolder", subfolder] if subfolder else [])).report
    codes = [one["code"] for one in report["findings"]]
    assert codes == (["HF009"] if lost else []), report["findings"]
