internal import WiretapeBytes

/// Reads a `text/event-stream` (HTML Living Standard, section 9.2.6) in any split. A line ends at LF, CRLF or CR; an event is
/// told as soon as its empty line has ended. What the stream ends in the middle of is dropped, as browsers do.
///
/// States: in a line ↔ after a CR (a LF is part of its end); skipping after ``SSEOutcome/tooLong(next:)``. Not one is
/// terminal, and there is no bad input: unknown fields and ids with NUL are ignored as the standard says.
package struct SSEReader: Sendable {
    private let limit: Int
    private var line: [UInt8] = []
    private var isAfterCR = false
    private var isFirstLine = true
    private var isSkipping = false
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id = ""

    /// - Parameter limit: most bytes of a line and of the data of an event.
    package init(limit: Int = 1 << 20) {
        self.limit = limit
    }

    /// Whether no field of an event has come since the last one.
    package var isBetweenEvents: Bool { line.isEmpty && !hasData && type.isEmpty && !isSkipping }

    /// Looks at `bytes` from `from` on and returns the next thing found. Call again with `next` until `.more`.
    package mutating func feed(_ bytes: Span<UInt8>, from: Int) -> SSEOutcome {
        var at = from
        while at < bytes.count {
            if isAfterCR {
                isAfterCR = false
                if bytes[at] == 0x0a {
                    at += 1
                    continue
                }
            }
            guard let end = Self.lineEnd(bytes, at) else {
                guard hold(bytes.extracting(at..<bytes.count)) else {
                    defer { line = [0x3a] }  // The line goes on: it is not an empty one.
                    return skip(from: bytes.count)
                }
                return .more
            }
            let fits = hold(bytes.extracting(at..<end))
            isAfterCR = bytes[end] == 0x0d
            at = end + 1
            guard fits else { return skip(from: at) }
            if let outcome = endLine(at) { return outcome }
        }
        return .more
    }

    private static func lineEnd(_ bytes: Span<UInt8>, _ from: Int) -> Int? {
        for i in from..<bytes.count where bytes[i] == 0x0a || bytes[i] == 0x0d { return i }
        return nil
    }

    /// Adds to the line; false when that makes it too long for the first time.
    private mutating func hold(_ piece: Span<UInt8>) -> Bool {
        if isSkipping {
            // Only whether the line is empty matters.
            if line.isEmpty, piece.count > 0 { line.append(piece[0]) }
            return true
        }
        guard line.count + piece.count <= limit else { return false }
        line.append(copying: piece)
        return true
    }

    private mutating func skip(from next: Int) -> SSEOutcome {
        isSkipping = true
        line = []
        clearEvent()
        return .tooLong(next: next)
    }

    private mutating func endLine(_ next: Int) -> SSEOutcome? {
        defer { line.removeAll(keepingCapacity: line.capacity <= 4096) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        if line.isEmpty {
            defer { clearEvent() }
            if isSkipping {
                isSkipping = false
                return nil
            }
            guard hasData else { return nil }
            return .event(SSEEvent(type: type.isEmpty ? "message" : type, data: data, id: id), next: next)
        }
        if isSkipping { return nil }
        return field(next)
    }

    private mutating func field(_ next: Int) -> SSEOutcome? {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.count
        var value = line[min(colon + 1, line.count)...]
        if colon == 0 { return .comment(Array(value), next: next) }
        if value.first == 0x20 { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            guard data.count + value.count < limit else { return skip(from: next) }
            if hasData { data.append(0x0a) }
            hasData = true
            data.append(contentsOf: value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id":
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            let digits = value.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
            if digits, let time = UInt64(String(decoding: value, as: UTF8.self)) { return .retry(time, next: next) }
        default: break
        }
        return nil
    }

    private mutating func clearEvent() {
        type = ""
        data = []
        hasData = false
    }
}

/// One event of a stream of server-sent events.
package struct SSEEvent: Hashable, Sendable {
    /// `message` when the stream names none.
    package var type: String
    /// The data lines joined with LF. UTF-8 as received, valid or not.
    package var data: [UInt8]
    /// The last event id at this point: it lasts until the stream sets another.
    package var id: String

    package init(type: String = "message", data: [UInt8], id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }
}

/// What ``SSEReader/feed(_:from:)`` found. `next` is where the following call starts.
package enum SSEOutcome: Hashable, Sendable {
    /// All bytes are taken; more are needed.
    case more
    case event(SSEEvent, next: Int)
    /// A line that begins with a colon, without it.
    case comment([UInt8], next: Int)
    /// The time to wait before a reconnect, in milliseconds.
    case retry(UInt64, next: Int)
    /// An event or line exceeded the limit; everything up to the next empty line is dropped.
    case tooLong(next: Int)
}
