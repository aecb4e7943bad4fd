"""Checkpoints on disk: a local folder, a fixture tree, the cache; and what is in their place instead."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build import COMMIT, TINY, index, raw, save, save_tiny, shard
from huggingface_hub import constants

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request, fetch
from hfcount.fetcher.find_checkpoints import checkpoints
from hfcount.fetcher.fixtures import all_fixtures
from hfcount.fetcher.interface import CAPS
from hfcount.fetcher.layout import MODEL_INDEX, MODULES
from hfcount.options import AskedDepth

CONFIG, INDEX, HEADERS = "config.json", "model.safetensors.index.json", "headers.json"


def _kind(model: str, **where: Any) -> str:
    with pytest.raises(FetchError) as raised:
        fetch(Request(model, **where))
    assert str(raised.value).isprintable()
    return raised.value.kind


def test_a_local_folder(tmp_path: Path) -> None:
    documents = fetch(Request(str(save_tiny(tmp_path / "m"))))
    assert (documents.source, documents.revision, documents.config.raw) == ("folder", None, raw(TINY["llama"]))
    assert documents.index is not None
    assert documents.index.raw == raw(index(TINY["llama"]))


def test_a_folder_wins_over_a_repo_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_tiny(tmp_path / "org" / "name")
    assert fetch(Request("org/name")).source == "folder"


def test_fixtures_win_over_a_folder_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_tiny(tmp_path / "org" / "name")
    save_tiny(tmp_path / "fixtures" / "org" / "name", "qwen2")
    documents = fetch(Request("org/name", fixtures=Path("fixtures")))
    assert (documents.source, documents.config.raw) == ("fixtures", raw(TINY["qwen2"]))


CLIENTS = {"huggingface_hub", "requests", "urllib3", "httpx2", "http.client"}

_FETCH = """
import sys
from pathlib import Path
from hfcount.fetcher import Request, fetch

folder = Path(sys.argv[1])
for request in (Request(str(folder)), Request(str(folder / "config.json")), Request("m", fixtures=folder.parent)):
    documents = fetch(request)
    documents.shards.read(documents.shards.names, lambda: None)
print(*sys.modules)
try:
    fetch(Request("org/name", offline=True))
except Exception as error:
    print(type(error), *sys.modules)
