"""Apertus: its layers, whose ungated network has an activation that may be trained (arXiv:2509.14233)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, gqa, mlp, rms_norm
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, buffer


class ApertusLayer(Record):
    """How many activations of a layer are trained: 1 for xIELU, else 0."""

    xielu: int


def apertus_spec(c: Config) -> Spec:
    """The spec of Apertus's language model."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), qk_norm=True)
    trained = c.str("hidden_act", default="xielu") == "xielu"
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c), own=ApertusLayer(xielu=int(trained))))


def _xielu() -> Block:
    """The trainable activation xIELU (arXiv:2411.13010).

    Tensors: the two slopes alpha_p and alpha_n (1), and the fixed beta and eps, scalars that are saved as buffers.
    """
    scalar = buffer()
    return block("mlp", alpha_p=Tensor((1,)), alpha_n=Tensor((1,)), beta=scalar, eps=scalar)


def layer_block(d: int, layer: Layer) -> Block:
    """A layer: attention, and an ungated network, with a norm before each."""
    act = _xielu() if layer.sizes(ApertusLayer).xielu else None
    return block(
        attention_layernorm=rms_norm(d),
        self_attn=gqa(d, layer.attention),
        feedforward_layernorm=rms_norm(d),
        mlp=altered(mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj"), act_fn=act),
    )
