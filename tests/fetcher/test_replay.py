"""What --save records, --fixtures replays to the letter; and headers are read where the index does not settle it."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from build import save_tiny
from conftest import Result, Run, shared
from defects import CASES as ALL
from defects import FIRST, INDEX, ON_DISK, TOTAL, sharded, single, write
from loopback import Fault, Hub, write_checkpoint
from paths import FIXTURES
from tables import over

import hfcount
from hfcount.checkpoints.inspect import Options, inspect
from hfcount.fetcher import Request

WITHOUT_CONFIG = {name for name in ALL if "GGUF" in name or ("adapter" in name and "beside" not in name)}
UNRECORDED = WITHOUT_CONFIG | {*ON_DISK, "weights of a model in the place of a LoRA"}
CASES = {name: case for name, case in ALL.items() if name not in UNRECORDED}
NAMES = {name: f"org/case-{number}" for number, name in enumerate(CASES)}
MODEL = "org/tiny"


class Recorded(NamedTuple):
    """One command over many cases against a Hub, and the same over what it saved."""

    names: list[str]
    online: Result
    replay: Result
    paths: list[str]
    depth: str

    def lines(self, name: str) -> tuple[str, str]:
        """What was said of a case, of the Hub and of what was saved."""
        place = self.names.index(name)
        return self.online.out.splitlines()[place], self.replay.out.splitlines()[place]


Recordings = Callable[[str], Recorded]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("cases")
    return {name: write(name, root / place) for name, place in NAMES.items()}


LONG = pytest.mark.long
DEPTHS = ["auto", pytest.param("index", marks=LONG), pytest.param("headers", marks=LONG)]


@pytest.fixture(scope="module", params=DEPTHS)
def recorded(
    request: pytest.FixtureRequest, folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Recordings:
    """What was recorded with a case; the cases of a short run are recorded together, and all others."""

    @cache
    def of(short: bool) -> Recorded:
        some = {name: folder for name, folder in folders.items() if (name in IN_SHORT) is short}
        home = tmp_path_factory.mktemp("home")
        return shared(tmp_path_factory, f"replay-{request.param}-{short}", lambda: _recorded(request.param, some, home))

    return lambda name: of(name in IN_SHORT)


def _recorded(depth: str, folders: dict[str, Path], home: Path) -> Recorded:
    hub = Hub()
    for server in (hub, hub.cdn):
        server.start()
    for name, folder in folders.items():
        hub.publish(NAMES[name], folder)

    def command(*options: str | Path) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "hfcount", "--format", "json", "--depth", depth, *options, *map(NAMES.get, folders)],
            env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home), "HOME": str(home)},
            cwd=home,
            capture_output=True,
            encoding="utf-8",
        )
        return Result(done.returncode, done.stdout, done.stderr)

    online = command("--save", home / "saved")
    asked = [path for path in hub.paths("HEAD") + hub.paths() if not path.startswith("/api/")]
    hub.requests.clear()
    replay = command("--fixtures", home / "saved")
    assert hub.requests == []
    for server in (hub, hub.cdn):
        server.stop()
    return Recorded([*folders], online, replay, asked, depth)


PADDED = "a header padded to 64 kB"
ALONE = "a T5 with a head of its own"  # in one file, without an index
WITHOUT_INDEX = ("a model of open_clip", "a policy", "a pipeline", "all parts in a variant")

SETTLED = [
    name
    for name, case in CASES.items()
    if case.verdict == "verified"
    and case.make is not single
    and name not in (PADDED, ALONE)
    and name not in WITHOUT_INDEX
    and "HF70" not in case.codes  # of pickles, whose directories are always read
]

# A header that lies and the like are below what an index and sizes can tell: they settle all but these.
UNSETTLED = {
    PADDED: "at most",
    "truncated to its header": "at least",
    "Git LFS pointer": "at least",
    "an empty file": "0 bytes",
    "two sets of shards": "the index does not name it",
    "one file beside the shards": "the index does not name it",
    "one file without an index": "no index",
    "a tensor is missing": "alone does not agree",
    "the last layer is missing": "alone does not agree",
    "a tensor too many": "alone does not agree",
    "total_size is stale": "alone does not agree",
    "total_size is of float32": "alone does not agree",
    "all in float32": "alone does not agree",
    "no total_size": "alone does not agree",
    "norms in float32": "alone does not agree",
    "GPTQ": "alone does not agree",
    "FP8 that the config does not announce": "alone does not agree",
}

SOME = [*CASES][::24]
IN_SHORT = {*SOME, *SETTLED[::6], *UNSETTLED, ALONE, PADDED}
"""The cases that a short run records."""


@over("name", CASES, short=IN_SHORT)
def test_a_replay_says_the_same_to_the_letter(recorded: Recordings, name: str) -> None:
    online, replay = recorded(name).lines(name)
    assert online.count('"source": "hub"') == 1
    assert replay == online.replace('"source": "hub"', '"source": "fixtures"')


def test_a_replay_ends_the_same(recorded: Recordings) -> None:
    found = recorded(PADDED)
    assert (found.replay.code, found.replay.err) == (found.online.code, found.online.err)


@over("name", CASES, short=IN_SHORT)
def test_no_file_is_asked_for_twice(recorded: Recordings, name: str) -> None:
    """Six requests, and one for each shard; two where a header is long, a copy is compared or sizes are tried."""
    found = recorded(name)
    report = json.loads(found.lines(name)[0])
    asked = Counter(path.split("/", 5)[5] for path in found.paths if path.startswith(f"/{NAMES[name]}/resolve/"))
    shards = {file: times for file, times in asked.items() if file.endswith(".safetensors")}
    long = name == PADDED or any(code in CASES[name].codes for code in ("HF103", "HF203", "HF213"))
    assert set(shards.values()) <= ({1, 2} if long else {1})
    pickled = {file: times for file, times in asked.items() if file.endswith(".bin")}
    assert set(pickled.values()) <= {1, 2}
    assert sum(asked.values()) <= len(shards) + sum(pickled.values()) + 6 + 2 * long
    looked = report["depth"] == "headers" or report.get("error", {}).get("kind") == "NoHeaders"
    looked = looked and "container" not in report
    # Asked for before anyone could see that the config or the index is broken.
    ahead = found.depth == "headers" or (found.depth == "auto" and not asked["model.safetensors.index.json"])
    assert bool(shards) == looked or (bool(shards) and ahead)


@pytest.mark.parametrize("recorded", ["auto"], indirect=True)
@over("name", SETTLED, short=IN_SHORT)
def test_a_clean_checkpoint_is_settled_by_its_index(recorded: Recordings, name: str) -> None:
    report = json.loads(recorded(name).lines(name)[0])
    assert (report["verdict"], report["depth"], report["depth_reason"]) == ("verified", "index", None)


@pytest.mark.parametrize("recorded", ["auto"], indirect=True)
@pytest.mark.parametrize("name", UNSETTLED)
def test_headers_are_read_where_the_index_does_not_settle_it(recorded: Recordings, name: str) -> None:
    case, report = CASES[name], json.loads(recorded(name).lines(name)[0])
    assert (report["depth"], report["verdict"]) == ("headers", case.verdict)
    assert UNSETTLED[name] in report["depth_reason"]
    assert sorted(finding["code"] for finding in report["findings"]) == case.codes.split()


def comparable(report: hfcount.Report) -> dict[str, Any]:
    """All but where it is from; files that nobody read are not recorded."""
    fields = report.model_dump()
    for finding in fields["findings"]:
        del finding["message"]
    if fields["evidence"]:
        del fields["evidence"]["unlisted"]
    return {name: value for name, value in fields.items() if name not in ("model", "source", "error")}


@over("name", CASES, short=SOME)
def test_a_folder_can_be_recorded(folders: dict[str, Path], tmp_path: Path, name: str) -> None:
    online = inspect(Request(str(folders[name])), Options(save=tmp_path))
    (saved,) = tmp_path.iterdir()
    assert comparable(hfcount.verify(saved.name, fixtures=tmp_path)) == comparable(online)


def test_headers_that_were_not_recorded_are_said_to_be_so(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, sharded().write(tmp_path / "tiny"))
    assert run(MODEL, "--depth", "index", "--save", tmp_path / "saved").report["verdict"] == "verified"
    replay = run(MODEL, "--fixtures", tmp_path / "saved", "--depth", "headers").report
    assert (replay["verdict"], replay["error"]["kind"]) == ("unverified", "NoHeaders")
    assert "the headers of 3 of the 3 weight files of" in replay["error"]["message"]
    assert "are not recorded" in replay["error"]["message"]


# What could not be read


def test_nothing_is_saved_of_what_could_not_be_read(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, save_tiny(tmp_path / "tiny"), access="gated")
    assert run(MODEL, "--save", tmp_path / "saved").report["error"]["kind"] == "GatedRepo"
    assert not (tmp_path / "saved").exists()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Fault(status=403, headers={"X-Error-Code": "GatedRepo"}), "GatedRepo", id="gated"),
        pytest.param(Fault(status=503, headers={"Retry-After": "0"}), "HubError", id="503"),
        pytest.param(Fault(cut=0.5), "NoNetwork", id="broken off"),
    ],
)
def test_shards_that_cannot_be_had_leave_it_unverified(
    hub: Hub, run: Run, tmp_path: Path, fault: Fault, kind: str
) -> None:
    """The config and the index were read all the same: what they say is reported, recorded and replayed."""
    checkpoint = sharded()
    checkpoint.metadata["total_size"] = None
    hub.publish(MODEL, checkpoint.write(tmp_path / "tiny"))
    hub.faults[FIRST] = [fault]
    online = run(MODEL, "--save", tmp_path / "saved")
    replay = run(MODEL, "--fixtures", tmp_path / "saved")
    assert (online.code, online.report["verdict"], online.report["error"]["kind"]) == (3, "unverified", kind)
    assert (replay.code, replay.report["verdict"]) == (3, "unverified")
    totals = [result.report["parameters"] and result.report["parameters"]["total"] for result in (online, replay)]
    assert totals == [TOTAL, TOTAL]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"flax_model.msgpack": b"x"}, id="Flax"),
        pytest.param({"tiny-Q4_0.gguf": b"GGUF"}, id="GGUF"),
        pytest.param({"adapter_model.safetensors": b""}, id="an adapter"),
        pytest.param({}, id="no weights"),
    ],
)
def test_weights_that_cannot_be_seen_are_replayed(hub: Hub, run: Run, tmp_path: Path, files: dict[str, bytes]) -> None:
    checkpoint = sharded()
    checkpoint.shards, checkpoint.weight_map = {}, {}
    folder = checkpoint.write(tmp_path / "tiny")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    hub.publish(MODEL, folder)
    online = run(MODEL, "--save", tmp_path / "saved")
    replay = run(MODEL, "--fixtures", tmp_path / "saved")
    assert (online.code, online.report["error"]["kind"]) == (3, "NoIndex" if "NoIndex" in online.out else "NoHeaders")
    assert (replay.code, replay.report) == (online.code, online.report | {"source": "fixtures"})


# Recordings written by hand


def recording(folder: Path, names: dict[str, str]) -> Path:
    """A good checkpoint's recording without the headers' lengths; some tensors go by other names."""
    checkpoint = single()
    checkpoint.rename(lambda name: names.get(name, name))
    source = checkpoint.write(folder / "source")
    inspect(Request(str(source)), Options(save=folder / "saved"))
    headers = json.loads((folder / "saved/source/headers.json").read_text())
    for one in headers["files"].values():
        del one["length"]
    (folder / "saved/source/headers.json").write_text(json.dumps(headers))
    return folder / "saved"


def test_a_recording_needs_no_length(tmp_path: Path) -> None:
    assert hfcount.verify("source", fixtures=recording(tmp_path, {})).verdict == "verified"


def test_a_recorded_name_may_be_of_lone_surrogates(tmp_path: Path) -> None:
    report = hfcount.verify("source", fixtures=recording(tmp_path, {"model.norm.weight": "\ud800"}))
    assert "HF201" in {finding.code for finding in report.findings}
    assert "does not describe" in report.findings[-1].message
    assert report.to_json().isascii()


# Full size

LARGE = "Qwen/Qwen3-32B"

_SCRIPT = """
import json, threading
import hfcount

