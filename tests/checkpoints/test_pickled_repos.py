"""Pickled weights of folders and repos: what is read of them, what is kept, and what is said where that fails."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from build import unread
from conftest import Run
from defects import BIN, BIN_INDEX, HEAD, Checkpoint, boxed, misplaced, saved, single
from loopback import Fault, Hub
from pickled import archive, called, items, legacy, number, state, storage, tensor, text

import hfcount
from hfcount.cli.commands import find
from hfcount.errors import NotVerified
from hfcount.report.renderers import table

MODEL = "org/boxed"
LARGE = 300_000
"""Bytes of a storage, by which a file is longer than what is read of it at once."""


def padded(tensors: Any) -> bytes:
    """A file of which the ends do not overlap."""
    more = {"zz": tensor(storage("zz", LARGE // 4), (1,), (1,))}
    data = {name: bytes(2 * one[1][0] * (one[1][1] if len(one[1]) > 1 else 1)) for name, one in tensors.items()}
    return archive(state(**items(tensors), **more), data | {"zz": bytes(LARGE)})


def sharded() -> Checkpoint:
    """As `misplaced` with an index that is right."""
    checkpoint = misplaced()
    index = json.loads(checkpoint.others[BIN_INDEX])
    first = next(iter(index["weight_map"]))
    index["weight_map"][first] = "pytorch_model-00001-of-00002.bin"
    checkpoint.others[BIN_INDEX] = json.dumps(index).encode()
    return checkpoint


def ranges(hub: Hub) -> list[str]:
    """The pickled files that were asked for, once for each request."""
    return sorted(name for path in hub.paths("GET") if (name := path.rpartition("/")[2]).endswith(".bin"))


@pytest.mark.parametrize(
    ("make", "asked"),
    [
        pytest.param(saved(boxed), 1, id="short"),
        pytest.param(saved(padded), 2, id="long"),
        pytest.param(sharded(), 2, id="sharded"),
    ],
)
def test_a_repo_takes_two_ranges_of_each_file_and_none_again(
    hub: Hub, run: Run, tmp_path: Path, make: Checkpoint, asked: int
) -> None:
    folder = make.write(tmp_path / "boxed")
    hub.publish(MODEL, folder)
    expected = "mismatch" if asked == 2 and BIN in make.others else "verified"  # of the tensor that pads it
    online = run(MODEL, "--save", tmp_path / "saved").report
    assert (online["verdict"], online["depth"], online["container"]) == (expected, "headers", "pickle")
    assert len(ranges(hub)) == asked
    for again in (run(MODEL), run(MODEL, "--offline"), run(MODEL, "--fixtures", tmp_path / "saved")):
        assert {**again.report, "source": "hub"} == online
    assert len(ranges(hub)) == asked
    assert {**run(folder).report, "model": MODEL, "source": "hub", "revision": online["revision"]} == online


def test_the_report_names_the_container(tmp_path: Path) -> None:
    report = hfcount.verify(str(saved(boxed).write(tmp_path / "m")))
    assert '"container": "pickle"' in report.to_json()
    assert "of 1 file by their pickles (no code was run)" in " ".join(table.render([report]).split())
    assert "container" not in hfcount.verify(str(single().write(tmp_path / "n"))).to_json()


def test_at_depth_index_no_pickle_is_read(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, sharded().write(tmp_path / "boxed"))
    result = run(MODEL, "--depth", "index")
    assert (result.code, result.report["error"]["kind"], ranges(hub)) == (3, "NoHeaders", [])
    assert "--depth headers reads their directories" in result.report["error"]["message"]


@pytest.mark.parametrize(("depth", "verdict", "asked"), [("auto", "verified", 0), ("headers", "explained", 1)])
def test_beside_safetensors_of_a_repo_pickles_are_read_at_depth_headers(
    hub: Hub, run: Run, tmp_path: Path, depth: str, verdict: str, asked: int
) -> None:
    other = saved(lambda tensors: boxed({name: one for name, one in tensors.items() if name != HEAD}), beside=True)
    hub.publish(MODEL, other.write(tmp_path / "both"))
    report = run(MODEL, "--depth", depth).report
    assert (report["verdict"], len(ranges(hub))) == (verdict, asked)
    assert [one["kind"] for one in unread(report["not_looked_at"])] == ["pickled weights"] * (1 - asked)
    assert report["source"] == "hub" and "container" not in report


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        pytest.param(Fault(whole=True), 1, "", id="a server that ignores ranges"),
        pytest.param(Fault(status=403), 3, "403", id="refused"),
        pytest.param(Fault(status=404, headers={"X-Error-Code": "EntryNotFound"}), 3, "cannot be found", id="gone"),
        pytest.param(Fault(cut=0.5), 3, BIN, id="cut off"),
        pytest.param(Fault(gzip=True), 3, "compresses ranges", id="compressed"),
        pytest.param(
            Fault(headers={"Content-Range": "bytes 0-65535/9223372036854775807"}), 3, "", id="a size that lies"
        ),
    ],
)
def test_a_server_that_fails_is_named_and_nothing_is_judged(
    hub: Hub, run: Run, tmp_path: Path, fault: Fault, code: int, says: str
) -> None:
    hub.publish(MODEL, saved(padded).write(tmp_path / "boxed"))
    hub.faults[BIN] = [fault]
    result = run(MODEL)
    assert (result.code, says in str(result.report.get("error"))) == (code, True), result.report


def test_a_file_that_changes_between_two_ranges_is_not_judged(hub: Hub, run: Run, tmp_path: Path) -> None:
    folder = saved(padded).write(tmp_path / "boxed")
    hub.publish(MODEL, folder)
    longer = (folder / BIN).read_bytes()[:65_536]
    hub.faults[BIN] = [Fault(times=1, body=longer + bytes(2 * LARGE))]
    result = run(MODEL)
    assert (result.code, "it has changed" in result.report["error"]["message"]) == (3, True), result.report


def test_the_time_is_up_for_pickles_too(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, saved(padded).write(tmp_path / "boxed"))
    hub.faults[BIN] = [Fault(delay=3.0)]
    result = run(MODEL, "--timeout", "1")
    assert (result.code, result.report["error"]["kind"]) == (3, "NoNetwork")


def test_nothing_of_a_pickle_is_run(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    call = called("os.system", text(f"touch {witness}"))
    for place, make in enumerate(
        (
            saved(lambda tensors: boxed(tensors, more={"x": call})),
            saved(lambda tensors: legacy(state(**items({}), x=call), {})),
            saved(lambda tensors: boxed(tensors, more={"x": call}), beside=True),
        )
    ):
        report = hfcount.verify(str(make.write(tmp_path / str(place))))
        assert "HF701" in [finding.code for finding in report.findings]
    assert not witness.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("model.pt", "holds every tensor that LlamaForCausalLM describes. Save them as pytorch_model.bin"),
        ("consolidated.00.pth", "holds every tensor"),
    ],
)
def test_files_of_other_names_are_read_and_not_verified(tmp_path: Path, name: str, says: str) -> None:
    folder = saved(boxed).write(tmp_path / "m")
    (folder / BIN).rename(folder / name)
    report = hfcount.verify(str(folder))
    assert (report.verdict, report.findings) == ("unverified", ())
    assert report.error and f"only {name}, which transformers does not look for" in report.error.message
    assert says in report.error.message
    with pytest.raises(NotVerified):
        report.raise_for_verdict()


def test_what_is_wrong_with_files_of_other_names_is_told(tmp_path: Path) -> None:
    folder = saved(lambda tensors: boxed(tensors, more={"x": called("os.system", text("exit"))})).write(tmp_path / "m")
    (folder / BIN).rename(folder / "model.ckpt")
    assert [finding.code for finding in hfcount.verify(str(folder)).findings] == ["HF701"]


def test_shards_without_an_index_are_no_model(tmp_path: Path) -> None:
    checkpoint = sharded()
    del checkpoint.others[BIN_INDEX]
    (finding,) = hfcount.verify(str(checkpoint.write(tmp_path / "m"))).findings
    assert (finding.code, finding.file) == ("HF007", BIN_INDEX)
    assert "pytorch_model.bin.index.json, which says what tensor is in what file, is missing" in finding.message
    del checkpoint.others["pytorch_model-00002-of-00002.bin"]
    codes = {one.code for one in hfcount.verify(str(checkpoint.write(tmp_path / "less"))).findings}
    assert codes == {"HF005"}


def test_one_file_goes_before_an_index(tmp_path: Path) -> None:
    """As in from_pretrained."""
    checkpoint = sharded()
    checkpoint.others[BIN] = saved(boxed).others[BIN]
    checkpoint.others["pytorch_model-00002-of-00002.bin"] = b"x"
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    assert (report.verdict, report.container) == ("verified", "pickle")
    assert "pytorch_model-00002-of-00002.bin" in report.not_looked_at[0].files


def test_an_adapter_beside_is_no_model(tmp_path: Path) -> None:
    checkpoint = saved(boxed)
    checkpoint.others |= {"adapter_config.json": b"{}", "adapter_model.safetensors": b"x"}
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    assert (report.container, [finding.code for finding in report.findings]) == ("pickle", ["HF010"])


def test_files_that_hold_more_than_is_read_are_not_judged(tmp_path: Path) -> None:
    checkpoint = sharded()
    many = archive(state(**{f"a{key}": tensor(storage("0")) for key in range(9)}, x=number(1) * 1_100_000))
    checkpoint.others["pytorch_model-00001-of-00002.bin"] = many
    report = hfcount.verify(str(checkpoint.write(tmp_path / "m")))
    assert report.error and "the most that are read" in report.error.message
    assert "HF005" not in [finding.code for finding in report.findings]


@pytest.mark.parametrize("change", [{"tensors": {"w": [1]}}, {"bytes": "x"}, {"storages": [[1]]}, {"globals": None}])
def test_a_recording_that_was_tampered_with_is_refused(run: Run, tmp_path: Path, change: dict[str, Any]) -> None:
    run(saved(boxed).write(tmp_path / "m"), "--save", tmp_path / "saved")
    path = tmp_path / "saved" / "m" / "headers.json"
    content = json.loads(path.read_text())
    content["pickles"][BIN] |= change
    path.write_text(json.dumps(content))
    assert run("m", "--fixtures", tmp_path / "saved").code == 3


def fix(folder: Path, *options: str) -> int:
    """The exit code of `hfcount fix`."""
    code = find("fix").main([str(folder), *options], standalone_mode=False)
    assert type(code) is int
    return code


@pytest.mark.parametrize("make", [misplaced, lambda: without_index()], ids=["an index that errs", "no index"])
def test_a_repair_writes_the_index_and_leaves_pickles_as_they_are(
    tmp_path: Path, make: Callable[[], Checkpoint]
) -> None:
    folder = make().write(tmp_path / "m")
    before = {path.name: path.read_bytes() for path in folder.glob("*.bin")}
    assert fix(folder, "--write") == 0
    assert {path.name: path.read_bytes() for path in folder.glob("*.bin")} == before
    assert hfcount.verify(str(folder)).verdict == "verified"


@pytest.mark.parametrize(
    ("spoilt", "code"),
    [
        pytest.param(lambda raw: raw[:200], "HF001", id="cut"),
        pytest.param(lambda raw: b"", "HF001", id="empty"),
        pytest.param(lambda raw: b"[1]", "HF001", id="list"),
        pytest.param(lambda raw: re.sub(rb'"pytorch_model-0000\d', b'"../x', raw), "HF002", id="unsafe"),
        pytest.param(lambda raw: re.sub(rb'"pytorch_model-0000\d', b'"other', raw), "HF005", id="other files"),
    ],
)
def test_an_index_that_cannot_be_used_is_written_again(
    tmp_path: Path, spoilt: Callable[[bytes], bytes], code: str
) -> None:
    checkpoint = sharded()
    checkpoint.others[BIN_INDEX] = spoilt(checkpoint.others[BIN_INDEX])
    folder = checkpoint.write(tmp_path / "spoilt")
    before = {path.name: path.read_bytes() for path in folder.glob("*.bin")}
    assert [finding.code for finding in hfcount.verify(folder).findings] == [code]
    fix(folder, "--write")
    assert hfcount.verify(folder).verdict == "verified"
    assert {path.name: path.read_bytes() for path in folder.glob("*.bin")} == before


def test_an_index_that_no_loader_reads_may_be_broken(tmp_path: Path) -> None:
    folder = saved(boxed).write(tmp_path / "single")
    (folder / BIN_INDEX).write_text("{")
    assert hfcount.verify(folder).verdict == "verified"


def without_index() -> Checkpoint:
    checkpoint = sharded()
    del checkpoint.others[BIN_INDEX]
    return checkpoint


def test_a_repair_renames_nothing_in_a_pickle(tmp_path: Path) -> None:
    wrapped = saved(lambda tensors: boxed({f"module.{name}": one for name, one in tensors.items()}))
    folder = wrapped.write(tmp_path / "m")
    before = (folder / BIN).read_bytes()
    fix(folder, "--write")
    fix(folder, "--write", "--only", "HF211")
    assert (folder / BIN).read_bytes() == before
