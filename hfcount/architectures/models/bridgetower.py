"""BridgeTower: CLIP's image encoder and RoBERTa, bridged by layers across both (arXiv:2206.08657)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import headed, positions
from hfcount.architectures.layers.encoders import bert_layer
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, count, flag, optional, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, obsolete

MODEL_TYPES = ("bridgetower",)  # transformers 5.23: modeling_bridgetower.py
IGNORED = ("num_attention_heads", "init_layernorm_from_vision_encoder", "initializer_factor", "text_config_dict")

_HEADS = keys.named(
    ("ForMaskedLM", "Model"), ForImageAndTextRetrieval="retrieval", ForContrastiveLearning="contrastive"
)
_SCALES = {"add": "", "scaled_add": "scaled_factor", "interpolate": "beta"}


class Bridgetower(Sizes):
    """Sizes specific to BridgeTower: the layers across both towers, and the links to them from each."""

    hidden_size: int = size("d_x")
    num_hidden_layers: int = count("N_x")
    share_cross_modal_transformer_layers: bool = flag(absent=True)
    share_link_tower_layers: bool = flag(absent=False)
    link_tower_type: str
    contrastive_hidden_size: int | None = optional("d_c")


def spec(c: Config) -> Spec[Bridgetower]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    kind = c.choice("link_tower_type", _SCALES, "add")
    sizes = Bridgetower.read(c, link_tower_type=kind)
    model = keys.composite(c, text, towers, heads=_HEADS)
    if model.head == "contrastive":
        c.int("contrastive_hidden_size")  # for which the class has no default
    # Its own tie counts, since the text model has no head.
    return model.replace(tied=c.bool("tie_word_embeddings", default=False)).having(sizes)


def blueprint(s: Spec[Bridgetower]) -> Block:
    d, of, vision_width = s.own.hidden_size, s.own, s.part("vision").hidden
    times, shared = of.num_hidden_layers, of.share_cross_modal_transformer_layers

    def each(node: Node, shared: bool, times: int) -> Node:
        return node if shared else Repeat(Indices.below(times), node)

    scaled = _SCALES[of.link_tower_type]
    scale: dict[str, Node] = {scaled: Tensor((), component="other")} if scaled else {}
    link = each(Block({**scale, "LayerNorm": layer_norm(d)}), of.share_link_tower_layers, times - 1)
    layer = s.layers[0].layer
    across = bert_layer(s.hidden, layer.replace(cross_attention=True))
    layers, pool = Repeat(Indices.below(times), across), block("other", dense=Linear(d, d, True))
    body = block(
        cross_modal_text_transform=each(Linear(s.hidden, d, True, "projector"), shared, times),
        cross_modal_image_transform=each(Linear(vision_width, d, True, "projector"), shared, times),
        token_type_embeddings=embedding(2, d),  # texts and images
        vision_model=families.tower(s, "vision"),
        text_model=families.base(s),
        cross_modal_image_layers=layers,
        cross_modal_text_layers=layers,
        cross_modal_image_pooler=pool,
        cross_modal_text_pooler=pool,
        cross_modal_text_layernorm=layer_norm(d),
        cross_modal_image_layernorm=layer_norm(d),
        cross_modal_text_link_tower=link,
        cross_modal_image_link_tower=link,
    )
    transform = block(dense=Linear(d, d, True), LayerNorm=layer_norm(d))
    decoder = lm_head(s, "bridgetower.text_model.embeddings.word_embeddings.weight", width=d)
    words = block("lm_head", transform=transform, decoder=decoder, bias=Tensor((s.vocab,)))
    pair = block(fc=Linear(2 * d, 2, True, "other"))
    heads = {"masked_lm": block(mlm_score=words), "retrieval": block(itm_score=pair)}
    if out := of.contrastive_hidden_size:
        alone, both = block(fc=Linear(d, out, True, "other")), block(fc=Linear(2 * d, out, True, "other"))
        scale_one = Tensor((), component="other")
        heads["contrastive"] = block(
            itc_text_head=alone, itc_image_head=alone, itc_cross_modal_head=both, logit_scale=scale_one
        )
    return headed(s, "bridgetower", body, **heads)


_HEAD = 64  # the width of a head


class BridgetowerVisionModel(Sizes):
    norms: int


def vision_spec(c: Config) -> Spec[BridgetowerVisionModel]:
    """BridgeTower's vision tower: CLIP's, named as it was first published (arXiv:2206.08657)."""
    d, count = c.int("hidden_size"), keys.layer_count(c)
    heads = d // _HEAD
    if not heads or d % heads:
        raise c.error(
            "not-divisible", f"hidden_size is {d:,}, of which heads of {_HEAD} cannot be made.", "hidden_size"
        )
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=d // heads, qkv_bias=True, out_bias=True)
    shorter = count - 1 if c.bool("remove_last_layer", default=False) else count
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=4 * d, bias=True)), shorter)
    sizes = BridgetowerVisionModel.read(c, norms=0 if c.bool("share_layernorm", default=True) else count)
    places = keys.squares(c) + 1
    return keys.encoding(c, layers, hidden=d, positions=places, patches=keys.patches(c)).having(sizes)


def vision_blueprint(s: Spec[BridgetowerVisionModel]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        weight, bias = Tensor((3 * d, d)), Tensor((3 * d,))
        attention = block("attention", in_proj_weight=weight, in_proj_bias=bias, out_proj=Linear(d, d, True))
        network = mlp(d, layer.dense.width, up="c_fc", down="c_proj")
        return block(attn=attention, ln_1=layer_norm(d), mlp=network, ln_2=layer_norm(d))

    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=positions(s),
        position_ids=obsolete(1, s.positions or 0, whole=True),
    )
    norms = Repeat(Indices.below(s.own.norms), layer_norm(d))
    visual = block(
        embeddings=table,
        ln_pre=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer_block)),
        ln_post=layer_norm(d),
        ln_separate=norms if s.own.norms else None,
    )
    return block(visual=visual)


PARTS = (
    families.Family(
        ("bridgetower_vision_model",), vision_spec, vision_blueprint, ignored=("stop_gradient", "initializer_factor")
    ),
)
