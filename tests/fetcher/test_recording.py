"""Recording what was read: a replay says the same, and no file is ever half of one."""

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from build import COMMIT, TINY, config, index, raw, record_tiny, save, shard

import hfcount
from hfcount import Report
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.errors import FetchError
from hfcount.fetcher import Request

CONFIG, INDEX, HEADERS = "config.json", "model.safetensors.index.json", "headers.json"


def _record(model: str, to: Path, fixtures: Path | None = None) -> Report:
    return inspect(Request(model, fixtures=fixtures), Options(save=to))


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _bare(folder: Path) -> None:
    record_tiny(folder)


def _without_index(folder: Path) -> None:
    save(folder, TINY["llama"])


def _mismatch(folder: Path) -> None:
    save(folder, config("llama", num_hidden_layers=4), index(TINY["llama"]))


def _malformed(folder: Path) -> None:
    save(folder, b'{"a": 1, "a": 2}', b"\xff\xfe")


def _recorded(folder: Path) -> None:
    record_tiny(folder)
    (folder / HEADERS).write_text(json.dumps({"revision": COMMIT}))


def _weights(folder: Path) -> None:
    record_tiny(folder)
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(TINY["llama"]).tensors()}
    (folder / "model-00001-of-00001.safetensors").write_bytes(shard(shapes))


def _truncated(folder: Path) -> None:
    _weights(folder)
    weights = folder / "model-00001-of-00001.safetensors"
    weights.write_bytes(weights.read_bytes()[:-2])


@pytest.mark.parametrize(
    "make",
    [_bare, _without_index, _mismatch, _malformed, _recorded, _weights, _truncated],
    ids=lambda make: make.__name__,
)
def test_a_replay_says_the_same(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "org" / "name")
    first = _record("org/name", tmp_path / "saved", tmp_path)
    again = _record("org/name", tmp_path / "twice", tmp_path / "saved")
    assert first == again
    assert _files(tmp_path / "saved" / "org" / "name") == _files(tmp_path / "twice" / "org" / "name")


def test_the_documents_are_recorded_byte_for_byte(tmp_path: Path) -> None:
    documents = {CONFIG: b" " + raw(TINY["llama"]) + b"\r\n", INDEX: raw(index(TINY["llama"])) + b"\n\n"}
    save(tmp_path / "org" / "name", documents[CONFIG], documents[INDEX])
    _record("org/name", tmp_path / "saved", tmp_path)
    recorded = _files(tmp_path / "saved" / "org" / "name")
    assert json.loads(recorded.pop(HEADERS)) == {"revision": None}
    assert recorded == documents


def test_a_local_folder_is_recorded_under_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_tiny(tmp_path / "models" / "mine")
    monkeypatch.chdir(tmp_path / "models" / "mine")
    _record(".", tmp_path / "saved")
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["mine"]


def test_a_recording_may_be_read_by_others(tmp_path: Path) -> None:
    _record("m", tmp_path / "saved", record_tiny(tmp_path / "m").parent)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "saved" / "m").iterdir()} == {0o644}


def test_an_unknown_architecture_is_recorded_all_the_same(tmp_path: Path) -> None:
    save(tmp_path / "m", config("llama", model_type="unheard-of"))
    with pytest.raises(hfcount.UnknownArchitecture):
        _record("m", tmp_path / "saved", tmp_path)
    assert (tmp_path / "saved" / "m" / CONFIG).exists()


def _not_saved(tmp_path: Path) -> str:
    with pytest.raises(FetchError) as raised:
        _record("m", tmp_path / "saved", tmp_path)
    assert raised.value.kind == "NotSaved"
    return str(raised.value)


def test_an_earlier_recording_of_other_files_is_not_mixed_with_this_one(tmp_path: Path) -> None:
    record_tiny(tmp_path / "saved" / "m", "qwen2")
    before = _files(tmp_path / "saved" / "m")
    save(tmp_path / "m", TINY["llama"])
    assert INDEX in _not_saved(tmp_path)
    assert _files(tmp_path / "saved" / "m") == before


