"""A sweep that goes on: rows of other versions, rows that are replaced, shards, parts that are joined, what is told."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from build import TINY, save_tiny
from paths import ARCHITECTURES, SUPPORT

import hfcount
from hfcount.blueprints.cache import RecentBlueprints
from hfcount.checkpoints.inspect import inspect
from hfcount.checkpoints.inspection import Options
from hfcount.formats.index_cache import RecentIndexes
from hfcount.sweeping.events import Begun, Ended, Kept, Passed, Waits
from hfcount.sweeping.log import COMMON, EVENTS
from hfcount.sweeping.parts import parts, read, read_part, write
from hfcount.sweeping.progress import Progress, lasting
from hfcount.sweeping.retry import PASSING, possible, reasons
from hfcount.sweeping.rows import COLUMNS, Task, encoded, line
from hfcount.sweeping.run import Swept
from hfcount.sweeping.shard import Shard, shard_of
from hfcount.sweeping.sources import tree as tree_of
from hfcount.sweeping.store import ROWS, Store

COUNT, OLD = 12, "0.0.1"
INDEX = "model.safetensors.index.json"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for number in range(COUNT):
        save_tiny(root / f"m{number:02}", [*TINY][number % len(TINY)])
    return root


@pytest.fixture(scope="module")
def whole(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep of all of them, to be copied."""
    out = tmp_path_factory.mktemp("whole") / "out"
    swept(tree, out)
    return out


def swept(source: Any, out: Path, **asked: Any) -> Swept:
    with ThreadPoolExecutor(1) as threads:
        return hfcount.sweep(source, out, executor=threads, **asked)


def on_disk(out: Path) -> list[tuple[str, str, str | None]]:
    """Every row of every part, also one that another has replaced."""
    found = [row for path in parts(out) for row in read_part(path)]
    return sorted((row["model"], row["version"], row["reason"]) for row in found)


