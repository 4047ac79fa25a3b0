package import WiretapeWire

/// What the loops hand to the writer: binary records, cheap to append and complete enough to make the tape's lines from.
/// They never leave the process.
///
/// A record is 24 bytes of head, little-endian – kind u8, flags u8, two bytes unused, connection u32, monotonic time in
/// nanoseconds u64, exchange u32, payload length u32 – and the payload.
package enum RecordKind: UInt8, Sendable {
    /// Payload: `from`, `to`, `upstream`, each with a u32 length before it.
    case open = 1
    /// Payload: the head as received. The time is that of its first byte.
    case request
    /// Payload: the head as received. Flags: ``RecordFlags/proxy``.
    case response
    /// A piece of a body, without its framing. Flags: direction.
    case body
    /// The end of a body, or of a message without one. Flags: direction. Payload: trailers, `name: value` CR LF each.
    case bodyEnd
    /// Bytes after an upgrade, as received. Flags: direction.
    case bytes
    /// Bytes that are no HTTP. Flags: direction. Payload: at most 64 KiB of them; a u32 length and the reason come first.
    case malformed
    /// The transport ended. Flags: who (bits 0–1) and how (bits 2–3). Payload: why, or nothing.
    case gone
    /// Nothing happened up to this time: what waits for time can be written.
    case tick
    /// Payload: text.
    case mark
    /// Everything from here on, on this connection, is opaque to HTTP. Flags: none.
    case raw
    /// A rule did something to what was recorded last on this connection, or where its mark stands. Exchange: the number of
    /// the mark, or 0. Payload: ``FaultRecord``.
    case fault
    /// A rule is about to do something to what was recorded last on this connection. Exchange: the number by which the
    /// fault will name it.
    case faultMark

    /// Bytes that nobody has: a capture did not see them. Flags: direction. Exchange: the one whose body they are of, or 0.
    /// Payload: how many, eight bytes, the lowest first; nothing where that is not known.
    case lost

    package static let headSize = 24
}

package enum RecordFlags {
    /// The record is about bytes to the client.
    package static let toClient: UInt8 = 1
    /// A response that Wiretape made itself.
    package static let proxy: UInt8 = 2

    package static func direction(_ direction: Direction) -> UInt8 { direction == .toClient ? toClient : 0 }
}
