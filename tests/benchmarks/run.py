"""Benchmarks, run by hand: `python tests/benchmarks/run.py [--rounds N] [--oracle PYTHON] [--base PATH] [WORD ...]`.

Each compares hfcount with a peer that does a comparable thing on the same machine in the same run, by turns, and prints
the ratio of the medians; nothing fails by the clock. WORD picks the measures whose name contains one. `--oracle` is an
interpreter with torch and transformers, when this one has none; `--base` a checkout of another commit to compare with,
`--recorded` one more tree of recorded checkpoints to read, `--wild` a folder of local ones as they were found.
`--page` writes all of it to hfcount/docs/speed.md, with the date and the machine.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import differing
import page
from delay import forward
from hub import lay_out, serving
from measuring import HF_MEM, MB, Row, alone, compare, inside, peak, process, timed
from sweeping import measured

import hfcount

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ARCHITECTURES = FIXTURES / "architectures"
DENSE, ROUTED = "Qwen/Qwen3-32B", "Qwen/Qwen3-235B-A22B"
INDEX = "model.safetensors.index.json"

_SAFETENSORS_METADATA = """
import sys, huggingface_hub
found = huggingface_hub.get_safetensors_metadata(sys.argv[1])
assert (len(found.files_metadata), len(found.weight_map)) == (14, 707)
"""
_READ_HEADERS = """
import sys, huggingface_hub
huggingface_hub.get_safetensors_metadata(sys.argv[1])
"""
_INSIDE_OURS = """
import sys, time
import huggingface_hub.hf_api, hfcount.fetcher.hub, hfcount.fetcher.ranges, hfcount.architectures.models.qwen3
from hfcount import verify
start = time.perf_counter()
report = verify(sys.argv[1], depth="headers")
print(time.perf_counter() - start)
assert report.verdict == "verified"
"""
_INSIDE_THEIRS = """
import sys, time
from huggingface_hub import get_safetensors_metadata
start = time.perf_counter()
get_safetensors_metadata(sys.argv[1])
print(time.perf_counter() - start)
"""
_META_DEVICE = """
import sys, torch
from transformers import AutoConfig, AutoModelForCausalLM
with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(sys.argv[1]))
assert sum(parameter.numel() for parameter in model.parameters()) == int(sys.argv[2])
"""
# CPU seconds for so many checkpoints, after each has been read once; what cannot be verified is part of it.
_LOOP = """
import itertools, pathlib, sys, time
from hfcount import HfcountError, verify
roots = map(pathlib.Path, sys.argv[2:])
recorded = [(path.parent, root) for root in roots for path in sorted(root.rglob("config.json"))]
def run(cases):
    for folder, root in cases:
        try:
            verify(str(folder.relative_to(root)), fixtures=root)
        except HfcountError:
            pass
run(recorded)
start = time.process_time()
run(itertools.islice(itertools.cycle(recorded), int(sys.argv[1])))
print(time.process_time() - start)
"""

# CPU seconds for the checkpoints that are named, after one look at each; and what parsing their files alone takes.
_EACH = """
import pathlib, sys, time
from hfcount import HfcountError, verify
root = pathlib.Path(sys.argv[1])
def run(names):
    for name in names:
        try:
            verify(name, fixtures=root)
        except HfcountError:
            pass
names = sorted(path.parent.name for path in root.rglob("config.json"))
run(names[:12])
start = time.process_time()
run(names)
print(time.process_time() - start)
"""
# CPU seconds for checkpoints in these folders, after each has been read once.
_FOLDERS = """
import sys, time
from hfcount import HfcountError, verify
def run(folders):
    for folder in folders:
        try:
            verify(folder)
        except HfcountError:
            pass
run(sys.argv[1:])
start = time.process_time()
run(sys.argv[1:])
print(time.process_time() - start)
"""
_PARSED = """
import json, pathlib, sys, time
files = sorted(pathlib.Path(sys.argv[1]).rglob("*.json"))
start = time.process_time()
for file in files:
    json.loads(file.read_bytes())
