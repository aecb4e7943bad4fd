"""Phonon TTS: Pocket TTS told of speakers and duration, and stored under its runtime's names (model card)."""

from hfcount.architectures import keys
from hfcount.architectures.components.flows import FlowHead
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.attention import fused_qkv
from hfcount.architectures.layers.composite import renamed
from hfcount.architectures.layers.conversions import qkv
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

MODEL_TYPES = ("gradium_phonon_tts",)  # transformers 5.23: modeling_gradium_phonon_tts.py
IGNORED = ("frame_rate", "latent_stats_ema_steps", "flow_loss_num_samples", "num_speakers", "duration_delta_scale")
MERGED = {"self_attn.in_proj.weight": qkv("self_attn", "weight")}
SPELLINGS = {
    r"^flow_lm\.condition_provider\.conditioners\.transcript_in_segment\.embed\.": "model.embed_tokens.",
    r"^flow_lm\.condition_provider\.conditioners\.speaker_wavs\.output_proj\.": "model.audio_prompt_proj.",
    r"^flow_lm\.condition_provider\.conditioners\.num_speakers\.embed\.": "model.num_speakers_embed.",
    r"^flow_lm\.condition_provider\.conditioners\.num_speakers\.output_proj\.": "model.num_speakers_proj.",
    r"^flow_lm\.condition_provider\.conditioners\.duration_delta\.output_proj\.": "model.duration_delta_proj.",
    r"^flow_lm\.input_linear\.": "model.audio_latent_proj.",
    r"^flow_lm\.bos_emb$": "model.bos_latent",
    r"^flow_lm\.emb_(mean|std)$": r"latent_\1",
    r"^flow_lm\.out_norm\.": "model.norm.",
    r"^flow_lm\.out_eos\.": "eos_head.",
    r"^flow_lm\.transformer\.layers\.": "model.layers.",
    r"\.self_attn\.out_proj\.": ".self_attn.o_proj.",
    r"\.linear([12])\.": r".mlp.fc\1.",
    r"(?<=\d)\.norm1\.": ".input_layernorm.",
    r"(?<=\d)\.norm2\.": ".post_attention_layernorm.",
    r"^flow_lm\.flow_net\.": "flow_head.",
    r"\.time_embed\.": ".timestep_embeddings.",
    r"\.cond_embed\.": ".cond_proj.",
    r"\.res_blocks\.": ".layers.",
    r"\.in_ln\.": ".norm.",
    r"\.mlp\.0\.": ".fc1.",
    r"\.mlp\.2\.": ".fc2.",
    r"\.mlp\.3\.alpha$": ".norm.weight",
    r"\.final_layer\.linear\.": ".final_layer.proj.",
    r"\.adaLN_modulation\.1\.": ".adaln_proj.",
}

_FLOW = {
    ".timestep_embeddings": "time_embed",
    "timestep_embeddings.fc1": "mlp.0",
    "timestep_embeddings.fc2": "mlp.2",
    "timestep_embeddings.norm": "mlp.3",
    ".cond_proj": "cond_embed",
    ".layers": "res_blocks",
    "layers.norm": "in_ln",
    "layers.fc1": "mlp.0",
    "layers.fc2": "mlp.2",
    "layers.adaln_proj": "adaLN_modulation.1",
    "final_layer.proj": "linear",
    "final_layer.adaln_proj": "adaLN_modulation.1",
}


class GradiumPhononTTS(Sizes):
    flow: FlowHead = derived(lambda c: FlowHead.read(c.part("flow_head_config")))
    latent_dim: int = size("d_z")
    audio_prompt_dim: int = size("d_a")
    num_speakers_vocab_size: int = size("n_s")
    num_speakers_embedding_dim: int = size("d_s")
    duration_delta_embedding_dim: int = size("d_e")


def spec(c: Config) -> Spec[GradiumPhononTTS]:
    heads = c.int("num_attention_heads")
    keys.divides(c, "num_attention_heads", heads, "hidden_size", c.int("hidden_size"))
    if c.bool("attention_bias"):
        raise c.error(
            "not-described", "attention_bias is true, and the runtime's names know no such biases.", "attention_bias"
        )
    mixer = keys.attention(c)
    if mixer.kv_heads != heads:  # the fused projection is cut into three equal parts
        text = f"num_key_value_heads is {mixer.kv_heads:,}, but must be num_attention_heads, {heads:,}."
        raise c.error("contradiction", text, "num_key_value_heads", observed=int(mixer.kv_heads))
    layer = Layer(mixer=mixer, ffn=keys.dense(c))
    sizes = GradiumPhononTTS.read(c)
    return keys.decoder_spec(c, layer, heads=("ForConditionalGeneration",)).replace(tied=False).having(sizes)


def blueprint(s: Spec[GradiumPhononTTS]) -> Block:
    d, sizes, latent = s.hidden, s.own, s.own.latent_dim

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        attention = block("attention", in_proj=fused_qkv(d, a), out_proj=Linear(a.heads * a.head_dim, d))
        wide, back = Linear(d, width, component="mlp"), Linear(width, d, component="mlp")
        return block(self_attn=attention, linear1=wide, linear2=back, norm1=layer_norm(d), norm2=layer_norm(d))

    def projected(width: int) -> Linear:
        return Linear(width, d, component="projector")

    speakers = embedding(sizes.num_speakers_vocab_size, sizes.num_speakers_embedding_dim)
    conditioners = block(
        transcript_in_segment=block(embed=embedding(s.vocab, d)),
        speaker_wavs=block(output_proj=projected(sizes.audio_prompt_dim)),
        num_speakers=block(embed=speakers, output_proj=projected(sizes.num_speakers_embedding_dim)),
        duration_delta=block(output_proj=projected(sizes.duration_delta_embedding_dim)),
    )
    flow = block(
        condition_provider=block(conditioners=conditioners),
        input_linear=projected(latent),
        bos_emb=Tensor((latent,), component="embedding"),
        emb_mean=buffer(latent),
        emb_std=buffer(latent),
        transformer=block(layers=stack(s.layers, layer_block)),
        out_norm=layer_norm(d),
        out_eos=Linear(d, 1, True, "lm_head"),
        flow_net=renamed(renamed(sizes.flow.tensors(), _FLOW), {"mlp.3.weight": "alpha"}),
    )
    return block(flow_lm=flow, latent_stats_num_updates=buffer(whole=True), loss_weighting=sizes.flow.loss_weighting())
