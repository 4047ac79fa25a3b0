internal import WiretapeBytes

/// Takes members out of a packer while records are still being turned into lines: one record may hold a body or a message
/// that inflates to a thousand times its size, and its lines must not gather in memory.
package final class MemberRelief {
    /// Bytes of lines that may wait in a packer.
    static let mostWaiting = 6 << 20

    private var compressor = MemberCompressor()
    private let isCompressed: Bool
    private let write: (Span<UInt8>, MemberTally) -> Void
    private var member: [UInt8] = []
    /// Bytes of lines taken, and of what was written for them.
    package private(set) var lineBytes: UInt64 = 0
    package private(set) var fileBytes: UInt64 = 0

    /// - Parameter write: gets each member with what it holds, in order, at once.
    package init(isCompressed: Bool, write: @escaping (Span<UInt8>, MemberTally) -> Void) {
        self.isCompressed = isCompressed
        self.write = write
    }

    /// Level 1: what comes in such amounts compresses well at any.
    func take(_ lines: Span<UInt8>, _ info: MemberInfo) {
        lineBytes += UInt64(lines.count)
        let tally = MemberTally(events: UInt64(info.events), opens: UInt64(info.opens))
        guard isCompressed else {
            fileBytes += UInt64(lines.count)
            return write(lines, tally)
        }
        member.removeAll(keepingCapacity: true)
        compressor.append(lines, info: info, level: 1, into: &member)
        fileBytes += UInt64(member.count)
        let bytes = member
        write(bytes.span, tally)
    }
}
