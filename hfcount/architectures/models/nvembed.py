"""NV-Embed: Mistral as an encoder, whose output attends to learned latents and is pooled (arXiv:2405.17428)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("nvembed",)  # modeling_nvembed.py of nvidia/NV-Embed-v2
IGNORED = ("is_mask_instruction", "mask_type")

_WIDER = 4  # the latents' network, as its implementation has it


class Nvembed(Sizes):
    latents: int
    latent_heads: int
    latent_head_dim: int
    latent_dim: int
    latent_input: int


def spec(c: Config) -> Spec[Nvembed]:
    text, latent = families.part(c, "text_config", "mistral"), c.part("latent_attention_config")
    sizes = Nvembed.read(
        c,
        latents=keys.dim("n_l", latent.int("num_latents_value", default=512)),
        latent_heads=keys.dim("h_l", latent.int("num_cross_heads", default=8)),
        latent_head_dim=keys.dim("h_dl", latent.int("cross_dim_head", default=4096)),
        latent_dim=keys.dim("d_l", latent.int("latent_dim", default=4096)),
        latent_input=keys.dim("d_i", latent.int("hidden_dim", default=4096)),
    )
    return keys.composite(c, text, {}, heads=keys.named(("Model",)), causal=False).having(sizes)


def blueprint(s: Spec[Nvembed]) -> Block:
    of = s.own
    d, width, inner = of.latent_dim, of.latent_input, of.latent_heads * of.latent_head_dim
    attention = block(to_q=Linear(d, inner), to_kv=Linear(width, 2 * inner), to_out=Linear(inner, d))
    wide, narrow = Linear(d, 2 * (_WIDER * d), True), Linear(_WIDER * d, d, True)
    blocks = {
        "0": block(fn=attention, norm=layer_norm(d), norm_context=layer_norm(width)),
        "1": block(fn=block(net=Block({"0": wide, "2": narrow})), norm=layer_norm(d)),
    }
    latents = block("other", latents=Tensor((of.latents, d)), cross_attend_blocks=Block(blocks))
    return block(embedding_model=families.base(s), latent_attention_model=latents)
