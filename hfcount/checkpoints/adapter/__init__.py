"""Checks PEFT adapters against their base model."""
