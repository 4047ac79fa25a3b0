package import WiretapeProtocol
package import WiretapeTape

/// A line that is written to a tape: an event's, or a comment's or header's. Without its line feed.
package struct TapeNewLine: Hashable, Sendable {
    package var bytes: [UInt8]
    package var event: TapeEvent?

    package init(_ bytes: [UInt8], _ event: TapeEvent?) {
        self.bytes = bytes
        self.event = event
    }

    /// As it was read.
    package init(_ line: TapeLine) { self.init(line.bytes, line.event) }
}
