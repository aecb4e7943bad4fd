"""Moshi, only its language model: gate and up in one projection, one more token than it predicts (arXiv:2410.00037)."""

from hfcount.architectures import keys
from hfcount.architectures.families import Family
from hfcount.architectures.layers import embedding, lm_head, pre_norm, rms_norm, stack
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("moshi",)  # transformers 5.23: modeling_moshi.py


def spec(c: Config) -> Spec:
    both = c.int("ffn_dim")
    if both % 2:
        raise c.error(
            "not-divisible", f"ffn_dim is {both:,}, but must be even: half of it gates the other half.", "ffn_dim"
        )
    mixer = keys.attention(c, indivisible="refused")
    layer, windows = Layer(mixer=mixer, ffn=Dense(width=both // 2)), keys.sliding_everywhere(c, default=3000)
    model = keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), windows=windows)
    return model.replace(tied=False)  # never tied, even if the config says so


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        queries, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        return pre_norm(
            d,
            self_attn=block(
                "attention",
                q_proj=block(linear=Linear(d, queries)),
                k_proj=block(linear=Linear(d, keys_)),
                v_proj=block(linear=Linear(d, keys_)),
                o_proj=block(linear=Linear(queries, d)),
            ),
            mlp=block("mlp", fc1=Linear(d, 2 * width), fc2=Linear(width, d)),
        )

    body = block(embed_tokens=embedding(s.vocab + 1, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.embed_tokens.weight"))


class MoshiDepth(Sizes):
    num_codebooks: int = count("n_q")
    audio_vocab_size: int = size("|V_a|")
    input_size: int = size("d_i")


def depth_spec(c: Config) -> Spec[MoshiDepth]:
    """Moshi's depth decoder: a transformer over the codebooks of one frame, with weights for each."""
    both = c.int("ffn_dim")
    if both % 2:
        raise c.error(
            "not-divisible", f"ffn_dim is {both:,}, but must be even: half of it gates the other half.", "ffn_dim"
        )
    mixer = keys.attention(c, indivisible="refused")
    sizes = MoshiDepth.read(c)
    layer, heads = Layer(mixer=mixer, ffn=Dense(width=both // 2)), keys.named(Decoder="base")
    windows = keys.sliding_everywhere(c, default=8)
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(sizes)


def depth_blueprint(s: Spec[MoshiDepth]) -> Block:
    d, of, books = s.hidden, s.own, s.own.num_codebooks

    def each(inputs: int, outputs: int) -> Block:
        return block(weight=Tensor((books, outputs, inputs)))

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        into, keyed = block(linear=each(d, a.heads * a.head_dim)), block(linear=each(d, a.kv_heads * a.head_dim))
        out = block(linear=each(a.heads * a.head_dim, d))
        attention = block("attention", q_proj=into, k_proj=keyed, v_proj=keyed, o_proj=out)
        return pre_norm(d, self_attn=attention, mlp=block("mlp", fc1=each(d, 2 * width), fc2=each(width, d)))

    return block(
        text_embed_tokens=embedding(s.vocab + 1, d),
        embed_tokens=Repeat(Indices.below(books - 1), embedding(of.audio_vocab_size + 1, d)),
        input_projections=block("projector", weight=Tensor((books, d, of.input_size))),
        layers=stack(s.layers, layer_block),
        lm_heads=block("lm_head", weight=Tensor((books, of.audio_vocab_size, d))),
    )


PARTS = (Family(("moshi_depth",), depth_spec, depth_blueprint),)
