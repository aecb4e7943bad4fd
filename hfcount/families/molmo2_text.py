"""Molmo 2's language model: queries and keys normalised, norms before or after, extra rows for special tokens."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import rms_norm, stack
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("molmo2_text",)  # transformers 5.23: modeling_molmo2.py
IGNORED = ("rope_scaling_layers",)


class Molmo2Text(Sizes):
    """What this architecture alone has."""

    additional_vocab_size: int = size("|V_a|", minimum=0)


def spec(c: Config) -> Spec[Molmo2Text]:
    wide = c.str("qk_norm_type", default="qwen3") == "olmo"
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", "attention_bias", default=False))
    layer = Layer(mixer=mixer.replace(qk_norm="width" if wide else True), ffn=keys.dense(c))
    own = Molmo2Text.read(c)
    return keys.decoder_spec(c, layer, heads=("Model",)).replace(tied=False).having(own)


def blueprint(s: Spec[Molmo2Text]) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        query, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        wide = a.qk_norm == "width"
        return block(
            self_attn=block(
                "attention",
                att_proj=Linear(d, query + 2 * keys_, a.qkv_bias),
                attn_out=Linear(query, d),
                q_norm=rms_norm(query if wide else a.head_dim),
                k_norm=rms_norm(keys_ if wide else a.head_dim),
            ),
            mlp=block("mlp", ff_proj=Linear(d, 2 * width), ff_out=Linear(width, d)),
            attn_norm=rms_norm(d),
            ff_norm=rms_norm(d),
        )

    def table(first: int, second: int) -> Block:
        return block("embedding", embedding=Tensor((first, d)), new_embedding=Tensor((second, d)))

    more, layers, norm = s.own.additional_vocab_size, stack(s.layers, layer), rms_norm(d)
    if s.place:  # the names are those of the release
        return block(wte=table(s.vocab, more), blocks=layers, ln_f=norm)
    half = (s.vocab + more + 1) // 2  # alone, its table is written in two equal parts
    return block(wte=table(half, s.vocab + more - half), layers=layers, norm=norm)
