"""Lists what a version of transformers changes against another: `python tests/tools/watch.py --before A --after B`.

A and B are versions, which pip installs into temporary folders, `recorded` for the version that hfcount/mapper/
records, `newest`, folders that hold transformers, or files that tests/tools/snapshot.py wrote. Every recorded config is
built under both on the meta device, each in a process of its own, and what differs is printed as a page of Markdown: a
section for each kind of fact, one line for each type or class of which other facts hold. `--types A,B` looks at those
alone.

`--readers FOLDER` adds which names the readers in that folder register and hfcount does not know (season.py), and
`--engines FOLDER` what their releases change against the newest record (releases.py).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_TOOLS = Path(__file__).parent
_MOST = 40
"""How many names a line lists."""


def page(before: Json, after: Json) -> Iterator[str]:
    """What differs between two snapshots, as lines of Markdown; a section without a line is left out."""
    yield f"# transformers {before['version']} → {after['version']}"
    sections = 0
    for title, difference in SECTIONS.items():
        lines = list(difference(before, after))
        if lines:
            sections += 1
            yield from ("", f"## {title}", "", *(f"- {line}" for line in lines))
    if not sections:
        yield from ("", "Nothing that is recorded differs.")


def _failed(before: Json, after: Json) -> Iterator[str]:
    for snapshot in (before, after):
        for part, error in snapshot.get("failed", {}).items():
            yield f"{part}, of {snapshot['version']}: {error}"


def _types(before: Json, after: Json) -> Iterator[str]:
    """Types that a table of configuration_auto gains, loses, or reads otherwise."""
    old, new = before.get("types", {}), after.get("types", {})
    for table in sorted(old.keys() | new.keys()):
        yield from _words(f"`{table}`", old.get(table, {}), new.get(table, {}))


def _new_and_known(before: Json, after: Json) -> Iterator[str]:
    """New types that hfcount knows by name, from other code."""
    from hfcount.architectures import families

    added = _table(after).keys() - _table(before).keys()
    known = sorted(kind for kind in added if families.find(kind) is not None)
    if known:
        yield f"{_listed(known)}: an absent key now means what the class of transformers declares"


def _table(one: Json) -> Json:
    """The model_types of a snapshot."""
    found: Json = one.get("types", {}).get("CONFIG_MAPPING_NAMES", {})
    return found


def _recordable(_: Json, after: Json) -> Iterator[str]:
    """Types of which nothing is known here, and which a class builds: they can be recorded."""
    from hfcount.architectures import families, stand_ins

    builds = after.get("classes", {})
    for kind in sorted(_table(after)):
        if families.find(kind) is None and builds.get(kind):
            known = stand_ins.stand_ins(kind)
            done = f", recorded from {next(iter(known.values())).version}" if known else ""
            yield f"`{kind}`{done}: `python tests/tools/standins.py {kind} {builds[kind]}`"


def _classes(before: Json, after: Json) -> Iterator[str]:
    old, new = ({kind: names.split() for kind, names in one.get("classes", {}).items()} for one in (before, after))
    for kind in sorted(old.keys() | new.keys()):
        yield from _words(f"`{kind}`", dict.fromkeys(old.get(kind, ()), ""), dict.fromkeys(new.get(kind, ()), ""))


def _of_both(part: str) -> Callable[[Json, Json], Iterator[str]]:
    """Facts about what both versions have: by type or class, which keys have which other values."""

    def difference(before: Json, after: Json) -> Iterator[str]:
        old, new = before.get(part, {}), after.get(part, {})
        alike: dict[str, list[str]] = {}
        for name in sorted(old.keys() & new.keys()):
            for change in _changes(_flat(old[name]), _flat(new[name])):
                alike.setdefault(change, []).append(f"`{name}`")
        for change, names in alike.items():
            yield f"{_cut(names)}: {change}"

    return difference


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            name = f"`{key}` " if key else ""
            yield f"{name}{_short(old.get(key, 'none'))} → {_short(new.get(key, 'none'))}"


def _renames(before: Json, after: Json) -> Iterator[str]:
    old, new = before.get("renames", {}), after.get("renames", {})
    for kind in sorted(old.keys() | new.keys()):
        yield from _words(f"`{kind}`", dict.fromkeys(old.get(kind, ()), ""), dict.fromkeys(new.get(kind, ()), ""))


def _refused(before: Json, after: Json) -> Iterator[str]:
    """Configs of types that both have, of which one version alone builds a model, or each refuses it otherwise."""
    old_types, new_types = (_table(one) for one in (before, after))
    for name, old, new in _built(before, after):
        absent = old.get("refused", "").startswith("KeyError") and name in new_types.keys() - old_types.keys()
        if old.get("refused") != new.get("refused") and not (absent and "refused" not in new):
            sides = [f"refused, {one['refused']}" if "refused" in one else "built" for one in (old, new)]
            yield f"`{name}`: {' → '.join(sides)}"


def _structures(before: Json, after: Json) -> Iterator[str]:
    for name, old, new in _built(before, after):
        if "refused" not in old and "refused" not in new:
            yield from _words(f"`{name}`", old["tensors"], new["tensors"])


def _lists(fact: str) -> Callable[[Json, Json], Iterator[str]]:
    """A fact of built models that is a list of names."""

    def difference(before: Json, after: Json) -> Iterator[str]:
        for name, old, new in _built(before, after):
            if "refused" not in old and "refused" not in new:
                yield from _words(
                    f"`{name}`", dict.fromkeys(old.get(fact, ()), ""), dict.fromkeys(new.get(fact, ()), "")
                )

    return difference


def _built(before: Json, after: Json) -> Iterator[tuple[str, Json, Json]]:
    old, new = before.get("built", {}), after.get("built", {})
    for name in sorted(old.keys() & new.keys()):
        yield name, old[name], new[name]


def _words(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """One line: the words that are new, gone, or stand for something else."""
    parts = [
        f"{verb} {_listed(words)}"
        for verb, words in (("new", new.keys() - old.keys()), ("gone", old.keys() - new.keys()))
        if words
    ]
    changed = [word for word in sorted(old.keys() & new.keys()) if old[word] != new[word]]
    parts += [_cut([f"`{word}` {_short(old[word])} → {_short(new[word])}" for word in changed])] if changed else []
    if parts:
        yield f"{name}: {'; '.join(parts)}"


def _flat(value: Any, path: str = "") -> dict[str, str]:
    """Values by their path, as text."""
    if isinstance(value, dict):
        return {key: text for name, inner in value.items() for key, text in _flat(inner, f"{path}{name} ").items()}
    return {path.strip(): value if isinstance(value, str) else json.dumps(value)}


def _listed(words: Any) -> str:
    return _cut([f"`{word}`" for word in sorted(words)])


def _cut(texts: list[str]) -> str:
    more = f" and {len(texts) - _MOST:,} more" if len(texts) > _MOST else ""
    return ", ".join(texts[:_MOST]) + more


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


SECTIONS: dict[str, Callable[[Json, Json], Iterator[str]]] = {
    "Not recorded": _failed,
    "Types": _types,
    "New types that hfcount knows already": _new_and_known,
    "Types that no family describes": _recordable,
    "Classes": _classes,
    "Names of base models": _of_both("prefixes"),
    "Configs that are refused": _refused,
    "Structures": _structures,
    "Kept in float32": _lists("float32"),
    "Kept in float32 where the model is in float16": _lists("float32_of_float16"),
    "Saved buffers": _lists("buffers"),
    "Ties": _lists("ties"),
    "Ties that classes declare": _of_both("tied"),
    "Meanings of absent keys": _of_both("absent"),
    "Lists where a number is null": _of_both("nulls"),
    "Further names of keys": _of_both("names"),
    "Values that are taken": _of_both("values"),
    "Renames on loading": _renames,
}
"""The kinds of facts, and what compares them."""


def snapshot(target: str, types: tuple[str, ...] = ()) -> Json:
    """The facts of a version, a folder with transformers, or a file that holds them already.

    Raises:
        CalledProcessError: pip or the recording fails, which has printed why.
    """
    path = Path(target)
    if path.is_file():
        found: Json = json.loads(path.read_text())
        return found
    with tempfile.TemporaryDirectory() as folder:
        library = path.absolute() if (path / "transformers").is_dir() else _installed(target, Path(folder))
        out = Path(folder) / "snapshot.json"
        known = [str(library), str(_TOOLS.parents[1]), str(_TOOLS), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {"PYTHONPATH": os.pathsep.join(known), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(_TOOLS / "snapshot.py"), str(out), *types]
        subprocess.run(command, env={**os.environ, **settings}, check=True, stdout=sys.stderr)
        return json.loads(out.read_text())  # type: ignore[no-any-return]  # what snapshot.py writes is an object


def _installed(version: str, folder: Path) -> Path:
    """The folder that pip installs a version of transformers into."""
    if version == "recorded":
        from hfcount.mapper.class_defaults import version as recorded

        version = recorded()
    if not re.fullmatch(r"newest|\d[\w.]*", version):
        raise SystemExit(f"{version} is neither a version, nor a folder with transformers, nor a file.")
    wanted = "transformers" if version == "newest" else f"transformers=={version}"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder / "library"), wanted]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return folder / "library"


def main() -> None:
    """Prints the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, metavar="TARGET")
    parser.add_argument("--after", required=True, metavar="TARGET")
    parser.add_argument("--types", default="", help="look at these alone")
    parser.add_argument("--readers", type=Path, metavar="FOLDER", help="of readers' source")
    parser.add_argument("--engines", type=Path, metavar="FOLDER", help="of new releases of engines")
    asked = parser.parse_args()
    types = tuple(filter(None, asked.types.split(",")))
    print("\n".join(page(snapshot(asked.before, types), snapshot(asked.after, types))))
    if asked.readers:
        import season

        print(f"\n{season.report(asked.readers)}")
    if asked.engines:
        import releases

        print("\n".join(["", *releases.report(asked.engines)]))


if __name__ == "__main__":
    main()
