"""Records which quantisation methods versions of transformers have: `python tests/tools/quantizers.py FOLDER ...`.

Each FOLDER has transformers/, of any version. The methods are read from the syntax tree of quantizers/auto.py, and
written to hfcount/verifier/loaders/quantizers.json, a line for each version, with the line that passes over others.
"""

import ast
import json
import sys
from pathlib import Path

FILE = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders" / "quantizers.json"
_TABLE = "AUTO_QUANTIZATION_CONFIG_MAPPING"


def row(folder: Path) -> tuple[str, dict[str, str]]:
    """The version in a folder, and what is recorded of it."""
    text = (folder / "transformers" / "quantizers" / "auto.py").read_text()
    (table,) = [
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and _TABLE in ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        and isinstance(node.value, ast.Dict)
    ]
    methods = [key.value for key in table.keys if isinstance(key, ast.Constant)]
    lines = {
        name: f"quantizers/auto.py:{text[: text.rindex(place)].count(chr(10)) + 1}"
        for name, place in (("unknown", "Unknown quantization type"), ("unnamed", "has no `quant_method` attribute"))
    }
    made = (folder / "transformers" / "__init__.py").read_text()
    version = made[made.index("__version__ = ") :].split('"')[1]
    return version, {"methods": " ".join(sorted(map(str, methods))), **lines}


def main() -> None:
    """Writes the file."""
    rows = dict(sorted(row(Path(folder)) for folder in sys.argv[1:]))
    lines = [f"{json.dumps(version)}: {json.dumps(of, separators=(',', ':'))}" for version, of in rows.items()]
    FILE.write_text('{"all": {"library":"transformers"}, "versions": {\n' + ",\n".join(lines) + "\n}}\n")


if __name__ == "__main__":
    main()
