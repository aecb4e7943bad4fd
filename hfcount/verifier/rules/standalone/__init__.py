"""Rules that look at something of their own: such a file has the `check`, too, and says what that `NEEDS`."""
