"""EAGLE's drafts of MiniCPM: layers of Llama's kind, and norms of what they read (arXiv:2401.15077)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs
from hfcount.architectures.layers import gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("eagle_minicpm",)  # minicpm_eagle.py of vllm-project/vllm 0.33
CLASSES = ("EagleMiniCPMForCausalLM",)
IGNORED = ("dim_model_base", "mup_denominator", "scale_depth", "scale_emb")


class EagleMinicpm(Draft):
    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden)


def spec(c: Config) -> Spec[EagleMinicpm]:
    if c.int("num_experts", default=0, minimum=0):
        raise UnknownArchitecture(f"{c.where}: eagle_minicpm is not described with num_experts.")
    layer = Layer(mixer=keys.attention(c, derived=True), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, heads=("ForCausalLM",)).replace(tied=False).having(EagleMinicpm.read(c))


def blueprint(s: Spec[EagleMinicpm]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    model = block(
        embed_tokens=block("embedding", weight=Tensor((s.vocab, d), presence="spare")),
        fc=Linear(2 * d, d, component="projector"),
        input_norm1=rms_norm(d),
        input_norm2=rms_norm(d),
        eagle_layers=stack(s.layers, layer_block),
        norm=block("norm", weight=Tensor((d,), presence="spare")),  # which is built and read by nothing
    )
    return block(model=model, lm_head=Linear(d, s.vocab, component="lm_head", presence="spare"))
