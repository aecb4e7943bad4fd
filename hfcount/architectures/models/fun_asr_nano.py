"""Fun-ASR-Nano: SAN-M's encoder and a small transformer before a language model (arXiv:2509.12508)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, layer_norm, mlp, pre_norm, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.temporal import conv
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, size
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("fun_asr_nano",)  # transformers 5.23: modeling_fun_asr_nano.py


class Adaptor(Sizes):
    """A small transformer between the tower and the language model."""

    hidden_size: int = count("d_p")
    intermediate_size: int = count("d_pf")
    num_hidden_layers: int = count("N_p")
    projector_hidden_size: int = count("d_q")


def spec(c: Config) -> Spec[Adaptor]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    config = c.part("adaptor_config")
    sizes = Adaptor.read(config)
    config.int("num_attention_heads", default=1)  # its heads share the width
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(sizes)


def blueprint(s: Spec[Adaptor]) -> Block:
    of, heard = s.own, s.part("audio").hidden
    d, wide = of.hidden_size, of.projector_hidden_size
    layer = pre_norm(d, layer_norm, self_attn=square_attention(d), mlp=mlp(d, of.intermediate_size))
    projector = block(
        "projector",
        linear_1=Linear(heard, wide, True),
        linear_2=Linear(wide, d, True),
        layers=Repeat(Indices.below(of.num_hidden_layers), layer),
    )
    return towers_in_model(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)


class FunAsrNanoEncoder(Sizes):
    fsmn_kernel_size: int = size("w")


class FunAsrNanoEncoderLayer(Record):
    inputs: int
    end: bool


def encoder_spec(c: Config) -> Spec[FunAsrNanoEncoder]:
    """SAN-M: attention with a memory of the frames around, first over stacked frames (arXiv:2006.01713)."""
    d, count = c.int("hidden_size"), keys.layer_count(c)
    inputs = c.int("num_mel_bins") * c.int("num_stacked_frames")
    later = c.int("num_timestamp_prediction_layers", minimum=0, maximum=MAX_LAYERS)
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads"), indivisible="run"), keys.dense(c, bias=True)
    # The last layer of the first part, and that of the second, have a norm behind them.
    ends = {place for place in (int(count) - int(later) - 1, int(count) - 1) if place >= 0}
    first, normed = Indices.below(1), Indices.fixed(*(ends - {0}))

    def layer(inputs: int, end: bool) -> Layer:
        return Layer(mixer=mixer, ffn=ffn, own=FunAsrNanoEncoderLayer(inputs=inputs, end=end))

    layers = keys.split(
        (first, lambda: layer(inputs, 0 in ends)),
        (normed, lambda: layer(d, True)),
        (Indices.below(count).difference(first, normed), lambda: layer(d, False)),
    )
    sizes = FunAsrNanoEncoder.read(c)
    return keys.encoding(c, layers, hidden=d, layer_count=count).having(sizes)


def encoder_blueprint(s: Spec[FunAsrNanoEncoder]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        inputs = layer.sizes(FunAsrNanoEncoderLayer).inputs
        into = Linear(inputs, d, True)
        memory = block(conv=conv(1, d, s.own.fsmn_kernel_size, False))
        attention = altered(square_attention(d), q_proj=into, k_proj=into, v_proj=into, fsmn=memory)
        return block(
            self_attn=attention,
            mlp=mlp(d, layer.dense.width),
            input_layernorm=layer_norm(inputs),
            post_attention_layernorm=layer_norm(d),
            final_layernorm=layer_norm(d) if layer.sizes(FunAsrNanoEncoderLayer).end else None,
        )

    return block(layers=stack(s.layers, layer_block))


PARTS = (families.Family(("fun_asr_nano_encoder",), encoder_spec, encoder_blueprint),)
