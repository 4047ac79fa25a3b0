internal import WiretapeBytes
internal import WiretapeTape
internal import WiretapeWire

/// Lines for bytes that are no proper HTTP or WebSocket traffic. Readers of other versions skip them as unknown kinds;
/// `docs/tape-format.md` lists them.
enum RawLines {
    /// `{"t":…,"c":…,"e":"malformed","d":…,"text"|"b64":…,"why":…}`.
    static func malformed(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ bytes: Span<UInt8>, why: String,
        _ packer: inout MemberPacker
    ) {
        var reason = packer.redaction?.text(why) ?? why
        let shown = packer.redaction.map { $0.malformed(connection, direction, [UInt8](copying: bytes), why: &reason) }
        packer.event(time) { time, out in
            TapeLines.start(time, connection, #","e":"malformed""#, &out)
            TapeLines.direction(direction, &out)
            if let shown { TapeLines.bytes(shown.span, &out) } else { TapeLines.bytes(bytes, &out) }
            TapeLines.field("why", reason, &out)
            TapeLines.end(&out)
        }
    }

    /// A WebSocket frame that belongs to no message, or a piece of one, as received but unmasked:
    /// `{"t":…,"c":…,"e":"frame","d":…,"head":…,"text"|"b64":…,"why":…}`. `head`: first byte of the frame.
    static func frame(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, head: UInt8, _ bytes: Span<UInt8>, why: String,
        _ packer: inout MemberPacker
    ) {
        var reason = why
        let shown = packer.redaction.map {
            $0.frame(connection, direction, head: head, [UInt8](copying: bytes), why: &reason)
        }
        packer.event(time) { time, out in
            TapeLines.start(time, connection, #","e":"frame""#, &out)
            TapeLines.direction(direction, &out)
            TapeLines.field("head", UInt64(head), &out)
            if let shown { TapeLines.bytes(shown.span, &out) } else { TapeLines.bytes(bytes, &out) }
            TapeLines.field("why", reason, &out)
            TapeLines.end(&out)
        }
    }
}
