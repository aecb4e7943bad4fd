"""ConvNeXt, versions 1 and 2: stages of depthwise convolutions, ever wider (arXiv:2201.03545, arXiv:2301.00808)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, backbones, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.vision import convolution, patch_convolution, stage_norms
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("convnext", "convnextv2")  # transformers 5.23: modeling_convnext.py, modeling_convnextv2.py
IGNORED = ("image_size", "stage_names")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")


class Convnext(Sizes):
    scaled: bool


def spec(c: Config) -> Spec[Convnext]:
    widths = c.ints("hidden_sizes", default=(96, 192, 384, 768))
    layers = keys.stages(c, widths[: c.int("num_stages", default=len(widths))])
    scaled = c.family == "convnext" and c.number("layer_scale_init_value", default=1e-6, zero=True) > 0
    d = layers[-1].layer.width if len(layers) == len(widths) else keys.dim("d", widths[-1])
    places = tuple(backbones.features(c, c.length("depths") or len(layers)))
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=_HEADS, layer_count=None)
    return model.replace(causal=False, patches=keys.patches(c), given_out=places).having(
        Convnext.read(c, scaled=scaled)
    )


def blueprint(s: Spec[Convnext]) -> Block:
    second = s.family == "convnextv2"

    def layer_block(layer: Layer) -> Block:
        d = layer.width
        wide = 4 * d
        response = Tensor((1, 1, 1, wide))
        return block(
            "mlp",
            layer_scale_parameter=Tensor((d,)) if s.own.scaled else None,
            dwconv=convolution(1, d, 7),
            layernorm=layer_norm(d),
            pwconv1=Linear(d, wide, True),
            grn=block(weight=response, bias=response) if second else None,
            pwconv2=Linear(wide, d, True),
        )

    stages, before = dict[str, Block](), 0
    for number, part in enumerate(s.layers):
        width = part.layer.width
        coarser = Block({"0": layer_norm(before), "1": convolution(before, width, 2)}, "other")
        stages[str(number)] = block(layers=stack((part,), layer_block), downsampling_layer=coarser if number else None)
        before = width
    first = s.layers[0].layer.width
    embeddings = block(patch_embeddings=patch_convolution(s, width=first), layernorm=layer_norm(first))
    body = block(embeddings=embeddings, encoder=block(stages=Block(stages)), layernorm=layer_norm(s.hidden))
    if s.head == "backbone":
        norms = stage_norms(s, [first, *(part.layer.width for part in s.layers)])
        return altered(body, layernorm=None, **norms.children)
    return headed(s, s.family, body, image_classification=block(classifier=classifier(s)))
