"""Write the contract and its page: `python -m service.openapi`."""

from service.openapi.generate import main

main()
