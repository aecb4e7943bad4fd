"""Idefics: Llama with gated layers between, which attend to images, as in Flamingo (arXiv:2306.16527)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, gqa, layer_norm, lm_head, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, derived, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

MODEL_TYPES = ("idefics",)  # transformers 5.23: modeling_idefics.py
IGNORED = ("perceiver_config", "freeze_text_layers", "freeze_lm_head", "freeze_vision_layers")

_HEADS = keys.named(ForVisionText2Text="conditional_generation", Model="base")


class Resampler(Sizes):
    """The perceiver that makes a few latents of an image."""

    resampler_n_latents: int = size("n_l")
    resampler_depth: int = count("N_p")
    resampler_n_heads: int = size("h_p")
    resampler_head_dim: int = size("d_p")
    qk_layer_norms_perceiver: bool = flag(absent=False)


def _perceiver(c: Config) -> Resampler | None:
    return Resampler.read(c.part("perceiver_config")) if c.bool("use_resampler", default=False) else None


class Idefics(Sizes):
    """Sizes specific to Idefics; `crossing` layers attend to images, by a gate for each element if it is a `vector`."""

    crossing: int
    vector: bool
    qk_layer_norms: bool
    additional_vocab_size: int = size("|V_a|", minimum=0)
    resampler: Resampler | None = derived(_perceiver)


def spec(c: Config) -> Spec[Idefics]:
    d, depth = c.int("hidden_size"), keys.layer_count(c)
    normed = c.bool("qk_layer_norms", default=False)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads"), bias=False), ffn=keys.dense(c))
    kind = c.choice("alpha_type", ("float", "vector"), "float")
    between = c.int("cross_layer_interval", maximum=MAX_LAYERS)
    if not between:
        raise c.error("out-of-range", "cross_layer_interval is 0, but must be at least 1.", "cross_layer_interval")
    crossing = keys.dim("N_x", depth // between)
    sizes = Idefics.read(c, crossing=crossing, vector=kind == "vector", qk_layer_norms=normed)
    parts, why = {"vision": families.part(c, "vision_config")}, keys.ACROSS
    return keys.decoder_spec(c, layer, heads=_HEADS, hidden=d, parts=parts, uncounted=why).having(sizes)


def blueprint(s: Spec[Idefics]) -> Block:
    d, of, more, vision_width = s.hidden, s.own, s.own.additional_vocab_size, s.part("vision").hidden
    layer = s.layers[0].layer
    a, network = layer.attention, swiglu(d, layer.dense.width)
    norm = rms_norm(a.head_dim) if of.qk_layer_norms else None
    read = Linear(vision_width, a.heads * a.head_dim)
    across = altered(gqa(d, a), k_proj=read, v_proj=read, q_layer_norm=norm, k_layer_norm=norm, rotary_emb=None)
    alpha = Tensor((1, 1, d) if of.vector else (1,), component="other")
    gated = altered(pre_norm(d, cross_attn=across, mlp=network), alpha_cross_attn=alpha, alpha_dense=alpha)

    further = embedding(more, d) if more else None
    body = block(
        embed_tokens=altered(embedding(s.vocab, d), additional_embedding=further),
        vision_model=families.tower(s, "vision"),
        perceiver_resampler=_resampler(vision_width, of.resampler) if of.resampler else None,
        layers=stack(s.layers, lambda layer: pre_norm(d, self_attn=gqa(d, a), mlp=network)),
        gated_cross_attn_layers=Repeat(Indices.below(of.crossing), gated),
        norm=rms_norm(d),
    )
    if s.head == "base":
        return body
    table = "model.embed_tokens.additional_embedding.weight"
    last = Tied(table, (more, d), "lm_head") if s.tied else Linear(d, more, component="lm_head")
    first = lm_head(s, "model.embed_tokens.weight")
    head: Node = (first, block(additional_fc=last)) if more else first
    return block(model=body, lm_head=head)


def _resampler(d: int, of: Resampler) -> Block:
    """A perceiver that makes a few latents of an image's patches, four times as wide inside."""
    inner, norm = of.resampler_n_heads * of.resampler_head_dim, layer_norm(d)
    head = layer_norm(of.resampler_head_dim) if of.qk_layer_norms_perceiver else None
    into = Linear(d, inner)
    attention = block(
        "attention",
        context_layer_norm=norm,
        latents_layer_norm=norm,
        q_layer_norm=head,
        k_layer_norm=head,
        q_proj=into,
        k_proj=into,
        v_proj=into,
        output_proj=Linear(inner, d),
    )
    network = block("mlp", ln=norm, fc=Linear(d, 4 * d), c_proj=Linear(4 * d, d))
    blocks = Repeat(Indices.below(of.resampler_depth), Block({"0": attention, "1": network}))
    return Block(
        {"latents": Tensor((of.resampler_n_latents, d)), "blocks": blocks, "layer_norm": norm}, "projector", repeats=0
    )
