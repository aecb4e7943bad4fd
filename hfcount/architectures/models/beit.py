"""BEiT and data2vec for images: ViT without biases of keys, with relative positions (arXiv:2106.08254)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.conversions import VIT
from hfcount.architectures.layers.convolution import batch_norm, transposed
from hfcount.architectures.layers.segmentation import Heads
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import patch_convolution, vit_attention, vit_layer
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("beit", "data2vec-vision")  # transformers 5.23: modeling_beit.py, modeling_data2vec_vision.py
IGNORED = ("out_indices", "segmentation_indices", "reshape_hidden_states", "semantic_loss_ignore_index")
CONVERTED = ("beit",)
SPELLINGS = {
    r"encoder\.relative_position_bias\.": "shared_position_bias.",
    r"attention\.attention\.relative_position_bias\.": "relative_position_bias.",
    **VIT,
    r"^beit\.(embeddings|layers|shared_position_bias)\.": r"\1.",
    r"(?<=\.)beit\.(embeddings|layers|shared_position_bias)\.": r"\1.",
    r"^fpn1\.0\.": "fpn.fpn1.conv_transpose1.",
    r"^fpn1\.1\.": "fpn.fpn1.normalization.",
    r"^fpn1\.3\.": "fpn.fpn1.conv_transpose2.",
    r"^fpn2\.0\.": "fpn.fpn2.",
    r"decode_head\.psp_modules\.(\d+)\.1\.": r"decode_head.psp_modules.blocks.\1.conv.",
    r"decode_head\.bottleneck\.": "decode_head.psp_bottleneck.",
    r"(_head\..*)\bbn\.": r"\1normalization.",
    r"(_head\..*)\bconv\.weight$": r"\1convolution.weight",
}

_HEADS = keys.named(("ForImageClassification", "Model"), ForSemanticSegmentation="semantic_segmentation")
_MORE = keys.named(_HEADS, ForMaskedImageModeling="masked_image", Backbone="backbone")


class Beit(Sizes):
    """Sizes specific to BEiT; `scales` are those that the head pools, `grid` the patches along a side of an image."""

    use_mask_token: bool = flag(absent=False)
    use_relative_position_bias: bool = flag(absent=False)
    use_shared_relative_position_bias: bool = flag(absent=False)
    add_fpn: bool = flag(absent=False)
    auxiliary_concat_input: bool = flag(absent=False)
    use_mean_pooling: bool = flag(absent=True)
    use_auxiliary_head: bool = flag(absent=True)
    scaled: bool = derived(lambda c: c.number("layer_scale_init_value", zero=True) > 0)
    scales: int = derived(lambda c: keys.dim("N_p", c.length("pool_scales") or 0))
    auxiliary_channels: int = size("d_a")
    auxiliary_num_convs: int = size("N_a", minimum=0)
    grid: int


def spec(c: Config) -> Spec[Beit]:
    d, first, side = c.int("hidden_size"), c.family == "beit", keys.grid(c)
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, d, heads, indivisible="run" if first else "refused", own_width=first)
    sizes = Beit.read(c, grid=side)
    rows = side * side + 1 if c.bool("use_absolute_position_embeddings", default=False) else None
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), keys.layer_count(c))
    known, patches = _MORE if first else _HEADS, keys.patches(c)
    words = c.int("vocab_size") if first else 0
    model = keys.imaging(c, layers, known, hidden=d, positions=rows, patches=patches)
    return model.replace(vocab=words if model.head == "masked_image" else 0).having(sizes)


def blueprint(s: Spec[Beit]) -> Block:
    d, of, first, head = s.hidden, s.own, s.family == "beit", s.head
    side, token, norm = 2 * of.grid - 1, Tensor((1, 1, d)), layer_norm(d)
    scale, heads = Tensor((d,)) if of.scaled else None, s.layers[0].layer.attention.heads
    # The last three rows are of the first token: to patches, from them, and to itself.
    relative = block("attention", relative_position_bias_table=Tensor((side * side + 3, heads)))
    table = relative if of.use_relative_position_bias else None
    shared = relative if of.use_shared_relative_position_bias else None

    def layer_block(layer: Layer) -> Block:
        attention = vit_attention(d, layer.attention, key_bias=False, relative_position_bias=table)
        return altered(vit_layer(d, layer, attention), lambda_1=scale, lambda_2=scale)

    embeddings = block(
        "embedding",
        cls_token=token,
        mask_token=token if of.use_mask_token else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions, d)) if s.positions else None,
    )
    pooled = head == "image_classification" or (first and head == "base")
    mean = of.use_mean_pooling
    body = block(
        embeddings=embeddings,
        encoder=block(layer=stack(s.layers, layer_block), relative_position_bias=shared),
        layernorm=None if mean else norm,
        pooler=block(layernorm=norm) if mean and pooled else None,
    )
    if head == "backbone":
        # Only what is stored under these two names keeps them without the base model's prefix.
        kept = block(embeddings=embeddings, encoder=block(layer=stack(s.layers, layer_block)))
        rest = block(layernorm=None if mean else norm, encoder=block(relative_position_bias=shared) if shared else None)
        return altered(kept, beit=rest if rest.children else None, **(_finer(d) if of.add_fpn else {}))
    made = Heads(s.labels, later=not first)
    more = made.fcn(d, of.auxiliary_channels, of.auxiliary_num_convs, of.auxiliary_concat_input)
    places = block(
        **_finer(d),
        decode_head=made.uper((d,) * 4, d, of.scales),
        auxiliary_head=more if of.use_auxiliary_head else None,
    )
    words, labels = Linear(d, s.vocab, True, "lm_head"), block(classifier=classifier(s))
    masked = block(layernorm=norm, lm_head=words)
    name = s.family.replace("-", "_")
    return headed(s, name, body, image_classification=labels, semantic_segmentation=places, masked_image=masked)


def _finer(d: int) -> dict[str, Block]:
    """BEiT's features at two finer scales: fpn1, two transposed convolutions with a norm between, and fpn2, one."""
    twice = transposed(d, d, 2)
    return {"fpn1": Block({"0": twice, "1": batch_norm(d), "3": twice}), "fpn2": Block({"0": twice})}
