"""Jet-Nemotron: linear attention whose convolutions are made of the input, and some softmax (arXiv:2508.15884)."""

from math import isclose

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config, Sizes
from hfcount.spec import DeltaNet, Layer, Spec, Window
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_jet_nemotron.py of NVlabs/Jet-Nemotron, jet_block.py of NVlabs/Jet-Nemotron
MODEL_TYPES = ("jet_nemotron",)
CLASSES = ("JetNemotronForCausalLM",)
IGNORED = ("dconv_implementation", "mode", "norm_eps")

# configuration_jet_nemotron.py, and JetBlockConfig of jet_block.py.
_ABSENT = {
    "vocab_size": 151936,
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 28,
    "num_attention_heads": 12,
    "num_key_value_heads": 2,
}
_JET_ABSENT = {"expand_v": 2.0, "num_heads": 6, "head_dim": 256, "conv_size": 4, "dconv_generator_reduction": 8}


class JetNemotron(Sizes):
    """Sizes specific to Jet-Nemotron: how wide what makes a convolution is, 0 if no layer has one."""

    generator: int


def spec(c: Config) -> Spec[JetNemotron]:
    c = c.assuming(_ABSENT)
    count, special = keys.layer_count(c, "num_hidden_layers"), c.part("efficient_attention_config")
    given = c.strs("layer_types")[:count] if not c.is_null("layer_types") and c.given("layer_types") else []
    ffn = keys.dense(c)

    def softmax() -> Layer:
        return Layer(mixer=keys.attention(c, qkv_bias=True), ffn=ffn)

    def linear() -> Layer:
        return Layer(mixer=_linear(special.part("jet").assuming(_JET_ABSENT)), ffn=ffn)

    kinds = {"attn": softmax, "swa": softmax, "jet": linear}
    layers = keys.by_kind(c, kinds, given) if given else keys.uniform(softmax(), count)
    generator, windows = 0, tuple[Window, ...]()
    if "jet" in given:
        generator = _generator(special.part("jet"))
    if near := [place for place, kind in enumerate(given) if kind == "swa"]:
        windows = keys.within(Indices.of(near), special.part("swa").int("window_size"))
    model = keys.decoder_spec(c, layers, tied=True, windows=windows, heads=("ForCausalLM", "Model"))
    return model.having(JetNemotron.read(c, generator=generator))


def _linear(c: Config) -> DeltaNet:
    heads, width = c.int("num_heads"), c.int("head_dim")
    wide, exact = c.times("expand_v", width), c.number("expand_v") * int(width)
    if not isclose(wide, exact, rel_tol=1e-5):
        text = f"expand_v makes {exact:,.3f} of a head_dim of {width:,}, which is no whole number."
        raise c.error("not-divisible", text, "expand_v", "Correct one of them.")
    kernel = c.int("conv_size")
    return DeltaNet(
        key_heads=heads, value_heads=heads, key_dim=width, value_dim=wide, kernel=kernel, keys_convolved=False
    )


def _generator(c: Config) -> int:
    linear = _linear(c)
    values = linear.value_heads * linear.value_dim
    return values if c.is_null("dconv_generator_reduction") else values // c.int("dconv_generator_reduction", minimum=1)


def blueprint(s: Spec[JetNemotron]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        attention = _jet(d, mixer, s.own.generator) if isinstance(mixer, DeltaNet) else gqa(d, layer.attention)
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))

    return decoder(s, layer_block)


def _jet(d: int, a: DeltaNet, generator: int) -> Block:
    """Gated DeltaNet, with k = l_k·l_dk and v = l_v·l_dv, whose values alone are convolved, by kernels of their own.

    Tensors: q_proj and k_proj (k, d), v_proj and g_proj (v, d), a_proj and b_proj (l_k, d), A_log and dt_bias (l_k),
    dynamic_conv1d.kernel_generator.w1 (g, d) and w2 (v·w, g) with bias, o_norm (l_dv), o_proj (d, v).
    """
    keys_, values = a.key_heads * a.key_dim, a.value_heads * a.value_dim
    kernels = block(w1=Linear(d, generator), w2=Linear(generator, values * a.kernel, True))
    return block(
        "linear_attention",
        q_proj=Linear(d, keys_),
        k_proj=Linear(d, keys_),
        v_proj=Linear(d, values),
        b_proj=Linear(d, a.key_heads),
        a_proj=Linear(d, a.key_heads),
        A_log=Tensor((a.key_heads,)),
        dt_bias=Tensor((a.key_heads,)),
        dynamic_conv1d=block(kernel_generator=kernels),
        g_proj=Linear(d, values),
        o_norm=rms_norm(a.value_dim),
        o_proj=Linear(values, d),
    )
