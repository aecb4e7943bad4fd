"""Writes which classes engines register in another spelling than transformers: `python tests/tools/class_spellings.py`.

They are published by these names, in code that came into transformers later. It reads the recorded registries.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from hfcount.mapper.classes import known

ROOT = Path(__file__).parents[2]
FILE = ROOT / "hfcount" / "mapper" / "class_spellings.json"
REGISTRIES = {"vllm": "classes", "sglang": "classes", "llama.cpp_converter": "converter"}


def spellings() -> Iterator[str]:
    """Names that transformers has in other letters."""
    for engine, key in REGISTRIES.items():
        for path in (ROOT / "hfcount" / "verifier" / "loaders").glob(f"{engine}-*.json"):
            for name in json.loads(path.read_text())[key]:
                if name[0].isupper() and (class_ := known(name)) and class_.name != name:
                    yield name


def recorded() -> str:
    """What the file holds."""
    return json.dumps(sorted({*spellings()}), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(recorded())
