"""The report: its schema, and how it is built from an inspection."""
