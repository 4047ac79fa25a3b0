/// Where an action stands to what the selector found.
package enum Place: String, Hashable, Sendable {
    case before
    /// The peer's kernel has acknowledged its last byte, and the settle time and the rule's pause have passed.
    case after
    /// `on`: in its place; a message is lost with it.
    case instead
}
