"""PLaMo 3: normalised queries and keys, norms before and after each part of a layer, windows in most layers."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, fused_swiglu, rms_norm, stack, with_head
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("plamo3",)  # modeling_plamo.py of pfnet/plamo-3-nict-8b-base, plamo3.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("image_feature_size", "image_proj_type", "linear_type", "rope_local_theta")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, qk_norm=True, head_dim=128)
    key = "sliding_window" if c.int("sliding_window", default=None) else "window_size"
    windows = keys.sliding(c, lambda: keys.all_but_every_nth(c, 8, key="sliding_window_pattern"), default=2048, key=key)
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        mixer = block(
            "attention",
            qkv_proj=fused_qkv(d, a),
            o_proj=Linear(a.heads * a.head_dim, d),
            q_norm=rms_norm(a.head_dim),
            k_norm=rms_norm(a.head_dim),
        )
        return block(
            pre_mixer_norm=norm,
            mixer=mixer,
            post_mixer_norm=norm,
            pre_mlp_norm=norm,
            mlp=fused_swiglu(d, layer.dense.width),
            post_mlp_norm=norm,
        )

    layers = block(layers=stack(s.layers, layer_block))
    return with_head(s, block(embed_tokens=embedding(s.vocab, d), layers=layers, norm=norm))
