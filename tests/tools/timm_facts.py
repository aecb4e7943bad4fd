"""Writes tests/architectures/timm.jsonl: configs as timm saves them, and what it stores beside each. Needs timm alone.

python tests/tools/timm_facts.py NAME[=ARGUMENTS]... > tests/architectures/timm.jsonl  (arguments as a JSON object)
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import timm
import torch
from timm.models._hub import save_config_for_hf

KEPT = ("num_classes", "input_size", "fixed_input_size", "classifier", "first_conv", "label_offset")


def line(name: str, arguments: str) -> str:
    with torch.device("meta"):
        model = timm.create_model(name, **json.loads(arguments or "{}"))
    with tempfile.TemporaryDirectory() as folder:
        save_config_for_hf(model, f"{folder}/config.json")
        config = json.loads(Path(folder, "config.json").read_text())
    about = {key: value for key, value in config["pretrained_cfg"].items() if key in KEPT}
    config = {key: config[key] for key in ("architecture", "num_classes", "num_features", "model_args")}
    shapes = sorted((key, list(tensor.shape)) for key, tensor in model.state_dict().items())
    digest = hashlib.sha256(json.dumps(shapes).encode()).hexdigest()
    total = sum(parameter.numel() for parameter in model.parameters())
    return json.dumps({"config": {**config, "pretrained_cfg": about}, "parameters": total, "shapes": digest})


if __name__ == "__main__":
    for case in sys.argv[1:]:
        print(line(*case.partition("=")[::2]))
