import Testing
import WiretapeBytes
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What every codec owes when payloads are cut, joined or damaged. A trap would end the whole run.
@Suite struct ContractDamageTests {
    typealias Payload = ContractSession.Payload

    /// Short enough to be cut at every byte, and one of each kind of message.
    private func kinds(_ session: ContractSession, below limit: Int) -> [(before: any FrameCodec, payload: Payload)] {
        var codec = session.fresh
        var seen: [String: Int] = [:]
        var kinds: [(any FrameCodec, Payload)] = []
        for payload in session.payloads {
            let before = codec
            let kind = codec.read(payload).map { "\($0.direction) \($0.type)" }.joined(separator: "+")
            guard payload.bytes.count < limit, seen[kind, default: 0] < 3 else { continue }
            seen[kind, default: 0] += 1
            kinds.append((before, payload))
        }
        return kinds
    }

    private func check(_ messages: [Message], make bytes: [UInt8]) {
        #expect(messages.flatMap(\.bytes) == bytes)
        for message in messages where message.role == .opaque { #expect(!message.summary.isEmpty) }
    }

    @Test(arguments: ContractCase.all)
    func splitAtEveryByte(_ one: ContractCase) throws {
        let samples = try #require(ContractSamples.named(one.codec))
        for session in try ContractSession.all(one) {
            for (before, payload) in kinds(session, below: 160) where payload.bytes.count > 1 {
                var whole = before
                let wanted = whole.read(payload)
                for cut in 1..<payload.bytes.count {
                    var halves = before
                    let messages = [payload.bytes[..<cut], payload.bytes[cut...]].flatMap { half in
                        halves.read(Payload(direction: payload.direction, opcode: payload.opcode, bytes: Array(half)))
                    }
                    let isWhole = messages == wanted
                    if samples.framing == .stream {
                        #expect(isWhole)
                    } else {
                        check(messages, make: payload.bytes)
                        let isBetween = isWhole && samples.framing == .records
                        let isOpaque = messages.contains { $0.role == .opaque }
                        #expect(isBetween || isOpaque || messages.count > wanted.count)
                        // What follows is read as if nothing had been.
                        #expect(halves.read(payload).allSatisfy { $0.role != .opaque })
                    }
                }
            }
        }
    }

    /// Payloads that follow each other in one direction may as well be one, where several may share a payload.
    @Test(arguments: ContractCase.all)
    func joined(_ one: ContractCase) throws {
        let samples = try #require(ContractSamples.named(one.codec))
        for session in try ContractSession.all(one) {
            var apart = session.fresh
            var together = session.fresh
            for run in runs(session.payloads) {
                let messages = run.flatMap { apart.read($0) }
                let joined = Payload(
                    direction: run[0].direction, opcode: run[0].opcode, bytes: run.flatMap(\.bytes))
                guard samples.framing != .messages else {
                    var copy = together
                    check(copy.read(joined), make: joined.bytes)
                    for payload in run { _ = together.read(payload) }
                    continue
                }
                let wanted = messages.map { message in
                    var message = message
                    message.opcode = joined.opcode
                    return message
                }
                #expect(together.read(joined) == wanted)
            }
        }
    }

    private func runs(_ payloads: [Payload]) -> [[Payload]] {
        var runs: [[Payload]] = []
        for payload in payloads {
            if runs.last?.last?.direction == payload.direction {
                runs[runs.count - 1].append(payload)
            } else {
                runs.append([payload])
            }
        }
        return runs
    }

    @Test(arguments: ContractCase.all)
    func truncated(_ one: ContractCase) throws {
        let samples = try #require(ContractSamples.named(one.codec))
        for session in try ContractSession.all(one) {
            for (before, payload) in kinds(session, below: 1_000) {
                // White space at the end belongs to no message.
                let end = payload.bytes.lastIndex { $0 > 0x20 } ?? 0
                for cut in stride(from: end, to: 0, by: -max(1, end / 50)) {
                    var codec = before
                    let messages = codec.read(
                        Payload(
                            direction: payload.direction, opcode: payload.opcode, bytes: Array(payload.bytes[..<cut])))
                    guard samples.framing != .stream else { continue }
                    check(messages, make: Array(payload.bytes[..<cut]))
                    if samples.framing == .messages, !samples.readsAnything {
                        #expect(messages.map(\.role) == [.opaque])
                    } else {
                        #expect(!messages.isEmpty)
                    }
                }
            }
        }
    }

    /// Flipped, doubled, taken out and swapped bytes, in either direction and kind of frame.
    @Test(arguments: ContractCase.all)
    func mutated(_ one: ContractCase) throws {
        let samples = try #require(ContractSamples.named(one.codec))
        var random = SplitMix64(seed: 1)
        for session in try ContractSession.all(one) {
            for (before, payload) in kinds(session, below: 600) where !payload.bytes.isEmpty {
                var codec = before
                for _ in 0..<24 {
                    var damaged = payload
                    for _ in 0...random.below(3) { damaged.bytes = mutate(damaged.bytes, &random) }
                    damaged.direction = random.below(2) == 0 ? .toServer : .toClient
                    damaged.opcode = random.below(2) == 0 ? .text : .binary
                    let messages = codec.read(damaged)
                    if samples.framing != .stream { check(messages, make: damaged.bytes) }
                    var out: [UInt8] = []
                    for message in messages { _ = codec.write(message, ids: IDMap(), on: .ws, into: &out) }
                    for message in messages { _ = codec.refusal(of: message, reason: "no") }
                }
            }
        }
    }

    private func mutate(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        guard !bytes.isEmpty else { return [UInt8(truncatingIfNeeded: random.next())] }
        var bytes = bytes
        let at = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.insert(bytes[at], at: at)
        case 2: bytes.remove(at: at)
        case 3: bytes.swapAt(at, random.below(bytes.count))
        default: bytes[at] = Array("{}[]\":,\\0e-".utf8)[random.below(11)]
        }
        return bytes
    }

    @Test(arguments: ContractSamples.all.map(\.codec.id))
    func hostile(_ id: String) throws {
        let samples = try #require(ContractSamples.named(id))
        var codec = samples.codec.type.init(samples.opening)
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        let payloads: [[UInt8]] = [
            [], [0], [0xff], Array("\n".utf8), Array("{}".utf8), Array("[]".utf8), Array("null".utf8),
            brackets + [0x1e],
            [UInt8](repeating: 0xff, count: 10_000), Array(#"{"a":"\ud800"}"#.utf8),
        ]
        for bytes in payloads {
            for direction in [Direction.toServer, .toClient] {
                for opcode in [Opcode.text, .binary] {
                    for message in codec.read(Payload(direction: direction, opcode: opcode, bytes: bytes)) {
                        #expect(message.role != .opaque || !message.summary.isEmpty)
                    }
                }
            }
        }
    }
}
