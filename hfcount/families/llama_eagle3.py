"""EAGLE-3's drafts of Llama's kind: a projection of several layers' states, few layers, a smaller vocabulary."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Sizes, Spec, flag
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("llama_eagle3",)  # modeling_llama_eagle3.py of sgl-project/SpecForge
CLASSES = ("LlamaForCausalLMEagle3", "Eagle3LlamaForCausalLM")
IGNORED = ("eagle_config", "modules")
SPELLINGS = {r"^layers\.0\.": "midlayer."}


class LlamaEagle3(Sizes):
    seen: int
    target_hidden_size: int
    draft_vocab_size: int
    norm_before_fc: bool = flag(absent=False)
    fc_norm: bool = flag(absent=False)


def spec(c: Config) -> Spec[LlamaEagle3]:
    bias = c.bool("attention_bias", default=False)
    layer = Layer(mixer=keys.attention(c, qkv_bias=bias), ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    own = c.sub("eagle_config")
    read = own.length("eagle_aux_hidden_state_layer_ids") if own else None
    seen = c.int("num_aux_hidden_states", default=None) or read or 3
    vocab = c.int("vocab_size")
    sizes = LlamaEagle3.read(
        c,
        seen=keys.dim("n_s", seen),
        target_hidden_size=keys.dim("d_t", c.int("target_hidden_size", default=None) or c.int("hidden_size")),
        draft_vocab_size=keys.dim("|V_d|", c.int("draft_vocab_size", default=None) or vocab),
    )
    heads = keys.named(("ForCausalLM",), ForCausalLMEagle3="causal_lm")
    return keys.decoder_spec(c, layer, vocab=vocab, heads=heads).replace(tied=False).having(sizes)


def blueprint(s: Spec[LlamaEagle3]) -> Block:
    d, of, depth = s.hidden, s.own, int(s.depth)
    read = of.seen * of.target_hidden_size

    def layer(one: Layer, inputs: int) -> Block:
        a = one.attention
        query, shared = (
            Linear(inputs, a.heads * a.head_dim, a.qkv_bias),
            Linear(inputs, a.kv_heads * a.head_dim, a.qkv_bias),
        )
        return block(
            self_attn=altered(gqa(d, a), q_proj=query, k_proj=shared, v_proj=shared),
            hidden_norm=rms_norm(d),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, one.dense.width, one.dense.bias),
        )

    one = s.layers[0].layer
    first = layer(one, 2 * d)  # it reads the embedding beside the state
    later = Repeat(Indices.span(1, depth), layer(one, d))
    layers = block(midlayer=first) if depth == 1 else block(layers=(Repeat(Indices.below(1), first), later))
    vocab = of.draft_vocab_size
    shared = block(
        embed_tokens=block("embedding", weight=Tensor((s.vocab, d), presence="spare")),  # it may be the target's
        fc=Linear(read, d, component="projector"),
        input_norm=rms_norm(read) if of.norm_before_fc else None,
        fc_norm=Repeat(Indices.below(of.seen), rms_norm(of.target_hidden_size)) if of.fc_norm else None,
        norm=rms_norm(d),
        lm_head=Linear(d, vocab, component="lm_head"),
        # Which words of the target the draft knows.
        d2t=Tensor((vocab,), "buffer", "optional", whole=True),
        t2d=Tensor((s.vocab,), "buffer", "optional", whole=True),
    )
    return Block({**shared.children, **layers.children})
