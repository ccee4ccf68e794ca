"""``sestet`` on a machine whose model servers listen at the place that is named first."""

import sys

from sestet.cli import main
from sestet.cli.setting_up import choices

if __name__ == "__main__":
    place = sys.argv.pop(1)
    choices.usual_places = lambda: (place,)
    main()
