"""GLM-5-Next: Kimi's delta attention, latent attention to pooled tokens, residual streams (arXiv:2512.24880)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, indexer, mla, network, pre_norm, shared_moe
from hfcount.parts.composite import towers_in_model
from hfcount.parts.conversions import CONVOLUTION, packed
from hfcount.parts.mixers import kimi_delta
from hfcount.parts.streams import mixer
from hfcount.spec import DeltaNet, Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Tensor

MODEL_TYPES = ("glm5_next", "glm5_next_text")  # transformers 5.23: modeling_glm5_next.py
SPELLINGS = {
    r"self_attn\.(f_a_proj\.|f_b_proj\.|dt_bias$|A_log$)": r"self_attn.forget_gate.\1",
    r"\.hc_(attn|ffn)_(fn|base|scale)$": r".\1_hc.\2",
}
MERGED = {**packed(), **CONVOLUTION}


class Glm5Next(Sizes):
    """What GLM-5-Next alone has: residual streams, and the tokens that its indexer pools."""

    hc_mult: int = size("m_r")
    index_kpool: int = size("t_p")


def spec(c: Config) -> Spec[Glm5Next]:
    alone = c.family == "glm5_next_text"
    text = c if alone else c.sub("text_config") or c.as_part("text_config")  # early configs have its keys at the top
    places = keys.dense_and_sparse(text, default=3)
    networks = keys.networks(text, places, lambda: keys.deepseek_moe(text))
    layers = keys.combined(keys.delta_and_latent(text), networks)
    own = Glm5Next.read(text)
    if alone:
        return keys.decoder_spec(c, layers, heads=("Model",)).having(own)
    towers = {"vision": families.part(c, "vision_config")}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    whole = keys.decoder_spec(text, layers, whole=c, heads=heads, parts=towers)
    return whole.replace(tied=tied).having(own)


def blueprint(s: Spec[Glm5Next]) -> Block:
    d, several = s.hidden, s.own.hc_mult

    def attention(one: Layer) -> Block:
        if isinstance(one.mixer, DeltaNet):
            return altered(kimi_delta(d, one.mixer), A_log=Tensor((one.mixer.key_heads,)))
        a = one.latent
        wide = a.index_dim or 0
        ape, gate = Tensor((s.own.index_kpool, wide)), Tensor((wide, d))
        pooled = altered(indexer(d, a), index_kpool_compress_ape=ape, index_kpool_compress_gate=gate)
        return altered(mla(d, a), indexer=pooled if a.index_heads else None)

    def layer(one: Layer) -> Block:
        usual = pre_norm(d, self_attn=attention(one), mlp=network(d, one, lambda m: shared_moe(d, m, balanced=True)))
        return Block({**usual.children, **mixer("hc_attn", d, several), **mixer("hc_ffn", d, several)})

    body = base(s, layer)
    return towers_in_model(s, body, visual=families.tower(s, "vision")) if "vision" in s.parts else body
