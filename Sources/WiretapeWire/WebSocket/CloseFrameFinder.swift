internal import WiretapeBytes

/// Finds a close frame in the bytes of a WebSocket whose messages are not read (RFC 6455 section 5). The first byte must start a frame.
/// It accepts every frame and keeps at most 125 bytes.
package struct CloseFrameFinder: ~Copyable {
    private var scanner = FrameScanner()
    private var payload: [UInt8] = []
    private var header = FrameHeader(first: 0, second: 0, length: 0, key: 0)

    package init() {}

    /// Reads the next bytes. Returns the close frame as soon as all its bytes were read.
    package mutating func find(_ bytes: Span<UInt8>) -> CloseFrame? {
        var at = 0
        while true {
            switch scanner.scan(bytes, from: at) {
            case .more: return nil
            case .header(let header, let next):
                self.header = header
                payload = []
                at = next
            case .payload(let range, let offset, let isLast, let next):
                at = next
                guard header.opcode == 8, header.length <= 125 else { continue }
                FrameMask.append(bytes.extracting(range), header.key, offset: offset, into: &payload)
                if isLast { return CloseFrame(payload.span) }
            }
        }
    }
}
