"""Records how llama.cpp's converter names tensors: `python tests/tools/gguf_names.py FOLDER` (extra `oracle`).

FOLDER is llama.cpp's source as the sdist of llama-cpp-python holds it (vendor/llama.cpp). Each recorded architecture
that the converter takes is converted twice, with other sizes the second time. No value is read: the converter's lazy
tensors say which tensors each result is made of. What comes of it is hfcount/checkpoints/gguf/gguf.tsv, whose sections
hfcount/checkpoints/gguf/table.py describes. `--show TYPE` prints one conversion instead.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from pathlib import Path

from gguf_configs import Json, flagged, resized, smaller
from gguf_converter import Converted, Converter
from gguf_shapes import Sample, dimension_rows, layer_rows

from hfcount.checkpoints.gguf.table import change, folded, slots

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "hfcount" / "checkpoints" / "gguf" / "gguf.tsv"


def recorded(converter: Converter, only: str | None = None) -> Iterator[tuple[Json, bool, str, Converted | None, str]]:
    """Every recorded config that the converter knows, its conversions, and what failed."""
    for file in sorted((ROOT / "fixtures" / "architectures").glob(f"{only or '*'}.json")):
        config = json.loads(file.read_text())["config"]
        for projector in (False, True):
            if converter.takes(config, projector):
                for variant in (smaller, resized, flagged):
                    yield from _attempt(converter, file.stem, config, projector, variant)


def _attempt(
    converter: Converter, stem: str, config: Json, projector: bool, variant: Callable[[Json], Json]
) -> Iterator[tuple[Json, bool, str, Converted | None, str]]:
    problem = ""
    for prediction, spelling in product((True, False), (str, _older)):
        try:
            changed = variant(smaller(config))
            yield changed, projector, stem, converter.convert(changed, projector, prediction, spelling), ""
            return
        except Exception as error:  # whatever the converter raises: a type that it does not take is left out
            where = error.__traceback__
            while where and where.tb_next:
                where = where.tb_next
            line = f"{Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}" if where else ""
            problem = problem or f"{type(error).__name__} {str(error)[:100]} {line}"
    yield config, projector, stem, None, problem


def _older(name: str) -> str:
    """The name that a vision tower's tensor had before transformers 5, which the converter knows."""
    return name.replace("vision_tower.", "vision_tower.vision_model.")


def name_rows(models: list[Converted]) -> list[str]:
    """Section `names`: a row for each name of a checkpoint and each way in which it is converted."""
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for model in models:
        for pattern, target in _targets(model):
            seen[pattern][target].add(model.architecture)
    return _made(models) + [
        f"{pattern}\t{target}\t{' '.join(sorted(architectures))}"
        for pattern, targets in sorted(seen.items())
        for target, architectures in sorted(_settled(targets).items())
    ]


def _settled(targets: dict[str, set[str]]) -> dict[str, set[str]]:
    """Of rows of one architecture that differ in the change of shape alone, the one without a known change."""
    merged: dict[str, set[str]] = defaultdict(set)
    for target, architectures in targets.items():
        names = [word.partition("=")[0] for word in target.split()]
        for architecture in architectures:
            alike = {
                other
                for other, of in targets.items()
                if architecture in of and [word.partition("=")[0] for word in other.split()] == names
            }
            loose = " ".join(f"{name}=other" for name in names)
            merged[target if len(alike) == 1 else loose].add(architecture)
    used = {architecture for target, of in merged.items() if target != "-" for architecture in of}
    merged["-"] -= used  # layers beyond the model's own may be left out while the others are converted
    return {target: of for target, of in merged.items() if of}


def _made(models: list[Converted]) -> list[str]:
    """Rows of what the converter makes by itself, or of values that it has computed first."""
    made: dict[str, set[str]] = defaultdict(set)
    for model in models:
        made[model.architecture] |= {folded(name)[0] for name, (_, origins) in model.results.items() if not origins}
    return [
        f"*\t{' '.join(f'{name}=any' for name in sorted(names))}\t{architecture}"
        for architecture, names in sorted(made.items())
        if names
    ]


