"""What publications say about parameter counts: rules of thumb, and numbers that are wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from paths import FIXTURES

from hfcount import Blueprint, blueprint
from hfcount.formats.json import Document, parse_object
from hfcount.mapper.whatif import changed, parsed
from hfcount.spec import GQA
from hfcount.spec.tree.polynomials import evaluate


@cache
def model(name: str, *settings: str) -> Blueprint:
    """A recorded model by its repo id or file, with keys of its config set."""
    path = FIXTURES / name
    path = path if path.suffix == ".json" else path / "config.json"
    changes = dict(setting.split("=") for setting in settings)
    values = parse_object(Document(name, path.read_bytes()))
    return blueprint(changed(values, {key: parsed(value) for key, value in changes.items()}))


def sizes(plan: Blueprint) -> dict[str, int]:
    """The literature's symbols of a model whose layers are all alike."""
    ((part,), spec) = plan.spec.layers, plan.spec
    layer, mixer = part.layer, part.layer.mixer
    assert isinstance(mixer, GQA)
    assert layer.ffn is not None
    found = {"N": part.indices.count, "V": spec.vocab, "d": spec.hidden, "d_ff": layer.ffn.width, "h": mixer.heads}
    found |= {"h_kv": mixer.kv_heads, "h_d": mixer.head_dim}
    return {name: int(value) for name, value in found.items()}


@dataclass(frozen=True)
class Rule:
    """A rule of thumb, what it is a rule for, the formula it stands for, and a model to try it on."""

    text: str
    subject: str
    model: str
    rough: Callable[[Mapping[str, int]], int]
    components: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int, int]:
        """What the rule gives, and what is true: of one layer's components, or of the whole model."""
        plan = model(self.model)
        value = self.rough(sizes(plan))
        if not self.components:
            return value, plan.total
        (kind,) = plan.formula().kinds
        return value, sum(evaluate(terms) for role, terms in kind.parts.items() if role in self.components)


def _whole(s: Mapping[str, int]) -> int:
    return 2 * s["V"] * s["d"] + s["N"] * (4 * s["d"] ** 2 + 3 * s["d"] * s["d_ff"])


_BLOCK = ("attention", "mlp", "norm")

RULES = (
    Rule("4·d²", "attention", "configs/llama-7b.json", lambda s: 4 * s["d"] ** 2, ("attention",)),
    Rule("4·d²", "attention", "Qwen/Qwen3-8B", lambda s: 4 * s["d"] ** 2, ("attention",)),
    Rule("4·d²", "attention", "Qwen/Qwen3-32B", lambda s: 4 * s["d"] ** 2, ("attention",)),
    Rule(
        "d²·(2 + 2·h_kv/h)",
        "attention",
        "Qwen/Qwen3-8B",
        lambda s: s["d"] ** 2 * 2 * (s["h"] + s["h_kv"]) // s["h"],
        ("attention",),
    ),
    Rule(
        "d²·(2 + 2·h_kv/h)",
        "attention",
        "Qwen/Qwen3-32B",
        lambda s: s["d"] ** 2 * 2 * (s["h"] + s["h_kv"]) // s["h"],
        ("attention",),
    ),
    Rule("12·d²", "layer", "configs/gpt2-medium.json", lambda s: 12 * s["d"] ** 2, _BLOCK),
    Rule("12·d²", "layer", "configs/llama-7b.json", lambda s: 12 * s["d"] ** 2, _BLOCK),
    Rule("12·d²", "layer", "Qwen/Qwen3-32B", lambda s: 12 * s["d"] ** 2, _BLOCK),
    Rule("16·d²", "layer", "configs/llama-7b.json", lambda s: 16 * s["d"] ** 2, _BLOCK),
    Rule("16·d²", "layer", "Qwen/Qwen3-8B", lambda s: 16 * s["d"] ** 2, _BLOCK),
    Rule(
        "4·d² + 2·d·d_ff",
        "layer",
        "configs/gpt2-medium.json",
        lambda s: 4 * s["d"] ** 2 + 2 * s["d"] * s["d_ff"],
        _BLOCK,
    ),
    Rule(
        "4·d² + 3·d·d_ff",
        "layer",
        "configs/llama-7b.json",
        lambda s: 4 * s["d"] ** 2 + 3 * s["d"] * s["d_ff"],
        _BLOCK,
    ),
    Rule("2·|V|·d + N·(4·d² + 3·d·d_ff)", "model", "configs/llama-7b.json", _whole),
    Rule("2·|V|·d + N·(4·d² + 3·d·d_ff)", "model", "mistralai/Mistral-7B-v0.1", _whole),
    Rule("2·|V|·d + N·(4·d² + 3·d·d_ff)", "model", "Qwen/Qwen2.5-3B", _whole),
    Rule("2·|V|·d + N·(4·d² + 3·d·d_ff)", "model", "Qwen/Qwen3-32B", _whole),
)


@dataclass(frozen=True)
class Mistake:
    """A number that somebody told, the true one, and what lies between them.

    Args:
        told: as it was told; `subject` is what it is told of.
        model: with the settings that both numbers are counted with.
        wrong: what the mistake comes to, and `true` the truth, both in parameters.
        why: the cause.
        unit: of the number told, such as 10⁹, or 2³⁰ that was taken for it.
        slip: what sums and products are off by.
    """

    subject: str
    told: str
    model: tuple[str, ...]
    wrong: Callable[[Blueprint], int]
    true: Callable[[Blueprint], int]
    why: str
    unit: int = 1
    slip: int = 0


def _total(plan: Blueprint) -> int:
    return plan.total


def _active(plan: Blueprint) -> int:
    return plan.active


