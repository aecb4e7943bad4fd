"""Pocket TTS: a transformer over words and latents, and a flow head that makes the next latent (arXiv:2509.06926)."""

from hfcount.architectures import keys
from hfcount.architectures.components.flows import FlowHead
from hfcount.architectures.layers import embedding, layer_norm, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("pocket_tts",)  # transformers 5.23: modeling_pocket_tts.py
IGNORED = ("frame_rate", "latent_stats_ema_steps", "flow_loss_num_samples")


class PocketTTS(Sizes):
    flow: FlowHead = derived(lambda c: FlowHead.read(c.part("flow_head_config")))
    latent_dim: int = size("d_z")


def spec(c: Config) -> Spec[PocketTTS]:
    heads = c.int("num_attention_heads")
    keys.divides(c, "num_attention_heads", heads, "hidden_size", c.int("hidden_size"))
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c))
    sizes, known = PocketTTS.read(c), ("ForConditionalGeneration", "Model")
    return keys.decoder_spec(c, layer, heads=known).replace(tied=False).having(sizes)


def blueprint(s: Spec[PocketTTS]) -> Block:
    d, sizes, latent = s.hidden, s.own, s.own.latent_dim

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, bias=False)
        return pre_norm(d, layer_norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=network)

    body = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=layer_norm(d),
        audio_prompt_proj=Linear(latent, d, component="projector"),
        audio_latent_proj=Linear(latent, d, component="projector"),
        bos_latent=Tensor((latent,), component="embedding"),
    )
    if s.head == "base":
        return body
    return block(
        latent_mean=buffer(latent),
        latent_std=buffer(latent),
        latent_stats_num_updates=buffer(whole=True),
        model=body,
        flow_head=sizes.flow.tensors(),
        eos_head=Linear(d, 1, True, "lm_head"),
        loss_weighting=sizes.flow.loss_weighting(),
    )
