"""Small checkpoints with values in them, and what --depth data must find of one that is put in their place."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from defects import EMBED, HEAD, SCALE, THIRD, Checkpoint, in_blocks, sharded
from numpy.typing import NDArray

Spoil = Callable[[Path], None]

GROUPS = "model.layers.1.mlp.up_proj.g_idx"
UP, NORM = "model.layers.1.mlp.up_proj.weight", "model.layers.1.input_layernorm.weight"

LIKE: Mapping[str, str] = {"BF16": "<u2", "F16": "<u2", "F32": "<u4", "F64": "<u8", "I64": "<i8", "I32": "<i4"}
"""What holds the bits of an element; those of the others are bytes."""


@dataclass(frozen=True)
class Valued:
    """A checkpoint, what is put into it, and its expected report; as a Case of defects.py."""

    verdict: str
    codes: str = ""
    says: tuple[str, ...] = ()
    make: Callable[[], Checkpoint] = sharded
    spoil: Spoil = lambda folder: None

    def write(self, folder: Path) -> Path:
        """The checkpoint with sound values, spoilt."""
        self.make().write(folder)
        for number, file in enumerate(sorted(folder.glob("*.safetensors"))):
            filled(file, number)
        self.spoil(folder)
        return folder


def header(file: Path) -> tuple[dict[str, Any], int]:
    """The tensors of a file by name, and where their data begins."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        tensors = json.loads(stream.read(length))
    tensors.pop("__metadata__", None)
    return tensors, 8 + length


