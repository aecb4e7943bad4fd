"""Records by which paths sentence-transformers imports the classes of modules: `python tests/tools/module_paths.py`.

Needs sentence-transformers. Every module of the package is asked for every class of a module, by the function that
reads modules.json, and so are the paths that it still takes from older versions.
"""

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import sentence_transformers
import torch
from sentence_transformers.util import deprecated_import
from sentence_transformers.util.misc import import_from_string

OUT = Path(__file__).parents[2] / "hfcount/verifier/sentence_transformers/module_paths.tsv"
PACKAGE = "sentence_transformers"
OLD = {"Asym", "CLIPModel", "MLMTransformer"}  # names of older versions, which stand for other classes today


def places() -> list[str]:
    """The modules of the package, and the older paths that it redirects."""
    own = {module.name for module in pkgutil.walk_packages(sentence_transformers.__path__, f"{PACKAGE}.")}
    tables = [value for value in vars(deprecated_import).values() if isinstance(value, dict)]
    old = {name for table in tables for name in table if isinstance(name, str) and name.startswith(PACKAGE)}
    return sorted({PACKAGE} | own | old)


def classes(place: str) -> Iterator[str]:
    """The classes of modules that a module of the package has."""
    try:
        module = importlib.import_module(place)
    except ImportError:
        return
    for name, value in inspect.getmembers(module, inspect.isclass):
        if issubclass(value, torch.nn.Module) and hasattr(value, "load") and ".modules" in value.__module__:
            yield name


def is_imported(path: str) -> bool:
    """Whether a path names a class of a module."""
    try:
        value = import_from_string(path)
    except (ImportError, AttributeError):
        return False
    return inspect.isclass(value) and issubclass(value, torch.nn.Module)


def main() -> None:
    """Writes a row for each class: its name, and the modules that have it."""
    warnings.simplefilter("ignore")
    names = sorted(OLD.union(*(classes(place) for place in places())))
    rows = [f"# sentence-transformers {sentence_transformers.__version__}; written by tests/tools/module_paths.py"]
    for name in names:
        known = [place for place in places() if is_imported(f"{place}.{name}")]
        rows.append("\t".join([name, " ".join(place.removeprefix(PACKAGE).removeprefix(".") for place in known)]))
    OUT.write_text("\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
