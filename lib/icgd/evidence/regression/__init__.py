"""Evidence for the paper OS, a module for each of its settings."""

from icgd.evidence.regression import linear as linear
from icgd.evidence.regression import losses as losses
from icgd.evidence.regression import optimum as optimum
