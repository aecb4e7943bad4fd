"""RWKV-5 and RWKV-6: a recurrence whose state is a matrix for each head (arXiv:2404.05892)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.mapper import Config
from hfcount.spec import RWKV, Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# rwkv5_model/modeling_rwkv5.py, rwkv6_model/modeling_rwkv6.py of BBuf/RWKV-World-HF-Tokenizer
MODEL_TYPES = ("rwkv5", "rwkv6")
CLASSES = ("Rwkv5ForCausalLM", "Rwkv5Model", "Rwkv6ForCausalLM", "Rwkv6Model")
IGNORED = ("context_length", "head_size_divisor", "rescale_every")
RETYPED = {"rwkv6": ("proj_low_rank_dim", None, "rwkv6_fla")}

_ABSENT = {"vocab_size": 65536, "hidden_size": 768, "num_hidden_layers": 24, "head_size": 64}
_STEP, _MIXED = 32, 5
_RANKS, _WIDE_RANKS, _WIDE = (32, 64), (64, 128), 4096  # the class doubles both ranks at this width alone


class Ranks(Record):
    """In RWKV-6, the ranks of what mixes each input with the one before, and of what tells decays."""

    mix: int
    decay: int


def spec(c: Config) -> Spec:
    c.assuming(_ABSENT)
    c.without_effect("intermediate_size")  # which the class sets to null
    d, each, count = c.int("hidden_size"), c.int("head_size"), keys.layer_count(c)
    inner = c.int("attention_hidden_size", default=d)
    heads = keys.derived_dim(c, "h", inner // each, "{attention_hidden_size} / {head_size}")
    if not heads or d % heads:
        text = f"hidden_size is {d:,}, which is no multiple of {heads:,} heads."
        raise c.error("not-divisible", text, "head_size", "Correct one of them.", observed=int(each))
    ffn = Dense(width=7 * d // (2 * _STEP) * _STEP)  # three and a half times the width, in whole steps
    ranks = _WIDE_RANKS if d == _WIDE else _RANKS
    own = Ranks(mix=keys.dim("r_m", ranks[0]), decay=keys.dim("r_w", ranks[1])) if c.family == "rwkv6" else None
    layer = Layer(mixer=RWKV(width=inner, head_dim=each), ffn=ffn, own=own)
    first, rest = Indices.below(1), Indices.span(1, count)
    layers = keys.split((first, lambda: layer.replace(first=True)), (rest, lambda: layer))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden
    mix = Tensor((1, 1, d))

    def time_mix(layer: Layer, m: RWKV) -> Block:
        each = m.head_dim or 1
        per_head, wide = Tensor((m.width // each, each)), Linear(d, m.width)
        return Block(
            {
                **(_mixed(d, m, layer.sizes(Ranks)) if layer.own else _plain(mix, per_head)),
                "time_faaaa": per_head,
                "receptance": wide,
                "key": wide,
                "value": wide,
                "gate": wide,
                "output": Linear(m.width, d),
                "ln_x": layer_norm(d),
            },
            "linear_attention",
        )

    def layer_block(layer: Layer) -> Block:
        width, kind = layer.dense.width, "maa_k maa_r" if layer.own else "mix_key mix_receptance"
        mixes = {f"time_{name}": mix for name in kind.split()}
        network = {"key": Linear(d, width), "receptance": Linear(d, d), "value": Linear(width, d)}
        mixer = layer.mixer
        assert isinstance(mixer, RWKV)
        return block(
            pre_ln=layer_norm(d) if layer.first else None,
            ln1=layer_norm(d),
            ln2=layer_norm(d),
            attention=time_mix(layer, mixer),
            feed_forward=Block({**mixes, **network}, "mlp"),
        )

    body = block(embeddings=embedding(s.vocab, d), blocks=stack(s.layers, layer_block), ln_out=layer_norm(d))
    return body if s.head == "base" else Block({"rwkv": body, "head": lm_head(s, "rwkv.embeddings.weight")})


def _plain(mix: Tensor, per_head: Tensor) -> dict[str, Tensor]:
    names = "time_mix_gate time_mix_key time_mix_value time_mix_receptance"
    return {"time_decay": per_head, **dict.fromkeys(names.split(), mix)}


def _mixed(d: int, m: RWKV, of: Ranks) -> dict[str, Tensor]:
    """Decays and mixes that depend on the input, by matrices of low rank."""
    return {
        **{f"time_maa_{name}": Tensor((1, 1, d)) for name in "xwkvrg"},
        "time_maa_w1": Tensor((d, _MIXED * of.mix)),
        "time_maa_w2": Tensor((_MIXED, of.mix, d)),
        "time_decay": Tensor((1, 1, m.width)),
        "time_decay_w1": Tensor((d, of.decay)),
        "time_decay_w2": Tensor((of.decay, m.width)),
    }
