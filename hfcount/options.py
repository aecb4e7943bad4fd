"""Names of options, apart from the modules that implement them, so that the command line starts fast."""

from typing import Literal

AskedDepth = Literal["auto", "config", "index", "headers", "data"]
"""How far to look; `auto` reads headers where the index does not settle it."""

Depth = Literal["config", "index", "headers", "data"]
"""How far a run looked."""

Expected = Literal["same", "finetune", "cast", "quantised", "merge", "mergeable"]
"""Expected relations of a checkpoint to another."""

Extra = Literal["tensors", "formula", "layers"]
"""Fields of the report that are filled in where they are asked for."""

DerivedWith = Literal["transformers", "diffusers"]
"""Libraries that can derive names and shapes of an unsupported type."""

CACHE_DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int8")
"""Dtypes of the KV cache."""

CACHE_ALIASES = {
    "fp32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "fp8": "float8_e4m3fn",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}
"""Their names in engines: vLLM's --kv-cache-dtype, SGLang, llama.cpp."""

AskedDtype = Literal["auto", "float32", "bfloat16", "float16"]
"""The argument `dtype` of from_pretrained."""
