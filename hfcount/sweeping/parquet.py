"""Writes JSON lines as Parquet, and reads it in small batches (extra `sweep`: pyarrow)."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from hfcount.sweeping.rows import COLUMNS, LATER, NUMBER, TEXTS

_BATCH, _BLOCK = 1_000, 1 << 18


def write(path: Path, lines: IO[bytes]) -> None:
    """Writes rows, a JSON object a line."""
    arrow, reader = import_module("pyarrow"), import_module("pyarrow.json")
    schema, pool = _schema(arrow), arrow.system_memory_pool()  # which gives back what is freed
    options = reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    with import_module("pyarrow.parquet").ParquetWriter(path, schema, compression="zstd", memory_pool=pool) as writer:
        while block := lines.readlines(_BLOCK):
            source = arrow.BufferReader(b"".join(block))
            longest = max(map(len, block))
            read = reader.ReadOptions(use_threads=False, block_size=max(_BLOCK, 2 * longest))
            writer.write_table(reader.read_json(source, read, options, pool).select(list(COLUMNS)))


def read(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file.

    Raises:
        OSError, ValueError: it is not a readable part.
    """
    with import_module("pyarrow.parquet").ParquetFile(path) as file:
        there = [name for name in columns if name in file.schema_arrow.names]
        lacking = [name for name in columns if name not in there]
        if needed := [name for name in lacking if name not in LATER]:
            raise ValueError(f"it has no column {needed[0]}")
        for batch in file.iter_batches(_BATCH, columns=there, use_threads=False):
            for row in batch.to_pylist():
                yield {name: [] for name in lacking} | row


def _schema(arrow: Any) -> Any:
    def kind(name: str) -> Any:
        return {NUMBER: arrow.int64(), TEXTS: arrow.list_(arrow.string())}.get(name, arrow.string())

    return arrow.schema(
        [
            (name, kind(content))
            if isinstance(content, str)
            else (name, arrow.list_(arrow.struct([(field, kind(held)) for field, held in content.items()])))
            for name, content in COLUMNS.items()
        ]
    )
