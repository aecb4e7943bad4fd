"""Phi-1.5 and Phi-2 as they were released: Phi with queries, keys and values in one projection (arXiv:2309.05463)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tied, block

# modeling_mixformer_sequential.py of microsoft/phi-1_5 and microsoft/phi-2, and modeling_phi.py, which came after it;
# phi_model.py of mlc-ai/mlc-llm, which loads both
MODEL_TYPES = ("phi-msft", "mixformer-sequential")
IGNORED = ("flash_attn", "flash_rotary", "fused_dense", "n_positions", "rotary_dim")

_SEQUENTIAL = "mixformer-sequential"
# Blocks, mixers and networks by their names in `architecture`; the implementation has no more.
_KNOWN = {"": ("block_cls", "parallel"), "mixer": ("mixer_cls", "mha"), "mlp": ("mlp_cls", "mlp", "fused_mlp")}


def spec(c: Config) -> Spec:
    _check(c)
    d, heads = c.int("n_embd", "hidden_size"), c.int("n_head", "num_attention_heads")
    mixer = keys.multi_head(c, d, heads).replace(kv_heads=c.int("n_head_kv", default=None) or heads)
    keys.grouped(c, heads, mixer.kv_heads)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("n_inner", default=None) or 4 * d, bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    vocab = round_up(c.int("vocab_size"), c.int("pad_vocab_size_multiple", default=64))
    return keys.decoder_spec(c, layers, hidden=d, vocab=vocab, heads=("ForCausalLM",))


def _check(c: Config) -> None:
    part = c.sub("architecture")
    for outer, (key, *known) in _KNOWN.items() if part else ():
        holder = part.sub(outer) if part and outer else part
        if holder:
            holder.choice(key, known, known[0])


def blueprint(s: Spec) -> Block:
    d, sequential = s.hidden, s.family == _SEQUENTIAL

    def layer_block(layer: Layer) -> Block:
        return block(
            ln=layer_norm(d),
            mixer=fused_attention(d, layer.attention, "Wqkv", "out_proj"),
            mlp=mlp(d, layer.dense.width, up="fc1", down="fc2"),
        )

    table, layers = embedding(s.vocab, d), stack(s.layers, layer_block)
    if sequential:
        # The embedding is the first of one list of modules, and the head the last.
        last = (s.layer_count or 0) + 1
        between = tuple(Repeat(part.indices.shifted(1), layer_block(part.layer)) for part in s.layers)
        first = Repeat(Indices.below(1), block(wte=table))
        final = Repeat(Indices.span(last, last + 1), _head(s, "layers.0.wte.weight"))
        return block(layers=(first, *between, final))
    body = block(embd=block(wte=table), h=layers)
    return block(transformer=body, lm_head=_head(s, "transformer.embd.wte.weight"))


def _head(s: Spec, table: str) -> Block:
    shape = (s.vocab, s.hidden)
    linear = Tied(table, shape, "lm_head", True) if s.tied else Linear(s.hidden, s.vocab, True, "lm_head")
    return block(ln=layer_norm(s.hidden), linear=linear)
