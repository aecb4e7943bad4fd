"""Every tensor that a config describes."""
