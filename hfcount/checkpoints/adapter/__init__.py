"""Adapters of PEFT, held against their base."""
