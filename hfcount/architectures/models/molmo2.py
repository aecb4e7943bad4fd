"""Molmo 2: SigLIP-like patches, several layers of which an adapter pools, before a Qwen- or OLMo-like model."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.vision import patch_projection
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("molmo2",)  # transformers 5.23: modeling_molmo2.py
IGNORED = ("image_high_res_id", "image_low_res_id", "image_patch_id", "use_frame_special_tokens")
# Molmo 2's names in its release.
SPELLINGS = {
    r"(?<!image_vit\.)\btransformer\.ln_f\.": "language_model.norm.",
    r"(?<!image_vit\.)\btransformer\.blocks\.": "language_model.layers.",
    r"(?<!image_vit\.)\btransformer\.wte\.": "language_model.wte.",
    r"\bvision_backbone\.image_vit\.(?:transformer\.resblocks\.(?=\d))?": "vision_tower.",
    r"(?<=\bvision_tower\.)(?=\d)": "layers.",
    r"\bvision_backbone\.(?=image_p)": "multi_modal_projector.",
    **{rf"\b(attention|image_pooling_2d)\.w{letter}\.": rf"\1.{letter}_proj." for letter in "qkvo"},
    r"\.attention\.": ".self_attn.",
    r"\.feed_forward\.w([12])\.": r".mlp.fc\1.",
    r"\.attention_norm\.": ".layer_norm1.",
    r"\.ffn_norm\.": ".layer_norm2.",
    r"\bimage_projector\.w1\.": "image_projector.gate_proj.",
    r"\bimage_projector\.w2\.": "image_projector.down_proj.",
    r"\bimage_projector\.w3\.": "image_projector.up_proj.",
    r"\.attn_norm\.": ".input_layernorm.",
    r"\.ff_norm\.": ".post_attention_layernorm.",
    r"\.attn_out\.": ".o_proj.",
    r"\.mlp\.ff_out\.": ".mlp.down_proj.",
}
ALLOTTED = (("wte.embedding", "wte.new_embedding"),)  # which transformers 5.24 saves as two equal parts
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text, adapter = families.part(c, "text_config"), families.part(c, "adapter_config", "molmo2_adapter")
    older = not c.sub("vision_config") and c.sub("vit_config")
    vision = families.part(c, "vit_config" if older else "vision_config", "molmo2_vision")
    if older:  # whose layers after the last that is read are not stored
        ids = c.part("adapter_config").ints("vit_layers", "vision_feature_layer", default=(24, 18))
        vision = vision.replace(
            layers=keys.uniform(vision.layers[0].layer, max(place % vision.depth for place in ids) + 1)
        )
    towers = {"vision": vision, "adapter": adapter}
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    adapter = families.tree(s.part("adapter"))
    backbone = Block({"image_vit": families.tower(s, "vision"), **adapter.children})
    inner = Block({"transformer": families.base(s), "vision_backbone": Block(backbone.children, repeats=0)})
    if s.head == "base":
        return inner
    return Block({"model": inner, "lm_head": Linear(s.hidden, s.vocab, component="lm_head")})


class Molmo2Text(Sizes):
    additional_vocab_size: int = size("|V_a|", minimum=0)


def text_spec(c: Config) -> Spec[Molmo2Text]:
    """Molmo 2's language model: queries and keys normalised, norms before or after, extra rows for special tokens."""
    wide = c.str("qk_norm_type", default="qwen3") == "olmo"
    mixer = keys.attention(c, qkv_bias=c.bool("qkv_bias", "attention_bias", default=False))
    layer = Layer(mixer=mixer.replace(qk_norm="width" if wide else True), ffn=keys.dense(c))
    sizes = Molmo2Text.read(c)
    return keys.decoder_spec(c, layer, heads=("Model",)).replace(tied=False).having(sizes)


