"""What runs keep: whole or not at all, within bounds, believed only while it is what was written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run
from loopback import Hub, write_checkpoint
from test_hub import CONFIG, MODEL

from hfcount.errors import FetchError
from hfcount.fetcher import Request, evidence_cache, fetch, finish

COMMITS = [digit * 40 for digit in "abcdef"]


def _kept(folder: Path) -> list[Path]:
    """The files of all commits."""
    return sorted(
        path for path in (folder / "home" / "assets" / "hfcount").glob("*/*/*/*") if path.parent.name != "refs"
    )


@pytest.mark.parametrize("name", ["config.json", "headers.json", "model.safetensors.index.json", "checksums.json"])
@pytest.mark.parametrize(
    "how", ["cut", "gone", *(pytest.param(how, marks=pytest.mark.long) for how in ("changed", "a folder"))]
)
def test_what_is_damaged_is_read_again(hub: Hub, run: Run, tmp_path: Path, name: str, how: str) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    first = run(MODEL, "--depth", "headers").report
    (path,) = (path for path in _kept(tmp_path) if path.name == name)
    raw = path.read_bytes()
    path.unlink()
    if how == "cut":
        path.write_bytes(raw[:-20])
    elif how == "changed":  # as well-formed as before
        assert b"1" in raw
        path.write_bytes(raw.replace(b"1", b"2", 1))
    elif how == "a folder":
        path.mkdir()
    hub.requests.clear()
    second = run(MODEL, "--depth", "headers")
    assert (second.report, second.err) == (first, "")
    assert len(hub.requests) == 2 + 3
    if how != "a folder":
        hub.requests.clear()
        assert run(MODEL, "--depth", "headers").report == first
        assert len(hub.requests) == 1


@pytest.mark.parametrize("home", ["a file", "no folder that can be"])
def test_a_home_that_cannot_be_written_is_no_error(hub: Hub, run: Run, tmp_path: Path, home: str) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    (tmp_path / "file").write_text("")
    place = {"HF_HOME": str(tmp_path / "file") if home == "a file" else "/proc/nowhere"}
    result = run(MODEL, env=place)
    assert (result.code, result.report["verdict"], result.err) == (0, "verified", "")


@pytest.mark.long
def test_two_runs_at_once_keep_one_whole(hub: Hub, tmp_path: Path) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    home = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "hfcount", MODEL, "--depth", depth, "--format", "json"],
            env=os.environ | home,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for depth in ("index", "headers", "headers", "index")
    ]
    printed = [one.communicate(timeout=600)[0] for one in runs]
    assert [json.loads(text)["verdict"] for text in printed] == ["verified"] * 4
    names = {"checksums.json", "config.json", "headers.json", "model.safetensors.index.json"}
    assert {path.name for path in _kept(tmp_path)} == names


TOGETHER = """
from pathlib import Path
from threading import Barrier, Thread
from hfcount.fetcher import Request, evidence_cache
from hfcount.fetcher.folder import FolderShards
from hfcount.fetcher.interface import Documents
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Shard, parse_header

request, commit, barrier = Request("org/m"), "a" * 40, Barrier(8)
header = parse_header("x", b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}')
documents = Documents("org/m", "hub", commit, Document("config.json", b"{}"), None, FolderShards(Path("."), []))

def keep(number):
    barrier.wait()
    for turn in range(4):
        evidence_cache.keep(request, "https://hub", documents, {f"{number}-{turn}": Shard("x", 80, header)}, {})

threads = [Thread(target=keep, args=(number,)) for number in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(evidence_cache.load(request, "https://hub", commit).files))
"""


def test_what_runs_keep_at_the_same_moment_is_all_kept(tmp_path: Path) -> None:
    """Whoever writes last has read what the others wrote."""
    pytest.importorskip("fcntl", reason="folders cannot be held here")
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER],
        env=os.environ | {"HF_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("32\n", "")


def _keep(folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch, commits: list[str]) -> list[str]:
    """Reads a checkpoint as if it were each of the commits in turn; those that are kept at the end."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    monkeypatch.setattr(evidence_cache, "_root", lambda: folder / "home" / "assets" / "hfcount")
    tiny = write_checkpoint(folder / "tiny", CONFIG)
    for age, commit in enumerate(commits):
        hub.publish(MODEL, tiny)
        hub.repos[MODEL].commits = {commit: tiny}
        hub.repos[MODEL].refs = {"main": [commit]}
        request = Request(MODEL)
        documents = fetch(request)
        finish(request, documents, None)
        for path in _kept(folder):
            if path.parent.name == commit:
                os.utime(path.parent, (age, age))
    return sorted({path.parent.name for path in _kept(folder)})


