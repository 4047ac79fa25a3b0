import Testing
import WiretapeWire

struct SSEReaderTests {
    enum Heard: Equatable {
        case event(String, String, String)
        case comment(String)
        case retry(UInt64)
        case tooLong
    }

    static func hear(_ pieces: [[UInt8]], limit: Int = 1 << 20) -> [Heard] {
        var reader = SSEReader(limit: limit)
        var heard: [Heard] = []
        for piece in pieces {
            var at = 0
            feed: while true {
                switch reader.feed(piece.span, from: at) {
                case .more: break feed
                case .event(let event, let next):
                    heard.append(.event(event.type, String(decoding: event.data, as: UTF8.self), event.id))
                    at = next
                case .comment(let text, let next):
                    heard.append(.comment(String(decoding: text, as: UTF8.self)))
                    at = next
                case .retry(let time, let next):
                    heard.append(.retry(time))
                    at = next
                case .tooLong(let next):
                    heard.append(.tooLong)
                    at = next
                }
            }
        }
        return heard
    }

    static let stream = Array(
        """
        \u{feff}: hello\r\n\r\ndata: {"type":6}\u{1e}\r\n\r\nid: 7\nevent: add\ndata: a\ndata\ndata:  b\n\nevent: lost\n\n\
        retry: 2500\ndata: ü\r\rid: x\u{0}\ndatax: no\ndata:only\n\nid\nretry: 1s\ndata: last\n\n:\ndata: cut
        """.utf8)

    @Test func everySplitGivesTheSameEvents() {
        let expected: [Heard] = [
            .comment(" hello"), .event("message", "{\"type\":6}\u{1e}", ""), .event("add", "a\n\n b", "7"),
            .retry(2500),
            .event("message", "ü", "7"), .event("message", "only", "7"), .event("message", "last", ""), .comment(""),
        ]
        for way in pieces(of: Self.stream) { #expect(Self.hear(way) == expected) }
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func tooLongEventsAreSkipped(end: String) {
        let long = String(repeating: "x", count: 40)
        let text = [
            "data: a", "", "data: \(long)", "data: b", "", "data: c", "", "data: 0123456789", "data: 0123456789",
            "data: d",
            "", "data: e", "", "",
        ].joined(separator: end)
        for way in pieces(of: Array(text.utf8)) {
            #expect(
                Self.hear(way, limit: 20) == [
                    .event("message", "a", ""), .tooLong, .event("message", "c", ""), .tooLong,
                    .event("message", "e", ""),
                ])
        }
    }
}
