"""Asks transformers whether what hfcount calls good loads whole, over checkpoints that are spoilt at random.

    python tests/support/mutations.py --seed 1 --minutes 5 --types llama qwen3_moe

prints every false green (hfcount says verified or explained, and transformers misses, replaces, ignores or refuses
something) and every false alarm (transformers saved it and loads it, and hfcount calls it a mismatch), by cause. Needs
torch and transformers.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, gettempdir

if __name__ == "__main__":  # what follows reads them as it is imported
    os.environ |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": gettempdir()}

from huggingface_hub import constants
from judge import Fault, Judge, Subject
from loopback import Hub
from spoils import KINDS
from tiny import LIMIT, RECORDED, Checkpoint, Json, classes, elements, fitted, odd, saved

AT_ONCE = 12
"""Ways in which one checkpoint is spoilt."""


def plain(name: str, rng: Random) -> Checkpoint | None:
    """A checkpoint of a type; every other one of another class, and some tied or not."""
    values = fitted(RECORDED[name])
    others = classes(values["model_type"])
    if others and rng.random() < 0.5:
        values["architectures"] = [rng.choice(others)]
    if rng.random() < 0.3:
        values["tie_word_embeddings"] = rng.random() < 0.5
    return _built(values, rng)


def _built(values: Json, rng: Random) -> Checkpoint | None:
    """What transformers saves of a config, in one file or several; None where it does not build it."""
    seed, shards = rng.randrange(1 << 30), rng.choice([1, 3, 4])
    dtype = rng.choice(["float32", "bfloat16", "float16"])
    try:
        return saved(values, seed, shards, dtype) if elements(values) <= LIMIT else None
    except Exception:  # a config may be impossible in as many ways as there are types
        return None


def spoilt(name: str, kinds: list[str], judge: Judge, rng: Random) -> Iterator[Fault]:
    """All faults over one checkpoint of a type, as saved and spoilt in each of these ways."""
    checkpoint = plain(name, rng)
    if checkpoint is None:
        return
    subject = Subject(name, checkpoint, judge)
    yield from subject.alarms("as saved")
    for kind in kinds:
        yield from subject.greens(kind, KINDS[kind], rng)


def odds(name: str, judge: Judge, rng: Random) -> Iterator[Fault]:
    """All faults over a checkpoint of a type with odd options."""
    values = odd(fitted(RECORDED[name]), rng)
    checkpoint = _built(values, rng)
    if checkpoint is not None:
        yield from Subject(name, checkpoint, judge).alarms(f"saved with {values}")


def table(faults: list[Fault]) -> Iterator[str]:
    """The faults by cause: how many in which way, and an example of each type."""
    causes: dict[tuple[str, str, tuple[str, ...]], list[Fault]] = {}
    for fault in faults:
        causes.setdefault((fault.what, fault.kind, fault.said.codes), []).append(fault)
    for (what, kind, codes), some in sorted(causes.items()):
        ways = Counter(fault.said.way for fault in some)
        yield f"{what}, {kind}, {' '.join(codes) or 'no finding'}: {dict(ways)}"
        yield from (f"    {one.type}, {one.done}: {one.why[:200]}" for one in {one.type: one for one in some}.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--types", nargs="*", default=list(RECORDED), choices=list(RECORDED), metavar="TYPE")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS), metavar="KIND")
    options = parser.parse_args()
    end, hub, number = time.monotonic() + 60 * options.minutes, Hub(), 0
    hub.start()
    constants.ENDPOINT = hub.url
    faults: list[Fault] = []
    with TemporaryDirectory() as root:
        judge = Judge(Path(root), hub)
        while time.monotonic() < end:
            name = options.types[number % len(options.types)]
            rng = Random(f"{options.seed} {number} {name}")
            faults += spoilt(name, rng.sample(options.kinds, min(len(options.kinds), AT_ONCE)), judge, rng)
            faults += odds(name, judge, rng)
            number += 1
    print(*table(faults), sep="\n")
    print(*(f"{count:,} {what}" for what, count in judge.asked.items()), f"{len(faults):,} faults", sep=", ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
