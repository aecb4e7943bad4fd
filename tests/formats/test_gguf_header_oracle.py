"""The reader of GGUF headers against gguf's own writer and reader."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from hfcount.formats.gguf.header import GgufHeader, read_gguf
from hfcount.formats.gguf.types import TYPES

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings gguf"
gguf = pytest.importorskip("gguf", reason=_EXTRA)
numpy = pytest.importorskip("numpy", reason=_EXTRA)
OWN = "Q8_1"
"""A type of values in computation, which files do not hold: 40 bytes in gguf 0.19, 36 in ggml.h and later ones."""


def read(path: Path) -> GgufHeader:
    raw = path.read_bytes()
    return read_gguf(path.name, len(raw), lambda start, stop: raw[start:stop])


def test_the_types_are_those_of_gguf() -> None:
    theirs = {kind.name: sizes for kind, sizes in gguf.GGML_QUANT_SIZES.items() if kind.name != OWN}
    ours = {kind.name: (kind.block, kind.bytes) for kind in TYPES.values()}
    assert {name: ours[name] for name in theirs} == theirs
    assert all(TYPES[int(kind)].name == kind.name for kind in gguf.GGML_QUANT_SIZES)


def written(path: Path, seed: int) -> None:
    random = Random(seed)
    writer: Any = gguf.GGUFWriter(path, "llama")
    if seed % 3 == 0:
        writer.add_custom_alignment(64)
    writer.add_block_count(random.randrange(100))
    writer.add_token_list([f"t{number}" for number in range(random.randrange(1, 300))])
    writer.add_array("some.numbers", [random.randrange(2**31) for _ in range(random.randrange(1, 50))])
    writer.add_float32("some.float", 0.5)
    writer.add_int64("some.int", -(2**40))
    writer.add_bool("some.flag", True)
    for number in range(random.randrange(1, 30)):
        kind = random.choice([kind for kind in gguf.GGML_QUANT_SIZES if kind.name != OWN])
        block, size = gguf.GGML_QUANT_SIZES[kind]
        rows, blocks = random.randrange(1, 6), random.randrange(1, 4)
        data = numpy.zeros((rows, blocks * size), dtype=numpy.uint8)
        assert block
        writer.add_tensor(f"blk.{number}.x.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("seed", range(12))
def test_what_gguf_writes_is_read_as_gguf_reads_it(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "model.gguf"
    written(path, seed)
    header, theirs = read(path), gguf.GGUFReader(path)
    assert list(header.tensors) == [tensor.name for tensor in theirs.tensors]
    for tensor in theirs.tensors:
        held = header.tensors[tensor.name]
        assert held.type == tensor.tensor_type.name
        assert held.shape == tuple(reversed([int(extent) for extent in tensor.shape]))
        assert header.data + held.begin == int(tensor.data_offset)
        assert held.bytes == int(tensor.n_bytes)
    ours = {key: value for key, value in header.metadata.items() if isinstance(value, int | float | str)}
    assert ours == {key: theirs.get_field(key).contents() for key in ours}
