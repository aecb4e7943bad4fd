"""xLSTM: layers of an LSTM whose memory is a matrix (arXiv:2503.13427)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, rms_norm, stack, with_head
from hfcount.parts.mixers import mlstm
from hfcount.spec import MLSTM, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("xlstm",)  # transformers 5.23: modeling_xlstm.py


def spec(c: Config) -> Spec:
    hidden = c.int("embedding_dim" if c.is_null("hidden_size") else "hidden_size")
    width = c.int("embedding_dim", default=hidden)
    if width != hidden:
        c.cannot_run(f"embedding_dim is {width:,} and hidden_size is {hidden:,}.", "embedding_dim", "Correct one.")
    depth = "num_hidden_layers" if c.is_null("num_blocks") else "num_blocks"
    c.int("num_hidden_layers", default=None)  # without effect beside the other
    layers = keys.alike(keys.mlstm(c, hidden), keys.layer_count(c, depth))
    whole = keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), hidden=hidden, traits={"embedding_dim": width})
    return whole.but(tied=False)  # never tied, even if the config says so


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


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        width, bias, fused = one.dense.width, one.dense.bias, bool(one.traits["fused"])
        return block(
            norm_mlstm=layer_norm(d, bias),
            mlstm_layer=mlstm(d, one.mixer, bias, fused) if isinstance(one.mixer, MLSTM) else None,
            norm_ffn=layer_norm(d, bias),
            ffn=_gated(d, width, bias, fused),
        )

    body = block(
        embeddings=embedding(s.vocab, s.traits["embedding_dim"]), blocks=stack(s.layers, layer), out_norm=rms_norm(d)
    )
    return with_head(s, body, prefix="backbone", table="embeddings")
