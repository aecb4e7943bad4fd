"""Tied weights that are stored twice: a copy is told from a head of its own by the ends of both, wherever they are."""

import json
from pathlib import Path

import pytest
from build import Json, config
from conftest import Run
from defects import EMBED, HEAD, SINGLE, Checkpoint, Tensors, size, stored
from loopback import Fault, Hub

import hfcount

TIED = config("qwen3", tie_word_embeddings=True, vocab_size=6_000)
WIDTH, ROWS = 12, 6_000
LONG = 2 * WIDTH * ROWS  # bytes of each of the two, more than both ends together
MODEL = "org/tied"
PARTS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def copied(values: Json = TIED, dtype: str = "BF16", single: bool = False) -> Checkpoint:
    """A tied model with a copy of its head, which is in another file than the embedding."""
    tensors, head = stored(values), {HEAD: (dtype, (values["vocab_size"], WIDTH))}
    if single:
        return Checkpoint(values, {SINGLE: tensors | head}, weight_map={})
    return Checkpoint(values, {PARTS[0]: tensors, PARTS[1]: head})


def place_of(name: str, tensors: Tensors, content: bytes) -> int:
    """Where the bytes of a tensor begin in its file."""
    before = list(tensors)[: list(tensors).index(name)]
    return 8 + int.from_bytes(content[:8], "little") + sum(size(*tensors[one]) for one in before)


def written(folder: Path, checkpoint: Checkpoint, *changed: int) -> Path:
    """The folder; these bytes of the head are others than those of the embedding."""
    made = checkpoint.write(folder)
    file = next(file for file, tensors in checkpoint.shards.items() if HEAD in tensors)
    content = bytearray((made / file).read_bytes())
    start = place_of(HEAD, checkpoint.shards[file], content)
    for byte in changed:
        content[start + byte] ^= 1
    (made / file).write_bytes(content)
    return made


def told(report: hfcount.Report) -> tuple[str, str, bool]:
    (finding,) = report.findings
    return report.verdict, finding.code, "was not compared" in finding.message


@pytest.mark.parametrize("single", [False, True], ids=["shards", "one file"])
@pytest.mark.parametrize(
    ("byte", "verdict", "code"),
    [
        (0, "explained", "HF213"),
        (65_535, "explained", "HF213"),
        (LONG - 1, "explained", "HF213"),
        (None, "explained", "HF203"),
    ],
)
def test_the_ends_of_a_copy_are_those_of_the_original(
    tmp_path: Path, single: bool, byte: int | None, verdict: str, code: str
) -> None:
    made = written(tmp_path / "m", copied(single=single), *([] if byte is None else [byte]))
    assert told(hfcount.verify(str(made))) == (verdict, code, False)


@pytest.mark.parametrize(("changed", "tied"), [((), True), ((0,), False)])
@pytest.mark.parametrize("claim", [True, False], ids=["tied", "untied"])
def test_a_head_of_its_own_is_counted_as_it_is_loaded(
    tmp_path: Path, changed: tuple[int, ...], tied: bool, claim: bool
) -> None:
    counted, claimed = (hfcount.blueprint(TIED | {"tie_word_embeddings": one}) for one in (tied, claim))
    checkpoint = copied()
    checkpoint.metadata["total_parameters"] = claimed.total
    report = hfcount.verify(str(written(tmp_path / "m", checkpoint, *changed)), formula=True, tensors=True)
    counts = report.parameters
    assert counts and report.formula
    assert (counts.total, counts.active, counts.active_without_embedding) == (
        counted.total,
        counted.active,
        counted.active_without_embedding,
    )
    assert {one.name: one.total for one in report.components} == {
        name: measure.total for name, measure in counted.by_component.items()
    }
    assert report.formula.parts[-1].value == counted.total
    assert {one.name for one in report.tensors or () if one.kind == "parameter"} == {
        row.name for row in counted.rows() if row.kind == "parameter"
    }
    assert ("HF403" in {finding.code for finding in report.findings}) is (tied and not claim)


