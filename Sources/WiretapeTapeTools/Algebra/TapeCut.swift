internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Leaves a part of a tape that still replays, in two passes: ``look(_:)`` at every line, then ``settle()``, then
/// ``change(_:)`` gives the lines that stay.
///
/// Of a session of which anything stays, its negotiation, its opening and its handshake stay, and for an answer the request
/// that it answers: without them no client would get to what is left. Times begin where the chosen time begins, and
/// `started` moves with them.
/// Memory: the tape's connections and exchanges, and the chains of the messages that are chosen.
package struct TapeCut: Sendable {
    private let choice: CutChoice
    private let codecs: [CodecEntry]
    private var map: CutMap
    private var rest: CutWriter?

    package init(_ choice: CutChoice, codecs: [CodecEntry]) {
        self.choice = choice
        self.codecs = codecs
        map = CutMap(choice, codecs: codecs)
    }

    package mutating func look(_ line: TapeLine) { map.look(line) }

    /// Decides what stays. Call it between the passes.
    package mutating func settle() throws(TapeEdit.Fault) {
        try map.settle()
        rest = CutWriter(choice, map, codecs: codecs)
    }

    package mutating func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        try rest?.change(line) ?? []
    }

    /// Events that were written, and sessions that something is left of.
    package var written: UInt64 { rest?.events ?? 0 }
    package var sessions: Int { map.keptSessions.count }
}
