internal import WiretapeProtocol
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTapeTools
internal import WiretapeWire

/// What `diff` prints.
struct DiffPrinter {
    var isJSON: Bool
    var isMarkdown: Bool
    /// Differences of one pair.
    var limit: Int

    func tell(_ differences: [TapeDifference], _ pair: DiffPairs.Pair) {
        let shown = differences.prefix(limit)
        let (first, second) = (Summary.part(pair.first), Summary.part(pair.second))
        if isJSON {
            for difference in shown { Console.output.writeJSON(json(difference, pair).text + "\n") }
            return
        }
        guard !differences.isEmpty else { return }
        if isMarkdown {
            var text = "### \(Summary.part(pair.name ?? second))\n\n" + TapeDiffText.markdownHead(first, second)
            for difference in shown { text += TapeDiffText.markdown(difference, first, second) }
            if shown.count < differences.count { text += "\n… and \(differences.count - shown.count) more\n" }
            write(text)
        } else {
            for difference in shown { Console.output.write(TapeDiffText.text(difference, first, second)) }
            if shown.count < differences.count { write("… and \(differences.count - shown.count) more differences") }
        }
    }

    func tell(alone path: String, of folder: String) {
        if isJSON {
            let value = JSONValue.object([
                .init("event", .string("difference")), .init("kind", .string("alone")), .init("file", .string(path)),
            ])
            Console.output.writeJSON(value.text + "\n")
        } else {
            let path = Summary.part(path)
            write(isMarkdown ? "- `\(path)` has no counterpart" : "\(path) has no counterpart")
        }
    }

    private func write(_ text: String) { Console.output.write(text + "\n") }

    private func json(_ difference: TapeDifference, _ pair: DiffPairs.Pair) -> JSONValue {
        func side(_ side: TapeDifference.Side?, _ file: String) -> JSONValue {
            guard let side else { return .null }
            return .object([
                .init("file", .string(file)), .init("line", .number(side.line)),
                .init("session", side.session.map { .number($0) } ?? .null), .init("text", .string(side.text)),
            ])
        }
        return .object([
            .init("event", .string("difference")), .init("kind", .string(difference.kind.rawValue)),
            .init("place", .string(difference.place)), .init("what", .string(difference.what)),
            .init("a", side(difference.first, pair.first)), .init("b", side(difference.second, pair.second)),
            .init("pointers", .array(difference.pointers.map(JSONValue.string))),
            .init("ignore", .array(difference.ignore.map { .string($0.description) })),
        ])
    }
}
