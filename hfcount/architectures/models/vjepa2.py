"""V-JEPA 2: an encoder of videos, and a narrower predictor of what it makes of hidden patches (arXiv:2506.09985)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("vjepa2",)  # transformers 5.23: modeling_vjepa2.py
IGNORED = ("crop_size", "frames_per_clip", "pred_zero_init_mask_tokens", "image_size")

_HEADS = keys.named(("Model",), ForVideoClassification="image_classification")
_WIDER = 4  # networks of the pooler to their layers


class Vjepa2(Sizes):
    pred_num_mask_tokens: int = size("n_m")
    num_pooler_layers: int = count("N_p", minimum=0)


def spec(c: Config) -> Spec[Vjepa2]:
    d, narrow, bias = c.int("hidden_size"), c.int("pred_hidden_size"), c.bool("qkv_bias", default=True)

    def layer(width: int, prefix: str) -> Layer:
        mixer = keys.multi_head(c, width, c.int(f"{prefix}num_attention_heads"), qkv_bias=bias)
        return Layer(mixer=mixer, ffn=Dense(width=c.times(f"{prefix}mlp_ratio", width), bias=True))

    depth = c.int("pred_num_hidden_layers", maximum=MAX_LAYERS)
    ahead = tuple(keys.uniform(layer(narrow, "pred_"), depth))
    sizes = Vjepa2.read(c)
    patches = Patches(side=c.int("patch_size"), channels=c.int("in_chans"), frames=c.int("tubelet_size"))
    layers = keys.uniform(layer(d, ""), keys.layer_count(c))
    model = keys.imaging(c, layers, _HEADS, hidden=d, patches=patches)
    return model.replace(parts={"predictor": Spec(family=c.family, hidden=narrow, layers=ahead, causal=False)}).having(
        sizes
    )


def blueprint(s: Spec[Vjepa2]) -> Block:
    d, inner, of, norm = s.hidden, s.part("predictor"), s.own, layer_norm(s.hidden)
    narrow = inner.hidden
    encoder = block(
        embeddings=block(patch_embeddings=block(proj=patch_convolution(s))),
        layer=stack(s.layers, lambda layer: _layer(d, layer)),
        layernorm=norm,
    )
    token = Tensor((of.pred_num_mask_tokens, 1, 1, narrow), component="embedding")
    predictor = block(
        embeddings=block(predictor_embeddings=Linear(d, narrow, True, "projector"), mask_tokens=token),
        layer=stack(inner.layers, lambda layer: _layer(narrow, layer)),
        layernorm=layer_norm(narrow),
        proj=Linear(narrow, d, True, "projector"),
    )
    network = mlp(d, _WIDER * d)
    attending = square_attention(d, out="out_proj")
    across = Block({name: child for name, child in attending.children.items() if name != "out_proj"}, "attention")
    later = block(layer_norm1=norm, self_attn=attending, layer_norm2=norm, mlp=network)
    count = of.num_pooler_layers
    pooler = block(
        query_tokens=Tensor((1, 1, d), component="embedding"),
        cross_attention_layer=block(layer_norm1=norm, cross_attn=across, layer_norm2=norm, mlp=network),
        self_attention_layers=Repeat(Indices.below(count), later) if count else None,
    )
    body = block(encoder=encoder, predictor=predictor)
    return headed(s, "vjepa2", body, image_classification=block(pooler=pooler, classifier=classifier(s)))


def _layer(d: int, layer: Layer) -> Block:
    into = Linear(d, d, layer.attention.qkv_bias)
    attention = block("attention", query=into, key=into, value=into, proj=Linear(d, d, True))
    norm = layer_norm(d)
    return block(norm1=norm, attention=attention, norm2=norm, mlp=mlp(d, layer.dense.width))
