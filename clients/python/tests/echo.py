"""A WebSocket server that says everything back, with "you said ", and a client that asks it two things."""

import threading

from websockets.sync.client import connect
from websockets.sync.server import serve


class EchoServer:
    """`url` is where it listens; with `stop()`, or the end of its block, it is gone."""

    def __enter__(self):
        self._server = serve(self._talk, "127.0.0.1", 0)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"
        return self

    def _talk(self, connection):
        for message in connection:
            connection.send(f"you said {message}")

    def stop(self):
        self._server.shutdown()
        self._thread.join()

    def __exit__(self, *_):
        self.stop()


def ask(ws, *questions):
    """The answers, one after the other over one connection."""
    with connect(ws, open_timeout=20) as connection:
        answers = []
        for question in questions or ("one", "two"):
            connection.send(question)
            answers.append(connection.recv(timeout=20))
        return answers
