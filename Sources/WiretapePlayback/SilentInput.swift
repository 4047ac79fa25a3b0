internal import WiretapeBytes
package import WiretapeWire

/// Bytes that a client sends over a WebSocket while a rule stalls the connection. They are kept until the rule ends. The close frame
/// among them dates the client's end.
package struct SilentInput: ~Copyable {
    /// In bytes. Once this much is kept, Wiretape stops reading, and the rest stays in the client's kernel.
    private static let limit = 64 << 10

    private var bytes: [UInt8] = []
    private var finder = CloseFrameFinder()
    private var hasLeft = false

    package init() {}

    package var count: Int { bytes.count }
    package var isFull: Bool { bytes.count >= Self.limit }

    /// Keeps received bytes.
    /// - Returns: the client's first close frame, if these bytes complete it.
    package mutating func take(_ more: Span<UInt8>) -> ClientEnd? {
        bytes.append(copying: more)
        guard !hasLeft, let close = finder.find(more) else { return nil }
        hasLeft = true
        return switch close {
        case .empty, .invalid: .closeFrame(code: nil, reason: "")
        case .told(let code, let reason): .closeFrame(code: code, reason: reason)
        }
    }

    /// All kept bytes, in order.
    package consuming func all() -> [UInt8] { bytes }
}
