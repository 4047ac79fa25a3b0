from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

RECORDINGS = Path(__file__).resolve().parents[3] / "recordings"


@pytest.fixture
def chat_tape():
    """ada and bob chat (SignalR, JSON, one WebSocket): recordings/README.md."""
    return RECORDINGS / "chat.tape.gz"


@pytest.fixture
def gql_tape():
    """Subscriptions, queries and a mutation of gql: recordings/README.md."""
    return RECORDINGS / "graphql-gql.tape.gz"
