"""Self-checks for the exercises of the chapters.

Pass your function to the check that stands under the exercise, `check_break_even(my_step)`. It says
`right`, or raises `NotYet` with the property that fails and the equation to reread. It never tells
the answer: it tests special cases, invariances and exact values at small sizes. Modules follow the
chapters.
"""

from icgd.exercises.attention import check_by_hand, check_self_attention, check_swapped_slots
from icgd.exercises.beyond import check_coefficients, check_gradient, check_positive_exponents
from icgd.exercises.capability import (
    check_hard_law,
    check_normalised,
    check_silence,
    check_step_sizes,
)
from icgd.exercises.depth import (
    check_degree,
    check_flattest,
    check_momentum,
    check_one_layer,
    check_tied,
)
from icgd.exercises.dynamics import (
    check_half_time,
    check_hardest_task,
    check_random_flow,
    check_repeated_query,
    check_worse_than_zero,
)
from icgd.exercises.figures import check_agreement_rate, check_slope_noise
from icgd.exercises.flow import (
    check_coupled_loss,
    check_drift,
    check_plateau,
    check_theorem_4_1,
    check_without_skew,
)
from icgd.exercises.mesa import (
    check_cross_talk,
    check_cubes,
    check_repeated_steps,
    check_trained_short,
    check_wirtinger,
)
from icgd.exercises.neighbours import (
    check_cosine,
    check_forgetting,
    check_luck,
    check_one_product,
    check_repulsion,
    check_two_layers,
)
from icgd.exercises.nonlinear import (
    check_blind,
    check_linear_share,
    check_offset,
    check_sign_labels,
    check_theorem_3,
)
from icgd.exercises.one_step import (
    check_clean_target,
    check_heads,
    check_step_ratio,
    check_theorem_1,
)
from icgd.exercises.preconditioning import (
    check_change_of_coordinates,
    check_kept_share,
    check_louder_test,
    check_random_scale,
)
from icgd.exercises.prompts import check_break_even, check_high_noise, check_noiseless_risk
from icgd.exercises.rows import check_corner, check_loud_direction, check_shortest
from icgd.exercises.sequences import (
    check_copying_positions,
    check_no_normaliser,
    check_one_hand,
    check_sign_survivors,
)
from icgd.exercises.softmax import check_distance, check_hard_head
from icgd.exercises.trial import NotYet
from icgd.exercises.unified import (
    check_heavy_tails,
    check_not_plain,
    check_orthogonal_design,
    check_same_step,
)

__all__ = [
    "NotYet",
    "check_agreement_rate",
    "check_blind",
    "check_break_even",
    "check_by_hand",
    "check_change_of_coordinates",
    "check_clean_target",
    "check_coefficients",
    "check_copying_positions",
    "check_corner",
    "check_cosine",
    "check_coupled_loss",
    "check_cross_talk",
    "check_cubes",
    "check_degree",
    "check_distance",
    "check_drift",
    "check_flattest",
    "check_forgetting",
    "check_gradient",
    "check_half_time",
    "check_hard_head",
    "check_hard_law",
    "check_hardest_task",
    "check_heads",
    "check_heavy_tails",
    "check_high_noise",
    "check_kept_share",
    "check_linear_share",
    "check_loud_direction",
    "check_louder_test",
    "check_luck",
    "check_momentum",
    "check_no_normaliser",
    "check_noiseless_risk",
    "check_normalised",
    "check_not_plain",
    "check_offset",
    "check_one_hand",
    "check_one_layer",
    "check_one_product",
    "check_orthogonal_design",
    "check_plateau",
    "check_positive_exponents",
    "check_random_flow",
    "check_random_scale",
    "check_repeated_query",
    "check_repeated_steps",
    "check_repulsion",
    "check_same_step",
    "check_self_attention",
    "check_shortest",
    "check_sign_labels",
    "check_sign_survivors",
    "check_silence",
    "check_slope_noise",
    "check_step_ratio",
    "check_step_sizes",
    "check_swapped_slots",
    "check_theorem_1",
    "check_theorem_3",
    "check_theorem_4_1",
    "check_tied",
    "check_trained_short",
    "check_two_layers",
    "check_wirtinger",
    "check_without_skew",
    "check_worse_than_zero",
]
