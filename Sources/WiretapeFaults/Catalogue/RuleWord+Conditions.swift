extension RuleWord {
    /// Every condition in brackets that has a word of its own; ``Condition/keys`` are these.
    package static let conditions: [RuleWord] = [
        RuleWord("direction", "toClient or toServer", "drop on message[direction=toServer]"),
        RuleWord("protocol", "the session's protocol", "reset after message[3, protocol=signalr]"),
        RuleWord("transport", "ws, sse or lp, or several: ws|sse", "reset after message[3, transport=ws|sse]"),
        RuleWord("type", "the protocol's type of a message", "drop on message[type=Completion]"),
        RuleWord("target", "the method that a message calls", "drop on message[target=ReceiveMessage]"),
        RuleWord("event", "the name of an event", "drop on message[event=new-message]"),
        RuleWord("operation", "the operation that a message is about", "delay(1s) on message[operation=OnTick]"),
        RuleWord("channel", "the channel that a message is about", "drop on message[channel=presence-room]"),
        RuleWord("invocation", "the id of the call that a message belongs to", "drop on message[invocation=2]"),
        RuleWord("regex", "found in the first 64 KiB of the payload", "drop on message[regex=\"[0-9]+\"]"),
        RuleWord("size", "bytes of the payload: 100, 100..200, >100 or <100", "corrupt on message[size=>1000]"),
        RuleWord("method", "the request's method", "respond(503) on request[method=POST]"),
        RuleWord("path", "the request's path; /chat* is all that begins so", "respond(404) on request[path=/chat*]"),
        RuleWord("token", "stale: the same credential as in the last attempt", "respond(401) on request[token=stale]"),
        RuleWord("listener", "the listener that was connected to", "refuse on accept[listener=chat]"),
        RuleWord("by", "who ends the connection: server or client", "drop on close[by=server]"),
        RuleWord("code", "the code of the close frame", "delay(1s) on close[code=1001]"),
    ]

    /// What else stands in brackets.
    package static let brackets: [RuleWord] = [
        RuleWord("3, 2..5, 1|4, every 3", "which of them, counted per session from 1", "drop on message[1|4]"),
        RuleWord(
            "attempt, retry, session", "as behind 'in'", "respond(503) on connect[retry=1..2]"),
        RuleWord(
            "per", "what ordinals are counted in: session, connection or run", "drop on message[3, per=connection]"),
        RuleWord("/POINTER", "the value at a JSON Pointer; texts stand in quotes", "drop on StreamItem[/item/id=7]"),
        RuleWord(
            "header.NAME", "a header field of the request; * is any value", "respond(401) on request[header.Cookie=*]"),
    ]
}
