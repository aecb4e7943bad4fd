"""Moshi's depth decoder: a transformer over the codebooks of one frame, with weights for each (arXiv:2410.00037)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, pre_norm, stack
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Repeat, Tensor, block

MODEL_TYPES = ("moshi_depth",)  # transformers 5.23: modeling_moshi.py


def spec(c: Config) -> Spec:
    both = c.int("ffn_dim", minimum=2)
    if both % 2:
        raise c.error(f"ffn_dim is {both:,}, and must be even: half of it gates the other half.", "ffn_dim")
    mixer = keys.attention(c, uneven="refused")
    traits = {
        "num_codebooks": keys.sized("n_q", c.int("num_codebooks", maximum=MAX_LAYERS)),
        "audio_vocab_size": keys.sized("|V_a|", c.int("audio_vocab_size")),
        "input_size": keys.sized("d_i", c.int("input_size")),
    }
    layer, heads = Layer(mixer=mixer, ffn=Dense(width=both // 2)), keys.named(Decoder="base")
    windows = keys.sliding_everywhere(c, default=8)
    return keys.decoder_spec(c, layer, heads=heads, traits=traits, windows=windows).but(tied=False)


def blueprint(s: Spec) -> Block:
    d, of, books = s.hidden, s.traits, s.traits["num_codebooks"]

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
        embed_tokens=Repeat(Indices.below(books - 1), embedding(of["audio_vocab_size"] + 1, d)),
        input_projections=block("projector", weight=Tensor((books, d, of["input_size"]))),
        layers=stack(s.layers, layer),
        lm_heads=block("lm_head", weight=Tensor((books, of["audio_vocab_size"], d))),
    )
