"""The service in a separate process: `stich serve`."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from tests.support.service.contract import ROOT
from tests.support.service.sealed import SEAL_KEYS


class Running(AbstractContextManager["Running"]):
    """Runs `stich serve` on a free port, and stops it with Ctrl-C."""

    def __init__(self, *options: str, **environ: str) -> None:
        command = [sys.executable, "-m", "stich", "serve", "--port", "0", *options]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environ}, **pipes)
        assert self.process.stdout is not None
        self._output = self.process.stdout
        first_line = self._output.readline()
        address = re.search(r"http://\S+", first_line)
        assert address, first_line + self.process.communicate()[0]
        self.url = address[0]
        self.port = int(self.url.rpartition(":")[2])
        self.session = requests.Session()
        self.session.trust_env = False
        # because the program prints its address just before it listens
        retries = Retry(connect=30, backoff_factor=0.05, backoff_max=2)
        self.session.mount("http://", HTTPAdapter(max_retries=retries))
        assert self.session.get(self.url + "/healthz", timeout=30).status_code == 200

    def post(self, path: str, body: Any) -> Any:
        return self.session.post(self.url + path, json=body, timeout=30).json()

    def stop(self) -> tuple[int, str]:
        """Stop the program with Ctrl-C. Return its exit code and the rest of its output."""
        self.session.close()
        self.process.send_signal(signal.SIGINT)
        output = self._output.read()  # and not `communicate`, which loses what is buffered
        return self.process.wait(timeout=30), output

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            self.stop()
        self.session.close()
        self._output.close()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """`stich serve` in a separate process, with seal keys."""
    with Running(STICH_SEAL_KEYS=SEAL_KEYS) as service:
        yield service
