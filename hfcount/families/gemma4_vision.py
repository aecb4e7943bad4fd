"""Gemma 4's vision tower: positions of rows and of columns, Gemma's layers (model card of google/gemma-4-31B-it)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import rms_norm, stack
from hfcount.parts.gemma import clippable
from hfcount.parts.vision import patch_projection
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("gemma4_vision",)  # transformers 5.23: modeling_gemma4.py
IGNORED = ("default_output_length", "pooling_kernel_size")


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.dense(c))
    layers = keys.alike(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    switches = {name: c.bool(name, default=False) for name in ("use_clipped_linears", "standardize")}
    hidden, rows = c.int("hidden_size"), c.int("position_embedding_size")
    return keys.encoding(c, layers, hidden=hidden, patches=keys.patches(c), positions=rows, traits=switches)


def blueprint(s: Spec) -> Block:
    d, clipped = s.hidden, bool(s.traits["use_clipped_linears"])

    def layer(one: Layer) -> Block:
        a, width, norm = one.attention, one.dense.width, rms_norm(d)
        query, keys_ = a.heads * a.head_dim, a.kv_heads * a.head_dim
        attention = block(
            "attention",
            q_proj=clippable(d, query, clipped),
            k_proj=clippable(d, keys_, clipped),
            v_proj=clippable(d, keys_, clipped),
            o_proj=clippable(query, d, clipped),
            q_norm=rms_norm(a.head_dim),
            k_norm=rms_norm(a.head_dim),
        )
        wide = clippable(d, width, clipped)
        return block(
            self_attn=attention,
            mlp=block("mlp", gate_proj=wide, up_proj=wide, down_proj=clippable(width, d, clipped)),
            input_layernorm=norm,
            post_attention_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
        )

    table = block(
        "embedding", input_proj=patch_projection(s), position_embedding_table=Tensor((2, s.positions or 0, d))
    )
    scale = buffer(d) if s.traits["standardize"] else None
    layers = block(layers=stack(s.layers, layer))
    return block(patch_embedder=table, encoder=layers, std_bias=scale, std_scale=scale)
