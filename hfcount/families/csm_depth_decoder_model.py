"""CSM's depth decoder: a small Llama over the codebooks of one frame, with a head for each (model card of CSM)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, embedding, gqa, pre_norm, swiglu
from hfcount.spec import Layer, Sizes, Spec, count, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("csm_depth_decoder_model",)  # transformers 5.23: modeling_csm.py


class CsmDepthDecoderModel(Sizes):
    """What this architecture alone has."""

    num_codebooks: int = count("n_q")
    backbone_hidden_size: int = size("d_b")


def spec(c: Config) -> Spec[CsmDepthDecoderModel]:
    if c.bool("tie_word_embeddings", default=False):
        said = "tie_word_embeddings is true, and transformers refuses that: each codebook has a head of its own."
        raise c.error(said, "tie_word_embeddings", "Set it to false.", expected=False, observed=True)
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    own = CsmDepthDecoderModel.read(c)
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model")).replace(tied=False).having(own)


def blueprint(s: Spec[CsmDepthDecoderModel]) -> Block:
    d, books, wide = s.hidden, s.own.num_codebooks, s.own.backbone_hidden_size

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width, one.dense.bias))

    table, into = embedding(books * s.vocab, wide), Linear(wide, d, component="projector")
    body = altered(base(s, layer), embed_tokens=table, inputs_embeds_projector=into)
    head = block("lm_head", weight=Tensor((books - 1, d, s.vocab)))
    return body if s.head == "base" else block(model=body, codebooks_head=head)
