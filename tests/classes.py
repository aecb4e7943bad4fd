"""Records which classes transformers has, and of which model_types: `python tests/classes.py` (extra `oracle`).

It writes hfcount/mapper/classes.json, one line per model_type: the classes that the library's auto classes choose for
it, and those that declare its configuration, be they made for users or for other models. Abstract ones are left out.
"""

import json
import sys
import warnings
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

FILE = Path(__file__).parent.parent / "hfcount" / "mapper" / "classes.json"

Json = dict[str, Any]


def recorded(folders: str = "*") -> Json:
    """What the file holds: the version of transformers, and its classes by model_type.

    Of classes that no auto class chooses, those in `folders` of transformers/models alone.
    """
    import transformers
    from transformers.models.auto import modeling_auto

    types: dict[str, set[str]] = defaultdict(set)
    for module in _modules(Path(transformers.__path__[0]) / "models", folders):
        for name, one in vars(module).items():
            if isinstance(one, type) and issubclass(one, transformers.PreTrainedModel) and not _abstract(name):
                declared = one.config_class
                for kind in get_args(declared) or (declared,):
                    types[getattr(kind, "model_type", "") or ""].add(name)
    for which, mapping in vars(modeling_auto).items():
        if which.endswith("_MAPPING_NAMES") and not which.startswith("CONFIG_"):
            for kind, names in mapping.items():
                types[kind] |= {name for name in (names if isinstance(names, tuple | list) else [names]) if name}
    found = {kind: " ".join(sorted(names)) for kind, names in sorted(types.items()) if kind and names}
    return {"version": transformers.__version__, "classes": found}


def _modules(folder: Path, folders: str) -> list[ModuleType]:
    found = []
    for path in sorted(folder.glob(f"{folders}/modeling_*.py")):
        try:
            found.append(import_module(f"transformers.models.{path.parent.name}.{path.stem}"))
        except ImportError:  # it needs a library that no test installs
            print(f"{path.name} cannot be imported, and its classes are left out.", file=sys.stderr)
    return found


def _abstract(name: str) -> bool:
    return name.startswith(("PreTrained", "AutoModel")) or name.endswith("PreTrainedModel")


def text(whole: Json) -> str:
    """One type a line, so that one can be read without the others."""
    lines = [f"{json.dumps(kind)}: {json.dumps(names)}" for kind, names in whole["classes"].items()]
    return f'{{"version": "{whole["version"]}", "classes": {{\n' + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    FILE.write_text(text(recorded()))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
