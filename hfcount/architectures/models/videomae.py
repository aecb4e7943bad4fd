"""VideoMAE: ViT over patches that span frames, its positions not learned (arXiv:2203.12602)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("videomae",)  # transformers 5.23: modeling_videomae.py
IGNORED = ("num_frames", "image_size", "norm_pix_loss")
SPELLINGS = {
    rf"attention\.attention\.{name[0]}_bias$": f"attention.attention.{name}.bias" for name in ("query", "value")
}

_HEADS = keys.named(("Model",), ForVideoClassification="image_classification", ForPreTraining="pretraining")


class Videomae(Sizes):
    use_mean_pooling: bool


def spec(c: Config) -> Spec[Videomae]:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", "qv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    patches, mean = keys.patches(c, frames=c.int("tubelet_size")), c.bool("use_mean_pooling", default=True)
    model = keys.imaging(c, layers, _HEADS, hidden=d, patches=patches)
    return model.replace(parts={"decoder": keys.reconstructing(c, bias)}).having(
        Videomae.read(c, use_mean_pooling=mean)
    )


def blueprint(s: Spec[Videomae]) -> Block:
    d, patches, mean = s.hidden, s.seen, s.own.use_mean_pooling
    norm = layer_norm(d)
    body = block(
        embeddings=block(patch_embeddings=block(projection=patch_convolution(s))),
        encoder=block(layer=stack(s.layers, lambda layer: vit_layer(d, layer, _attention(d, layer.attention)))),
        layernorm=None if mean else norm,
    )
    labels = block(fc_norm=norm if mean else None, classifier=classifier(s))
    if s.head != "pretraining":
        return headed(s, "videomae", body, image_classification=labels)
    inner = s.part("decoder")
    narrow, frames = inner.hidden, patches.frames or 1
    decoder = block(
        decoder_layers=stack(inner.layers, lambda layer: vit_layer(narrow, layer, _attention(narrow, layer.attention))),
        norm=layer_norm(narrow),
        head=Linear(narrow, frames * patches.pixels, True, "other"),
    )
    token, into = Tensor((1, 1, narrow), component="embedding"), Linear(d, narrow, component="projector")
    rebuilt = block(encoder_to_decoder=into, mask_token=token, decoder=decoder)
    return headed(s, "videomae", body, pretraining=rebuilt)


def _attention(d: int, a: GQA) -> Block:
    """Attention as ViT names it, but for its biases: q_bias and v_bias, and none of keys."""
    wide = a.heads * a.head_dim
    into, bias = Linear(d, wide), Tensor((wide,)) if a.qkv_bias else None
    projections = block(query=into, key=into, value=into, q_bias=bias, v_bias=bias)
    return block("attention", attention=projections, output=block(dense=Linear(wide, d, True)))