def test_the_oldest_commits_go_when_there_is_too_much(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _keep(tmp_path / "one", hub, monkeypatch, COMMITS[:1]) == COMMITS[:1]
    size = sum(path.stat().st_size for path in _kept(tmp_path / "one"))
    monkeypatch.setattr(evidence_cache, "MOST", 3 * size)
    assert _keep(tmp_path / "all", hub, monkeypatch, COMMITS) == COMMITS[-3:]
    assert len(_kept(tmp_path / "all")) == 3 * len(_kept(tmp_path / "one"))


def test_what_was_used_last_stays(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _keep(tmp_path, hub, monkeypatch, COMMITS[:2]) == COMMITS[:2]
    monkeypatch.setattr(evidence_cache, "MOST", sum(path.stat().st_size for path in _kept(tmp_path)))
    assert evidence_cache.load(Request(MODEL), hub.url, COMMITS[0]) is not None
    commits = _keep(tmp_path, hub, monkeypatch, COMMITS[2:3])
    assert commits == [COMMITS[0], COMMITS[2]]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://me:SECRET@{host}",
        "http://me:SEC@RET@{host}",
        "http://SECRET@{host}",
        "me:SECRET@{host}",
        "ftp://me:SECRET@{host}",
        "http://me:SECRET@{host}:99999",
        "http://{host}?key=SECRET",
        "http://{host}#SECRET",
    ],
)
@pytest.mark.parametrize("model", [MODEL, "org/absent", "org/broken"])
def test_secrets_of_the_endpoint_are_never_shown(hub: Hub, run: Run, tmp_path: Path, endpoint: str, model: str) -> None:
    for name in (MODEL, "org/broken"):
        hub.publish(name, write_checkpoint(tmp_path / name, CONFIG))
    (tmp_path / "org/broken/model-00001-of-00002.safetensors").unlink()
    given = endpoint.format(host=hub.url.partition("//")[2])
    result = run(model, "--depth", "headers", endpoint=given, env={"HF_DEBUG": "1"})
    printed = result.out + result.err
    assert [word for word in ("SECRET", "SEC@", "RET@") if word in printed] == []
    assert "Traceback" not in result.err
    assert [path for path in (tmp_path / "home").rglob("*") if "SEC" in str(path) or "RET" in str(path)] == []
    for path in (tmp_path / "home").rglob("*"):
        assert not path.is_file() or b"SECRET" not in path.read_bytes()


@pytest.mark.parametrize(
    ("umask", "mode"), [pytest.param(0o077, 0o600, marks=pytest.mark.long), (0o022, 0o644)], ids=["077", "022"]
)
def test_files_keep_the_umask(hub: Hub, run: Run, tmp_path: Path, umask: int, mode: int) -> None:
    hub.publish(MODEL, write_checkpoint(tmp_path / "tiny", CONFIG))
    before = os.umask(umask)
    try:
        result = run(MODEL, "--save", "saved", "--html", "page.html", "--plot", "sizes.svg", timeout=600)
    finally:
        os.umask(before)
    assert (result.code, result.err) == (0, "")
    written = [path for path in (tmp_path / "here").rglob("*") if path.is_file()] + _kept(tmp_path)
    assert len(written) == 3 + 2 + 4
    assert {path.stat().st_mode & 0o777 for path in written} == {mode}


def test_a_name_of_the_endpoint_that_is_none() -> None:
    assert evidence_cache.load(Request(MODEL), "http://..", COMMITS[0]) is None
    with pytest.raises(FetchError, match="not a valid repo id"):
        fetch(Request("org/../../x", offline=True))
