"""ViT as a masked autoencoder and as a masked siamese network (arXiv:2111.06377, arXiv:2204.07141)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("vit_mae", "vit_msn")  # transformers 5.23: modeling_vit_mae.py, modeling_vit_msn.py
IGNORED = ("norm_pix_loss",)
SPELLINGS = {**VIT, r"^vit\.layers\.": "layers."}

_HEADS = {
    "vit_mae": keys.named(("ForPreTraining", "Model")),
    "vit_msn": keys.named(("ForImageClassification", "Model")),
}


def spec(c: Config) -> Spec:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, indivisible="run", own_width=True)
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    known, rows, patches = _HEADS[c.family], keys.squares(c) + 1, keys.patches(c)
    model = keys.imaging(c, layers, known, hidden=d, positions=rows, patches=patches)
    if c.family != "vit_mae":
        return model
    return model.replace(parts={"decoder": keys.reconstructing(c, bias, indivisible="run", own_width=True)})


def blueprint(s: Spec) -> Block:
    d, rows = s.hidden, s.positions or 0
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, rows, d)),
    )
    layers = block(layer=stack(s.layers, lambda layer: vit_layer(d, layer)))
    body = block(embeddings=embeddings, encoder=layers, layernorm=layer_norm(d))
    if s.head == "image_classification":  # written with its layers outside of `vit`
        around = {name: child for name, child in body.children.items() if name != "encoder"}
        return block(vit=Block(around), encoder=layers, classifier=classifier(s))
    if s.head != "pretraining":
        return body
    inner = s.part("decoder")
    narrow = inner.hidden
    decoder = block(
        decoder_embed=Linear(d, narrow, True, "projector"),
        mask_token=Tensor((1, 1, narrow), component="embedding"),
        decoder_pos_embed=Tensor((1, rows, narrow), component="embedding"),
        decoder_encoder=block(layer=stack(inner.layers, lambda layer: vit_layer(narrow, layer))),
        decoder_norm=layer_norm(narrow),
        decoder_pred=Linear(narrow, s.seen.pixels, True, "other"),
    )
    return headed(s, "vit", body, pretraining=block(decoder=decoder))
