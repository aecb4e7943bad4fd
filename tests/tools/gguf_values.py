"""Records which values llama.cpp's converter keeps: `python tests/tools/gguf_values.py FOLDER [TYPE ...]`.

FOLDER is as for gguf_names.py (extra `oracle`); rows of types that are not named stay as they are, where some are. Each
recorded config that the converter takes is converted with random values, and what comes out is looked for in what went
in. What comes of it is hfcount/checkpoints/gguf/gguf_values.tsv, a row for each model_type and architecture, its
columns separated by tabs: both, then the names (without the number of a layer) whose values are not laid out as
gguf.tsv says of their shapes, each with what was done after `=`:

- heads, kv: the rows of each head, or of each head of keys and values, are taken in turn from its two halves;
- part0, part1 ...: they are that part of the tensor;
- other: computed, turned, or not told.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gguf_configs import Json
from gguf_converter import Converted, Converter, Shape
from gguf_names import ROOT, recorded

from hfcount.checkpoints.gguf.table import folded

TARGET = ROOT / "hfcount" / "checkpoints" / "gguf" / "gguf_values.tsv"
_MOST = 1 << 20  # elements of a tensor; larger ones are not made
_TOKENS = 448


class Valued(Converter):
    """The converter with values: those that were given, and those that came out."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.given: list[Any] = []
        self.written: dict[str, Any] = {}
        write = self.gguf.GGUFWriter.add_tensor
        eager = self.gguf.LazyNumpyTensor.to_eager if hasattr(self.gguf, "LazyNumpyTensor") else None

        def add(writer: Any, name: str, data: Any, *rest: Any, **named: Any) -> Any:
            self.written[name] = np.array(eager(data) if eager else data)
            return write(writer, name, data, *rest, **named)

        self.gguf.GGUFWriter.add_tensor = add

    def convert(self, config: Json, *of: Any) -> Converted:
        """As Converter has it, of a model with few tokens."""
        self.given, self.written = [], {}
        return super().convert(_few_tokens(config), *of)

    def _tensor(self, shape: Shape) -> Any:
        import torch

        if int(np.prod(shape)) > _MOST:
            raise ValueError(f"{shape} is too large")
        values = torch.rand(shape) + 0.5
        self.given.append(values)
        meta = torch.empty(shape, device="meta")
        return self.lazy(meta=meta, args=(values,), func=lambda values: values)


def _few_tokens(config: Json) -> Json:
    changed = {key: _few_tokens(value) if isinstance(value, dict) else value for key, value in config.items()}
    for key in ("vocab_size", "padded_vocab_size"):
        if isinstance(size := changed.get(key), int):
            changed[key] = min(size, _TOKENS)
    return changed


def judged(converter: Valued, model: Converted) -> Iterator[tuple[str, str]]:
    """What was done to the values of each result; "" where it has those of its origins, one after another."""
    made = converter.given[-len(model.given) :]  # some types are read twice, by the class that chooses and the chosen
    given = {name: values.numpy() for name, values in zip(model.given, made, strict=True)}
    counts = {key: model.metadata.get(f"{model.architecture}.attention.head_count{end}") for key, end in HEADS.items()}
    shares: dict[str, list[str]] = {}
    for result, (_, origins) in model.results.items():
        for origin in origins:
            shares.setdefault(origin, []).append(result)
    for result, (_, origins) in model.results.items():
        sources = [given[name] for name in sorted(origins, key=_numbers)]
        how = _how(converter.written[result], sources, counts, len(shares[origins[0]]) if origins else 0)
        yield folded(result)[0], how


HEADS = {"heads": "", "kv": "_kv"}


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.split(".") if part.isdecimal()]


def _how(held: Any, sources: list[Any], counts: dict[str, Any], parts: int) -> str:
    if not sources:
        return "other"
    if np.array_equal(held.reshape(-1), np.concatenate([one.reshape(-1) for one in sources])):
        return ""
    (source, *more) = sources
    if more:
        return "other"
    if held.shape[1:] == source.shape[1:] and np.array_equal(held, source[: len(held)]):
        return ""  # but for the rows beyond the tokenizer's
    for key, count in counts.items():
        if isinstance(count, int) and count and source.shape[0] % (2 * count) == 0 and held.shape == source.shape:
            halves = source.reshape(count, 2, source.shape[0] // count // 2, -1).swapaxes(1, 2)
            if np.array_equal(held, halves.reshape(source.shape)):
                return key
    for axis in range(source.ndim):
        if parts > 1 and source.shape[axis] % parts == 0:
            for place, part in enumerate(np.split(source, parts, axis)):
                if np.array_equal(held, part):
                    return f"part{place}"
    return "other"


def main() -> None:
    """Writes the table, or the rows of some types in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("types", nargs="*", help="model_types whose rows are written; all if none is named")
    arguments = parser.parse_args()
    converter = Valued(arguments.folder)
    rows: dict[tuple[str, str], dict[str, set[str]]] = {}
    for only in arguments.types or [None]:
        for _, projector, stem, model, problem in recorded(converter, only):
            if model is None or projector or not model.results:
                print(f"{stem}: {problem or 'left out'}")
                continue
            row = rows.setdefault((model.model_type, model.architecture), {})
            for name, how in judged(converter, model):
                row.setdefault(name, set()).add(how)
    lines = {key: " ".join(_words(row)) for key, row in rows.items()}
    if arguments.types:
        for line in TARGET.read_text().splitlines()[1:]:
            kind, architecture, words = line.split("\t")
            lines.setdefault((kind, architecture), words)
    version = arguments.folder.resolve().parents[1].name
    text = [f"# {version}; written by tests/tools/gguf_values.py"]
    text += ["\t".join((*key, words)) for key, words in sorted(lines.items())]
    TARGET.write_text("\n".join(text) + "\n")


def _words(row: dict[str, set[str]]) -> Iterator[str]:
    """What was done in every conversion, by name."""
    for name, found in sorted(row.items()):
        how = found.pop() if len(found) == 1 else "other"
        if how:
            yield f"{name}={how}"


if __name__ == "__main__":
    main()