def test_recording_again_replaces_what_is_of_the_same_kind(tmp_path: Path) -> None:
    record_tiny(tmp_path / "m", "qwen2")
    _record("m", tmp_path / "saved", tmp_path)
    record_tiny(tmp_path / "m")
    _record("m", tmp_path / "saved", tmp_path)
    assert (tmp_path / "saved" / "m" / CONFIG).read_bytes() == raw(TINY["llama"])


def test_an_earlier_file_is_replaced_and_not_written_over(tmp_path: Path) -> None:
    record_tiny(tmp_path / "saved" / "m", "qwen2")
    (tmp_path / "reader").hardlink_to(tmp_path / "saved" / "m" / CONFIG)
    _record("m", tmp_path / "saved", record_tiny(tmp_path / "m").parent)
    assert (tmp_path / "reader").read_bytes() == raw(TINY["qwen2"])


@contextmanager
def _full_disk(after: int) -> Iterator[None]:
    """No file grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (after, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("after", [0, 100, 1000], ids=["at-once", "in-the-config", "in-the-index"])
def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, after: int) -> None:
    record_tiny(tmp_path / "m")
    whole = _files(tmp_path / "m")
    with _full_disk(after):
        message = _not_saved(tmp_path)
    assert "cannot record" in message
    left = _files(tmp_path / "saved" / "m")
    assert {name: content for name, content in whole.items() if name in left} == left


@pytest.mark.parametrize("after", [0, 100, 1000], ids=["at-once", "in-the-config", "in-the-index"])
def test_a_full_disk_leaves_each_file_of_an_earlier_recording_whole(tmp_path: Path, after: int) -> None:
    record_tiny(tmp_path / "saved" / "m", "qwen2")
    earlier = _files(tmp_path / "saved" / "m")
    record_tiny(tmp_path / "m")
    later = _files(tmp_path / "m")
    with _full_disk(after):
        _not_saved(tmp_path)
    left = _files(tmp_path / "saved" / "m")
    assert left.keys() == earlier.keys()
    assert [name for name in left if left[name] not in (earlier[name], later[name])] == []


@pytest.mark.parametrize("name", [CONFIG, HEADERS])
def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path, name: str) -> None:
    record_tiny(tmp_path / "m")
    (tmp_path / "saved" / "m" / name).mkdir(parents=True)
    assert "cannot record" in _not_saved(tmp_path)
    assert [path for path in (tmp_path / "saved" / "m").iterdir() if path.name.startswith(".")] == []


def test_a_file_in_the_place_of_the_folder_is_said(tmp_path: Path) -> None:
    record_tiny(tmp_path / "m")
    (tmp_path / "saved").touch()
    assert "cannot record" in _not_saved(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"revision": 5}', '{"files": []}', '{"files": {"a": 1}}', "{"])
def test_a_recording_that_is_none_is_unreadable(tmp_path: Path, content: str) -> None:
    record_tiny(tmp_path / "m")
    (tmp_path / "m" / HEADERS).write_text(content)
    with pytest.raises(FetchError) as raised:
        hfcount.verify("m", fixtures=tmp_path)
    assert raised.value.kind == "UnreadableFile"


@pytest.mark.parametrize(
    "file",
    [
        {"bytes": None, "header": []},
        {"bytes": None, "header": 5},
        {"bytes": -1, "header": {}},
        {"bytes": 10**30, "header": {}, "length": -8},
        {"bytes": 8, "header": {}, "length": "8"},
        {"bytes": None, "header": {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}},
        {"bytes": None, "header": {"a": {"dtype": "F32", "shape": [10**30], "data_offsets": [0, 4]}}},
        {"bytes": None},
        {},
    ],
    ids=lambda file: json.dumps(file)[:60],
)
def test_a_recorded_header_is_trusted_no_more_than_a_published_one(tmp_path: Path, file: dict[str, object]) -> None:
    record_tiny(tmp_path / "m")
    content = {"revision": None, "files": {"model-00001-of-00001.safetensors": file}}
    (tmp_path / "m" / HEADERS).write_text(json.dumps(content))
    assert hfcount.verify("m", fixtures=tmp_path).verdict == "mismatch"
