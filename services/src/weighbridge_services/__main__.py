"""`python -m weighbridge_services` is the command `weighbridge`."""

import sys

from weighbridge_services.cli import main

sys.exit(main())
