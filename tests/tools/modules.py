"""Records the names of each type's modules: `python tests/tools/modules.py`.

It writes hfcount/verifier/causes/modules.json, one line per set of names: the last names of the modules that hold a
type's tensors, such as `q_proj`, and the model_types that have them. They are those that the type has with its default
config and with the config that is recorded of it. A type that has neither is left out.
"""

import json
import re
from collections import defaultdict
from pathlib import Path

from hfcount.architectures import families
from hfcount.blueprints.build import build
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import Config
from hfcount.verifier.causes.modules import FILE, module_of
from hfcount.verifier.causes.stored_rows import text_of
from hfcount.verifier.folded_names import placed

_RANGE = re.compile(r"\{[^}]*\}")  # such as {0-31}
RECORDED = Path(__file__).parents[2] / "fixtures" / "architectures"


def recorded() -> dict[str, set[str]]:
    """The names of the modules of each type that can be built."""
    found: dict[str, set[str]] = defaultdict(set)
    for kind in families.all_types():
        if (path := RECORDED / f"{kind}.json").exists():
            found[kind] |= _names(json.loads(path.read_text(encoding="utf-8"))["rows"])
        try:
            blueprint = build(Config({"model_type": kind}), whatever_class=True)
        except (ConfigError, UnknownArchitecture):
            continue  # it has no defaults, or they make no model
        found[kind] |= {module_of(text_of(leaf)) for leaf in blueprint.leaves}
    return {kind: names for kind, names in found.items() if names}


def _names(rows: list[list[object]]) -> set[str]:
    return {module_of(placed(_RANGE.sub("0", str(row[0])))[0]) for row in rows}


def text(found: dict[str, set[str]]) -> str:
    """One line for each set of names, with the types that share it."""
    sharing: dict[str, list[str]] = defaultdict(list)
    for kind, names in found.items():
        sharing[" ".join(sorted(names))].append(kind)
    lines = sorted(f"{json.dumps(' '.join(kinds))}: {json.dumps(names)}" for names, kinds in sharing.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(recorded()), encoding="utf-8")
