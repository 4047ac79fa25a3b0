package import WiretapeCommandLine
internal import WiretapeSystem

/// Where `--events` wants its lines.
package enum EventsTarget: Hashable, Sendable {
    case file(String)
    /// What the process that started this one has opened for it.
    case descriptor(Int32)

    package init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let text = arguments.value("events") else { return nil }
        if text == "-" {
            if arguments.tail != nil {
                throw arguments.error("--events -: the command's own output goes there; write to a file or to fd:N")
            }
            for other in ["json", "report"]
            where arguments.has(other) && (other == "json" || arguments.value(other) == "-") {
                throw arguments.error("--events - and --\(other) both want standard output")
            }
            self = .descriptor(Console.output.rawValue)
        } else if text.hasPrefix("fd:") {
            guard let number = Int32(text.dropFirst(3)), number > 2 else {
                throw arguments.error("--events \(text): write fd:3, or the number of another open descriptor above 2")
            }
            self = .descriptor(number)
        } else {
            self = .file(text)
        }
    }

    func open() throws(FileError) -> File {
        switch self {
        case .file(let path): try File.creating(path, overwrite: true)
        case .descriptor(let number): try File.inherited(number)
        }
    }
}
