/// What ``MultipartReader/feed(_:from:)`` found. `next` is where to go on.
package enum MultipartOutcome: Hashable, Sendable {
    /// Everything was read.
    case more
    case part(MultipartPart, next: Int)
    /// A part above the limit: it is passed over.
    case tooLong(next: Int)
    /// The closing delimiter. What follows is nobody's.
    case end(next: Int)
}