def rewritten(whole: Path, out: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of a folder, each of whose rows is changed."""
    shutil.copytree(whole, out)
    for path in parts(out):
        found = [*read_part(path)]
        for row in found:
            change(row)
        with (out / "lines").open("wb+") as lines:
            lines.writelines(map(encoded, found))
            lines.seek(0)
            write(path, lines)
    return out


def lines(names: Sequence[str], **more: Any) -> list[bytes]:
    empty = dict.fromkeys(COLUMNS) | {"version": hfcount.__version__, "findings": [], "not_looked_at": []} | more
    return [encoded(empty | {"model": name}) for name in names]


def command(out: Path, *args: str | Path) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "hfcount", "sweep", str(out), *map(str, args)]
    return subprocess.run(line, capture_output=True, text=True, cwd=out.parent)


# What has a row


def test_rows_of_another_version_are_kept_until_they_are_to_be_looked_at_again(
    tree: Path, whole: Path, tmp_path: Path
) -> None:
    def aged(row: dict[str, Any]) -> None:
        if row["model"] < "m08":
            row["version"] = OLD

    out = rewritten(whole, tmp_path / "out", aged)
    done = swept(tree, out)
    assert (done.written, done.before) == (0, COUNT)
    assert {version for _, version, _ in on_disk(out)} == {OLD, hfcount.__version__}
    said = (out / "README.md").read_text()
    assert f"As hfcount {hfcount.__version__} finds them (8 by {OLD}, 4 by {hfcount.__version__})." in said
    done = swept(tree, out, again=True)
    assert (done.written, done.before, done.digest) == (8, 4, swept(tree, tmp_path / "fresh").digest)
    assert on_disk(out) == on_disk(whole)
    assert swept(tree, out, again=True).written == 0


def test_checkpoints_are_looked_at_again_by_their_reason(tree: Path, whole: Path, tmp_path: Path) -> None:
    given = {"m01": "TimedOut", "m02": "TimedOut", "m03": "WorkerDied", "m04": "NoSafetensors", "elsewhere": "TimedOut"}

    def broken(row: dict[str, Any]) -> None:
        row["model"] = {"m05": "elsewhere"}.get(row["model"], row["model"])
        row["reason"] = given.get(row["model"])

    out = rewritten(whole, tmp_path / "out", broken)
    assert swept(tree, out).written == 1  # m05 alone
    done = swept(tree, out, retry="timedout")
    assert (done.written, done.before) == (2, COUNT - 1)
    left = {model: reason for model, _, reason in on_disk(out) if reason}
    assert left == {name: why for name, why in given.items() if name not in ("m01", "m02")}
    assert swept(tree, out, retry=True).written == 1
    assert swept(tree, out, retry=["NoSafetensors", "Crash"]).written == 1
    assert [one for one in on_disk(out) if one[2]] == [("elsewhere", hfcount.__version__, "TimedOut")]
    assert len(on_disk(out)) == COUNT + 1


def test_a_wrong_reason_is_told_the_nearest_and_those_that_there_are(tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    store.add(lines(["a"], reason="Odd") + lines(["b"], reason="TimedOut") + lines(["c"]))
    store.close()
    for args in (("--retry", "Timeout", "m"), ("--retry=Timeout", "m")):
        done = command(tmp_path / "out", *args)
        assert done.returncode == 2
        assert '"Timeout" is not a reason that rows have. Did you mean TimedOut? The rows have Odd, TimedOut.' in (
            done.stderr
        )
    assert reasons("odd", tmp_path / "out") == {"Odd"}
    assert reasons(["Crash", "GATEDREPO"], tmp_path / "none") == {"Crash", "GatedRepo"}
    assert (reasons(True, tmp_path), reasons(False, tmp_path)) == ({*PASSING}, frozenset())
    done = command(tmp_path / "none", "--retry", "org/name")  # a model, not a reason
    assert (done.returncode, "No row has a reason. Without a reason it goes last" in done.stderr) == (2, True)
    assert not (tmp_path / "none").exists()


def test_reasons_are_those_of_all_errors() -> None:
    assert {"NotCached", "UnknownArchitecture", "ConfigError", "UnmodelledStorage", "OutOfMemory"} <= possible()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_driver_that_dies_while_it_replaces_and_joins_loses_and_doubles_nothing(tmp_path: Path) -> None:
    program = SUPPORT / "stopped.py"
    done = subprocess.run([sys.executable, program, tmp_path], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert (report["wrong"], report["moments"] > 10, len(report["parts"])) == ([], True, 1)


# Parts


@pytest.mark.long
@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ((3_000, 1_500, 2_000), (4_500, 2_000)),
        ((1, 1, ROWS, 1), (2, ROWS, 1)),
        pytest.param((ROWS, 1, 1), (ROWS, 2), marks=pytest.mark.long),  # as above: a full part stays
        pytest.param((4_000, 4_000), (4_000, 4_000), marks=pytest.mark.long),  # as in the first: what fits no part
    ],
)
def test_small_parts_are_joined(sizes: tuple[int, ...], joined: tuple[int, ...], tmp_path: Path) -> None:
    names = iter(f"m{number}" for number in range(sum(sizes)))
    for size in sizes:
        store = Store(tmp_path)
        store.add(lines([next(names) for _ in range(size)]))
        store.close()
    before = sorted(row["model"] for row in read(tmp_path))
    assert len(parts(tmp_path)) == len(sizes)
    for _ in range(2):
        store = Store(tmp_path)
        store.tidy()
        store.close()
        assert tuple(sum(1 for _ in read_part(path)) for path in parts(tmp_path)) == joined
        assert sorted(row["model"] for row in read(tmp_path)) == before


def test_of_two_rows_the_later_counts_wherever_they_are(tmp_path: Path) -> None:
    for version in (OLD, "0.0.2", "0.0.3"):
        write_part = Store(tmp_path)
        write_part.add(lines(["a"], version=version) + lines([version]))
        write_part.close()
        assert {row["version"] for row in read(tmp_path) if row["model"] == "a"} == {version}
    store = Store(tmp_path)
    store.tidy()
    store.close()
    assert len(parts(tmp_path)) == 1
    assert len(on_disk(tmp_path)) == 6  # nobody has asked to drop what older versions found
    assert {row["version"] for row in read(tmp_path) if row["model"] == "a"} == {"0.0.3"}


# Shards


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_every_checkpoint_belongs_to_one_shard(of: int) -> None:
    names = [f"org/{number}" for number in range(700)] + ["", "org/a\ud800"]
    owners = [
        [shard.number for shard in (Shard(one + 1, of) for one in range(of)) if shard.has(name)] for name in names
    ]
    assert {len(own) for own in owners} == {1}
    sizes = [owners.count([number + 1]) for number in range(of)]
    assert max(sizes) < 1.5 * min(sizes)


@pytest.mark.parametrize("text", ["0/5", "6/5", "2", "2/", "a/b", "1/0", "-1/5", "2/5/7", "1/100000", "²/5"])
def test_a_shard_that_there_is_not_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shard"):
        shard_of(text)
    assert str(shard_of("2/5")) == "2/5"


@pytest.mark.parametrize("apart", [False, True])
def test_shards_are_together_what_a_sweep_of_all_is(apart: bool, tree: Path, whole: Path, tmp_path: Path) -> None:
    out, digest = tmp_path / "out", swept([], whole).digest
    (out / "data").mkdir(parents=True)
    order = sorted(tree.iterdir(), reverse=True)
    for number, source in ((3, tree), (1, tree), (2, tree)):
        own = tmp_path / f"out-{number}" if apart else out
        swept(source, own, shard=(number, 3))
        assert swept(source, own, shard=f"{number}/3").written == 0
        if apart:
            for path in parts(own):
                shutil.copy(path, out / "data")
    assert len(order) == COUNT
    done = swept(tree, out)
    assert (done.written, done.before, done.digest) == (0, COUNT, digest)
    assert (on_disk(out), [path.name for path in parts(out)][1:]) == (on_disk(whole), [])
    again = [shutil.copy(path, out / "data") for path in tmp_path.glob("out-?/data/part-*")]
    assert (len(again), swept(tree, out).digest, on_disk(out)) == (3 if apart else 0, digest, on_disk(whole))


def test_several_shards_write_to_one_folder_at_once(tmp_path: Path) -> None:
    first, second = Store(tmp_path, shard=Shard(1, 3)), Store(tmp_path, shard=Shard(2, 3))
    for shard, said in (
        (Shard(2, 3), r"\(process \d+\) is writing to shard 2/3 of"),
        (Shard(1, 2), r"\(process \d+\) is writing to shard ./3 of"),
        (None, "another sweep is writing to"),
    ):
        with pytest.raises(hfcount.SweepError, match=said):
            Store(tmp_path, shard=shard)
    first.add(lines(["a"]))
    second.add(lines(["b"]))
    second.tidy()
    second.close()
    assert [path.name for path in parts(tmp_path)] == ["part-000001-2of3.parquet"]
    first.tidy()  # now it is alone
    assert len(parts(tmp_path)) == 1
    first.close()
    assert sorted(row["model"] for row in read(tmp_path)) == ["a", "b"]
    Store(tmp_path).close()


def test_rows_of_a_shard_that_was_killed_are_found_by_whoever_comes_next(tmp_path: Path) -> None:
    Store(tmp_path, shard=Shard(1, 3)).close()
    Store(tmp_path).close()
    (tmp_path / ".sweep" / "1of3" / "rows.jsonl").write_bytes(b"".join(lines(["a"])))
    (tmp_path / ".sweep" / "rows.jsonl").write_bytes(b"".join(lines(["b"])))
    store = Store(tmp_path, shard=Shard(2, 5))
    assert (store.has("a", None), store.has("b", None), store.before) == (True, True, 2)
    store.close()
    assert [name for name, _, _ in on_disk(tmp_path)] == ["a", "b"]


def test_a_plan_of_a_shard_has_all_pages_and_a_share_of_the_rest(tmp_path: Path) -> None:
    said = command(tmp_path / "out", "--hub", "--dry-run", "--shard", "2/5").stdout.splitlines()
    assert said[:2] == [
        "440,000 checkpoints, 168,300 to look at",
        "requests: 52,690 of the API, 336,600 of files",
    ]


# What is told


def test_the_log_has_a_line_of_everything_that_happens(tree: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"event":"of another run"}\n')
    done = command(tmp_path / "out", "--tree", tree, "--workers", "1", "--shard", "1/2", "--log", log)
    assert done.returncode == 0, done.stderr
    first, *told = map(json.loads, log.read_text().splitlines())
    assert first == {"event": "of another run"}
    assert all([*one] == [*COMMON, *EVENTS[one["event"]]] for one in told)
    rows = [one for one in told if one["event"] == "row"]
    (begun, *_), (*_, ended) = told, told
    assert (begun["event"], begun["shard"], begun["workers"], begun["total"]) == ("begun", "1/2", 1, len(rows))
    assert (ended["event"], ended["written"], ended["error"]) == ("ended", len(rows), None)
    assert {one["model"] for one in rows} == {name for name, _, _ in on_disk(tmp_path / "out")}
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:]{8}\.\d{3}\+00:00", one["time"]) for one in told)


def test_a_log_tells_what_ended_a_sweep_and_what_it_looked_at_once_more(tree: Path, tmp_path: Path) -> None:
    class Failing(ThreadPoolExecutor):
        """Loses the first batches, as one does whose workers die."""

        left = 3

        def submit(self, function: Any, /, *args: Any, **more: Any) -> "Future[Any]":
            if args and self.left:
                self.left -= 1
                failed: Future[Any] = Future()
                failed.set_exception(OSError("lost"))
                return failed
            return super().submit(function, *args, **more)

    with Failing(1) as executor:
        hfcount.sweep(tree, tmp_path / "out", executor=executor, log=tmp_path / "log")
    told = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {one["why"] for one in told if one["event"] == "retry"} == {"PoolBroke", "WorkerDied"}
    assert sum(one["event"] == "row" for one in told) == COUNT
    with pytest.raises(hfcount.SweepError, match="is not a folder"):
        hfcount.sweep("nowhere", tmp_path / "none", log=tmp_path / "log")
    with pytest.raises(hfcount.SweepError, match="cannot be written"):
        hfcount.sweep(tree, tmp_path / "none", log=tmp_path / "none" / "of" / "it")


def test_what_has_the_method_of_an_executor_is_one(tree: Path, tmp_path: Path, whole: Path) -> None:
    class Alike:
        def __init__(self) -> None:
            self.threads = ThreadPoolExecutor(1)

        def submit(self, function: Any, /, *args: Any) -> "Future[Any]":
            return self.threads.submit(function, *args)

    by_likeness = hfcount.sweep(tree, tmp_path / "out", executor=Alike())  # type: ignore[arg-type]  # no Executor by its type
    assert swept([], whole).digest == by_likeness.digest


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_names_what_is_done_the_rate_and_the_rest() -> None:
    now = [1_000.0]
    progress = Progress(StringIO(), clock=lambda: now[0])
    progress(Begun("rows", None, 2, 40, 1_000))
    for _ in range(40):
        progress(Passed())
    now[0] += 10
    progress(Kept([b""] * 160))
    assert progress.line() == "rows: 200 of 1,000 (20 %), 16 a second, 50 s left"
    progress(Waits("files", 150))
    now[0] += 30
    assert progress.line() == (
        "rows: 200 of 1,000 (20 %), 4.0 a second, 3 min left, waits 2 min for the Hub's quota (files)"
    )
    progress(Ended(160, 40, 0))
    unknown = Progress(StringIO(), clock=lambda: now[0])
    unknown(Begun("rows", None, 2, 0, None))
    assert unknown.line() == "rows: 0, 0.0 a second"
    unknown(Ended(0, 0, 0))


@pytest.mark.parametrize(
    ("seconds", "said"), [(5.4, "5 s"), (99, "99 s"), (150, "2 min"), (7_500, "2 h 5 min"), (4e5, "111 h")]
)
def test_times_are_short(seconds: float, said: str) -> None:
    assert lasting(seconds) == said


def test_a_terminal_is_left_as_it_was() -> None:
    terminal = Terminal()
    progress = Progress(terminal)
    progress(Begun("rows", None, 1, 0, 1))
    progress(Ended(0, 0, 0))
    assert terminal.getvalue() == "\r\x1b[K"
    elsewhere = StringIO()
    progress = Progress(elsewhere)
    progress(Begun("rows", None, 1, 0, 1))
    progress(Ended(0, 0, 0))
    assert elsewhere.getvalue() == ""


# What workers keep


@pytest.mark.long
def test_rows_are_the_same_whether_a_worker_has_seen_the_config_or_not(tree: Path, tmp_path: Path) -> None:
    """Several types, sound and spoiled checkpoints, each three times under other names."""
    recorded = sorted(ARCHITECTURES.glob("*.json"))[::160]
    sources = [(path.stem, json.loads(path.read_bytes())["config"], None) for path in recorded]
    for folder in sorted(tree.iterdir())[:3]:
        config, index = (json.loads((folder / name).read_bytes()) for name in ("config.json", INDEX))
        lacking, twice = dict(index["weight_map"]), dict(index["weight_map"])
        del lacking[next(reversed(lacking))]
        twice["further.weight"] = next(iter(twice.values()))
        for weight_map in (index["weight_map"], lacking, twice):
            sources.append((folder.name, config, index | {"weight_map": weight_map}))
            sources.append((folder.name, config | {"hidden_act": "nobody"}, index | {"weight_map": weight_map}))
    recent, fresh = Options(blueprints=RecentBlueprints(), indexes=RecentIndexes()), Options()
    for number, (name, config, index) in enumerate(sources):
        for turn in range(3):
            folder = tmp_path / f"{number:03}-{turn}-{name}"
            folder.mkdir()
            (folder / "config.json").write_text(json.dumps(config))
            if index:
                (folder / INDEX).write_text(json.dumps(index))
    for task in tree_of(tmp_path):
        told = [_told(task, options) for options in (recent, fresh)]
        assert told[0] == told[1], task.model


def _told(task: Task, options: Options) -> bytes | str:
    assert task.request
    try:
        return line(task, inspect(task.request, options))
    except hfcount.HfcountError as error:
        return str(error)
