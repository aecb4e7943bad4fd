"""The whole way of a run, from MODEL to the report, over HTTP answers that are made up: no server, no socket."""

import json
import re
from pathlib import Path
from typing import Literal

import pytest
import responses
from build import COMMIT, config, index, shard
from requests import PreparedRequest

import hfcount

HUB = "http://127.0.0.1:9"  # what the tests' environment names; no request reaches it
MODEL = "org/tiny"
VALUES = config("qwen3")
SHARD = shard({one.name: one.shape for one in hfcount.blueprint(VALUES).tensors()})
FILE = "model-00001-of-00001.safetensors"
FILES = {
    "config.json": json.dumps(VALUES).encode(),
    "model.safetensors.index.json": json.dumps(index(VALUES)).encode(),
    FILE: SHARD,
}


def _file(request: PreparedRequest) -> tuple[int, dict[str, str], bytes]:
    body = FILES[str(request.url).rpartition("/")[2]]
    asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
    if not asked:
        return 200, {"X-Repo-Commit": COMMIT}, body
    begin, end = int(asked[1]), min(int(asked[2]) + 1, len(body))
    return 206, {"Content-Range": f"bytes {begin}-{end - 1}/{len(body)}"}, body[begin:end]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> responses.RequestsMock:
    """A Hub of one repo; what is kept of it goes to a folder of the test."""
    from huggingface_hub.utils import _cache_assets

    monkeypatch.setattr(_cache_assets, "HF_ASSETS_CACHE", str(tmp_path))
    siblings = [{"rfilename": name, "size": len(body)} for name, body in FILES.items()]
    mocked = responses.RequestsMock()
    mocked.get(f"{HUB}/api/models/{MODEL}/revision/main", json={"sha": COMMIT, "siblings": siblings})
    mocked.add_callback(responses.GET, re.compile(f"{HUB}/{MODEL}/resolve/(main|{COMMIT})/.*"), _file)
    return mocked


@pytest.mark.parametrize(("depth", "requests"), [("index", 3), ("headers", 4)])
def test_a_repo_is_verified(hub: responses.RequestsMock, depth: Literal["index", "headers"], requests: int) -> None:
    with hub:
        first = hfcount.verify(MODEL, depth=depth)
        assert (first.verdict, first.source, first.depth, first.revision) == ("verified", "hub", depth, COMMIT)
        assert len(hub.calls) == requests
        assert hfcount.verify(MODEL, depth=depth) == first
        assert len(hub.calls) == requests + 1


def test_what_was_kept_serves_without_a_network(hub: responses.RequestsMock) -> None:
    with hub:
        online = hfcount.verify(MODEL, depth="headers")
    offline = hfcount.verify(MODEL, depth="headers", offline=True)
    assert json.loads(offline.to_json()) == json.loads(online.to_json()) | {"source": "cache"}


def test_nothing_is_kept_where_that_is_not_wanted(hub: responses.RequestsMock, tmp_path: Path) -> None:
    with hub:
        assert hfcount.verify(MODEL, cache=False).verdict == "verified"
    assert list(tmp_path.rglob("*.json")) == []
