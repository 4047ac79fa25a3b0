/// Where an action stands to what the selector found.
package enum Place: String, Hashable, Sendable {
    case before
    /// Once the peer's kernel has acknowledged the last byte of it, and a settle time and the rule's pause have passed.
    case after
    /// `on`: in its place; a message is lost with it.
    case instead
}
