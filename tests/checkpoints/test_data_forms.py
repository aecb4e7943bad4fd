"""--depth data of what is no folder of safetensors: pickles, GGUF, adapters, modules, pipelines."""

import json
from collections.abc import Callable, Mapping
from math import nan, prod
from pathlib import Path
from typing import Any

import gguf_files
import numpy as np
import pickled
import pytest
from build import TINY
from defects import adapter
from pipeline_repos import pipeline
from tables import over
from test_sentence_transformers import MADE as EMBEDDERS
from test_sentence_transformers import _write as write
from valued import filled, header, put

import hfcount
from hfcount.checkpoints.data.block_scales import SCALES
from hfcount.checkpoints.data.count import Chunks, step
from hfcount.checkpoints.data.pool import Worker
from hfcount.checkpoints.data.stored_values import of_pickle
from hfcount.formats.gguf.types import BLOCKS

UP = "model.layers.0.mlp.up_proj.weight"


def _codes(report: hfcount.Report) -> list[str]:
    return [one.code for one in report.findings]


def _statistics(report: hfcount.Report) -> Mapping[str, Any]:
    return {row.name: row for row in report.statistics or ()}


@pytest.mark.long
@pytest.mark.parametrize("zipped", [True, False])
def test_values_of_pickles_are_those_of_torch(zipped: bool, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="the oracle is not installed: pip install '.[oracle]'")
    config = TINY["llama"]
    shapes = {one.name: one.shape for one in hfcount.blueprint(config).tensors()}
    tensors = {name: torch.randn(shape).to(torch.bfloat16) for name, shape in shapes.items()}
    tensors[UP] = tensors[UP].t().contiguous().t()
    several = torch.cat([tensors[name].reshape(-1) for name in list(tensors)[2:4]])  # views of one storage
    first, second = list(tensors)[2:4]
    size = tensors[first].numel()
    tensors |= {first: several[:size].reshape(shapes[first]), second: several[size:].reshape(shapes[second])}
    (tmp_path / "config.json").write_text(json.dumps(config))
    torch.save(tensors, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    report = hfcount.verify(tmp_path, depth="data")
    assert (report.depth, report.error, "HF9" in str(_codes(report))) == ("data", None, False)
    rows = _statistics(report)
    for name, tensor in tensors.items():
        assert (rows[name].max, rows[name].elements) == (tensor.max().item(), tensor.numel())
        assert rows[name].rms == pytest.approx(tensor.float().square().mean().sqrt().item(), rel=1e-4)
    tensors[second][0] = nan
    torch.save(tensors, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    report = hfcount.verify(tmp_path, depth="data")
    assert _codes(report)[0] == "HF901"
    assert f"{second}[0" in report.findings[0].message


@pytest.mark.parametrize("legacy", [False, True])
def test_values_of_pickles_are_found(legacy: bool, tmp_path: Path) -> None:
    state = pickled.state(**pickled.items({"a": ("F32", (2, 3)), "b": ("F32", (3,))}))
    a, b = np.arange(6, dtype="<f4"), np.array([1, nan, 2], "<f4")
    storages = {"a": a.tobytes(), "b": b.tobytes()}
    counted = {key: (len(one) // 4, one) for key, one in storages.items()}
    raw = pickled.legacy(state, counted) if legacy else pickled.archive(state, storages)
    (tmp_path / "x.bin").write_bytes(raw)
    unread: list[str] = []
    places = of_pickle(tmp_path, "x.bin", unread)
    for name, values in (("a", a), ("b", b)):
        place = places[name]
        assert raw[place.begin : place.begin + place.size] == values.tobytes()
    assert (places["a"].entry.shape, unread) == ((2, 3), [])


def _worker() -> Worker:
    return Worker(lambda size: None, lambda: False)


@over("dtype", [*BLOCKS])
def test_scales_of_every_quantised_type_are_looked_at(dtype: str) -> None:
    kind, many = BLOCKS[dtype], 2 * step(dtype) // BLOCKS[dtype].bytes + 3
    raw = np.zeros((many, kind.bytes), np.uint8)
    place = raw[many - 2, SCALES[dtype].begin :]
    if dtype == "IQ1_M":
        place.view("<u2")[3] = 0x7000
        place.view("<u2")[2] = 0xE000  # 0x7E00 in all
    else:
        codes = {"F16": [0, 0x7E], "F32": [0, 0, 0xC0, 0x7F], "F8_E8M0": [0xFF], "U8": []}
        code = codes[SCALES[dtype].dtype]
        place[: len(code)] = code
    held, begin = raw.reshape(-1), 0

    def fill(chunk: Any) -> None:
        nonlocal begin
        chunk[:] = held[begin : begin + chunk.size]
        begin += chunk.size

    found = _worker().count(dtype, held.size, fill)
    assert (found.nan, found.count) == (SCALES[dtype].dtype != "U8", many * SCALES[dtype].each)
    assert not found.nan or (found.first_nan and found.first_nan.number == (many - 2) * kind.block)
    assert Chunks().count(dtype, np.zeros(kind.bytes, np.uint8)).constant in (0, 2.0**-127)


@pytest.mark.long
@over("dtype", [name for name in BLOCKS if name != "MXFP4"])  # of which gguf reads 0xFF as 2^127, and ggml refuses it
def test_blocks_are_bad_where_gguf_reads_what_is_no_number(dtype: str) -> None:
    gguf = pytest.importorskip("gguf", reason="the oracle is not installed: pip install '.[oracle]'")
    kind = BLOCKS[dtype]
    raw = np.random.default_rng(0).integers(0, 256, 2000 * kind.bytes, dtype=np.uint8)
    try:
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(raw.reshape(1, -1), gguf.GGMLQuantizationType[dtype]).reshape(2000, -1)
    except (NotImplementedError, KeyError):  # gguf reads not all that it names, and names not all that ggml has
        return
    found = Chunks().count(dtype, raw)
    spots = [spot.number // kind.block for spot in (found.first_nan, found.first_infinite) if spot]
    bad = ~np.isfinite(values).all(axis=1)
    assert (min(spots) if spots else None) == (np.argmax(bad) if bad.any() else None)


def _gguf(folder: Path, kinds: Mapping[str, str], values: Callable[[str], float] = lambda name: 0.5) -> Path:
    pairs, shapes = gguf_files.model()
    rows = gguf_files.laid_out(shapes, kinds)
    source = gguf_files.source(pairs, rows)
    raw = bytearray(source(0, source.size))
    head = source.read()
    for name, tensor in head.tensors.items():
        begin, width = head.data + tensor.begin, {"F32": "<f4", "F16": "<f2"}.get(tensor.type, "u1")
        some = np.full(tensor.bytes // np.dtype(width).itemsize, values(name), width)
        raw[begin : begin + tensor.bytes] = (some if width != "u1" else some + 0x30).tobytes()
    folder.mkdir()
    (folder / "model.gguf").write_bytes(raw)
    return folder


@pytest.mark.parametrize(("kind", "value", "codes"), [
    ("F32", 0.5, []),
    ("F32", nan, ["HF901"]),
    ("F16", nan, ["HF901"]),
    ("F32", 0.0, ["HF903"]),
])  # fmt: skip
def test_values_of_gguf_are_read(kind: str, value: float, codes: list[str], tmp_path: Path) -> None:
    name = "blk.1.ffn_up.weight"
    folder = _gguf(tmp_path / "m", {name: kind}, lambda one: value if one == name else 0.5)
    report = hfcount.verify(folder, depth="data")
    assert ([one for one in _codes(report) if one >= "HF9"], report.depth) == (codes, "data")
    assert len(report.statistics or ()) == len(gguf_files.model()[1])


def test_a_scale_of_gguf_that_is_not_a_number_is_located(tmp_path: Path) -> None:
    name = "blk.1.ffn_up.weight"
    folder = _gguf(tmp_path / "m", {name: "Q8_0"})
    file = folder / "model.gguf"
    report = hfcount.verify(folder, depth="data")
    assert "HF9" not in str(_codes(report))
    assert "all values of 24 tensors were read, and the scales of 1 quantised tensor" in " ".join(str(report).split())
    raw = bytearray(file.read_bytes())
    begin = raw.index(bytes([0x30]) * 34)  # of the only tensor that is quantised
    raw[begin + 34 : begin + 36] = b"\0\x7e"
    file.write_bytes(raw)
    report = hfcount.verify(file, depth="data")
    assert _codes(report)[0] == "HF905"
    assert f"{name}[0, 32] in model.gguf is NaN" in report.findings[0].message


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    folder = pipeline(tmp_path / "pipe")
    for seed, file in enumerate(sorted(folder.rglob("*.safetensors"))):
        filled(file, seed)
    return folder


def test_parts_of_a_pipeline_are_read(pipe: Path) -> None:
    report = hfcount.verify(pipe, depth="data")
    assert (report.verdict, report.depth) == ("verified", "data")
    parts = {row.file for row in report.statistics or ()}
    assert parts == {one.relative_to(pipe).as_posix() for one in pipe.rglob("*.safetensors")}
    part = pipe / "vae"
    name = next(name for name, row in header(next(part.glob("*.safetensors")))[0].items() if len(row["shape"]) > 1)
    put(name, 2, 0x7FC00000)(part)
    report = hfcount.verify(pipe, depth="data")
    assert (report.verdict, _codes(report)) == ("mismatch", ["HF901"])
    assert report.findings[0].message.startswith(f"vae: {name}[")
    assert hfcount.verify(pipe / "vae", depth="data").statistics


@pytest.mark.parametrize("value", [1.0, nan])
def test_a_pickled_part_of_a_folder_is_read_beside_others(value: float, pipe: Path) -> None:
    """diffusers loads both from a folder."""
    (file,) = (pipe / "vae").glob("*.safetensors")
    rows = header(file)[0].items()
    tensors = {name: ("F32", row["shape"]) for name, row in rows}
    random = np.random.default_rng(1)
    values = {name: random.standard_normal(prod(row["shape"])).astype("<f4") for name, row in rows}
    last = [*values][-1]
    values[last][-1] = value
    storages = {name: one.tobytes() for name, one in values.items()}
    whole = pickled.archive(pickled.state(**pickled.items(tensors)), storages)
    (pipe / "vae" / "diffusion_pytorch_model.bin").write_bytes(whole)
    file.unlink()
    found = [one for one in hfcount.verify(pipe, depth="data").findings if one.code.startswith("HF90")]
    index = ", ".join(str(size - 1) for size in tensors[last][1])
    assert [one.message.startswith(f"vae: {last}[{index}] in ") for one in found] == [True] * (value != 1)


@over("made", EMBEDDERS)
def test_all_modules_of_an_embedder_are_read(made: str, tmp_path: Path) -> None:
    folder = write(EMBEDDERS[made](), tmp_path / made)
    files = [*folder.rglob("*.safetensors"), *folder.rglob("*.bin")]
    for seed, file in enumerate(files[: 0 if made == "old" else None]):
        filled(file, seed)
    report = hfcount.verify(folder, depth="data")
    assert {row.file for row in report.statistics or ()} == {one.relative_to(folder).as_posix() for one in files}
    tensors = sum(len(header(one)[0]) if one.suffix == ".safetensors" else 1 for one in files)
    assert (len(report.statistics or ()), report.depth) == (tensors, "data")
    assert made == "old" or report.verdict == "verified"


@pytest.mark.parametrize("value", [1.0, nan])
def test_an_adapter_that_is_pickled_is_read(value: float, tmp_path: Path) -> None:
    folder = adapter().write(tmp_path / "adapter")
    file = folder / "adapter_model.safetensors"
    tensors = {name: ("F32", row["shape"]) for name, row in header(file)[0].items()}
    storages = {name: np.full(prod(shape), value, "<f4").tobytes() for name, (_, shape) in tensors.items()}
    state = pickled.state(**pickled.items(tensors))
    (folder / "adapter_model.bin").write_bytes(pickled.archive(state, storages))
    file.unlink()
    report = hfcount.verify(folder, depth="data")
    assert ("HF901" in _codes(report), len(report.statistics or ())) == (value != 1, len(tensors))
