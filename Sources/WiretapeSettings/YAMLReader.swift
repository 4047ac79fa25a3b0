internal import WiretapeBytes
package import WiretapeFaults

/// Reads a document as a tree, within limits: bombs are refused by size, depth and, since aliases are not read, not grown.
package struct YAMLReader {
    static let sizeLimit = 1 << 20
    static let depthLimit = 32
    static let nodeLimit = 100_000

    private let parser: YAMLParser
    private let file: String
    private var nodes = 0

    /// The one document of `bytes`; nil when there is none.
    package static func read(_ bytes: [UInt8], file: String) throws(PlanError) -> PlanNode? {
        guard bytes.count <= sizeLimit else {
            throw PlanError("larger than \(sizeLimit >> 20) MiB", at: RuleSource(file: file))
        }
        var reader = YAMLReader(parser: try YAMLParser(bytes, file: file), file: file)
        return try reader.document()
    }

    private init(parser: YAMLParser, file: String) {
        self.parser = parser
        self.file = file
    }

    private mutating func document() throws(PlanError) -> PlanNode? {
        var root: PlanNode?
        while true {
            let event = try parser.next()
            switch event.kind {
            case .streamStart, .documentEnd: continue
            case .streamEnd: return root
            case .documentStart:
                guard root == nil else { throw error("only one document a file", event) }
                root = try node(try parser.next(), depth: 0)
            case .scalar, .sequenceStart, .sequenceEnd, .mappingStart, .mappingEnd, .alias:
                throw error("unexpected part", event)
            }
        }
    }

    private mutating func node(_ event: YAMLEvent, depth: Int) throws(PlanError) -> PlanNode {
        nodes += 1
        guard depth < YAMLReader.depthLimit else { throw error("nested too deeply", event) }
        guard nodes <= YAMLReader.nodeLimit else { throw error("too many values", event) }
        let source = RuleSource(file: file, line: event.line, column: event.column)
        switch event.kind {
        case .scalar(let text, let isQuoted, let hasAnchor):
            guard !hasAnchor else { throw error("anchors and aliases are not read", event) }
            return PlanNode(kind: .scalar(text, isQuoted: isQuoted), source: source)
        case .sequenceStart(let hasAnchor):
            guard !hasAnchor else { throw error("anchors and aliases are not read", event) }
            var items: [PlanNode] = []
            while true {
                let next = try parser.next()
                if next.kind == .sequenceEnd { return PlanNode(kind: .list(items), source: source) }
                items.append(try node(next, depth: depth + 1))
            }
        case .mappingStart(let hasAnchor):
            guard !hasAnchor else { throw error("anchors and aliases are not read", event) }
            return PlanNode(kind: .map(try pairs(depth: depth)), source: source)
        case .alias: throw error("anchors and aliases are not read", event)
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            throw error("unexpected part", event)
        }
    }

    private mutating func pairs(depth: Int) throws(PlanError) -> [(key: PlanNode, value: PlanNode)] {
        var pairs: [(key: PlanNode, value: PlanNode)] = []
        var seen: Set<String> = []
        while true {
            let next = try parser.next()
            if next.kind == .mappingEnd { return pairs }
            let key = try node(next, depth: depth + 1)
            if let name = key.text, !seen.insert(name).inserted { throw key.error("'\(name)' stands here twice") }
            pairs.append((key, try node(try parser.next(), depth: depth + 1)))
        }
    }

    private func error(_ message: String, _ event: YAMLEvent) -> PlanError {
        PlanError(message, at: RuleSource(file: file, line: event.line, column: event.column))
    }
}
