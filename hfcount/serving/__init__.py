"""What serving a model takes: bytes of its weights, memory, multiply-adds, and what each of several ranks holds."""
