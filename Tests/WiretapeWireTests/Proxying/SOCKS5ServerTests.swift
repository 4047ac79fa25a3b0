import Testing
import WiretapeBytes
import WiretapeWire

/// The opening of SOCKS 5 (RFC 1928), whole and byte by byte.
struct SOCKS5ServerTests {
    private func feed(_ bytes: [UInt8], split: Bool) -> (outcomes: [SOCKS5Server.Outcome], rest: [UInt8]) {
        var machine = SOCKS5Server()
        var outcomes: [SOCKS5Server.Outcome] = []
        for piece in split ? bytes.map({ [$0] }) : [bytes] {
            var outcome = machine.feed(piece.span)
            while outcome != .more {
                outcomes.append(outcome)
                guard case .answer = outcome else { break }
                outcome = machine.feed(Span())
            }
        }
        return (outcomes, machine.rest)
    }

    @Test(arguments: [false, true])
    func aNameIsConnectedTo(split: Bool) {
        let name = Array("chat.example.com".utf8)
        let (outcomes, _) = feed([5, 2, 2, 0] + [5, 1, 0, 3, UInt8(name.count)] + name + [0x1f, 0x90], split: split)
        #expect(outcomes == [.answer([5, 0]), .connect(host: "chat.example.com", port: 8080)])
    }

    @Test(
        arguments: [
            ([1, 127, 0, 0, 1], "127.0.0.1"),
            ([4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "::1"),
            ([4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2], "2001:db8:0:1::2"),
            ([4, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "2001:db8::"),
            ([4, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0], "1:2:3:4:5:6:7:0"),
        ] as [([UInt8], String)])
    func anAddressIsConnectedTo(address: [UInt8], text: String) {
        let (outcomes, _) = feed([5, 1, 0, 5, 1, 0] + address + [0, 80], split: false)
        #expect(outcomes == [.answer([5, 0]), .connect(host: text, port: 80)])
    }

    /// What a client says at once belongs to the host.
    @Test func bytesBehindTheRequestAreLeft() {
        let (outcomes, rest) = feed([5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 1, 187, 22, 3, 1], split: false)
        #expect(outcomes.last == .connect(host: "10.0.0.1", port: 443))
        #expect(rest == [22, 3, 1])
    }

    @Test(
        arguments: [
            ([5, 1, 2], [5, 0xff]),
            ([5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80], [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80], [5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 1, 0, 9, 1], [5, 8, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 4, 1, 0, 1, 1], [5, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 1, 0, 3, 3, 97, 10, 98, 0, 80], [5, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
            ([5, 1, 0, 5, 1, 0, 3, 0, 0, 80], [5, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
        ] as [([UInt8], [UInt8])])
    func whatIsNotServedIsRefused(bytes: [UInt8], answer: [UInt8]) {
        guard case .refuse(let said, let reason) = feed(bytes, split: false).outcomes.last else {
            return #expect(Bool(false), "it was not refused")
        }
        #expect(said == answer)
        #expect(!reason.isEmpty)
    }
}
