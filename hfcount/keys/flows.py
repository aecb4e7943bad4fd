"""Heads that make the next latent by a flow."""

from hfcount.keys.sizes import sized
from hfcount.mapper import MAX_LAYERS, Config

_SIZES = {
    "hidden_size": "d_h",
    "num_hidden_layers": "N_h",
    "latent_dim": "d_l",
    "condition_dim": "d_c",
    "frequency_embedding_size": "d_t",
}


def flow_head(c: Config, key: str = "flow_head_config") -> dict[str, int]:
    """The traits of a flow head, whose names begin with `flow.`; a flow of kind `lsd` goes from one time to another."""
    own, found = c.part(key), dict[str, int]()
    for name, letter in _SIZES.items():
        found[f"flow.{name}"] = sized(letter, own.int(name, maximum=MAX_LAYERS))
    kind = own.str("flow_type", default="lsd")
    if kind not in ("lsd", "drifting"):
        raise own.error("flow_type must be lsd or drifting.", "flow_type", observed=kind)
    weighing = own.int("loss_weighting_hidden_size", default=32), own.int("loss_weighting_num_layers", default=3)
    found |= {"flow.weighing": sized("d_w", weighing[0]), "flow.weighed": sized("N_w", weighing[1])}
    return found | {"flow.times": 2 if kind == "lsd" else 0}
