"""The rule HF601: what ranks of tensor parallelism cannot share."""

from hfcount.verifier.rule import Rule

SHARING_RULES = (
    Rule(
        "HF601",
        "not-divisible",
        "error",
        "With --tp N only: N ranks cannot share the heads, channels, groups or blocks of the model.",
        "Engines give each rank whole heads, channels, and groups or blocks of quantised weights.",
        "Take a size that works.",
        "{observed:,} ranks cannot share this model[one? in {one}]: {reasons:4000}.",
    ),
)
