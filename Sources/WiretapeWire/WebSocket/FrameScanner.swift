/// Cuts one direction of a WebSocket connection at its frames (RFC 6455 section 5). It accepts every byte sequence: reserved
/// bits and opcodes, wrong masks, any length; judging is the caller's. Keeps no bytes and allocates nothing.
///
/// States: `header` → `payload` → `header`, none terminal; there is no bad input.
package struct FrameScanner: ~Copyable {
    private enum State {
        case header
        case payload
    }

    private var state = State.header
    /// Bytes of the header seen so far, and what they said.
    private var seen = 0
    private var header = FrameHeader(first: 0, second: 0, length: 0, key: 0)
    /// Of the payload.
    private var offset: UInt64 = 0

    package init() {}

    /// Whether the end of the stream would cut a frame here.
    package var isInFrame: Bool {
        switch state {
        case .header: seen > 0
        case .payload: true
        }
    }

    /// The bytes of a header that is not complete.
    package var partialHeader: [UInt8] {
        guard case .header = state, seen > 0 else { return [] }
        guard seen > 1 else { return [header.first] }
        var out = [header.first, header.second]
        let lengths = min(seen - 2, FrameHeader.lengthBytes(header.second))
        for shift in stride(from: (lengths - 1) * 8, through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: header.length >> UInt64(shift)))
        }
        for shift in stride(from: (seen - 3 - lengths) * 8, through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: header.key >> UInt32(shift)))
        }
        return out
    }

    /// Passes over so many bytes of the stream that nobody has. Returns false, and changes nothing, when they are not all of the
    /// payload of one frame: then where the next frame begins is not known.
    package mutating func skip(_ count: UInt64) -> Bool {
        guard case .payload = state, count <= header.length - offset else { return false }
        offset += count
        return true
    }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`, also when
    /// `next` is the end of `bytes`.
    package mutating func scan(_ bytes: Span<UInt8>, from: Int) -> FrameScan {
        switch state {
        case .header:
            if seen == 0, let (header, next) = Self.wholeHeader(bytes, from) {
                self.header = header
                offset = 0
                state = .payload
                return .header(header, next: next)
            }
            var at = from
            while at < bytes.count {
                let isComplete = step(bytes[at])
                at += 1
                if isComplete {
                    seen = 0
                    offset = 0
                    state = .payload
                    return .header(header, next: at)
                }
            }
            return .more
        case .payload:
            let left = header.length - offset
            let available = UInt64(bytes.count - from)
            if left <= available {
                let end = from + Int(left)
                let start = offset
                state = .header
                return .payload(from..<end, frameOffset: start, last: true, next: end)
            }
            guard available > 0 else { return .more }
            defer { offset += available }
            return .payload(from..<bytes.count, frameOffset: offset, last: false, next: bytes.count)
        }
    }

    /// The header at `at` when all of it is there: the usual case, in one go.
    @inline(__always) private static func wholeHeader(_ bytes: Span<UInt8>, _ at: Int) -> (FrameHeader, next: Int)? {
        let available = bytes.count - at
        guard available >= 2 else { return nil }
        var header = FrameHeader(first: bytes[at], second: bytes[at + 1], length: 0, key: 0)
        guard available >= header.byteCount else { return nil }
        var next = at + 2
        let wide = FrameHeader.lengthBytes(header.second)
        if wide == 0 {
            header.length = UInt64(header.second & 0x7f)
        } else {
            for i in next..<next + wide { header.length = header.length << 8 | UInt64(bytes[i]) }
            next += wide
        }
        if header.isMasked {
            header.key =
                UInt32(bytes[next]) << 24 | UInt32(bytes[next + 1]) << 16 | UInt32(bytes[next + 2]) << 8
                | UInt32(bytes[next + 3])
            next += 4
        }
        return (header, next)
    }

    /// Takes the next byte of a header; true when it was the last.
    @inline(__always) private mutating func step(_ byte: UInt8) -> Bool {
        defer { seen += 1 }
        switch seen {
        case 0:
            header = FrameHeader(first: byte, second: 0, length: 0, key: 0)
            return false
        case 1:
            header.second = byte
            let short = byte & 0x7f
            if short < 126 { header.length = UInt64(short) }
            return byte < 126
        default:
            if seen < 2 + FrameHeader.lengthBytes(header.second) {
                header.length = header.length << 8 | UInt64(byte)
            } else {
                header.key = header.key << 8 | UInt32(byte)
            }
            return seen + 1 == header.byteCount
        }
    }
}

/// What ``FrameScanner/scan(_:from:)`` found. `next` is where the following call starts.
package enum FrameScan: Hashable, Sendable {
    /// All bytes are looked at; more are needed.
    case more
    /// The head of a frame. At least one `payload` follows.
    case header(FrameHeader, next: Int)
    /// Bytes of the frame's payload, still masked; `frameOffset` is that of the first within the payload. Empty only for a
    /// frame without payload. `last` comes once for each frame.
    case payload(Range<Int>, frameOffset: UInt64, last: Bool, next: Int)
}
