internal import WiretapeBytes

/// Reads capture files, pcap and pcapng, from pieces of them: bytes in, packets out. Blocks of pcapng that it does not know are
/// passed over.
///
/// Memory: one record or block, at most ``mostBytes``, and the piece that was given last.
package struct CaptureReader {
    /// Most bytes of a record or a block that is looked at.
    package static let mostBytes = 32 << 20

    private enum Format {
        case unknown
        case pcap(PcapFormat)
        case pcapng(PcapngFormat)
        case bad(CaptureFault)
    }

    /// What was given and not thrown away yet.
    package private(set) var bytes: [UInt8] = []
    private var at = 0
    /// Offset in the file of `bytes[0]`.
    private var start: UInt64 = 0
    /// Bytes of a block of no interest that are still to come.
    private var skipping: UInt64 = 0
    private var format = Format.unknown

    package init() {}

    /// How far the file has been read.
    package var offset: UInt64 { start + UInt64(at) }

    /// Bytes that are the beginning of something that is not whole.
    package var unfinished: Int { bytes.count - at }

    /// Appends a piece of the file. Ranges of items before it mean nothing any more.
    package mutating func append(_ piece: Span<UInt8>) {
        if at > 0 {
            bytes.removeSubrange(..<at)
            start += UInt64(at)
            at = 0
        }
        bytes.append(copying: piece)
    }

    /// The next thing in the file. Call until `.more`.
    package mutating func next() -> CaptureItem {
        while true {
            if skipping > 0 {
                let step = Int(min(skipping, UInt64(unfinished)))
                at += step
                skipping -= UInt64(step)
                if skipping > 0 { return .more }
            }
            let step: CaptureStep
            let all = bytes
            let rest = all.span.extracting(at...)
            switch format {
            case .bad(let fault): return .bad(fault)
            case .unknown:
                guard unfinished >= 24 else { return startsWell ? .more : fail(CaptureReader.noCapture) }
                guard begin() else { return fail(CaptureReader.noCapture) }
                continue
            case .pcap(var pcap):
                step = pcap.next(rest, at: at)
                format = .pcap(pcap)
            case .pcapng(var pcapng):
                step = pcapng.next(rest, at: at)
                format = .pcapng(pcapng)
            }
            switch step {
            case .more: return .more
            case .bad(let reason): return fail(reason)
            case .skip(let count): skipping = count
            case .item(let item, let size):
                at += size
                return item
            }
        }
    }

    private mutating func fail(_ reason: String) -> CaptureItem {
        let fault = CaptureFault(offset: offset, reason: reason)
        format = .bad(fault)
        return .bad(fault)
    }

    private static let noCapture =
        "this is no packet capture: it begins neither as a pcap nor as a pcapng file does (gunzip a compressed one first)"

    /// Whether the few bytes that are there may be the beginning of a capture.
    private var startsWell: Bool {
        let all = bytes
        let rest = all.span.extracting(at...)
        guard rest.count >= 4 else { return true }
        return PcapFormat(rest) != nil || PcapngFormat(rest) != nil
    }

    private mutating func begin() -> Bool {
        let all = bytes
        let rest = all.span.extracting(at...)
        if let pcap = PcapFormat(rest) {
            format = .pcap(pcap)
            at += 24
        } else if let pcapng = PcapngFormat(rest) {
            format = .pcapng(pcapng)
        } else {
            return false
        }
        return true
    }
}

/// What a format finds at a place of the file.
enum CaptureStep {
    case more
    /// `size`: bytes from here to the next record or block.
    case item(CaptureItem, size: Int)
    /// Nothing of interest in so many bytes, some of which may not be there yet.
    case skip(UInt64)
    case bad(String)
}

extension Span where Element == UInt8 {
    /// The integer at `at`, in the byte order of the file. Its bytes must be within the span.
    func integer<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, at: Int, isSwapped: Bool) -> T {
        let value = littleEndian(type, at: at)
        return isSwapped ? value.byteSwapped : value
    }

    /// The integer at `at` as networks write it. Its bytes must be within the span.
    package func network<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, at: Int) -> T {
        littleEndian(type, at: at).byteSwapped
    }
}
