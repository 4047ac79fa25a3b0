package import WiretapeWire

/// What a validation found on a tape.
package struct TapeSummary: Sendable {
    /// A name and how often it came, in the order of appearance.
    package typealias Count = (name: String, count: Int)

    package var events: UInt64 = 0
    package var connections = 0
    package var comments = 0
    package var isSparse = false
    /// The recording ended properly.
    package var isStopped = false
    /// The file ends within a line or member.
    package var isTruncated = false
    /// Kinds and keys of a later version, or misspelt ones.
    package var unknownKinds: [Count] = []
    package var unknownKeys: [Count] = []
    package var sessions: [Session] = []
    /// Ordinary HTTP exchanges beside the sessions.
    package var exchanges = 0
    /// Failed exchanges: the line of the request, and how it failed.
    package var failedExchanges: [(line: Int, text: String)] = []
    package var errors = 0
    package var warnings = 0

    package struct Session: Sendable {
        package var number: Int
        package var name: String?
        package var codec: String
        package var transport: Transport
        package var route: String
        /// Without keepalives and acknowledgements.
        package var messages = 0
        /// Messages that the codec could not read.
        package var opaque = 0
        /// Why it cannot be replayed, as the end of the sentence "session 1 …". Nil: it can.
        package var obstacle: String?
    }

    static func count(_ name: String, in counts: inout [Count]) -> Bool {
        if let at = counts.firstIndex(where: { $0.name == name }) {
            counts[at].count += 1
            return false
        }
        guard counts.count < 100 else { return false }
        counts.append((name, 1))
        return true
    }
}
