"""LightGlue: matches keypoints of two images, and says at each layer whether it is sure (arXiv:2306.13643)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("lightglue",)  # transformers 5.23: modeling_lightglue.py
IGNORED = ("intermediate_size", "hidden_size")

_HEADS = keys.named(ForKeypointMatching="base")


class Lightglue(Sizes):
    given: int


def spec(c: Config) -> Spec[Lightglue]:
    d = c.int("descriptor_dim")
    heads = c.int("num_attention_heads")
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=True), head_dim=d // heads)
    keypoints = families.part(c, "keypoint_detector_config")
    given = c.part("keypoint_detector_config").int("descriptor_decoder_dim", default=256)
    layers = keys.uniform(Layer(mixer=mixer), keys.layer_count(c))
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=_HEADS, parts={"keypoints": keypoints})
    return model.replace(causal=False).having(Lightglue.read(c, given=keys.dim("d_g", given)))


def blueprint(s: Spec[Lightglue]) -> Block:
    d, given, a = s.hidden, s.own.given, s.layers[0].layer.attention
    wide = 2 * d
    inner, kept, bias = a.heads * a.head_dim, a.kv_heads * a.head_dim, a.qkv_bias
    attention = block(
        "attention",
        q_proj=Linear(d, inner, bias),
        k_proj=Linear(d, kept, bias),
        v_proj=Linear(d, kept, bias),
        o_proj=Linear(inner, d, bias),
    )
    network = Block(
        {"fc1": Linear(wide, wide, True), "fc2": Linear(wide, d, True), "layer_norm": layer_norm(wide)}, "mlp"
    )
    layer = block(self_attention=attention, self_mlp=network, cross_attention=attention, cross_mlp=network)
    matched = block("other", final_projection=Linear(d, d, True), matchability=Linear(d, 1, True))
    sure = Repeat(Indices.below(s.depth - 1), block("other", token=Linear(d, 1, True)))
    return block(
        keypoint_detector=families.tree(s.part("keypoints")),
        input_projection=Linear(given, d, True, "projector") if int(given) != int(d) else None,
        positional_encoder=block("embedding", projector=Linear(2, d // a.heads // 2)),
        transformer_layers=stack(s.layers, lambda _: layer),
        match_assignment_layers=Repeat(Indices.below(s.depth), matched),
        token_confidence=sure if s.depth > 1 else None,
    )
