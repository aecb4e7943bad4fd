"""Records how llama.cpp loads a GGUF file, from its source: `python tests/tools/llama_cpp.py SOURCE`.

SOURCE is a folder of its repository, such as vendor/llama.cpp in the source distribution of llama-cpp-python. It writes
hfcount/verifier/loaders/llama.cpp-VERSION.json: in the first line what holds for all architectures, then a line for
each with the functions that read its metadata and create its tensors, as cpp.py translates them. What bears neither on
an error nor on a tensor is left out. Beside the forms of cpp.py there are

- `["key", way, name, target, type, required, count, line]`: reads the metadata (%s is the architecture) by get_key,
  get_key_or_arr, get_arr or get_arr_n, gives whether it is there, and sets the target; the type is that of C++.
- `["tensor", name, shape, flags, line]`: wants a tensor (the fastest extent first), gives it, or null.
- `["tn", name, number, ...]`: a tensor's name, with numbers in place of its %d.

The first line has `fields` (of llama_hparams: type, length of an array or null, value), `methods` (of it), `functions`
(of all models: parameters, body), `load_hparams` (as far as it precedes that of the architecture), `scales` (what is
wanted of every layer afterwards), `tokenizers` and `pre_tokenizers` (the words that are known, and the kind
of tokenizer) and `flags`.
"""

import argparse
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from cpp import Function, Node, NotTranslated, Parser, functions, tokens

FOLDER = Path(__file__).parents[2] / "hfcount" / "verifier" / "loaders"

Json = dict[str, Any]

_WAYS = ("get_key", "get_key_or_arr", "get_arr", "get_arr_n")
_KEPT_ALWAYS = ("key", "tensor", "/", "%", "()", "fn")
"""What has an effect of its own; a division may be by zero."""

_FIELD = re.compile(r"^ {4}(?:enum |struct )?(?:std::)?([\w:]+)(?:<([^<>;]*)>)? +(\w+)(?: *= *([^;]+))?;", re.M)
_UNKNOWN = "LLM_ARCH_UNKNOWN"


