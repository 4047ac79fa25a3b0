import Testing
import WiretapeCommands
import WiretapeProtocol
internal import WiretapeTapeCommands
import WiretapeWire

/// Events with numbers at their limits, in every form in which they are shown.
@Suite struct InspectNumbersTests {
    private static let numbers: [UInt64] = [
        0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 53 + 1, .max >> 1, 1 << 63, .max - 1, .max,
    ]

    private static func events(_ n: UInt64, at time: UInt64) -> [TapeEvent] {
        let kinds: [TapeEvent.Kind] = [
            .open(.init(from: "a", to: "b")),
            .request(x: UInt32(clamping: n), RequestHead(method: "GET", target: "/"), .none),
            .response(
                x: UInt32(clamping: n), ResponseHead(status: Int(clamping: n), headers: []), .streamed, interim: false,
                coding: nil, proxy: false),
            .chunk(x: UInt32(clamping: n), .toClient, [1]), .end(x: UInt32(clamping: n), .toClient, trailers: []),
            .message(.toServer, .text, [0x61], deflated: false, fragments: [Int(clamping: n), Int(clamping: n)]),
            .part(.toServer, .text, n: Int(clamping: n), [1], last: true),
            .close(.toClient, code: UInt16(clamping: n), reason: nil),
            .fault(rule: "r", action: "a", reference: n, delivered: n, line: n),
            .gone(by: .server, how: .fin, why: nil), .gap(lost: n), .take(started: "x"),
            .stop(events: n, connections: n, level: Int(clamping: n)),
        ]
        return kinds.map { TapeEvent(time: time, connection: UInt32(clamping: n), $0) }
    }

    @Test func everyFormatPrintsThem() {
        for n in Self.numbers {
            for time in [n, 0, .max] {
                let events = Self.events(n, at: time) + Self.events(1, at: n) + Self.events(n, at: .max)
                for format in [TableFormat(), JSONFormat(hasRequests: true), SequenceFormat()] as [any InspectFormat] {
                    #expect(!InspectRun.text(format, events).isEmpty)
                }
            }
        }
    }
}
