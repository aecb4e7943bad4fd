"""Asks mlx-lm which keys and names it wants, reads and drops, by changing one thing of a small checkpoint at a time."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import product
from typing import Any

import mlx_lm_cases as cases
import mlx_lm_runs as runs
import numpy
from mlx_lm_cases import Json, Sample
from mlx_lm_rope import Rope, flat

TIE = "tie_word_embeddings"

_NO_EFFECT = re.compile(
    r"dropout|drop_path|initializer|^use_cache$|^output_|_token_id$|aux_loss|^dtype$|torch_dtype|^architectures$|jitter"
    r"|pretraining_tp|^_|transformers_version|model_type|quantiz|^(vision|audio)_|problem_type|id2label|label2id|chunk_size"
    r"|is_decoder|is_encoder_decoder|cross_attention|return_dict|rope|rotary|^base_model|^max_position|_init$|^name_or_path"
)
_WORDS = {
    "silu": "gelu",
    "swish": "gelu",
    "gelu": "silu",
    "gelu_new": "silu",
    "gelu_pytorch_tanh": "silu",
    "relu": "silu",
    "relu2": "silu",
    "sigmoid": "softmax",
    "softmax": "sigmoid",
    "noaux_tc": "greedy",
    "greedy": "group_limited_greedy",
}
_HINTS: Json = {
    "rope_theta": 10_000.0,
    "partial_rotary_factor": 0.5,
    "rotary_pct": 0.25,
    "rotary_emb_base": 10_000,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "num_expert_group": 1,
    "num_experts_per_tok": 2,
    "routed_scaling_factor": 1.0,
    "norm_topk_prob": True,
    "linear_allow_neg_eigval": False,
    "mla_scale_q_lora": False,
    "mla_scale_kv_lora": False,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "sliding_window_pattern": "LLLG",
    "rope_scaling": None,
}
_OTHER_SIZES = ("num_attention_heads", "hidden_size", "intermediate_size", "num_hidden_layers", "num_key_value_heads")
_BESIDE = ("max_position_embeddings", "rope_theta", "rope_scaling", "partial_rotary_factor")
_NONE = {"sliding_window": 4, "final_logit_softcapping": 2.0, "attn_logit_softcapping": 2.0, "attention_chunk_size": 4}
_EXTRA = (
    "model.layers.0.self_attn.rotary_emb.inv_freq",
    "model.rotary_emb.inv_freq",
    "mtp.fc.weight",
    "mtp.norm.weight",
    "mtp.layers.0.input_layernorm.weight",
    "model.mtp.fc.weight",
    "language_model.mtp.fc.weight",
    "vision_tower.encoder.layers.0.mlp.fc1.weight",
    "vision_model.encoder.layers.0.mlp.fc1.weight",
    "visual.blocks.0.mlp.fc1.weight",
    "model.visual.blocks.0.mlp.fc1.weight",
    "model.vision_tower.encoder.layers.0.mlp.fc1.weight",
    "model.vision_model.encoder.layers.0.mlp.fc1.weight",
    "multi_modal_projector.linear.weight",
    "model.multi_modal_projector.linear.weight",
    "model.embed_vision.linear.weight",
    "embed_vision.linear.weight",
    "audio_tower.layers.0.fc1.weight",
    "model.audio_tower.layers.0.fc1.weight",
    "model.embed_audio.linear.weight",
    "mm_projector.linear.weight",
    "score.weight",
)
_ARGUMENTS = re.compile(r"missing \d+ required positional arguments?: (.*)")


class Probe:
    """A checkpoint of a type that mlx-lm loads, and what it makes of changes.

    Attributes:
        needs: arguments that no key of transformers gives, with the values that fit the weights.
        refuses: values that it refuses of keys without which it loads, with the errors.
        above: sizes of the language model that it reads at the top level, where transformers does not write them.
        unexpected: stored names, numbers as {}, that it refuses.
        error: why it does not load; empty if it does.
    """

    def __init__(self, mlx: runs.Mlx, sample: Sample) -> None:
        self.mlx, self.sample = mlx, sample
        self.weights, self.torch = sample.weights, sample.torch
        self.needs: Json = {}
        self.unexpected: list[str] = []
        self.above: Json = {}
        self.refuses: Json = {}
        self.base = flat(_windowed(sample.config))
        self.loaded = self._loaded()
        self.error = self.loaded.error
        if not self.error:
            self.logits = self.torch.logits(self.of_torch(self.base)) if self.torch else None
            self.like = runs.alike(self.logits, self.loaded.logits)
            self.rope = Rope(self)

    def part(self, config: Json) -> Json:
        """The config of the language model in a config."""
        inner = config.get("text_config")
        return inner if isinstance(inner, dict) else config

    @property
    def prefix(self) -> str:
        """What leads to a key of the language model."""
        return "text_config." if isinstance(self.base.get("text_config"), dict) else ""

    def run(self, config: Json, weights: runs.Weights | None = None) -> runs.Run:
        """What mlx-lm makes of a config."""
        return self.mlx.run(config, self.weights if weights is None else weights)

    def of_torch(self, config: Json) -> Json:
        """A config as transformers reads it: without flat rotary keys beside the object that it writes."""
        found = deepcopy(config)
        part = self.part(found)
        if part.get("rope_parameters"):
            for key in ("rope_theta", "rope_scaling", "partial_rotary_factor", "rope_local_base_freq"):
                part.pop(key, None)
        return found

    def _loaded(self) -> runs.Run:
        loaded = self.run(self.base)
        if loaded.error and (names := _ARGUMENTS.search(loaded.error)):
            self._fill(re.findall(r"'(\w+)'", str(names[1])))
            loaded = self.run(self.base)
        if "'NoneType' object" in loaded.error and self.part(self.base).get("rope_scaling") is None:
            loaded = self._scaled(loaded)
        if "Expected shape" in loaded.error and self.prefix:
            loaded = self._hoisted() or loaded
        if "lm_head" in loaded.error:
            loaded = self._without_head()
        if "not in model" in loaded.error:
            missing, unexpected = self.mlx.differences(self.base, self.weights)
            stored = [name for name in unexpected if name in self.weights]
            if not missing and len(stored) == len(unexpected):
                self.unexpected = sorted({runs.folded(name) for name in stored})
                self.weights = {name: value for name, value in self.weights.items() if name not in stored}
                loaded = self.run(self.base)
        return loaded

    def _scaled(self, loaded: runs.Run) -> runs.Run:
        """The checkpoint with an object for rope_scaling, which changes nothing, if it loads only so."""
        config = self.having(rope_scaling={"type": "default", "rope_type": "default", "factor": 1.0})
        scaled = self.run(config)
        if scaled.error:
            return loaded
        self.base = config
        self.refuses = {f"{self.prefix}rope_scaling": [loaded.error, [None]]}
        return scaled

    def _without_head(self) -> runs.Run:
        """The checkpoint without its head if it has one, or else with a copy of the embedding as the head."""
        head, table = cases.head_of(self.weights), table_of(self.weights)
        rest = {name: value for name, value in self.weights.items() if name != head}
        self.weights = rest if head or not table else {**rest, f"{_outer(table)}lm_head.weight": self.weights[table]}
        return self.run(self.base)

    def _hoisted(self) -> runs.Run | None:
        """The checkpoint with sizes of the language model at the top level, if it loads so."""
        args, _ = self.mlx.built(self.base)
        for key, value in self.part(self.base).items():
            taken = getattr(args, key, None)
            if key not in self.base and type(value) is int and type(taken) is int and taken != value:
                loaded = self.run({**self.base, key: value})
                if not loaded.error:
                    self.base[key] = value
                    self.above[key] = taken
                    return loaded
        return None

    def _fill(self, names: list[str]) -> None:
        """Gives arguments that are missing: what their names suggest, or the first sizes with which weights fit."""
        part = self.base
        layers, heads = int(part.get("num_hidden_layers") or 1), part.get("num_attention_heads")
        hints = {**_HINTS, "is_moe_layer": [False] + [True] * (layers - 1), "model_max_length": 2048}
        if heads and part.get("hidden_size"):
            hints |= {"num_key_value_heads": heads}
        numbers = sorted({value for value in part.values() if type(value) is int and value > 1})
        numbers += [part["hidden_size"] // heads] if heads and part.get("hidden_size") else []
        given = {name: hints[name] for name in names if name in hints}
        given |= {name: False for name in names if name not in hints and "bias" in name}
        open_ = [name for name in names if name not in given]
        for values in product(*([numbers] * len(open_) if len(open_) < 3 else [numbers[:1]] * len(open_))):
            sizes = dict(zip(open_, values, strict=True))
            if not self.run({**part, **given, **sizes}).error:
                break
        else:
            sizes = {name: numbers[0] for name in open_ if numbers}
        self.needs = given | sizes
        self.base |= self.needs

    def keys(self, beside: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
        """The keys of the language model that may bear on what it computes, and some beside them, with their values."""
        for key, value in self.part(self.base).items():
            if (key in beside or not _NO_EFFECT.search(key)) and key != TIE:
                yield key, value

    def having(self, **values: Any) -> Json:
        """The base, its language model with other values; `...` leaves a key out."""
        config = deepcopy(self.base)
        part = self.part(config)
        for key, value in values.items():
            if value is ...:
                part.pop(key, None)
            else:
                part[key] = value
        return config


def table_of(weights: runs.Weights) -> str:
    """The name of the embedding; empty if there is none."""
    names = (name for name in weights if re.search(r"(embed_tokens|wte|embed_in|embeddings?)\.weight$", name))
    return next((name for name in names if not re.search("visual|vision|audio", name)), "")


def _outer(table: str) -> str:
    return "language_model." if table.startswith("language_model.") else ""


def _windowed(config: Json) -> Json:
    found = {key: _windowed(value) if isinstance(value, dict) else value for key, value in config.items()}
    if type(found.get("sliding_window")) is int:
        found["sliding_window"] = 5
    return found


def absent(probe: Probe) -> Json:
    """What keys are needed, and what is taken in place of those that are absent, where transformers takes another."""
    needs = [f"{probe.prefix}{key}" for key in probe.needs]
    sizes: Json = {}
    values: Json = {}
    usual = probe.part(dict(probe.sample.defaults))
    for key, value in probe.keys(_BESIDE):
        if key in probe.needs:
            continue
        loaded = probe.run(probe.having(**{key: ...}))
        if loaded.error and loaded.error.startswith(("TypeError", "KeyError", "AttributeError", "AssertionError")):
            needs.append(f"{probe.prefix}{key}")
        elif key in _BESIDE:
            continue
        elif loaded.error:
            sizes[f"{probe.prefix}{key}"] = _size(probe, key)
        elif key in usual and usual[key] != value:
            written = probe.run(probe.having(**{key: usual[key]}))
            if written.error or (written.logits is not None and not runs.alike(written.logits, loaded.logits)):
                taken = _taken(probe, key)
                if taken != usual[key] and not isinstance(taken, str | list | dict):
                    values[f"{probe.prefix}{key}"] = [taken, usual[key]]
        elif key not in usual and loaded.logits is not None and not runs.alike(loaded.logits, probe.loaded.logits):
            values[f"{probe.prefix}{key}"] = [_taken(probe, key), None]
    return {"needs": sorted(needs), "sizes": sizes, "above": probe.above, "absent": values}


def _taken(probe: Probe, key: str) -> Any:
    args, _ = probe.mlx.built(probe.having(**{key: ...}))
    value = getattr(args, key, None)
    inner = getattr(args, "text_config", None) if probe.prefix else None
    if inner is not None and value is None:
        value = inner.get(key) if isinstance(inner, dict) else getattr(inner, key, None)
    return value if value is None or isinstance(value, bool | int | float | str | list) else None


def _size(probe: Probe, key: str) -> Any:
    """The size that is taken where a key is absent: a number, or how other keys give it; None if that is not found."""
    part = probe.part(probe.base)
    shapes = probe.mlx.shapes(probe.having(**{key: ...}))
    taken = _taken(probe, key)
    hidden, heads = part.get("hidden_size"), part.get("num_attention_heads")
    given: Json = (
        {"hidden_size / num_attention_heads": hidden // heads} if key == "head_dim" and hidden and heads else {}
    )
    given |= {name: part[name] for name in _OTHER_SIZES if name != key and type(part.get(name)) is int}
    given = {name: value for name, value in given.items() if type(taken) is not int or value == taken}
    if isinstance(shapes, str):
        return taken if type(taken) is int else None
    for name, value in given.items():
        if probe.mlx.shapes(probe.having(**{key: value})) == shapes:
            return name
    return taken if type(taken) in (int, bool) else None


def changed(probe: Probe) -> Json:
    """Which keys are not read, or read otherwise than transformers does, and which values are refused."""
    ignores: Json = {}
    refuses: Json = {**probe.refuses}
    if probe.torch is None:
        return {"refuses": refuses}
    usual = probe.part(dict(probe.sample.defaults))
    _settle(probe, ignores, usual)
    for key, value in list(probe.keys()):
        for new in _others(key, value):
            config = probe.having(**{key: new}, **_beside(probe, key, new))
            wanted = probe.torch.logits(probe.of_torch(config))
            if wanted is None:
                continue
            loaded = probe.run(config)
            name = f"{probe.prefix}{key}"
            if loaded.error and type(new) not in (int, float) and "Expected shape" not in loaded.error:
                refuses.setdefault(name, [loaded.error, []])[1].append(new)
                continue
            same = probe.like and runs.alike(loaded.logits, probe.loaded.logits)
            if same and not runs.alike(wanted, loaded.logits):
                ignores.setdefault(name, _taken_instead(value, usual.get(key)))
    return {
        "ignores": ignores,
        "refuses": {key: told for key, told in refuses.items() if key not in ignores},
    }


def words(probe: Probe) -> Json:
    """The words of a config that an error names."""
    found: Json = {}
    for key, value in probe.part(probe.base).items():
        listed = value if isinstance(value, list) else [value]
        named = [word for word in listed if isinstance(word, str) and len(word) > 3 and word in probe.error]
        if named and key not in ("model_type", "architectures"):
            found[f"{probe.prefix}{key}"] = [probe.error, sorted({*named})]
    return {"refuses": found}


def _taken_instead(value: Any, usual: Any) -> list[Any]:
    """What is taken for a key that is not read, and what transformers takes where it is absent, if it is one value."""
    return [value, None if isinstance(usual, list | dict) else usual]


def _beside(probe: Probe, key: str, new: Any) -> Json:
    """What has to be said with a value so that it counts: a window, where layers are to have one."""
    part = probe.part(probe.base)
    if key != "layer_types" or "sliding_attention" not in new or part.get("sliding_window"):
        return {}
    return {"sliding_window": 4, **({"use_sliding_window": True} if "use_sliding_window" in part else {})}


def _settle(probe: Probe, ignores: Json, usual: Mapping[str, Any]) -> None:
    """Looks for a key whose other value makes both models compute the same, and goes on from there."""
    assert probe.torch is not None
    if probe.like or probe.logits is None or probe.loaded.logits is None:
        return
    for key, value in list(probe.keys()):
        for new in (*_others(key, value), None, _taken(probe, key)):
            config = probe.having(**{key: new})
            logits, loaded = probe.torch.logits(probe.of_torch(config)), probe.run(config)
            if runs.alike(logits, loaded.logits):
                if runs.alike(loaded.logits, probe.loaded.logits):
                    ignores[f"{probe.prefix}{key}"] = _taken_instead(new, usual.get(key))
                probe.base, probe.logits, probe.loaded, probe.like = config, logits, loaded, True
                return


def _others(key: str, value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float):
        return [value * 3 + 0.1]
    if type(value) is int:
        return [value + 1, value - 1] if "window" not in key else [4]
    if isinstance(value, str):
        return [_WORDS[value]] if value in _WORDS else []
    if value is None and key in _NONE:
        return [_NONE[key]]
    if isinstance(value, list) and key == "layer_types" and set(value) <= {"full_attention", "sliding_attention"}:
        return [[word] * len(value) for word in ("full_attention", "sliding_attention")]
    return []


def heads(probe: Probe) -> Json:
    """What becomes of a head that is stored, or is not, by what ties it: without one, with one."""
    table = table_of(probe.weights)
    if not table:
        return {}
    head = cases.head_of(probe.weights) or f"{_outer(table)}lm_head.weight"
    without = {name: value for name, value in probe.weights.items() if name != head}
    other = numpy.roll(probe.weights[table], 1, axis=0)
    found: Json = {}
    for tied in (True, False, ...):
        config = _tied(probe, tied, tied)
        bare, with_head = probe.run(config, without), probe.run(config, without | {head: other})
        stored = "refuses"
        if not with_head.error:
            again = probe.run(config, without | {head: numpy.roll(other, 1, axis=0)})
            stored = "drops" if runs.alike(with_head.logits, again.logits) else "whole"
        found["absent" if tied is ... else str(tied).lower()] = ["refuses" if bare.error else "whole", stored]
    row: Json = {"heads": found}
    if probe.prefix and found["true"] != found["false"]:
        inner = probe.run(_tied(probe, True, False), without).error
        row["tied_by"] = "text_config" if inner else "top"
    return row


def _tied(probe: Probe, outer: Any, inner: Any) -> Json:
    """A config that ties, or does not, at the top level and in that of the language model; `...` says nothing."""
    config = probe.having(**{TIE: inner})
    if outer is ...:
        config.pop(TIE, None)
    elif probe.prefix:
        config[TIE] = outer
    return config


def extras(probe: Probe) -> Json:
    """Which further names it drops, and which change what is computed by being there."""
    part = probe.part(probe.base)
    layers = part.get("num_hidden_layers") or part.get("n_layer") or 0
    layer = next(
        (
            name
            for name in probe.weights
            if re.search(r"(layers|h)\.0\.\w*norm\w*\.weight$|(layers|h)\.0\.ln_\w*\.weight$", name)
        ),
        "",
    )
    further = [re.sub(r"\.0\.", f".{layers}.", layer, count=1)] if layer else []
    legacy = [name for name in _legacy(probe) if name not in probe.weights]
    drops, disturbs = [], []
    for name in dict.fromkeys([*_EXTRA, *further, *legacy]):
        loaded = probe.run(
            probe.base, probe.weights | {name: numpy.ones((3, 3) if name.endswith("weight") else (4,), numpy.float32)}
        )
        if loaded.error:
            continue
        word = "layers.+" if name in further else runs.folded(name)
        drops.append(word)
        if not runs.alike(loaded.logits, probe.loaded.logits) and loaded.logits is not None:
            disturbs.append(word)
    return {"drops": sorted({*drops}), "disturbs": sorted({*disturbs})}


def _legacy(probe: Probe) -> Iterator[str]:
    import hfcount

    try:
        leaves = hfcount.blueprint(deepcopy(probe.sample.config)).leaves
    except Exception:  # not laid out here
        return
    for leaf in leaves:
        if leaf.presence not in ("required", "optional") or leaf.name.endswith("inv_freq"):
            yield from list(leaf.names())[:1]


def width(probe: Probe) -> Json:
    """Whether a head has to be as wide as the heads divide the hidden size, whatever head_dim says."""
    part = probe.part(probe.base)
    hidden, heads_, usual = (
        part.get("hidden_size"),
        part.get("num_attention_heads"),
        probe.part(dict(probe.sample.defaults)),
    )
    if not hidden or not heads_ or hidden % heads_ or ("head_dim" not in part and "head_dim" not in usual):
        return {}
    if not _bears(probe, hidden // heads_):
        return {}
    even = probe.mlx.shapes(probe.having(head_dim=hidden // heads_))
    other = probe.mlx.shapes(probe.having(head_dim=hidden // heads_ + 4))
    if isinstance(even, str):
        return {}
    return (
        {"divides": other if isinstance(other, str) else "head_dim is not read"}
        if other == even or isinstance(other, str)
        else {}
    )


def _bears(probe: Probe, width: int) -> bool:
    """Whether head_dim bears on the shapes of transformers' model."""
    import hfcount

    try:
        pair = [
            [leaf.shape for leaf in hfcount.blueprint(probe.having(head_dim=each)).leaves]
            for each in (width, width + 4)
        ]
    except Exception:  # not laid out here
        return False
    return pair[0] != pair[1]
