"""How the CPU time of a run grows with what differs: `python tests/benchmarks/growth.py [--largest N] [KIND ...]`.

By hand. For each kind of damage a mixture of experts of several sizes is verified by its index alone, each in a process
of its own, and the slope between two sizes is printed: the exponent of the number of names, which is at most 1 where
time grows with it. What is above 1.2 is marked.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

_EXPERTS = 64
_LETTERS = "abcdefghij"

# `mlp_only_layers` is a list by layer, which is what a search for causes may look at layer by layer.
_CONFIG = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "vocab_size": 1_000,
    "hidden_size": 64,
    "moe_intermediate_size": 32,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_experts": _EXPERTS,
    "num_experts_per_tok": 2,
    "mlp_only_layers": [],
    "dtype": "bfloat16",
}
_RUN = """
import resource, sys, time
from pathlib import Path
from hfcount import verify
import hfcount.architectures.models.qwen3_moe, hfcount.checkpoints.inspect
start = time.process_time()
verify("damaged", fixtures=Path(sys.argv[1]), depth="index")
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

Names = list[str]


def sound(layers: int) -> Names:
    """All names of a model of so many layers."""
    each = [f"self_attn.{part}.weight" for part in "q_proj k_proj v_proj o_proj q_norm k_norm".split()]
    each += ["input_layernorm.weight", "post_attention_layernorm.weight", "mlp.gate.weight"]
    parts = ("gate", "up", "down")
    each += [f"mlp.experts.{expert}.{part}_proj.weight" for expert in range(_EXPERTS) for part in parts]
    ends = ["model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"]
    return [*ends, *(f"model.layers.{layer}.{name}" for layer in range(layers) for name in each)]


def _unrelated(names: Names) -> Names:
    chosen = random.Random(0)
    return [".".join("".join(chosen.choices(_LETTERS, k=8)) for _ in range(2)) for _ in names]


def _at_random(share: float) -> Callable[[Names], Names]:
    def left(names: Names) -> Names:
        chosen = random.Random(0)
        return [name for name in names if chosen.random() < share]

    return left


def _wrapped(names: Names) -> Names:
    return [f"wrapped.{name}" for name in names]


def _renamed(names: Names) -> Names:
    return [name.replace(".experts.", ".members.") for name in names]


def _halved(names: Names) -> Names:
    return names[::2]


KINDS: dict[str, Callable[[Names], Names]] = {
    "sound": list,
    "all renamed": _wrapped,
    "experts renamed": _renamed,
    "every second missing": _halved,
    "half missing at random": _at_random(0.5),
    "few missing at random": _at_random(0.99),
    "unrelated words": _unrelated,
}


def measured(kind: str, layers: int, per_file: int) -> tuple[int, float, float]:
    """The number of names, the CPU seconds and the megabytes of one run."""
    names = KINDS[kind](sound(layers))
    files = math.ceil(len(names) / per_file)
    shards = {name: f"model-{place % files + 1:05d}-of-{files:05d}.safetensors" for place, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "damaged"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**_CONFIG, "num_hidden_layers": layers}))
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": shards}))
        run = subprocess.run([sys.executable, "-c", _RUN, root], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, run.stdout.split())
    return len(names), seconds, megabytes


def show(kind: str, sizes: Sequence[int], per_file: int) -> None:
    """Prints a line for each size, with the slope from the one before."""
    before: tuple[int, float] | None = None
    for layers in sizes:
        names, seconds, megabytes = measured(kind, layers, per_file)
        slope = math.log(seconds / before[1]) / math.log(names / before[0]) if before else None
        text = "" if slope is None else f"slope {slope:.2f}{'  superlinear' if slope > 1.2 else ''}"
        print(f"{kind:24} {names:9,} names {seconds:8.2f} s {megabytes:7,.0f} MB  {text}", flush=True)
        before = names, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--largest", type=int, default=160_000, help="about how many names the largest model has")
    parser.add_argument("--per-file", type=int, default=5_000, help="names of one weight file")
    options = parser.parse_args()
    largest = max(4, options.largest // len(sound(1)))
    for kind in options.kinds or KINDS:
        show(kind, [largest // 4, largest // 2, largest], options.per_file)


if __name__ == "__main__":
    main()
