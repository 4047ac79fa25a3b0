internal import WiretapeBytes
internal import WiretapePackets

/// Cuts a JSON text of any length into the items of one array, which stands at a path of names, without reading the whole of it.
/// What stands beside the path is given as text, too. What is within an item is not looked at: its reader does.
///
/// States: before a value, within an object on the path, within the array, within a value that is gathered, done. Wrong text
/// ends in a fault with its offset.
struct JSONItems: ArchiveItems {
    private enum Mode {
        case value, name, afterName, afterValue, item, afterItem, done
        case gathering(isItem: Bool)
    }

    private let path: [String]
    private let most: Int
    private var mode = Mode.value
    /// Objects on the path that are open.
    private var level = 0
    private var member = ""
    private var mayClose = true
    private var bytes: [UInt8] = []
    private var at = 0
    /// Of the first byte of `bytes`.
    private var origin: UInt64 = 0
    private var gathered: [UInt8] = []
    private var began: UInt64 = 0
    private var depth = 0
    private var isQuoted = false
    private var isEscaped = false
    private var isFirst = true
    /// Within a name whose end has not come.
    private var isWaiting = false
    private var fault: CaptureFault?

    /// - Parameters:
    ///   - path: names that lead from the text's object to the array.
    ///   - most: bytes of an item or of a member beside the path.
    init(_ path: [String], most: Int) {
        self.path = path
        self.most = most
    }

    /// Whether the text has ended as it should.
    var isDone: Bool { if case .done = mode { true } else { false } }

    mutating func append(_ piece: Span<UInt8>) {
        if at > 0 {
            origin += UInt64(at)
            bytes.removeSubrange(..<at)
            at = 0
        }
        bytes.append(copying: piece)
        if isFirst, bytes.count >= 3 {
            isFirst = false
            // A mark of the encoding, as some tools write it.
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) { at = 3 }
        }
    }

    /// The file has ended before the text: where, and within what.
    var torn: CaptureFault? {
        guard !isDone, fault == nil else { return fault }
        return CaptureFault(offset: origin + UInt64(bytes.count), reason: "the file ends within the JSON text")
    }

    mutating func next() -> ArchiveStep {
        if let fault { return .bad(fault) }
        isWaiting = false
        while at < bytes.count {
            if case .gathering(let isItem) = mode {
                guard gather() else { break }
                guard fault == nil else { break }
                let text = gathered
                gathered = []
                mode = isItem ? .afterItem : .afterValue
                if isItem { return .item(text, at: began) }
                return .member(place, text, at: began)
            }
            let byte = bytes[at]
            guard byte != 0x20, byte != 0x0a, byte != 0x0d, byte != 0x09 else {
                at += 1
                continue
            }
            step(byte)
            if let fault { return .bad(fault) }
            if isWaiting { break }
        }
        if let fault { return .bad(fault) }
        return .more
    }

    private var place: String { (path.prefix(max(0, level - 1)) + [member]).joined(separator: "/") }

    private mutating func step(_ byte: UInt8) {
        switch mode {
        case .value: beginValue(byte)
        case .name:
            if byte == UInt8(ascii: "}"), mayClose { return close() }
            guard byte == UInt8(ascii: "\"") else { return fail("a name is expected") }
            readName()
        case .afterName:
            guard byte == UInt8(ascii: ":") else { return fail("':' is expected") }
            at += 1
            mode = .value
        case .afterValue:
            if byte == UInt8(ascii: "}") { return close() }
            guard byte == UInt8(ascii: ",") else { return fail("',' or '}' is expected") }
            at += 1
            mayClose = false
            mode = .name
        case .item:
            if byte == UInt8(ascii: "]"), mayClose {
                at += 1
                mode = .afterValue
                return
            }
            begin(isItem: true)
        case .afterItem:
            at += 1
            if byte == UInt8(ascii: "]") {
                mode = .afterValue
            } else if byte == UInt8(ascii: ",") {
                mayClose = false
                mode = .item
            } else {
                at -= 1
                fail("',' or ']' is expected")
            }
        case .done: fail("more stands behind the JSON text")
        case .gathering: break
        }
    }

    private mutating func beginValue(_ byte: UInt8) {
        let isOnPath = level == 0 || level <= path.count && member == path[level - 1]
        guard isOnPath else { return begin(isItem: false) }
        mayClose = true
        if level == path.count {
            guard byte == UInt8(ascii: "[") else { return fail("'\(member)' is no list") }
            at += 1
            mode = .item
        } else {
            guard byte == UInt8(ascii: "{") else { return fail("an object is expected") }
            at += 1
            level += 1
            mode = .name
        }
    }

    private mutating func close() {
        at += 1
        level -= 1
        mode = level == 0 ? .done : .afterValue
        if level > 0 { member = path[level - 1] }
    }

    private mutating func readName() {
        // The whole name has to be there.
        var end = at + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        guard end < bytes.count else {
            // What is there is looked at again with what follows.
            if bytes.count - at > 4_096 { fail("a name without end") }
            isWaiting = true
            return
        }
        member = String(decoding: bytes[at + 1..<end], as: UTF8.self)
        at = end + 1
        mode = .afterName
    }

    private mutating func begin(isItem: Bool) {
        began = origin + UInt64(at)
        depth = 0
        isQuoted = false
        isEscaped = false
        gathered = []
        mode = .gathering(isItem: isItem)
    }

    /// Gathers the value at hand. False when it goes on behind what is there.
    private mutating func gather() -> Bool {
        let from = at
        defer {
            if fault == nil {
                gathered.append(contentsOf: bytes[from..<at])
                if gathered.count > most {
                    fault = CaptureFault(
                        offset: began,
                        reason: "an entry of more than \(ByteSize.text(most)), which takes more than --memory allows")
                }
            }
        }
        while at < bytes.count {
            let byte = bytes[at]
            if isQuoted {
                at += 1
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isQuoted = false
                    if depth == 0 { return true }
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isQuoted = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return true }
                depth -= 1
                if depth == 0 {
                    at += 1
                    return true
                }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0a, 0x0d:
                if depth == 0 { return true }
            default: break
            }
            at += 1
        }
        return false
    }

    private mutating func fail(_ reason: String) {
        fault = CaptureFault(offset: origin + UInt64(at), reason: "no JSON of this kind: \(reason)")
    }
}
