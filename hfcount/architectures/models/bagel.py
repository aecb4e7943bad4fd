"""BAGEL: Qwen2 with layers of their own for what it draws, SigLIP before it, latents around it (arXiv:2505.14683)."""

from collections.abc import Mapping

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, gqa, rms_norm, stack, swiglu, with_head, within
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.vision import patch_projection
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# bagel.py of ByteDance-Seed/Bagel, qwen2_navit.py and siglip_navit.py beside it, and app.py, which loads them
MODEL_TYPES = ("bagel",)
CLASSES = ("BagelForConditionalGeneration", "Bagel")
IGNORED = ("connector_act", "downsample", "freeze_und", "interpolate_pos", "rope", "timestep_shift")

_FREQUENCIES = 256  # of a timestep, in the implementation
_LAYERS = {"Qwen2DecoderLayer": (), "Qwen2MoEDecoderLayer": ("mlp",), "Qwen2MoTDecoderLayer": ("mlp", "self_attn")}
"""By the class of a layer, what tokens of images that are drawn have of their own."""


class Bagel(Sizes):
    """Sizes specific to BAGEL: whether it draws and sees, places of patches and of latents, and what is doubled."""

    visual_gen: bool = flag(absent=True)
    visual_und: bool = flag(absent=True)
    latent_patch_size: int = size("p_l", absent=2)
    max_latent_size: int = size("n_l", absent=32)
    vit_max_num_patch_per_side: int = size("n_v", absent=70)
    z_channels: int
    doubled: tuple[str, ...]


def spec(c: Config) -> Spec[Bagel]:
    inner, latents = c.part("llm_config"), c.part("vae_config", defaults={"z_channels": 16})
    kind = inner.choice("layer_module", tuple(_LAYERS), default="Qwen2DecoderLayer")
    normed = inner.bool("qk_norm", default=True)
    mixer = keys.attention(inner, qkv_bias=True, qk_norm=normed, derived=True, indivisible="refused")
    sizes = Bagel.read(c, z_channels=keys.dim("z", latents.int("z_channels")), doubled=_LAYERS[kind])
    towers = {}
    if sizes.visual_und:
        vision = families.part(c, "vit_config", "siglip_vision_model")
        # The last layer is left out before the weights are loaded.
        towers["vision"] = vision.replace(layers=keys.uniform(vision.layers[0].layer, max(0, vision.depth - 1)))
    heads = keys.named(("ForConditionalGeneration",), Bagel="conditional_generation")
    layer = Layer(mixer=mixer, ffn=keys.dense(inner))
    return keys.decoder_spec(inner, layer, whole=c, heads=heads, parts=towers).having(sizes)


def blueprint(s: Spec[Bagel]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        attention, network = gqa(d, layer.attention), swiglu(d, layer.dense.width)
        norms: dict[str, Node] = {"input_layernorm": rms_norm(d), "post_attention_layernorm": rms_norm(d)}
        if "self_attn" in of.doubled:
            projections = {name: child for name, child in attention.children.items() if name != "rotary_emb"}
            attention = altered(attention, **_drawing(projections))
            norms |= _drawing(norms)
        children: dict[str, Node] = {"self_attn": attention, "mlp": network, **norms}
        return Block({**children, **(_drawing({"mlp": network}) if of.doubled else {})})

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        norm_moe_gen=_unused(rms_norm(d)) if of.doubled else None,
    )
    language = with_head(s.replace(head="causal_lm"), body)
    return block(
        language_model=rebased(language, "language_model"),
        **(_latents(s) if of.visual_gen else {}),
        **(_seen(s) if of.visual_und else {}),
    )


def _drawing(parts: Mapping[str, Node]) -> dict[str, Node]:
    """The same parts under the names of those for tokens of images that are drawn."""
    return {f"{name}_moe_gen": _unused(part) for name, part in parts.items()}


def _unused(node: Node) -> Node:
    """A part that no token of text uses."""
    if isinstance(node, Block):
        return node.replace(children={name: _unused(child) for name, child in node.children.items()})
    return node.replace(active=(0, 1)) if isinstance(node, Linear | Tensor) else node


def _latents(s: Spec[Bagel]) -> dict[str, Node]:
    """What leads from latents and timesteps into the model, and out again."""
    d, of = s.hidden, s.own
    width, places = of.latent_patch_size * of.latent_patch_size * of.z_channels, of.max_latent_size * of.max_latent_size
    steps = Block({"0": Linear(_FREQUENCIES, d, True), "2": Linear(d, d, True)})
    return {
        "time_embedder": Block({"mlp": steps}, "other", 0),
        "vae2llm": Linear(width, d, True, "projector"),
        "llm2vae": Linear(d, width, True, "projector"),
        "latent_pos_embed": Block({"pos_embed": Tensor((places, d))}, "embedding", 0),
    }


def _seen(s: Spec[Bagel]) -> dict[str, Node]:
    """The tower, whose patches come flattened, and what leads from it into the model."""
    d, vision, side = s.hidden, s.part("vision"), s.own.vit_max_num_patch_per_side
    tower = families.tower(s, "vision")
    flat = within(altered(tower, head=None), embeddings=block(patch_embedding=patch_projection(vision, bias=True)))
    network = Block({"fc1": Linear(vision.hidden, d, True), "fc2": Linear(d, d, True)}, "projector", 0)
    places = Block({"pos_embed": Tensor((side * side, d))}, "embedding", 0)
    return {"vit_model": Block({"vision_model": flat}, "vision", 0), "connector": network, "vit_pos_embed": places}
