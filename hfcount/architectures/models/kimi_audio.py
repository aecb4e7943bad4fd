"""Kimi-Audio: Qwen2 that hears Whisper's features, and layers beside it that speak (arXiv:2504.18425)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, layer_norm, lm_head, pre_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.composite import as_tower
from hfcount.mapper import Config, Sizes, count, derived
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

# modeling_moonshot_kimia.py of moonshotai/Kimi-Audio-7B-Instruct, whose encoder is in a folder of its own
MODEL_TYPES = ("kimi_audio",)
CLASSES = ("MoonshotKimiaForCausalLM",)
IGNORED = tuple(
    "kimia_audio_output_vocab kimia_media_begin kimia_media_end kimia_mimo_audiodelaytokens"
    " kimia_mimo_transformer_from_layer_index kimia_text_output_vocab kimia_token_offset num_audio_special_tokens"
    " num_base_tokens".split()
)


def _heard(c: Config) -> int | None:
    if not c.bool("use_whisper_feature"):
        c.without_effect("kimia_adaptor_input_dim")
        return None
    return keys.dim("d_w", c.int("kimia_adaptor_input_dim"))


class KimiAudio(Sizes):
    """The layers that speak, and the width of the features that it hears, if it does."""

    speaking: int = count("N_m", "kimia_mimo_layers")
    heard: int | None = derived(_heard)


def spec(c: Config) -> Spec[KimiAudio]:
    mixer = keys.attention(c, qkv_bias=True, derived=True, indivisible="refused", alone=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM",)).having(KimiAudio.read(c))


def blueprint(s: Spec[KimiAudio]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    adaptor = None
    if of.heard is not None:
        adapted = Block({"0": Linear(of.heard, d, True), "3": Linear(d, d, True), "4": layer_norm(d)})
        adaptor = as_tower(block(layers=adapted), "projector")
    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        mimo_layers=Repeat(Indices.below(of.speaking), layer_block(s.layers[0].layer)),
        mimo_norm=rms_norm(d),
        vq_adaptor=adaptor,
    )
    head = lm_head(s, "model.embed_tokens.weight")
    return block(model=body, lm_head=head, mimo_output=Linear(d, s.vocab, component="lm_head"))
