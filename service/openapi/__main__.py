"""Write the contract and its page: `python -m service.openapi`."""

import sys

from service.openapi.generate import main

sys.exit(main(sys.argv[1:]))
