"""LED: BART with Longformer's attention in the encoder (arXiv:2004.05150)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding
from hfcount.parts.seq2seq import bart, bart_layer
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("led",)  # transformers 5.23: modeling_led.py
IGNORED = ("classif_dropout", "gradient_checkpointing")

_HEADS = ("ForConditionalGeneration", "Model", "ForQuestionAnswering")
_NAMES = ("query", "key", "value")


def spec(c: Config) -> Spec:
    rows = {f"{side}_rows": c.int(f"max_{side}_position_embeddings") for side in ("encoder", "decoder")}
    keys.check_even(c, keys.layer_count(c, "encoder_layers"))
    return keys.sequence_to_sequence(c, heads=_HEADS, positions=None, traits=rows)


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)
    near = dict.fromkeys((*_NAMES, *(f"{name}_global" for name in _NAMES)), square)

    def layer(one: Layer, crossed: bool) -> Block:
        usual, own = bart_layer(d, one, crossed), block("attention", longformer_self_attn=Block(near), output=square)
        return usual if crossed else altered(usual, self_attn=own)

    encoder, decoder = (
        block(embed_positions=embedding(s.traits[f"{side}_rows"], d)) for side in ("encoder", "decoder")
    )
    return bart(
        s,
        first_norm=True,
        last_norm=False,
        layer=layer,
        tables=block(),
        encoder=encoder,
        decoder=decoder,
        prefix="led",
    )
