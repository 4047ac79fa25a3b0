/// Why a tape could not be played, or what did not come: a sentence for people, as the command `wiretape` would say it.
public struct TapeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public var description: String

    init(_ description: String) { self.description = description }
}