report = hfcount.verify("Qwen/Qwen3-32B", depth="headers")
threads = {thread.name for thread in threading.enumerate()} - {"tqdm_monitor"}  # huggingface_hub's progress bars
print(json.dumps({"verdict": report.verdict, "threads": sorted(threads), "report": report.to_json()}))
"""


def test_a_model_of_65_gb_is_verified_without_its_weights(hub: Hub, tmp_path: Path) -> None:
    config = json.loads((FIXTURES / LARGE / "config.json").read_text())
    published = write_checkpoint(tmp_path / "large", config, shards=14)
    hub.publish(LARGE, published)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", _SCRIPT],
        env=os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=True,
    )
    result = json.loads(done.stdout)
    report = json.loads(result["report"])
    assert (result["verdict"], result["threads"], done.stderr) == ("verified", ["MainThread"], "")
    assert (report["parameters"]["total"], report["parameters"]["stored"]) == (32_762_123_264, 32_762_123_264)
    assert (report["evidence"]["shards"], report["evidence"]["dtypes"]) == (14, {"BF16": 32_762_123_264})
    assert sum(path.stat().st_size for path in published.glob("*.safetensors")) > 65 * 10**9
    assert 512 * sum(path.lstat().st_blocks for path in tmp_path.rglob("*")) < 5 * 10**6
    assert len([path for path in hub.paths() if path.endswith(".safetensors")]) == 14
    assert INDEX in {path.rpartition("/")[2] for path in hub.paths()}
