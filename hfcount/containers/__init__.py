"""What files of a format hold, held against the blueprint: each file here is one format, as a view of the blueprint."""