print(time.process_time() - start)
"""


def command(model: str, fixtures: Path = FIXTURES) -> list[str]:
    """hfcount's command line on a fixture, as a user runs it."""
    script = Path(sys.executable).with_name("hfcount")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "hfcount"]
    return [*start, "--fixtures", str(fixtures), "--format", "json", model]


def config(model: str) -> dict[str, object]:
    """A fixture's config."""
    values: dict[str, object] = json.loads((FIXTURES / model / "config.json").read_bytes())
    return values


def totals(values: dict[str, object]) -> object:
    """Everything that is counted of a config."""
    blueprint = hfcount.blueprint(values)
    return blueprint.total, blueprint.active, blueprint.active_without_embedding, blueprint.by_component


def verified(model: str, fixtures: Path) -> None:
    """The whole way to a verdict, from the files of a fixture."""
    assert hfcount.verify(model, fixtures=fixtures).verdict == "verified"


# --- whole processes ---


def against_safetensors_metadata(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """The peer reads the headers of 14 shards from a loopback Hub, its index cached after the first turn."""
    source, values = FIXTURES / DENSE, config(DENSE)
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(values).tensors()}
    lay_out(scratch / DENSE, (source / "config.json").read_bytes(), (source / INDEX).read_bytes(), shapes, "BF16")
    with serving(scratch) as environment:
        yield compare(
            "whole process, Qwen3-32B fixture",
            process(command(DENSE)),
            process([sys.executable, "-c", _SAFETENSORS_METADATA, DENSE], environment),
            called="get_safetensors_metadata",
            rounds=options.rounds,
            at_most=0.35,
        )


def headers_from_a_hub(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Both read every header of a checkpoint from a loopback Hub, with an empty cache; the peer checks nothing."""
    for model in (DENSE, ROUTED):
        source, name = FIXTURES / model, model.split("/")[1]
        shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(config(model)).tensors()}
        lay_out(scratch / model, (source / "config.json").read_bytes(), (source / INDEX).read_bytes(), shapes, "BF16")
        with serving(scratch) as environment:
            ours = [sys.executable, "-m", "hfcount", "--format", "json", "--depth", "headers", model]
            theirs = [sys.executable, "-c", _READ_HEADERS, model]
            yield compare(
                f"whole process, headers of {name}",
                process(_afresh(ours), environment),
                process(_afresh(theirs), environment),
                called="get_safetensors_metadata",
                rounds=options.rounds,
                at_most=0.85,
            )
            yield compare(
                f"in process, headers of {name}",
                inside(_afresh([sys.executable, "-c", _INSIDE_OURS, model]), environment),
                inside(_afresh([sys.executable, "-c", _INSIDE_THEIRS, model]), environment),
                called="get_safetensors_metadata",
                rounds=options.rounds,
                at_most=1.0,
            )
            if model == DENSE and (tool := Path(options.oracle).with_name("hf-mem")).exists():
                mem = [options.oracle, "-c", HF_MEM, str(tool), "--model-id", model, "--experimental"]
                yield compare(
                    f"the same beside hf-mem, headers of {name}",
                    process(_afresh(ours), environment),
                    process(_afresh(mem), environment),
                    called="hf-mem",
                    rounds=options.rounds,
                    at_most=1.0,
                )
            if model == ROUTED:
                yield peak(f"peak memory, headers of {name}", ours, environment, at_most=200 * MB)


def behind_a_delay(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Every request takes 80 ms more, as it does from afar; the peer reads the headers, and has no other depth."""
    source = FIXTURES / DENSE
    shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(config(DENSE)).tensors()}
    lay_out(scratch / DENSE, (source / "config.json").read_bytes(), (source / INDEX).read_bytes(), shapes, "BF16")
    with serving(scratch) as near:
        port = forward(int(near["HF_ENDPOINT"].rpartition(":")[2]), 0.08)
        environment = near | {"HF_ENDPOINT": f"http://127.0.0.1:{port}"}
        theirs = process(_afresh([sys.executable, "-c", _READ_HEADERS, DENSE]), environment)
        for depth, at_most in (("index", 0.45), ("headers", 0.65)):
            ours = [sys.executable, "-m", "hfcount", "--format", "json", "--depth", depth, DENSE]
            yield compare(
                f"80 ms away, depth {depth} of Qwen3-32B",
                process(_afresh(ours), environment),
                theirs,
                called="get_safetensors_metadata",
                rounds=options.rounds,
                at_most=at_most,
            )


