internal import WiretapeWire

extension AssembledFrames {
    /// Whether `bytes` look like whole frames and nothing else. After a gap the boundaries are lost; a read that begins at
    /// one is the usual case, and chains of headers that end with it are not met by chance.
    static func isWholeFrames(_ bytes: Span<UInt8>, _ direction: Direction, isDeflated: Bool) -> Bool {
        var scanner = FrameScanner()
        var at = 0
        var isWhole = false
        while at < bytes.count {
            switch scanner.scan(bytes, from: at) {
            case .more: return false
            case .header(let head, let next):
                guard [0, 1, 2, 8, 9, 10].contains(head.opcode), !head.rsv2, !head.rsv3, !head.rsv1 || isDeflated,
                    head.isMasked == (direction == .toServer), head.length <= UInt64(bytes.count - next)
                else { return false }
                isWhole = false
                at = next
                if head.length == 0 { isWhole = true }
            case .payload(_, _, let last, let next):
                isWhole = last
                at = next
            }
        }
        return isWhole
    }
}
