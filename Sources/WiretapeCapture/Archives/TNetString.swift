internal import WiretapeBytes
internal import WiretapePackets

/// A value of a tnetstring, the typed netstrings that mitmproxy keeps its flows in: `12:hello world!,`.
enum TNetValue {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Double)
    case bytes([UInt8])
    case text(String)
    case list([TNetValue])
    case dictionary([(name: String, value: TNetValue)])

    subscript(_ name: String) -> TNetValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// Of bytes and of texts.
    var bytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .null, .bool, .int, .float, .list, .dictionary: nil
        }
    }

    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    var list: [TNetValue]? { if case .list(let items) = self { items } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var int: Int64? { if case .int(let value) = self { value } else { nil } }

    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): value
        case .null, .bool, .bytes, .text, .list, .dictionary: nil
        }
    }

    static let deepest = 64

    /// Reads exactly one value.
    /// - Parameters:
    ///   - origin: where `bytes` begin in the file, for faults.
    ///   - left: values that it may have.
    init(_ bytes: Span<UInt8>, origin: UInt64, left: inout Int) throws(CaptureFault) {
        let (value, end) = try TNetValue.read(bytes, 0, depth: 0, origin, &left)
        guard end == bytes.count else {
            throw CaptureFault(offset: origin + UInt64(end), reason: "more stands behind the value")
        }
        self = value
    }

    /// The length before the colon, and where the payload begins; nil when more is needed.
    static func length(_ bytes: Span<UInt8>, _ at: Int, _ origin: UInt64) throws(CaptureFault) -> (Int, start: Int)? {
        var length = 0
        var i = at
        while i < bytes.count, bytes[i] >= 0x30, bytes[i] <= 0x39 {
            guard i - at < 12 else {
                throw CaptureFault(offset: origin + UInt64(at), reason: "a length of too many digits")
            }
            length = length * 10 + Int(bytes[i] - 0x30)
            i += 1
        }
        guard i < bytes.count else {
            guard i - at <= 12 else {
                throw CaptureFault(offset: origin + UInt64(at), reason: "a length of too many digits")
            }
            return nil
        }
        guard i > at, bytes[i] == UInt8(ascii: ":") else {
            throw CaptureFault(offset: origin + UInt64(i), reason: "no length of a flow stands here")
        }
        return (length, i + 1)
    }

    private static func read(
        _ bytes: Span<UInt8>, _ at: Int, depth: Int, _ origin: UInt64, _ left: inout Int
    ) throws(CaptureFault) -> (TNetValue, end: Int) {
        func fault(_ reason: String) -> CaptureFault { CaptureFault(offset: origin + UInt64(at), reason: reason) }
        guard left > 0 else { throw fault("a flow of more values than --memory allows") }
        left -= 1
        guard depth < deepest else { throw fault("values are nested too deeply") }
        guard let (length, start) = try length(bytes, at, origin), length < bytes.count - start else {
            throw fault("a value goes on behind what it stands in")
        }
        let content = bytes.extracting(start..<start + length)
        let end = start + length + 1
        let inner = origin + UInt64(start)
        switch bytes[end - 1] {
        case UInt8(ascii: ","): return (.bytes([UInt8](copying: content)), end)
        case UInt8(ascii: ";"): return (.text(String(decoding: [UInt8](copying: content), as: UTF8.self)), end)
        case UInt8(ascii: "#"):
            guard let value = Int64(String(decoding: [UInt8](copying: content), as: UTF8.self)) else {
                throw fault("no whole number")
            }
            return (.int(value), end)
        case UInt8(ascii: "^"):
            guard let value = Double(String(decoding: [UInt8](copying: content), as: UTF8.self)) else {
                throw fault("no number")
            }
            return (.float(value), end)
        case UInt8(ascii: "!"):
            let word = String(decoding: [UInt8](copying: content), as: UTF8.self)
            guard word == "true" || word == "false" else { throw fault("neither true nor false") }
            return (.bool(word == "true"), end)
        case UInt8(ascii: "~"):
            guard length == 0 else { throw fault("a null with content") }
            return (.null, end)
        case UInt8(ascii: "]"):
            var items: [TNetValue] = []
            var i = 0
            while i < content.count {
                let (item, next) = try read(content, i, depth: depth + 1, inner, &left)
                items.append(item)
                i = next
            }
            return (.list(items), end)
        case UInt8(ascii: "}"):
            var members: [(name: String, value: TNetValue)] = []
            var i = 0
            while i < content.count {
                let (name, next) = try read(content, i, depth: depth + 1, inner, &left)
                guard let name = name.text else { throw fault("a name that is no text") }
                let (value, after) = try read(content, next, depth: depth + 1, inner, &left)
                members.append((name, value))
                i = after
            }
            return (.dictionary(members), end)
        default: throw fault("a value of an unknown kind")
        }
    }
}

/// Cuts a file of flows into its flows.
struct TNetItems: ArchiveItems {
    private let most: Int
    private var bytes: [UInt8] = []
    private var at = 0
    private var origin: UInt64 = 0
    private var fault: CaptureFault?

    init(most: Int) { self.most = most }

    mutating func append(_ piece: Span<UInt8>) {
        if at > 0 {
            origin += UInt64(at)
            bytes.removeSubrange(..<at)
            at = 0
        }
        bytes.append(copying: piece)
    }

    /// A flow that the end of the file has cut, or why the file was not read on.
    var torn: CaptureFault? {
        if let fault { return fault }
        guard at < bytes.count else { return nil }
        return CaptureFault(offset: origin + UInt64(at), reason: "the file ends within a flow")
    }

    mutating func next() -> ArchiveStep {
        if let fault { return .bad(fault) }
        guard at < bytes.count else { return .more }
        let place = origin + UInt64(at)
        do throws(CaptureFault) {
            guard let (length, start) = try TNetValue.length(bytes.span, at, origin) else { return .more }
            guard length <= most else {
                throw CaptureFault(
                    offset: place,
                    reason: "a flow of \(ByteSize.text(length)), which takes more than --memory allows")
            }
            let end = start + length + 1
            guard end <= bytes.count else { return .more }
            let item = Array(bytes[at..<end])
            at = end
            return .item(item, at: place)
        } catch {
            fault = error
            return .bad(error)
        }
    }
}
