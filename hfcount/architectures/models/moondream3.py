"""Moondream 3: Moondream 2's tower and order, with experts and temperatures that are learned (https://moondream.ai)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, router, stack
from hfcount.architectures.layers.attention import fused_qkv
from hfcount.architectures.layers.ffn import stacked
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# text.py of moondream/moondream3-preview, region.py of moondream/moondream3-preview,
# moondream3.py of vllm-project/vllm 0.33
MODEL_TYPES = ("moondream3",)
CLASSES = ("HfMoondream", "Moondream3ForCausalLM")
IGNORED = ("max_context", "max_crops", "overlap_margin", "prefix_attn", "skills", "tokenizer")

# config.py of moondream/moondream3-preview, whose config.json gives no sizes.
_TEXT = {"dim": 2048, "ff_dim": 8192, "n_layers": 24, "vocab_size": 51200, "n_heads": 32, "n_kv_heads": 32}
_MOE = {"num_experts": 64, "start_layer": 4, "experts_per_token": 8, "expert_inner_dim": 1024}
_REGION = {"dim": 2048, "coord_feat_dim": 256, "coord_out_dim": 1024, "size_feat_dim": 512, "size_out_dim": 2048}


class Moondream3(Sizes):
    """What Moondream's part that points has: the features and outputs of coordinates and of sizes."""

    dim: int = size("d_r")
    coord_feat_dim: int = size("d_c")
    coord_out_dim: int = size("d_co")
    size_feat_dim: int = size("d_s")
    size_out_dim: int = size("d_so")


def spec(c: Config) -> Spec[Moondream3]:
    known = keys.named(HfMoondream="causal_lm", ForCausalLM="causal_lm")
    keys.head_of(c, known)
    inner = c.part("config")
    text, region = inner.part("text", defaults=_TEXT), inner.part("region", defaults=_REGION)
    if text.given("group_size") or region.given("group_size"):
        raise UnknownArchitecture(f"{c.where}: moondream3 is described without groups of quantised weights alone.")
    d, heads, kv_heads = text.int("dim"), text.int("n_heads"), text.int("n_kv_heads")
    mixer = keys.multi_head(text, d, heads).replace(kv_heads=kv_heads)
    keys.divides(text, "n_kv_heads", kv_heads, "n_heads", heads, built=True)
    towers = {"vision": families.part(inner, "vision", "moondream1_vision")}
    rows = text.int("vocab_size")
    model = keys.decoder_spec(c, _layers(text, mixer), hidden=d, vocab=rows, heads=known, parts=towers)
    return model.replace(tied=False).having(Moondream3.read(region))


def _layers(text: Config, mixer: GQA) -> list[Layers]:
    """Layers whose network is one for all tokens, and from start_layer on layers with experts."""
    count, plain = text.int("n_layers", maximum=MAX_LAYERS), Dense(width=text.int("ff_dim"), bias=True)
    if text.is_null("moe"):
        return keys.uniform(Layer(mixer=mixer, ffn=plain), count)
    c = text.part("moe", defaults=_MOE)
    first = min(c.int("start_layer", minimum=0, maximum=MAX_LAYERS), count)
    active = c.int("experts_per_token", maximum=MAX_LAYERS)
    experts = c.int("num_experts", maximum=keys.MOST_EXPERTS)
    sparse = MoE(
        experts=experts,
        active=keys.at_most(c, "experts_per_token", active, experts),
        width=c.int("expert_inner_dim"),
        bias=True,
    )
    layers = (Indices.below(first), plain), (Indices.span(first, count), sparse)
    return [Layers(indices=some, layer=Layer(mixer=mixer, ffn=ffn)) for some, ffn in layers if some.count]


def blueprint(s: Spec[Moondream3]) -> Block:
    d, of = s.hidden, s.own

    def attention(a: GQA) -> Block:
        qkv = fused_qkv(d, a)
        scale = Tensor((a.heads, qkv.outputs))
        tau = block(wq=scale, wv=scale, alpha=Tensor((a.heads,)))
        return block("attention", qkv=qkv, proj=Linear(a.heads * a.head_dim, d, True), tau=tau)

    def sparse(m: MoE) -> Block:
        up, down = stacked(m, 2 * m.width, d), stacked(m, d, m.width)
        return block(router=router(d, m, True), fc1=block(weight=up), fc2=block(weight=down))

    def layer_block(layer: Layer) -> Block:
        ffn = sparse(layer.ffn) if isinstance(layer.ffn, MoE) else mlp(d, layer.dense.width)
        return block(ln=layer_norm(d), attn=attention(layer.attention), mlp=ffn)

    text = block(
        blocks=stack(s.layers, layer_block),
        post_ln=layer_norm(d),
        lm_head=Linear(d, s.vocab, True, "lm_head"),
        wte=Tensor((s.vocab, d), component="embedding"),
    )
    pointing: dict[str, Node] = {
        "ln": layer_norm(of.dim),
        "coord_encoder": Linear(of.coord_feat_dim, of.dim, True),
        "coord_decoder": Linear(of.dim, of.coord_out_dim, True),
        "size_encoder": Linear(of.size_feat_dim, of.dim, True),
        "size_decoder": Linear(of.dim, of.size_out_dim, True),
        "coord_features": Tensor((1, of.coord_feat_dim // 2)),
        "size_features": Tensor((2, of.size_feat_dim // 2)),
    }
    region = Block(pointing, "other", 0)
    return block(model=block(vision=families.tower(s, "vision"), text=text, region=region))
