"""Records llama.cpp's converter from its source: `python tests/tools/llama_cpp_converter.py SOURCE` (extra `oracle`).

SOURCE is a folder of its repository, such as vendor/llama.cpp in the source distribution of llama-cpp-python. It writes
hfcount/verifier/loaders/llama.cpp_converter-VERSION.json, whose lines are

- `NAME`, for each registered class of transformers: the converter's class. `projectors`: those with towers that it has.
- `class NAME`: its file, the classes that it inherits from, its attributes, and the names of its methods; what concerns
  vocabularies and towers alone is left out. `types` is what a vocabulary of it says of the count of token types.
- `CLASS.METHOD`: a method, as python_code.py translates it. `writer.METHOD`: one that writes metadata.
- `module FILE`: functions and constants of a file.
- `tensor NAME`: its name in GGUF, the names that are mapped to it, and its place among the tensors: of two that have
  the same name, the later counts. `arch NAME`: its name in GGUF, the tensors that it has, and names in it alone.
- `type NAME`: what the config class of a type has where a config lacks a key, as the converter asks it. `derived` has
  keys whose value comes of others: of which keys (a copy, or a quotient), `cycle` of words, or `value`, or null.
"""

import argparse
import ast
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from llama_cpp import FOLDER, Source
from python_code import Untranslated, function, value

Json = dict[str, Any]

_SKIPPED = (
    "set_vocab",
    "_set_vocab",
    "get_vocab",
    "_create_vocab",
    "does_token_look_special",
    "write",
    "prepare_metadata",
    "print_registered_models",
    "load_hparams",
    "register",
    "example",
    "from_model_architecture",
)
"""Beginnings of the names of methods that concern the vocabulary or the file alone, or that hfcount runs otherwise."""

_PLAIN = ("MODEL_ARCH", "MODEL_TENSOR")
"""Enumerations whose members are their names here."""

_TYPE_COUNT = "add_token_type_count"


