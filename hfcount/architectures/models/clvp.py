"""CLVP: a decoder of speech tokens, and encoders that choose among what it says (arXiv:2305.07243)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, rms_norm, stack
from hfcount.architectures.layers.classic import conv1d, mha, positions
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("clvp",)  # transformers 5.23: modeling_clvp.py
IGNORED = ("projection_dim",)

_HEADS = keys.named(ModelForConditionalGeneration="conditional_generation")


class Clvp(Sizes):
    """Sizes specific to CLVP, by its decoder's config: what the decoder is told of a voice and of what to say."""

    max_text_tokens: int = size("n_t")
    feature_size: int = size("m")
    num_mel_attn_blocks: int = count("N_m")


def spec(c: Config) -> Spec[Clvp]:
    text, speech = families.part(c, "text_config"), families.part(c, "speech_config")
    decoder, sizes = families.part(c, "decoder_config"), Clvp.read(c.part("decoder_config"))
    parts = {"words": text, "speech": speech}
    model = keys.composite(c, decoder, parts, key="decoder_config", heads=_HEADS)
    return model.replace(tied=False).having(sizes)


def blueprint(s: Spec[Clvp]) -> Block:
    d, of, words = s.hidden, s.own, s.part("words")
    every = Indices.below(of.num_mel_attn_blocks)
    attention = mha(d, s.layers[0].layer.attention)
    conditioning = block(
        text_token_embedding=embedding(words.vocab, d),
        text_position_embedding=embedding(of.max_text_tokens, d),
        mel_conv=block("convolution", weight=Tensor((d, of.feature_size, 1)), bias=Tensor((d,))),
        group_norms=Repeat(every, layer_norm(d)),
        mel_attn_blocks=Repeat(every, attention),
    )
    return block(
        conditioning_encoder=conditioning,
        speech_decoder_model=families.tree(s.part("text").replace(head="causal_lm")),
        text_encoder_model=Block(families.tree(words).children, repeats=0),
        speech_encoder_model=Block(families.tree(s.part("speech")).children, "audio", repeats=0),
        logit_scale=Tensor((), component="other"),
    )


_LEAST = 32  # rotary elements of a head


class ClvpEncoder(Sizes):
    waves: int


def encoder_spec(c: Config) -> Spec[ClvpEncoder]:
    """CLVP's encoders of texts and of speech tokens, with gated networks (arXiv:2305.07243)."""
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    bias, out = c.bool("use_attention_bias", default=False), c.int("projection_dim")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    share = out // (2 * heads)
    rotary = c.bool("use_rotary_embedding", default=True)
    waves = keys.dim("w", max(share, _LEAST)) if rotary else 0
    vocab = c.int("vocab_size")
    return keys.encoding(c, layers, hidden=d, vocab=vocab, out=out).having(ClvpEncoder.read(c, waves=waves))


def encoder_blueprint(s: Spec[ClvpEncoder]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        network = block("mlp", fc1=block(proj=Linear(d, 2 * wide, True)), fc2=Linear(wide, d, True))
        return block(
            self_attn=mha(d, layer.attention),
            mlp=network,
            input_rmsnorm=rms_norm(d),
            post_attention_rmsnorm=rms_norm(d),
        )

    waves = s.own.waves
    return block(
        token_embedding=embedding(s.vocab, d),
        rotary_pos_emb=block(inv_freq=buffer((waves + 1) // 2)) if waves else None,
        layers=stack(s.layers, layer_block),
        final_layer_norm=layer_norm(d),
        projection=Linear(d, s.output, component="projector"),
    )


def decoder_spec(c: Config) -> Spec:
    """CLVP's decoder of speech tokens, built like GPT-2 (arXiv:2305.07243)."""
    d, bias = c.int("hidden_size"), c.bool("use_attention_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, out_bias=True)
    wide = 4 * d if c.is_null("n_inner") else c.int("n_inner")
    layer, rows = Layer(mixer=mixer, ffn=Dense(width=wide, bias=True)), c.int("max_position_embeddings")
    heads = ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layer, heads=heads, hidden=d, positions=rows).replace(tied=False)


def decoder_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        wide = layer.dense.width
        return block(
            input_layernorm=layer_norm(d),
            attn=mha(d, layer.attention),
            post_attention_layernorm=layer_norm(d),
            mlp=block("mlp", c_fc=conv1d(d, wide), c_proj=conv1d(wide, d)),
        )

    decoder = block(
        input_embeds_layer=embedding(s.vocab, d),
        position_embeds_layer=positions(s),
        layers=stack(s.layers, layer_block),
        layer_norm=layer_norm(d),
    )
    if s.head == "base":
        return block(decoder=decoder)
    return block(model=block(decoder=decoder), final_norm=layer_norm(d), lm_head=lm_head(s, "", bias=True))


PARTS = (
    families.Family(
        ("clvp_encoder",), encoder_spec, encoder_blueprint, ignored=("summary_use_proj", "summary_proj_to_labels")
    ),
    families.Family(
        ("clvp_decoder",),
        decoder_spec,
        decoder_blueprint,
        ignored=tuple(
            "feature_size max_text_tokens num_mel_attn_blocks decoder_fixing_codes summary_use_proj "
            "summary_proj_to_labels".split()
        ),
    ),
)
