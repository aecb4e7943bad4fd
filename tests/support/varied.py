"""Varies configs at random: sizes, counts, switches and lists take other values, keys come and go.

A varied config need not make sense. What counts is that whatever transformers builds from it has the names and shapes
that hfcount says. `python tests/support/varied.py [--each N] [--seed S] [TYPE ...]` (extra `oracle`) varies each
recorded config N times, shows where the two differ, and counts.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any, Literal

import hfcount
from hfcount.mapper.class_defaults import declared

Json = dict[str, Any]
Verdict = Literal["agrees", "cannot run", "refused", "unknown", "differs"]

FOREIGN: Json = {
    "add_cross_attention": True,
    "attention_bias": True,
    "attention_head_dim": 12,
    "bias": True,
    "decoder_sparse_step": 2,
    "embedding_size": 20,
    "ffn_dim": 44,
    "first_k_dense_replace": 1,
    "head_dim": 20,
    "id2label": {"0": "a", "1": "b", "2": "c"},
    "intermediate_size": 52,
    "is_decoder": True,
    "kv_lora_rank": 12,
    "layer_types": ["full_attention", "sliding_attention"],
    "lm_head_bias": True,
    "mlp_bias": True,
    "mlp_layer_types": ["dense", "sparse"],
    "mlp_only_layers": [0],
    "moe_intermediate_size": 28,
    "multi_query": True,
    "n_routed_experts": 5,
    "n_shared_experts": 2,
    "num_experts": 3,
    "num_experts_per_tok": 2,
    "num_key_value_heads": 2,
    "num_labels": 3,
    "num_local_experts": 3,
    "num_nextn_predict_layers": 1,
    "partial_rotary_factor": 0.5,
    "q_lora_rank": 12,
    "qk_layernorm": True,
    "qk_norm": True,
    "qkv_bias": True,
    "rope_scaling": None,
    "scale_embedding": True,
    "sliding_window": 8,
    "tie_encoder_decoder": True,
    "tie_word_embeddings": True,
    "use_bias": True,
    "use_cache": False,
    "use_qk_norm": True,
    "v_head_dim": 12,
    "vocab_size": 40,
}
"""Keys that a config has of another family: most families never read most of them."""

KEPT = ("model_type", "architectures", "dtype", "torch_dtype", "transformers_version", "_name_or_path", "auto_map")
"""Keys that stay as they are."""

SETTLED = {
    **dict.fromkeys(("t5", "mt5", "umt5"), ("tie_word_embeddings",)),
    "bart": ("encoder_layers", "encoder_ffn_dim", "encoder_attention_heads"),
    "gemma3n_text": ("num_kv_shared_layers",),
    "inkling_vision": ("patch_size", "temporal_patch_size"),
}
"""Keys that stay as they are in some types: a T5 is built with a tied head and loaded with one of its own, if that is
stored; the causal class of BART builds no encoder, whatever its keys are; of more shared layers than there are, Gemma
3n shares some by chance, counted from the end; and transformers looks for the factors of an Inkling's patch without
end if its side is 0."""

WORDS = ("alibi", "rotary", "absolute", "relative_key", "gelu", "silu", "auto", "none", "full_attention")
"""Words for a key that holds a word."""

EMPTY = re.compile("vocab|embed|expand|layers?$|heads?$|^hidden_size$|^d_model$|depths?$|groups$|stages$")
"""Keys that are never 0: nothing is left of such a model, not even what is tied or divided."""

LARGEST = 4096
"""No number becomes larger, so that whatever is built is small."""


def varied(config: Json, chance: Random, classes: Sequence[str] = ()) -> Json:
    """The config with one to four of its keys changed, taken away or added.

    `classes` are the names of all classes of the type; one in eight configs names another than its own.
    """
    result, layers, kind = deepcopy(config), _layers(config), declared(config["model_type"])
    known = {**FOREIGN, **kind.keys, **{name: kind.keys[key] for name, key in kind.names.items()}}
    if classes and chance.random() < 0.125:
        result["architectures"] = [chance.choice(classes)]
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        part = result
        while nested := [key for key in sorted(part) if key.endswith("_config") and _is_part(part[key])]:
            if chance.random() < 0.3:
                break
            part = part[chance.choice(nested)]
        _change(part, chance, known if part is result else FOREIGN, layers)
    return result


def _change(part: Json, chance: Random, known: Json, layers: int) -> None:
    kept = {*KEPT, *SETTLED.get(part.get("model_type", ""), ())}
    absent, present = sorted(set(known) - set(part) - kept), [key for key in part if key not in kept]
    how = chance.random()
    if absent and (how < 0.2 or not present):
        key = chance.choice(absent)
        part[key] = _other(key, known[key], chance, layers) if chance.random() < 0.5 else deepcopy(known[key])
    elif how < 0.3:
        del part[chance.choice(present)]
    else:
        key = chance.choice(present)
        part[key] = _other(key, part[key], chance, layers)


def _other(key: str, value: Any, chance: Random, layers: int) -> Any:
    """Another value of the same kind, or null."""
    if chance.random() < 0.06:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        if chance.random() < 0.03:
            return chance.choice((float(value), str(value), True))
        near = (value - 1, value + 1, 2 * value, 3 * value, value // 2, value * 3 // 2, 0, 1, 2, 3, 6, 7, 24, 40)
        number = min(LARGEST, abs(chance.choice(near)))
        return number or int(bool(EMPTY.search(key)))
    if isinstance(value, float):
        return chance.choice((value * 1.5, value / 2, 1.0, 2.0, 0.5, 2, 1))
    if isinstance(value, str):
        return chance.choice(WORDS)
    if isinstance(value, list):
        return _other_list(key, value, chance, layers)
    if value is None:
        numeric = re.search("num_|size|dim|rank|layers", key)
        return chance.choice((2, 3, 7, 24) if numeric else (True, False, 2, 24, 1.5, [0], list(range(layers))))
    return value


def _other_list(key: str, value: Sequence[Any], chance: Random, layers: int) -> list[Any]:
    how = chance.choice(("order", "one", "fewer", "more", "none", "numbers"))
    if how == "order":
        return chance.sample(value, len(value))
    if how == "one" and value:
        return [chance.choice(value)] * len(value)
    if how == "fewer" and value:
        return list(value[:-1])
    if how == "more" and value:
        return [*value, value[0]]
    if how == "numbers" and all(type(one) is int for one in value):
        return sorted(chance.sample(range(layers), chance.randint(0, layers)))
    return list(value) if EMPTY.search(key) else []


def _layers(config: Json) -> int:
    keys = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    return next((min(config[key], 12) for key in keys if type(config.get(key)) is int), 2)


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def judged(values: Json) -> tuple[Verdict, str]:
    """What comes of a config, and how hfcount and transformers differ if they do.

    `refused` is what transformers does not build, and `unknown` a class that hfcount does not know.
    """
    from transformers_oracle import described

    try:
        theirs = described(values)
    except Exception:  # of any kind, from anywhere in a model's code
        return "refused", ""
    try:
        blueprint = hfcount.blueprint(values)
    except hfcount.UnknownArchitecture:
        return "unknown", ""
    except hfcount.ConfigError as error:
        return "differs", str(error)
    mine = {tensor.name: tensor.shape for tensor in blueprint.tensors()}
    theirs = {name: shape for name, shape in theirs.items() if not name.startswith(blueprint.unmodeled or "\0")}
    if mine == theirs:
        return ("cannot run" if blueprint.problems else "agrees"), ""
    odd = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
    said = [f"{name}: hfcount {mine.get(name)}, transformers {theirs.get(name)}" for name in odd[:2]]
    return "differs", f"{len(odd)} tensors, such as {'; '.join(said)}"


def variants(config: Json, each: int, seed: object) -> Iterator[Json]:
    """So many variants of a config: some of it as it is, some of it as transformers writes it out."""
    import transformers
    from transformers.models.auto import modeling_auto

    kind, chance = config["model_type"], Random(f"{seed}/{config}")
    full = json.loads(transformers.CONFIG_MAPPING[kind].from_dict(deepcopy(config)).to_json_string(use_diff=False))
    maps = [found for name, found in vars(modeling_auto).items() if name.endswith("MAPPING_NAMES")]
    named = [found[kind] for found in maps if kind in found]
    classes = sorted({name for names in named for name in ([names] if isinstance(names, str) else names)})
    known = [name for name in classes if hasattr(transformers, name)]
    for _ in range(each):
        yield varied({**full, **config} if chance.random() < 0.4 else config, chance, known)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", metavar="TYPE")
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()
    from transformers_oracle import RECORDED, transformers

    transformers.logging.set_verbosity_error()
    counts: Counter[str] = Counter()
    for name, config in RECORDED.items():
        if options.types and config["model_type"] not in options.types:
            continue
        for values in variants(config, options.each, options.seed):
            verdict, how = judged(values)
            counts[verdict] += 1
            if verdict == "differs":
                changed = {key: value for key, value in values.items() if config.get(key) != value}
                print(f"{name}: {how}\n    {json.dumps(changed)[:500]}", flush=True)
    print(", ".join(f"{count:,} {verdict}" for verdict, count in counts.most_common()))
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
