"""Records what mergekit's source says of merging: `python tests/tools/mergekit_facts.py FOLDER`, an unpacked wheel.

It reads the definitions of architectures as JSON, runs nothing, and writes hfcount/diffing/mergekit.json:

- `version`, and `lines`: file and line of each check, found by the text that is searched for here.
- `definitions`: by the name of the file, the type (`model_type`), the keys of numbers of layers (`layers`), and the
  weights: the name (`${layer_index}` is the number of the layer), other names that it may have, whether it may be
  absent, and the axis of the vocabulary.
- `classes`: the definitions of each class that a config may name; `computed` those that are made by code.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).parents[2] / "hfcount" / "diffing" / "mergekit.json"

RULES = {
    "classes": ("architecture/__init__.py", "More than one architecture in config?"),
    "mixed": ("architecture/__init__.py", "Must specify --allow-crimes"),
    "layers": ("plan.py", "All inputs to a slice must contain the same number of layers"),
    "absent": ("io/tasks.py", "required but not present in model"),
    "shapes": ("merge_methods/base.py", "Tensor size mismatch for"),
    "whole": ("merge_methods/buffers.py", "Non-floating buffer"),
    "files": ("io/lazy_tensor_loader.py", "Unable to find model files"),
    "rows": ("plan.py", "if self._tokenizer_task and weight.vocabulary_axis is not None"),
}


def line(folder: Path, file: str, text: str) -> str:
    """`plan.py:286`."""
    for number, found in enumerate((folder / file).read_text().splitlines(), 1):
        if text in found:
            return f"{file}:{number}"
    raise SystemExit(f"{file} has no line with: {text}")


def weights(module: dict[str, Any], prefix: str) -> Iterator[list[Any]]:
    """The weights of a module."""
    rows = [*module["pre_weights"], *module["layer_templates"]["weights"], *module["post_weights"]]
    for row in rows:
        others = [*(row.get("aliases") or ()), *(row.get("tied_names") or ())]
        yield [
            prefix + row["name"],
            [prefix + name for name in others],
            bool(row.get("optional")),
            row.get("vocabulary_axis"),
        ]


def definition(content: dict[str, Any]) -> dict[str, Any]:
    """A definition in short."""
    parts = content.get("modules") or {"": {"architecture": content}}
    layers = [part["architecture"].get("num_layers_config_key") or "num_hidden_layers" for part in parts.values()]
    rows = [row for part in parts.values() for row in weights(part["architecture"], part.get("weight_prefix") or "")]
    return {"model_type": content["model_type"], "layers": layers, "weights": rows}


def main(folder: Path) -> None:
    """Writes the record."""
    package = folder / "mergekit"
    version = next(folder.glob("mergekit-*.dist-info")).name.removesuffix(".dist-info").removeprefix("mergekit-")
    definitions, classes = {}, dict[str, list[str]]()
    for file in sorted((package / "_data" / "architectures").glob("*.json")):
        content = json.loads(file.read_text())
        if "architectures" not in content or not content["architectures"]:
            continue
        definitions[file.stem] = definition(content)
        for name in content["architectures"]:
            classes.setdefault(name, []).append(file.stem)
    source = (package / "architecture" / "moe_defs.py").read_text()
    computed = [row.split('"')[1] for row in source.splitlines() if "ARCHITECTURE_NAME: ClassVar" in row]
    lines = {name: line(package, *rule) for name, rule in RULES.items()}
    head = {"version": version, "lines": lines, "computed": computed, "classes": classes}
    rows = [f" {json.dumps(name)}: {json.dumps(made)}" for name, made in definitions.items()]
    text = json.dumps(head, indent=1)[:-2] + ',\n "definitions": {\n' + ",\n".join(rows) + "\n }\n}\n"
    json.loads(text)
    OUT.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
