"""A standard transformer on prompts: softmax attention, layer norms and dense layers from torch.

Garg et al. (2022) and Akyürek et al. (2023) trained such networks on prompts of linear regression.
Here one reads the tokens (x_i, y_i) and (x_query, 0) as a set; nothing in it was built for the
task, so what it computes after training is for measurements to say.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from icgd import validation
from icgd.regression.data import Prompts, normal


class StandardTransformer(nn.Module):
    """Read-in, `layers` pre-norm encoder layers of `torch.nn`, read-out at the query's token.

    Every token attends to the examples only, as in `LinearTransformer`, so the examples may come in
    any order. All weights are zero, and it predicts 0, until `initialise` is called.

    Args:
        d: dimension of a covariate.   width: of the residual stream, a multiple of `heads`.
        layers: each is attention and a dense layer with one hidden layer of 2 width GELU units.
        device: where the weights live; prompts are brought there.
    """

    def __init__(
        self,
        d: int,
        *,
        width: int,
        layers: int,
        heads: int = 4,
        device: str | torch.device | None = None,
    ):
        super().__init__()
        self.d = validation.positive_int("d", d)
        width = validation.positive_int("width", width)
        heads = validation.positive_int("heads", heads)
        layers = validation.positive_int("layers", layers)
        if width % heads:
            raise ValueError(
                f"width must be a multiple of heads, got {width} and {heads}; "
                "every head reads width / heads numbers of a token."
            )
        # On "meta" nothing is drawn: torch's own initialisation would use the global generator.
        options = {"dtype": torch.float64, "device": "meta"}
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, activation="gelu",
            batch_first=True, norm_first=True, **options,
        )  # fmt: skip
        self.read_in = nn.Linear(d + 1, width, **options)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.read_out = nn.Linear(width, 1, **options)
        self.to_empty(device=torch.get_default_device() if device is None else device)
        with torch.no_grad():
            for weight in self.parameters():
                weight.zero_()

    def initialise(self, *, generator: torch.Generator) -> "StandardTransformer":
        """Draw matrices from N(0, 1 / inputs); biases 0, gains of the norms 1; returns the module.

        Numbers are drawn on the processor, so a seed gives the same weights on every device.
        """
        validation.generator(generator)
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if weight.ndim == 2:
                    drawn = normal(*weight.shape, generator=generator)
                    weight.copy_(drawn / weight.shape[1] ** 0.5)
                else:
                    weight.fill_(float("norm" in name and name.endswith("weight")))
        return self

    def forward(self, prompts: Prompts) -> Float[Tensor, " batch"]:
        """The prediction of y_query for each prompt."""
        tokens = prompts.tokens().to(self.read_in.weight.device)
        count = tokens.shape[1]
        hidden = torch.zeros(count, count, dtype=torch.bool, device=tokens.device)
        hidden[:, -1] = True  # the query is no example
        return self.read_out(self.encoder(self.read_in(tokens), mask=hidden)[:, -1])[:, 0]
