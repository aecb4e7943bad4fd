"""GLM-ASR: an encoder of spectrograms, several frames to a token, before Llama (https://huggingface.co/zai-org)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("glmasr",)  # transformers 5.23: modeling_glmasr.py
SPELLINGS = inside("audio_tower", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def blueprint(s: Spec) -> Block:
    d, wide = s.hidden, s.part("audio").layers[0].layer.dense.width  # several frames as wide make one token
    projector = block("projector", linear_1=Linear(wide, 2 * d, True), linear_2=Linear(2 * d, d, True))
    return llava(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)


class GlmasrEncoder(Sizes):
    num_mel_bins: int = size("b")


def encoder_spec(c: Config) -> Spec[GlmasrEncoder]:
    """GLM-ASR's encoder of spectrograms: as Whisper's, with rotary positions and other names (transformers)."""
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    kv_heads = c.int("num_key_value_heads", default=heads)
    keys.grouped(c, heads, kv_heads)
    layer = Layer(
        mixer=keys.multi_head(c, d, heads, indivisible="run", own_width=True).replace(kv_heads=kv_heads),
        ffn=keys.dense(c, bias=True),
    )
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d).having(GlmasrEncoder.read(c))


def encoder_blueprint(s: Spec[GlmasrEncoder]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention, narrow = mha(d, layer.attention, "o_proj"), layer.attention.kv_heads * layer.attention.head_dim
        return block(
            input_layernorm=layer_norm(d),
            self_attn=altered(attention, k_proj=Linear(d, narrow)),
            post_attention_layernorm=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
        )

    def convolution(inputs: int) -> Block:
        return block("embedding", weight=Tensor((d, inputs, 3)), bias=Tensor((d,)))

    bins = s.own.num_mel_bins
    return block(conv1=convolution(bins), conv2=convolution(d), layers=stack(s.layers, layer_block), norm=layer_norm(d))


PARTS = (families.Family(("glmasr_encoder",), encoder_spec, encoder_blueprint),)