def _targets(model: Converted) -> Iterator[tuple[str, str]]:
    users: dict[str, list[str]] = {name: [] for name in model.given}
    for result, (_, origins) in model.results.items():
        for origin in origins:
            users[origin].append(result)
    name = model.metadata["general.architecture"]
    depth = model.metadata.get(f"{name}.block_count", 0) - model.metadata.get(f"{name}.nextn_predict_layers", 0)
    levels: dict[str, dict[str, set[str]]] = {}
    for name, results in users.items():
        for pattern, numbers in slots(name):
            changes = {result: _change(model, name, result) for result in results}
            if "other" in changes.values():  # so that equal parts are a matter of sizes
                changes = {result: "other" if one.startswith("part") else one for result, one in changes.items()}
            target = " ".join(f"{_pattern(result, numbers, depth)}={one}" for result, one in sorted(changes.items()))
            levels.setdefault(pattern, defaultdict(set))[target].add(name)
    dropped = _dropped(users)
    for name in users:
        if prefix := next((prefix for prefix in dropped if name.startswith(prefix)), None):
            yield f"{prefix}*", "-"
            continue
        for pattern, _ in slots(name):
            targets = {target for target in levels[pattern] if target} or {""}
            if len(targets) == 1:
                yield pattern, targets.pop() or "-"
                break


def _dropped(users: dict[str, list[str]]) -> list[str]:
    """Beginnings of names, without numbers, of which the converter uses no tensor."""
    prefixes: dict[str, bool] = {}
    for name, results in users.items():
        parts = name.split(".")
        for count in range(1, len(parts)):
            if parts[count - 1].isdecimal():
                break
            prefix = ".".join(parts[:count]) + "."
            prefixes[prefix] = prefixes.get(prefix, False) or bool(results)
    unused = sorted(prefix for prefix, used in prefixes.items() if not used)
    return [prefix for prefix in unused if not any(prefix != other and prefix.startswith(other) for other in unused)]


def _change(model: Converted, name: str, result: str) -> str:
    shape, origins = model.results[result]
    alike = {next(iter(slots(origin)))[0] for origin in origins}
    found = change(model.given[name], shape, len(origins)) if len(alike) == 1 else "other"
    if result == "token_embd.weight" and model.rows == model.tokens:
        return "same"  # but for the rows beyond the tokenizer's
    return "any" if found == "other" and not _kept(model, result) else found


def _kept(model: Converted, result: str) -> bool:
    """Whether as many elements come out of the conversion of some tensors as went in."""
    results, origins = {result}, set[str]()
    while True:
        more = {origin for name in results for origin in model.results[name][1]}
        wider = {name for name, (_, of) in model.results.items() if not more.isdisjoint(of)}
        if more == origins and wider == results:
            break
        origins, results = more, wider
    return sum(prod(model.given[name]) for name in origins) == sum(prod(model.results[name][0]) for name in results)


def _pattern(result: str, numbers: tuple[int, ...], depth: int) -> str:
    """A result's name with the numbers of its origin: {0} is the first, {n} the number of layers, {n0} both."""
    parts = []
    for part in result.split("."):
        if part.isdecimal():
            number = int(part)
            if numbers and number == numbers[0]:
                part = "{0}"
            elif numbers and depth and number == depth + numbers[0]:
                part = "{n0}"
            elif depth and number == depth:
                part = "{n}"
            elif number in numbers:
                part = f"{{{numbers.index(number)}}}"
        parts.append(part)
    return ".".join(parts)


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show")
    arguments = parser.parse_args()
    converter = Converter(arguments.folder)
    models, failed, taken = [], [], Counter[str]()
    for _, projector, stem, model, problem in recorded(converter, arguments.show):
        if model is None:
            failed.append(f"{stem}{' projector' if projector else ''}: {problem}")
        elif model.results:
            models.append(model)
            taken[model.architecture] += 1
    if arguments.show:
        for model in models:
            print(model.architecture, json.dumps({k: v for k, v in model.metadata.items() if "tokenizer" not in k}))
            for name, (shape, origins) in model.results.items():
                print(name, shape, origins[:3])
        print(*failed, sep="\n")
        return
    samples = [
        Sample(
            m.architecture,
            m.model_type,
            {n: s for n, (s, _) in m.results.items()},
            m.metadata,
            m.rows,
            m.rows == m.tokens,
        )
        for m in models
    ]
    version = arguments.folder.resolve().parents[1].name
    text = "\n".join(
        [
            f"# {version}; written by tests/tools/gguf_names.py",
            "[names]",
            *name_rows(models),
            "[layers]",
            *layer_rows(samples, converter.gguf),
            "[shapes]",
            *dimension_rows(samples),
        ]
    )
    TARGET.write_text(text + "\n")
    print(f"{len(models)} conversions of {len(taken)} architectures; {len(failed)} failed:", *failed, sep="\n  ")


if __name__ == "__main__":
    main()
