"""Moshi's depth decoder: a transformer over the codebooks of one frame, with weights for each (arXiv:2410.00037)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, pre_norm, stack
from hfcount.spec import Dense, Layer, Sizes, Spec, count, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("moshi_depth",)  # transformers 5.23: modeling_moshi.py


class MoshiDepth(Sizes):
    """What this architecture alone has."""

    num_codebooks: int = count("n_q")
    audio_vocab_size: int = size("|V_a|")
    input_size: int = size("d_i")


def spec(c: Config) -> Spec[MoshiDepth]:
    both = c.int("ffn_dim", minimum=2)
    if both % 2:
        raise c.error(f"ffn_dim is {both:,}, and must be even: half of it gates the other half.", "ffn_dim")
    mixer = keys.attention(c, indivisible="refused")
    own = MoshiDepth.read(c)
    layer, heads = Layer(mixer=mixer, ffn=Dense(width=both // 2)), keys.named(Decoder="base")
    windows = keys.sliding_everywhere(c, default=8)
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(own)


def blueprint(s: Spec[MoshiDepth]) -> Block:
    d, of, books = s.hidden, s.own, s.own.num_codebooks

    def each(inputs: int, outputs: int) -> Block:
        return block(weight=Tensor((books, outputs, inputs)))

    def layer(one: Layer) -> Block:
        a, width = one.attention, one.dense.width
        into, keyed = block(linear=each(d, a.heads * a.head_dim)), block(linear=each(d, a.kv_heads * a.head_dim))
        out = block(linear=each(a.heads * a.head_dim, d))
        attention = block("attention", q_proj=into, k_proj=keyed, v_proj=keyed, o_proj=out)
        return pre_norm(d, self_attn=attention, mlp=block("mlp", fc1=each(d, 2 * width), fc2=each(width, d)))

    return block(
        text_embed_tokens=embedding(s.vocab + 1, d),
        embed_tokens=Repeat(Indices.below(books - 1), embedding(of.audio_vocab_size + 1, d)),
        input_projections=block("projector", weight=Tensor((books, d, of.input_size))),
        layers=stack(s.layers, layer),
        lm_heads=block("lm_head", weight=Tensor((books, of.audio_vocab_size, d))),
    )
