"""What goes back."""

import numpy as np
import pytest

from ossb.service.answers import document


def test_numbers_of_numpy_are_written_as_what_they_are():
    content = {"rate": np.float64(0.5), "count": np.int64(3), "met": np.bool_(True)}
    assert document(content).body == b'{"rate":0.5,"count":3,"met":true}'


def test_what_is_no_document_is_refused():
    with pytest.raises(TypeError, match="complex"):
        document({"value": 1j})
