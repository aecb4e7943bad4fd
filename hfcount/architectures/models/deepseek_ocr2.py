"""DeepSeek-OCR 2 and Unlimited OCR: two towers, one after the other, before experts (arXiv:2601.20552)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    base,
    gqa,
    layer_norm,
    mlp,
    network,
    pre_norm,
    rms_norm,
    shared_moe,
    stack,
    swiglu,
    with_head,
)
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.models.deepseek_ocr2_sam_vision_model import DeepseekOcr2Sam
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# transformers 5.23: modeling_deepseek_ocr2.py, modeling_unlimited_ocr.py
MODEL_TYPES = ("deepseek_ocr2", "unlimited_ocr")
IGNORED = ("candidate_resolutions", "projector_config", "tile_tag")
# Names of DeepSeek's models that read documents, in their releases.
SPELLINGS = {
    r"(?:^|(?<=^model\.))(?=(?:embed_tokens|layers|norm)\.)": "language_model.",
    r"\bsam_model\.": "vision_tower.sam_encoder.",
    r"\bqwen2_model\.model\.model\.": "vision_tower.vision_encoder.",
    r"\bqwen2_model\.(query_\d+)\.": r"vision_tower.\1_resolution.",
    r"\bvision_model\.": "vision_tower.vision_encoder.",
    r"\bprojector\.layers\.": "multi_modal_projector.",
    r"\bview_seperator$": "view_separator",
}
MERGED = packed()


def spec(c: Config) -> Spec:
    family = c.family
    key = "language_config" if not c.sub("text_config") and c.sub("language_config") else "text_config"
    text = families.part(c, key, f"{family}_text")
    towers = {"vision": families.part(c, "vision_config", f"{family}_vision")}
    return keys.composite(c, text, towers, key=key, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    d, vision = s.hidden, s.part("vision")
    newline = s.family == "unlimited_ocr"
    vision_width = vision.hidden + vision.part("sam").sizes(DeepseekOcr2Sam).second if newline else vision.hidden
    towers = {name: Block({**part.children}, "vision", 0) for name, part in _towers(vision)}
    more: dict[str, Node] = {
        **towers,
        "projector": block("projector", layers=Linear(vision_width, d, True)),
        "view_seperator": Tensor((d,), component="projector"),
    }
    if newline:
        more["image_newline"] = Tensor((d,), component="projector")
    return with_head(s, Block({**families.base(s).children, **more}))


def _towers(vision: Spec) -> list[tuple[str, Block]]:
    return [(name, child) for name, child in families.tree(vision).children.items() if isinstance(child, Block)]


def text_spec(c: Config) -> Spec:
    """The language model of DeepSeek-OCR 2 and Unlimited OCR: plain attention, experts routed and shared."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), derived=True, indivisible="refused")
    bias, places = c.bool("mlp_bias", default=False), keys.dense_and_sparse(c, "first_k_dense_replace", default=1)
    layers = keys.networks(c, places, lambda: keys.deepseek_moe(c).replace(bias=bias), mixer, bias=bias)
    kind, every = "reference_sliding_attention", Indices.below(keys.layer_count(c))
    windows = keys.sliding(c, lambda: every, default=128, kind=kind) if c.family == "unlimited_ocr_text" else ()
    return keys.decoder_spec(c, layers, heads=("Model",), windows=windows)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        ffn = network(d, layer, lambda m: shared_moe(d, m, bias=m.bias))
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=ffn)

    return base(s, layer_block)


def vision_spec(c: Config) -> Spec:
    """The towers of DeepSeek-OCR 2 and Unlimited OCR: one for details, and one after it that sees all of them."""
    family, second = (
        ("deepseek_ocr2", "encoder") if c.family.startswith("deepseek") else ("unlimited_ocr", "vision_encoder")
    )
    towers = {
        "sam": families.part(c, "sam_config", f"{family}_sam_vision_model"),
        "encoder": families.part(c, "encoder_config", f"{family}_{second}"),
    }
    return keys.encoding(c, (), hidden=towers["encoder"].hidden, parts=towers)


def vision_blueprint(s: Spec) -> Block:
    fine, second = s.part("sam"), s.part("encoder")
    released, asked = bool(s.place), s.family.startswith("deepseek")
    if asked and not released:  # alone, it has the names of transformers
        fine, second = fine.replace(place=""), second.replace(place="")
    detail, encoder = families.tree(fine), families.tree(second)
    if not asked:
        names = ("sam_model", "vision_model") if released else ("sam_encoder", "vision_encoder")
        return Block({names[0]: detail, names[1]: encoder})

    def queries(across: int) -> Block:
        return block("embedding", weight=Tensor((across * across, s.hidden)))

    small, large = queries(12), queries(16)  # for images of 768 and of 1,024 pixels
    if released:
        return block(sam_model=detail, qwen2_model=Block({**encoder.children, "query_768": small, "query_1024": large}))
    more: dict[str, Node] = {"query_768_resolution": small, "query_1024_resolution": large}
    return Block({"sam_encoder": detail, "vision_encoder": encoder, **more})


def encoder_spec(c: Config) -> Spec:
    """DeepSeek-OCR 2's second tower: Qwen2's layers without a table of words, over patches and queries."""
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    layers, windows = keys.uniform(layer, keys.layer_count(c)), keys.sliding_later(c, first=28)
    return keys.encoding(c, layers, hidden=c.int("hidden_size"), windows=windows)


def encoder_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    body = block(layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return block(model=block(model=body)) if s.place else body  # in a tower the names are those of the release


def unlimited_vision_spec(c: Config) -> Spec:
    """Unlimited OCR's second tower: CLIP's layers over what the first one gives, with fused projections."""
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1)


def unlimited_vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            layer_norm1=layer_norm(d),
            self_attn=block("attention", qkv_proj=Linear(d, 3 * d, True), out_proj=Linear(d, d, True)),
            layer_norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
        )

    # The first tower's output takes the place of patches; releases also hold the projection that it replaces.
    weight = Tensor((d, *s.seen.kernel), presence="obsolete")
    first = Tensor((d,), component="embedding")
    table = block(class_embedding=first, patch_embedding=block(weight=weight), position_embedding=positions(s))
    layers = stack(s.layers, layer_block)
    return block(embeddings=table, pre_layrnorm=layer_norm(d), transformer=block(layers=layers))


PARTS = (
    families.Family(("deepseek_ocr2_text", "unlimited_ocr_text"), text_spec, text_blueprint, merged=packed()),
    families.Family(("deepseek_ocr2_vision", "unlimited_ocr_vision"), vision_spec, vision_blueprint),
    families.Family(("deepseek_ocr2_encoder",), encoder_spec, encoder_blueprint, ignored=("vocab_size",)),
    families.Family(
        ("unlimited_ocr_vision_encoder",),
        unlimited_vision_spec,
        unlimited_vision_blueprint,
        spellings={r"\btransformer\.": "encoder."},
        merged={
            f"self_attn.qkv_proj.{end}": tuple(f"self_attn.{letter}_proj.{end}" for letter in "qkv")
            for end in ("weight", "bias")
        },
    ),
)
