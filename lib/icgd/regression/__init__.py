"""Learning from labelled examples: a prompt of pairs (x, y) and one query (paper OS)."""
