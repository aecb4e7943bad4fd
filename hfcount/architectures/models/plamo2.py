"""PLaMo 2: Mamba-2 of another form alternating with attention, norms before and after each part of a layer."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, fused_swiglu, rms_norm, stack, with_head
from hfcount.architectures.layers.mixers import conv1d
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, SSM, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("plamo2",)  # modeling_plamo.py of pfnet/plamo-2-8b, plamo2.py of ml-explore/mlx-lm 0.32.2
IGNORED = ("eval_attention_n_bit", "eval_mlp_n_bit", "full_attention_idx")


def spec(c: Config) -> Spec:
    width, heads = c.int("hidden_size_per_head", default=128), c.int("mamba_num_heads", default=64)
    state = SSM(
        inner=heads * width,
        state=c.int("mamba_d_state", default=64),
        kernel=c.int("mamba_d_conv", default=4),
        heads=heads,
        conv_bias=False,
        step_rank=keys.derived_dim(c, "r_dt", max(64, c.int("hidden_size") // 16), "{hidden_size} / 16, at least 64"),
    )
    heads, kv_heads = c.int("num_attention_heads"), c.int("num_key_value_heads")
    keys.grouped(c, heads, kv_heads)
    mixer = GQA(heads=heads, kv_heads=kv_heads, head_dim=width, qk_norm=True)
    some, rest = _places(c)
    mixers = keys.split((some, lambda: Layer(mixer=mixer)), (rest, lambda: Layer(mixer=state)))
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=keys.dense(c)), keys.layer_count(c)))
    windows = keys.sliding_everywhere(c, default=2048, key="attention_window_size")
    return keys.decoder_spec(c, layers, tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def _places(c: Config) -> tuple[Indices, Indices]:
    """The layers with attention, and the layers with Mamba."""
    count, every = keys.layer_count(c), Indices.below(keys.layer_count(c))
    if not c.bool("mamba_enabled", default=True):
        return every, Indices.below(0)
    step = c.int("mamba_step", default=2, minimum=2, maximum=MAX_LAYERS)
    first = max(count - 1, 0) if count <= step // 2 else step // 2
    attention = Indices.span(first, count, step)
    return attention, every.difference(attention)


def blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        mixer = _attention(d, layer.attention) if isinstance(layer.mixer, GQA) else _mamba(d, layer)
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


def _attention(d: int, a: GQA) -> Block:
    return block(
        "attention",
        qkv_proj=fused_qkv(d, a),
        o_proj=Linear(a.heads * a.head_dim, d),
        q_weight=Tensor((a.heads, a.head_dim)),
        k_weight=Tensor((a.kv_heads, a.head_dim)),
    )


def _mamba(d: int, layer: Layer) -> Block:
    """Mamba whose step, inputs and outputs are projected from the convolution's output, each with a norm."""
    m = layer.mixer
    assert isinstance(m, SSM)
    heads, rank = m.heads or 1, m.step_rank or 0
    return block(
        "ssm",
        in_proj=Linear(d, 2 * m.inner),
        conv1d=conv1d(m.inner, m.kernel),
        bcdt_proj=Linear(m.inner, rank + 2 * m.state),
        dt_proj=Linear(rank, heads),
        dt_bias=Tensor((heads,)),
        A_log=Tensor((heads,)),
        D=Tensor((heads,)),
        dt_norm_weight=Tensor((rank,)),
        B_norm_weight=Tensor((m.state,)),
        C_norm_weight=Tensor((m.state,)),
        out_proj=Linear(m.inner, d),
    )
