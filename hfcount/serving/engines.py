"""What engines take of a device's memory: the share in which a model has to fit."""

import re
from fractions import Fraction
from typing import NamedTuple

RAW = "raw"
"""The name of the plain sum: weights and cache in all of the memory."""

_NAMES = ("vllm", RAW)
_SHARE = re.compile(r"0?\.\d{1,6}|1(?:\.0{1,6})?")


class EngineShare(NamedTuple):
    """The share of a device that an engine takes for weights, activations and cache, and the setting that says so."""

    engine: str
    setting: str
    share: Fraction
    default: bool = True

    def of(self, memory: int) -> int:
        """Bytes of a device that are the engine's, rounded down."""
        return int(memory * self.share)


VLLM = EngineShare("vLLM", "--gpu-memory-utilization 0.92", Fraction(92, 100))
"""vLLM 0.33: vllm/config/cache.py, CacheConfig.gpu_memory_utilization."""


def engine_share(name: str) -> EngineShare | None:
    """The share that a name stands for: `vllm`, `vllm:0.9` for a setting of its own, `raw` for none.

    Raises:
        ValueError: another name or share, and what to write.
    """
    engine, colon, share = name.strip().lower().partition(":")
    if engine not in _NAMES:
        raise ValueError(
            f"the memory share of {name} is not known: it depends on more than the device. Write --engine raw, with"
            " the memory that it may use, such as --memory 70GiB. Known: vllm, vllm:SHARE such as vllm:0.9, and raw."
        )
    if not colon:
        return VLLM if engine == "vllm" else None
    if engine == RAW or not _SHARE.fullmatch(share) or not float(share):
        raise ValueError(f"{name} is not known. Write vllm, vllm:SHARE with a share up to 1, such as vllm:0.9, or raw.")
    return EngineShare("vLLM", f"--gpu-memory-utilization {share}", Fraction(share), default=False)
