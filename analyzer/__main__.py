"""`python -m analyzer`, for where the script is not on the PATH."""

import sys

from analyzer.cli import main

sys.exit(main())
