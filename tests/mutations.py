"""Asks transformers whether what hfcount calls good loads whole, over checkpoints that are spoilt at random.

    python tests/mutations.py --seed 1 --minutes 5 --types llama qwen3_moe

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
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

if __name__ == "__main__":  # both are read where they are first imported
    os.environ |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": gettempdir()}

import torch
from huggingface_hub import constants
from loopback import Hub
from spoils import KINDS, Spoil
from tiny import (
    CONFIG,
    INDEX,
    LIMIT,
    RECORDED,
    Checkpoint,
    Json,
    State,
    class_of,
    elements,
    fitted,
    odd,
    quiet,
    raw,
    saved,
)

import hfcount

WAYS = ("auto", "index", "headers", "hub")
"""A depth for the folder, or the default depth for the folder as a repo."""

FEWER, MORE = (64, 16), (1_024, 32)
"""Bytes by which a file may be too small or too large while its header is not read: for the file, for each tensor."""

SPARE = {"add_head", "change_class", "store_tied"}
"""Ways that may leave tensors over which the class does not have, if hfcount explains them."""

UNCOMPARED = {"HF008"}
"""Codes that say of two sets of weights that headers do not tell whether the values are the same."""


@dataclass(frozen=True)
class Said:
    """What hfcount says of a folder: the depth that it looked to, a verdict or the name of its error, and codes."""

    way: str
    verdict: str
    depth: str | None = None
    codes: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()

    @property
    def green(self) -> bool:
        return self.verdict in ("verified", "explained")

    def __str__(self) -> str:
        return f"{self.way}: {self.verdict} {' '.join(self.codes)}".rstrip()


@dataclass(frozen=True)
class Loaded:
    """What `from_pretrained` made of a folder: why it is broken, what it ignored, all tensors, and the model."""

    broken: str | None
    ignored: tuple[str, ...] = ()
    state: State = field(default_factory=dict)
    model: Any = None


@dataclass(frozen=True)
class Fault:
    """A false green or a false alarm."""

    what: str
    type: str
    kind: str
    done: str
    said: Said
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.type}, {self.done}: {self.said}; {self.why}"


class Judge:
    """Asks hfcount and transformers of folders below one of its own."""

    def __init__(self, root: Path, hub: Hub, ways: tuple[str, ...] = WAYS) -> None:
        self.root, self.hub, self.ways = root, hub, ways
        self.asked: Counter[str] = Counter()

    def says(self, folder: Path) -> list[Said]:
        """hfcount's verdicts on a folder, one each way."""
        return [self._says(folder, way) for way in self.ways]

    def _says(self, folder: Path, way: str) -> Said:
        self.asked["reports"] += 1
        try:
            if way == "hub":
                self.hub.reset()
                self.hub.publish("org/name", folder)
                report = hfcount.verify("org/name", cache=False)
            else:
                report = hfcount.verify(str(folder), depth=way)  # type: ignore[arg-type]
        except hfcount.HfcountError as error:
            return Said(way, type(error).__name__, messages=(str(error),))
        codes, messages = (tuple(getattr(one, what) for one in report.findings) for what in ("code", "message"))
        return Said(way, report.verdict, report.depth, codes, messages)

    def loads(self, folder: Path, values: Json) -> Loaded:
        """Loads a folder as a user of transformers would, by the class that its config names."""
        self.asked["loads"] += 1
        with quiet():
            try:
                model, info = class_of(values).from_pretrained(folder, output_loading_info=True, local_files_only=True)
            except Exception as error:  # whatever stops it stops the user
                return Loaded(f"{type(error).__name__}: {str(error)[:200]}")
        wrong = {
            what: sorted(map(str, found))[:3] for what, found in info.items() if found and what != "unexpected_keys"
        }
        return Loaded(str(wrong) if wrong else None, tuple(sorted(info["unexpected_keys"])), model.state_dict(), model)

    def alarms(self, name: str, checkpoint: Checkpoint, done: str) -> Iterator[Fault]:
        """False alarms over what transformers saved and loads."""
        self.asked["saved"] += 1
        with checkpoint.written(self.root / "saved") as folder:
            red = [said for said in self.says(folder) if said.verdict in ("mismatch", "ConfigError", "DocumentError")]
            found = self.loads(folder, checkpoint.config) if red else None
        if found is None or found.broken or found.ignored:
            return
        for said in red:  # a config that builds a model which cannot run is inconsistent
            if "HF103" not in said.codes or runs(found.model):
                yield Fault("false alarm", name, "none", done, said, said.messages[0])

    def greens(
        self, name: str, kind: str, spoil: Spoil, base: Checkpoint, right: Loaded, rng: Random
    ) -> Iterator[Fault]:
        """False greens over a spoilt copy of a checkpoint; `right` is what transformers makes of the good one."""
        spoilt = base.copy()
        done = spoil(spoilt, rng)
        if done is None:
            return
        self.asked["spoilt"] += 1
        with spoilt.written(self.root / "spoilt") as folder:
            green = [said for said in self.says(folder) if said.green]
            found = self.loads(folder, spoilt.config) if green else None
        if found is None:
            return
        why = found.broken or differences(found, right)
        for said in green:
            unread = said.depth == "index" and alike_outside(base, spoilt)
            admitted = said.verdict == "explained" and UNCOMPARED & {*said.codes} and not found.broken
            if why and not (unread or admitted):
                yield Fault("false green", name, kind, done, said, why)
            elif found.ignored and not why and not (said.verdict == "explained" and kind in SPARE):
                yield Fault("false green", name, kind, done, said, f"ignored: {found.ignored[:3]}")


