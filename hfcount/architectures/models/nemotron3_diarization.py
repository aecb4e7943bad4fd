"""NeMo's diarisation: who of several speakers speaks when (arXiv:2409.06656)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("nemotron3_diarization",)  # transformers 5.23: modeling_nemotron3_diarization.py
IGNORED = tuple(
    "chunk_left_context chunk_length chunk_right_context fifo_length speaker_cache_update_period streaming_config"
    " num_speakers subsampling_factor audio_hidden_size".split()
)


class Nemotron3Diarization(Sizes):
    num_speakers: int
    subsampling_factor: int


def spec(c: Config) -> Spec[Nemotron3Diarization]:
    heard, head = families.part(c, "audio_config"), c.part("head_config")
    if head.int("audio_hidden_size") != heard.hidden:
        text = f"audio_hidden_size is not hidden_size of audio_config, {heard.hidden:,}."
        raise head.error("contradiction", text, "audio_hidden_size", "Correct one of them.")
    sizes = Nemotron3Diarization.read(
        c,
        num_speakers=keys.dim("n_s", head.int("num_speakers")),
        subsampling_factor=keys.dim("u", head.int("subsampling_factor")),
    )
    heads = keys.named(ForAudioFrameClassification="token_classification", Model="base")
    d, parts = head.int("hidden_size"), {"audio": heard}
    model = keys.decoder_spec(c, [], vocab=0, hidden=d, heads=heads, parts=parts)
    return model.replace(
        causal=False, **({"head": "token_classification", "architecture": ""} if c.nested else {})
    ).having(sizes)


def blueprint(s: Spec[Nemotron3Diarization]) -> Block:
    d, of, heard = s.hidden, s.own, s.part("audio")
    body = block(
        audio_tower=families.tree(heard),
        proj=Linear(heard.hidden, d, True, "projector"),
        upsampler=block("other", conv=conv(d, d * of.subsampling_factor, 3)),
    )
    if s.head == "base":
        return body
    labels = block("other", dense=Linear(d, d, True), out_proj=Linear(d, of.num_speakers, True))
    return block(model=body, classifier=labels, silence_embeds=Tensor((heard.hidden,), component="other"))
