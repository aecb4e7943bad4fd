"""GGUF files as the command and the library show them: from disk and from a Hub, alone, in sets, beside safetensors."""

import json
import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from build import unread
from conftest import Run
from defects import sharded
from gguf_files import CONFIG, Source, laid_out, model, projector, source, split, whole
from loopback import Fault, Hub
from tables import over

import hfcount
from hfcount.errors import FetchError
from hfcount.report.renderers import html, markdown, table
from hfcount.sweeping.parts import read
from hfcount.sweeping.prefilter import screened

TOTAL, BYTES = 86_944, 347_776
LONG = [f"token-{number}" for number in range(30_000)]
Files = Mapping[str, bytes]


def folder(path: Path, files: Files, config: Mapping[str, Any] | None = None) -> Path:
    path.mkdir(parents=True)
    for name, raw in files.items():
        (path / name).parent.mkdir(exist_ok=True, parents=True)
        (path / name).write_bytes(raw)
    if config is not None:
        (path / "config.json").write_text(json.dumps(config))
    return path


def sound(types: str = "F32", **pairs: Any) -> bytes:
    """A file whose matrices are of a type."""
    own, shapes = model(**pairs)
    kinds = {name: types for name, shape in shapes.items() if len(shape) == 2}
    file: Source = source(own, laid_out(shapes, kinds))
    return file(0, file.size)


# One file


def test_a_file_is_a_model(tmp_path: Path, run: Run) -> None:
    path = folder(tmp_path / "m", {"m.gguf": whole(*model())}) / "m.gguf"
    result = run(path)
    report = result.report
    assert (result.code, report["verdict"], report["container"]) == (0, "verified", "gguf")
    assert report["parameters"] == dict.fromkeys(("total", "active", "stored"), TOTAL) | {
        "active_without_embedding": TOTAL - 6_400
    }
    assert (report["family"], report["memory"]["weights"]) == ("qwen3", {"F32": BYTES})
    assert [check["name"] for check in report["checks"]] == ["file_size", "metadata"]
    assert "variants" not in report


def test_its_figures_are_those_of_the_model(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"m.gguf": whole(*model())}) / "m.gguf"
    report = hfcount.verify(path, context=10, memory="1MiB", formula=True, tensors=True)
    assert report.memory and report.formula and report.tensors
    assert report.memory.kv_bytes == 10 * 2 * 2 * 2 * 24 * 2
    assert report.memory.fits and report.memory.total_bytes == BYTES + 3_840
    assert report.formula.parts[-1].value == TOTAL
    assert sum(row.elements for row in report.tensors) == TOTAL
    for text in (table.render([report]), markdown.render([report]), html.render([report])):
        assert "86,944 parameters in 347,776 bytes (32.00 bits each)" in " ".join(text.split())


def test_what_llama_cpp_does_not_know_is_refused(tmp_path: Path) -> None:
    pairs, shapes = model()
    other = {key.replace("qwen3", "nobodys"): value for key, value in pairs.items()} | {
        "general.architecture": "nobodys"
    }
    report = hfcount.verify(folder(tmp_path / "m", {"m.gguf": whole(other, shapes)}))
    assert (report.verdict, report.exit_code) == ("mismatch", 1)
    assert [finding.code for finding in report.findings] == ["HF114"]
    assert report.error and "architecture nobodys" in report.error.message
    assert report.memory and report.memory.weights_bytes == BYTES


def test_roles_are_told_apart(tmp_path: Path) -> None:
    imatrix = whole({"general.type": "imatrix"}, {"blk.0.attn_q.weight.in_sum2": (4,)})
    files = {"m.gguf": whole(*model()), "imatrix.gguf": imatrix, "mmproj.gguf": projector()}
    report = hfcount.verify(folder(tmp_path / "m", files))
    assert {one.file: (one.role, one.verdict) for one in report.variants or ()} == {
        "m.gguf": ("model", "verified"),
        "imatrix.gguf": ("imatrix", "verified"),
        "mmproj.gguf": ("projector", "verified"),
    }
    assert report.verdict == "verified"
    alone = hfcount.verify(tmp_path / "m" / "imatrix.gguf")
    assert (alone.verdict, alone.error and "importance matrix" in alone.error.message) == ("unverified", True)


