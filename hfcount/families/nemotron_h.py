"""Nemotron-H and Nemotron 3: layers of one mixer each: Mamba-2, attention, a network or experts (arXiv:2504.03624)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, SSM, Layer, MoE, Spec
from hfcount.tree.block import Block, Linear, block
from hfcount.tree.parts import embedding, gqa, mlp, rms_norm, stack, with_head
from hfcount.tree.parts.mixers import mamba2
from hfcount.tree.parts.sparse import latent_moe

MODEL_TYPES = ("nemotron_h",)

_LETTERS = {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"}


def spec(c: Config) -> Spec:
    latent = c.int("moe_latent_size", default=0)

    def ssm() -> Layer:
        heads = c.int("mamba_num_heads")
        mixer = SSM(
            inner=heads * c.int("mamba_head_dim"),
            state=c.int("ssm_state_size"),
            kernel=c.int("conv_kernel", "mamba_d_conv"),
            heads=heads,
            groups=c.int("n_groups", "mamba_n_groups"),
            conv_bias=c.bool("use_conv_bias", "mamba_conv_bias", default=True),
            bias=c.bool("use_bias", default=False),
        )
        return Layer(mixer=mixer)

    def sparse() -> Layer:
        ffn = keys.moe(c, "moe_intermediate_size", experts=("n_routed_experts", "num_local_experts"))
        shared, bias = c.int("moe_shared_expert_intermediate_size"), c.bool("mlp_bias", default=False)
        return Layer(ffn=MoE(**{**dict(ffn), "shared": shared, "bias": bias}), extras={"moe_latent_size": latent})

    made = {
        "linear_attention": ssm,
        "full_attention": lambda: Layer(mixer=keys.attention(c, head_dim=128)),
        "mlp": lambda: Layer(ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))),
        "moe": sparse,
    }
    given = keys.kinds(c, "layers_block_type", "layer_types") or _spelled(c.str("hybrid_override_pattern"))
    layers = keys.by_kind(c, made, given, count=c.int("num_hidden_layers", default=len(given)))
    steps = c.int("num_nextn_predict_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    drafts = keys.kinds(c, "mtp_layers_block_type") or _spelled(c.str("mtp_hybrid_override_pattern", default="*E"))
    mtp = keys.repeated(c, made, drafts, steps) if steps else ()
    whole = keys.frame(c, layers, heads=("ForCausalLM", "Model"), mtp=mtp)
    return whole.model_copy(update={"tied": False})  # the head is its own, whatever the config says


def _spelled(pattern: str) -> list[str]:
    return [_LETTERS.get(letter, letter) for letter in pattern]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def mixer(one: Layer) -> Block:
        if isinstance(one.mixer, SSM):
            return mamba2(d, one.mixer)
        if isinstance(one.mixer, GQA):
            return gqa(d, one.mixer)
        if isinstance(one.ffn, MoE):
            return latent_moe(d, one.ffn, one.extras["moe_latent_size"])
        return mlp(d, one.dense.width, one.dense.bias, "up_proj", "down_proj")

    def layer(one: Layer) -> Block:
        first, last = one.extras.get("first"), one.extras.get("last")
        return block(
            enorm=rms_norm(d) if first else None,
            hnorm=rms_norm(d) if first else None,
            eh_proj=Linear(2 * d, d) if first else None,
            norm=rms_norm(d),
            mixer=mixer(one),
            final_layernorm=rms_norm(d) if last else None,
        )

    body = block(embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer), norm_f=rms_norm(d))
    tree = with_head(s, body, prefix="backbone", table="embeddings")
    return Block({**tree.children, "mtp": block("mtp", layers=stack(s.mtp, layer))} if s.mtp else tree.children)
