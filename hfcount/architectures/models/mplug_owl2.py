"""mPLUG-Owl2: words and images each have keys, values and norms of their own in Llama's layers (arXiv:2311.04257)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, gqa, layer_norm, lm_head, mlp, rms_norm, stack, swiglu
from hfcount.architectures.layers.composite import as_tower
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer

# modeling_mplug_owl2.py, modeling_llama2.py, visual_encoder.py and configuration_mplug_owl2.py of X-PLUG/mPLUG-Owl
MODEL_TYPES = ("mplug_owl2",)
CLASSES = ("MPLUGOwl2LlamaForCausalLM",)
IGNORED = (
    "freeze_vision_model",
    "image_grid_pinpoints",
    "mm_use_im_patch_token",
    "mm_use_im_start_end",
    "tune_visual_abstractor",
    "visual_abstractor_lr",
)

_WAYS = ("0", "1")  # of words, and of images


class Abstractor(Sizes):
    """What queries an image, in layers of cross attention."""

    layers: int = count("N_a", "num_hidden_layers", absent=6)
    hidden: int = size("d_a", "hidden_size", absent=1024)
    seen: int = size("d_v", "encoder_hidden_size", absent=1024)
    width: int = size("d_w", "intermediate_size", absent=2816)
    queries: int = size("n_q", "num_learnable_queries", absent=64)
    side: int = derived(lambda c: keys.dim("g", c.int("grid_size", default=None) or 32))
    classed: bool = flag("use_cls_token", absent=True)


class MplugOwl2(Sizes):
    abstractor: Abstractor


def spec(c: Config) -> Spec[MplugOwl2]:
    known = keys.named(("ForCausalLM",))
    keys.head_of(c, known)
    visual = c.part("visual_config")
    of = visual.part("visual_abstractor")
    of.without_effect("model_type", "add_v2t_pos_emb", "num_attention_heads", "attention_probs_dropout_prob")
    if of.bool("add_v2t_pos_emb", default=False):
        raise of.error("not-described", "add_v2t_pos_emb is true, which the class cannot build.", "add_v2t_pos_emb")
    vision = families.part(visual, "visual_model", always="mplug_owl2_vision")
    bias = c.bool("attention_bias", default=False)
    mixer = keys.attention(c, bias=bias, derived=True, indivisible="refused", alone=True)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    model = keys.decoder_spec(c, layer, heads=known, parts={"vision": vision})
    return model.having(MplugOwl2.read(c, abstractor=Abstractor.read(of)))


def blueprint(s: Spec[MplugOwl2]) -> Block:
    d = s.hidden

    def ways(one: Node) -> Block:
        return block(multiway=Block(dict.fromkeys(_WAYS, one)))

    def layer_block(layer: Layer) -> Block:
        a, norm = layer.attention, ways(rms_norm(d))
        shared = ways(Linear(d, a.kv_heads * a.head_dim, a.qkv_bias))
        attention = altered(gqa(d, a), k_proj=shared, v_proj=shared)
        network = swiglu(d, layer.dense.width)
        return block(self_attn=attention, mlp=network, input_layernorm=norm, post_attention_layernorm=norm)

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        vision_model=families.tower(s, "vision"),
        visual_abstractor=as_tower(_abstractor(s.own.abstractor, d), "projector"),
    )
    return block(model=body, lm_head=lm_head(s, "model.embed_tokens.weight"))


def _abstractor(of: Abstractor, d: int) -> Block:
    n, seen = of.hidden, of.seen
    places = of.side * of.side + 1 if of.classed else of.side * of.side
    key = Linear(seen, n, True)
    attention = block(
        query=Linear(n, n, True),
        key=key,
        value=key,
        q_pos_embed=buffer(of.queries, n),
        k_pos_embed=buffer(places, n),
    )
    into = Linear(n, of.width, True)
    network = block(w1=into, w2=Linear(of.width, n, True), w3=into, ffn_ln=layer_norm(of.width))
    output = block(out_proj=Linear(seen, seen, True), norm2=layer_norm(seen), mlp=network)
    across = block(attention=attention, output=output, norm1=layer_norm(seen), normk=layer_norm(seen))
    return block(
        encoder=block(layers=Repeat(Indices.below(of.layers), block(crossattention=across))),
        visual_fc=Linear(n, d, True),
        query_embeds=Tensor((1, of.queries, n)),
        vit_eos=Tensor((1, 1, d)),
    )


class MplugOwl2Vision(Sizes):
    use_cls_token: bool = flag(absent=True)
    use_post_layernorm: bool = flag(absent=True)


_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 448,
    "patch_size": 14,
}
_PLACES = 256  # without a token of the class, whatever the sizes


def vision_spec(c: Config) -> Spec[MplugOwl2Vision]:
    """The tower of mPLUG-Owl2: CLIP's layers with fused attention (arXiv:2311.04257)."""
    c = c.assuming(_ABSENT)
    sizes, ffn = MplugOwl2Vision.read(c), Dense(width=c.int("intermediate_size"), bias=True)
    squares = keys.squares(c)
    rows = squares + 1 if sizes.use_cls_token else _PLACES
    return keys.tower(c, ffn=ffn, patches=keys.patches(c).replace(channels=3), positions=rows).having(sizes)


def vision_blueprint(s: Spec[MplugOwl2Vision]) -> Block:
    d, of, rows = s.hidden, s.own, s.positions or 0

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=block("attention", query_key_value=Linear(d, 3 * d, True), dense=Linear(d, d, True)),
            input_layernorm=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
            post_attention_layernorm=layer_norm(d),
        )

    places = (1, rows, d) if of.use_cls_token else (rows, d)
    patch = s.patches
    assert patch is not None, "spec() sets them"
    tables = block(
        cls_token=Tensor((1, 1, d), component="embedding") if of.use_cls_token else None,
        patch_embed=block("embedding", weight=Tensor((d, patch.channels, patch.side, patch.side))),
        position_embedding=Tensor(places, component="embedding"),
        pre_layernorm=layer_norm(d),
    )
    return block(
        embeddings=tables,
        encoder=block(layers=stack(s.layers, layer_block)),
        post_layernorm=layer_norm(d) if of.use_post_layernorm else None,
    )


PARTS = (
    families.Family(
        ("mplug_owl2_vision",),
        vision_spec,
        vision_blueprint,
        ignored=("num_channels", "projection_dim", "use_flash_attn", "model_type"),
    ),
)
