/// An executable document: its operations and fragments, and one text for all spellings of the same document.
struct GraphQLDocument: Hashable, Sendable {
    var operations: [GraphQLDefinition] = []
    var fragments: [GraphQLDefinition] = []

    /// - Throws: when the text cannot be cut into tokens or a bracket has no counterpart. Nothing else is checked.
    init(_ text: String) throws(GraphQLFault) {
        let tokens = try GraphQLLexer.tokens(of: text)
        var start = 0
        var open: [String] = []
        for (i, token) in tokens.enumerated() {
            guard case .mark(let mark) = token else { continue }
            switch mark {
            case "{", "(", "[": open.append(mark)
            case "}", ")", "]":
                guard open.popLast() == GraphQLDocument.opening[mark] else {
                    throw GraphQLFault("'\(mark)' has no counterpart")
                }
                guard open.isEmpty, mark == "}" else { continue }
                add(GraphQLDefinition(Array(tokens[start...i])))
                start = i + 1
            default: break
            }
        }
        guard open.isEmpty else { throw GraphQLFault("'\(open.last ?? "")' has no counterpart") }
        guard start == tokens.count, !operations.isEmpty || !fragments.isEmpty else {
            throw GraphQLFault("a definition has no end")
        }
    }

    private static let opening = ["}": "{", ")": "(", "]": "["]

    private mutating func add(_ definition: GraphQLDefinition) {
        if definition.kind == nil { fragments.append(definition) } else { operations.append(definition) }
    }

    /// The operation that a request means: the one of that name, or the only one.
    func operation(named name: String?) -> GraphQLDefinition? {
        guard let name else { return operations.count == 1 ? operations.first : nil }
        return operations.first { $0.name == name }
    }

    /// Whether a part of the result may come later: `@defer` or `@stream`.
    var asksForPieces: Bool { (operations + fragments).contains { $0.hasDirective(["defer", "stream"]) } }

    /// Equal for documents that differ in white space, commas, comments, the spelling of strings, the order of their
    /// definitions, and the `__typename` that clients add to selections.
    var canonicalText: String {
        (operations.map(\.canonicalText).sorted() + fragments.map(\.canonicalText).sorted()).joined(separator: " ")
    }
}
