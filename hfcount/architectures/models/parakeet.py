"""Recognisers of speech over one encoder: CTC, RNN transducers, and those that predict durations (arXiv:2304.06795)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding
from hfcount.architectures.layers.temporal import conv, lstm
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_parakeet.py, modeling_nemotron_asr_streaming.py, modeling_nemotron3_5_asr.py,
# modeling_lasr.py
MODEL_TYPES = ("parakeet_ctc", "lasr_ctc", "parakeet_rnnt", "parakeet_tdt", "nemotron_asr_streaming", "nemotron3_5_asr")
IGNORED = ("ctc_zero_infinity", "max_symbols_per_step", "default_prompt_id")

_RECURRENT = 1000  # layers of a recurrent network, whose tensors are numbered within their names


class Prompts(Record):
    """What tells the language: `number` of prompts, and the width of the network that takes one."""

    number: int
    width: int


class Transducer(Record):
    """What transducers have: layers of a recurrent network, and perhaps predicted `durations` or prompts."""

    num_decoder_layers: int
    durations: int | None
    prompts: Prompts | None


def spec(c: Config) -> Spec[Transducer | None]:
    encoder = families.part(c, "encoder_config")
    parts = {"encoder": encoder}
    if c.family.endswith("_ctc"):
        model = keys.decoder_spec(c, [], hidden=encoder.hidden, heads=keys.named(ForCTC="ctc"), parts=parts)
        return model.replace(causal=False).having(None)
    layers, durations, prompts = c.int("num_decoder_layers", maximum=_RECURRENT), None, None
    if c.family == "parakeet_tdt":
        durations = keys.dim("n_t", c.length("durations") or 0)
    if c.family == "nemotron3_5_asr":
        number = keys.dim("n_p", c.int("num_prompts"))
        prompts = Prompts(number=number, width=keys.dim("d_pf", c.int("prompt_intermediate_size")))
    sizes = Transducer(num_decoder_layers=layers, durations=durations, prompts=prompts)
    heads, d = keys.named(ForRNNT="transducer", ForTDT="transducer"), c.int("decoder_hidden_size")
    return keys.decoder_spec(c, [], hidden=d, heads=heads, parts=parts).replace(causal=False).having(sizes)


def blueprint(s: Spec[Transducer | None]) -> Block:
    d, sizes, heard = s.hidden, s.own, s.part("encoder").hidden
    body = block(encoder=families.tree(s.part("encoder")))
    if sizes is None:
        return altered(body, ctc_head=conv(heard, s.vocab, 1, component="lm_head"))
    prompt = None
    if prompts := sizes.prompts:
        into, out = Linear(heard + prompts.number, prompts.width, True), Linear(prompts.width, heard, True)
        prompt = block("projector", linear_1=into, linear_2=out)
    decoder = block(
        embedding=embedding(s.vocab, d),
        lstm=lstm(d, d, sizes.num_decoder_layers),
        decoder_projector=Linear(d, d, True, "other"),
    )
    words = s.vocab if sizes.durations is None else s.vocab + sizes.durations
    joint = block(head=Linear(d, words, True, "lm_head"))
    projector = Linear(heard, d, True, "projector")
    return altered(body, encoder_projector=projector, decoder=decoder, joint=joint, prompt_projector=prompt)
