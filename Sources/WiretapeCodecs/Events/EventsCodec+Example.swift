extension EventsCodec {
    package static var example: [String] {
        [
            "# A tape is what passed between a client and its server, a message a line, in order. Lines like this one, which",
            "# begin with a hash sign, are comments and survive every tool. The client asks for the stream with a GET; a first",
            "# line with \"d\":\">\" is the body of a POST instead.",
            "#",
            #"# "<" went to the client. As text it is the event as it is on the wire, with the empty line that ends it: its name"#,
            "# is what rules call it by, and a client that comes back with its id gets what follows.",
            #"{"d":"<","text":"retry: 2000\n\n"}"#,
            #"{"d":"<","after":"50ms","text":"id: 1\nevent: price\ndata: {\"value\":1}\n\n"}"#,
            #"# "after" is the time since the line before: 250ms, 1.5s, 2m. As json it is the data of an event without a name."#,
            #"{"d":"<","after":"1s","json":{"hello":"world"}}"#,
            "# The end of the answer: without it the stream stays open.",
            #"{"e":"close","d":"<","after":"100ms","code":1000}"#,
        ]
    }
}
