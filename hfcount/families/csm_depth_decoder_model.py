"""CSM's depth decoder: a small Llama over the codebooks of one frame, with a head for each (model card of CSM)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, base, embedding, gqa, pre_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("csm_depth_decoder_model",)  # transformers 5.23: modeling_csm.py


def spec(c: Config) -> Spec:
    if c.bool("tie_word_embeddings", default=False):
        said = "tie_word_embeddings is true, and transformers refuses that: each codebook has a head of its own."
        raise c.error(said, "tie_word_embeddings", "Set it to false.", expected=False, observed=True)
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    traits = {
        "num_codebooks": keys.sized("n_q", c.int("num_codebooks", maximum=MAX_LAYERS)),
        "backbone_hidden_size": keys.sized("d_b", c.int("backbone_hidden_size")),
    }
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), traits=traits).but(tied=False)


def blueprint(s: Spec) -> Block:
    d, books, wide = s.hidden, s.traits["num_codebooks"], s.traits["backbone_hidden_size"]

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width, one.dense.bias))

    table, into = embedding(books * s.vocab, wide), Linear(wide, d, component="projector")
    body = altered(base(s, layer), embed_tokens=table, inputs_embeds_projector=into)
    head = block("lm_head", weight=Tensor((books - 1, d, s.vocab)))
    return body if s.head == "base" else block(model=body, codebooks_head=head)
