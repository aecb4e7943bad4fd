"""The report: its schema, and how it is made of what was read and found."""
