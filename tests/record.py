"""Records architectures: `python tests/record.py TYPE [TYPE ...]`, or with a config.json in place of a TYPE.

For a model_type it takes transformers' default config, asks transformers (extra `oracle`) which tensors it saves, and,
if hfcount names the same, writes fixtures/architectures/<type>.json: the facts of the config that bear on shapes, the
folded rows, the counts, and who judged. A config.json is judged the same way or, where transformers does not know its
type, by the published count that `--published N --source URL` gives: hfcount must count as many stored elements. With
`--unjudged WHY` nobody judges, and the file says so.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from hfcount.mapper import Config
from hfcount.plan import Blueprint, build

FOLDER = Path(__file__).parent.parent / "fixtures" / "architectures"

Json = dict[str, Any]


def record(values: Json, judge: str) -> Json:
    """What a file of fixtures/architectures holds."""
    config = Config(values)
    build(config)
    facts = config.facts()
    blueprint = build(Config(facts))
    return {
        "config": facts,
        "total": blueprint.total if not blueprint.asides else None,
        "active": blueprint.active if not blueprint.asides else None,
        "asides": dict(blueprint.reasons),
        "judge": judge,
        "rows": rows(blueprint),
    }


def rows(blueprint: Blueprint) -> list[list[Any]]:
    """The folded rows as JSON holds them."""
    return [[row.name, row.count, list(map(int, row.shape)), row.role, row.kind] for row in blueprint.rows()]


def text(recorded: Json) -> str:
    """One row a line."""
    head = {key: value for key, value in recorded.items() if key != "rows"}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in recorded["rows"])
    return json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n'


def _judged(model_type: str) -> tuple[Json, str] | str:
    """A default config and who says so, or why not."""
    import transformers
    from test_oracle import described
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as NAMES

    if model_type.endswith(".json"):
        values, which = json.loads(Path(model_type).read_text()), "a config of its type"
    else:
        which = "its default config"
        values = transformers.CONFIG_MAPPING[model_type]().to_dict() | {"model_type": model_type}
        name = NAMES[model_type]
        values["architectures"] = [name if isinstance(name, str) else name[0]]
        values = json.loads(json.dumps(values, default=str))
    blueprint = build(Config(values))
    mine = {tensor.name: tuple(map(int, tensor.shape)) for tensor in blueprint.tensors()}
    theirs = described(values)
    theirs = {name: shape for name, shape in theirs.items() if not name.startswith(blueprint.asides or "\0")}
    if mine != theirs:
        odd = sorted(set(mine.items()) ^ set(theirs.items()))
        return f"differs in {len(odd)}, such as {odd[:3]}"
    return values, f"transformers {transformers.__version__}: {which} and what it saves"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--published", type=int, help="elements that the Hub counts in the checkpoint")
    parser.add_argument("--unjudged", metavar="WHY", help="why there is nobody to judge")
    parser.add_argument("--source", help="where that is published")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    failures = 0
    for one in options.types:
        try:
            if options.unjudged:
                recorded, outcome = record(json.loads(Path(one).read_text()), f"nobody: {options.unjudged}"), None
            elif options.published:
                values = json.loads(Path(one).read_text())
                recorded = record(values, f"{options.source}: {options.published:,} elements")
                found = sum(row[1] * _product(row[2]) for row in recorded["rows"] if row[4] != "legacy")
                outcome = None if options.published in (recorded["total"], found) else f"counts {found:,}"
            else:
                judged = _judged(one)
                outcome = judged if isinstance(judged, str) else None
                recorded = record(*judged) if not isinstance(judged, str) else {}
        except Exception as error:  # a tool for developers: say it and go on with the next
            outcome = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"{one}: {outcome or 'recorded'}", flush=True)
        failures += outcome is not None
        if outcome is None:
            (FOLDER / f"{recorded['config']['model_type']}.json").write_text(text(recorded))
    return 1 if failures else 0


def _product(shape: list[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
