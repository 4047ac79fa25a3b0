/// An operation or a fragment of a document.
struct GraphQLDefinition: Hashable, Sendable {
    private let tokens: [GraphQLToken]

    /// A query without a name, variables and directives may leave its keyword out, and does here.
    init(_ tokens: [GraphQLToken]) {
        let isPlain = tokens.count > 1 && tokens[0] == .name("query") && tokens[1] == .mark("{")
        self.tokens = isPlain ? Array(tokens.dropFirst()) : tokens
    }

    /// Nil for a fragment, and for a definition that is not executable.
    var kind: GraphQLOperation.Kind? {
        tokens.first == .mark("{") ? .query : tokens.first?.name.flatMap(GraphQLOperation.Kind.init)
    }

    var name: String? { tokens.count > 1 && tokens[0] != .mark("{") && kind != nil ? tokens[1].name : nil }

    /// The first field that the operation asks for, without its alias; nil when a fragment comes first.
    var field: String? {
        var depth = 0
        for (i, token) in tokens.enumerated() {
            switch token {
            case .mark("("): depth += 1
            case .mark(")"): depth -= 1
            case .mark("{") where depth == 0:
                guard i + 1 < tokens.count, let first = tokens[i + 1].name else { return nil }
                return i + 3 < tokens.count && tokens[i + 2] == .mark(":") ? tokens[i + 3].name : first
            case .mark, .name, .number, .string: break
            }
        }
        return nil
    }

    func hasDirective(_ names: Set<String>) -> Bool {
        zip(tokens, tokens.dropFirst()).contains { mark, name in
            mark == .mark("@") && name.name.map(names.contains) == true
        }
    }

    /// The tokens with blanks between words only, and without plain `__typename` fields.
    var canonicalText: String {
        var text = ""
        var open: [GraphQLToken] = []
        var last: GraphQLToken?
        for (i, token) in tokens.enumerated() {
            switch token {
            case .mark("{"), .mark("("), .mark("["): open.append(token)
            case .mark("}"), .mark(")"), .mark("]"): open.removeLast()
            case .name("__typename") where open.last == .mark("{") && isPlainField(i): continue
            case .mark, .name, .number, .string: break
            }
            if let last, !last.isMark, !token.isMark { text += " " }
            token.write(into: &text)
            last = token
        }
        return text
    }

    /// Whether the name is a field of a selection without alias, arguments and directives.
    private func isPlainField(_ i: Int) -> Bool {
        let marks: Set<GraphQLToken> = [.mark(":"), .mark("("), .mark("@")]
        if i + 1 < tokens.count, marks.contains(tokens[i + 1]) { return false }
        guard i > 0 else { return true }
        if tokens[i - 1] == .mark(":") || tokens[i - 1] == .mark("...") || tokens[i - 1] == .mark("@") { return false }
        return !(tokens[i - 1] == .name("on") && i > 1 && tokens[i - 2] == .mark("..."))
    }
}