def _symbols(plan: Blueprint) -> dict[str, int]:
    return plan.formula().legend


def _one_expert(plan: Blueprint) -> int:
    s = _symbols(plan)
    return 3 * s["d"] * s["d_ff"]


def _layer(plan: Blueprint) -> int:
    (kind,) = plan.formula().kinds
    return evaluate(kind.terms)


def _rule(plan: Blueprint) -> int:
    return _whole(sizes(plan))


def _less(what: Callable[[Blueprint], int], gone: Callable[[dict[str, int]], int]) -> Callable[[Blueprint], int]:
    return lambda plan: what(plan) - gone(_symbols(plan))


def _else(name: str, *settings: str) -> Callable[[Blueprint], int]:
    return lambda _: model(name, *settings).total


BILLION, GIBI = 10**9, 2**30

MISTAKES = (
    Mistake(
        "Qwen3-235B-A22B, active",
        "22,144,560,640",
        ("Qwen/Qwen3-235B-A22B",),
        _less(_active, lambda s: s["N"] * s["d"] * (s["n"] - s["k"])),
        _active,
        "k of the router's n rows were counted, N·d·(n − k) too few: choosing takes the whole router",
    ),
    Mistake(
        "Qwen3-32B, components added up",
        "32,762,778,624",
        ("Qwen/Qwen3-32B",),
        _less(_total, lambda s: -2 * s["N"] * s["d"]),
        _total,
        "four norms of d a layer, 2·N·d too many: it has two, the query and key norms being in attention",
    ),
    Mistake(
        "Qwen3-235B-A22B, components added up",
        "235,093,658,624",
        ("Qwen/Qwen3-235B-A22B",),
        _less(_total, lambda s: -2 * s["N"] * s["h_d"]),
        _total,
        "the query and key norms counted twice, 2·N·h_d too many",
    ),
    Mistake(
        "a classic layer, d 512, d_ff 2,048",
        "3,147,776",
        ("configs/bert-base-uncased.json", "hidden_size=512", "intermediate_size=2048", "num_attention_heads=8"),
        _less(_layer, lambda s: 5 * s["d"] + s["d_ff"]),
        _layer,
        "without its 5·d + d_ff biases",
    ),
    Mistake(
        "BERT-base",
        "110M",
        ("configs/bert-base-uncased.json",),
        _else("configs/bert-base-uncased.json", 'architectures=["BertModel"]'),
        _total,
        "that is the bare model with its pooler; its config names the class with the masked LM head",
        10**6,
    ),
    Mistake(
        "GPT-2 medium",
        "353M",
        ("configs/gpt2-medium.json",),
        lambda plan: 12 * plan.spec.depth * plan.spec.hidden**2 + plan.spec.vocab * plan.spec.hidden,
        _total,
        "positions, biases and norms are left out",
        10**6,
    ),
    Mistake(
        "LLaMA-7B",
        "6.61B",
        ("configs/llama-7b.json",),
        _less(_total, lambda s: s["d"] * s["|V|"]),
        _total,
        "its head is not tied to the embedding",
        BILLION,
    ),
    Mistake(
        "Mixtral 8x7B, one expert", "176M", ("mistralai/Mixtral-8x7B-v0.1",), _one_expert, _one_expert, "right", 10**6
    ),
    Mistake("Mixtral 8x7B", "46B", ("mistralai/Mixtral-8x7B-v0.1",), _total, _total, "right", BILLION),
    Mistake("Mixtral 8x7B, active", "13B", ("mistralai/Mixtral-8x7B-v0.1",), _active, _active, "right", BILLION),
    Mistake(
        "DeepSeek-MoE",
        "16 experts, k = 2",
        ("configs/deepseek-moe-16b-base.json",),
        _else("configs/deepseek-moe-16b-base.json", "n_routed_experts=16", "num_experts_per_tok=2"),
        _total,
        "it has 64 routed experts, k = 6, beside 2 shared ones",
    ),
    Mistake(
        '"Qwen3-32B": d 4,096, N 32, d_ff 16,384, no gates',
        "7,697,305,648",
        ("Qwen/Qwen3-32B",),
        _less(_else("configs/ungated-8b.json"), lambda _: 2 * 4096),
        _total,
        "another model than the one it is called after; the last norm is left out, and its sums are off by 9,670,704",
        slip=9_670_704,
    ),
    Mistake(
        "d 4,096, N 32, |V| 32,000, d_ff 3.5·d",
        "7.5B",
        ("mistralai/Mistral-7B-v0.1", "num_key_value_heads=32"),
        _rule,
        _total,
        "units of 2³⁰ called billions; norms are left out",
        GIBI,
    ),
    Mistake(
        "Mistral 7B without grouped heads",
        "7.51B",
        ("mistralai/Mistral-7B-v0.1",),
        _else("mistralai/Mistral-7B-v0.1", "num_key_value_heads=32"),
        _total,
        "units of 2³⁰ called billions: so it looks close to what the model has in 10⁹",
        GIBI,
    ),
    Mistake(
        "Qwen2.5-3B",
        "3.16G",
        ("Qwen/Qwen2.5-3B",),
        _less(_else("Qwen/Qwen2.5-3B", "tie_word_embeddings=false"), lambda s: s["d"]),
        _total,
        "its head is tied to the embedding; units of 2³⁰ called billions",
        GIBI,
    ),
    Mistake(
        "Llama 3.1 8B",
        "8.3B",
        ("meta-llama/Llama-3.1-8B",),
        _else("meta-llama/Llama-3.1-8B", "intermediate_size=16384", "tie_word_embeddings=true"),
        _total,
        "d_ff is not 16,384 and the head is not tied: two errors that nearly cancel",
        BILLION,
    ),
)
