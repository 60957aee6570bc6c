"""What the best arm reveals must stay; in doubles, a parameter agrees on it up to rounding only.

With e = ⟨λ − φ, x*⟩, the parameter λ − e x*/|x*|² agrees with φ exactly.  It differs from λ by
e ⟨x*, y⟩/|x*|² in what arm y reveals, and a proof that counts this against itself holds for it.
Where arms are nearly parallel to x*, λ is far away and e much larger than the last digit of φ.
"""

import numpy as np

ROUNDING = 8.0 * np.finfo(np.float64).eps


def disagreement(top: np.ndarray, phi: np.ndarray, parameter: np.ndarray) -> float:
    """|e|, less what rounding explains, for the best arm ``top``."""
    rounding = ROUNDING * float(np.abs(top) @ (np.abs(parameter) + np.abs(phi)))
    return max(0.0, abs(float((parameter - phi) @ top)) - rounding)


def slips(
    top: np.ndarray, phi: np.ndarray, parameter: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    """e ⟨x*, y⟩/|x*|² for each of the vectors y."""
    size = float(np.abs(top).max(initial=0.0))
    if size == 0.0:
        return np.zeros(vectors.shape[:-1])
    unit = top / size
    return np.asarray(vectors @ unit * (float((parameter - phi) @ unit) / float(unit @ unit)))
