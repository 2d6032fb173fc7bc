"""Evidence on prompts: the paper OS, its neighbours (chapters 7 and 8) and real rows (16)."""

from icgd.evidence.regression import depth as depth
from icgd.evidence.regression import depth_critical as depth_critical
from icgd.evidence.regression import depth_trained as depth_trained
from icgd.evidence.regression import depth_trap as depth_trap
from icgd.evidence.regression import depth_tuned as depth_tuned
from icgd.evidence.regression import dynamics as dynamics
from icgd.evidence.regression import edges as edges
from icgd.evidence.regression import errata as errata
from icgd.evidence.regression import heads as heads
from icgd.evidence.regression import hypotheses as hypotheses
from icgd.evidence.regression import lengths as lengths
from icgd.evidence.regression import linear as linear
from icgd.evidence.regression import losses as losses
from icgd.evidence.regression import nonlinear as nonlinear
from icgd.evidence.regression import nonlinear_optimum as nonlinear_optimum
from icgd.evidence.regression import optimum as optimum
from icgd.evidence.regression import preconditioning as preconditioning
from icgd.evidence.regression import random_covariance as random_covariance
from icgd.evidence.regression import shares as shares
from icgd.evidence.regression import shift as shift
from icgd.evidence.regression import softmax as softmax
from icgd.evidence.regression import softmax_scalar as softmax_scalar
from icgd.evidence.regression import tables as tables
from icgd.evidence.regression import transformers as transformers
from icgd.evidence.regression import trap as trap
from icgd.evidence.regression import unified as unified
