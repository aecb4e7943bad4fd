"""Sweeps of a Hub: listings in pages, within its quota, of repos that change and vanish."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from build import TINY
from loopback import write_checkpoint
from manyhub import Hub, Window

from hfcount.fetcher.meter import Limit, Meter, OverQuota, limit
from hfcount.sweeping.parts import read
from hfcount.sweeping.quota import Budget

COUNT = 60
_API, _FILES, _WINDOW = 12, 64, 4.0


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What repos hold: one file, several with an index, pickled weights, a type that nobody knows, no config."""
    root = tmp_path_factory.mktemp("repos")
    write_checkpoint(root / "a", TINY["llama"], shards=1)
    write_checkpoint(root / "b", TINY["qwen3"], shards=3)
    unknown = TINY["mistral"] | {"model_type": "nobody", "architectures": ["Nobody"]}
    write_checkpoint(root / "d", TINY["mistral"], shards=1)
    (root / "d" / "config.json").write_text(json.dumps(unknown))
    for name, files in (("c", ["config.json", "flax_model.msgpack"]), ("e", ["model.safetensors"])):
        (root / name).mkdir()
        for file in files:
            (root / name / file).write_text(json.dumps(TINY["llama"]))
    return sorted(root.iterdir())


@dataclass
class Loopback:
    """A Hub, and a sweep of it into a folder."""

    hub: Hub
    server: ThreadingHTTPServer
    out: Path

    def sweep(self, *args: str, code: int = 0) -> str:
        """What a sweep says at its end."""
        there = f"http://127.0.0.1:{self.server.server_port}"
        environment = os.environ | {"HF_ENDPOINT": there, "HF_HOME": str(self.out.parent / "home")}
        line = [sys.executable, "-m", "hfcount", "sweep", str(self.out), "--workers", "1", *args]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == code, done.stderr
        return done.stderr if code else done.stdout

    @property
    def rows(self) -> dict[str, tuple[str, str | None]]:
        """Verdict and reason by the repo's name."""
        return {row["model"].partition("/")[2]: (row["verdict"], row["reason"]) for row in read(self.out)}


@pytest.fixture
def many(folders: Sequence[Path], tmp_path: Path) -> Iterator[Loopback]:
    hub = Hub([*folders], COUNT, Window("api", _API, _WINDOW), Window("resolvers", _FILES, _WINDOW), page=17)
    server = hub.serve()
    yield Loopback(hub, server, tmp_path / "out")
    server.shutdown()
    server.server_close()


_WANTED = [
    ("verified", None),
    ("verified", None),
    ("skipped", "NoSafetensors"),
    ("skipped", "UnknownArchitecture"),
    ("skipped", "NoConfig"),
]


