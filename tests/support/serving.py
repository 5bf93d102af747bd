import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import TCPServer

from flask import Flask
from werkzeug.serving import make_server


@contextmanager
def serving(server: TCPServer) -> Iterator[str]:
    """Run an HTTP server until the block ends. Yield its URL."""
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def served(app: Flask, port: int = 0) -> Iterator[str]:
    """Serve the pages of an arena until the block ends, on a free port if `port` is 0."""
    with serving(make_server("127.0.0.1", port, app, threaded=True)) as url:
        try:
            yield url
        finally:
            app.extensions["stich-play"].close()
