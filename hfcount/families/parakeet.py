"""Recognisers of speech over one encoder: CTC, RNN transducers, and those that predict durations (arXiv:2304.06795)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, embedding
from hfcount.parts.conformer import lstm
from hfcount.parts.temporal import conv
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_parakeet.py, modeling_nemotron_asr_streaming.py, modeling_nemotron3_5_asr.py,
# modeling_lasr.py
MODEL_TYPES = ("parakeet_ctc", "lasr_ctc", "parakeet_rnnt", "parakeet_tdt", "nemotron_asr_streaming", "nemotron3_5_asr")
IGNORED = ("ctc_zero_infinity", "max_symbols_per_step", "default_prompt_id")

_RECURRENT = 1000  # layers of a recurrent network, whose tensors are numbered within their names


def spec(c: Config) -> Spec:
    encoder = families.part(c, "encoder_config")
    parts = {"encoder": encoder}
    if c.family.endswith("_ctc"):
        whole = keys.decoder_spec(c, [], hidden=encoder.hidden, heads=keys.named(ForCTC="ctc"), parts=parts)
        return whole.but(causal=False)
    traits = {"num_decoder_layers": c.int("num_decoder_layers", maximum=_RECURRENT)}
    if c.family == "parakeet_tdt":
        traits["durations"] = keys.sized("n_t", c.length("durations") or 0)
    if c.family == "nemotron3_5_asr":
        traits["num_prompts"] = keys.sized("n_p", c.int("num_prompts"))
        traits["prompt_intermediate_size"] = keys.sized("d_pf", c.int("prompt_intermediate_size"))
    heads, d = keys.named(ForRNNT="transducer", ForTDT="transducer"), c.int("decoder_hidden_size")
    return keys.decoder_spec(c, [], hidden=d, heads=heads, traits=traits, parts=parts).but(causal=False)


def blueprint(s: Spec) -> Block:
    d, of, heard = s.hidden, s.traits, s.parts["encoder"].hidden
    body = block(encoder=families.tree(s.parts["encoder"]))
    if s.family.endswith("_ctc"):
        return altered(body, ctc_head=conv(heard, s.vocab, 1, component="lm_head"))
    prompt = None
    if "num_prompts" in of:
        wide = of["prompt_intermediate_size"]
        into, out = Linear(heard + of["num_prompts"], wide, True), Linear(wide, heard, True)
        prompt = block("projector", linear_1=into, linear_2=out)
    decoder = block(
        embedding=embedding(s.vocab, d),
        lstm=lstm(d, d, of["num_decoder_layers"]),
        decoder_projector=Linear(d, d, True, "other"),
    )
    joint = block(head=Linear(d, s.vocab + of.get("durations", 0), True, "lm_head"))
    projector = Linear(heard, d, True, "projector")
    return altered(body, encoder_projector=projector, decoder=decoder, joint=joint, prompt_projector=prompt)