def test_the_tensors_of_a_projector_of_a_type_that_is_not_recorded_are_not_known(tmp_path: Path) -> None:
    files = {"m.gguf": whole(*model()), "mmproj.gguf": projector(**{"clip.projector_type": "mlp"})}
    report = hfcount.verify(folder(tmp_path / "m", files))
    assert {one.file: one.verdict for one in report.variants or ()} == {
        "m.gguf": "verified",
        "mmproj.gguf": "unverified",
    }
    assert (report.verdict, report.error and "clip:mlp" in report.error.message) == ("unverified", True)


def test_raw_cuts_are_to_be_joined(tmp_path: Path, run: Run) -> None:
    raw = whole(*model())
    path = folder(tmp_path / "m", {"m.gguf.part1of2": raw[:1_000], "m.gguf.part2of2": raw[1_000:]})
    assert "cat m.gguf* > m.gguf" in run(path).report["error"]["message"]


# Which file


@pytest.mark.parametrize(
    ("named", "file"),
    [
        pytest.param("", None, id="the folder"),
        pytest.param("a-Q8_0.gguf", "a-Q8_0.gguf", id="a file"),
        pytest.param("m-00001-of-00003.gguf", "m-00001-of-00003.gguf", id="the first part of a set"),
    ],
)
def test_what_a_path_means(tmp_path: Path, named: str, file: str | None) -> None:
    path = folder(tmp_path / "m", {"a-Q8_0.gguf": sound("Q8_0"), "a-F16.gguf": sound("F16"), **split()})
    report = hfcount.verify(path / named)
    assert report.verdict == "verified"
    assert (len(report.variants or ()) == 3) == (file is None)
    assert report.evidence and report.evidence.files
    assert report.evidence.files.opened == (5 if file is None else 3 if file.startswith("m-") else 1)


def test_a_later_part_is_no_beginning(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {**split()})
    report = hfcount.verify(path / "m-00002-of-00003.gguf")
    (finding,) = report.findings
    assert (report.verdict, finding.code) == ("mismatch", "HF114")
    assert "by its first part, m-00001-of-00003.gguf, alone" in finding.message
    assert report.evidence and report.evidence.files and report.evidence.files.opened == 3
    (reading,) = (reading for reading in report.loaders if reading.loader == "llama.cpp")
    assert (reading.outcome, reading.evidence) == ("refuses", "read")


@pytest.mark.parametrize("spelling", ["{}:Q8_0", "{}:q8_0", "hf.co/{}:Q8_0", "hf://{}/a-Q8_0.gguf"])
def test_one_file_of_a_repo(hub: Hub, run: Run, tmp_path: Path, spelling: str) -> None:
    files = {"a-Q8_0.gguf": sound("Q8_0"), "a-F16.gguf": sound("F16"), "IQ8_0.gguf": sound("Q8_0")}
    hub.publish("org/m-GGUF", folder(tmp_path / "m", files))
    report = run(spelling.format("org/m-GGUF")).report
    assert (report["verdict"], list(report["memory"]["weights"])) == ("verified", ["Q8_0", "F32"])
    assert [path for path in hub.paths() if "F16" in path] == []


