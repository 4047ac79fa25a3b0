import Testing
import WiretapeCodecs
import WiretapeCore

/// What every codec of the list owes, over the payloads of real sessions.
@Suite struct CodecContractTests {
    struct Sample: Sendable {
        var direction: Direction
        var opcode: Opcode
        var bytes: [UInt8]
    }

    private static let opening = StreamOpening(
        request: RequestHead(
            method: "GET", target: "/hub?id=x", headers: [HeaderField("Upgrade", "websocket")]))

    private static func samples() throws -> [Sample] { try FixtureTape.signalR.flatMap(samples(of:)) }

    private static func samples(of tape: String) throws -> [Sample] {
        try FixtureTape(tape).events.compactMap { event in
            guard case .message(let direction, let opcode, let bytes, _, _) = event.kind, bytes.count < 4_096 else {
                return nil
            }
            return Sample(direction: direction, opcode: opcode, bytes: bytes)
        }
    }

    private func decode(_ codec: inout any FrameCodec, _ sample: Sample) -> [Message] {
        var out: [Message] = []
        codec.decode(sample.bytes.span, sample.opcode, sample.direction, into: &out)
        return out
    }

    @Test func namesAreUnique() {
        #expect(Set(Codecs.all.map(\.id)).count == Codecs.all.count)
        #expect(Codecs.named("signalr")?.id == "signalr" && Codecs.named("nope") == nil)
    }

    @Test(arguments: Codecs.all.map(\.id))
    func messagesMakeUpThePayload(_ id: String) throws {
        var codec = try #require(Codecs.named(id)).type.init(Self.opening)
        for sample in try Self.samples() {
            let messages = decode(&codec, sample)
            #expect(messages.flatMap(\.bytes) == sample.bytes)
            #expect(messages.allSatisfy { $0.direction == sample.direction && $0.opcode == sample.opcode })
            #expect(messages.allSatisfy { !$0.title.isEmpty && !$0.summary.contains("\n") })
        }
    }

    @Test(arguments: Codecs.all.map(\.id))
    func writtenWithoutBindingsTheyMeanTheSame(_ id: String) throws {
        let entry = try #require(Codecs.named(id))
        var codec = entry.type.init(Self.opening)
        var second = entry.type.init(Self.opening)
        for sample in try Self.samples() {
            let messages = decode(&codec, sample)
            var bytes: [UInt8] = []
            var opcode = sample.opcode
            for message in messages { opcode = codec.write(message, ids: IDMap(), on: .ws, into: &bytes) }
            #expect(bytes == sample.bytes && opcode == sample.opcode)
            let again = decode(&second, Sample(direction: sample.direction, opcode: opcode, bytes: bytes))
            #expect(again.map(\.matchKey) == messages.map(\.matchKey))
            #expect(again == messages)
        }
    }

    @Test(arguments: Codecs.all.map(\.id))
    func writtenWithOtherIdsOnlyTheIdsDiffer(_ id: String) throws {
        let entry = try #require(Codecs.named(id))
        var recorded = entry.type.init(Self.opening)
        var live = entry.type.init(Self.opening)
        for sample in try Self.samples() {
            for message in decode(&recorded, sample) {
                var ids = IDMap()
                for chain in message.opens + [message.chain].compactMap(\.self) { ids.bind(chain, to: "x-\(chain.id)") }
                var bytes: [UInt8] = []
                let opcode = recorded.write(message, ids: ids, on: .ws, into: &bytes)
                let written = decode(&live, Sample(direction: message.direction, opcode: opcode, bytes: bytes))
                #expect(written.map(\.matchKey) == [message.matchKey])
                guard message.role != .handshake else { continue }
                #expect(written.first?.chain == message.chain.map { Chain("x-\($0.id)", origin: $0.origin) })
                #expect(written.first?.opens == message.opens.map { Chain("x-\($0.id)", origin: $0.origin) })
            }
        }
    }