class Classes:
    """The classes of the converter's files.

    Args:
        source: of the repository.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        folder = source.folder / "conversion"
        self.trees = {f"conversion/{path.name}": ast.parse(path.read_text()) for path in sorted(folder.glob("*.py"))}
        self.nodes = {
            node.name: (file, node)
            for file, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        }
        self._made: dict[str, type] = {}

    def order(self, name: str) -> list[str]:
        """A class and those that it inherits from, in the order in which methods are looked up."""
        return [kind.__name__ for kind in self._class(name).__mro__ if kind is not object]

    def _class(self, name: str) -> type:
        if name not in self._made:
            bases = [ast.unparse(base).rpartition(".")[2] for base in self.nodes[name][1].bases]
            self._made[name] = type(name, tuple(self._class(base) for base in bases if base in self.nodes), {})
        return self._made[name]

    def registered(self) -> dict[str, str]:
        """The class of the converter for each class of a text model."""
        known = self.names("TEXT_MODEL_MAP")
        return {
            name: kind
            for kind, (file, node) in self.nodes.items()
            if "TextModel" in self.order(kind)
            for name in _decorated(node)
            if f"conversion/{known.get(name)}.py" == file
        }

    def names(self, title: str) -> dict[str, str]:
        """The file of each class that a table of the converter lists."""
        for node in self.trees["conversion/__init__.py"].body:
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == title and node.value:
                names: dict[str, str] = ast.literal_eval(node.value)
                return names
        raise ValueError(title)

    def needed(self, names: Iterable[str]) -> set[str]:
        """These classes, those that they inherit from, and those that the code of these names."""
        result: set[str] = set()
        left = [each for name in names for each in self.order(name)]
        while left:
            name = left.pop()
            if name not in result:
                result.add(name)
                left += [
                    each for other in _mentioned(self.row(name)) if other in self.nodes for each in self.order(other)
                ]
        return result - {"LazyTorchTensor"}

    def row(self, name: str) -> Json:
        """The line of a class."""
        file, node = self.nodes[name]
        row: Json = {"file": file, "order": self.order(name)[1:], "attributes": {}, "methods": {}}
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and not part.name.startswith(_SKIPPED):
                _translated(row["methods"], part.name, lambda part=part: function(part))
            elif isinstance(part, ast.FunctionDef):
                for types in _type_counts(part):
                    row["types"] = types
            elif isinstance(part, ast.ClassDef):
                row["attributes"][part.name] = part.name
            elif isinstance(part, ast.Assign | ast.AnnAssign) and part.value:
                target = part.targets[0] if isinstance(part, ast.Assign) else part.target
                _translated(row["attributes"], ast.unparse(target), lambda part=part: value(part.value))
        return row

    def modules(self) -> Iterator[tuple[str, Json]]:
        """The functions and constants of the files that have any."""
        for file, tree in self.trees.items():
            row: Json = {"functions": {}, "constants": {}}
            for part in tree.body:
                if isinstance(part, ast.FunctionDef):
                    _translated(row["functions"], part.name, lambda part=part: function(part))
                elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    _translated(row["constants"], part.targets[0].id, lambda part=part: value(part.value))
            row["constants"].pop("logger", None)
            if file != "conversion/__init__.py" and (row["functions"] or row["constants"]):
                yield file, row


def _translated(rows: Json, name: str, translate: Callable[[], Any]) -> None:
    """Adds a function or constant; one that cannot be translated cannot be run."""
    try:
        rows[name] = translate()
    except Untranslated as error:
        print(name, error, file=sys.stderr)


def _mentioned(node: Any) -> Iterator[str]:
    """The texts of a line; those of its variables among them."""
    if isinstance(node, str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _mentioned(part)


def _decorated(node: ast.ClassDef) -> list[str]:
    return [
        argument.value
        for given in node.decorator_list
        if isinstance(given, ast.Call) and ast.unparse(given.func) == "ModelBase.register"
        for argument in given.args
        if isinstance(argument, ast.Constant)
    ]


def _type_counts(method: ast.FunctionDef) -> Iterator[Any]:
    for node in ast.walk(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _TYPE_COUNT:
            yield value(node.args[0])


class Constants:
    """The constants of gguf-py, as translated code has them.

    Args:
        folder: of the repository.
    """

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder / "gguf-py"))
        from gguf import constants, tensor_mapping

        self.known, self.mapping = constants, tensor_mapping.TensorNameMap
        self.writer = ast.parse((folder / "gguf-py" / "gguf" / "gguf_writer.py").read_text())

    def resolved(self, node: Any) -> Any:
        """The translated code with the values of constants in place of their names."""
        if not isinstance(node, list):
            return node
        if node and node[0] == "." and (path := _path(node)):
            given = self._constant(path.removeprefix("gguf."))
            if given is not None:
                return given
        return [self.resolved(part) for part in node]

    def _constant(self, path: str) -> Any:
        first, *others = path.split(".")
        if (
            not others
            or (len(others) > 1 and first != "Keys")
            or not isinstance(getattr(self.known, first, None), type)
        ):
            return None
        found = getattr(self.known, first)
        for name in others:
            found = getattr(found, name, None)
        if isinstance(found, str):
            return ["k", found]
        if found is None or not hasattr(found, "name"):
            return None
        return ["k", found.name] if first in _PLAIN else ["enum", first, found.name, found.value]

    def methods(self) -> Json:
        """The methods of the writer that add metadata."""
        (writer,) = [node for node in self.writer.body if isinstance(node, ast.ClassDef) and node.name == "GGUFWriter"]
        rows: Json = {}
        for part in writer.body:
            if isinstance(part, ast.FunctionDef) and part.name.startswith("add_") and "Keys." in ast.unparse(part):
                _translated(rows, part.name, lambda part=part: function(part))
        return {name: self.resolved(row) for name, row in rows.items()}

    def names(self) -> Json:
        """Of each tensor the name in GGUF, the names that are mapped to it, and its place."""
        every = {**self.mapping.mappings_cfg, **self.mapping.block_mappings_cfg}
        titles = self.known.TENSOR_NAMES
        order = [*every, *(tensor for tensor in titles if tensor not in every)]
        return {tensor.name: [titles[tensor], list(every.get(tensor, ())), at] for at, tensor in enumerate(order)}

    def architectures(self) -> Iterator[tuple[str, Json]]:
        """Each architecture with its tensors."""
        special = self.mapping.arch_block_mappings_cfg
        for arch, name in self.known.MODEL_ARCH_NAMES.items():
            tensors = [tensor.name for tensor in self.known.MODEL_TENSORS.get(arch, [])]
            own = {tensor.name: list(names) for tensor, names in special.get(arch, {}).items()}
            yield arch.name, {"name": name, "tensors": tensors, "names": own}


def _path(node: Any) -> str:
    """The dotted name of a translated attribute; empty if it is of something else."""
    if isinstance(node, str):
        return node
    if isinstance(node, list) and node[:1] == ["."]:
        return f"{owner}.{node[2]}" if (owner := _path(node[1])) else ""
    return ""


def lines(source: Source) -> Iterator[tuple[str, Any]]:
    """The lines of the file, by their titles."""
    from config_types import config_types

    classes, constants = Classes(source), Constants(source.folder)
    registered = classes.registered()
    yield from sorted((name, {"class": kind}) for name, kind in registered.items())
    yield "projectors", dict.fromkeys(classes.names("MMPROJ_MODEL_MAP"), 1)
    for name in sorted(classes.needed(registered.values())):
        row = {key: _resolved(constants, part) for key, part in classes.row(name).items()}
        yield f"class {name}", row | {"methods": list(row["methods"])}
        yield from ((f"{name}.{method}", code) for method, code in row["methods"].items())
    for file, row in classes.modules():
        yield f"module {file}", {key: _resolved(constants, part) for key, part in row.items()}
    yield from ((f"writer.{name}", code) for name, code in constants.methods().items())
    yield from ((f"tensor {name}", row) for name, row in constants.names().items())
    for name, row in constants.architectures():
        yield f"arch {name}", row
    for name, row in config_types():
        yield f"type {name}", row


def _resolved(constants: Constants, part: Any) -> Any:
    if isinstance(part, dict):
        return {name: constants.resolved(node) for name, node in part.items()}
    return constants.resolved(part)


def record(source: Source) -> str:
    """The file of what is recorded."""
    rows = [f"{json.dumps(title)}: {json.dumps(row, separators=(',', ':'))}" for title, row in lines(source)]
    first = json.dumps({"library": "llama.cpp", "version": source.version})[:-1]
    return f'{first}, "converter": {{\n' + ",\n".join(rows) + "\n}}\n"


def main() -> None:
    """Writes the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    source = Source(parser.parse_args().source)
    path = FOLDER / f"llama.cpp_converter-{source.version}.json"
    text = record(source)
    path.write_text(text)
    print(path, text.count("\n"), "lines")


if __name__ == "__main__":
    main()
