internal import WiretapeBytes
package import WiretapeWire

/// Writes the lines of a tape (`docs/tape-format.md`), each with its `\n`. Keys come in the order of the format's table.
/// The hot kinds take their payload as a span and allocate nothing but what `out` grows by.
package enum TapeLines {
    /// A payload longer than this many bytes is written in pieces of this size.
    package static let partSize = 1 << 20

    /// `{"t":…,"c":…,"e":"message","d":…,"op":…,"text"|"b64":…}`.
    /// - Parameters:
    ///   - time: nanoseconds since the tape's start.
    ///   - fragments: payload bytes of each frame when there were several, else empty.
    package static func message(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ opcode: Opcode, _ payload: Span<UInt8>,
        deflated: Bool = false, fragments: [Int] = [], into out: inout [UInt8]
    ) {
        start(time, connection, #","e":"message""#, &out)
        self.direction(direction, &out)
        out.append(literal: opcode == .text ? #","op":"text""# : #","op":"binary""#)
        bytes(payload, &out)
        if deflated { out.append(literal: #","deflated":true"#) }
        if !fragments.isEmpty {
            out.append(literal: #","frames":["#)
            for (i, count) in fragments.enumerated() {
                if i > 0 { out.append(UInt8(ascii: ",")) }
                out.append(decimal: UInt64(max(0, count)))
            }
            out.append(UInt8(ascii: "]"))
        }
        end(&out)
    }

    /// `{"t":…,"c":…,"e":"part","d":…,"op":…,"n":…,"text"|"b64":…,"last":true?}`.
    package static func part(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ opcode: Opcode, n: Int,
        _ payload: Span<UInt8>, last: Bool, into out: inout [UInt8]
    ) {
        start(time, connection, #","e":"part""#, &out)
        self.direction(direction, &out)
        out.append(literal: opcode == .text ? #","op":"text","n":"# : #","op":"binary","n":"#)
        out.append(decimal: UInt64(max(0, n)))
        bytes(payload, &out)
        if last { out.append(literal: #","last":true"#) }
        end(&out)
    }

    /// `{"t":…,"c":…,"e":"chunk","x":…,"d":…,"text"|"b64":…}`.
    package static func chunk(
        _ time: UInt64, _ connection: UInt32, x: UInt32, _ direction: Direction, _ payload: Span<UInt8>,
        into out: inout [UInt8]
    ) {
        start(time, connection, #","e":"chunk","x":"#, &out)
        out.append(decimal: UInt64(x))
        self.direction(direction, &out)
        bytes(payload, &out)
        end(&out)
    }

    /// `{"t":…,"c":…,"e":"ping","d":…,"text"|"b64":…}`, or `"pong"`.
    package static func ping(
        _ time: UInt64, _ connection: UInt32, _ direction: Direction, _ payload: Span<UInt8>, isPong: Bool = false,
        into out: inout [UInt8]
    ) {
        start(time, connection, isPong ? #","e":"pong""# : #","e":"ping""#, &out)
        self.direction(direction, &out)
        bytes(payload, &out)
        end(&out)
    }

    // MARK: Pieces

    package static func start(_ time: UInt64, _ connection: UInt32, _ kind: StaticString, _ out: inout [UInt8]) {
        out.append(literal: #"{"t":"#)
        out.append(decimal: time)
        if connection > 0 {
            out.append(literal: #","c":"#)
            out.append(decimal: UInt64(connection))
        }
        out.append(literal: kind)
    }

    /// Bytes up to which UTF-8 stands as text whatever it is.
    private static let readable = 1024

    package static func end(_ out: inout [UInt8]) { out.append(literal: "}\n") }

    package static func direction(_ direction: Direction, _ out: inout [UInt8]) {
        out.append(literal: direction == .toServer ? #","d":">""# : #","d":"<""#)
    }

    /// `,"text":"…"` when valid UTF-8, else `,"b64":"…"`. Of more than 1 KiB, text of which more than a third are
    /// control characters is `b64`, too: each takes six bytes in JSON, and nobody reads a page of them.
    package static func bytes(_ payload: Span<UInt8>, _ out: inout [UInt8]) {
        let start = out.count
        if payload.count <= readable || !JSONEscape.isMadeOfControls(payload) {
            out.append(literal: #","text":"#)
            if JSONEscape.appendString(payload, into: &out) { return }
            out.removeLast(out.count - start)
        }
        out.append(literal: #","b64":""#)
        Base64.append(payload, into: &out)
        out.append(UInt8(ascii: "\""))
    }

    package static func field(_ name: StaticString, _ text: String, _ out: inout [UInt8]) {
        out.append(UInt8(ascii: ","))
        out.append(UInt8(ascii: "\""))
        out.append(literal: name)
        out.append(literal: #"":"#)
        JSONEscape.appendString(text, into: &out)
    }

    package static func field(_ name: StaticString, _ number: UInt64, _ out: inout [UInt8]) {
        out.append(UInt8(ascii: ","))
        out.append(UInt8(ascii: "\""))
        out.append(literal: name)
        out.append(literal: #"":"#)
        out.append(decimal: number)
    }
}
