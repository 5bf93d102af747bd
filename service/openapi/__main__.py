"""Write the contract: `python -m service.openapi`."""

from service.openapi.generate import main

main()