"""


def test_what_is_on_disk_is_read_without_an_http_client(tmp_path: Path) -> None:
    (save_tiny(tmp_path / "m") / "model.safetensors").write_bytes(shard({"x": (2,)}))
    command = [sys.executable, "-c", _FETCH, str(tmp_path / "m")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    local, cached = ({*line.split()} & CLIENTS for line in done.stdout.splitlines())
    assert (local, cached) == (set(), {"huggingface_hub"})


def test_a_subfolder(tmp_path: Path) -> None:
    save_tiny(tmp_path / "org" / "name" / "transformer")
    assert fetch(Request(str(tmp_path / "org" / "name"), subfolder="transformer")).config.raw == raw(TINY["llama"])
    assert fetch(Request("org/name", subfolder="transformer", fixtures=tmp_path)).config.raw == raw(TINY["llama"])


def test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    save_tiny(tmp_path / "m")
    assert fetch(Request("~/m")).source == "folder"


@pytest.mark.parametrize(
    "model", ["a", "org/name", "org/name/deeper/still", "no repo id: at all! (1)", "ünï", "-x", "datasets/a", "."]
)
def test_a_fixture_goes_by_any_path(tmp_path: Path, model: str) -> None:
    save_tiny(tmp_path / model)
    assert hfcount.verify(model, fixtures=tmp_path).verdict == "verified"


@pytest.mark.parametrize("model", ["..", "../m", "org/../../m", "org/..", "/", "/etc", "a\0b", "./../m"])
def test_a_fixture_stays_below_its_folder(tmp_path: Path, model: str) -> None:
    save_tiny(tmp_path / "m")
    (tmp_path / "fixtures" / "org").mkdir(parents=True)
    assert _kind(model, fixtures=tmp_path / "fixtures") == "BadName"


def test_a_fixtures_subfolder_stays_below_its_folder(tmp_path: Path) -> None:
    (save_tiny(tmp_path / "m").parent / "fixtures" / "org").mkdir(parents=True)
    assert _kind("org", subfolder="../../m", fixtures=tmp_path / "fixtures") == "BadName"


ABSENT: dict[str, tuple[str, dict[str, Any], str]] = {
    "no such path": ("./nowhere", {}, "NoSuchFolder"),
    "no such absolute path": ("/nowhere/at/all", {}, "NoSuchFolder"),
    "no such path at home": ("~/nowhere", {}, "NoSuchFolder"),
    "no such user": ("~nobody-of-that-name/m", {}, "NoSuchFolder"),
    "a file": ("./file", {}, "NoSuchFolder"),
    "no such config": ("./nowhere.json", {}, "NoConfig"),
    "no name": ("", {}, "BadName"),
    "a path of Windows": ("a\\b", {}, "NoSuchFolder"),
    "NUL": ("./a\0b", {}, "NoSuchFolder"),
    "a path too long": ("./" + "a" * 5000, {}, "NoSuchFolder"),
    "a name too long": ("a" * 5000, {"offline": True}, "BadName"),
    "an empty folder": ("./empty", {}, "NoConfig"),
    "no such subfolder": ("./empty", {"subfolder": "x"}, "NoSuchFolder"),
    "no such fixture": ("nowhere", {"fixtures": Path("empty")}, "NoSuchFolder"),
    "no such folder of fixtures": ("empty", {"fixtures": Path("nowhere")}, "NoSuchFolder"),
    "a fixture without a config": ("empty", {"fixtures": Path(".")}, "NoConfig"),
    "a fixture's name too long": ("a" * 5000, {"fixtures": Path("empty")}, "NoSuchFolder"),
    "control characters": ("./\x1b[31m\n\ud800", {}, "NoSuchFolder"),
}


@pytest.mark.parametrize(("model", "where", "kind"), ABSENT.values(), ids=ABSENT)
def test_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, where: dict[str, Any], kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    assert _kind(model, **where) == kind


@pytest.mark.parametrize(
    ("name", "said"),
    [("adapter_config.json", "adapter"), ("params.json", "own layout")],
)
def test_a_folder_without_a_config_says_what_it_has_instead(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(FetchError, match=said):
        fetch(Request(str(tmp_path)))


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(CAPS[path.name] + 1)


IN_ITS_PLACE: dict[str, Callable[[Path], None]] = {
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "more than is read": _sparse,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a device that waits": lambda path: path.symlink_to("/dev/tty"),
    "a file that cannot be read": lambda path: path.symlink_to("/proc/self/mem"),
}


@pytest.mark.parametrize("name", [CONFIG, INDEX])
@pytest.mark.parametrize("put", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE)
def test_what_cannot_be_read(tmp_path: Path, put: Callable[[Path], None], name: str) -> None:
    save_tiny(tmp_path / "m")
    (tmp_path / "m" / name).unlink()
    put(tmp_path / "m" / name)
    assert _kind(str(tmp_path / "m")) == "UnreadableFile"
    assert _kind("m", fixtures=tmp_path) == "UnreadableFile"


@pytest.mark.parametrize("put", IN_ITS_PLACE.values(), ids=IN_ITS_PLACE)
def test_a_recording_that_cannot_be_read(tmp_path: Path, put: Callable[[Path], None]) -> None:
    save_tiny(tmp_path / "m")
    put(tmp_path / "m" / HEADERS)
    assert _kind("m", fixtures=tmp_path) == "UnreadableFile"


NO_SHARDS = {what: put for what, put in IN_ITS_PLACE.items() if what != "more than is read"}


@pytest.mark.parametrize("put", NO_SHARDS.values(), ids=NO_SHARDS)
def test_a_shard_that_cannot_be_read(tmp_path: Path, put: Callable[[Path], None]) -> None:
    listed = index(TINY["llama"])
    save(tmp_path, raw(TINY["llama"]), raw(listed))
    (name,) = set(listed["weight_map"].values())
    put(tmp_path / name)
    put(tmp_path / "beside.safetensors")
    report = hfcount.verify(str(tmp_path), depth="headers")
    too_small = (tmp_path / name).is_file()
    assert report.verdict == ("mismatch" if too_small else "unverified")
    assert report.error is not None
    assert report.error.kind == "UnreadableFile"
    assert report.error is not None
    assert name in report.error.message


def test_what_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_tiny(tmp_path)

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    for call in ("open", "scandir"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refuse)
            with pytest.raises(FetchError, match="cannot be read: Permission denied") as raised:
                fetch(Request(str(tmp_path)))
            assert raised.value.kind == "UnreadableFile"


@pytest.mark.parametrize("model", ["a\0b/config.json", "./a\0b", "./" + "a" * 5_000 + "/config.json"], ids=ascii)
def test_a_path_that_can_be_none(model: str) -> None:
    assert _kind(model) in ("UnreadableFile", "NoSuchFolder")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 500])
def test_broken_shards_are_one_finding(tmp_path: Path, count: int) -> None:
    save(tmp_path, raw(TINY["llama"]))
    for number in range(count):
        (tmp_path / f"model-{number:03}.safetensors").write_bytes(b"short")
    report = hfcount.verify(str(tmp_path), depth="headers")
    (broken,) = (finding for finding in report.findings if finding.code == "HF003")
    assert broken.file == "model-000.safetensors"
    assert broken.message.startswith("model-000.safetensors has 5 bytes, and a header's length alone takes 8.")
    assert (f" {count:,} files are broken: model-000.safetensors" in broken.message) == (count > 1)
    assert broken.message.count(".safetensors") == (1 if count == 1 else 1 + min(count, 3))
    assert (f" and {count - 3:,} more" in broken.message) == (count > 3)
    assert len(report.replace(loaders=()).to_json()) < 3_200


def test_as_much_as_is_read_is_read(tmp_path: Path) -> None:
    text = raw(TINY["llama"])
    save(tmp_path, text + b" " * (CAPS[CONFIG] - len(text)))
    assert hfcount.verify(str(tmp_path), depth="config").parameters is not None


def test_a_dangling_link_is_no_file(tmp_path: Path) -> None:
    (tmp_path / CONFIG).symlink_to("nowhere")
    assert _kind(str(tmp_path)) == "NoConfig"


def test_all_fixtures_are_found_at_any_depth_in_order(tmp_path: Path) -> None:
    for model in ("b/c", "a", "a/deeper", "b/a"):
        save_tiny(tmp_path / model)
    (tmp_path / "empty").mkdir()
    assert all_fixtures(tmp_path) == ["a", "a/deeper", "b/a", "b/c"]


@pytest.mark.parametrize(("folder", "kind"), [("nowhere", "NoSuchFolder"), ("empty", "NoConfig")])
def test_no_fixtures(tmp_path: Path, folder: str, kind: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FetchError) as raised:
        all_fixtures(tmp_path / folder)
    assert raised.value.kind == kind


def _cached(home: Path, revision: str = "main", commit: str = COMMIT, weights: bool = True) -> None:
    """org/name in the layout of the standard cache."""
    repo = home / "models--org--name"
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(TINY["llama"]).tensors()}
    documents = {CONFIG: raw(TINY["llama"]), INDEX: raw(index(TINY["llama"]))}
    if weights:
        documents["model-00001-of-00001.safetensors"] = shard(shapes)
    snapshot = repo / "snapshots" / commit
    for folder in (repo / "blobs", snapshot, (repo / "refs" / revision).parent):
        folder.mkdir(parents=True, exist_ok=True)
    for name, content in documents.items():
        (repo / "blobs" / f"etag-{name}").write_bytes(content)
        (snapshot / name).symlink_to(Path("..", "..", "blobs", f"etag-{name}"))
    (repo / "refs" / revision).write_text(commit)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [("main", None), ("main", "main"), ("main", COMMIT), ("v1", "v1"), ("refs/pr/1", "refs/pr/1")],
)
def test_the_cache_offline(cache: Path, recorded: str, asked: str | None) -> None:
    _cached(cache, recorded)
    documents = fetch(Request("org/name", revision=asked, offline=True))
    assert (documents.source, documents.revision, documents.config.raw) == ("cache", COMMIT, raw(TINY["llama"]))
    assert hfcount.verify("org/name", revision=asked, offline=True).verdict == "verified"


@pytest.mark.parametrize("depth", ["auto", "index", "headers"])
def test_what_is_not_cached_may_be_there_and_is_not_verified(cache: Path, depth: AskedDepth) -> None:
    _cached(cache, weights=False)
    report = hfcount.verify("org/name", offline=True, depth=depth)
    assert (report.verdict, report.findings, report.exit_code) == ("unverified", (), 3)
    assert report.error is not None
    assert "1 of the 1 weight file of org/name@0123456 are not in the cache" in report.error.message


def test_what_is_cached_is_replayed_as_it_was_judged(cache: Path, tmp_path: Path) -> None:
    _cached(cache, weights=False)
    first = inspect(Request("org/name", offline=True), Options(save=tmp_path / "saved"))
    again = hfcount.verify("org/name", fixtures=tmp_path / "saved")
    assert (first.verdict, again.verdict) == ("unverified", "unverified")


@pytest.mark.parametrize(
    ("model", "revision", "kind"),
    [
        ("org/other", None, "NotCached"),
        ("name", None, "NotCached"),
        ("org/name", "v2", "NotCached"),
        ("org/name", "f" * 40, "NotCached"),
        ("org/name", COMMIT[:7], "NotCached"),
        ("org/name", "../refs/main", "NotCached"),
        ("org/name", "/etc/hostname", "NotCached"),
        ("org/name", "a\0b", "NotCached"),
        ("org/name", "", "NotCached"),
        ("org/name/more", None, "BadName"),
        ("org/..", None, "BadName"),
        ("org name", None, "BadName"),
        ("org/na\0me", None, "BadName"),
        ("org/name\n", None, "BadName"),
    ],
    ids=ascii,
)
def test_what_is_not_in_the_cache(cache: Path, model: str, revision: str | None, kind: str) -> None:
    _cached(cache, "v1")
    assert _kind(model, revision=revision, offline=True) == kind


@pytest.mark.parametrize("commit", ["", "../../..", "main", "g" * 40, "\ufeff" + COMMIT])
def test_a_broken_reference_is_not_cached(cache: Path, commit: str) -> None:
    _cached(cache)
    (cache / "models--org--name" / "refs" / "main").write_text(commit, encoding="utf-8")
    assert _kind("org/name", offline=True) == "NotCached"


def test_where_headers_cost_nothing_they_are_read(tmp_path: Path) -> None:
    report = hfcount.verify(str(save_tiny(tmp_path)))
    assert (report.depth, report.verdict) == ("headers", "verified")


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            ("zero_to_fp32.py",),
            "only DeepSpeed's own checkpoint (zero_to_fp32.py): `python zero_to_fp32.py . .` gathers",
        ),
        (("global_step9/mp_rank_00_model_states.pt",), "(global_step9/mp_rank_00_model_states.pt)"),
        (("model_0/.metadata", "model_0/__0_0.distcp"), "`accelerate merge-weights` gathers it"),
        (("last/config.json", "last/model.safetensors"), "but last has: name that folder, or --subfolder"),
        (("last/model.safetensors",), "nothing to compare its config with"),
    ],
)
def test_weights_that_are_elsewhere(names: tuple[str, ...], says: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "model", TINY["llama"])
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"{}")
    report = hfcount.verify(str(folder))
    assert (report.verdict, report.error is not None and says in report.error.message) == ("unverified", True)


@pytest.mark.parametrize("name", [MODULES, MODEL_INDEX, "router_config.json", ".gitignore", HEADERS])
@pytest.mark.parametrize("put", [put for put in IN_ITS_PLACE.values() if put is not _sparse])
def test_a_walk_opens_regular_files_alone(tmp_path: Path, put: Callable[[Path], None], name: str) -> None:
    (tmp_path / ".git").mkdir()
    save_tiny(tmp_path / "a" / "b")
    put(tmp_path / "a" / name)
    assert str(tmp_path / "a" / "b") in list(checkpoints(tmp_path))
