internal import WiretapeBytes

/// Writes WebSocket frames with the shortest spelling of their length (RFC 6455 section 5.2).
package enum FrameWriter {
    /// Appends one frame.
    /// - Parameters:
    ///   - opcode: as in ``FrameHeader/opcode``; only its lower four bits are used.
    ///   - mask: the key that a client draws for each frame, its first byte on top; nil for frames of a server.
    package static func append(
        opcode: UInt8, fin: Bool = true, rsv1: Bool = false, payload: Span<UInt8>, mask: UInt32? = nil,
        into out: inout [UInt8]
    ) {
        let length = UInt64(payload.count)
        let short: UInt8 = length < 126 ? UInt8(length) : length <= 0xffff ? 126 : 127
        let header = FrameHeader(
            first: (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode & 0x0f, second: (mask == nil ? 0 : 0x80) | short,
            length: length, key: mask ?? 0)
        header.append(to: &out)
        FrameMask.append(payload, mask ?? 0, into: &out)
    }

    /// Appends a message.
    /// - Parameter mask: is called once for each frame and returns its masking key. For frames of a server it returns nil.
    /// - Returns: the byte count of each frame. Empty if there is one frame, or more than ``MessageAssembler/mostFragments``.
    @discardableResult
    package static func append(
        opcode: UInt8, rsv1: Bool = false, payload: Span<UInt8>, frames: MessageFrames, mask: () -> UInt32? = { nil },
        into out: inout [UInt8]
    ) -> [Int] {
        var lengths: [Int] = []
        var (at, index) = (0, 0)
        while true {
            let (length, isLast) = frames.frame(index, left: payload.count - at)
            append(
                opcode: index == 0 ? opcode : 0, fin: isLast, rsv1: rsv1 && index == 0,
                payload: payload.extracting(at..<(at + length)), mask: mask(), into: &out)
            if index < MessageAssembler.mostFragments { lengths.append(length) }
            at += length
            index += 1
            if isLast { break }
        }
        return index > 1 && index <= MessageAssembler.mostFragments ? lengths : []
    }

    /// Appends a close frame. A reason over 123 bytes is cut between characters: control frames have at most 125 bytes.
    /// Without a code there is no reason either.
    package static func appendClose(code: UInt16?, reason: String = "", mask: UInt32? = nil, into out: inout [UInt8]) {
        var payload: [UInt8] = []
        if let code {
            payload = [UInt8(code >> 8), UInt8(code & 0xff)]
            for character in reason {
                guard payload.count + character.utf8.count <= 125 else { break }
                payload.append(contentsOf: character.utf8)
            }
        }
        append(opcode: 8, payload: payload.span, mask: mask, into: &out)
    }
}
