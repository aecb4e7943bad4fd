"""What can be asked of a report, by itself: the command line offers it before it imports what answers."""

from typing import Literal

AskedDepth = Literal["auto", "config", "index", "headers", "data"]
"""How far to look; `auto` reads headers where the index does not settle it."""

Depth = Literal["config", "index", "headers", "data"]
"""How far a run looked."""

Expected = Literal["same", "finetune", "cast", "quantised", "merge"]
"""What a checkpoint may be expected to be to another."""

Extra = Literal["tensors", "formula", "layers"]
"""Fields of the report that are filled in where they are asked for."""

DerivedWith = Literal["transformers", "diffusers"]
"""What may give names and shapes of a type that no family describes."""

CACHE_DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8")
"""What keys and values may be cached in."""

CACHE_ALIASES = {
    "fp32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp8": "float8_e4m3fn",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}
"""What engines call them: vLLM's --kv-cache-dtype, SGLang's, llama.cpp's."""
