"""CLIP's text tower, and those built like it; SigLIP's ends in a projection (arXiv:2103.00020, arXiv:2303.15343)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.vision import clip_layer
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, obsolete

# transformers 5.23: modeling_clip.py, modeling_clipseg.py, modeling_x_clip.py, modeling_metaclip_2.py,
# modeling_siglip.py, modeling_siglip2.py, modeling_groupvit.py, modeling_owlvit.py, modeling_owlv2.py
_SIGLIP = ("siglip_text_model", "siglip2_text_model")
MODEL_TYPES = (
    "clip_text_model",
    "clipseg_text_model",
    "xclip_text_model",
    "metaclip_2_text_model",
    "siglip_text_model",
    "siglip2_text_model",
    "groupvit_text_model",
    "owlvit_text_model",
    "owlv2_text_model",
)
CONVERTED = MODEL_TYPES[:6]
IGNORED = ("projection_dim",)
SPELLINGS = {r"^text_model\.": ""}

# Alone, these stand in a module of their own.
_WRAPPED = MODEL_TYPES[6:]
_HEADS = keys.named(("Model",), ModelWithProjection="projection")


def spec(c: Config) -> Spec:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    model = keys.decoder_spec(c, layer, heads=_HEADS, hidden=d, positions=rows).replace(causal=False)
    if c.family in _SIGLIP:
        return model.replace(out=c.int("projection_size", default=d))
    return model.replace(out=c.int("projection_dim")) if model.head == "projection" else model


def blueprint(s: Spec) -> Block:
    d = s.hidden
    body = block(
        embeddings=block(
            token_embedding=embedding(s.vocab, d),
            position_embedding=positions(s),
            position_ids=obsolete(1, s.positions or 0, whole=True),
        ),
        encoder=block(layers=stack(s.layers, lambda layer: clip_layer(d, layer))),
        final_layer_norm=layer_norm(d),
        head=Linear(d, s.out or d, True, "projector") if s.family in _SIGLIP else None,
    )
    if s.head == "base":
        return block(text_model=body) if s.family in _WRAPPED and not s.place else body
    return block(text_model=body, text_projection=Linear(d, s.out or d, component="projector"))