def filled(file: Path, seed: int) -> None:
    """Gives all floats random values, and scales positive ones; whole numbers count from 0."""
    rng = np.random.default_rng(seed)
    tensors, start = header(file)
    for name, entry in tensors.items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        values = rng.standard_normal(end - begin).astype("<f4")
        values = abs(values) + 0.5 if "scale" in name else values / 50
        bits = values.view("<u4")
        raw = {"BF16": (bits >> 16).astype("<u2"), "F32": bits, "F16": values.astype("<f2")}.get(entry["dtype"])
        if raw is None:
            kind = np.dtype(LIKE.get(entry["dtype"], "u1"))
            raw = (np.arange((end - begin) // kind.itemsize) % 120).astype(kind)
        _write(file, begin, raw.tobytes()[: end - begin])


def _write(file: Path, place: int, raw: bytes) -> None:
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(raw)


def place(folder: Path, tensor: str) -> tuple[Path, int, dict[str, Any]]:
    """The file of a tensor, where its data begins there, and its entry."""
    for file in sorted(folder.glob("*.safetensors")):
        tensors, start = header(file)
        if tensor in tensors:
            return file, start + tensors[tensor]["data_offsets"][0], tensors[tensor]
    raise KeyError(tensor)


def put(tensor: str, number: int, code: int) -> Spoil:
    """Puts a bit pattern in the place of an element."""

    def spoil(folder: Path) -> None:
        file, begin, entry = place(folder, tensor)
        width = np.dtype(LIKE.get(entry["dtype"], "u1")).itemsize
        _write(file, begin + number * width, code.to_bytes(width, "little"))

    return spoil


def constant(tensor: str, code: int = 0) -> Spoil:
    """The same for all of its elements."""

    def spoil(folder: Path) -> None:
        file, begin, entry = place(folder, tensor)
        width = np.dtype(LIKE.get(entry["dtype"], "u1")).itemsize
        first, last = entry["data_offsets"]
        _write(file, begin, code.to_bytes(width, "little") * ((last - first) // width))

    return spoil


def copied(tensor: str, other: str) -> Spoil:
    """Gives a tensor the values of another one."""

    def spoil(folder: Path) -> None:
        file, begin, entry = place(folder, other)
        first, last = entry["data_offsets"]
        into, start, _ = place(folder, tensor)
        _write(into, start, file.read_bytes()[begin : begin + last - first])

    return spoil


def codes_of(folder: Path, tensor: str) -> NDArray[np.uint16]:
    """The bits of a 16-bit tensor, in its shape."""
    file, begin, entry = place(folder, tensor)
    first, last = entry["data_offsets"]
    codes = np.frombuffer(file.read_bytes()[begin : begin + last - first], "<u2")
    return codes.reshape(entry["shape"]).copy()


def changed(tensor: str, change: Callable[[NDArray[np.uint16]], NDArray[np.uint16]]) -> Spoil:
    """Gives a 16-bit tensor what a function makes of its bits."""

    def spoil(folder: Path) -> None:
        file, begin, _ = place(folder, tensor)
        _write(file, begin, np.ascontiguousarray(change(codes_of(folder, tensor))).astype("<u2").tobytes())

    return spoil


def times(tensor: str, factor: float) -> Spoil:
    """Multiplies a BF16 or F32 tensor."""

    def spoil(folder: Path) -> None:
        file, begin, entry = place(folder, tensor)
        first, last = entry["data_offsets"]
        raw = file.read_bytes()[begin : begin + last - first]
        if entry["dtype"] == "F32":
            values = np.frombuffer(raw, "<f4") * np.float32(factor)
            _write(file, begin, values.astype("<f4").tobytes())
        else:
            bits = np.frombuffer(raw, "<u2").astype("<u4") << 16
            values = bits.view("<f4") * np.float32(factor)
            _write(file, begin, (values.view("<u4") >> 16).astype("<u2").tobytes())

    return spoil


def half_lost(codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The first half of the rows is zero."""
    codes[: len(codes) // 2] = 0
    return codes


def as_float16(codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The bits of F16 that hold the values of BF16."""
    return (codes.astype("<u4") << 16).view("<f4").astype("<f2").view("<u2")


def written(tensor: str, text: str) -> Spoil:
    """Puts a text in the place of the first values."""

    def spoil(folder: Path) -> None:
        file, begin, _ = place(folder, tensor)
        _write(file, begin, text.encode())

    return spoil


def with_hole(tensor: str, begin: int, end: int) -> Spoil:
    """Leaves a hole of whole pages in a file, in place of some pages of a tensor from the first whole one on."""

    def spoil(folder: Path) -> None:
        file, first, _ = place(folder, tensor)
        raw, page = file.read_bytes(), 4096
        start = -(-first // page) * page
        with file.open("wb") as stream:
            stream.write(raw[: start + begin * page])
            stream.seek(start + end * page)
            stream.write(raw[start + end * page :])

    return spoil


def steps(*spoils: Spoil) -> Spoil:
    """One after the other."""

    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


def downloaded(later: float = 0.0) -> Spoil:
    """Keeps beside each file what `hf download --local-dir` does; files are written so many seconds later."""

    def spoil(folder: Path) -> None:
        for file in folder.glob("*.safetensors"):
            sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
            kept = folder / ".cache" / "huggingface" / "download" / f"{file.name}.metadata"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(f"{'0' * 40}\n{sha256}\n{time.time() - later}\n")

    return spoil


def _large(**changes: Any) -> Checkpoint:
    """A tied one whose embedding is longer than its ends that are compared unasked."""
    checkpoint = sharded("qwen3", tie_word_embeddings=True, vocab_size=9000)
    checkpoint.add({HEAD: ("BF16", (9000, 12))})
    return checkpoint


PAGE_OF_A_PROXY = """503 Service Unavailable
The server cannot answer at the moment. Please try again later.
Sent by a proxy that stands between you and the server"""


def _quantised() -> Checkpoint:
    checkpoint = sharded()
    in_blocks(checkpoint)
    return checkpoint


def _grouped() -> Checkpoint:
    """GPTQ in groups of 8, with the number of its group for each input."""
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    settings = {"quant_method": "gptq", "bits": 4, "group_size": 8, "desc_act": True, "sym": True}
    checkpoint = sharded("llama", **sizes, quantization_config=settings)
    for tensors in checkpoint.shards.values():
        for name in [name for name in tensors if name.endswith("_proj.weight")]:
            (rows, columns), module = tensors.pop(name)[1], name.removesuffix("weight")
            tensors[f"{module}qweight"] = "I32", (columns // 8, rows)
            tensors[f"{module}qzeros"] = "I32", (columns // 8, rows // 8)
            tensors[f"{module}scales"] = "F16", (columns // 8, rows)
            tensors[f"{module}g_idx"] = "I32", (columns,)
    return checkpoint


def _numbered(folder: Path) -> None:
    """Gives each input the number of its group."""
    for file in folder.glob("*.safetensors"):
        tensors, start = header(file)
        for name, entry in tensors.items():
            if name.endswith("g_idx"):
                numbers = np.arange(entry["shape"][0], dtype="<i4") // 8
                _write(file, start + entry["data_offsets"][0], numbers.tobytes())


VALUED: Mapping[str, Valued] = {
    "sound values": Valued("verified"),
    "one value that is not a number": Valued(
        "mismatch", "HF901", (f"{UP}[3, 4] in {THIRD} is NaN", "0x7FC0"), spoil=put(UP, 40, 0x7FC0)
    ),
    "every value of a norm is NaN": Valued(
        "mismatch", "HF901", (f"{NORM}[0] in", "is the first of 12 that are NaN"), spoil=constant(NORM, 0xFFFF)
    ),
    "an infinite value": Valued(
        "mismatch", "HF902", (f"{HEAD}[49, 11] in {THIRD} is infinite", "0xFF80"), spoil=put(HEAD, 599, 0xFF80)
    ),
    "a matrix of zeros": Valued("mismatch", "HF903", (f"of {UP} in {THIRD} are 0",), spoil=constant(UP)),
    "an embedding of one value": Valued(
        "mismatch", "HF903", (f"of {EMBED} in", "are 1"), spoil=constant(EMBED, 0x3F80)
    ),
    "a norm of zeros": Valued("mismatch", "HF903", (NORM,), spoil=constant(NORM)),
    "a norm of ones": Valued("verified", spoil=constant(NORM, 0x3F80)),
    "a row of zeros, for padding": Valued("verified", spoil=steps(*(put(EMBED, number, 0) for number in range(12)))),
    "a copy of the embedding": Valued("explained", "HF203", make=_large, spoil=copied(HEAD, EMBED)),
    "a copy that differs in the middle": Valued(
        "explained",
        "HF904",
        (f"{HEAD}[4166, 8] in", f"differs from {EMBED}", "1 of its 9000×12"),
        make=_large,
        spoil=steps(copied(HEAD, EMBED), put(HEAD, 50_000, 0x4000)),
    ),
    "a scale that is NaN": Valued(
        "mismatch", "HF905", (f"{SCALE}[1, 0] in", "is NaN"), make=_quantised, spoil=put(SCALE, 1, 0x7FC00000)
    ),
    "scales of zeros": Valued("mismatch", "HF905", (SCALE, "are zero"), make=_quantised, spoil=constant(SCALE)),
    "one scale that is zero": Valued(
        "explained", "HF905", (f"{SCALE}[1, 0] in", "is zero"), make=_quantised, spoil=put(SCALE, 1, 0)
    ),
    "one scale that is negative": Valued(
        "explained", "HF905", (f"{SCALE}[0, 0] in", "is negative"), make=_quantised, spoil=put(SCALE, 0, 0xBF800000)
    ),
    "FP8 that is NaN": Valued("mismatch", "HF901", (f"{UP}[0, 5] in", "0x7F"), make=_quantised, spoil=put(UP, 5, 0x7F)),
    "sound GPTQ": Valued("verified", make=_grouped, spoil=_numbered),
    "an input of a group that there is not": Valued(
        "mismatch",
        "HF906",
        (f"{GROUPS}[7] in", "is 2, but must be 0 to 1 (the number of a group)"),
        make=_grouped,
        spoil=steps(_numbered, put(GROUPS, 7, 2)),
    ),
    "sound FP8": Valued("verified", make=_quantised),
    "a matrix of which half is zero": Valued(
        "mismatch", "HF908", (f"{UP} in {THIRD} is zero in rows 0 to 9, bytes",), spoil=changed(UP, half_lost)
    ),
    "a matrix whose rows are all the first": Valued(
        "mismatch",
        "HF909",
        (f"{UP}[1, 0] in {THIRD} repeats rows: 19 of 19",),
        spoil=changed(UP, lambda codes: np.repeat(codes[:1], len(codes), 0)),
    ),
    "two matrices of a module that are the same": Valued(
        "mismatch",
        "HF910",
        (f"has the same values as {UP.replace('up_proj', 'gate_proj')}, but nothing ties them",),
        spoil=copied(UP, UP.replace("up_proj", "gate_proj")),
    ),
    "a matrix that was scaled twice": Valued(
        "mismatch",
        "HF911",
        (f"The root mean square of {UP} in {THIRD} is", "in other layers it is 0.0"),
        spoil=times(UP, 2.0**40),
    ),
    "bits of F16 in a matrix of BF16": Valued(
        "mismatch",
        "HF912",
        (f"{UP} in {THIRD} is BF16 by its header, but its bits look like F16",),
        spoil=changed(UP, as_float16),
    ),
    "the page of a proxy in a matrix": Valued(
        "mismatch",
        "HF913",
        (f"{UP} in {THIRD} holds text in rows 0 to", "503 Service"),
        spoil=written(UP, PAGE_OF_A_PROXY),
    ),
    "scales that are far too large": Valued(
        "mismatch", "HF914", (f"{SCALE} in", "is a scale of packed weights"), make=_quantised, spoil=times(SCALE, 1e6)
    ),
    "a file with a hole": Valued(
        "mismatch",
        "HF915",
        (f"{UP} in", "was never written in rows"),
        make=partial(sharded, intermediate_size=2000),
        spoil=with_hole(UP, 3, 5),
    ),
    "a download as it was listed": Valued("verified", spoil=downloaded()),
    "a download with one bit turned around": Valued(
        "mismatch", "HF907", (THIRD, "the Hub listed"), spoil=steps(downloaded(), put(UP, 7, 0x3C00))
    ),
    "a download that was written into since": Valued(
        "explained", "HF907", ("changed after the download",), spoil=steps(downloaded(60), put(UP, 7, 0x3C00))
    ),
}
