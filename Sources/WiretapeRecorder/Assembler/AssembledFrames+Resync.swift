internal import WiretapeWire

extension AssembledFrames {
    /// Judges whether reads that follow a gap consist of whole frames, as RFC 6455 allows them to follow each other. It keeps what the
    /// reads before told of the message at hand, so that each read is judged as what comes behind them.
    struct Resync {
        /// A message whose last frame has not come.
        private enum Message {
            /// It may have begun in the gap.
            case unknown
            case none
            case unfinished
        }

        private var message = Message.unknown

        /// Whether `bytes` are whole frames and nothing else. Part of a frame rarely looks like that; a few bytes at its end
        /// may, which is why one such read does not suffice.
        mutating func takes(_ bytes: Span<UInt8>, _ direction: Direction, isDeflated: Bool) -> Bool {
            var scanner = FrameScanner()
            var at = 0
            while true {
                switch scanner.scan(bytes, from: at) {
                case .more: return at == bytes.count && !scanner.isInFrame
                case .header(let head, let next):
                    guard head.isMasked == (direction == .toServer), head.length <= UInt64(bytes.count - next),
                        Resync.isLength(head.length, of: next - at - (head.isMasked ? 6 : 2)),
                        follows(head, isDeflated: isDeflated)
                    else { return false }
                    at = next
                case .payload(_, _, _, let next): at = next
                }
            }
        }

        /// Whether a length stands in as few bytes behind the second one as it may (RFC 6455 section 5.2).
        private static func isLength(_ length: UInt64, of bytes: Int) -> Bool {
            switch bytes {
            case 0: true
            case 2: length > 125
            default: length > 65535
            }
        }

        /// Whether such a frame may stand here.
        private mutating func follows(_ head: FrameHeader, isDeflated: Bool) -> Bool {
            guard !head.rsv2, !head.rsv3 else { return false }
            switch head.opcode {
            case 0:
                if case .none = message { return false }
                message = head.fin ? .none : .unfinished
                return !head.rsv1
            case 1, 2:
                if case .unfinished = message { return false }
                message = head.fin ? .none : .unfinished
                return !head.rsv1 || isDeflated
            case 8: return head.fin && !head.rsv1 && head.length <= 125 && head.length != 1
            case 9, 10: return head.fin && !head.rsv1 && head.length <= 125
            default: return false
            }
        }
    }
}
