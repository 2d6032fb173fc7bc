"""How explorers write numbers."""

import math


def number(value: float, digits: int = 2) -> str:
    """A number with so many decimals, a real minus sign, and infinity in a word.

    >>> number(-0.001), number(-1.5), number(float("inf"))
    ('0.00', '−1.50', 'infinite')
    """
    if not math.isfinite(value):
        return "infinite"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def significant(value: float, digits: int = 3) -> str:
    """A number with so many digits, tiny ones as a power of ten.

    >>> significant(0.012345), significant(0.0), significant(3.2e-9)
    ('0.0123', '0', '3.2 × 10⁻⁹')
    """
    if not math.isfinite(value):
        return "infinite"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        return f"{value:.{digits}g}".replace("-", "−")
    mantissa, power = f"{value:.{max(digits - 2, 0)}e}".split("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} × 10{raised}".replace("-", "−")


def percent(share: float) -> str:
    """A share in per cent.

    >>> percent(0.0512)
    '5.1 %'
    """
    return f"{number(100 * share, 1)} %"
