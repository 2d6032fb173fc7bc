"""Evidence on sequences: the paper MO, its neighbours (chapter 15) and noisy rotations (16)."""

from icgd.evidence.autoregression import assumptions as assumptions
from icgd.evidence.autoregression import beyond as beyond
from icgd.evidence.autoregression import capability as capability
from icgd.evidence.autoregression import dynamics as dynamics
from icgd.evidence.autoregression import figures as figures
from icgd.evidence.autoregression import flow as flow
from icgd.evidence.autoregression import learnable as learnable
from icgd.evidence.autoregression import limits as limits
from icgd.evidence.autoregression import neighbours_layers as neighbours_layers
from icgd.evidence.autoregression import neighbours_mesa as neighbours_mesa
from icgd.evidence.autoregression import neighbours_noise as neighbours_noise
from icgd.evidence.autoregression import neighbours_pairs as neighbours_pairs
from icgd.evidence.autoregression import neighbours_rotations as neighbours_rotations
from icgd.evidence.autoregression import neighbours_sander as neighbours_sander
from icgd.evidence.autoregression import observed as observed
from icgd.evidence.autoregression import optimizer as optimizer
from icgd.evidence.autoregression import process as process
