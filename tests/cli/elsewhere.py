"""``sestet`` on a machine without extras, whose model servers listen at the address of the first argument."""

import sys

from sestet.cli import main
from sestet.models import provider
from sestet.models.provider import LOCAL_PACKAGE
from sestet.setup import choices


def is_installed(package: str) -> bool:
    return package != LOCAL_PACKAGE and provider.is_installed(package)


if __name__ == "__main__":
    place = sys.argv.pop(1)
    choices.usual_places = lambda: (place,)
    choices.is_installed = is_installed
    main()
