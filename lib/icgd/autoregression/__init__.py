"""Learning from a sequence that predicts itself (paper MO)."""
