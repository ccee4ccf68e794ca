"""``sestet`` on a machine whose model servers listen at the address of the first argument.

The engine of models in this program is not installed, unless the variable WITH_ENGINE is set.
"""

import os
import sys

from sestet.cli import main
from sestet.models import provider
from sestet.models.provider import LOCAL_PACKAGE
from sestet.setup import choices


def is_installed(package: str) -> bool:
    return "WITH_ENGINE" in os.environ if package == LOCAL_PACKAGE else provider.is_installed(package)


if __name__ == "__main__":
    place = sys.argv.pop(1)
    choices.usual_places = lambda: (place,)
    choices.is_installed = is_installed
    main()
