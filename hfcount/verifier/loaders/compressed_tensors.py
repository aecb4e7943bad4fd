"""Says what transformers makes of a checkpoint of compressed-tensors whose settings other loaders read otherwise."""

from collections.abc import Iterator

from hfcount.quantization.scheme import RELATIVE
from hfcount.text import plural, printable
from hfcount.verifier.loaders.loader import Checkpoint

NAME = "compressed-tensors"

SOURCES = {
    "4.57.1": "utils/quantization_config.py:1452, quantizers/quantizer_compressed_tensors.py:90",
    "5.23.0": "utils/quantization_config.py:1280, quantizers/quantizer_compressed_tensors.py:118",
    "5.24.0": "utils/quantization_config.py:1280, quantizers/quantizer_compressed_tensors.py:118",
}
"""Where each version compresses its modules before it loads them, and asks the status first."""

COMPRESSED = "compressed"
_PACKED, _SCALE = ".weight_packed", ".weight_scale"
_FLOATS = ("BF16", "F16", "F32")


def differences(checkpoint: Checkpoint) -> Iterator[str]:
    """What transformers makes of the settings that is not what is stored, the worst first."""
    if not checkpoint.announced or checkpoint.announced[0].method != NAME:
        return
    settings = checkpoint.announced[0].settings
    status = settings.get("quantization_status", "initialized")
    if status != COMPRESSED and any(name.endswith(_PACKED) for name in checkpoint.names()):
        stated = printable(str(status)) if "quantization_status" in settings else "absent"
        yield f"builds no packed modules where quantization_status is {stated}, and leaves those weights random"
    for finding in checkpoint.findings:
        if finding.code == "HF502" and getattr(finding, "reason", "") == RELATIVE.why:
            many = plural(finding.count, "module")
            names = ", ".join(finding.names[:2])
            yield f"matches ignore by the whole path of a module, and packs {many} that the list names in part: {names}"


def stores_dense(checkpoint: Checkpoint) -> bool:
    """Whether weights are stored in a dtype of models beside the scales that they are to be packed with."""
    if not checkpoint.announced or checkpoint.announced[0].method != NAME:
        return False
    if checkpoint.announced[0].settings.get("quantization_status") == COMPRESSED:
        return False
    for shard in (checkpoint.shards or {}).values():
        tensors = shard.header.tensors if shard.header else {}
        for name in tensors:
            if name.endswith(_SCALE) and (weight := tensors.get(name.removesuffix(_SCALE) + ".weight")):
                return weight.dtype in _FLOATS
    return False
