"""How weights are stored: the dtypes of the format, and the quantisation schemes a config announces."""
