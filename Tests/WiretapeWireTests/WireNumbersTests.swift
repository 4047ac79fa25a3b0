import Testing
import WiretapeBytes
import WiretapeWire

/// Numbers that a peer writes on the wire, at their limits: bytes are taken or refused, and nothing traps.
@Suite struct WireNumbersTests {
    static let numbers = [
        "0", "1", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1", "+1", "1.5", "1e308",
        String(repeating: "9", count: 400), "007",
    ]
    private static let hex =
        numbers.compactMap { UInt64($0) }.map { String($0, radix: 16) } + [
            "7fffffffffffffff", "8000000000000000", "ffffffffffffffff", "10000000000000000", "-1",
            String(repeating: "f", count: 400), String(repeating: "0", count: 400) + "1",
        ]

    /// Whatever a length says, a body is never longer than it, nor is more said than came.
    @Test func lengthsOfBodies() {
        for number in Self.numbers {
            let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(number)\r\n\r\nab"
            let response = "HTTP/1.1 200 OK\r\nContent-Length: \(number)\r\nRetry-After: \(number)\r\n\r\nab"
            for (role, text) in [(Direction.toServer, request), (.toClient, response)] {
                let heard = HTTPHeard.hear(
                    role, [Array(text.utf8)], expecting: role == .toClient ? ["GET"] : [], fin: true)
                #expect(!heard.isEmpty)
                let isLength = UInt64(number).map { $0 < 1 << 63 } ?? false
                #expect(heard.contains(.bad(role == .toServer ? 400 : 502)) || isLength, "\(number): \(heard)")
            }
        }
        for number in Self.hex {
            let text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(number)\r\nab"
            #expect(!HTTPHeard.hear(.toServer, [Array(text.utf8)], fin: true).isEmpty, "\(number)")
            #expect(!HTTPHeard.hear(.toServer, text.utf8.map { [$0] }, fin: true).isEmpty, "\(number)")
        }
        for status in Self.numbers {
            #expect(
                !HTTPHeard.hear(.toClient, [Array("HTTP/1.1 \(status) OK\r\n\r\n".utf8)], expecting: ["GET"]).isEmpty)
        }
    }

    @Test func lengthsOfFrames() {
        let lengths: [UInt64] = [
            0, 125, 126, 65_535, 65_536, 1 << 31, 1 << 32, 1 << 53, 1 << 62, .max >> 1, 1 << 63, .max,
        ]
        for length in lengths {
            for opcode in 0...15 as ClosedRange<UInt8> {
                let big = (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * (7 - $0))) }
                for frame in [[0x80 | opcode, 0xff] + big + [1, 2, 3, 4, 5], [opcode, 0x7f] + big + [5, 6]] {
                    for direction in [Direction.toServer, .toClient] {
                        _ = MessageAssemblerTests.hear(direction, [frame])
                        _ = MessageAssemblerTests.hear(direction, frame.map { [$0] })
                    }
                }
            }
        }
        for code in [0, 1, 999, 1000, 4999, 5000, 65_535] as [UInt16] {
            let payload = [UInt8(code >> 8), UInt8(code & 0xff)]
            _ = CloseFrame(payload.span)
        }
    }

    /// A fragmented message whose fragments add up to more than is counted.
    @Test func fragmentsThatAddUp() {
        let most = (0..<8).map { UInt8(truncatingIfNeeded: (UInt64.max >> 1) >> UInt64(8 * (7 - $0))) }
        let first: [UInt8] = [0x01, 0x81, 0, 0, 0, 0, 0x61]
        let heard = MessageAssemblerTests.hear(.toServer, [first + [0x80, 0xff] + most + [0, 0, 0, 0, 0x62]])
        #expect(heard == ["violation 1009"])
    }

    @Test func lengthsOfMessagePack() {
        for mark in UInt8.min...UInt8.max {
            for fill in [0x00, 0x7f, 0x80, 0xff] as [UInt8] {
                let bytes = [mark] + [UInt8](repeating: fill, count: 16)
                var at = 0
                _ = try? MessagePack.value(bytes.span, &at)
                at = 0
                let listed = [0x91] + bytes
                _ = try? MessagePack.value(listed.span, &at)
            }
        }
    }

    @Test func eventsAndParts() {
        for number in Self.numbers {
            var reader = SSEReader()
            let event = Array("retry: \(number)\nid: \(number)\ndata: \(number)\n\n".utf8)
            var at = 0
            while at < event.count {
                let before = at
                switch reader.feed(event.span, from: at) {
                case .event(_, let next), .comment(_, let next), .retry(_, let next), .tooLong(let next): at = next
                case .more: at = event.count
                }
                #expect(at > before)
            }
            let body = Array("--x\r\nContent-Length: \(number)\r\n\r\nabc\r\n--x--\r\n".utf8)
            var parts = MultipartReader(boundary: Array("x".utf8))
            at = 0
            while at < body.count {
                switch parts.feed(body.span, from: at) {
                case .part(let part, let next):
                    #expect(part.body.count <= 3)
                    at = next
                case .end(let next), .tooLong(let next): at = next
                case .more: at = body.count
                }
            }
            _ = DeflateParameters(accepted: ["permessage-deflate; server_max_window_bits=\(number)"])
            _ = DurationText.parse("\(number)h")
            _ = DurationText.parse("\(number)ns").map(DurationText.describe)
            _ = JSONValue.number(number).int
            if let value = UInt64(number) {
                _ = [DurationText.describe(value), DurationText.spoken(value), DurationText.milliseconds(value)]
            }
        }
    }
}
