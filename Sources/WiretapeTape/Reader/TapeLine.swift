package import WiretapeProtocol

/// One line of a tape as it stands in the file, and what it says.
package struct TapeLine: Sendable {
    package enum What: Sendable {
        case header(TapeHeader)
        /// `isUnframed`: its payload came as `json`.
        case event(TapeEvent, isUnframed: Bool)
        /// A comment or a blank line.
        case comment
        /// No event, and why.
        case bad(TapeLineFault)
    }

    /// Without its line feed.
    package var bytes: [UInt8]
    /// From 1.
    package var line: Int
    /// Of an event, from 1; of anything else that of the last event.
    package var number: UInt64
    package var what: What

    package var event: TapeEvent? { if case .event(let event, _) = what { event } else { nil } }
}
