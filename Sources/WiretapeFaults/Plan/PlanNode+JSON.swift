internal import WiretapeBytes
internal import WiretapeWire

extension PlanNode {
    /// A JSON text as nodes that know their lines and columns.
    /// - Parameters:
    ///   - json: at most 1 MiB; the tokenizer of `WiretapeWire` limits its depth.
    ///   - file: as errors name it.
    /// - Throws: for anything that is no JSON, and for a name that an object has twice.
    package init(json: [UInt8], file: String) throws(PlanError) {
        guard json.count <= 1 << 20 else { throw PlanError("larger than 1 MiB", at: RuleSource(file: file)) }
        do {
            _ = try JSONValue(parsing: json)
        } catch {
            throw PlanError("not JSON: \(error)", at: RuleSource(file: file))
        }
        var reader = JSONPlanReader(json, file: file)
        self = try reader.value(from: 0)
    }
}

/// Walks a text that has been parsed before, in one pass from its beginning to its end.
private struct JSONPlanReader {
    private let json: [UInt8]
    private let file: String
    /// Where the line of the last place begins, and its number.
    private var line = 1
    private var lineStart = 0
    private var counted = 0
    private(set) var end = 0

    init(_ json: [UInt8], file: String) {
        self.json = json
        self.file = file
    }

    private mutating func source(_ at: Int) -> RuleSource {
        while counted < at {
            if json[counted] == 0x0a {
                line += 1
                lineStart = counted + 1
            }
            counted += 1
        }
        return RuleSource(file: file, line: line, column: at - lineStart + 1)
    }

    mutating func value(from: Int) throws(PlanError) -> PlanNode {
        let at = JSONMembers.skipBlanks(json, from)
        let source = source(at)
        guard at < json.count else { throw PlanError("not JSON: nothing here", at: source) }
        switch json[at] {
        case UInt8(ascii: "{"): return try container(at, source, isObject: true)
        case UInt8(ascii: "["): return try container(at, source, isObject: false)
        default:
            end = JSONMembers.skipValue(json, at)
            guard end > at, let value = try? JSONValue(parsing: Array(json[at..<end])) else {
                throw PlanError("not JSON", at: source)
            }
            if let text = value.string { return PlanNode(kind: .scalar(text, isQuoted: true), source: source) }
            return PlanNode(kind: .scalar(value.text, isQuoted: false), source: source)
        }
    }

    private mutating func container(
        _ start: Int, _ source: RuleSource, isObject: Bool
    ) throws(PlanError) -> PlanNode {
        var items: [PlanNode] = []
        var pairs: [(key: PlanNode, value: PlanNode)] = []
        var names: Set<String> = []
        var at = JSONMembers.skipBlanks(json, start + 1)
        while at < json.count, json[at] != UInt8(ascii: "}"), json[at] != UInt8(ascii: "]") {
            if isObject {
                let key = try value(from: at)
                guard names.insert(key.text ?? "").inserted else {
                    throw key.error("'\(key.text ?? "")' stands here twice")
                }
                var value = try value(from: JSONMembers.skipBlanks(json, end) + 1)
                // Quotes are the language's own here: a point stands in them, too. A label has `target` and `type`.
                if key.text == "at", let text = value.text { value.kind = .scalar(text, isQuoted: false) }
                pairs.append((key, value))
            } else {
                items.append(try value(from: at))
            }
            at = JSONMembers.skipBlanks(json, end)
            if at < json.count, json[at] == UInt8(ascii: ",") { at = JSONMembers.skipBlanks(json, at + 1) }
        }
        end = min(at + 1, json.count)
        return PlanNode(kind: isObject ? .map(pairs) : .list(items), source: source)
    }
}
