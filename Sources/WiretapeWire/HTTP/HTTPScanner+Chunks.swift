extension HTTPScanner {
    /// Most bytes of a chunk-size line with its extensions.
    static let chunkLineLimit = headLimit / 4

    /// The chunked coding (RFC 9112 section 7.1), from any point of it up to the next piece of data or the trailers.
    mutating func scanChunks(_ bytes: Span<UInt8>, _ from: Int) -> HTTPScan {
        var at = from
        while at < bytes.count {
            if case .chunkData(let left) = state {
                let taken = Int(min(UInt64(bytes.count - at), left))
                state = left == UInt64(taken) ? .chunkDataCR : .chunkData(left - UInt64(taken))
                return .body(at..<at + taken, next: at + taken)
            }
            let fault = step(bytes[at])
            at += 1
            if let fault { return fail(fault, next: at) }
            if case .trailers = state { return scanTrailers(bytes, at) }
        }
        return .more
    }

    /// One byte outside of the data.
    private mutating func step(_ byte: UInt8) -> HTTPFault? {
        switch state {
        case .chunkSize:
            if let digit = hexDigit(byte) {
                // 2^63 and more: no reader could hold it, and some would wrap.
                guard size < 1 << 59 else { return HTTPFault(400, "chunk size too large") }
                size = size << 4 | UInt64(digit)
                sizeLine += 1
                guard sizeLine <= Self.chunkLineLimit else { return HTTPFault(400, "chunk-size line too long") }
                return nil
            }
            guard sizeLine > 0 else { return HTTPFault(400, "chunk size is not a hexadecimal number") }
            return stepBehindSize(byte)
        case .chunkBlank: return stepBehindSize(byte)
        case .chunkExtension:
            if byte == 0x0d || byte == 0x0a { return stepBehindSize(byte) }
            guard byte >= 0x20 && byte != 0x7f || byte == 0x09 else {
                return HTTPFault(400, "control character in a chunk extension")
            }
            sizeLine += 1
            return sizeLine <= Self.chunkLineLimit ? nil : HTTPFault(400, "chunk-size line too long")
        case .chunkSizeLF:
            guard byte == 0x0a else { return HTTPFault(400, "bare CR in a chunk-size line") }
            endSizeLine()
            return nil
        case .chunkDataCR:
            if byte == 0x0d {
                state = .chunkDataLF
                return nil
            }
            guard byte == 0x0a, role == .toClient else { return HTTPFault(400, "chunk is longer than its size") }
            startChunk()
            return nil
        case .chunkDataLF:
            guard byte == 0x0a else { return HTTPFault(400, "bare CR behind a chunk") }
            startChunk()
            return nil
        case .head, .length, .chunkData, .trailers, .untilEnd, .messageEnd, .done, .failed:
            return nil
        }
    }

    /// What may follow the digits: blanks (servers of old pad with them), extensions, the end of the line.
    private mutating func stepBehindSize(_ byte: UInt8) -> HTTPFault? {
        switch byte {
        case 0x0d: state = .chunkSizeLF
        case 0x0a:
            guard role == .toClient else { return HTTPFault(400, "bare LF in a chunk-size line") }
            endSizeLine()
        case UInt8(ascii: ";"): state = .chunkExtension
        case 0x20, 0x09:
            guard role == .toClient else { return HTTPFault(400, "blank in a chunk-size line") }
            state = .chunkBlank
            sizeLine += 1
            guard sizeLine <= Self.chunkLineLimit else { return HTTPFault(400, "chunk-size line too long") }
        default: return HTTPFault(400, "chunk size is not a hexadecimal number")
        }
        return nil
    }

    private mutating func endSizeLine() {
        state = size == 0 ? .trailers : .chunkData(size)
    }

    private mutating func startChunk() {
        state = .chunkSize
        size = 0
        sizeLine = 0
    }
}
