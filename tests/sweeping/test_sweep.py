"""Sweeps of what is on disk: one row each, whatever happens to a checkpoint, to a worker or to the driver."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import poison
import pytest
from build import TINY, save_tiny

import hfcount
from hfcount.cli.commands import find
from hfcount.sweeping.keys import Keys
from hfcount.sweeping.parts import parts, read
from hfcount.sweeping.rows import COLUMNS, encoded
from hfcount.sweeping.store import Store

COUNT = 24


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of several families, one of them without its head."""
    root = tmp_path_factory.mktemp("tree")
    families = [*TINY]
    for number in range(COUNT):
        save_tiny(root / "org" / f"m{number:02}", families[number % len(families)])
    lost = root / "org" / "m03" / "model.safetensors.index.json"
    index = json.loads(lost.read_bytes())
    del index["weight_map"]["model.norm.weight"]
    lost.write_text(json.dumps(index))
    return root


@pytest.fixture(scope="module")
def digest(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What all engines must find, by one that has no other process."""
    with ThreadPoolExecutor(1) as threads:
        return hfcount.sweep(tree, tmp_path_factory.mktemp("threads") / "out", executor=threads).digest


def poisoned() -> Executor:
    return ProcessPoolExecutor(2, get_context("spawn"), poison.install)


def spawned() -> Executor:
    return ProcessPoolExecutor(2, get_context("spawn"))


def keys(out: Path) -> Counter[tuple[str, str]]:
    return Counter((row["model"], row["version"]) for row in read(out))


# Rows


def test_a_sweep_gives_a_row_of_each(tree: Path, tmp_path: Path, digest: str) -> None:
    done = hfcount.sweep(tree, tmp_path / "out", workers=2)
    assert (done.written, done.before, done.digest, done.requests) == (COUNT, 0, digest, 0)
    assert done.verdicts == {"verified": COUNT - 1, "mismatch": 1}
    found = {row["model"]: row for row in read(tmp_path / "out")}
    assert len(found) == COUNT
    wrong = found["org/m03"]
    assert (wrong["verdict"], wrong["errors"], [one["code"] for one in wrong["findings"]]) == ("mismatch", 1, ["HF205"])
    report = hfcount.verify("org/m00", fixtures=tree)
    assert report.parameters is not None
    row = found["org/m00"]
    assert (row["total"], row["family"], row["verdict"]) == (report.parameters.total, report.family, report.verdict)
    assert (row["version"], [*row]) == (hfcount.__version__, [*COLUMNS])
    assert (tmp_path / "out" / "README.md").read_text().startswith("---\n")


def test_what_has_a_row_is_not_looked_at_again(tree: Path, tmp_path: Path, digest: str) -> None:
    out = tmp_path / "out"
    with ThreadPoolExecutor(1) as threads:
        some = [tree / "org" / f"m{number:02}" for number in range(4)]
        assert hfcount.sweep([*some, *some], out, executor=threads).written == 4
        assert hfcount.sweep(some, out, executor=threads).before == 4
    assert set(keys(out).values()) == {1}


def test_models_are_named_as_on_the_command_line(tree: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep([str(tree / "org" / "m00"), "https://example.org/x"], tmp_path / "out", executor=threads)
    found = {row["model"]: row["reason"] for row in read(tmp_path / "out")}
    assert found == {str(tree / "org" / "m00"): None, "https://example.org/x": "BadName"}


def test_a_recording_is_called_by_its_commit(tmp_path: Path) -> None:
    save_tiny(tmp_path / "t" / "m")
    (tmp_path / "t" / "m" / "headers.json").write_text(json.dumps({"revision": "a" * 40}))
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep(tmp_path / "t", tmp_path / "out", executor=threads)
    assert [row["revision"] for row in read(tmp_path / "out")] == ["a" * 40]


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    save_tiny(tmp_path / "t" / "m")
    (tmp_path / "t" / "again").symlink_to(tmp_path / "t")
    with ThreadPoolExecutor(1) as threads:
        assert hfcount.sweep(tmp_path / "t", tmp_path / "out", executor=threads).written == 1


@pytest.mark.parametrize(("value", "kept"), [(2**63 - 1, 2**63 - 1), (2**63, None), ([-(2**70)], [None])])
def test_numbers_that_no_column_holds_are_left_out(value: object, kept: object) -> None:
    assert json.loads(encoded({"total": value}))["total"] == kept


def test_halves_of_characters_are_no_text() -> None:
    assert encoded({"model": "a\ud800"}) == b'{"model":"a?"}\n'


def test_keys_are_told_apart() -> None:
    found = Keys()
    assert [found.add(*key) for key in [("a", None), ("a", "None"), ("a", None), ("a",)]] == [True, True, False, True]
    assert len(found) == 3
    assert [found.add(str(number)) for number in [*range(500), *range(500)]] == [True] * 500 + [False] * 500


# Engines


@pytest.mark.parametrize("kind", ["loky", pytest.param("dask", marks=pytest.mark.long)])
def test_every_engine_finds_the_same(kind: str, tree: Path, tmp_path: Path, digest: str) -> None:
    if kind == "loky":
        loky = pytest.importorskip("joblib.externals.loky", reason="no joblib; the extra `test` brings it")
        with loky.ProcessPoolExecutor(2) as executor:
            assert hfcount.sweep(tree, tmp_path / "out", executor=executor).digest == digest
    else:
        pytest.importorskip("distributed", reason="no distributed; the extra `dask` brings it")
        done = _command(tmp_path / "out", "--tree", tree, "--engine", "dask", "--workers", "2")
        assert (done.returncode, f"{COUNT} rows written" in done.stdout) == (0, True), done.stderr
        assert hfcount.sweep([], tmp_path / "out").digest == digest


@pytest.mark.long
@pytest.mark.parametrize(
    "executor",
    [pytest.param(lambda: poisoned, id="made again"), pytest.param(poisoned, id="given", marks=pytest.mark.long)],
)
def test_a_poisoned_checkpoint_is_a_row_and_all_others_are_done(
    tree: Path, tmp_path: Path, executor: Callable[[], Executor | Callable[[], Executor]]
) -> None:
    root = tmp_path / "t"
    shutil.copytree(tree, root)
    wanted = {"crash": "WorkerDied", "hang": "TimedOut", "memory": "OutOfMemory", "raise": "Crash", "exit": "Crash"}
    for kind in wanted:
        save_tiny(root / "org" / kind)
    hfcount.sweep(root, tmp_path / "out", executor=executor(), workers=2, deadline=6)
    found = {row["model"].partition("/")[2]: row["reason"] for row in read(tmp_path / "out")}
    assert {name: found[name] for name in wanted} == wanted
    assert len(found) == COUNT + len(wanted)
    assert [name for name, reason in found.items() if reason] == sorted(wanted, key=[*found].index)


def test_what_could_not_be_read_is_looked_at_again_when_asked(tree: Path, tmp_path: Path) -> None:
    root, out = tmp_path / "t", tmp_path / "out"
    save_tiny(root / "org" / "raise")
    save_tiny(root / "org" / "sound")
    with poisoned() as executor:
        assert hfcount.sweep(root, out, executor=executor).verdicts == {"unverified": 1, "verified": 1}
    with ThreadPoolExecutor(1) as threads:
        assert hfcount.sweep(root, out, executor=threads).written == 0
        assert hfcount.sweep(root, out, executor=threads, retry=True).verdicts == {"verified": 2}
    assert set(keys(out).values()) == {1}


def _unable() -> None:
    raise RuntimeError("it cannot start")


@pytest.mark.long
def test_workers_that_do_not_start_are_no_rows(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(hfcount.SweepError, match="the workers end as they start"):
        hfcount.sweep(tree, tmp_path / "out", executor=lambda: ProcessPoolExecutor(1, get_context("spawn"), _unable))
    assert parts(tmp_path / "out") == []


# The folder


def test_a_second_driver_is_refused(tree: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    done = _command(tmp_path / "out", "--tree", tree)
    assert (done.returncode, f"another sweep (process {os.getpid()}) is writing" in done.stderr) == (3, True)
    with pytest.raises(hfcount.SweepError, match="another sweep"):
        hfcount.sweep(tree, tmp_path / "out")
    store.close()


def test_rows_that_are_in_no_part_yet_are_kept_and_half_of_one_is_not(tmp_path: Path) -> None:
    row = dict.fromkeys(COLUMNS) | {"model": "a", "version": "1", "findings": []}
    store = Store(tmp_path)
    store.add([encoded(row)])
    journal = tmp_path / ".sweep" / "rows.jsonl"
    left = journal.read_bytes()
    store.close()
    (tmp_path / "data" / ".part-000002.parquet.tmp").write_bytes(b"half")
    journal.write_bytes(left + encoded(row | {"model": "b"}) + encoded(row | {"model": "c"})[:9])
    store = Store(tmp_path)
    assert (store.before, store.claim("b", None), store.claim("c", None)) == (2, False, True)
    store.close()
    assert sorted(found["model"] for found in read(tmp_path)) == ["a", "b"]
    assert list((tmp_path / "data").glob(".*")) == []


def test_without_pyarrow_rows_are_lines(tree: Path, tmp_path: Path, digest: str) -> None:
    program = f"""
import sys
sys.modules["pyarrow"] = None
from importlib import util
found, util.find_spec = util.find_spec, lambda name, package=None: None if name == "pyarrow" else found(name, package)
import hfcount
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as threads:
    print(hfcount.sweep({str(tree)!r}, {str(tmp_path / "out")!r}, executor=threads).digest)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest
    assert [path.suffix for path in parts(tmp_path / "out")] == [".jsonl"]
    lines = parts(tmp_path / "out")[0].read_text().splitlines()
    assert [*json.loads(lines[0])] == [*COLUMNS]


# Death


@pytest.mark.long
def test_drivers_and_workers_that_are_killed_lose_nothing(tree: Path, tmp_path: Path, digest: str) -> None:
    out, chance = tmp_path / "out", random.Random(3)
    for turn in range(6):
        driver = subprocess.Popen(_line(out, "--tree", tree, "--workers", "2"), stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.6))
        workers = _children(driver.pid)
        if turn % 2 and workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
            driver.wait(600)
        driver.kill()
        driver.wait()
        assert _ended(workers)
        assert set(keys(out).values()) <= {1}
    assert _command(out, "--tree", tree, "--workers", "2").returncode == 0
    assert (set(keys(out).values()), len(keys(out))) == ({1}, COUNT)
    assert hfcount.sweep([], out).digest == digest


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _ended(processes: list[int], patience: float = 300) -> bool:
    """Whether processes end before long; a zombie, which nobody waits for, has."""
    ends = time.monotonic() + patience
    while time.monotonic() < ends:
        if not [pid for pid in processes if _state(pid) not in ("", "Z")]:
            return True
        time.sleep(0.1)
    return False


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return ""


