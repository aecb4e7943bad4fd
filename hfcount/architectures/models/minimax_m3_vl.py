"""MiniMax-M3: routed experts with sparse attention, a vision tower, and two projectors, one for merged patches."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    correction_bias,
    decoder,
    fused_swiglu,
    gqa,
    layer_norm,
    moe,
    numbered_swiglu,
    pre_norm,
    rms_norm,
    stack,
)
from hfcount.architectures.layers.composite import llava, towers_beside_model
from hfcount.architectures.layers.conversions import LLAVA, W_EXPERTS
from hfcount.architectures.layers.ffn import router, stacked, swiglu
from hfcount.architectures.layers.vision import clip_layer, patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("minimax_m3_vl",)  # transformers 5.23: modeling_minimax_m3_vl.py
IGNORED = ("image_grid_pinpoints", "merged_hidden_size", "num_reward_heads", "vision_feature_layer")
SPELLINGS = {
    **LLAVA,
    r"\.embeddings\.patch_embedding\.": ".embeddings.proj.",
    r"(?<=vision_tower\.)encoder\.layers\.": "layers.",
    r"^patch_merge_mlp\.": "model.multi_modal_projector.merge_",
    r"\.block_sparse_moe\.e_score_correction_bias$": ".mlp.gate.e_score_correction_bias",
    r"\.block_sparse_moe\.(experts|gate|shared_experts)\.": r".mlp.\1.",
    r"\.index_([qk])_(proj|norm)\.": r".indexer.\1_\2.",
}
MERGED = {**W_EXPERTS, "gate_up_proj.weight": ("gate_proj.weight", "up_proj.weight")}


class MinimaxM3Vl(Sizes):
    projector_hidden_size: int = size("d_p")


def spec(c: Config) -> Spec[MinimaxM3Vl]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = MinimaxM3Vl.read(c)
    tied = keys.tied_anywhere(c, c.part("text_config"))
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=tied).having(sizes)


def blueprint(s: Spec[MinimaxM3Vl]) -> Block:
    d, width, vision = s.hidden, s.own.projector_hidden_size, s.part("vision")

    def projector(inputs: int, prefix: str = "") -> Block:
        wide, narrow = Linear(inputs, width, bias=True), Linear(width, d, bias=True)
        return Block({f"{prefix}linear_1": wide, f"{prefix}linear_2": narrow}, "projector")

    merged = vision.seen.merged(d)
    if s.head == "base":  # this has the names of transformers
        both = altered(projector(vision.hidden), **projector(merged, "merge_").children)
        tower = families.tree(vision.replace(place="")).replace(component="vision")
        return towers_beside_model(s, families.base(s), vision_tower=tower, multi_modal_projector=both)
    tower = Block({"vision_model": families.tower(s, "vision")})
    senses = {"multi_modal_projector": projector(vision.hidden), "patch_merge_mlp": projector(merged)}
    return llava(s, families.base(s), vision_tower=tower, **senses)


def text_spec(c: Config) -> Spec:
    """MiniMax-M3's language model: balanced experts with a shared one, and blocks of tokens chosen by an indexer."""
    return keys.decoder_spec(c, _layers(c), heads=("ForCausalLM", "Model"))


def _layers(c: Config) -> list[Layers]:
    """The layers, of which some have an indexer, which scores each token and chooses blocks of them.

    Source: transformers 5.23, configuration_minimax_m3_vl.py and modeling_minimax_m3_vl.py, MiniMaxM3VLIndexer.
    """
    mixer, earlier = keys.attention(c, qk_norm=True), c.sub("sparse_attention_config") or c.as_part()
    count = keys.layer_count(c)
    kinds, flags = c.strs("layer_types"), earlier.ints("sparse_attention_freq")
    networks, steps = c.strs("mlp_layer_types"), c.ints("moe_layer_freq")

    def sparse() -> Layer:
        heads = earlier.int("sparse_num_index_heads", default=None) or c.int("index_n_heads")
        width = earlier.int("sparse_index_dim", default=None) or c.int("index_head_dim")
        block_size = earlier.int("sparse_block_size", default=None) or c.int("index_block_size", default=128)
        blocks = earlier.int("sparse_topk_blocks", default=None) or c.int("index_topk_blocks", default=16)
        index = {"index_heads": keys.dim("h_i", heads), "index_dim": keys.dim("h_di", width)}
        return Layer(mixer=mixer.replace(**index, top_k=blocks * block_size))

    def experts() -> Layer:
        return Layer(ffn=keys.moe(c, "intermediate_size").replace(shared=c.int("shared_intermediate_size")))

    def dense() -> Layer:
        return Layer(ffn=Dense(width=c.int("dense_intermediate_size")))

    some = keys.uniform(Layer(mixer=mixer), count)
    if kinds or flags:
        given = kinds or [("full_attention", "minimax_m3_sparse")[flag > 0] for flag in flags]
        some = keys.by_kind(
            c, {"full_attention": some[0].layer, "minimax_m3_sparse": sparse}, given, otherwise="full_attention"
        )
    if networks or steps:
        given = networks or [("dense", "sparse")[step > 0] for step in steps]
        return keys.combined(some, keys.by_kind(c, {"dense": dense, "sparse": experts}, given, "mlp_layer_types"))
    return keys.combined(some, keys.uniform(experts(), count))


