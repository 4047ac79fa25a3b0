package import WiretapeProtocol

/// An event and where it stands on its tape.
package struct NumberedEvent: Hashable, Sendable {
    /// 1, 2, … in the order of the file.
    package var number: UInt64
    /// 1 is the header's line. 0 when it is not known, after a seek.
    package var line: Int
    /// File offset of its member, or of its line in a plain tape.
    package var offset: UInt64
    package var event: TapeEvent
    /// The payload came as `json`: the codec has to frame it.
    package var isUnframed: Bool
}