def test_a_hub_is_swept_within_its_quota_and_a_second_time_asked_for_changes_alone(
    many: Loopback, folders: Sequence[Path]
) -> None:
    log = many.out.with_name("log")
    said = many.sweep("--hub", "--workers", "2", "--log", str(log))
    assert f"{COUNT} rows written" in said
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert ("wait", "api") in {(one["event"], one.get("kind")) for one in told}
    assert many.rows == {f"m{number:05}": _WANTED[number % 5] for number in range(COUNT)}
    sharded = COUNT // 5
    pages = -(-COUNT // 17)
    assert many.hub.told() == {
        "api": [pages + sharded, many.hub.api.most, 0],
        "files": [2 * 2 * sharded, many.hub.files.most, 0],
        "configs": 1,
    }
    assert many.hub.api.most <= _API
    assert many.hub.files.most <= _FILES

    many.hub.push("org/m00000", folders[1], 1, 0)
    many.hub.push("org/new", folders[0], 1, 1)
    many.hub.gone.add("org/m00001")
    before = many.hub.api.made, many.hub.files.made
    assert "2 rows written" in many.sweep("--hub")
    assert (many.hub.api.made - before[0], many.hub.files.made - before[1]) == (2, 4)  # a page, and sizes of an index
    assert many.rows["new"] == ("verified", None)
    assert "0 rows written" in many.sweep("--hub")


@pytest.mark.long
def test_a_repo_that_vanishes_after_it_was_listed_is_a_row(many: Loopback) -> None:
    class Gone(set[str]):
        def __contains__(self, name: object) -> bool:  # to whoever asks for the repo itself
            return name in ("org/m00000", "org/m00001")

        def __rsub__(self, names: object) -> object:
            return names

    many.hub.gone = Gone()
    many.sweep("--hub")
    found = many.rows
    assert (found["m00000"], found["m00001"]) == (("unverified", "NoSuchRepo"), ("unverified", "NoSuchRepo"))
    assert len(found) == COUNT
    assert found["m00005"] == ("verified", None)


@pytest.mark.long
def test_somebody_else_spends_of_the_same_quota(many: Loopback) -> None:
    many.hub.files.stolen = 30
    many.sweep("--hub", "--limit", "20")
    assert len(many.rows) == 20
    assert {verdict for verdict, _ in many.rows.values()} == {"verified", "skipped"}


@pytest.mark.long
def test_repos_by_name_are_asked_for_their_commit_alone_the_second_time(many: Loopback) -> None:
    names = ["org/m00000", "org/m00001", "org/none"]
    many.sweep(*names)
    assert many.rows == {"m00000": _WANTED[0], "m00001": _WANTED[1], "none": ("unverified", "NoSuchRepo")}
    files = many.hub.files.made
    assert "0 rows written" in many.sweep(*names)
    assert many.hub.files.made == files


@pytest.mark.long
def test_what_has_a_row_is_not_asked_for_again_in_another_listing(many: Loopback) -> None:
    many.sweep("--hub", "--limit", "30")
    api, files = many.hub.api.made, many.hub.files.made
    assert "0 rows written" in many.sweep("--hub", "--limit", "30", "--sort", "downloads")
    assert (many.hub.api.made - api, many.hub.files.made - files) == (2, 0)


@pytest.mark.long
def test_a_dry_run_lists_what_an_author_has_and_asks_for_nothing_else(many: Loopback) -> None:
    said = many.sweep("--author", "org", "--dry-run", "--tier", "free").splitlines()
    assert said[:2] == [f"{COUNT} checkpoints, {2 * COUNT // 5} to look at", "requests: 13 of the API, 48 of files"]
    assert (many.hub.api.made, many.hub.files.made) == (4, 0)
    many.sweep("--author", "org")
    assert (many.hub.api.made, many.hub.files.made) == (4 + 4 + 12, 48)


@pytest.mark.long
def test_shards_of_a_hub_ask_for_no_repo_twice(many: Loopback) -> None:
    rows = [many.sweep("--hub", "--shard", f"{number}/3") for number in (2, 3, 1)]
    assert sum(int(said.partition(": ")[2].split()[0]) for said in rows) == COUNT
    assert many.rows == {f"m{number:05}": _WANTED[number % 5] for number in range(COUNT)}
    assert many.hub.told()["configs"] == 1
    assert many.hub.api.made == 3 * -(-COUNT // 17) + COUNT // 5


def test_an_endpoint_that_lists_nothing_ends_the_sweep(many: Loopback) -> None:
    assert "Error: " in many.sweep("--collection", "org/none", code=3)


# The books


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def _limit(left: int, reset: float, quota: int | None = 100) -> Limit:
    return Limit("api", left, reset, quota, 300.0)


def test_one_answer_tells_what_the_others_may_do() -> None:
    budget = Budget(Clock())
    assert budget.lease(10) == 0
    assert budget.lease(10) > 0
    budget.settle(10, 4, [_limit(96, 1_200)])
    assert [budget.lease(40), budget.lease(40), budget.lease(40) > 0] == [0, 0, True]
    budget.settle(40, 10, [_limit(86, 1_200)])
    assert [budget.lease(40), budget.lease(7) > 0] == [0, True]


def test_a_new_window_has_the_whole_quota_but_for_what_is_under_way() -> None:
    clock = Clock()
    budget = Budget(clock)
    budget.lease(1)
    budget.settle(1, 1, [_limit(5, 1_200)])
    assert [budget.lease(5), budget.lease(1) > 0] == [0, True]
    clock.now = 1_202.0
    assert [budget.lease(95), budget.lease(1) > 0] == [0, True]


def test_a_repo_of_more_files_than_the_quota_waits_for_a_whole_window() -> None:
    clock = Clock()
    budget = Budget(clock)
    budget.lease(1)
    budget.settle(1, 1, [_limit(99, 1_200)])
    assert budget.lease(500) == pytest.approx(201)
    clock.now = 1_202.0
    assert budget.lease(500) == 0


def test_what_is_refused_waits_and_others_with_it() -> None:
    clock = Clock()
    budget = Budget(clock)
    budget.lease(1)
    budget.settle(1, 1, [], wait=30)
    assert budget.lease(1) == pytest.approx(31)
    clock.now += 31
    assert [budget.lease(1), budget.lease(1_000)] == [0, 0]  # nobody has said how many


def test_a_meter_ends_a_run_that_asks_too_much() -> None:
    meter = Meter(1)
    meter.spend()
    with pytest.raises(OverQuota):
        meter.spend()
    with pytest.raises(OverQuota) as raised:
        meter.hear(429, {"RateLimit": '"api";r=0;t=7', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'})
    assert (raised.value.wait, meter.heard["api"].left, meter.heard["api"].quota) == (8, 0, 500)
    assert limit({}) is None
