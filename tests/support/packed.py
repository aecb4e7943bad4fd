"""Small checkpoints as the libraries that pack weights store them, recorded in packed.json."""

import json
import re
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from paths import SUPPORT

from hfcount.formats.dtypes import BITS

Json = dict[str, Any]
Tensors = dict[str, tuple[list[int], str]]

# Written by transformers 5.23, compressed-tensors 0.20, nvidia-modelopt 0.47, bitsandbytes 0.50, mlx-lm 0.32 and the
# layers of autoawq 0.2; `{0,1}` in a name stands for each of the numbers.
PACKED: dict[str, Json] = json.loads((SUPPORT / "packed.json").read_text())


def unfolded(rows: list[tuple[str, list[int], str]]) -> Tensors:
    found: Tensors = {}
    for name, shape, dtype in rows:
        texts = re.split(r"\{([\d,]+)\}", name)
        for numbers in product(*(some.split(",") for some in texts[1::2])):
            whole = "".join(text + number for text, number in zip(texts[::2], (*numbers, ""), strict=True))
            found[whole] = shape, dtype
    return found


def write(folder: Path, case: Json, tensors: Tensors) -> str:
    """The checkpoint as two sparse files and their index."""
    folder.mkdir(parents=True)
    torchao = case["config"].get("quantization_config", {}).get("quant_method") == "torchao"
    metadata = manifest(tensors) if torchao else {}
    for name, values in {"config.json": case["config"], **case["beside"]}.items():
        (folder / name).write_text(json.dumps(values))
    names, places, total = sorted(tensors), {}, 0
    for number, some in enumerate((names[::2], names[1::2]), 1):
        header: Json = {"__metadata__": metadata} if metadata else {}
        end = 0
        for name in some:
            shape, dtype = tensors[name]
            begin, end = end, end + prod(shape) * BITS[dtype] // 8
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
        file = f"model-0000{number}-of-00002.safetensors"
        text = json.dumps(header, separators=(",", ":")).encode()
        with (folder / file).open("wb") as opened:
            opened.write(len(text).to_bytes(8, "little") + text)
            opened.truncate(8 + len(text) + end)
        places |= dict.fromkeys(some, file)
        total += end
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return str(folder)


def manifest(tensors: Tensors) -> dict[str, str]:
    """What transformers writes into each file of torchao's: of every tensor of the model what it consists of."""
    kwargs = {
        "granularity": {"_type": "PerRow", "_data": {"dim": -1}},
        "mapping_type": {"_type": "MappingType", "_data": "SYMMETRIC"},
        "reduce_range": False,
    }
    data = {
        "act_quant_kwargs": {"_type": "QuantizeTensorToInt8Kwargs", "_data": kwargs},
        "block_size": [1, 256],
        "dtype": {"_type": "torch.dtype", "_data": "bfloat16"},
        "reduce_range": False,
    }
    packed = json.dumps({"_type": "Int8Tensor", "_data": data, "_tensor_data_names": ["zero_point", "qdata", "scale"]})
    parts = {name: name.partition("._weight_") for name in tensors}
    return {
        f"{module}.weight" if beside else name: packed if beside else json.dumps({"_type": "Tensor"})
        for name, (module, beside, _) in parts.items()
    }