def differences(found: Loaded, right: Loaded) -> str | None:
    """Which values are not those of the model that was saved, whatever their dtype."""
    bare = {name.partition(".")[2]: name for name in right.state} | {f"model.{name}": name for name in right.state}
    wrong = []
    for name, tensor in found.state.items():
        other = right.state.get(name, right.state.get(bare.get(name, "")))
        same = other is not None and other.shape == tensor.shape and tensor.device.type != "meta"
        if not (same and torch.equal(tensor.to(torch.float64), other.to(torch.float64))):  # type: ignore[union-attr]
            wrong.append(name)
    return f"other values: {wrong[:3]}" if wrong else None


def alike_outside(good: Checkpoint, spoilt: Checkpoint) -> bool:
    """Whether all but headers is as in a whole checkpoint of the same config, sharded as this index says."""
    after = spoilt.contents()
    if spoilt.config != good.config or spoilt.index is None or INDEX not in after:
        return False
    tensors, weight_map, shards = good.tensors, spoilt.index["weight_map"], dict[str, State]()
    if weight_map.keys() != tensors.keys():
        return False
    for name, file in weight_map.items():
        shards.setdefault(file, {})[name] = tensors[name]
    total_size = sum(tensor.nbytes for tensor in tensors.values())
    if spoilt.index["metadata"].get("total_size") != total_size or after.keys() != {*shards, CONFIG, INDEX}:
        return False
    for file, content in shards.items():
        more = len(after[file]) - len(raw(content))
        if not -FEWER[0] - FEWER[1] * len(content) <= more <= MORE[0] + MORE[1] * len(content):
            return False
    return True


def runs(model: Any) -> bool:
    """Whether a model that reads token ids and nothing else computes anything."""
    if model.main_input_name != "input_ids" or model.config.get_text_config() is not model.config:
        return False
    with quiet(), torch.no_grad():
        try:
            model.eval()(input_ids=torch.tensor([[1, 2, 3, 4]]))
        except Exception:  # whatever stops it
            return False
    return True


def drawn(name: str, rng: Random) -> Checkpoint | None:
    """A checkpoint of a type, with its class, ties and dtype at random; None where transformers does not build it."""
    values = fitted(RECORDED[name])
    values |= {"architectures": rng.choice([values["architectures"], odd(values, rng)["architectures"]])}
    if rng.random() < 0.3:
        values["tie_word_embeddings"] = rng.random() < 0.5
    return built(values, rng)


def built(values: Json, rng: Random) -> Checkpoint | None:
    """What transformers saves of a config, in one file or several; None where it does not build it."""
    try:
        if elements(values) > LIMIT:
            return None
        return saved(
            values, rng.randrange(1 << 30), rng.choice([1, 3, 4]), rng.choice(["float32", "bfloat16", "float16"])
        )
    except Exception:  # a config may be impossible in as many ways as there are types
        return None


def swept(name: str, judge: Judge, rng: Random, kinds: dict[str, Spoil], odds: int) -> Iterator[Fault]:
    """All faults over one checkpoint of a type, as saved, with odd options, and spoilt in each of these ways."""
    base = drawn(name, rng)
    if base is not None:
        yield from judge.alarms(name, base, "as saved")
        with base.written(judge.root / "good") as folder:
            right = judge.loads(folder, base.config)
        if right.broken or right.ignored:
            return
        for kind, spoil in kinds.items():
            yield from judge.greens(name, kind, spoil, base, right, rng)
    for _ in range(odds):
        values = odd(fitted(RECORDED[name]), rng)
        if (other := built(values, rng)) is not None:
            yield from judge.alarms(name, other, str(values))


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
            number += 1
            kinds = {kind: KINDS[kind] for kind in rng.sample(options.kinds, min(len(options.kinds), 12))}
            faults += swept(name, judge, rng, kinds, 1)
    grouped: dict[tuple[str, str, tuple[str, ...]], list[Fault]] = {}
    for fault in faults:
        grouped.setdefault((fault.what, fault.kind, fault.said.codes), []).append(fault)
    for (what, kind, codes), some in sorted(grouped.items()):
        ways = Counter(fault.said.way for fault in some)
        print(
            f"{what}, {kind}, {' '.join(codes) or 'no finding'}: " + ", ".join(f"{n} {way}" for way, n in ways.items())
        )
        for fault in {fault.type: fault for fault in some}.values():
            print(f"    {fault.type}, {fault.done}: {fault.why[:200]}")
    print(", ".join(f"{count:,} {what}" for what, count in judge.asked.items()), f"{len(faults):,} faults", sep=", ")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
