"""xLSTM: layers of an LSTM whose memory is a matrix (arXiv:2503.13427)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, rms_norm, stack, with_head
from hfcount.mapper import Config, Sizes, derived
from hfcount.spec import MLSTM, Dense, Layer, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("xlstm",)  # transformers 5.23: modeling_xlstm.py


def _fused(c: Config) -> bool:
    return c.choice("weight_mode", ("single", "fused"), "single") == "fused"


class XLstm(Sizes):
    """Sizes specific to xLSTM; `fused` says whether projections of the same input are one."""

    embedding_dim: int
    fused: bool = derived(_fused)


def spec(c: Config) -> Spec[XLstm]:
    hidden = c.int("embedding_dim" if c.is_null("hidden_size") else "hidden_size")
    width = c.int("embedding_dim", default=hidden)
    if width != hidden:
        c.cannot_run(
            "contradiction",
            f"embedding_dim is {width:,} and hidden_size is {hidden:,}.",
            "embedding_dim",
            "Correct one.",
        )
    depth = "num_hidden_layers" if c.is_null("num_blocks") else "num_blocks"
    c.int("num_hidden_layers", default=None)  # without effect beside the other
    heads, sizes = c.int("num_heads"), XLstm.read(c, embedding_dim=width)
    layers = keys.uniform(_layer(c, hidden, heads), keys.layer_count(c, depth))
    model = keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), hidden=hidden)
    return model.replace(tied=False).having(sizes)  # never tied, even if the config says so


def _layer(c: Config, hidden: int, heads: int) -> Layer:
    """An LSTM with a matrix memory and the network after it, with widths relative to the hidden size.

    Source of defaults: transformers 5.23, configuration_xlstm.py, xLSTMConfig.
    """
    inner, values = c.times("qk_dim_factor", hidden, default=0.5), c.times("v_dim_factor", hidden, default=1.0)
    multiple = c.int("ffn_round_up_to_multiple_of", default=64)
    width = round_up(c.times("ffn_proj_factor", hidden, default=2.667), multiple)
    if not (inner and values >= heads and width):
        raise c.error(
            "out-of-range", f"hidden_size {hidden:,} is too small for its factors and {heads:,} heads.", "hidden_size"
        )
    bias = c.bool("use_bias", default=False)
    mixer = MLSTM(heads=heads, key_dim=inner, value_dim=values)
    return Layer(mixer=mixer, ffn=Dense(width=width, bias=bias))


def _gated(d: int, width: int, bias: bool, fused: bool) -> Block:
    """The gated network. Tensors: proj_up_gate and proj_up (d_ff, d), or `fused` proj_up_gate_z (2·d_ff, d);
    proj_down (d, d_ff).
    """
    return block(
        "mlp",
        proj_up_gate_z=Linear(d, 2 * width, bias) if fused else None,
        proj_up_gate=None if fused else Linear(d, width, bias),
        proj_up=None if fused else Linear(d, width, bias),
        proj_down=Linear(width, d, bias),
    )


def blueprint(s: Spec[XLstm]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width, bias, fused = layer.dense.width, layer.dense.bias, s.own.fused
        return block(
            norm_mlstm=layer_norm(d, bias),
            mlstm_layer=_mlstm(d, layer.mixer, bias, fused) if isinstance(layer.mixer, MLSTM) else None,
            norm_ffn=layer_norm(d, bias),
            ffn=_gated(d, width, bias, fused),
        )

    body = block(
        embeddings=embedding(s.vocab, s.own.embedding_dim), blocks=stack(s.layers, layer_block), out_norm=rms_norm(d)
    )
    return with_head(s, body, prefix="backbone", table="embeddings")


def _mlstm(d: int, m: MLSTM, bias: bool, fused: bool) -> Block:
    """An LSTM with a matrix memory for each of l heads (arXiv:2405.04517, in the form of arXiv:2503.13427).

    Tensors, for keys of l_dk = q and values of l_dv = v elements: q and k (q, d), v and ogate_preact (v, d),
    igate_preact and fgate_preact (l, d), which always have biases; with `fused` instead qkv_opreact (2·q + 2·v, d) and
    ifgate_preact (2·l, d); multihead_norm (v), out_proj (d, v).
    """
    heads, keys, values = m.heads, m.key_dim, m.value_dim
    separate = {
        "q": Linear(d, keys, bias),
        "k": Linear(d, keys, bias),
        "v": Linear(d, values, bias),
        "ogate_preact": Linear(d, values, bias),
        "igate_preact": Linear(d, heads, bias=True),
        "fgate_preact": Linear(d, heads, bias=True),
    }
    together = {"qkv_opreact": Linear(d, 2 * keys + 2 * values, bias), "ifgate_preact": Linear(d, 2 * heads, bias=True)}
    return block(
        "linear_attention",
        **(together if fused else separate),
        multihead_norm=layer_norm(values // heads * heads, bias),
        out_proj=Linear(values, d, bias),
    )
