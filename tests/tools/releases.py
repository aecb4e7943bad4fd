"""Lists what new releases change against what is recorded: `python tests/tools/releases.py FOLDER`, as Markdown.

FOLDER holds new releases of transformers, mlx-lm, vLLM, SGLang and llama.cpp, or of some of them, as `pip install
--no-deps --target FOLDER` and an unpacked llama_cpp_python lay them out. Each is recorded anew, and compared with the
newest version in hfcount/verifier/loaders/; nothing is written there. vLLM, SGLang and llama.cpp are read from their
source (engines.py, llama_cpp.py, llama_cpp_converter.py). transformers and mlx-lm are run (loaders.py,
mlx_lm_facts.py, both in minutes), where torch, and for mlx-lm mlx, is installed.

`releases.py OLD.json NEW.json` compares two files of recorded facts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import engines
import llama_cpp
import llama_cpp_converter

from hfcount.verifier.loaders import recorded

Json = dict[str, Any]
_TOOLS = Path(__file__).parent
_ROWS = ("classes", "architectures", "types", "converter")
_ONE = {"classes": "class", "architectures": "architecture", "types": "type"}
_PROSE = ("unknown", "says")
_MOST = 40
_PLACES = re.compile(r"(\.(?:py|cpp)):\d+")
"""Numbers of lines, which every release moves."""


class Facts(NamedTuple):
    """What is recorded of a library in a version.

    Args:
        kind: what its rows are, such as `classes`.
        common: what holds for all rows.
        rows: facts by name.
    """

    library: str
    version: str
    kind: str
    common: Mapping[str, Any]
    rows: Mapping[str, Json]

    @property
    def title(self) -> str:
        """The library and its version."""
        return f"{self.library} {self.version}"


def facts(text: str) -> Facts:
    """The facts in a recorded file."""
    values = json.loads(text)
    kind = next(kind for kind in _ROWS if isinstance(values.get(kind), dict))
    common = values.get("all") or {key: value for key, value in values.items() if key != kind}
    rest = {key: value for key, value in common.items() if key not in ("library", "version")}
    rows = {name: row if isinstance(row, dict) else {"code": row} for name, row in values[kind].items()}
    return Facts(common["library"], common["version"], kind, rest, rows)


def compared(old: Facts, new: Facts) -> Iterator[str]:
    """What differs between two versions, as lines of Markdown."""
    yield f"## {old.title} → {new.version}\n"
    changes = [*_common(old, new), *_rows(old, new)]
    yield from changes or ["Nothing that is recorded differs."]


def _common(old: Facts, new: Facts) -> Iterator[str]:
    """Lists and rules that hold for the whole library."""
    for key in sorted(old.common.keys() | new.common.keys()):
        before, after = _entries(old.common.get(key)), _entries(new.common.get(key))
        for verb, some in (("adds", after.keys() - before.keys()), ("drops", before.keys() - after.keys())):
            if some:
                yield f"- `{key}`: {verb} {_listed(some)}"
        if other := [name for name in before.keys() & after.keys() if before[name] != after[name]]:
            yield f"- `{key}`: has otherwise {_listed(other)}"


def _rows(old: Facts, new: Facts) -> Iterator[str]:
    """Classes, types or architectures: which are new or gone, and of which other facts hold."""
    for verb, names in (("new", new.rows.keys() - old.rows.keys()), ("gone", old.rows.keys() - new.rows.keys())):
        if names:
            yield f"- {old.kind}, {verb}: {_listed(names)}"
    differences: dict[str, list[tuple[str, Any, Any]]] = {}
    for name in sorted(old.rows.keys() & new.rows.keys()):
        before, after = old.rows[name], new.rows[name]
        for fact in before.keys() | after.keys():
            if _still(before.get(fact)) != _still(after.get(fact)):
                differences.setdefault(fact, []).append((name, before.get(fact), after.get(fact)))
    for fact, changes in sorted(differences.items()):
        kind = old.kind if len(changes) != 1 else _ONE.get(old.kind, old.kind)
        yield f"\n### `{fact}`: {len(changes):,} {kind}\n"
        change = _change if fact not in _PROSE else _both
        yield from (f"- {name}: {change(before, after)}" for name, before, after in changes[:_MOST])
        if len(changes) > _MOST:
            yield f"- and {len(changes) - _MOST:,} more"


def _change(before: Any, after: Any) -> str:
    """The words that a fact gains and loses, or both its values if it is no list."""
    old, new = _entries(before), _entries(after)
    added, lost = new.keys() - old.keys(), old.keys() - new.keys()
    changed = [name for name in old.keys() & new.keys() if old[name] != new[name]]
    verbs = {"adds": added, "drops": lost, "has otherwise": changed}
    text = "; ".join(f"{verb} {_listed(names)}" for verb, names in verbs.items() if names)
    return text or "the same words in another order, or other numbers"


def _both(before: Any, after: Any) -> str:
    return f"{before or 'none'} → {after or 'none'}"


def _entries(value: Any) -> dict[str, str]:
    """What a fact lists: words, keys with their values, or the names in a function that was translated."""
    if isinstance(value, str):
        return dict.fromkeys(_PLACES.sub(r"\1", value).split(), "")
    if isinstance(value, dict):
        return {str(key): _PLACES.sub(r"\1", json.dumps(inner)) for key, inner in value.items()}
    if isinstance(value, list):
        return dict.fromkeys(_texts(value), "")
    return {} if value is None else {json.dumps(value): ""}


def _texts(value: list[Any]) -> Iterator[str]:
    """The texts in nested lists; of a translated function, the keys and the tensors that it asks for."""
    marked = [entry for entry in value if isinstance(entry, str)]
    if marked[:1] == ["s"] and len(marked) == 2:
        yield marked[1]
        return
    nested = [entry for entry in value if isinstance(entry, list)]
    if not nested:
        yield from marked
    for entry in nested:
        yield from _texts(entry)


def _still(value: Any) -> str:
    """A value without numbers of lines: those at the end of what llama.cpp asks for are such, too."""
    if isinstance(value, list):
        return json.dumps(_without_line(value))
    return _PLACES.sub(r"\1", json.dumps(value, sort_keys=True))


def _without_line(value: list[Any]) -> list[Any]:
    kept = value[:-1] if value[:1] in (["key"], ["tensor"]) and isinstance(value[-1], int) else value
    return [_without_line(entry) if isinstance(entry, list) else entry for entry in kept]


def _listed(names: Any) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _MOST:,} more" if len(ordered) > _MOST else ""
    return ", ".join(f"`{name}`" for name in ordered[:_MOST]) + more


def _of_engine(library: str, read: Callable[[Path], tuple[Json, Json]]) -> Callable[[Path], Facts]:
    def recording(folder: Path) -> Facts:
        common, rows = read(folder / library)
        kept = {name: {key: value for key, value in row.items() if value} for name, row in rows.items()}
        return Facts(library, version(folder, library), "classes", common, json.loads(json.dumps(kept)))

    return recording


def _of_llama_cpp(folder: Path) -> Facts:
    source = llama_cpp.Source(_llama_cpp(folder)[0])
    common, rows = json.loads(json.dumps(llama_cpp.recorded(source)))
    rest = {key: value for key, value in common.items() if key not in ("library", "version")}
    return Facts("llama.cpp", source.version, "architectures", rest, rows)


def _of_converter(folder: Path) -> Facts:
    return facts(llama_cpp_converter.record(llama_cpp_converter.Source(_llama_cpp(folder)[0])))


def _llama_cpp(folder: Path) -> list[Path]:
    """Where llama.cpp lies in a folder."""
    return sorted(path.parents[1] for path in folder.glob("**/llama.cpp/src/llama-model.cpp"))


def _by_running(tool: str) -> Callable[[Path], Facts]:
    def recording(folder: Path) -> Facts:
        path = os.pathsep.join(filter(None, [str(folder.absolute()), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, str(_TOOLS / tool), "--print"]
        environment = {**os.environ, "PYTHONPATH": path}
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        return facts(run.stdout)

    return recording


_PACKAGES = {"transformers": "transformers", "mlx-lm": "mlx_lm", "vllm": "vllm", "sglang": "sglang"}
_RECORDERS: dict[str, Callable[[Path], Facts]] = {
    "transformers": _by_running("loaders.py"),
    "mlx-lm": _by_running("mlx_lm_facts.py"),
    "vllm": _of_engine("vllm", engines.vllm),
    "sglang": _of_engine("sglang", engines.sglang),
    "llama.cpp": _of_llama_cpp,
    "llama.cpp_converter": _of_converter,
}


def version(folder: Path, library: str) -> str:
    """The version of a library in a folder; empty if it is not there."""
    if library.startswith("llama.cpp"):
        places = _llama_cpp(folder)
        return llama_cpp.Source(places[0]).version if places else ""
    package = folder / _PACKAGES[library]
    for file in ("_version.py", "version.py", "__init__.py"):
        text = (package / file).read_text(encoding="utf-8") if (package / file).is_file() else ""
        if match := re.search(r"^__version__ = (?:version = )?[\"'](\d[\w.]*)", text, re.MULTILINE):
            return match[1]
    return ""


def report(folder: Path, recorders: Mapping[str, Callable[[Path], Facts]] | None = None) -> Iterator[str]:
    """What the releases in a folder change, as lines of Markdown."""
    yield "# What new releases change\n"
    for library, recorder in (recorders or _RECORDERS).items():
        newest = recorded.versions(library)[-1]
        there = version(folder, library)
        if not there:
            yield f"- {library}: not in the folder; {newest} is recorded."
        elif there in recorded.versions(library):
            yield f"- {library} {there} is recorded."
        else:
            yield ""
            yield from _changes(folder, library, newest, recorder)
            yield ""


def _changes(folder: Path, library: str, newest: str, recorder: Callable[[Path], Facts]) -> Iterator[str]:
    """What a release changes; where it cannot be recorded, why, so that the other libraries are listed all the same."""
    old = facts(recorded.file(library, newest).decode())
    try:
        new = recorder(folder)
    except (LookupError, AssertionError, OSError, ValueError, SyntaxError, subprocess.CalledProcessError) as error:
        yield f"## {old.title} → {version(folder, library)}\n"
        yield f"It could not be recorded: {type(error).__name__}: {error}"
        return
    yield from compared(old, new)


def main() -> None:
    """Prints the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="FOLDER", help="of new releases, or two recorded files")
    paths = parser.parse_args().paths
    if len(paths) == 2:
        print("\n".join(compared(*(facts(path.read_text()) for path in paths))))
    else:
        print("\n".join(report(paths[0])))


if __name__ == "__main__":
    main()
