"""EAGLE's drafts, of the first two versions: layers that read a token beside the state before (arXiv:2401.15077)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs
from hfcount.architectures.layers import gqa, rms_norm, swiglu
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# cnets1.py of SafeAILab/EAGLE; llama_eagle.py of vllm-project/vllm and of sgl-project/sglang, and qwen2_eagle.py there
MODEL_TYPES = ("eagle",)
CLASSES = (
    "LlamaForCausalLMEagle",
    "EagleLlamaForCausalLM",
    "EAGLEModel",
    "Qwen2ForCausalLMEagle",
)
SPELLINGS = {r"^model\.": ""}
IGNORED = ("model",)


class Eagle(Draft):
    bias: bool | None
    add_para_norm: bool = flag(absent=False)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden)


def spec(c: Config) -> Spec[Eagle]:
    text = c.part("model") if c.given("model") else c
    biased = "Qwen2ForCausalLMEagle" in c.strs("architectures")  # as all of Qwen2's attention
    bias, both = text.bool("qkv_bias", default=biased), text.bool("attention_bias", default=False)
    layer = Layer(mixer=keys.attention(text, qkv_bias=bias or both, out_bias=both, alone=True), ffn=keys.dense(text))
    heads = keys.named(("ForCausalLM",), ForCausalLMEagle="causal_lm", EAGLEModel="causal_lm")
    sizes = Eagle.read(c, bias=c.bool("bias", default=False) if c.given("bias") else None)
    return keys.decoder_spec(text, layer, whole=c, heads=heads).replace(tied=False).having(sizes)


def blueprint(s: Spec[Eagle]) -> Block:
    d, of, depth = s.hidden, s.own, s.depth
    layer = s.layers[0].layer
    later = block(
        self_attn=gqa(d, layer.attention),
        input_layernorm=rms_norm(d),
        post_attention_layernorm=rms_norm(d),
        mlp=swiglu(d, layer.dense.width),
    )
    # The first layer reads what is normed already; some writers store a norm of ones.
    first = altered(later, input_layernorm=block("norm", weight=Tensor((d,), presence="spare")))
    further = (Repeat(Indices.span(1, depth), later),) if int(depth) > 1 else ()
    layers = (Repeat(Indices.below(1), first), *further)
    bias = Tensor((d,), presence="required" if of.bias else "spare")
    norm = rms_norm(d) if of.add_para_norm else None
    return block(
        embed_tokens=block("embedding", weight=Tensor((s.vocab, d), presence="spare")),
        fc=block("projector", weight=Tensor((d, 2 * d)), bias=None if of.bias is False else bias),
        embedding_layernorm=norm,
        hidden_states_layernorm=norm,
        layers=layers,
        lm_head=Linear(d, s.vocab, component="lm_head", presence="spare"),
    )
