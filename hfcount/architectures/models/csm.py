"""CSM: a Llama over text and the codes of Mimi, which a depth decoder completes (https://huggingface.co/sesame)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, base, embedding, gqa, pre_norm, swiglu
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, Tied, block

MODEL_TYPES = ("csm",)  # transformers 5.23: modeling_csm.py


class Csm(Sizes):
    num_codebooks: int = count("n_q")
    text_vocab_size: int = size("|V_t|")


def spec(c: Config) -> Spec[Csm]:
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    depth = families.part(c, "depth_decoder_config").replace(head="causal_lm")
    sizes = Csm.read(c)
    parts = {"depth": depth, "audio": families.part(c, "codec_config")}
    model = keys.decoder_spec(c, layer, heads=("ForConditionalGeneration",), parts=parts)
    return model.replace(tied=c.bool("tie_codebooks_embeddings")).having(sizes)


def blueprint(s: Spec[Csm]) -> Block:
    d, of, rows = s.hidden, s.own, s.own.num_codebooks * s.vocab

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    tied = Tied("depth_decoder.model.embed_tokens.weight", (rows, d), "embedding")
    table = block(embed_audio_tokens=tied if s.tied else embedding(rows, d))
    return block(
        embed_text_tokens=embedding(of.text_vocab_size, d),
        backbone_model=altered(base(s, layer_block), embed_tokens=table),
        lm_head=Linear(d, s.vocab, component="lm_head"),
        depth_decoder=families.tree(s.part("depth")),
        codec_model=families.tower(s, "audio"),
    )


class CsmDepthDecoderModel(Sizes):
    num_codebooks: int = count("n_q")
    backbone_hidden_size: int = size("d_b")


def depth_spec(c: Config) -> Spec[CsmDepthDecoderModel]:
    """CSM's depth decoder: a small Llama over the codebooks of one frame, with a head for each (model card of CSM)."""
    if c.bool("tie_word_embeddings", default=False):
        text = "tie_word_embeddings is true, and transformers refuses that: each codebook has a head of its own."
        raise c.error("contradiction", text, "tie_word_embeddings", "Set it to false.", expected=False, observed=True)
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    sizes = CsmDepthDecoderModel.read(c)
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model")).replace(tied=False).having(sizes)


def depth_blueprint(s: Spec[CsmDepthDecoderModel]) -> Block:
    d, books, wide = s.hidden, s.own.num_codebooks, s.own.backbone_hidden_size

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    table, into = embedding(books * s.vocab, wide), Linear(wide, d, component="projector")
    body = altered(base(s, layer_block), embed_tokens=table, inputs_embeds_projector=into)
    head = block("lm_head", weight=Tensor((books - 1, d, s.vocab)))
    return body if s.head == "base" else block(model=body, codebooks_head=head)


PARTS = (families.Family(("csm_depth_decoder_model",), depth_spec, depth_blueprint),)