    /// Cut, flipped and swapped bytes: a trap would end the whole run.
    @Test(arguments: Codecs.all.map(\.id))
    func damageIsOpaqueAndNeverATrap(_ id: String) throws {
        let entry = try #require(Codecs.named(id))
        var codec = entry.type.init(Self.opening)
        var random = SplitMix64(seed: 1)
        func check(_ sample: Sample) {
            let messages = decode(&codec, sample)
            #expect(messages.flatMap(\.bytes) == sample.bytes)
            for message in messages where message.role == .opaque { #expect(!message.summary.isEmpty) }
        }
        for sample in try Self.samples() where sample.bytes.count < 300 {
            for end in sample.bytes.indices where end % 3 == 0 {
                check(Sample(direction: sample.direction, opcode: sample.opcode, bytes: Array(sample.bytes[..<end])))
            }
            for _ in 0..<8 {
                var damaged = sample
                for _ in 0...random.below(3) {
                    let at = random.below(damaged.bytes.count)
                    damaged.bytes[at] = UInt8(truncatingIfNeeded: random.next())
                }
                damaged.direction = random.below(2) == 0 ? .toServer : .toClient
                damaged.opcode = random.below(2) == 0 ? .text : .binary
                check(damaged)
            }
        }
        check(Sample(direction: .toServer, opcode: .binary, bytes: [UInt8](repeating: 0x5b, count: 100_000) + [0x1e]))
    }

    /// A payload cut anywhere: both halves are accounted for, and what follows is read as if nothing had been.
    @Test(arguments: FixtureTape.signalR)
    func splitAtEveryByte(_ tape: String) throws {
        let entry = try #require(Codecs.named("signalr"))
        var codec = entry.type.init(Self.opening)
        for sample in try Self.samples(of: tape) {
            guard sample.bytes.count < 80, !sample.bytes.starts(with: Array("{\"p".utf8)) else {
                _ = decode(&codec, sample)
                continue
            }
            for cut in 1..<sample.bytes.count {
                var halves = codec
                let parts = [sample.bytes[..<cut], sample.bytes[cut...]].map(Array.init)
                let messages = parts.flatMap {
                    decode(&halves, Sample(direction: sample.direction, opcode: sample.opcode, bytes: $0))
                }
                #expect(messages.flatMap(\.bytes) == sample.bytes)
                #expect(messages.contains { $0.role == .opaque } || messages.count > 1)
            }
            #expect(decode(&codec, sample).allSatisfy { $0.role != .opaque })
        }
    }

    /// Payloads that follow each other in one direction may as well be one.
    @Test(arguments: FixtureTape.signalR)
    func joinedTheyMeanTheSame(_ tape: String) throws {
        let entry = try #require(Codecs.named("signalr"))
        var apart = entry.type.init(Self.opening)
        var together = entry.type.init(Self.opening)
        var run: [Sample] = []
        func compare() {
            guard let first = run.first else { return }
            let messages = run.flatMap { decode(&apart, $0) }
            let joined = Sample(
                direction: first.direction, opcode: first.opcode, bytes: run.flatMap(\.bytes))
            #expect(
                decode(&together, joined)
                    == messages.map { message in
                        var message = message
                        message.opcode = first.opcode
                        return message
                    })
        }
        for sample in try Self.samples(of: tape) {
            if let last = run.last, last.direction != sample.direction {
                compare()
                run = []
            }
            run.append(sample)
        }
        compare()
    }

    @Test func truncatedSignalRIsOpaque() throws {
        let entry = try #require(Codecs.named("signalr"))
        for sample in try Self.samples() where sample.bytes.count < 200 {
            var codec = entry.type.init(Self.opening)
            let cut = decode(
                &codec, Sample(direction: sample.direction, opcode: sample.opcode, bytes: sample.bytes.dropLast()))
            #expect(cut.last?.role == .opaque)
        }
    }

    @Test(arguments: Codecs.all.map(\.id))
    func variedIdsDiffer(_ id: String) throws {
        let type = try #require(Codecs.named(id)).type
        #expect(type.vary("abc", 0) == "abc")
        #expect(type.vary("abcdef0123", 5).utf8.count == 10)
    }
}
