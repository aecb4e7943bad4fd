"""Lists what readers know and hfcount does not: `python tests/tools/season.py FOLDER [--reasons]`, as Markdown.

FOLDER holds the source of transformers, vLLM, SGLang, mlx-lm and llama.cpp's converter, or of some of them, as `pip
install --no-deps --target FOLDER` and an unpacked llama_cpp_python lay it out. Nothing of it is imported or run: the
tables in which they register model types, classes and quantisation methods are read from the source. What somebody has
looked at and left out is counted apart; `--reasons` lists it with its reasons (left_out.tsv).
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hfcount.architectures import families
from hfcount.architectures.registry import is_recorded, of_class, owner
from hfcount.blueprints.model_class import naming
from hfcount.errors import UnknownClass
from hfcount.mapper import Config
from hfcount.mapper.classes import known
from hfcount.quantization.schemes import METHODS


def _types(name: str) -> bool:
    return families.find(name) is not None or families.find(name.replace("-", "_")) is not None


def _classes(name: str) -> bool:
    """Whether a config that names the class, with the model_type that is likeliest for it, is one that is known."""
    found = known(name)
    types = (owner(name), of_class(name), *(found.types if found else ()))
    return any(_named(name, kind) for kind in types if kind)


def _named(name: str, model_type: str) -> bool:
    if families.find(model_type) is None:
        return is_recorded(model_type)
    try:
        naming(Config({"model_type": model_type, "architectures": [name]}))
    except UnknownClass:
        return False
    return True


KINDS: dict[str, Callable[[str], bool]] = {
    "model types": _types,
    "classes": _classes,
    "quantisation methods": METHODS.__contains__,
}
"""What readers register, and whether hfcount knows one."""


class Table(NamedTuple):
    """Where a reader registers what it knows.

    Args:
        files: a pattern of files below the folder.
        names: a pattern of the variables that hold the table; empty for the names of the files themselves.
    """

    reader: str
    kind: str
    files: str
    names: str = ""


TABLES = (
    Table("transformers", "model types", "transformers/models/auto/auto_mappings.py", "CONFIG_MAPPING_NAMES"),
    Table(
        "transformers", "quantisation methods", "transformers/quantizers/auto.py", "AUTO_QUANTIZATION_CONFIG_MAPPING"
    ),
    Table("vLLM", "classes", "vllm/model_executor/models/registry.py", r"_\w+_MODELS"),
    Table("vLLM", "quantisation methods", "vllm/model_executor/layers/quantization/__init__.py", "QuantizationMethods"),
    Table("SGLang", "classes", "sglang/srt/models/*.py", "EntryClass"),
    Table("SGLang", "quantisation methods", "sglang/srt/layers/quantization/__init__.py", "BASE_QUANTIZATION_METHODS"),
    Table("mlx-lm", "model types", "mlx_lm/models/*.py"),
    Table("llama.cpp", "classes", "**/llama.cpp/conversion/*.py", "register"),
)


def entries(table: Table, folder: Path) -> set[str]:
    """What a reader registers in a table; empty if it is not in the folder."""
    found = set[str]()
    for path in sorted(folder.glob(table.files)):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if table.names:
            found.update(name for one in ast.walk(tree) for name in _registered(one, table.names))
        elif any(isinstance(one, ast.ClassDef) and one.name == "Model" for one in tree.body):
            found.add(path.stem)
    return found


def _registered(one: ast.AST, names: str) -> Iterator[str]:
    """The entries of a table that a statement assigns, or of a call that registers a class."""
    if isinstance(one, ast.Assign | ast.AnnAssign) and one.value:
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        if any(isinstance(target, ast.Name) and re.fullmatch(names, target.id) for target in targets):
            yield from _entries(one.value)
    elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == names:
        yield from (arg.value for arg in one.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def _entries(value: ast.expr) -> Iterator[str]:
    """The keys of a dictionary, the first of each pair, the words of a Literal, or the names of classes."""
    match value:
        case ast.Dict(keys=keys):
            yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        case ast.Call(args=[ast.List(elts=pairs), *_]):
            yield from (word for pair in pairs if isinstance(pair, ast.Tuple) for word in _entries(pair.elts[0]))
        case ast.Subscript(slice=ast.Tuple(elts=some)) | ast.List(elts=some) | ast.Tuple(elts=some):
            yield from (word for one in some for word in _entries(one))
        case ast.Constant(value=str(word)):
            yield word
        case ast.Name(id=word):
            yield word


class LeftOut(NamedTuple):
    """Names that somebody has looked at and left out, by a pattern, and why."""

    reader: str
    names: str
    kind: str
    reason: str


@cache
def reasons_for_all() -> tuple[LeftOut, ...]:
    """The rows of left_out.tsv."""
    lines = Path(__file__).with_name("left_out.tsv").read_text().splitlines()
    return tuple(LeftOut(*line.split("\t")) for line in lines if not line.startswith("#"))


def left_out(reader: str, name: str) -> LeftOut | None:
    """Why a name is left out; None if nobody has looked at it."""
    rows = (row for row in reasons_for_all() if row.reader == reader)
    return next((row for row in rows if re.fullmatch(row.names, name)), None)


def report(folder: Path, asked_for_reasons: bool = False) -> str:
    """What hfcount does not know of each table, and how much it knows.

    Args:
        asked_for_reasons: whether to say why names are left out, besides how many are.
    """
    lines = ["# What readers know and hfcount does not", ""]
    for table in TABLES:
        all_of_them = entries(table, folder)
        if not all_of_them:
            lines.append(f"- {table.reader}: no {table.kind} found in {table.files}.")
            continue
        unknown = sorted(name for name in all_of_them if not KINDS[table.kind](name))
        reasons = {name: reason for name in unknown if (reason := left_out(table.reader, name))}
        new = [name for name in unknown if name not in reasons]
        named = ": " + ", ".join(f"`{name}`" for name in new) if new else ""
        counts = ", ".join(f"{count} {kind}" for kind, count in Counter(one.kind for one in reasons.values()).items())
        rest = f"; {len(reasons):,} left out ({counts})" if reasons else ""
        lines.append(f"- {table.reader}: {len(new):,} of {len(all_of_them):,} {table.kind} unknown{named}{rest}.")
    if asked_for_reasons:
        lines += ["", "| reader | left out | kind | reason |", "|---|---|---|---|"]
        lines += [f"| {row.reader} | `{row.names}` | {row.kind} | {row.reason} |" for row in reasons_for_all()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(report(Path(sys.argv[1]), "--reasons" in sys.argv[2:]))
