"""What reading every value costs: `python tests/benchmarks/values.py [--gb 4] [--rounds 5] [--folder DIR]`.

A Llama of BF16 in four shards is written, twice, and read by turns from the page cache: by `cat`, `sha256sum`, torch's
isnan over safetensors' safe_open, and `hfcount --depth data`; both copies by `cmp`, and by `hfcount diff`. The tables
hold the medians of seconds and of processor seconds, and the rate as a share of the first of each group. Twice the size
has to fit in the page cache.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

import numpy as np

import hfcount

SHARDS = 4
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "tie_word_embeddings": True,
    "dtype": "bfloat16",
}
LAYER = 404_766_720  # bytes of one

_ISNAN = """
import sys, torch
from safetensors import safe_open
for path in sys.argv[1:]:
    with safe_open(path, "pt") as file:
        for name in file.keys():
            assert not torch.isnan(file.get_tensor(name)).any()
"""


def lay_out(folder: Path, size: float) -> None:
    """Writes the checkpoint."""
    config = CONFIG | {"num_hidden_layers": max(SHARDS, round(size * 1e9 / LAYER))}
    tensors = [(one.name, one.shape) for one in hfcount.blueprint(config).tensors() if one.kind == "parameter"]
    random = np.random.default_rng(0)
    weights: dict[str, str] = {}
    for number in range(SHARDS):
        name = f"model-{number + 1:05}-of-{SHARDS:05}.safetensors"
        some = tensors[len(tensors) * number // SHARDS : len(tensors) * (number + 1) // SHARDS]
        header, end = {}, 0
        for tensor, shape in some:
            begin, end = end, end + 2 * int(np.prod(shape))
            header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
        raw = json.dumps(header).encode()
        raw += b" " * (-len(raw) % 8)
        with open(folder / name, "wb") as file:
            file.write(struct.pack("<Q", len(raw)) + raw)
            while end:
                values = random.standard_normal(min(end // 2, 1 << 23), np.float32) * np.float32(0.02)
                end -= file.write((values.view("<u4") >> 16).astype("<u2").tobytes())
        weights |= dict.fromkeys(header, name)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))


def commands(one: Path, other: Path) -> Iterator[tuple[str, Mapping[str, list[str]]]]:
    """The groups of what is compared."""
    files, copies = ([str(path) for path in sorted(folder.glob("*.safetensors"))] for folder in (one, other))
    own = [sys.executable, "-m", "hfcount"]
    yield (
        "reading",
        {
            "cat": ["cat", *files],
            "sha256sum": ["sha256sum", *files],
            "torch.isnan over safe_open": [sys.executable, "-c", _ISNAN, *files],
            "hfcount --depth data": [*own, "--depth", "data", str(one)],
        },
    )
    pairs = " && ".join(f"cmp {a} {b}" for a, b in zip(files, copies, strict=True))
    yield (
        "comparing",
        {
            "cmp": ["sh", "-c", pairs],
            "hfcount diff --depth data": [*own, "diff", "--depth", "data", str(one), str(other)],
        },
    )


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds and processor seconds of a run."""
    before, start = getrusage(RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    seconds, after = perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, default=4.0, help="of each copy")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where to write both copies")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        one, other = Path(scratch, "one"), Path(scratch, "other")
        one.mkdir()
        lay_out(one, options.gb)
        shutil.copytree(one, other)
        size = sum(path.stat().st_size for path in one.iterdir())
        print(f"{size / 1e9:.2f} GB, {os.cpu_count()} cores")
        for what, group in commands(one, other):
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in group}
            for turn in range(options.rounds + 1):  # the first fills the page cache
                for name, command in group.items():
                    duration = timed(command)
                    if turn:
                        times[name].append(duration)
            print(f"\n| {what} | seconds | processor | GB/s | share |\n|---|--:|--:|--:|--:|")
            first = median(seconds for seconds, _ in next(iter(times.values())))
            for name, several in times.items():
                seconds, used = (median(one[place] for one in several) for place in range(2))
                print(f"| {name} | {seconds:.2f} | {used:.2f} | {size / seconds / 1e9:.2f} | {first / seconds:.2f} |")


if __name__ == "__main__":
    main()
