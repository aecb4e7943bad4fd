"""AST: a spectrogram as a sequence of overlapping patches, with ViT's layers (arXiv:2104.01778)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.vision import convolution, vit_layer
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# transformers 5.23: modeling_audio_spectrogram_transformer.py
MODEL_TYPES = ("audio-spectrogram-transformer",)
SPELLINGS = VIT

_HEADS = keys.named(("Model",), ForAudioClassification="sequence_classification")


class AudioSpectrogramTransformer(Sizes):
    patch_size: int


def spec(c: Config) -> Spec[AudioSpectrogramTransformer]:
    d, side = c.int("hidden_size"), c.int("patch_size")
    bins, frames = c.int("num_mel_bins"), c.int("max_length", default=1024)
    if side > min(bins, frames):
        raise c.error(
            "out-of-range", f"patch_size {side:,} exceeds the spectrogram, {bins:,} by {frames:,}.", "patch_size"
        )
    rows = (bins - side) // c.int("frequency_stride", default=10) + 1
    columns = (frames - side) // c.int("time_stride", default=10) + 1
    bias, heads = c.bool("qkv_bias", default=True), c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    sizes = AudioSpectrogramTransformer.read(c, patch_size=keys.dim("P", side))
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, positions=rows * columns + 2, heads=_HEADS)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[AudioSpectrogramTransformer]) -> Block:
    d, token = s.hidden, Tensor((1, 1, s.hidden))
    embeddings = block(
        "embedding",
        cls_token=token,
        distillation_token=token,
        patch_embeddings=block(projection=convolution(1, d, s.own.patch_size)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
    )
    layers = block(layer=stack(s.layers, lambda layer: vit_layer(d, layer)))
    body = block(embeddings=embeddings, encoder=layers, layernorm=layer_norm(d))
    labels = block(classifier=block("other", layernorm=layer_norm(d), dense=classifier(s)))
    return headed(s, "audio_spectrogram_transformer", body, sequence_classification=labels)
