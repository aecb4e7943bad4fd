"""EAGLE-3's drafts with DeepSeek's latent attention (arXiv:2503.01840)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs, Vocabulary, numbers
from hfcount.architectures.layers import altered, mla, rms_norm, swiglu
from hfcount.mapper import Config, flag
from hfcount.spec import MLA, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("eagle3_deepseek",)  # deepseek_eagle3.py of vllm-project/vllm 0.33
CLASSES = ("Eagle3DeepseekV2ForCausalLM", "Eagle3DeepseekV3ForCausalLM")
IGNORED = ("eagle_config", "norm_before_residual", "norm_output")
SPELLINGS = {r"^midlayer\.": "layers.0."}

_IDS = "eagle_aux_hidden_state_layer_ids"


class Eagle3Deepseek(Draft):
    layers: tuple[int, ...]
    seen: int
    target_hidden_size: int
    vocabulary: Vocabulary
    fc_norm: bool = flag(absent=False)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=self.target_hidden_size, layers=self.layers, last=0, shared=("embed_tokens.weight",))


def spec(c: Config) -> Spec[Eagle3Deepseek]:
    listed, vocab = numbers(c.sub("eagle_config"), _IDS), c.int("vocab_size")
    sizes = Eagle3Deepseek.read(
        c,
        layers=listed,
        seen=keys.dim("n_s", c.int("num_aux_hidden_states", default=None) or len(listed) or 3),
        target_hidden_size=keys.dim("d_t", c.int("target_hidden_size", default=None) or c.int("hidden_size")),
        vocabulary=Vocabulary.read(c, vocab),
    )
    layer = Layer(mixer=keys.mla(c), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, vocab=vocab, heads=("ForCausalLM",)).replace(tied=False).having(sizes)


def blueprint(s: Spec[Eagle3Deepseek]) -> Block:
    d, of, depth = s.hidden, s.own, s.depth
    layer = s.layers[0].layer

    def layer_block(inputs: int) -> Block:
        return block(
            self_attn=_reading(mla(d, layer.latent), layer.latent, inputs),
            hidden_norm=rms_norm(d),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width),
        )

    later = (Repeat(Indices.span(1, depth), layer_block(d)),) if int(depth) > 1 else ()
    words = of.vocabulary.tensors(d, own_head=True).children
    own = block(
        layers=(Repeat(Indices.below(1), layer_block(2 * d)), *later),  # the first reads the embedding beside the state
        fc=Linear(of.seen * of.target_hidden_size, d, component="projector"),
        fc_norm=Repeat(Indices.below(of.seen), rms_norm(of.target_hidden_size)) if of.fc_norm else None,
        norm=rms_norm(d),
    )
    return Block({**words, **own.children})


def _reading(attention: Block, a: MLA, inputs: int) -> Block:
    """Latent attention to states of another width than the model's."""
    return altered(
        attention,
        q_proj=None if a.q_lora_rank else Linear(inputs, a.heads * (a.nope_dim + a.rope_dim)),
        q_a_proj=Linear(inputs, a.q_lora_rank, a.bias) if a.q_lora_rank else None,
        kv_a_proj_with_mqa=Linear(inputs, a.kv_lora_rank + a.rope_dim, a.bias),
    )
