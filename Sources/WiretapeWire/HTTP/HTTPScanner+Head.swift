internal import WiretapeBytes

extension HTTPScanner {
    /// Collects lines until an empty one.
    mutating func scanHead(_ bytes: Span<UInt8>, _ from: Int) -> HTTPScan {
        guard from < bytes.count else { return .more }
        var start = from
        while true {
            if lines == 0, heldLine == 0, let fault = judgeFirst(bytes, start) {
                return fail(fault, next: min(start + 1, bytes.count))
            }
            switch collectSection(bytes, start) {
            case .incomplete: return .more
            case .tooLong(let next):
                let line = role == .toServer && lines == 0
                return fail(
                    line ? HTTPFault(414, "request line over 64 KiB") : HTTPFault(431, "head over 64 KiB"), next: next)
            case .complete(let next):
                if lines == 0 {
                    held.removeAll(keepingCapacity: true)
                    blankLines += 1
                    guard blankLines <= Self.blankLineLimit else {
                        return fail(HTTPFault(400, "only empty lines"), next: next)
                    }
                    guard next < bytes.count else { return .more }
                    start = next
                    continue
                }
                return completeHead(next)
            }
        }
    }

    /// Collects the trailer section of a chunked body.
    mutating func scanTrailers(_ bytes: Span<UInt8>, _ from: Int) -> HTTPScan {
        switch collectSection(bytes, from) {
        case .incomplete: return .more
        case .tooLong(let next): return fail(HTTPFault(431, "trailers over 64 KiB"), next: next)
        case .complete(let next):
            let raw = takeSection()
            do throws(HTTPFault) {
                var reader = HTTPHeadReader(raw)
                var facts = HTTPFramingFacts()  // Trailers say nothing about framing (RFC 9110 section 6.5.1).
                let fields = try reader.fields(&facts)
                if role == .toServer, reader.sawBareLF { throw HTTPFault(400, "bare LF in the trailers") }
                state = .head
                return .end(trailers: fields, next: next)
            } catch {
                held = raw
                return fail(error, next: next)
            }
        }
    }

    /// Whether the first byte can begin a head at all: else a peer that speaks something else would wait for ever.
    private func judgeFirst(_ bytes: Span<UInt8>, _ at: Int) -> HTTPFault? {
        let byte = bytes[at]
        if byte == 0x0d || byte == 0x0a { return nil }
        if role == .toClient { return byte == UInt8(ascii: "H") ? nil : HTTPFault(502, "not an HTTP/1.1 response") }
        if HTTPHeadReader.isToken(byte) { return nil }
        return byte == 0x16 ? .secure : HTTPFault(400, "not an HTTP request")
    }

    private enum Section {
        case incomplete
        case complete(next: Int)
        case tooLong(next: Int)
    }

    /// Appends to `held` up to the end of an empty line.
    private mutating func collectSection(_ bytes: Span<UInt8>, _ from: Int) -> Section {
        var lineStart = from
        while let end = firstIndex(of: 0x0a, in: bytes, from: lineStart) {
            let length = heldLine + end - lineStart
            let isBlank: Bool
            switch length {
            case 0: isBlank = true
            case 1: isBlank = (end > lineStart ? bytes[end - 1] : held[held.count - 1]) == 0x0d
            default: isBlank = false
            }
            heldLine = 0
            lineStart = end + 1
            if isBlank || held.count + lineStart - from > Self.headLimit {
                guard held.count + lineStart - from <= Self.headLimit else { return .tooLong(next: lineStart) }
                held.append(copying: bytes.extracting(from..<lineStart))
                return .complete(next: lineStart)
            }
            lines += 1
        }
        heldLine += bytes.count - lineStart
        guard held.count + bytes.count - from <= Self.headLimit else { return .tooLong(next: bytes.count) }
        held.append(copying: bytes.extracting(from..<bytes.count))
        return .incomplete
    }

    /// The collected bytes; the next section starts empty.
    private mutating func takeSection() -> [UInt8] {
        let raw = held
        held = []
        lines = 0
        heldLine = 0
        blankLines = 0
        return raw
    }

    private mutating func completeHead(_ next: Int) -> HTTPScan {
        let raw = takeSection()
        do throws(HTTPFault) {
            var reader = HTTPHeadReader(raw)
            if role == .toServer {
                let (head, info) = try reader.request()
                follow(info.framing)
                return .request(head, info, next: next)
            }
            let (head, info) = try reader.response(to: expected.first ?? .other)
            if !info.isInterim {
                let method = expected.isEmpty ? .other : expected.removeFirst()
                follow(info.framing)
                if head.status == 101 || method == .connect && head.status / 100 == 2 { state = .done }
            }
            return .response(head, info, next: next)
        } catch {
            held = raw
            return fail(error, next: next)
        }
    }

    private mutating func follow(_ framing: HTTPFraming) {
        switch framing {
        case .none, .length(0): state = .messageEnd
        case .length(let count): state = .length(count)
        case .chunked:
            state = .chunkSize
            size = 0
            sizeLine = 0
        case .untilEnd: state = .untilEnd
        }
    }
}
