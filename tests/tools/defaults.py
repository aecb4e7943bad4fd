"""Records the defaults of keys that size nothing: `python tests/tools/defaults.py` (extra `oracle`).

It writes hfcount/diffing/defaults.json, one line per class, named as in reference.json: the default of each key
that reference.json leaves out, if that is a number, a word, true, false, null or a short list of them. The line `*` has
those of all classes.
"""

import json
import sys
import warnings
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from reference import _default, classes_of

from hfcount.mapper.class_defaults import declared

FILE = Path(__file__).parents[2] / "hfcount" / "diffing" / "defaults.json"

_OWN = ("model_type", "architectures", "id2label", "label2id", "transformers_version", "dtype", "_name_or_path")
_SHORT = 60  # characters of a default


def described(kind: Any) -> dict[str, Any]:
    """The defaults of a class that are short."""
    found = {one.name: _default(one) for one in fields(kind)}
    return {
        name: value for name, value in found.items() if value is not MISSING and name not in _OWN and _is_short(value)
    }


def _is_short(value: Any) -> bool:
    try:
        return not isinstance(value, dict) and len(json.dumps(value, allow_nan=False)) <= _SHORT
    except (TypeError, ValueError):
        return False


def main() -> int:
    from transformers import PreTrainedConfig

    common = described(PreTrainedConfig)
    rows = {"*": common}
    for name, kind in classes_of().items():
        known = declared(name).keys
        own = {key: one for key, one in described(kind).items() if key not in known and common.get(key, MISSING) != one}
        if own:
            rows[name] = dict(sorted(own.items()))
    lines = [f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in rows.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