class Source:
    """The source of llama.cpp: its constants, names and functions.

    Args:
        folder: of the repository.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.constants = self._constants()
        arch = self.text("src/llama-arch.cpp")
        self.keys = dict(re.findall(r"\{ *(LLM_KV_\w+), *\"([^\"]+)\" *\}", arch))
        self.tensors = dict(re.findall(r"\{ *(LLM_TENSOR_\w+), *\"([^\"]+)\" *\}", arch))
        self.unused = set(re.findall(r"\{ *(LLM_TENSOR_\w+), *\{\w+, *GGML_OP_NONE", arch))
        self.architectures = dict(re.findall(r"\{ *(LLM_ARCH_\w+), *\"([^\"]+)\" *\}", arch))
        self.fields = self._fields(self._struct(self.text("src/llama-hparams.h"), "llama_hparams"))
        self.members = self._fields(self._struct(self.text("src/llama-model.h"), "llama_model"))
        macro = re.search(r"#define LLAMA_LOAD_LOCALS \\\n((?:.*\\\n)*.*\n)", self.text("src/llama-model.h"))
        self.locals = re.sub(r"GGML_UNUSED\(\w+\);|\\\n", " ", macro[1]) if macro else ""

    def text(self, path: str) -> str:
        """A file of the repository."""
        return (self.folder / path).read_text()

    @property
    def version(self) -> str:
        """Its version."""
        numbers = re.findall(r"set\(LLAMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)\)", self.text("CMakeLists.txt"))
        return ".".join(numbers)

    def _constants(self) -> dict[str, int]:
        """The constants that preprocessor, enumerations and classes give, as far as they are whole numbers."""
        result = {"INT_MAX": 2**31 - 1, "INT32_MAX": 2**31 - 1, "UINT32_MAX": 2**32 - 1, "UINT16_MAX": 2**16 - 1}
        for path in ("src/llama-hparams.h", "include/llama.h", "src/llama-model-loader.h", "ggml/include/ggml.h"):
            code = re.sub(r"//[^\n]*|/\*.*?\*/", "", self.text(path), flags=re.S)
            result |= {name: int(number) for name, number in re.findall(r"#define +(\w+) +(\d+)\s", code)}
            for name, one, shift in re.findall(r"static const int (TENSOR_\w+) *= *(\d+) *<< *(\d+);", code):
                result[name] = int(one) << int(shift)
            for body in re.findall(r"\benum +\w+(?: *: *\w+)? *\{(.*?)\}", code, re.S):
                value = -1
                for name, number in re.findall(r"([A-Za-z_]\w*)(?: *= *(-?\d+|\w+))?\s*(?:,|$)", body.strip()):
                    value = (
                        result[number]
                        if number in result
                        else int(number)
                        if number.lstrip("-").isdigit()
                        else value + 1
                    )
                    result[name] = value
        return result

    def _struct(self, code: str, name: str) -> str:
        found = re.search(rf"^struct {name}(?: : public \w+)? \{{\n(.*?)^\}};", code, re.M | re.S)
        return found[1] if found else ""

    def _fields(self, body: str) -> Json:
        """The fields of a class: type, length of an array or None, value."""
        result: Json = {}
        for outer, inner, name, value in _FIELD.findall(body):
            kind, length = outer, None
            match outer, inner.replace(" ", "").split(","):
                case "return" | "using", _:
                    continue
                case "array", [kind, count]:
                    length = self._number(count)
                case "bitset", [count]:
                    kind, length = "bool", self._number(count)
                case "vector", [kind]:
                    length = -1
            result[name] = [kind, length, self._number(value.strip()) if value else 0]
        return result

    def _number(self, text: str) -> Any:
        bare = text.removesuffix("f").removesuffix(".")
        if text in ("true", "false"):
            return text == "true"
        if re.fullmatch(r"-?\d+(\.\d+)?", bare):
            return float(bare) if "." in bare else int(bare)
        return self.constants.get(text, 0)

    # Names and calls

    def name(self, text: str, fields: bool = False) -> Node:
        """What a name stands for that a function does not declare."""
        if text in self.keys:
            return ["s", self.keys[text]]
        if text in self.tensors:
            return ["s", ("\0" if text in self.unused else "") + self.tensors[text]]
        if text in self.architectures:
            return ["s", self.architectures[text]]
        if text.startswith("LLM_TYPE_"):
            return ["s", text.removeprefix("LLM_TYPE_")]
        if text in self.constants:
            return self.constants[text]
        return [".", "hparams", text] if fields and text in self.fields else text

    def special(self, parser: list[Parser], members: Json, function: Node, given: list[Node], line: int) -> Node | None:
        """What calls of the loader become."""
        name = function[2] if isinstance(function, list) and function[0] == "." else function
        if name in _WAYS:
            return self._key(parser[0], members, name, given, line)
        if name == "tn":
            return ["tn", self._tensor_name(given), *given[(1 if len(given) == 1 or not _is_text(given[1]) else 2) :]]
        if name == "create_tensor":
            given = given[1:] if given[0] == "ml" else given
            flags = given[2] if len(given) > 2 else 0
            title = given[0]
            if isinstance(title, list) and title[0] == "tn" and _is_text(title[1]) and title[1][1].startswith("\0"):
                title = ["tn", ["s", title[1][1][1:]], *title[2:]]
                flags = self.constants["TENSOR_SKIP"] if flags == 0 else ["|", flags, self.constants["TENSOR_SKIP"]]
            if isinstance(title, list) and title[0] == "tn" and len(title) == 2:
                title = title[1]
            return ["tensor", title, given[1][1:], flags, line]
        if name in ("c_str", "str", "begin", "end") and not given:
            return function[1]
        return None

    def _tensor_name(self, given: list[Node]) -> Node:
        if len(given) < 2 or not _is_text(given[1]):
            return given[0]
        if _is_text(given[0]):
            return ["s", f"{given[0][1]}.{given[1][1]}"]
        return ["+", given[0], ["s", f".{given[1][1]}"]]

    def _key(self, parser: Parser, members: Json, way: str, given: list[Node], line: int) -> Node:
        key, target, *rest = given
        kind, length = self._type_of(parser, members, target)
        count = None
        if way == "get_key_or_arr" and length is not None:
            count, *rest = rest
        return [
            "key",
            way,
            key,
            target,
            kind if length is None else f"{kind}[{length}]",
            rest[0] if rest else True,
            count,
            line,
        ]

    def _type_of(self, parser: Parser, members: Json, target: Node) -> tuple[str, int | None]:
        if isinstance(target, list) and target[0] == ".":
            field = self.fields.get(target[2]) if target[1] == "hparams" else ["uint32_t", None]
            return (field[0], field[1]) if field else ("uint32_t", None)
        kind = parser.types.get(target)
        if kind is None:
            field = members.get(target) or self.members.get(target)
            if field is None:
                raise NotTranslated(f"the type of {target}")
            return field[0], field[1]
        if found := re.match(r"std::array<(\w+),(\w+)>", kind):
            return found[1], self._number(found[2])
        if found := re.match(r"std::vector<([\w:]+)>", kind):
            return found[1], -1
        return kind, None

    # Functions

    def translated(
        self, function: Function, fields: bool = False, members: Json | None = None
    ) -> tuple[list[Node], list[str]]:
        """The body of a function, and the names of its parameters, each with its default after = if it has one."""
        code: list[Any] = []
        for token in function.body:
            code += tokens(self.locals, token.line) if token.text == "LLAMA_LOAD_LOCALS" else [token]
        code = [token._replace(line=code[at].line) for at, token in enumerate(code)]
        holder: list[Parser] = []
        parser = Parser(code, partial(self.name, fields=fields), partial(self.special, holder, members or {}))
        holder.append(parser)
        names = []
        for words in _split(function.parameters):
            default = None
            texts = [token.text for token in words]
            if "=" in texts:
                default = texts[texts.index("=") + 1]
                texts = texts[: texts.index("=")]
            if texts and len(texts) > 1 and texts[-1] not in ("&", "*"):
                parser.declare(texts[-1], texts[-2])
                names.append(texts[-1] if default is None else f"{texts[-1]}={default}")
        return parser.all(), names


def _split(parameters: list[Any]) -> list[list[Any]]:
    result: list[list[Any]] = [[]]
    for token in parameters:
        if token.text == ",":
            result.append([])
        else:
            result[-1].append(token)
    return result


def _is_text(node: Node) -> bool:
    return isinstance(node, list) and len(node) == 2 and node[0] == "s"


# What is left out


def _read(node: Node, names: set[str], fields: set[str]) -> None:
    """Adds the names and the fields of hparams that are read."""
    if isinstance(node, str):
        names.add(node)
    elif isinstance(node, list) and node and node[0] != "s":
        head = node[0]
        if head == ".":
            fields.add(node[2])
            _read(node[1], names, fields)
        elif head == "key":
            for part in (node[2], node[5], node[6]):
                _read(part, names, fields)
        elif head == "tensor":
            for part in (node[1], *node[2], node[3]):
                _read(part, names, fields)
        elif head == "switch":
            _read(node[1], names, fields)
            for values, body in node[2]:
                for part in (*(values or ()), body):
                    _read(part, names, fields)
        elif head == "let":
            _read(node[3], names, fields)
        elif head == "=":
            if isinstance(node[1], list):
                _read_target(node[1], names, fields)
            _read(node[2], names, fields)
        elif head == "each":
            _read(node[2], names, fields)
            _read(node[3], names, fields)
        elif head in ("throw", "abort"):
            _read(node[1], names, fields)
        else:
            for part in node[1:] if isinstance(head, str) else node:
                _read(part, names, fields)


def _read_target(target: list[Any], names: set[str], fields: set[str]) -> None:
    if target[0] == "[]":
        _read(target[2], names, fields)
    if isinstance(target[1], list):
        (_read_target if target[1][0] in (".", "[]") else _read)(target[1], names, fields)
    else:
        names.add(target[1])


def _has_effect(node: Node) -> bool:
    if not isinstance(node, list) or not node or node[0] == "s":
        return False
    return node[0] in _KEPT_ALWAYS or any(map(_has_effect, node))


def _method_only(node: Node) -> bool:
    """Whether the only effects of a value are calls of methods of hparams or of the vocabulary, which have none."""
    if not isinstance(node, list) or not node or node[0] == "s":
        return True
    if node[0] in ("key", "tensor", "/", "%", "fn"):
        return False
    if node[0] == "()":
        return node[1][:2] in ([".", "hparams"], [".", "vocab"]) and all(map(_method_only, node[2:]))
    return all(map(_method_only, node))


def _pruned(body: list[Node], names: set[str], fields: set[str]) -> list[Node]:
    """The statements without those that bear on nothing."""
    result: list[Node] = []
    for node in body:
        match node:
            case ["let", name, _, value] if name not in names and not _has_effect(value):
                continue
            case ["let", name, _, ["fn", given, inner]]:
                node = ["let", name, "auto", ["fn", given, _pruned(inner, names, fields)]]
            case ["let", name, _, value] if name not in names and _method_only(value):
                continue
            case ["=", str(name), value] if name not in names and (not _has_effect(value) or _method_only(value)):
                continue
            case ["=", [".", "hparams", field], value] if field not in fields and _method_only(value):
                continue
            case ["=", [".", _, field], ["tensor", *_] as value] if field not in fields:
                node = ["do", value]
            case ["=", ["[]", [".", "hparams", field], _], value] if field not in fields and _method_only(value):
                continue
            case ["do", ["()", "std::fill", [".", "hparams", field], *_]] if field not in fields:
                continue
            case ["do", ["()", [".", _, "clear" | "reset"], *_]]:
                continue
            case ["if", condition, yes, no]:
                node = ["if", condition, _pruned(yes, names, fields), _pruned(no, names, fields)]
                if not node[2] and not node[3] and (not _has_effect(condition) or _method_only(condition)):
                    continue
            case ["for", first, condition, step, inner]:
                inner = _pruned(inner, names, fields)
                if not inner:
                    continue
                node = ["for", first, condition, step, inner]
            case ["each", name, values, inner]:
                inner = _pruned(inner, names, fields)
                if not inner:
                    continue
                node = ["each", name, values, inner]
            case ["switch", value, cases]:
                kept = [[values, _pruned(inner, names, fields)] for values, inner in cases]
                if all(inner in ([], [["break"]]) for _, inner in kept) and _method_only(value):
                    continue
                node = ["switch", value, kept]
            case ["try", inner, other]:
                node = ["try", _pruned(inner, names, fields), _pruned(other, names, fields)]
        result.append(node)
    return result


def _prune(body: list[Node], fields: set[str]) -> list[Node]:
    while True:
        names: set[str] = set()
        _read(body, names, set())
        shorter = _pruned(body, names, fields)
        if shorter == body:
            return body
        body = shorter


# The record


def recorded(source: Source) -> tuple[Json, dict[str, Json]]:
    """What holds for all architectures, and what for each."""
    common = _common(source)
    rows = _architectures(source)
    fields: set[str] = set()
    for body in _bodies(common, rows):
        _read(body, set(), fields)
    for owner, key in _places(common, rows):
        owner[key] = _prune(owner[key], fields)
    return common, rows


def _places(common: Json, rows: dict[str, Json]) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = [(common, "load_hparams"), (common, "scales")]
    places += [(function, 1) for part in ("methods", "functions") for function in common[part].values()]
    for row in rows.values():
        places += [(row, key) for key in ("hparams", "tensors") if key in row]
        places += [(function, 1) for function in row.get("functions", {}).values()]
    return places


def _bodies(common: Json, rows: dict[str, Json]) -> list[list[Node]]:
    return [owner[key] for owner, key in _places(common, rows)]


def _common(source: Source) -> Json:
    model, hparams = source.text("src/llama-model.cpp"), source.text("src/llama-hparams.cpp")
    methods = {}
    for function in functions(hparams):
        name = function.name.rpartition("::")[2]
        try:
            body, names = source.translated(function, fields=True)
        except NotTranslated as error:
            print(f"{function.name}: {error}")
            continue
        methods[name] = [names, body]
    for name, default in re.findall(r"(\w+)\([^()]*?dense_first = (\w+)\)", source.text("src/llama-hparams.h")):
        methods[name][0] = [f"{given}={default}" if given == "dense_first" else given for given in methods[name][0]]
    for name in re.findall(r"(\w+)\(uint32_t il = 0\)", source.text("src/llama-hparams.h")):
        methods[name][0] = ["il=0"]
    by_name = {function.name.rpartition("::")[2]: function for function in functions(model)}
    before, _ = source.translated(by_name["load_hparams"])
    at = next(at for at, node in enumerate(before) if node == ["do", ["()", "load_arch_hparams", "ml"]])
    start = next(at for at, node in enumerate(before) if node[0] == "if" and "vocab_only" in str(node[1]))
    tensors, _ = source.translated(_scales(by_name["load_tensors"]))
    common = {
        "library": "llama.cpp",
        "version": source.version,
        "file": "src/llama-model.cpp",
        "fields": source.fields,
        "methods": methods,
        "functions": {
            name: list(reversed(source.translated(by_name[name])))
            for name in ("create_tensor_qkv", "create_tensor_gate_up_exps", "load_swa_pattern")
        },
        "load_hparams": before[start + 1 : at],
        "scales": tensors,
        "flags": {name: source.constants[name] for name in source.constants if name.startswith("TENSOR_")},
        "recurrent": _in_switch(source, "llm_arch_is_recurrent"),
        "types": _types(source),
        "rope_scaling": _rope_scaling(source),
        **_vocabulary(source),
    }
    header = source.text("src/llama-model.h")
    for name, (given, _) in common["functions"].items():
        declaration = re.search(rf"{name}\(([^;]*?)\);", header)
        if declaration is None:
            raise SystemExit(f"src/llama-model.h declares no {name}")
        defaults = dict(re.findall(r"(\w+) = (\w+)", declaration[1]))
        common["functions"][name][0] = [f"{one}={defaults[one]}" if one in defaults else one for one in given]
    return common


def _scales(function: Function) -> Function:
    """The part of load_tensors that follows the tensors of the architecture."""
    texts = [token.text for token in function.body]
    begin = next(at for at, text in enumerate(texts) if text == "load_arch_tensors") + 4
    depth, at = 0, begin
    while depth >= 0:
        depth += {"{": 1, "}": -1}.get(texts[at], 0)
        at += 1
    return Function(function.name, [], function.body[begin : at - 1])


def _in_switch(source: Source, name: str) -> list[str]:
    body = re.search(rf"^bool {name}\(.*?^\}}", source.text("src/llama-arch.cpp"), re.M | re.S)
    return [source.architectures[word] for word in re.findall(r"case (LLM_ARCH_\w+):", body[0])] if body else []


def _types(source: Source) -> list[int]:
    """The numbers of the types that tensors may have."""
    names = (name for name in source.constants if name.startswith("GGML_TYPE_") and name != "GGML_TYPE_COUNT")
    return sorted(source.constants[name] for name in names)


def _rope_scaling(source: Source) -> dict[str, int]:
    """The words for the scaling of rotary positions."""
    body = re.search(r"LLAMA_ROPE_SCALING_TYPES = \{(.*?)\};", source.text("src/llama-model.cpp"), re.S)
    pairs = re.findall(r"(LLAMA_ROPE_SCALING_TYPE_\w+), *\"(\w+)\"", body[1] if body else "")
    return {word: source.constants[name] for name, word in pairs}


def _vocabulary(source: Source) -> Json:
    """The words of tokenizers that are known, those that need merges among them."""
    code = source.text("src/llama-vocab.cpp")
    body = code[code.index("void llama_vocab::impl::load(") :]
    body = body[: body.index("cannot find tokenizer vocab")]
    kinds: dict[str, str] = {}
    for condition, then in re.findall(
        r"if \(([^{}]*?tokenizer_model ==[^{}]*?)\) \{\s*type = LLAMA_VOCAB_TYPE_(\w+)", body
    ):
        kinds |= dict.fromkeys(re.findall(r'tokenizer_model == "([^"]+)"', condition), then)
    pre = sorted(set(re.findall(r'tokenizer_pre == "([^"]+)"', body)))
    return {"tokenizers": kinds, "pre_tokenizers": pre}


def _architectures(source: Source) -> dict[str, Json]:
    classes = re.findall(r"case (LLM_ARCH_\w+):\s*return new (llama_model_\w+)", source.text("src/llama-model.cpp"))
    header = source.text("src/models/models.h")
    parents = dict(re.findall(r"struct (llama_model_\w+) : public (llama_model_\w+)", header))
    found: dict[str, dict[str, tuple[str, Function]]] = {}
    helpers: dict[str, list[Function]] = {}
    for path in sorted((source.folder / "src" / "models").glob("*.cpp")):
        for function in functions(path.read_text()):
            owner, _, name = function.name.rpartition("::")
            if name in ("load_arch_hparams", "load_arch_tensors"):
                found.setdefault(owner, {})[name] = (f"src/models/{path.name}", function)
            elif not owner and any(token.text == "llama_model_loader" for token in function.parameters):
                helpers.setdefault(f"src/models/{path.name}", []).append(function)
    rows = {}
    for arch, owner in classes:
        row: Json = {}
        for part in ("hparams", "tensors"):
            holder = owner
            while f"load_arch_{part}" not in found.get(holder, {}):
                holder = parents[holder]
            path, function = found[holder][f"load_arch_{part}"]
            members = source._fields(source._struct(header, owner)) | source._fields(source._struct(header, holder))
            row["files"] = list(dict.fromkeys([*row.get("files", ()), path]))
            if members:
                row["members"] = members
            try:
                row[part], _ = source.translated(function, members=members)
                row |= _helpers(source, helpers.get(path, []))
            except (NotTranslated, ValueError, IndexError, KeyError) as error:
                row["unknown"] = f"{path}: {error}"
                print(arch, row["unknown"])
        rows[source.architectures[arch]] = row
    return rows


def _helpers(source: Source, given: list[Function]) -> Json:
    made = {function.name: list(reversed(source.translated(function))) for function in given}
    return {"functions": made} if made else {}


def main() -> None:
    """Writes the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    source = Source(parser.parse_args().source)
    common, rows = recorded(source)
    lines = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in sorted(rows.items())]
    first = json.dumps(common, separators=(",", ":"))[:-1] + ',"architectures": {'
    path = FOLDER / f"llama.cpp-{source.version}.json"
    path.write_text(first + "\n" + ",\n".join(lines) + "\n}}\n")
    print(path, len(rows), "architectures,", sum("unknown" in row for row in rows.values()), "not translated")


if __name__ == "__main__":
    main()
