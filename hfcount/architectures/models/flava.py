"""FLAVA: encoders of images, of texts, and of both together (arXiv:2112.04482)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.encoders import bert_embeddings
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

MODEL_TYPES = ("flava",)  # transformers 5.23: modeling_flava.py
IGNORED = tuple("global_backprop_contrastive skip_unmasked_multimodal_encoder return_loss ce_ignore_index".split())


class Flava(Sizes):
    """Sizes of FLAVA; `hidden_size` is the width of what matches texts and images, whatever the encoders' is."""

    hidden_size: int = size("d_i")
    init_codebook: bool = flag(absent=True)


def spec(c: Config) -> Spec[Flava]:
    text, image = families.part(c, "text_config"), families.part(c, "image_config")
    parts = {"vision": image, "multimodal": families.part(c, "multimodal_config")}
    sizes, heads = Flava.read(c), ("ForPreTraining", "Model")
    model = keys.composite(c, text, parts, heads=heads, tied=True, out=c.int("projection_dim"))
    if model.head != "base" and sizes.init_codebook:
        model = model.replace(parts={**model.parts, "codebook": families.part(c, "image_codebook_config")})
    return model.having(sizes)


def blueprint(s: Spec[Flava]) -> Block:
    out, vision, both = s.out or s.hidden, s.part("vision"), s.part("multimodal")

    def into(inputs: int, width: int) -> Linear:
        return Linear(inputs, width, True, "projector")

    body = block(
        text_model=families.base(s),
        image_model=families.tower(s, "vision"),
        multimodal_model=families.tree(both),
        image_projection=into(vision.hidden, out),
        text_projection=into(s.hidden, out),
        logit_scale=Tensor((), component="other"),
        image_to_mm_projection=into(vision.hidden, both.hidden),
        text_to_mm_projection=into(s.hidden, both.hidden),
    )
    if s.head == "base":
        return body

    def masked(d: int, vocab: int) -> Block:
        transform = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d))
        bias = obsolete(vocab) if s.tied else Tensor((vocab,))  # the decoder's, if tied
        return block("lm_head", transform=transform, decoder=Linear(d, vocab, True), bias=bias)

    images, words = masked(vision.hidden, vision.sizes(FlavaImageModel).codes), masked(s.hidden, s.vocab)
    codebook = s.parts.get("codebook")
    matching = s.own.hidden_size
    pair = block(dense=Linear(matching, matching, True))
    return block(
        flava=body,
        image_codebook=families.tree(codebook).replace(component="vision", repeats=0) if codebook else None,
        mim_head=images,
        mlm_head=words,
        itm_head=block("other", pooler=pair, seq_relationship=Linear(matching, 2, True)),
        mmm_image_head=images,
        mmm_text_head=words,
    )


class FlavaImageModel(Sizes):
    """Sizes specific to the encoder of images; `codes` are those of the head that names a masked patch."""

    mask_token: bool = flag(absent=True)
    codes: int = size("|V_v|", "vocab_size")


class FlavaMultimodalModel(Sizes):
    use_cls_token: bool = flag(absent=True)


def tower_spec(c: Config) -> Spec[FlavaImageModel | FlavaMultimodalModel | None]:
    """FLAVA's three encoders, of images, of texts, and of both, with layers like ViT's (arXiv:2112.04482)."""
    d = c.int("hidden_size")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=c.bool("qkv_bias", default=True))
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    if c.family == "flava_text_model":
        types, rows = c.int("type_vocab_size"), c.int("max_position_embeddings")
        vocab = c.int("vocab_size")
        model = keys.encoding(c, layers, hidden=d, vocab=vocab, positions=rows, token_types=types)
        return model.having(None)
    if c.family == "flava_multimodal_model":
        both = FlavaMultimodalModel.read(c)
        return keys.encoding(c, layers, hidden=d).having(both)
    sizes = FlavaImageModel.read(c)
    return keys.encoding(c, layers, hidden=d, positions=keys.squares(c) + 1, patches=keys.patches(c)).having(sizes)


def tower_blueprint(s: Spec[FlavaImageModel | FlavaMultimodalModel | None]) -> Block:
    d, of = s.hidden, s.own
    token = Tensor((1, 1, d), component="embedding")
    image = block(
        "embedding",
        cls_token=token,
        mask_token=token if isinstance(of, FlavaImageModel) and of.mask_token else None,
        position_embeddings=Tensor((1, s.positions or 0, d)),
        patch_embeddings=block(projection=patch_convolution(s)) if s.patches else None,
    )
    tables = {"flava_image_model": image, "flava_text_model": bert_embeddings(s) if s.vocab else None}
    return block(
        cls_token=token if isinstance(of, FlavaMultimodalModel) and of.use_cls_token else None,
        embeddings=tables.get(s.family),
        encoder=block(layer=stack(s.layers, lambda layer: vit_layer(d, layer))),
        layernorm=layer_norm(d),
        pooler=block("other", dense=Linear(d, d, True)),
    )


_MOST = 1000  # blocks of a group, whose names no fold can count


class FlavaImageCodebook(Sizes):
    input_channels: int = size("C")
    vocab_size: int = size("|V|")
    num_blocks_per_group: int


def codebook_spec(c: Config) -> Spec[FlavaImageCodebook]:
    """FLAVA's codebook: DALL-E's convolutional encoder, which gives patches of an image codes (arXiv:2112.04482)."""
    sizes = FlavaImageCodebook.read(c, num_blocks_per_group=c.int("num_blocks_per_group", maximum=_MOST))
    return keys.encoding(c, (), {"Codebook": "base"}, hidden=c.int("hidden_size")).having(sizes)


def codebook_blueprint(s: Spec[FlavaImageCodebook]) -> Block:
    d, of = s.hidden, s.own

    def chain(inputs: int, outputs: int) -> Block:
        narrow = outputs // 4
        inner = conv(narrow, narrow, 3, bias=True)
        first, last = conv(inputs, narrow, 3, bias=True), conv(narrow, outputs, 1, bias=True)
        path = block(conv_1=first, conv_2=inner, conv_3=inner, conv_4=last)
        around = None if inputs is outputs else conv(inputs, outputs, 1, bias=True)
        return block(id_path=around, res_path=block(path=path))

    # Each group is twice as wide as the one before, but for the first.
    groups, before = dict[str, Block](), d
    for number, width in enumerate((d, 2 * d, 4 * d, 8 * d), 1):
        count = int(of.num_blocks_per_group)
        rest = {f"block_{place}": chain(width, width) for place in range(2, count + 1)}
        groups[f"group_{number}"] = block(group=Block({"block_1": chain(before, width), **rest}))
        before = width
    code = block(conv=conv(before, of.vocab_size, 1, bias=True))
    return block(blocks=Block({"input": conv(of.input_channels, d, 7, bias=True), **groups, "output": code}))


PARTS = (
    families.Family(("flava_image_model", "flava_text_model", "flava_multimodal_model"), tower_spec, tower_blueprint),
    families.Family(("flava_image_codebook",), codebook_spec, codebook_blueprint, ignored=("num_groups", "freeze")),
)
