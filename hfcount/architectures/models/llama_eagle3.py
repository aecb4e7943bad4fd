"""EAGLE-3's drafts: a projection of several layers' states, few layers, a smaller vocabulary (arXiv:2503.01840)."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import SAID, Draft, Needs, Vocabulary, layers_of, numbers, of_speculators
from hfcount.architectures.layers import altered, gqa, rms_norm, swiglu
from hfcount.mapper import Config, flag
from hfcount.spec import Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# llama3_eagle.py of sgl-project/SpecForge (2026-08), and peagle.py there; cnets.py of SafeAILab/EAGLE; eagle3/core.py
# and peagle/core.py of vllm-project/speculators 0.9.0; llama_eagle3.py and qwen3_eagle3.py of vllm-project/vllm;
# llama_eagle3.py of Tencent/AngelSlim (2026-01), for CosyVoice 3
MODEL_TYPES = ("llama_eagle3", "speculators_eagle3", "speculators_peagle")
CLASSES = (
    "LlamaForCausalLMEagle3",
    "Eagle3LlamaForCausalLM",
    "PEagleDraftModel",
    "Eagle3DraftModel",
    "Eagle3Speculator",
    "PEagleSpeculator",
    "Eagle3MiniMaxM2ForCausalLM",
    "Eagle3Qwen2_5vlForCausalLM",
    "Eagle3Qwen3vlForCausalLM",
    "Eagle3Qwen3ForCausalLM",
    "PeagleLlamaForCausalLM",
    "PeagleQwen3ForCausalLM",
    "CosyVoice3Eagle3LlamaForCausalLM",
)
IGNORED = (
    "eagle_config",
    "modules",
    "norm_output",
    "norm_before_residual",
    "decoder_sparse_step",
    "target_model_type",
    # Of the target, and read neither by llama_eagle3.py of vLLM 0.33 nor by that of SGLang 0.5.23.
    "attention_head_dim",
    "cla_share_factor",
    "dense_list",
    "mask_init_id",
    "org_vocab_size",
    "pad_id",
    "use_qk_norm",
    "use_rotary_pos_emb",
    *SAID,
)
SPELLINGS = {r"^layers\.0\.": "midlayer."}

_AT_ONCE = ("PEagleDraftModel", "PeagleLlamaForCausalLM", "PeagleQwen3ForCausalLM")
# AngelSlim builds one layer of these, whatever num_hidden_layers says: it may be that of the target.
_ALONE = ("CosyVoice3Eagle3LlamaForCausalLM",)
_QWEN3 = ("Eagle3Qwen3ForCausalLM", "PeagleQwen3ForCausalLM")
_IDS = "eagle_aux_hidden_state_layer_ids"


class LlamaEagle3(Draft):
    layers: tuple[int, ...]
    library: bool
    seen: int
    target_hidden_size: int
    vocabulary: Vocabulary
    listed: bool  # whether the first layer stands in a list with the others
    fused: bool  # whether it reads several layers' states, and not one alone
    masked: bool  # whether there is a state for places that are drafted at once
    norm_before_fc: bool = flag(absent=False)
    fc_norm: bool = flag(absent=False)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target.

        vLLM 0.33 counts the states from that of the embedding, 0, to that of the last layer; SGLang 0.5.23 takes a
        number to be that of a layer, so that the embedding's is -1.
        """
        return Needs(
            width=self.target_hidden_size,
            layers=self.layers,
            first=0 if self.library else -1,
            last=0,
            shared=("embed_tokens.weight",),
        )


def spec(c: Config) -> Spec[LlamaEagle3]:
    library = of_speculators(c)
    text = layers_of(c, "llama", "qwen3")
    named = next(iter(c.strs("architectures")), "")
    bias, normed = text.bool("attention_bias", default=False), _is_qwen3(text, named, library)
    ffn = keys.dense(text, bias=not normed and text.bool("mlp_bias", default=False))
    mixer = keys.attention(text, qkv_bias=bias, out_bias=library and bias, qk_norm=normed)
    ids = c if library else c.sub("eagle_config")
    listed = (() if library else numbers(c, _IDS)) or numbers(ids, _IDS)
    counted = ("num_aux_layers", "num_aux_hidden_states") if normed else ("num_aux_hidden_states",)
    vision_width = (None if library else c.int(*counted, default=None)) or len(listed) or 3
    vocab = text.int("vocab_size")
    at_once = c.family == "speculators_peagle" or named in _AT_ONCE
    sizes = LlamaEagle3.read(
        c,
        layers=listed,
        library=library,
        seen=keys.dim("n_s", vision_width),
        target_hidden_size=keys.dim("d_t", c.int("target_hidden_size", default=None) or text.int("hidden_size")),
        vocabulary=Vocabulary.read(c, vocab, absent=32000 if library else None),
        listed=library or at_once,
        fused=library or ids is None or ids.bool("use_aux_hidden_state", default=True),
        masked=at_once,
    )
    if library and sizes.norm_before_fc and sizes.fc_norm:
        message = "norm_before_fc and fc_norm are both true, and a draft has one of these norms at most."
        raise c.error("contradiction", message, "fc_norm", "Set one of them to false.")
    heads = keys.named(
        ("ForCausalLM",),
        ForCausalLMEagle3="causal_lm",
        DraftModel="causal_lm",
        Speculator="causal_lm",
    )
    layer = Layer(mixer=mixer, ffn=ffn)
    depth = keys.layer_count(text)
    layers = [Layers(indices=Indices.below(1), layer=layer)] if named in _ALONE else layer
    model = keys.decoder_spec(text, layers, whole=c, vocab=vocab, heads=heads, layer_count=int(depth))
    return model.replace(tied=False).having(sizes)


def _is_qwen3(layers: Config, named: str, library: bool) -> bool:
    """Whether its layers are Qwen3's, which norm queries and keys."""
    return layers.kind == "qwen3" if library else named in _QWEN3


def blueprint(s: Spec[LlamaEagle3]) -> Block:
    d, of, depth = s.hidden, s.own, sum(layers.indices.count for layers in s.layers)
    read = of.seen * of.target_hidden_size

    def layer_block(layer: Layer, inputs: int, entrance: bool) -> Block:
        a = layer.attention
        query, shared = (
            Linear(inputs, a.heads * a.head_dim, a.qkv_bias),
            Linear(inputs, a.kv_heads * a.head_dim, a.qkv_bias),
        )
        return block(
            self_attn=altered(gqa(d, a), q_proj=query, k_proj=shared, v_proj=shared),
            hidden_norm=rms_norm(d) if entrance else None,
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, layer.dense.width, layer.dense.bias),
        )

    layer = s.layers[0].layer
    first = layer_block(layer, 2 * d, True)  # it reads the embedding beside the state
    later = Repeat(Indices.span(1, depth), layer_block(layer, d, not of.listed))
    several = (Repeat(Indices.below(1), first), *((later,) if int(depth) > 1 else ()))
    layers = block(layers=several) if int(depth) > 1 or of.listed else block(midlayer=first)
    words = of.vocabulary.tensors(d, own_head=True).children
    shared = block(
        embed_tokens=words["embed_tokens"],
        fc=Linear(read, d, component="projector") if of.fused else None,
        input_norm=rms_norm(read) if of.norm_before_fc else None,
        fc_norm=Repeat(Indices.below(of.seen), rms_norm(of.target_hidden_size)) if of.fc_norm else None,
        mask_hidden=Tensor((1, 1, read)) if of.masked else None,
        norm=rms_norm(d),
    )
    return Block({**shared.children, **words, **layers.children})