def test_a_head_of_its_own_is_explained_with_its_cure(tmp_path: Path) -> None:
    made = written(tmp_path / "m", copied(), 0)
    (finding,) = hfcount.verify(str(made)).findings
    assert (finding.key, finding.file, finding.fix) == (
        "tie_word_embeddings",
        "config.json",
        "Set tie_word_embeddings to false.",
    )
    assert (finding.expected, finding.observed, finding.parameters) == (EMBED, HEAD, ROWS * WIDTH)
    values = TIED | {"tie_word_embeddings": False}
    (made / "config.json").write_text(json.dumps(values))
    assert hfcount.verify(str(made)).verdict == "verified"


def test_no_copy_is_claimed_where_none_was_compared(tmp_path: Path) -> None:
    made = written(tmp_path / "m", copied(), 0)
    assert told(hfcount.verify(str(made), depth="index")) == ("explained", "HF203", True)


def test_another_dtype_is_not_compared(tmp_path: Path) -> None:
    report = hfcount.verify(str(copied(dtype="F32").write(tmp_path / "m")))
    by_code = {finding.code: finding.message for finding in report.findings}
    assert sorted(by_code) == ["HF203", "HF302"]
    assert "was not compared" in by_code["HF203"]


@pytest.mark.parametrize(("changed", "verdict", "code"), [((), "explained", "HF203"), ((0,), "explained", "HF213")])
def test_a_hub_is_asked_for_the_ends(
    hub: Hub, run: Run, tmp_path: Path, changed: tuple[int, ...], verdict: str, code: str
) -> None:
    hub.publish(MODEL, written(tmp_path / "m", copied(), *changed))
    online = run(MODEL, "--save", tmp_path / "saved")
    assert told(hfcount.Report.model_validate_json(json.dumps(online.report))) == (verdict, code, False)
    assert (online.report["depth"], online.report["depth_reason"]) == (
        "headers",
        "a tied weight is stored; the index does not show whether it is a copy",
    )
    asked = [path for path in hub.paths() + hub.cdn.paths() if path.endswith(".safetensors")]
    assert len(asked) == 2 + 4  # a header each, and two ends of either tensor
    hub.requests.clear()
    replay = run(MODEL, "--fixtures", tmp_path / "saved")
    assert replay.report == online.report | {"source": "fixtures"}
    again = run(MODEL)  # from what was kept
    assert again.report == online.report
    assert [path for path in hub.paths() if "/resolve/" in path] == []


def test_ends_that_cannot_be_had_are_said_not_to_be_compared(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, written(tmp_path / "m", copied(), 0))
    hub.faults[PARTS[1]] = [Fault(times=1), Fault(status=404)]  # its header can be read
    online = run(MODEL, "--save", tmp_path / "saved")
    assert told(hfcount.Report.model_validate_json(json.dumps(online.report))) == ("explained", "HF203", True)
    replay = run(MODEL, "--fixtures", tmp_path / "saved")
    assert replay.report == online.report | {"source": "fixtures"}


@pytest.mark.parametrize("samples", [[], {"a": []}, {"a": {"0-1": 1}}, {"a": {"x": "y"}}, {"a": {"0": "y"}}])
def test_a_recording_of_another_form_is_refused(tmp_path: Path, samples: object) -> None:
    made = copied().write(tmp_path / "fixtures" / "m")
    (made / "headers.json").write_text(json.dumps({"revision": None, "samples": samples}))
    with pytest.raises(hfcount.HfcountError, match="samples must give digests"):
        hfcount.verify("m", fixtures=tmp_path / "fixtures")


def test_a_server_that_ignores_ranges_does_not_have_to_send_all_before_them(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish(MODEL, written(tmp_path / "m", copied(TIED | {"vocab_size": 50_000}, single=True), 0))
    hub.faults[SINGLE] = [Fault(whole=True)]
    report = hfcount.Report.model_validate_json(json.dumps(run(MODEL).report))
    assert told(report) == ("explained", "HF203", True)