def far_away(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """A Hub as it is met: over TLS, with a redirect to another host for each weight file, here and 80 ms away."""
    for model in (DENSE, ROUTED):
        source = FIXTURES / model
        shapes = {tensor.name: tensor.shape for tensor in hfcount.blueprint(config(model)).tensors()}
        lay_out(scratch / model, (source / "config.json").read_bytes(), (source / INDEX).read_bytes(), shapes, "BF16")
    for model, depth, seconds, at_most in (
        (ROUTED, "headers", 0.08, 0.5),
        (DENSE, "headers", 0.08, 0.7),
        (DENSE, "index", 0.08, 0.55),
        (ROUTED, "headers", 0.0, 0.9),
    ):
        with serving(scratch, seconds) as environment:
            yield compare(
                f"TLS, {1000 * seconds:.0f} ms away, {depth} of {model.split('/')[1]}",
                process(_afresh([sys.executable, "-m", "hfcount", "-q", "--depth", depth, model]), environment),
                process(_afresh([sys.executable, "-c", _READ_HEADERS, model]), environment),
                called="get_safetensors_metadata",
                rounds=options.rounds,
                at_most=at_most,
            )


def _afresh(command: list[str]) -> list[str]:
    """The command with an empty cache of its own."""
    script = 'rm -rf "$HF_HOME" && exec "$@"'
    return ["sh", "-c", script, "sh", *command]


def against_meta_device(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """The peer builds the model without weights and sums its parameters."""
    measure = "whole process, Qwen3-32B config"
    probe = [options.oracle, "-c", "import torch, transformers"]
    if subprocess.run(probe, capture_output=True).returncode:
        yield Row(measure, "skipped", f"{options.oracle} has no torch and transformers; give --oracle PYTHON")
        return
    yield compare(
        measure,
        process([*command(DENSE), "--depth", "config"]),
        process(
            [options.oracle, "-c", _META_DEVICE, str(FIXTURES / DENSE), str(hfcount.blueprint(config(DENSE)).total)]
        ),
        called="transformers on the meta device",
        rounds=min(options.rounds, 5),
        at_most=0.05,
    )


# --- in this process ---


def config_to_totals(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """From a parsed config to every count."""
    for model, below in ((DENSE, 0.001), (ROUTED, 0.003)):
        run = partial(totals, config(model))
        yield alone(f"config to totals, {model.split('/')[1]}", run, rounds=100 * options.rounds, below=below)


def every_architecture(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """From a parsed config to every count, for the slowest of all recorded architectures and published configs."""
    recorded = [json.loads(path.read_bytes())["config"] for path in sorted(ARCHITECTURES.glob("*.json"))]
    recorded += [entry["config"] for entry in json.loads((FIXTURES / "published.json").read_bytes())]
    for values in recorded:
        totals(values)
    slowest = max(recorded, key=lambda values: min(timed(partial(totals, values)) for _ in range(3)))
    name = f"config to totals, the slowest of {len(recorded)} ({slowest['model_type']})"
    yield alone(name, partial(totals, slowest), rounds=10 * options.rounds, below=0.005)


def index_against_json(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """The whole way of verifying, from the files on, against parsing the bytes of the index alone."""
    raw = (FIXTURES / ROUTED / INDEX).read_bytes()
    yield compare(
        "verify 36,945 names, Qwen3-235B-A22B",
        partial(verified, ROUTED, FIXTURES),
        partial(json.loads, raw),
        called="json.loads of the index",
        rounds=3 * options.rounds,
        at_most=2,
    )


def many_in_a_loop(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Recorded checkpoints, small and large, good and bad, one after another in one process."""
    count, rounds = 2_000, min(options.rounds, 3)
    loop = [sys.executable, "-P", "-c", _LOOP, str(count), str(FIXTURES), *options.recorded]
    ours = inside(loop, {"PYTHONPATH": str(FIXTURES.parent)})
    measure = f"verify {count:,} checkpoints, CPU time"
    if options.base is None:
        yield alone(measure, ours, rounds=rounds, below=count / 350)
        return
    base = inside(loop, {"PYTHONPATH": options.base})
    yield compare(measure, ours, base, called="by the commit of --base", rounds=rounds, at_most=284 / 350)


def that_differ(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Recorded checkpoints, each spoilt in a dozen ways, one after another in one process; the peer parses alone."""
    count, environment = len(list(differing.lay_out(FIXTURES, scratch))), {"PYTHONPATH": str(FIXTURES.parent)}
    ours = inside([sys.executable, "-P", "-c", _EACH, str(scratch)], environment)
    parsed = inside([sys.executable, "-P", "-c", _PARSED, str(scratch)], environment)
    rounds = min(options.rounds, 3)
    row = compare(f"{count} that differ, CPU time", ours, parsed, called="json.loads", rounds=rounds, at_most=None)
    yield row
    if options.base:
        base = inside([sys.executable, "-P", "-c", _EACH, str(scratch)], {"PYTHONPATH": options.base})
        yield compare(row.measure, ours, base, called="by the commit of --base", rounds=rounds, at_most=0.5)


def in_the_wild(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Real checkpoints as they were found, many of which differ, one after another in one process; only with --wild."""
    folders = sorted({str(path.parent) for root in options.wild for path in Path(root).rglob("config.json")})
    if not folders:
        return
    line = [sys.executable, "-P", "-c", _FOLDERS, *folders]
    paths = [str(FIXTURES.parent), *filter(None, [options.base])]
    runs = [inside(line, {"PYTHONPATH": path}) for path in paths]
    turns = [[run() for run in runs] for _ in range(min(options.rounds, 3))]
    rates = [len(folders) / median(seconds) for seconds in zip(*turns, strict=True)]
    measure, ours = f"{len(folders)} found in the wild", f"{rates[0]:,.0f} per CPU second"
    if options.base is None:
        yield Row(measure, ours)
        return
    ratio = rates[1] / rates[0]
    yield Row(measure, ours, f"{rates[1]:,.0f} by the commit of --base", ratio, "<= 0.5", ratio <= 0.5)


def unrelated_names(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """An index whose names have nothing to do with the config: what anybody may upload."""
    for count, seconds, memory in ((10_000, 3.0, 100), (100_000, 10.0, 300)):
        name = differing.unrelated(config(DENSE), scratch, count)
        ours = [sys.executable, "-m", "hfcount", "-q", "--fixtures", str(scratch), name]
        line = ["sh", "-c", '"$@"; test $? -eq 1', "sh", *ours]  # a mismatch, as it has to be
        yield alone(f"{count:,} unrelated names", process(line), rounds=min(options.rounds, 3), below=seconds)
        yield peak(f"  peak memory, {count:,} unrelated names", line, at_most=memory * MB)


def sweep_of_many(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """10,000 recorded checkpoints in two processes and in one, with the driver's memory."""
    yield from measured(FIXTURES, scratch, 10_000)


def peak_memory(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """The most that the process holds while it verifies 707 and 36,945 names."""
    yield peak("peak memory, Qwen3-32B fixture", command(DENSE), at_most=30 * MB)
    yield peak("peak memory, Qwen3-235B-A22B fixture", command(ROUTED), at_most=150 * MB)


def half_a_million(options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """An index of 500,583 tensors: 324 layers of 512 experts."""
    values = config(ROUTED) | {"num_hidden_layers": 324, "num_experts": 512}
    size = lay_out_index(scratch / "large", values, shards=1_001)
    raw = (scratch / "large" / INDEX).read_bytes()
    yield compare(
        f"verify 500,583 names, an index of {size / MB:.0f} MB",
        partial(verified, "large", scratch),
        partial(json.loads, raw),
        called="json.loads of the index",
        rounds=min(options.rounds, 5),
        at_most=8,
    )
    yield peak("peak memory, 500,583 names", command("large", scratch), at_most=1_000 * MB)


def lay_out_index(folder: Path, values: dict[str, object], shards: int) -> int:
    """Writes the config and index of a checkpoint, as transformers does; returns the size of the index in bytes."""
    blueprint = hfcount.blueprint(values)
    names = sorted(tensor.name for tensor in blueprint.tensors())
    weight_map = {
        name: f"model-{1 + place * shards // len(names):05d}-of-{shards:05d}.safetensors"
        for place, name in enumerate(names)
    }
    index = {
        "metadata": {"total_parameters": blueprint.total, "total_size": 2 * blueprint.total},
        "weight_map": weight_map,
    }
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(values, indent=2))
    return (folder / INDEX).write_text(json.dumps(index, indent=2) + "\n")


Measure = Callable[[argparse.Namespace, Path], Iterator[Row]]

SECTIONS: dict[str, tuple[Measure, ...]] = {
    "On disk": (against_safetensors_metadata, against_meta_device, half_a_million, peak_memory),
    "In a process": (config_to_totals, every_architecture, index_against_json, many_in_a_loop),
    "Near: a Hub on this machine": (headers_from_a_hub,),
    "Far: with a delay, TLS and redirects": (behind_a_delay, far_away),
    "Checkpoints that differ": (that_differ, in_the_wild, unrelated_names),
    "Very many": (sweep_of_many,),
}
"""The measures, as the page groups them."""

MEASURES = [measure for several in SECTIONS.values() for measure in several]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help=", ".join(one.__name__ for one in MEASURES))
    parser.add_argument("--rounds", type=int, default=11, help="turns of each measure (default: 11)")
    parser.add_argument("--oracle", metavar="PYTHON", default=sys.executable, help="has torch, transformers and hf-mem")
    parser.add_argument("--base", metavar="PATH", help="a checkout of the commit to compare with")
    parser.add_argument("--recorded", metavar="DIR", action="append", default=[], help="a further tree of checkpoints")
    parser.add_argument("--wild", metavar="DIR", action="append", default=[], help="checkpoints as they were found")
    parser.add_argument("--page", action="store_true", help="write everything to hfcount/docs/speed.md")
    options = parser.parse_args()
    if options.page and options.words:
        parser.error("--page is of all measures: leave out WORD")
    machine = page.machine()  # as it is before it is kept busy
    line = "{:<46} {:>9}  {:<46} {:>6}  {:<10} {}"
    print(line.format("measure", "ours", "peer", "ratio", "target", "").rstrip())
    found = []
    for title, measures in SECTIONS.items():
        rows = list[Row]()
        for measure in measures:
            if options.words and not any(word in measure.__name__ for word in options.words):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                for row in measure(options, Path(scratch)):
                    ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
                    met = {True: "met", False: "missed", None: ""}[row.met]
                    print(line.format(row.measure, row.ours, row.peer, ratio, row.target, met).rstrip(), flush=True)
                    rows.append(row)
        found.append((title, rows))
    if options.page:
        page.write(found, machine, options.rounds)


if __name__ == "__main__":
    main()
