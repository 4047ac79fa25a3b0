internal import WiretapeBytes
internal import WiretapeCodecs
package import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeRecorder
internal import WiretapeSystem
internal import WiretapeTape
internal import WiretapeTapeTools
internal import WiretapeWire

/// `wiretape edit FILE --where SELECTOR …`.
package struct EditCommand: Command {
    package static let spec = CommandSpec(
        name: "edit", abstract: "Change messages of a tape",
        discussion: """
            Changes the messages that a selector names, at places named by JSON Pointers. Everything else stays as it is, \
            comments and the lines' numbers too; lengths are made anew at replay. An ordinal counts within each session; \
            'session=2' among the conditions means that session only.

            Values are JSON, so that texts stand in quotes: --set '/arguments/1="bye"'. A member that is not there is \
            added; '-' behind an array's pointer adds an item.
            """,
        positionals: [EditedTape.file],
        groups: [
            OptionGroup(
                "Changes",
                [
                    OptionSpec(
                        "where", "SELECTOR", selectorKind, required: true, "Which messages: 'ReceiveMessage[3]'."),
                    OptionSpec(
                        "set", "/POINTER=JSON", setKind, repeatable: true,
                        "Put this value there: '/arguments/1=\"bye\"'."),
                    OptionSpec("remove", "/POINTER", pointerKind, repeatable: true, "Take this member or item away."),
                    OptionSpec(switch: "drop", "Take the messages away."),
                    OptionSpec(
                        "after", "D", .duration,
                        "Let them come so long after the event before; what follows moves along."),
                    OptionSpec(
                        "insert-after", "JSON", jsonKind, repeatable: true,
                        "Add a message behind each, in the same direction."),
                ]),
            OptionGroup(
                "Output",
                [
                    EditedTape.output, EditedTape.force,
                    OptionGroup.fileMemory,
                    OptionSpec(switch: "dry-run", "Write nothing; show what would change."),
                ]),
        ],
        examples: [
            ExampleSpec(
                "wiretape edit chat.tape --where 'ReceiveMessage[3]' --set '/arguments/1=\"bye\"'",
                "Changes what the third message says."),
            ExampleSpec(
                "wiretape edit chat.tape --where 'message[direction=toClient, type=Completion]' --drop --dry-run",
                "Shows what would go."),
        ], exitCodes: [.failure, .badFile])

    private static let selectorKind = ValueKind.checked(suggestions: []) { _ = try selector($0) }
    private static let setKind = ValueKind.checked(suggestions: []) { _ = try set($0) }
    private static let pointerKind = ValueKind.checked(suggestions: []) {
        guard $0.hasPrefix("/") else {
            throw OptionError("'\($0)' is no JSON Pointer; it begins with '/', as in /arguments/0")
        }
    }
    private static let jsonKind = ValueKind.checked(suggestions: []) { _ = try json($0) }

    /// - Parameter option: that the text came with.
    static func selector(_ text: String, of option: String = "--where") throws -> (
        selector: Selector, filters: RuleFilters
    ) {
        let source = RuleSource(file: option)
        let (selector, filters) = try Selector.parse(text, from: source)
        if case .point(let point) = selector.subject, point != .message, point != .handshake {
            throw PlanError("'\(point.rawValue)' is no message; name a target, a type, or message[…]", at: source)
        }
        guard filters.attempt == nil, filters.retry == nil else {
            throw PlanError("attempts are made at replay; a tape has sessions: session=2", at: source)
        }
        return (selector, filters)
    }

    private static func set(_ text: String) throws(OptionError) -> TapeEdit.Change {
        guard text.hasPrefix("/"), let equals = text.firstIndex(of: "=") else {
            throw OptionError("'\(text)' is not /POINTER=JSON, as in /arguments/1=\"bye\"")
        }
        let pointer = String(text[..<equals])
        return .set(pointer: pointer, try json(String(text[text.index(after: equals)...]), at: pointer))
    }

    private static func json(_ text: String, at pointer: String? = nil) throws(OptionError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: text)
        } catch {
            let place = pointer.map { "\($0)=" } ?? ""
            throw OptionError(
                "'\(text)' is not JSON (\(error)); texts stand in quotes: \(place)\(JSONValue.string(text).text)")
        }
    }

    private let path: String
    private let edit: TapeEdit
    private let output: EditedTape
    private let isTrial: Bool
    private let longestLine: Int

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        path = try StandardInput.again(arguments.positionals[0], arguments)
        output = try EditedTape(arguments)
        isTrial = arguments.has("dry-run")
        longestLine = TapeCanon.longestLine(memory: arguments.memory)
        do {
            let (selector, filters) = try Self.selector(arguments.value("where") ?? "")
            var edit = TapeEdit(selector, session: filters.session)
            edit.changes = try arguments.all("set").map { try Self.set($0) }
            edit.changes += arguments.all("remove").map { .remove(pointer: $0) }
            edit.drops = arguments.has("drop")
            edit.after = arguments.duration("after")
            edit.inserts = try arguments.all("insert-after").map { try Self.json($0) }
            self.edit = edit
        } catch {
            throw arguments.error("\(error)")
        }
        if edit.changes.isEmpty, !edit.drops, edit.after == nil, edit.inserts.isEmpty {
            throw arguments.error(
                "nothing is to be done; name a change: --set, --remove, --drop, --after or --insert-after")
        }
        if edit.drops, !edit.changes.isEmpty {
            throw arguments.error("--drop takes the messages away; --set and --remove have nothing to change then")
        }
    }

    package func run() throws -> Int32 {
        var editor = TapeEditor(edit, codecs: Codecs.all)
        var reader = try TapeLineReader(path: path, longestLine: longestLine)
        while let line = try reader.next() { editor.look(try EditedTape.whole(line, of: path)) }
        guard !editor.matches.isEmpty else { throw Failure("\(path): \(nothing(editor))") }
        do {
            var diff = ""
            try TapeRewrite.run(path, to: isTrial ? .nowhere : output.target, longestLine: longestLine) { line in
                let lines = try editor.change(line)
                if isTrial { diff += EditCommand.difference(line, lines) }
                return lines
            }
            if isTrial { Console.output.writeJSON(diff) }
        } catch let fault as TapeEdit.Fault {
            throw Failure("\(path): \(fault)")
        }
        let n = editor.matches.count
        let what =
            "\(n) \(n == 1 ? "message" : "messages") \(isTrial ? "would change" : edit.drops ? "dropped" : "changed")"
        let first = editor.matches[0]
        return Verdict(
            .done, 0, "\(isTrial ? path : output.name): \(what)\(n == 1 ? " (line \(first.line), \(first.title))" : "")"
        ).tell()
    }

    private func nothing(_ editor: TapeEditor) -> String {
        var text = "no message is '\(edit.selector.inline)'"
        if case .label(let label) = edit.selector.subject {
            if editor.names.contains(label) {
                text += "; '\(label)' is there, but not with these conditions"
            } else {
                text += NearestName.hint(label, among: editor.names)
            }
        }
        return text
    }

    /// `@@ line 12` and the old and new lines; empty when they are the same.
    private static func difference(_ old: TapeLine, _ new: [TapeNewLine]) -> String {
        guard new.map(\.bytes) != [old.bytes] else { return "" }
        var text = "@@ line \(old.line)\n"
        if !new.contains(where: { $0.bytes == old.bytes }) {
            text += "-\(String(decoding: old.bytes, as: UTF8.self))\n"
        }
        for line in new where line.bytes != old.bytes { text += "+\(String(decoding: line.bytes, as: UTF8.self))\n" }
        return text
    }
}
