"""Records architectures: `python tests/tools/record.py TYPE [TYPE ...]`, or with a config.json in place of a TYPE.

For a model_type it takes transformers' default config, makes its sizes distinct (distinct.py), asks transformers (extra
`oracle`) which tensors it saves, and, if hfcount describes the same and can write its formula, writes
fixtures/architectures/<type>.json: the keys of the config that affect shapes, the sizes that are equal and why they
have to be, the folded rows, the counts, and who judged. A config.json, or a file of fixtures/architectures, is judged
the same way or, if transformers does not know its type, by the published count that `--published N --source URL` gives:
hfcount must count as many stored elements. `--by WHO` names a library that was run elsewhere and builds the same, as
by_mlx_lm.py asks mlx-lm. With `--unjudged WHY` nobody judges, and the file says that it was only read, as
`hfcount architectures TYPE` does.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from distinct import distinct

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.checkpoints.formulas import closed_form, layer_kinds
from hfcount.mapper import Config
from hfcount.mapper.class_defaults import declared, is_of_diffusers

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "architectures"

Json = dict[str, Any]


def record(values: Json, judge: str, alike: Mapping[str, str] | None = None) -> Json:
    """What a file of fixtures/architectures holds."""
    config = Config(values)
    build(config)
    facts = config.facts()
    blueprint = build(Config(facts))
    formula = blueprint.formula()
    closed_form(formula), layer_kinds(formula)  # one that cannot be written is an error here, not in a user's run
    return {
        "config": facts,
        "total": blueprint.total if not blueprint.unmodeled else None,
        "active": blueprint.active if not blueprint.unmodeled else None,
        "asides": dict(blueprint.reasons),
        "judge": judge,
        **({"alike": alike} if alike else {}),
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


class Differs(Exception):
    """hfcount and transformers name other tensors, or other shapes."""


def _judged(one: str) -> tuple[Json, str, dict[str, str]]:
    """A config with sizes made distinct, who says what it saves, and the sizes that are alike all the same, and why.

    Raises:
        Differs: what transformers saves is not what hfcount describes.
    """
    import transformers

    judge = f"transformers {transformers.__version__}"
    if one.endswith(".json"):
        values, which = _read(Path(one)), "a config of its type"
        if _of_diffusers(values["model_type"]):
            import diffusers

            judge = f"diffusers {diffusers.__version__}"
    elif is_of_diffusers(one):
        import diffusers

        judge, which = f"diffusers {diffusers.__version__}", "its default config"
        values = {"model_type": one, **declared(one).keys}
    else:
        which = "its default config"
        values = transformers.CONFIG_MAPPING[one]().to_dict() | {"model_type": one}
        values["architectures"] = [usual_class(one)]
        values = json.loads(json.dumps(values, default=str))
    config = Config(values)
    build(config)
    facts, beyond = config.facts(), ""
    if _refuses(facts):
        judge, beyond = f"when recorded, {judge}", ", with keys beside these facts, which bear on no shape"
        refused = _refuses(values)
        if refused:
            raise Differs(refused)
    changed, alike = distinct(values if beyond else facts, _refuses)
    return changed, f"{judge}: {which} with sizes made distinct, and what it saves{beyond}", alike


def usual_class(model_type: str) -> str:
    """The class of a type: the causal one, or else the base, or else what its module builds of such a config."""
    import transformers
    from transformers.models.auto import modeling_auto as auto

    known = {**auto.MODEL_MAPPING_NAMES, **auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES}.get(model_type)
    if known:
        return known if isinstance(known, str) else known[0]
    config = transformers.CONFIG_MAPPING[model_type]
    module = import_module(config.__module__.replace(".configuration_", ".modeling_"))
    made = [name for name, one in vars(module).items() if getattr(one, "config_class", None) is config]
    return next(name for name in reversed(made) if not name.endswith("PreTrainedModel"))


def _of_diffusers(kind: str) -> bool:
    """Whether diffusers has the class of a type; no model_type of transformers begins like one."""
    return is_of_diffusers(kind) or (kind[:1].isupper() and kind.endswith(("Checker", "Encoder")))


def _refuses(values: Json) -> str | None:
    """Why transformers builds no model of a config, or None."""
    sys.path.append(str(ROOT / "tests" / "support"))
    if _of_diffusers(values["model_type"]):
        from diffusers_oracle import described
    else:
        from transformers_oracle import described

    try:
        theirs = described(values)
    except Exception as error:  # whatever its models raise
        return f"transformers: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    blueprint = build(Config(values))
    mine = {tensor.name: tuple(map(int, tensor.shape)) for tensor in blueprint.tensors()}
    theirs = {name: shape for name, shape in theirs.items() if not name.startswith(blueprint.unmodeled or "\0")}
    odd = sorted(set(mine.items()) ^ set(theirs.items()))
    if odd:
        raise Differs(f"differs in {len(odd)}, such as {odd[:3]}, of {json.dumps(values)}")
    return None


def _read(path: Path) -> Json:
    """A config.json, or the config in a recorded file."""
    values: Json = json.loads(path.read_text())
    if "_class_name" in values:
        values = {"model_type": values["_class_name"], **{key: one for key, one in values.items() if key[:1] != "_"}}
    return values["config"] if "judge" in values else values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--published", type=int, help="elements that the Hub counts in the checkpoint")
    parser.add_argument("--unjudged", metavar="WHY", help="why there is nobody to judge")
    parser.add_argument("--source", help="where that is published")
    parser.add_argument("--by", metavar="WHO", help="who else builds the same")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    failures = 0
    for one in options.types:
        try:
            if options.unjudged or options.by:
                judge = options.by or f"read only: {options.unjudged}"
                recorded, outcome = record(_read(Path(one)), judge), None
            elif options.published:
                values = _read(Path(one))
                recorded = record(values, f"{options.source}: {options.published:,} elements")
                found = sum(row[1] * _product(row[2]) for row in recorded["rows"] if row[4] != "legacy")
                once = found - sum(row[1] * _product(row[2]) for row in recorded["rows"] if row[4] == "tied")
                outcome = None if options.published in (recorded["total"], found, once) else f"counts {found:,}"
            else:
                recorded, outcome = record(*_judged(one)), None
        except Differs as error:
            outcome = str(error)
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
