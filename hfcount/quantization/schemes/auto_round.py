"""AutoRound: integers as GPTQ or AWQ packs them, and small floats as compressed-tensors does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hfcount.quantization.layout import Layout, PackedTensor, Unmodelled
from hfcount.quantization.matcher import Matcher, Style
from hfcount.quantization.scheme import Scheme
from hfcount.quantization.schemes import awq, compressed_tensors, fp8
from hfcount.quantization.schemes.gptq import WIDTHS, Blocks, Gptq
from hfcount.quantization.settings import Settings, bits, group, pair, table, texts, word

_DENSE = 16
_PLAIN = ("", "auto_gptq", "gptq", "gptqmodel", "exllamav2", "triton", "tritonv2", "cuda", "auto_awq", "awq")
_EIGHT = 8

# It splits the stacks of experts of transformers 5, and then calls the matrices alike in every architecture.
_NUMBERED = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
_EXPERTS = tuple(
    (re.compile(rf"(?<=\.experts\.)(\d+)\.{name}\."), rf"\g<1>.{other}.") for name, other in _NUMBERED.items()
)


@dataclass(frozen=True, slots=True)
class Fp8(Layout):
    """FP8 with a scale a row, which is no column here, or one a tensor; `static` if inputs have a scale, too."""

    rows: bool
    static: bool

    @property
    def label(self) -> str:
        return f"FP8 with one scale a {'row' if self.rows else 'tensor'}"

    def parts(self, outputs: int, inputs: int) -> list[PackedTensor]:
        scale = PackedTensor(".weight_scale", (outputs if self.rows else 1,))
        parts = [PackedTensor(".weight", (outputs, inputs), ("F8_E4M3",)), scale]
        return [*parts, PackedTensor(".input_scale", (1,))] if self.static else parts


def read(settings: Settings) -> Scheme:
    """The scheme of `quant_method: auto-round`.

    Raises:
        Unmodelled: its packing is not described.
    """
    layout = _layout(settings, settings)
    overrides = list[tuple[Matcher, Layout | None]]()
    for name, values in table(settings, "extra_config").items():
        if isinstance(values, dict):
            style: Style = "regex" if set(name) & set("*\\+|[(") else "path"
            overrides.append((Matcher([name], style), _layout(settings, {**settings, **values})))
    blocks = texts(settings, "block_name_to_quantize") or ()
    if len(blocks) == 1 and "," in blocks[0]:
        blocks = tuple(block.strip() for block in blocks[0].split(","))
    if layout is None:
        raise Unmodelled("bits 16")
    only = Matcher(blocks, "transformers") if blocks else None
    scheme = Blocks("auto-round", layout, only, None, overrides, writer="auto-round")
    scheme.spellings = _EXPERTS
    return scheme


def _layout(settings: Settings, entry: Settings) -> Layout | None:
    """The layout of a module with settings `entry`; None for dense."""
    given = entry.get("bits")
    if isinstance(given, int) and given >= _DENSE:
        return None
    kinds = tuple(word(settings, "packing_format", "backend", default="auto_round").split(":"))
    form, inputs = word(entry, "data_type", default="int"), entry.get("act_bits")
    inputs_too = isinstance(inputs, int) and inputs <= _EIGHT
    if form == "int" and not inputs_too and {*kinds} <= {"auto_round", "autoround", "auto-round", *_PLAIN}:
        size = group(entry, "group_size", default=128)
        if any("awq" in kind for kind in kinds):
            return awq.Gemm(size, bits(entry, "bits", among=(4,)))
        # Nothing permutes rows, and only what is meant for GPTQModel's kernels has an index all the same.
        return Gptq(bits(entry, "bits", among=WIDTHS), size, "stored" if "gptqmodel" in kinds else "absent", True)
    if form.startswith("mx_fp") and kinds[-1] == "llm_compressor":
        return compressed_tensors.Mx(bits(entry, "bits", among=(4, 8)), group(entry, "group_size", default=32) or 32)
    if form in ("nv_fp", "nv_fp4") and kinds[-1] == "llm_compressor":
        bits(entry, "bits", among=(4,))
        return compressed_tensors.Nvfp4(inputs_too, group(entry, "group_size", default=16) or 16)
    if form in ("fp", "fp8", "fp8_e4m3") and bits(entry, "bits", among=(_EIGHT,)):
        return _fp8(entry, inputs_too and entry.get("act_dynamic") is False)
    raise Unmodelled(f"data_type {form}, packing_format {':'.join(kinds)}")


def _fp8(entry: Mapping[str, object], static: bool) -> Layout:
    """FP8 by what its scales are of: a block, a row (-1), or a tensor (0)."""
    size = entry.get("group_size")
    if isinstance(size, list):
        return fp8.Fp8(pair(entry, "group_size"), dtypes=("BF16", "F16", "F32"))
    if size not in (-1, 0):
        raise Unmodelled(f"data_type fp8, group_size {size}")
    return Fp8(size == -1, static)
