"""xLSTM: layers of an LSTM with a matrix for its memory (arXiv:2503.13427)."""

from hfcount import keys
from hfcount.errors import ConfigError
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.block import Block, Linear, block
from hfcount.tree.parts import embedding, layer_norm, rms_norm, stack, with_head

MODEL_TYPES = ("xlstm",)


def spec(c: Config) -> Spec:
    hidden, heads = c.int("hidden_size", "embedding_dim"), c.int("num_heads")
    mode = c.str("weight_mode", default="single")
    if mode not in ("single", "fused"):
        raise ConfigError(f"{c.where}: weight_mode must be single or fused.")
    keys_width = int(hidden * c.number("qk_dim_factor", default=0.5))
    values = int(hidden * c.number("v_dim_factor", default=1.0))
    multiple = c.int("ffn_round_up_to_multiple_of", default=64)
    width = int((hidden * c.number("ffn_proj_factor", default=2.667) + multiple - 1) // multiple * multiple)
    if not (keys_width and values >= heads and width):
        raise ConfigError(f"{c.where}: hidden_size {hidden:,} is too small for its factors and {heads:,} heads.")
    extras = {
        "num_heads": heads,
        "qk_dim": keys_width,
        "v_dim": values,
        "use_bias": int(c.bool("use_bias", default=False)),
        "fused": int(mode == "fused"),
    }
    count = keys.layer_count(c, "num_hidden_layers", "num_blocks")
    layers = keys.alike(Layer(ffn=Dense(width=width)), count)
    whole = keys.frame(c, layers, heads=("ForCausalLM", "Model"), hidden=hidden, extras=extras)
    return whole.model_copy(update={"tied": False})  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    d, heads, keys_width, values = s.hidden, s.extras["num_heads"], s.extras["qk_dim"], s.extras["v_dim"]
    bias, fused = bool(s.extras["use_bias"]), s.extras["fused"]
    separate = {
        "q": Linear(d, keys_width, bias),
        "k": Linear(d, keys_width, bias),
        "v": Linear(d, values, bias),
        "ogate_preact": Linear(d, values, bias),
        "igate_preact": Linear(d, heads, bias=True),
        "fgate_preact": Linear(d, heads, bias=True),
    }
    together = {
        "qkv_opreact": Linear(d, 2 * keys_width + 2 * values, bias),
        "ifgate_preact": Linear(d, 2 * heads, bias=True),
    }
    memory = block(
        "linear_attention",
        **(together if fused else separate),
        multihead_norm=layer_norm(values // heads * heads, bias),
        out_proj=Linear(values, d, bias),
    )

    def layer(one: Layer) -> Block:
        width = one.dense.width
        network = block(
            "mlp",
            proj_up_gate_z=Linear(d, 2 * width, bias) if fused else None,
            proj_up_gate=None if fused else Linear(d, width, bias),
            proj_up=None if fused else Linear(d, width, bias),
            proj_down=Linear(width, d, bias),
        )
        norm = layer_norm(d, bias)
        return block(norm_mlstm=norm, mlstm_layer=memory, norm_ffn=norm, ffn=network)

    body = block(embeddings=embedding(s.vocab, d), blocks=stack(s.layers, layer), out_norm=rms_norm(d))
    return with_head(s, body, prefix="backbone", table="embeddings")
