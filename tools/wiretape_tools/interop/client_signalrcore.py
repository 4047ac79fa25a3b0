"""signalrcore: client_signalrcore.py URL SCRIPT. Does what the script says, prints what the application observes."""

import json
import logging
import sys
import threading
import traceback

from signalrcore.hub_connection_builder import HubConnectionBuilder
from signalrcore.subject import Subject
from signalrcore.types import HttpTransportType, HubProtocolEncoding

LIMIT = 60  # seconds for one step
TRANSPORTS = {
    "ws": HttpTransportType.web_sockets,
    "sse": HttpTransportType.server_sent_events,
    "lp": HttpTransportType.long_polling,
}
PROTOCOLS = {"json": HubProtocolEncoding.text, "messagepack": HubProtocolEncoding.binary}


class Player:
    def __init__(self, url, script):
        self.script = script
        self.seen = {}
        self.pending = {}  # invocation id: (chain, done)
        self.changed = threading.Condition(threading.RLock())
        self.opened = threading.Event()
        self.closed = threading.Event()
        how = script["connection"]
        builder = HubConnectionBuilder().with_url(url, options={"transport": TRANSPORTS[how["transport"]]})
        builder = builder.with_hub_protocol(PROTOCOLS[how["protocol"]])
        self.hub = builder.configure_logging(logging.CRITICAL).build()
        received = self.hub.on_message
        self.hub.on_message = lambda messages: self.guarded(received, messages)
        self.hub.on_open(self.on_open)
        self.hub.on_close(self.on_close)
        self.hub.on_error(self.on_error)
        for name in script["callbacks"]:
            self.hub.on(name, lambda args, name=name: self.called(name, args))

    def observe(self, chain, event, **detail):
        with self.changed:
            print(json.dumps({"chain": chain, "event": event, **detail}, default=list), flush=True)

    def guarded(self, received, messages):
        """What arrives waits until the call that asked for it has returned: its handlers are set only then."""
        with self.changed:
            received(messages)

    def on_open(self):
        self.observe("connection", "opened")
        self.opened.set()

    def on_close(self):
        self.observe("connection", "closed")
        self.closed.set()

    def on_error(self, message):
        with self.changed:
            chain, done = self.pending.pop(message.invocation_id)
        self.observe(chain, "error", message=message.error)
        done.set()

    def called(self, name, args):
        self.observe(name, "callback", args=args)
        with self.changed:
            self.seen[name] = self.seen.get(name, 0) + 1
            self.changed.notify_all()

    def start(self, step):
        """Begins a step and returns what to wait for."""
        return getattr(self, "do_" + step["do"])(step)

    def do_invoke(self, step):
        done = threading.Event()

        def completed(message):
            with self.changed:
                self.pending.pop(message.invocation_id)
            self.observe(step["chain"], "result", value=message.result)
            done.set()

        with self.changed:
            invocation = self.hub.invoke(step["method"], step["args"], completed)
            self.pending[invocation.invocation_id] = (step["chain"], done)
        return done

    def do_send(self, step):
        self.hub.send(step["method"], step["args"])
        return

    def do_wait(self, step):
        with self.changed:
            if not self.changed.wait_for(lambda: self.seen.get(step["callback"], 0) >= step["count"], LIMIT):
                raise TimeoutError(f"no {step['count']} calls of {step['callback']}")
        return

    def do_stream(self, step):
        done = threading.Event()

        def item(value):
            self.observe(step["chain"], "item", value=value)

        def completed(_):
            self.observe(step["chain"], "completed")
            done.set()

        with self.changed:
            stream = self.hub.stream(step["method"], step["args"])
            stream.subscribe({"next": item, "complete": completed, "error": lambda _: None})
            self.pending[self.newest_stream(stream)] = (step["chain"], done)
        return done

    def newest_stream(self, stream):
        """The id under which the connection keeps this stream: errors arrive with nothing else."""
        return next(key for key, handlers in self.hub.stream_handlers.items() if stream in handlers)

    def do_upload(self, step):
        subject = Subject()
        self.hub.send(step["method"], subject)
        for item in step["items"]:
            subject.next(item)
        subject.complete()
        self.observe(step["chain"], "sent")
        return

    def do_together(self, step):
        return [self.start(s) for s in step["steps"]]

    def finish(self, step, what):
        for done in what if isinstance(what, list) else [what]:
            if done is not None and not done.wait(LIMIT):
                raise TimeoutError(f"no answer to {step}")

    def main(self):
        self.hub.start()
        if not self.opened.wait(LIMIT):
            raise TimeoutError("the connection did not open")
        for step in self.script["steps"]:
            self.finish(step, self.start(step))
        self.hub.stop()
        self.closed.wait(LIMIT)


if __name__ == "__main__":
    try:
        with open(sys.argv[2], encoding="utf-8") as file:
            Player(sys.argv[1], json.load(file)).main()
    except Exception:
        print(json.dumps({"chain": "client", "event": "failed", "message": traceback.format_exc()}), flush=True)
        sys.exit(1)
