"""LED: BART with Longformer's attention in the encoder (arXiv:2004.05150)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding
from hfcount.architectures.layers.seq2seq import bart, bart_layer
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("led",)  # transformers 5.23: modeling_led.py
IGNORED = ("classif_dropout",)

_HEADS = ("ForConditionalGeneration", "Model", "ForQuestionAnswering")
_NAMES = ("query", "key", "value")


class Led(Sizes):
    """Sizes specific to LED: the positions of each side."""

    max_encoder_position_embeddings: int = size()
    max_decoder_position_embeddings: int = size()


def spec(c: Config) -> Spec[Led]:
    sizes = Led.read(c)
    keys.check_even(c, keys.layer_count(c, "encoder_layers"))
    return keys.sequence_to_sequence(c, heads=_HEADS, positions=None).having(sizes)


def blueprint(s: Spec[Led]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)
    near = dict.fromkeys((*_NAMES, *(f"{name}_global" for name in _NAMES)), square)

    def layer_block(layer: Layer, crossed: bool) -> Block:
        usual, attention = (
            bart_layer(d, layer, crossed),
            block("attention", longformer_self_attn=Block(near), output=square),
        )
        return usual if crossed else altered(usual, self_attn=attention)

    return bart(
        s,
        first_norm=True,
        last_norm=False,
        layer=layer_block,
        tables=block(),
        encoder=block(embed_positions=embedding(s.own.max_encoder_position_embeddings, d)),
        decoder=block(embed_positions=embedding(s.own.max_decoder_position_embeddings, d)),
        prefix="led",
    )
