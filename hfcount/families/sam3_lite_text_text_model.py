"""SAM 3 LiteText's text encoder, MobileCLIP's: convolutions in its first and last layer (arXiv:2311.17049)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.convolution import batch_norm, conv
from hfcount.parts.vision import clip_layer
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("sam3_lite_text_text_model",)  # transformers 5.23: modeling_sam3_lite_text.py


class Sam3LiteTextTextModel(Sizes):
    """What this architecture alone has."""

    repmixer_kernel_size: int = size("w")


def spec(c: Config) -> Spec[Sam3LiteTextTextModel]:
    d, count = c.int("hidden_size"), keys.layer_count(c)
    ends = Indices.fixed(*({0, int(count) - 1} if count and c.bool("use_repmixer_blocks") else ()))
    attended = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    mixed = Layer(ffn=keys.dense(c, bias=True))
    rest = Indices.below(count).difference(ends)
    layers = keys.split((ends, lambda: mixed), (rest, lambda: attended))
    own = Sam3LiteTextTextModel.read(c)
    rows, out = c.int("max_position_embeddings"), c.int("projection_dim")
    return keys.encoding(c, layers, vocab=c.int("vocab_size"), hidden=d, out=out, positions=rows).having(own)


def blueprint(s: Spec[Sam3LiteTextTextModel]) -> Block:
    d, side, scale = s.hidden, s.own.repmixer_kernel_size, Tensor((s.hidden, 1, 1))

    def layer(one: Layer) -> Block:
        if one.mixer is not None:
            return clip_layer(d, one)
        along, wide = conv(d, d, 1, side, groups=d), one.dense.width
        mixer = block(batchnorm_skip=batch_norm(d), conv=along, batchnorm_conv=batch_norm(d))
        network = block("mlp", fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
        return block(
            layer_scale=scale,
            token_mixer=block(layer_scale=scale, reference_batchnorm=batch_norm(d), mixer=mixer),
            conv_feed_forward=block(depthwise_conv=along, depthwise_batchnorm=batch_norm(d), mlp=network),
        )

    places = block("embedding", position_embedding=Tensor((1, 1, s.positions or 0, d)))
    return block(
        embeddings=block(token_embedding=embedding(s.vocab, d), position_embedding=places),
        layers=stack(s.layers, layer),
        final_layer_norm=layer_norm(d),
        projection=Linear(d, s.output, component="projector"),
    )
