"""Packs what timm_record.py recorded into the file that hfcount/architectures/components/timm/catalogue.py reads.

python tests/tools/timm_pack.py RECORD
"""

import json
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hfcount.architectures.components.timm.catalogue import FILE

CHUNK = 60_000  # characters: smaller ones compress worse, larger ones take longer to read


def main(record: str) -> None:
    models = [json.loads(line) for line in Path(record).read_text().splitlines()]
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for model in sorted(models, key=lambda one: (one["module"], one["name"])):
        groups[model["module"]].append(model)
    chunks, listed = list[str](), list[str]()
    held: list[dict[str, Any]] = []
    for group in groups.values():
        held += group
        if len(text := packed(held)) > CHUNK or group is list(groups.values())[-1]:
            chunks.append(text)
            listed += [f"{model['name']} {len(chunks)}" for model in held]
            held = []
    data = [
        lzma.compress(text.encode(), lzma.FORMAT_ALONE, preset=9 | lzma.PRESET_EXTREME)
        for text in ("\n".join(sorted(listed)), *chunks)
    ]
    FILE.write_bytes(" ".join(str(len(one)) for one in data).encode() + b"\n" + b"".join(data))
    print(f"{len(models)} models, {len(data)} chunks, {FILE.stat().st_size:,} bytes")


def packed(models: Iterable[Mapping[str, Any]]) -> str:
    """One chunk."""
    table: dict[str, int] = {}
    listed = []
    for model in models:
        roots = {name: entered(nested(flat), table) for name, flat in model["trees"].items()}
        listed.append((model, roots))
    texts = list(table)
    uses = Counter(int(number) for text in texts for number in re.findall(r"@(\d+)", text))
    kept = {number for number in range(len(texts)) if uses[number] > 1}
    kept |= {number for _, roots in listed for number in roots.values()}
    places = {number: place for place, number in enumerate(sorted(kept))}

    def written(number: int) -> str:
        def replaced(found: re.Match[str]) -> str:
            inner = int(found[1])
            return f"@{places[inner]}" if inner in places else f"({written(inner)})"

        return re.sub(r"@(\d+)", replaced, texts[number])

    lines = []
    for model, roots in listed:
        facts = [f"root:{name}@{places[number]}" for name, number in roots.items()]
        facts += [f"image:{model['image']}", f"module:{model['module']}"]
        facts += [f"{kind}:{value}" for kind in ("native", "takes", "headless") for value in model[kind]]
        lines.append(" ".join([model["name"], *facts]))
    return "\n".join(lines) + "\n\n" + "\n".join(written(number) for number in sorted(kept))


def nested(flat: Mapping[str, str]) -> dict[str, Any]:
    """Tensors by name as objects in objects, one for each part of a name."""
    root: dict[str, Any] = {}
    for name, tensor in flat.items():
        *path, last = name.split(".")
        node = root
        for part in path:
            node = node.setdefault(part, {})
        node[last] = tensor
    return root


def entered(node: Mapping[str, Any], table: dict[str, int]) -> int:
    """The number of a block in the table of all; equal ones with consecutive numbers become one with a range."""
    rows: list[tuple[str, int, str]] = []
    for name, child in node.items():
        text = child if isinstance(child, str) else f"@{entered(child, table)}"
        if name.isdecimal() and rows and rows[-1][1] >= 0 and rows[-1][2] == text and int(name) == rows[-1][1] + 1:
            rows[-1] = (rows[-1][0], int(name), text)
        else:
            rows.append((name, int(name) if name.isdecimal() else -1, text))
    text = " ".join(
        f"{name}-{last} {one}" if last > 0 and str(last) != name else f"{name} {one}" for name, last, one in rows
    )
    return table.setdefault(text, len(table))


if __name__ == "__main__":
    main(sys.argv[1])
