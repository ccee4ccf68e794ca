"""Links lead to the same place with every version of Python."""

import errno
from pathlib import Path

import pytest

from sestet.config.links import resolved


def test_a_link_leads_to_its_place_also_if_nothing_is_there(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real"
    (tmp_path / "link").symlink_to(real)

    assert resolved(tmp_path / "link" / "below") == real / "below"


@pytest.mark.parametrize("below", ["", "below/it"])
def test_a_link_that_leads_to_itself_is_an_error_of_the_system(tmp_path: Path, below: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(OSError, match="Too many levels") as error:
        resolved(tmp_path / "loop" / below)

    assert error.value.errno == errno.ELOOP
