"""Gemma 4: wider heads where attention is global, keys that serve as values, layers that borrow the keys and values of
earlier ones, and an embedding for every layer (model card of google/gemma-4-31B-it)."""

from hfcount import keys
from hfcount.errors import ConfigError
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec, Vision
from hfcount.tree.block import Block, Linear, Node, Tensor, block
from hfcount.tree.indices import Indices, common
from hfcount.tree.parts import base, rms_norm, stacked, swiglu, with_head
from hfcount.tree.parts.audio import conformer
from hfcount.tree.parts.composite import joined
from hfcount.tree.parts.gemma import lending_attention, per_layer_input, per_layer_tables
from hfcount.tree.parts.vision_gemma import gemma4_vision

MODEL_TYPES = ("gemma4", "gemma4_text")

_TOWER = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 16,
    "num_attention_heads": 12,
    "num_key_value_heads": 12,
    "head_dim": 64,
    "patch_size": 16,
    "position_embedding_size": 10240,
}
"""What absent keys of vision_config mean: transformers 5.23, configuration_gemma4.py."""


_EARS = {
    "hidden_size": 1024,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "conv_kernel_size": 5,
    "output_proj_dims": 1536,
}
"""The same of audio_config."""


def spec(c: Config) -> Spec:
    text = c if c.family == "gemma4_text" else c.part("text_config")
    per_layer = text.int("hidden_size_per_layer_input", default=256, minimum=0)
    extras = {"per_layer": per_layer}
    if per_layer:
        extras["per_layer_vocab"] = text.int("vocab_size_per_layer_input", default=262_144)
    if text is c:
        return keys.frame(c, _layers(c), tied=True, extras=extras, heads=("ForCausalLM", "Model"))
    eyes = c.sub("vision_config")
    ears = c.sub("audio_config")
    extras |= _audio(c.part("audio_config", defaults=_EARS)) if ears else {}
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    vision = _vision(c.part("vision_config", defaults=_TOWER)) if eyes else None
    return keys.frame(text, _layers(text), whole=c, tied=True, heads=heads, vision=vision, extras=extras)


def _layers(c: Config) -> list[Layers]:
    count = keys.layer_count(c)
    borrowing = Indices.of(range(count - min(count, c.int("num_kv_shared_layers", default=0, minimum=0)), count))
    same, bias = c.bool("attention_k_eq_v", default=False), c.bool("attention_bias", default=False)
    local = keys.attention(c, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    heads = c.int("num_global_key_value_heads", default=None) if same else None
    far = local.model_copy(
        update={"head_dim": c.int("global_head_dim", default=512), "kv_heads": heads or local.kv_heads}
    )
    far = GQA.model_validate(far.model_dump())
    kinds: list[tuple[Indices, Layer]] = []
    for sliding, indices in _placed(c, count):
        late = common(indices, borrowing)
        for found, borrows in ((indices.less(late), 0), (late, 1)):
            extras = {"values": int(sliding or not same), "borrows": borrows}
            layer = Layer(mixer=local if sliding else far, ffn=_network(c, bool(borrows)), extras=extras)
            kinds.append((found, layer))
    return [Layers(indices=found, layer=layer) for found, layer in kinds if found.count]


def _placed(c: Config, count: int) -> list[tuple[bool, Indices]]:
    given = c.strs("layer_types")
    if given:
        sorts = {"full_attention": Layer(), "sliding_attention": Layer(extras={"sliding": 1})}
        placed = keys.by_kind(c, sorts, [*given[:-1], "full_attention"])
        return [(bool(part.layer.extras), part.indices) for part in placed]
    full = Indices.of(range(5, count, 6))
    last = Indices.of(() if count - 1 in full else (count - 1,))
    return [(True, Indices.upto(count).less(full, last)), (False, full), (False, last)]


def _network(c: Config, borrows: bool) -> Dense | MoE:
    width = c.int("intermediate_size") * (2 if borrows and c.bool("use_double_wide_mlp", default=False) else 1)
    if not c.bool("enable_moe_block", default=False):
        return Dense(width=width)
    return MoE.model_validate(
        keys.moe(c, "moe_intermediate_size", active=("top_k_experts",)).model_dump() | {"shared": width}
    )


def _audio(ears: Config) -> dict[str, int]:
    keys.seeing(ears)
    channels = ears.ints("subsampling_conv_channels", default=(128, 32))
    if len(channels) != 2:
        raise ConfigError(f"{ears.where}: subsampling_conv_channels has {len(channels):,} entries, and must have 2.")
    sizes = {name: ears.int(name, maximum=MAX_LAYERS) for name in _EARS}
    clipped = int(ears.bool("use_clipped_linears", default=True))
    return {**sizes, "subsampling_0": channels[0], "subsampling_1": channels[1], "use_clipped_linears": clipped}


def _vision(eyes: Config) -> Vision:
    side = eyes.int("patch_size")
    sizes = {name: eyes.int(name) for name in ("num_attention_heads", "num_key_value_heads", "head_dim")}
    switches = {name: int(eyes.bool(name, default=False)) for name in ("use_clipped_linears", "standardize")}
    return Vision(
        hidden=eyes.int("hidden_size"),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        positions=eyes.int("position_embedding_size"),
        extras={**sizes, **switches},
    )


def blueprint(s: Spec) -> Block:
    d, norm, per_layer = s.hidden, rms_norm(s.hidden), s.extras["per_layer"]

    def routed(m: MoE) -> Block:
        router = block(
            "router",
            proj=Linear(d, m.experts),
            scale=Tensor((d,)),
            per_expert_scale=Tensor((m.experts,)),
        )
        return block(
            router=router,
            experts=block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
            post_feedforward_layernorm_1=norm,
            post_feedforward_layernorm_2=norm,
            pre_feedforward_layernorm_2=norm,
        )

    def layer(one: Layer) -> Block:
        ffn = one.ffn
        experts = routed(ffn).children if isinstance(ffn, MoE) else {}
        width = ffn.shared or 0 if isinstance(ffn, MoE) else one.dense.width
        named = block(
            self_attn=lending_attention(d, one.attention, bool(one.extras["values"]), bool(one.extras["borrows"])),
            mlp=swiglu(d, width),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            layer_scalar=Tensor((1,), "buffer"),
        )
        own = per_layer_input(d, per_layer) if per_layer else {}
        return Block({**named.children, **own, **experts})

    tables = per_layer_tables(d, s.depth, s.extras["per_layer_vocab"], per_layer) if per_layer else {}
    body = Block({**base(s, layer).children, **tables})
    if s.family == "gemma4_text" or s.head == "causal_lm":
        return with_head(s, body)
    parts: dict[str, Node] = {}
    if s.vision:
        of = s.vision.extras
        a = GQA(heads=of["num_attention_heads"], kv_heads=of["num_key_value_heads"], head_dim=of["head_dim"])
        parts["vision_tower"] = gemma4_vision(
            s.vision, a.heads, a.kv_heads, a.head_dim, of["use_clipped_linears"], of["standardize"]
        )
        parts["embed_vision"] = block("vision", embedding_projection=Linear(s.vision.hidden, d))
    if "hidden_size" in s.extras:
        of = s.extras
        channels = (of["subsampling_0"], of["subsampling_1"])
        parts["audio_tower"] = conformer(
            of["hidden_size"],
            of["num_hidden_layers"],
            of["num_attention_heads"],
            of["conv_kernel_size"],
            *channels,
            of["output_proj_dims"],
            bool(of["use_clipped_linears"]),
        )
        parts["embed_audio"] = block("other", embedding_projection=Linear(of["output_proj_dims"], d))
    return joined(s, body, **parts)
