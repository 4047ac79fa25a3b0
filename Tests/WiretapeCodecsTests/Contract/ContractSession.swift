import Foundation
import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// A tape of one codec: what the tests of the suite are run with.
struct ContractCase: Sendable, CustomTestStringConvertible {
    var codec: String
    var tape: String

    var testDescription: String { "\(codec) \(tape)" }

    static let all = ContractSamples.all.flatMap { samples in
        samples.tapes.map { ContractCase(codec: samples.codec.id, tape: $0) }
    }
}

/// One recorded session, payload by payload as its codec gets it.
struct ContractSession: Sendable {
    struct Payload: Hashable, Sendable {
        var direction: Direction
        var opcode = Opcode.text
        var bytes: [UInt8]
    }

    var codec: CodecEntry
    var transport: Transport
    var opening: StreamOpening
    var payloads: [Payload]

    /// The sessions of that codec on a tape.
    static func all(_ one: ContractCase) throws -> [ContractSession] {
        let samples = try #require(ContractSamples.named(one.codec))
        let codecs = Codecs.all.contains { $0.id == one.codec } ? Codecs.all : [samples.codec] + Codecs.all
        var tape = try TapeReader(path: path(of: one.tape))
        var reader = SessionReader(codecs: codecs, header: tape.header)
        var messages: [DecodedMessage] = []
        while let next = try tape.next() {
            reader.read(next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
        }
        return reader.finish().filter { $0.codec.id == one.codec }.map { session in
            var payloads: [Payload] = []
            var frame = -1
            for decoded in messages where decoded.session == session.number {
                let message = decoded.message
                // Of a stream of bytes the pieces are of no interest.
                guard samples.framing == .stream || decoded.frame != frame else { continue }
                frame = decoded.frame
                let bytes = samples.framing == .stream ? message.bytes : decoded.payload
                payloads.append(Payload(direction: message.direction, opcode: message.opcode, bytes: bytes))
            }
            return ContractSession(
                codec: session.codec, transport: session.transport, opening: session.opening, payloads: payloads)
        }
    }

    private static func path(of tape: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        if tape.hasPrefix("recordings/") {
            return tests.deletingLastPathComponent().appending(path: "\(tape).tape.gz").path
        }
        return tests.appending(path: "Fixtures/\(tape).tape").path
    }

    /// A codec that knows the opening and nothing of the messages.
    var fresh: any FrameCodec { codec.type.init(opening) }
}

extension FrameCodec {
    /// The messages of one payload.
    mutating func read(_ payload: ContractSession.Payload) -> [Message] {
        var out: [Message] = []
        decode(payload.bytes.span, payload.opcode, payload.direction, into: &out)
        return out
    }
}