def text_blueprint(s: Spec[Molmo2Text]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        query, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        wide = a.qk_norm == "width"
        return block(
            self_attn=block(
                "attention",
                att_proj=Linear(d, query + 2 * keys_, a.qkv_bias),
                attn_out=Linear(query, d),
                q_norm=rms_norm(query if wide else a.head_dim),
                k_norm=rms_norm(keys_ if wide else a.head_dim),
            ),
            mlp=block("mlp", ff_proj=Linear(d, 2 * width), ff_out=Linear(width, d)),
            attn_norm=rms_norm(d),
            ff_norm=rms_norm(d),
        )

    def table(first: int, second: int) -> Block:
        return block("embedding", embedding=Tensor((first, d)), new_embedding=Tensor((second, d)))

    more, layers, norm = s.own.additional_vocab_size, stack(s.layers, layer_block), rms_norm(d)
    if s.place:  # the names are those of the release
        return block(wte=table(s.vocab, more), blocks=layers, ln_f=norm)
    half = (s.vocab + more + 1) // 2  # alone, its table is written in two equal parts
    return block(wte=table(half, s.vocab + more - half), layers=layers, norm=norm)


def vision_spec(c: Config) -> Spec:
    """Molmo 2's vision tower: SigLIP's layers over flattened patches, without a last norm."""
    side = c.int("image_patch_size", default=None) or c.int("patch_size")
    sides = c.ints("image_default_input_size", "image_size", default=(378, 378))
    rows = c.int("image_num_pos", "num_position_embeddings", default=None)
    rows = sides[0] // side * (sides[-1] // side) if rows is None else rows
    bias = c.bool("attention_bias", default=True)
    mixer = keys.attention(c, bias=bias)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=True))
    patches = Patches(side=side, channels=c.int("num_channels", default=3))
    layers = keys.uniform(layer, keys.layer_count(c))
    return keys.encoding(c, layers, hidden=c.int("hidden_size"), patches=patches, positions=rows)


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        if not s.place:
            network = mlp(d, width)
            return block(
                layer_norm1=layer_norm(d), self_attn=mha(d, a, "o_proj"), layer_norm2=layer_norm(d), mlp=network
            )
        query, shared = a.heads * a.head_dim, Linear(d, a.kv_heads * a.head_dim, a.qkv_bias)
        wq, wo = Linear(d, query, a.qkv_bias), Linear(query, d, a.out_bias)
        return block(
            attention=block("attention", wq=wq, wk=shared, wv=shared, wo=wo),
            feed_forward=mlp(d, width, up="w1", down="w2"),
            attention_norm=layer_norm(d),
            ffn_norm=layer_norm(d),
        )

    table, layers = Tensor((s.positions or 0, d), component="embedding"), stack(s.layers, layer_block)
    first = block(positional_embedding=table, patch_embedding=patch_projection(s, bias=True))
    last = block(transformer=block(resblocks=layers)) if s.place else block(layers=layers)
    return Block({**first.children, **last.children})


class Molmo2Adapter(Sizes):
    vision_feature_layer: int


def adapter_spec(c: Config) -> Spec[Molmo2Adapter]:
    """Molmo 2's adapter: attention that pools patches of several layers of the tower, then SwiGLU."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=True))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size"), bias=c.bool("mlp_bias", default=False)))
    read = c.length("vit_layers", "vision_feature_layer")
    return keys.encoding(
        c,
        keys.uniform(layer, 1),
        {"Adapter": "base"},
        hidden=c.int("hidden_size"),
        out=c.int("text_hidden_size"),
    ).having(Molmo2Adapter.read(c, vision_feature_layer=keys.dim("n_v", 2 if read is None else read)))


def adapter_blueprint(s: Spec[Molmo2Adapter]) -> Block:
    d, layer = s.hidden, s.layers[0].layer
    a, width, bias = layer.attention, layer.dense.width, layer.dense.bias
    vision_width, query = s.own.vision_feature_layer * d, a.heads * a.head_dim
    shared = Linear(vision_width, a.kv_heads * a.head_dim, a.qkv_bias)
    pooling = [Linear(vision_width, query, a.qkv_bias), shared, shared, Linear(query, d, a.out_bias)]
    network = [Linear(d, width, bias), Linear(d, width, bias), Linear(width, s.output)]
    # Within the whole model the names are those of the release.
    names = ("wq", "wk", "wv", "wo") if s.place else ("q_proj", "k_proj", "v_proj", "o_proj")
    others = ("w1", "w3", "w2") if s.place else ("gate_proj", "up_proj", "down_proj")
    return block(
        "projector",
        image_pooling_2d=Block(dict(zip(names, pooling, strict=True))),
        image_projector=Block(dict(zip(others, network, strict=True))),
    )


PARTS = (
    families.Family(("molmo2_text",), text_spec, text_blueprint, ignored=("rope_scaling_layers",), allotted=ALLOTTED),
    families.Family(("molmo2_vision",), vision_spec, vision_blueprint),
    families.Family(("molmo2_adapter",), adapter_spec, adapter_blueprint),
)
