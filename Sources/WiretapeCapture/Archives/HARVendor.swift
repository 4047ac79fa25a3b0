internal import WiretapeBytes
internal import WiretapeProtocol
internal import WiretapeTape
internal import WiretapeWire

/// What `wiretape export --format har` keeps under `_wiretape`, beside what a HAR can say: lines of the tape whose payloads stand
/// in the archive's own members (docs/export.md).
enum HARVendor {
    /// The member of the log and of its entries.
    static let key = "_wiretape"
    static let version = 1

    /// What stands at the log.
    struct Log {
        var headerLine: [UInt8]
        var header: TapeHeader
        var lines: [(number: UInt64, line: [UInt8])]
    }

    struct Fault: Error {
        var reason: String
    }

    /// - Returns: nil for a text of another version or kind.
    static func log(_ value: JSONValue) throws(Fault) -> Log? {
        guard value["version"]?.int == version, let line = value["header"] else { return nil }
        let text = Array(line.text.utf8)
        guard let header = TapeLineParser.header(text.span) else {
            throw Fault(reason: "_wiretape.header is no tape's")
        }
        return Log(headerLine: text, header: header, lines: try lines(value["lines"], of: nil))
    }

    /// The lines of an entry with their payloads; nil when it has none of ours.
    static func lines(of entry: JSONValue) throws(Fault) -> [(number: UInt64, line: [UInt8])]? {
        guard let own = entry[key], own["version"]?.int ?? version == version, own["lines"] != nil else { return nil }
        return try lines(own["lines"], of: entry)
    }

    private static func lines(_ value: JSONValue?, of entry: JSONValue?) throws(Fault) -> [(
        number: UInt64, line: [UInt8]
    )] {
        var out: [(number: UInt64, line: [UInt8])] = []
        var bodies = Bodies(entry: entry)
        for item in value?.array ?? [] {
            guard case .number(let digits)? = item["n"], let number = UInt64(digits) else {
                throw Fault(reason: "a line of _wiretape has no number")
            }
            if let comment = item["comment"]?.string {
                out.append((number, Array(comment.utf8)))
                continue
            }
            guard let line = item["line"], case .object = line else {
                throw Fault(reason: "_wiretape's line \(number) is none")
            }
            var text = Array(line.text.utf8)
            if let key = item["key"]?.string {
                let payload = try bodies.payload(item, number)
                guard text.last == UInt8(ascii: "}") else {
                    throw Fault(reason: "_wiretape's line \(number) is no object")
                }
                text.removeLast()
                text.append(utf8: text.count > 1 ? "," : "")
                JSONEscape.appendString(key, into: &text)
                text.append(UInt8(ascii: ":"))
                switch key {
                case "text":
                    guard JSONEscape.appendString(payload.span, into: &text) else {
                        throw Fault(reason: "the payload of _wiretape's line \(number) is no text")
                    }
                case "b64":
                    text.append(UInt8(ascii: "\""))
                    Base64.append(payload.span, into: &text)
                    text.append(UInt8(ascii: "\""))
                case "json": text += payload
                default: throw Fault(reason: "_wiretape's line \(number) has a payload of an unknown kind")
                }
                text.append(UInt8(ascii: "}"))
            }
            guard !text.contains(0x0a) else { throw Fault(reason: "_wiretape's line \(number) is not one line") }
            out.append((number, text))
        }
        return out
    }

    /// The bytes of an entry's own members, each read once.
    private struct Bodies {
        let entry: JSONValue?
        private var request: [UInt8]?
        private var response: [UInt8]?
        private var message: (index: Int, bytes: [UInt8])?

        init(entry: JSONValue?) { self.entry = entry }

        mutating func payload(_ item: JSONValue, _ number: UInt64) throws(Fault) -> [UInt8] {
            let whole: [UInt8]?
            if item["in"]?.string == "request" {
                if request == nil { request = bytes(entry?["request"]?["postData"]) }
                whole = request
            } else if item["in"]?.string == "response" {
                if response == nil { response = bytes(entry?["response"]?["content"]) }
                whole = response
            } else if let index = item["in"]?.int {
                if message?.index != index { message = said(index).map { (index, $0) } }
                whole = message?.index == index ? message?.bytes : nil
            } else {
                whole = nil
            }
            guard let whole else {
                throw Fault(reason: "the payload of _wiretape's line \(number) is not in the entry")
            }
            guard let range = item["bytes"]?.array else { return whole }
            guard range.count == 2, let from = range[0].int, let count = range[1].int, from >= 0, count >= 0,
                from <= whole.count, count <= whole.count - from
            else {
                throw Fault(reason: "the payload of _wiretape's line \(number) is longer than what is in the entry")
            }
            return Array(whole[from..<from + count])
        }

        private func bytes(_ value: JSONValue?) -> [UInt8]? {
            guard let text = value?["text"]?.string else { return nil }
            let isBase64 = value?["encoding"]?.string == "base64" || value?["_encoding"]?.string == "base64"
            return isBase64 ? Base64.decode(Array(text.utf8).span) : Array(text.utf8)
        }

        private func said(_ index: Int) -> [UInt8]? {
            guard let messages = entry?["_webSocketMessages"]?.array, messages.indices.contains(index),
                let data = messages[index]["data"]?.string
            else { return nil }
            return messages[index]["opcode"]?.int == 2 ? Base64.decode(Array(data.utf8).span) : Array(data.utf8)
        }
    }
}
