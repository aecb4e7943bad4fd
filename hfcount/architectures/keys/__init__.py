"""Groups of config keys that many architectures share, by what they describe."""

# fmt: off
from hfcount.architectures.keys.attention import (
    Indivisible,
    attention,
    gate_per_head,
    grouped,
    indexed,
    mla,
    multi_head,
    prefixed_attention,
    wide_attention,
)
from hfcount.architectures.keys.backbones import features
from hfcount.architectures.keys.bailing import bailing_experts, in_groups
from hfcount.architectures.keys.ffn import (
    MOST_EXPERTS,
    at_most,
    deepseek_moe,
    dense,
    gated_moe,
    moe,
    networks,
    sparse_steps,
)
from hfcount.architectures.keys.gemma import (
    attention_by_place,
    local_and_global,
    network_widths,
    shares_kv,
)
from hfcount.architectures.keys.latent import latent_by_place
from hfcount.architectures.keys.layers import (
    uniform,
    by_kind,
    by_place,
    combined,
    dense_and_sparse,
    dense_and_stepped,
    every_nth,
    hybrids,
    indexing,
    kinds,
    listing,
    mixed,
    of_two,
    own_heads,
    repeated,
    spelled,
    split,
)
from hfcount.architectures.keys.listed_layers import among, numbered
from hfcount.architectures.keys.mixers import delta_net, expanded, mamba2, step_rank
from hfcount.architectures.keys.model import (
    ACROSS,
    ENCODER_HEADS,
    GPT_HEADS,
    HEADS,
    ahead,
    composite,
    decoder_spec,
    drafts,
    encoder,
    head_of,
    mtp,
    named,
    sequence_to_sequence,
)
from hfcount.architectures.keys.series import distribution, forecast, series_patches
from hfcount.architectures.keys.sizes import (
    channels,
    computed,
    divides,
    inverse,
    layer_count,
    rounded,
    dim,
    derived_dim,
)
from hfcount.architectures.keys.ties import tied_anywhere
from hfcount.architectures.keys.towers import (
    COARSER,
    attending,
    each,
    encoding,
    grid,
    imaging,
    only,
    outputs,
    patches,
    reconstructing,
    rectangle,
    sides,
    squares,
    stages,
    tower,
)
from hfcount.architectures.keys.windows import (
    check_even,
    all_but_every_nth,
    extent,
    later,
    other_than,
    patterned,
    seeing_both_ways,
    sliding,
    sliding_everywhere,
    sliding_later,
    within,
)