def text_blueprint(s: Spec) -> Block:
    d, within = s.hidden, s.place == "text"  # within the whole model the names are those of the first release

    def attention(layer: Layer) -> Block:
        heads, width = layer.attention.index_heads, layer.attention.index_dim
        if not heads:
            return gqa(d, layer.attention)
        parts: dict[str, Node] = {
            "q_proj": Linear(d, heads * width),
            "k_proj": Linear(d, width),
            "q_norm": rms_norm(width),
            "k_norm": rms_norm(width),
        }
        named: dict[str, Node] = {f"index_{name}": node for name, node in parts.items()}
        return altered(gqa(d, layer.attention), **(named if within else {"indexer": Block(parts)}))

    def network(layer: Layer) -> tuple[str, Block]:
        if not isinstance(layer.ffn, MoE):
            return "mlp", (swiglu if within else fused_swiglu)(d, layer.dense.width)
        m = layer.ffn
        balance = block("router", e_score_correction_bias=correction_bias(m))
        if within:
            routed = moe(d, m, numbered_swiglu(d, m.width, "experts"))
            shared = swiglu(d, m.shared or 0)
            return "block_sparse_moe", altered(routed, shared_experts=shared, **balance.children)
        packed = block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width))
        gate = altered(router(d, m), **balance.children)
        return "mlp", block(gate=gate, experts=packed, shared_experts=fused_swiglu(d, m.shared or 0))

    def layer_block(layer: Layer) -> Block:
        name, ffn = network(layer)
        return pre_norm(d, self_attn=attention(layer), **{name: ffn})

    return decoder(s, layer_block)


def alone_spec(c: Config) -> Spec:
    """MiniMax-M3's language model by itself, with the names that it has in the release of the whole."""
    text = c.sub("text_config") or c.as_part("text_config")
    return keys.decoder_spec(text, _layers(text), whole=c, heads=("ForCausalLM", "Model"))


def alone_blueprint(s: Spec) -> Block:
    return text_blueprint(s.replace(place="text"))


def vision_spec(c: Config) -> Spec:
    """MiniMax-M3's vision tower: CLIP's layers without a class token, and patches that span frames."""
    return keys.tower(
        c, patches=keys.patches(c, frames=c.int("temporal_patch_size"), merge=c.int("spatial_merge_size"))
    )


def vision_blueprint(s: Spec) -> Block:
    d, table, layers = (
        s.hidden,
        patch_convolution(s, bias=False),
        stack(s.layers, lambda layer: clip_layer(s.hidden, layer)),
    )
    if not s.place:
        return block(embeddings=block(proj=table), pre_layrnorm=layer_norm(d), layers=layers)
    # Within the whole model the names are those of the first release.
    return block(embeddings=block(patch_embedding=table), pre_layrnorm=layer_norm(d), encoder=block(layers=layers))


_TEXT_IGNORED = ("rotary_dim", "index_local_blocks", "sparse_attention_config")

PARTS = (
    families.Family(
        ("minimax_m3_vl_text",),
        text_spec,
        text_blueprint,
        ignored=_TEXT_IGNORED,
    ),
    families.Family(
        ("minimax_m3",),
        alone_spec,
        alone_blueprint,
        ignored=_TEXT_IGNORED,
        classes=("MiniMaxM3SparseForCausalLM",),
    ),
    families.Family(("minimax_m3_vl_vision",), vision_spec, vision_blueprint, ignored=("image_size",)),
)