# The command


def _line(out: Path, *args: str | Path) -> list[str]:
    return [sys.executable, "-m", "hfcount", "sweep", str(out), *map(str, args)]


def _command(out: Path, *args: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(_line(out, *args), capture_output=True, text=True, timeout=1200, cwd=out.parent)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "Name what to verify"),
        (["--library", "x", "m"], "need --hub or --author"),
        (["--hub", "--author", "x"], "leave out --author"),
        (["--scheduler", "x", "m"], "goes with --engine dask"),
        (["--tier", "pro", "m"], "goes with --dry-run"),
        (["--tree", "nowhere"], "does not exist"),
        (["--list", "nowhere"], "cannot be read"),
    ],
)
def test_wrong_usage_says_what_to_do(args: list[str], said: str, tmp_path: Path) -> None:
    done = _command(tmp_path / "out", *args)
    assert (done.returncode, said in done.stderr, (tmp_path / "out").exists()) == (2, True, False), done.stderr


def test_a_folder_called_sweep_is_a_model(tmp_path: Path) -> None:
    save_tiny(tmp_path / "sweep")
    line = [sys.executable, "-m", "hfcount", "-q", "./sweep"]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout.startswith("./sweep: verified")) == (0, True)


def test_nothing_of_it_is_imported_for_one_model(tmp_path: Path) -> None:
    save_tiny(tmp_path / "m")
    program = """
import sys, atexit
from hfcount.__main__ import run
import os
leave, os._exit = os._exit, lambda code: (print([name for name in sys.modules if "sweep" in name]), leave(code))
sys.argv = ["hfcount", "-q", "./m"]
run()
"""
    done = subprocess.run([sys.executable, "-u", "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.long
def test_a_summary_counts_and_draws(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep(tree, out, executor=threads)
    done = _command(out, "--summary")
    assert done.returncode == 0, done.stderr
    for line in (
        "| verified | 23 | 95.8 % |",
        "| HF205 | index-header-disagree | 1 | 1 |",
        "| `org/m03` | qwen2 | 1 | HF205 |",
    ):
        assert line in done.stdout
    card, page = (out / "README.md").read_text(), (out / "summary.html").read_text()
    assert "path: data/*." in card
    assert done.stdout.strip() in card
    assert "<script" not in page
    if find_spec("matplotlib"):
        drawn = (out / "charts" / "families.svg").read_text()
        assert "mixtral" in drawn
        assert "checkpoints" in drawn
    empty = _command(tmp_path / "empty", "--summary")
    assert (empty.returncode, "no rows yet" in empty.stderr) == (3, True)


def test_a_readme_of_others_is_left(tree: Path, tmp_path: Path) -> None:
    def swept(out: Path) -> str:
        with ThreadPoolExecutor(1) as threads:
            hfcount.sweep([tree / "org" / "m00"], out, executor=threads)
        find("sweep").main([str(out), "--summary"], standalone_mode=False)
        return (out / "README.md").read_text()

    (others := tmp_path / "others").mkdir()
    (others / "README.md").write_text("mine")
    assert swept(others) == "mine"
    own = tmp_path / "own"
    first = swept(own)
    (own / "README.md").write_text(f"{first}\nIt is old.\n")
    assert swept(own) == first


@pytest.mark.parametrize("command", [("--summary",), ("--tree", ".")])
def test_a_part_of_another_dataset_is_refused(tmp_path: Path, command: Sequence[str]) -> None:
    arrow = pytest.importorskip("pyarrow", reason="no pyarrow; the extra `sweep` brings it")
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow; the extra `sweep` brings it")
    part = tmp_path / "out" / "data" / "part-000001.parquet"
    part.parent.mkdir(parents=True)
    parquet.write_table(arrow.table({"text": ["a"]}), part)
    done = _command(tmp_path / "out", *command)
    assert done.returncode == 3
    assert f"{part} cannot be read: it has no column" in done.stderr
    assert part.stat().st_size


def test_duckdb_reads_the_rows(tree: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="no duckdb; the extra `test` brings it")
    out = tmp_path / "out"
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep(tree, out, executor=threads)
    card = (out / "README.md").read_text()
    queries = card.partition("```sql\n")[2].partition("```")[0].split(";")[:2]
    with duckdb.connect() as base:
        base.execute(f"SET file_search_path = '{out}'")
        counts = [base.sql(query.partition("folder\n")[2] or query).fetchall() for query in queries]
    assert counts == [[("verified", 23), ("mismatch", 1)], [("HF205", 1)]]


# On paper


def test_a_dry_run_of_the_hub_is_its_arithmetic(tmp_path: Path) -> None:
    done = _command(tmp_path / "out", "--hub", "--dry-run")
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "2,200,000 checkpoints, 841,500 to look at",
        "requests: 254,650 of the API, 1,683,000 of files",
        "bytes: 103.1 GB read, 0.1 GB of rows",
        "processor: 0.8 hours of one core",
    ]
    files = {line.partition(":")[0]: line.rpartition("API, ")[2] for line in lines[4:]}
    assert (files["free"], files["pro"], files["enterprise"]) == (
        "28.1 for files)",
        "11.7 for files)",
        "2.8 for files)",
    )
    assert not (tmp_path / "out").exists()


def test_a_dry_run_of_local_checkpoints_asks_nothing(tree: Path, tmp_path: Path) -> None:
    done = _command(tmp_path / "out", "--tree", tree, "--dry-run")
    assert done.stdout.splitlines()[:2] == [
        f"{COUNT} checkpoints, {COUNT} to look at",
        "requests: 0 of the API, 0 of files",
    ]
