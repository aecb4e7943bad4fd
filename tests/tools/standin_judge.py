"""Judges recorded stand-ins: `python tests/tools/standin_judge.py TYPE ... [--seed N]` (extra `oracle`).

For each type, which may be one that a family describes, the class of its record is recorded anew, and edits of its
recorded config and of the class's defaults are drawn: switches, nulls, lists, sizes, absent keys, several at once.
transformers builds each, and what the stand-in answers is compared. It prints how many were answered rightly, wrongly
and not at all.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from record import FOLDER
from standin_probes import Builder
from standins import Recorder, predicted, text

from hfcount.architectures.recorded_rules import Unprobed
from hfcount.architectures.stand_ins import StandIn

Json = dict[str, Any]
_EDITS = 20
_OWN = ("architectures", "model_type", "transformers_version", "dtype")


def edits(config: Json, rng: random.Random) -> Iterator[Json]:
    """Configs with one to three keys changed."""
    while True:
        changed = deepcopy(config)
        for _ in range(rng.choice((1, 1, 2, 3))):
            places = [place for place in _places(changed) if place[-1] not in _OWN]
            *above, last = rng.choice(places)
            inner = changed
            for key in above:
                inner = inner[key]
            if rng.random() < 0.1 and isinstance(inner, dict):
                del inner[last]
            else:
                inner[last] = _other(inner[last], rng)
        yield changed


def _places(values: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _other(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((2 * value, 3 * value, value + 1, max(value - 1, 0), max(value // 2, 1), 1, 0, None))
    if isinstance(value, float):
        return rng.choice((2 * value, value / 2, 1.0))
    if value is None:
        return rng.choice((1, 2, 8, 16, True, False))
    if isinstance(value, list) and value:
        return rng.choice((rng.sample(value, len(value)), value[:-1], [*value, value[-1]], [value[0]] * len(value)))
    return value


def judged(model_type: str, seed: int = 0, log: bool = False) -> Json:
    """What became of one type."""
    record = json.loads((FOLDER / f"{model_type}.json").read_text())["config"]
    started = time.process_time()
    recorder = Recorder(model_type, record["architectures"][0], seed, log, record)
    known = recorder.record()
    spent = time.process_time() - started
    builder, rng = recorder.builder, random.Random(f"{model_type} {seed}")
    usual = builder.settings({})
    defaults = builder.config_class().to_dict() if usual else recorder.variants.start
    defaults = {**defaults, "architectures": record["architectures"]}
    found: Json = {"type": model_type, "right": 0, "unknown": 0, "wrong": 0, "seconds": round(spent), "why": []}
    found |= {"built": builder.built, "bytes": len(text([known]))}
    for config in (record, json.loads(json.dumps(defaults, default=str))):
        _judge(known, builder, edits(config, rng), found)
    return found


def _judge(known: StandIn, builder: Builder, drawn: Iterator[Json], found: Json) -> None:
    answered = tries = 0
    while answered < _EDITS // 2 and tries < 200:
        tries += 1
        values = next(drawn)
        probe = builder.probe(values)
        if probe is None:
            continue
        answered += 1
        try:
            answer = predicted(known, values)
        except Unprobed as why:
            found["unknown"] += 1
            found["why"].append(str(why)[:150])
            continue
        right = answer == probe.tensors
        found["right" if right else "wrong"] += 1
        if not right:
            tensors = probe.tensors or {}
            odd = sorted(name for name in {*answer, *tensors} if answer.get(name) != tensors.get(name))
            sides = [[one.get(name) for name in odd[:3]] for one in (answer, tensors)]
            found["why"].append(f"wrong: {odd[:3]}, {sides[0]} in place of {sides[1]}, of {values}")


def main() -> int:
    import transformers

    transformers.utils.logging.set_verbosity(60)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--seed", type=int, default=0, help="of the probes and the edits")
    parser.add_argument("-v", "--verbose", action="store_true", help="say how far it is, and fail at an error")
    asked = parser.parse_args()
    for model_type in asked.types:
        try:
            print(json.dumps(judged(model_type, asked.seed, asked.verbose)), flush=True)
        except Exception as error:  # the next type is judged all the same
            if asked.verbose:
                raise
            print(json.dumps({"type": model_type, "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