def test_a_file_that_is_not_there(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish("org/m-GGUF", folder(tmp_path / "m", {"a-Q8_0.gguf": sound("Q8_0")}))
    error = run("org/m-GGUF:Q4_K_M").report["error"]
    assert (error["kind"], error["message"]) == (
        "NoSuchFile",
        "org/m-GGUF has no GGUF file Q4_K_M. It has a-Q8_0.gguf.",
    )


# Over the Hub


def test_a_long_header_takes_few_requests(hub: Hub, run: Run, tmp_path: Path) -> None:
    pairs = {"tokenizer.ggml.tokens": [f"{name}-{'x' * 120}" for name in LONG], "qwen3.vocab_size": 100}
    shapes = model()[1] | {"token_embd.weight": (len(LONG), 64), "output.weight": (len(LONG), 64)}
    raw = whole({**model()[0], **pairs}, shapes)
    hub.publish("org/m-GGUF", folder(tmp_path / "m", {"m.gguf": raw}))
    assert run("org/m-GGUF").report["verdict"] == "verified"
    assert len([path for path in hub.paths() if path.endswith("/m.gguf")]) <= 4


def test_each_further_form_takes_one_range(hub: Hub, run: Run, tmp_path: Path) -> None:
    own, shapes = model()
    own |= {"tokenizer.ggml.tokens": [*LONG, *LONG], "qwen3.embedding_length": 64}
    held: dict[str, tuple[int, ...]] = {**shapes, "token_embd.weight": (60_000, 64), "output.weight": (60_000, 64)}
    files = {}
    for kind in ("F32", "F16", "Q8_0", "Q4_0"):
        types = {name: kind for name, shape in held.items() if len(shape) == 2}
        file = source(own, laid_out(held, types))
        files[f"m-{kind}.gguf"] = file(0, file.size)
    hub.publish("org/m-GGUF", folder(tmp_path / "m", files))
    report = run("org/m-GGUF", "--memory", "24MiB").report
    assert {one["file"]: one["fits"] for one in report["variants"]} == {
        "m-F32.gguf": False,
        "m-F16.gguf": True,
        "m-Q8_0.gguf": True,
        "m-Q4_0.gguf": True,
    }
    assert report["memory"]["fits"] and "F16" in report["memory"]["weights"]
    asked = [path.rpartition("/")[2] for path in hub.paths() if path.endswith(".gguf")]
    assert [asked.count(name) for name in files].count(1) >= 3


def test_the_base_that_a_repo_names_is_asked_for(hub: Hub, run: Run, tmp_path: Path) -> None:
    hub.publish("org/base", folder(tmp_path / "base", {}, CONFIG))
    base = {"general.base_model.count": 1, "general.base_model.0.repo_url": "https://huggingface.co/org/base"}
    hub.publish("org/named", folder(tmp_path / "named", {"m.gguf": whole(model()[0] | base, model()[1])}))
    card = b"---\nbase_model:\n- org/base\nlicense: mit\n---\n"
    hub.publish("org/carded", folder(tmp_path / "carded", {"m.gguf": whole(*model()), "README.md": card}))
    for name in ("org/named", "org/carded"):
        report = run(name).report
        assert (report["verdict"], report["checks"][-1]["text"]) == ("verified", "by org/base"), name
    assert len([path for path in hub.paths() if "/org/base/" in path]) == 2


def test_a_file_cannot_name_a_path_of_this_machine(tmp_path: Path, hub: Hub, run: Run) -> None:
    for place in (str(tmp_path), "../base", "./base", "https://huggingface.co/../../base"):
        base = {
            "general.base_model.count": 1,
            "general.base_model.0.repo_url": place,
            "general.base_model.0.name": place,
        }
        path = folder(tmp_path / f"m{len(list(tmp_path.iterdir()))}", {"m.gguf": whole(model()[0] | base, model()[1])})
        report = run(path).report
        assert (report["verdict"], [one["code"] for one in report["findings"]]) == ("verified", []), place
    assert hub.paths() == []


# Many


def test_a_sweep_has_rows_of_them(tmp_path: Path) -> None:
    folder(tmp_path / "tree" / "a", {"m.gguf": whole(*model())})
    folder(tmp_path / "tree" / "b", {"m.gguf": whole(*model())[:-9]}, CONFIG)
    folder(tmp_path / "tree" / "c", {"notes.txt": b""})
    with ThreadPoolExecutor(1) as threads:
        hfcount.sweep(tmp_path / "tree", tmp_path / "out", executor=threads)
    rows = {row["model"]: row for row in read(tmp_path / "out")}
    assert {name: (row["verdict"], row["stored"], row["bytes"]) for name, row in rows.items()} == {
        "a": ("verified", TOTAL, BYTES),
        "b": ("mismatch", None, None),
    }


def test_a_listing_tells_them() -> None:
    assert screened({}, ["README.md", "m-Q4_0.gguf"], signed=False) is None
    assert screened({}, ["README.md", "m.pt"], signed=False) == ("NoConfig", "there is no config.json")
    assert screened({"gated": "auto"}, ["m.gguf"], signed=False) is not None


def test_a_tree_is_verified(tmp_path: Path, run: Run) -> None:
    folder(tmp_path / "tree" / "a", {"m.gguf": whole(*model())})
    assert [one["verdict"] for one in run("--recursive", tmp_path / "tree").reports] == ["verified"]


# Against a base


@pytest.mark.parametrize("how", ["a folder", "a config", "a repo"])
def test_a_base_by_hand(hub: Hub, run: Run, tmp_path: Path, how: str) -> None:
    base = folder(tmp_path / "base", {}, CONFIG)
    hub.publish("org/base", base)
    named: Path | str = {"a folder": base, "a config": base / "config.json"}.get(how, "org/base")
    path = folder(tmp_path / "m", {"m.gguf": whole(*model())}) / "m.gguf"
    report = run(path, "--base", named).report
    assert (report["verdict"], report["checks"][-1]["name"]) == ("verified", "base")
    (base / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": 3}))
    hub.publish("org/base", base)
    result = run(path, "--base", named)
    assert (result.code, [one["code"] for one in result.report["findings"]]) == (1, ["HF713"])


def test_a_base_that_cannot_be_read(hub: Hub, run: Run, tmp_path: Path) -> None:
    path = folder(tmp_path / "m", {"m.gguf": whole(*model())}) / "m.gguf"
    for named in ("org/absent", "./absent"):
        result = run(path, "--base", named)
        assert (result.code, result.report["verdict"]) == (3, "unverified")
        assert "its base cannot be compared" in result.report["error"]["message"]


def test_a_base_goes_with_what_was_made_of_one(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"; \S+/(a|m) is none of these"):
        hfcount.verify(sharded().write(tmp_path / "m"), base="org/base")


# Beside safetensors


def test_what_lies_beside_safetensors(tmp_path: Path, hub: Hub, run: Run) -> None:
    checkpoint = sharded()
    checkpoint.others = {"m.gguf": whole(*model())[:-9]}
    path = checkpoint.write(tmp_path / "m")
    hub.publish("org/m", path)
    for named, options in ((path, []), ("org/m", ["--depth", "headers"])):
        report = run(named, *options).report
        assert (report["verdict"], [one["code"] for one in report["findings"]]) == ("explained", ["HF004"])
        assert (report["variants"][0]["verdict"], unread(report["not_looked_at"])) == ("mismatch", [])
        assert "container" not in report
    report = run("org/m").report
    assert (report["verdict"], report["not_looked_at"][0]["kind"]) == ("verified", "GGUF")


# The page


def test_what_metadata_does_not_say_is_told(tmp_path: Path) -> None:
    pairs, shapes = model()
    for key, says in (("block_count", "how many layers"), ("context_length", "how long a context")):
        rest = {name: value for name, value in pairs.items() if not name.endswith(key)}
        report = hfcount.verify(folder(tmp_path / key, {"m.gguf": whole(rest, shapes)}))
        assert ["needs the key" in finding.message for finding in report.findings] == [True]
        assert [says in check.text for check in report.checks if check.name == "metadata"] == [True]


def test_its_tensors_are_listed_as_they_are_stored(tmp_path: Path, run: Run) -> None:
    path = folder(tmp_path / "a", {"m.gguf": sound("Q8_0")})
    rows = run(path, "--tensors").report["tensors"]
    assert {"token_embd.weight", "blk.{0-1}.attn_q.weight"} < {row["name"] for row in rows}
    assert (sum(row["elements"] for row in rows), sum(row["count"] for row in rows)) == (86_944, 25)
    assert {row["kind"] for row in rows} == {"Q8_0", "F32"}


def test_no_engine_is_named_that_does_not_serve_it(tmp_path: Path) -> None:
    report = hfcount.verify(folder(tmp_path / "a", {"m.gguf": sound()}), memory="1GiB")
    assert report.serving is not None
    assert (report.serving.fits, report.serving.engines) == (True, ())


@pytest.mark.parametrize(
    ("file", "says"),
    [("a/b/m.gguf", "a/b/m.gguf` verifies"), ("m.ggml", "the format before GGUF"), ("ggml-model.bin", "before GGUF")],
)
def test_what_lies_deeper_or_is_older(tmp_path: Path, file: str, says: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sound())
    with pytest.raises(FetchError, match=says):
        hfcount.verify(tmp_path)


def test_the_page_shows_what_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"model-{kind}.gguf": sound(kind) for kind in ("F16", "Q8_0", "Q4_0")}
    monkeypatch.chdir(tmp_path)
    path = folder(Path("my-gguf"), files)
    report = hfcount.verify(f"./{path}", memory="1MiB")
    page = (Path(hfcount.__file__).parent / "docs" / "gguf.md").read_text()
    (shown,) = re.findall(r"```console\n\$ hfcount ./my-gguf --memory 1MiB\n(.*?)```", page, re.DOTALL)
    assert shown == f"{table.render([report])}\n"


# Files and servers that mean harm


EXTREME = (
    0,
    2**31 - 1,
    (10, struct.pack("<Q", 2**64 - 1)),
    (11, struct.pack("<q", -5)),
    "x",
    [2**31] * 2,
    ["a"] * 9,
)
COUNTS = (
    "block_count",
    "embedding_length",
    "attention.head_count",
    "expert_count",
    "nextn_predict_layers",
    "vocab_size",
)


@over("key", COUNTS, every=5)
def test_metadata_that_lies_is_told_in_lines(tmp_path: Path, key: str) -> None:
    base = folder(tmp_path / "base", {}, CONFIG)
    for place, value in enumerate(EXTREME):
        for architecture in ("qwen3", "deepseek2", "clip", "nobodys\x1b[31m"):
            own, shapes = model()
            pairs = {name.replace("qwen3", architecture): one for name, one in own.items()}
            pairs |= {"general.architecture": architecture, f"{architecture}.{key}": value}
            path = folder(tmp_path / f"{place}{architecture[:5]}", {"m.gguf": whole(pairs, shapes)})
            for report in (hfcount.verify(path, memory="1MiB"), hfcount.verify(path, base=base)):
                messages = [*(one.message for one in report.findings), report.error.message if report.error else ""]
                assert all(message.isprintable() and len(message) < 1_000 for message in messages)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Fault(status=500), "HubError", id="an error", marks=pytest.mark.long),  # it is asked again
        pytest.param(Fault(status=404), "HubError", id="no such file, though it is listed"),
        pytest.param(Fault(cut=0.5), "NoNetwork", id="half of the range"),
        pytest.param(Fault(status=302, headers={"Location": "file:///etc/passwd"}), "HubError", id="a local file"),
    ],
)
def test_a_server_that_does_not_answer_right(hub: Hub, run: Run, tmp_path: Path, fault: Fault, kind: str) -> None:
    hub.publish("org/m-GGUF", folder(tmp_path / "m", {"m.gguf": whole(*model()) + bytes(4_000_000)}))
    hub.faults["m.gguf"] = [fault]
    hub.cdn.faults["m.gguf"] = [fault]
    result = run("org/m-GGUF", "--timeout", "20")
    assert (result.code, result.err) == (3, "")
    assert result.report["error"]["kind"] == kind
    assert "\n" not in result.report["error"]["message"]


# Sizes that the tensors could not have


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ({"qwen3.block_count": "2"}, "qwen3.block_count is not a whole number"),
        ({"qwen3.embedding_length": 64.0}, "qwen3.embedding_length is not a whole number"),
        ({"qwen3.expert_count": 4}, "qwen3.expert_count is 4, but no tensors of experts are stored"),
    ],
)
def test_metadata_of_another_kind(tmp_path: Path, pairs: Mapping[str, Any], says: str) -> None:
    path = folder(tmp_path / "m", {"m.gguf": whole(*model(**pairs))})
    report = hfcount.verify(path)
    assert (report.verdict, [one.code for one in report.findings]) == ("mismatch", ["HF710"])
    assert says in report.findings[0].message


def test_a_part_that_is_cut_is_told_once(tmp_path: Path) -> None:
    files = split()
    files["m-00002-of-00003.gguf"] = files["m-00002-of-00003.gguf"][:-40]
    assert [one.code for one in hfcount.verify(folder(tmp_path / "m", files)).findings] == ["HF004"]
