internal import WiretapeWire

extension AssembledFrames {
    /// Judges whether reads that follow a gap consist of whole frames, as RFC 6455 allows them to follow each other. It keeps what the
    /// reads before told of the message at hand, so that each read is judged as what comes behind them.
    struct Resync {
        /// Whether a message has not ended; nil: one may have begun in the gap.
        private var isInMessage: Bool?

        /// Whether `bytes` are whole frames and nothing else. Part of a frame rarely looks like that; a few bytes at its end
        /// may, which is why one such read does not suffice.
        mutating func takes(_ bytes: Span<UInt8>, _ direction: Direction, isDeflated: Bool) -> Bool {
            var scanner = FrameScanner()
            var at = 0
            while true {
                switch scanner.scan(bytes, from: at) {
                case .more: return at == bytes.count && !scanner.isInFrame
                case .header(let head, let next):
                    let faults = FrameFaults(of: head, direction, isDeflating: isDeflated, isInMessage: isInMessage)
                    guard faults.isEmpty, head.length <= UInt64(bytes.count - next) else { return false }
                    if !head.isControl { isInMessage = !head.fin }
                    at = next
                case .payload(_, _, _, let next): at = next
                }
            }
        }
    }
}
