"""Timer: a decoder over stretches of a series, with a head for each horizon (arXiv:2402.02368)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack, swiglu
from hfcount.architectures.layers.classic import mha
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("timer",)  # modeling_timer.py of thuml/timer-base-84m
CLASSES = ("TimerForPrediction", "TimerModel")


class Timer(Sizes):
    """How many points a stretch has, and how many each head tells."""

    stretch: int = size("n_i", "input_token_len")
    horizons: tuple[int, ...]


def spec(c: Config) -> Spec[Timer]:
    d, lengths = c.int("hidden_size"), c.ints("output_token_lens", minimum=1)
    attention = keys.multi_head(c, d, c.int("num_attention_heads"), bias=False, qkv_bias=True)
    known = keys.named(("Model",), ForPrediction="prediction")
    horizons = tuple(keys.dim(f"t{place + 1}", one) for place, one in enumerate(lengths))
    layer = Layer(mixer=attention, ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=known).having(Timer.read(c, horizons=horizons))


def blueprint(s: Spec[Timer]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=mha(d, layer.attention, "o_proj"),
            ffn_layer=swiglu(d, layer.dense.width),
            norm1=layer_norm(d),
            norm2=layer_norm(d),
        )

    body = block(
        embed_layer=block("embedding", emb=Linear(of.stretch, d)),
        layers=stack(s.layers, layer_block),
        norm=layer_norm(d),
    )
    if s.head == "base":
        return body
    heads = {str(place): Linear(d, length, component="other") for place, length in enumerate(of.horizons)}
    return block(model=body, lm_heads=Block(heads))
