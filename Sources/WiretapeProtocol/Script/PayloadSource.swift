/// Where single events of a tape can be read again.
package protocol PayloadSource: Sendable {
    /// The event of that number with its line, and whether its payload came as JSON and lacks the protocol's framing; nil
    /// when it is not to be had.
    func event(_ number: UInt64) -> (event: TapeEvent, line: Int, isUnframed: Bool)?
}
