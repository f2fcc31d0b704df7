"""No libm and no reordered sum in what computes feature values; and the lint that says so sees each of them."""

from __future__ import annotations

import pytest

from tests.architecture import libm

CAUGHT = (
    *(
        "import math\nmath.exp(x)",
        "import math as m\nm.log(x)",
        "from math import sin",
        "from math import pow as power",
    ),
    *(
        "import math\nmath.tan(x)",
        "import math\nmath.hypot(x, y)",
        "import math\nmath.fsum(x)",
        "import math\nmath.e ** x",
    ),
    *(
        "import numpy as np\nnp.exp(x)",
        "import numpy\nnumpy.log1p(x)",
        "from numpy import power",
        "x ** 0.5",
        "x **= y",
    ),
    *("import numpy as np\nnp.dot(x, y)", "import numpy as np\nnp.sum(x)", "import numpy as np\nnp.linalg.norm(x)"),
    *("import numpy as np\nnp.add.reduce(x)", "x @ y", "x.sum()", "x.dot(y)", "x.mean(axis=1)", "sum(x)", "pow(x, y)"),
    *("2.0 ** x", "1.5 ** 2", "x ** 2", "import numexpr", "from scipy.special import expit", "import cmath"),
    *("import statistics", "import numpy as np\nnp.arctan2(x, y)", "import math\nf = math.cbrt"),
)
PASSED = (
    *("import math\nmath.sqrt(x)", "import math\nmath.floor(x) + math.inf", "from math import ldexp, frexp, fmod"),
    *(
        "2.0 ** -28",
        "10 ** digits",
        "import numpy as np\nnp.sqrt(np.floor(x))",
        "import numpy as np\nnp.where(x, y, z)",
    ),
    *("from kernels import pow_", "import math\nmath.pi / 180.0", "x.exp(y)", "dot(x, y)"),
)


@pytest.mark.parametrize("text", CAUGHT)
def test_lint_catches_what_is_not_exact(text: str) -> None:
    assert libm.of_source(text, "kernel.py") != []


@pytest.mark.parametrize("text", PASSED)
def test_lint_passes_what_is_exact(text: str) -> None:
    assert libm.of_source(text, "kernel.py") == []


def test_every_inexact_function_of_math_and_numpy_is_caught() -> None:
    import math

    import numpy as np

    for name in dir(math):
        if not name.startswith("_") and name not in libm.EXACT_MATH:
            assert libm.of_source(f"import math\nmath.{name}(x)", "kernel.py") != [], name
    assert [name for name in libm.INEXACT_NUMPY if not hasattr(np, name)] == []


def test_code_that_computes_values_is_exact() -> None:
    assert libm.violations() == []


def test_every_exception_is_still_needed() -> None:
    assert libm.EXACT_USES.keys() - {place for _, place in libm.uses()} == set()
