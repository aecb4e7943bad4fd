"""--depth data: what it finds and where, what it leaves alone, what it says of files that it cannot read."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import config, raw, shard
from conftest import interruptible
from defects import EMBED, adapter, sharded
from loopback import Hub
from tables import over
from valued import UP, VALUED, Valued, constant, filled, header, place, put

import hfcount
from hfcount.checkpoints.data.count import CHUNK, Chunks
from hfcount.checkpoints.data.file_source import FileSource
from hfcount.checkpoints.data.float_formats import FLOATS
from hfcount.checkpoints.data.locations import TensorLocation
from hfcount.checkpoints.data.tally import Tally
from hfcount.checkpoints.inspect import inspect
from hfcount.checkpoints.inspection import Options
from hfcount.fetcher import Request
from hfcount.formats.safetensors import Entry

DOCS = Path(hfcount.__path__[0]) / "docs"


@over("name", VALUED)
def test_each_value_is_found_and_located(name: str, tmp_path: Path) -> None:
    case = VALUED[name]
    report = hfcount.verify(case.write(tmp_path / f"case-{[*VALUED].index(name)}"), depth="data")
    assert (report.verdict, " ".join(one.code for one in report.findings), report.depth) == (
        case.verdict,
        case.codes,
        "data",
    )
    for text in case.says:
        assert text in report.findings[0].message


def _value(dtype: str, code: int) -> float:
    """What a code stands for, by the definition of the format, in the simplest words."""
    kind = FLOATS[dtype]
    size = code & (kind.sign - 1) if kind.signed else code
    if (kind.unsigned_zero and code == kind.sign) or (size > kind.highest and size != kind.infinity):
        return nan
    sign = -1 if kind.signed and code & kind.sign else 1
    return sign * inf if size == kind.infinity else sign * abs(kind.value(code))


NARROW = [name for name, kind in FLOATS.items() if kind.bits in (8, 16)]


@pytest.mark.parametrize("dtype", NARROW)
def test_every_code_is_read_as_its_format_defines_it(dtype: str) -> None:
    width = FLOATS[dtype].bits // 8
    codes = np.arange(1 << (8 * width)).astype(f"<u{width}")[:: 1 if width == 1 else 97]
    values = np.array([_value(dtype, int(code)) for code in codes])
    for some in (slice(None), *(slice(number, number + 1) for number in range(0, len(codes), 7))):
        _agree(Chunks().count(dtype, codes[some].copy().view(np.uint8)), values[some])


@over("dtype", [*FLOATS])
@pytest.mark.parametrize("size", [0, 1, 7, 8193])
def test_figures_are_those_of_numpy(dtype: str, size: int) -> None:
    rng, kind = np.random.default_rng(size), FLOATS[dtype]
    if kind.bits < 8 or dtype == "C64":
        return
    raw = rng.integers(0, 256, size * kind.bits // 8, dtype=np.uint8)
    if kind.bits >= 32:  # of all patterns, most are out of any range
        raw = rng.standard_normal(size).astype(f"<f{kind.bits // 8}").view(np.uint8)
    values = [_value(dtype, int(code)) for code in raw.view(f"<u{kind.bits // 8}")]
    _agree(Chunks().count(dtype, raw), np.array(values))


_CODES = {
    "of both signs": lambda rng, kind, size: rng.integers(0, 1 << kind.bits, size),
    "above zero": lambda rng, kind, size: rng.integers(1, kind.sign, size),
    "below zero": lambda rng, kind, size: rng.integers(kind.sign + 1, 1 << kind.bits, size),
    "and zeros": lambda rng, kind, size: rng.integers(0, 1 << kind.bits, size) * rng.integers(0, 2, size),
}


@over("dtype", [name for name, kind in FLOATS.items() if kind.bits >= 8 and kind.signed and name != "C64"])
@pytest.mark.parametrize("what", _CODES)
def test_whole_chunks_are_counted_as_others_are(dtype: str, what: str) -> None:
    kind, chunks, total = FLOATS[dtype], Chunks(), Tally()
    run = chunks.run(dtype)
    assert run is not None
    for seed in range(3):
        size = CHUNK * 8 // kind.bits
        if kind.bits >= 32:  # of all patterns, most are out of any range
            values = np.random.default_rng(seed).standard_normal(size).astype(f"<f{kind.bits // 8}")
            values = {"of both signs": values, "above zero": abs(values), "below zero": -abs(values)}.get(what, values)
            values[:: 3 if what == "and zeros" else size + 1] = -0.0 if seed else 0.0
            codes = values.view(f"u{kind.bits // 8}")
        else:
            codes = _CODES[what](np.random.default_rng(seed), kind, size)
            sizes, limit = codes & (kind.sign - 1), min(kind.highest, kind.code(2.0**40))
            codes = np.where(sizes > limit, codes - sizes + limit, codes)
            codes = codes[codes != kind.sign] if kind.unsigned_zero else codes
            codes = np.resize(codes, size).astype(f"u{kind.bits // 8}")
        total.add(chunks.count(dtype, codes.view(np.uint8)))
        chunks.bytes[:] = codes.view(np.uint8)
        assert run.count()
    found = run.tally()
    for field in ("count", "zeros", "nan", "infinite", "least", "most", "summed", "first_nan"):
        assert (field, getattr(found, field)) == (field, getattr(total, field))
    assert found.squares == pytest.approx(total.squares, rel=1e-5)
    assert found.total == pytest.approx(total.total, rel=1e-4, abs=1e-5 * (total.squares * total.count) ** 0.5)


@over("dtype", ["BF16", "F16", "F32", "F64", "F8_E5M2", "F8_E4M3"])
def test_chunks_that_need_care_are_left_to_it(dtype: str) -> None:
    kind, chunks = FLOATS[dtype], Chunks()
    run = chunks.run(dtype)
    codes = chunks.bytes.view(f"u{kind.bits // 8}")
    tiny, huge = kind.code(2.0**-60), kind.code(2.0**60)
    for value in (kind.highest + 1, kind.sign + kind.highest + 1, tiny, huge):
        codes[:] = 0
        codes[77] = value
        ordinary = value in (tiny, huge) and 0 < kind.bits <= 16 and dtype != "BF16"
        assert run is not None and run.count() is ordinary
        assert not ordinary or chunks.count(dtype, chunks.bytes).nan == 0


def _agree(found: Tally, values: np.ndarray) -> None:
    finite = values[np.isfinite(values)]
    counts = len(values), int((finite == 0).sum()), int(np.isnan(values).sum()), int(np.isinf(values).sum())
    assert (found.count, found.zeros, found.nan, found.infinite) == counts
    assert found.range == ((finite.min(), finite.max()) if len(finite) else None)
    for spot, bad in ((found.first_nan, np.isnan(values)), (found.first_infinite, np.isinf(values))):
        assert (spot.number if spot else None) == (int(np.argmax(bad)) if bad.any() else None)
    if len(finite):
        largest = abs(finite).max() or 1
        rms = float(np.sqrt(((finite / largest) ** 2).mean()) * largest)
        assert found.rms == pytest.approx(rms, rel=1e-4, abs=1e-38)
        assert found.mean == pytest.approx(float((finite / largest).mean() * largest), rel=1e-4, abs=1e-5 * rms + 1e-38)


@pytest.mark.parametrize("begins", [(8, 48, 88), (8, 8, 48), (8, 28, 28), (48, 8, 20)])
def test_the_sum_of_a_file_is_that_of_its_bytes_whatever_tensors_share(begins: tuple[int, ...], tmp_path: Path) -> None:
    raw = np.random.default_rng(1).integers(0, 60, 150, dtype=np.uint8).tobytes()
    (tmp_path / "x.bin").write_bytes(raw)
    places = {
        str(number): TensorLocation("x.bin", begin, Entry("F32", (10,), 0, 40)) for number, begin in enumerate(begins)
    }
    found = FileSource(tmp_path).read(places, {"x.bin"}, lambda size: None)
    assert found.sums == {"x.bin": hashlib.sha256(raw).hexdigest()}
    for name, one in places.items():
        assert found.tallies[name].most == np.frombuffer(raw, "<f4", 10, one.begin).max()


@pytest.mark.parametrize(("dtype", "raw", "range"), [
    ("F4", bytes([0x01, 0xF0]), (-6.0, 0.5)),
    ("F6_E2M3", bytes([0x1F, 0, 0x80]), (-0.0, 7.5)),
    ("F6_E3M2", bytes([0x1F, 0, 0xFC]), (-28.0, 28.0)),
    ("BOOL", bytes([0, 1]), (0, 1)),
    ("I8", bytes([0x80, 5]), (-128, 5)),
    ("U64", bytes([255] * 8), (2**64 - 1, 2**64 - 1)),
])  # fmt: skip
def test_packed_and_whole_numbers(dtype: str, raw: bytes, range: tuple[float, float]) -> None:
    assert Chunks().count(dtype, np.frombuffer(raw, np.uint8).copy()).range == range


def test_complex_numbers_are_bad_if_a_part_is() -> None:
    found = Chunks().count("C64", np.array([1 + 2j, 0, complex(0, nan)], np.complex64).view(np.uint8))
    assert (found.count, found.zeros, found.nan, found.first_nan and found.first_nan.number) == (3, 1, 1, 2)


@pytest.mark.long
def test_values_at_the_seams_of_chunks_and_tasks_are_located(tmp_path: Path) -> None:
    rows = 130 * CHUNK // 24 + 5  # more than a thread takes at once
    checkpoint = sharded(vocab_size=rows)
    case = Valued("mismatch", make=lambda: checkpoint)
    folder = case.write(tmp_path / "large")
    for number in (CHUNK // 2 - 1, CHUNK // 2, 128 * CHUNK // 2, rows * 12 - 1):
        _, begin, _ = place(folder, EMBED)
        file = place(folder, EMBED)[0]
        with file.open("rb") as stream:
            stream.seek(begin + 2 * number)
            before = int.from_bytes(stream.read(2), "little")
        put(EMBED, number, 0x7F81)(folder)
        (finding,) = hfcount.verify(folder, depth="data").findings
        assert f"{EMBED}[{number // 12}, {number % 12}] in" in finding.message
        put(EMBED, number, before)(folder)


def test_statistics_are_in_the_report_and_on_the_page(tmp_path: Path) -> None:
    folder = VALUED["one value that is not a number"].write(tmp_path / "m")
    report = hfcount.verify(folder, depth="data")
    assert report.statistics and len(report.statistics) == 30
    (row,) = (one for one in report.statistics if one.name == UP)
    assert (row.nan, row.first_bad, row.component, row.elements) == (1, (3, 4), "mlp", 240)
    assert hfcount.Report.model_validate_json(report.to_json()) == report
    page = report.to_html()
    assert '<svg class="values"' in page
    assert f"<title>{UP}: " in page
    assert hfcount.verify(folder).statistics is None


def test_a_recording_has_no_data(tmp_path: Path) -> None:
    sharded().write(tmp_path / "m")
    hfcount.verify(tmp_path / "m", depth="headers")
    subprocess.run(
        [sys.executable, "-m", "hfcount", "--depth", "headers", "--save", tmp_path / "saved", tmp_path / "m"],
        check=True,
        capture_output=True,
    )
    report = hfcount.verify("m", fixtures=tmp_path / "saved", depth="data")
    assert (report.verdict, report.depth) == ("unverified", "headers")
    assert report.error and "is a recording of headers" in report.error.message


def test_data_needs_a_local_file(tmp_path: Path) -> None:
    VALUED["sound values"].write(tmp_path / "m")
    report = hfcount.verify(tmp_path / "m" / "config.json", depth="data")
    assert report.verdict == "unverified"


def test_a_cut_file_is_told_by_its_header(tmp_path: Path) -> None:
    folder = VALUED["sound values"].write(tmp_path / "m")
    file = place(folder, UP)[0]
    file.write_bytes(file.read_bytes()[:-1])
    report = hfcount.verify(folder, depth="data")
    assert report.verdict == "mismatch"
    assert {"HF004"} <= {one.code for one in report.findings}


def _read(folder: Path, step: Callable[[int], None]) -> hfcount.Report:
    """The report of a run that calls `step` after each chunk."""
    return inspect(Request(str(folder)), Options("data", reading=lambda size: step))


def test_a_file_that_is_written_meanwhile_is_told(tmp_path: Path) -> None:
    folder = VALUED["sound values"].write(tmp_path / "m")
    file = place(folder, UP)[0]
    report = _read(folder, lambda size: os.utime(file, ns=(0, 0)))
    assert (report.verdict, report.depth) == ("unverified", "headers")
    assert report.error and report.error.message == f"{file.name} was changed while hfcount read it. Run again."


def test_a_file_that_vanishes_meanwhile_is_told(tmp_path: Path) -> None:
    folder = VALUED["sound values"].write(tmp_path / "m")
    file = place(folder, UP)[0]
    report = _read(folder, lambda size: file.unlink(missing_ok=True))
    assert report.verdict == "unverified"
    assert report.error and report.error.message == f"{file.name} was deleted while hfcount read it."


def test_the_page_s_example_finds_what_is_not_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    VALUED["one value that is not a number"].write(tmp_path / "my-checkpoint")
    (example,) = re.findall(r"```python\n(.*?)```", (DOCS / "data.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {"hfcount": hfcount}
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "data.md", "exec"), names)
    assert names["bad"] == [UP]


def test_ctrl_c_ends_what_reads(tmp_path: Path) -> None:
    folder = VALUED["sound values"].write(tmp_path / "m")
    before, pressed = threading.active_count(), iter([signal.SIGINT])

    def press(size: int) -> None:
        for key in pressed:
            signal.raise_signal(key)

    with interruptible(), pytest.raises(KeyboardInterrupt):
        _read(folder, press)
    for thread in threading.enumerate():
        if thread.name.startswith("hfcount-data"):
            thread.join()
    assert threading.active_count() <= before  # those of other tests may end meanwhile


def test_a_snapshot_of_the_cache_is_local_and_its_blobs_say_their_contents(tmp_path: Path, monkeypatch: Any) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    repo, commit = tmp_path / "hub" / "models--org--name", "1" * 40
    made = VALUED["sound values"].write(tmp_path / "m")
    for folder in (repo / "refs", repo / "blobs", repo / "snapshots" / commit):
        folder.mkdir(parents=True)
    (repo / "refs" / "main").write_text(commit)
    for file in made.iterdir():
        blob = repo / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        blob.write_bytes(file.read_bytes())
        (repo / "snapshots" / commit / file.name).symlink_to(f"../../blobs/{blob.name}")
    assert hfcount.verify("org/name", offline=True, cache=False, depth="data").verdict == "verified"
    put(UP, 3, 0x3C00)(repo / "snapshots" / commit)
    report = hfcount.verify("org/name", offline=True, cache=False, depth="data")
    assert [one.code for one in report.findings] == ["HF907"]


def test_a_repo_that_is_not_on_this_machine_says_what_to_type(hub: Hub, tmp_path: Path, monkeypatch: Any) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    hub.publish("org/name", VALUED["sound values"].write(tmp_path / "m"))
    report = hfcount.verify("org/name", cache=False, depth="data")
    assert (report.verdict, report.depth) == ("unverified", "headers")
    assert report.error and "`hf download org/name --revision " in report.error.message


def test_an_adapter_is_read_too(tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "adapter")
    filled(folder / "adapter_model.safetensors", 3)
    assert "HF9" not in str([one.code for one in hfcount.verify(folder, depth="data").findings])
    name = next(iter(header(folder / "adapter_model.safetensors")[0]))
    put(name, 1, 0x7FC00000)(folder)
    report = hfcount.verify(folder, depth="data")
    assert "HF901" in [one.code for one in report.findings]


@pytest.mark.long
def test_a_model_in_memory_is_read_where_it_is() -> None:
    torch = pytest.importorskip("torch", reason="the oracle is not installed: pip install '.[oracle]'")
    transformers = pytest.importorskip("transformers", reason="the oracle is not installed: pip install '.[oracle]'")
    sizes = dict.fromkeys(("num_hidden_layers", "num_attention_heads"), 2)
    config = transformers.LlamaConfig(vocab_size=50, hidden_size=8, intermediate_size=12, **sizes)
    model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
    assert hfcount.verify_model(model, data=True).verdict == "verified"
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[3, 4] = torch.inf
    (finding,) = hfcount.verify_model(model, data=True).findings
    assert (finding.code, "up_proj.weight[3, 4]" in finding.message) == ("HF902", True)
    with pytest.raises(TypeError, match="meta device"):
        hfcount.verify_model(model.to("meta"), data=True)


def test_zeros_for_types_of_tokens_are_left_alone(tmp_path: Path) -> None:
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": 50,
        "hidden_size": 8,
        "dtype": "bfloat16",
    }
    config |= {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 20}
    shapes = {one.name: one.shape for one in hfcount.blueprint(config).tensors() if one.kind == "parameter"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes(shard(shapes))
    filled(tmp_path / "model.safetensors", 3)
    constant("embeddings.token_type_embeddings.weight")(tmp_path)
    assert "HF9" not in str([one.code for one in hfcount.verify(tmp_path, depth="data").findings])
    constant("embeddings.position_embeddings.weight")(tmp_path)
    assert hfcount.verify(tmp_path, depth="data").findings[0].code == "HF903"


@pytest.mark.parametrize(("mode", "group", "code"), [("mxfp4", 32, 0xFF), ("mxfp8", 32, 0xFF), ("nvfp4", 16, 0x7F)])
def test_codes_of_scales_that_are_stored_as_whole_numbers_are_read(
    mode: str, group: int, code: int, tmp_path: Path
) -> None:
    """Of powers of two the last is no number, and of E4M3 that below the sign."""
    bits = 8 if mode == "mxfp8" else 4
    settings = {"bits": bits, "group_size": group, "mode": mode}
    values = config(
        "llama", hidden_size=64, intermediate_size=64, head_dim=16, rms_norm_eps=1e-5, quantization=settings
    )
    tensors: dict[str, tuple[str, tuple[int, ...], bytes]] = {}
    for one in hfcount.blueprint(values).tensors():
        shape = tuple(map(int, one.shape))
        if len(shape) == 1:
            tensors[one.name] = "BF16", shape, b"\x80\x3f" * shape[0]
            continue
        words, groups = (shape[0], shape[1] * bits // 32), (shape[0], shape[1] // group)
        tensors[one.name] = "U32", words, bytes(number % 251 for number in range(4 * words[0] * words[1]))
        tensors[one.name.replace("weight", "scales")] = "U8", groups, b"\x70" * (groups[0] * groups[1])
    (tmp_path / "config.json").write_bytes(raw(values))
    file, scales = tmp_path / "model.safetensors", UP.replace("weight", "scales")

    def verdict(change: int | None) -> list[str]:
        entries, body = {}, b""
        for name, (dtype, shape, stored) in tensors.items():
            if name == scales and change is not None:
                stored = stored[:-2] + bytes([change]) + stored[-1:]
            entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(stored)]}
            body += stored
        text = json.dumps(entries).encode()
        file.write_bytes(len(text).to_bytes(8, "little") + text + body)
        return [one.message for one in hfcount.verify(tmp_path, depth="data").findings]

    assert not verdict(None)
    assert not verdict(code - 1)
    rows, columns = tensors[scales][1]
    (said,) = verdict(code)
    assert f"{scales}[{rows - 1}, {columns - 2}] in model.safetensors" in said
    assert "NaN" in said
