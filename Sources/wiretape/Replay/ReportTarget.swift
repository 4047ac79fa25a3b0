internal import WiretapeRecorder
internal import WiretapeReport
internal import WiretapeSystem
internal import WiretapeWire

/// Where `--report` wants the report.
enum ReportTarget: Hashable, Sendable {
    case json(String)
    case text(String)
    case junit(String)
    case output
    /// `report.json`, `report.txt`, `report.xml` and `actual.tape`, what really passed.
    case folder(String)

    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let path = arguments.value("report") else { return nil }
        let name = path.split(separator: "/").last ?? ""
        let dot = name.lastIndex(of: ".").flatMap { $0 == name.startIndex ? nil : $0 }
        let suffix = dot.map { String(name[$0...].dropFirst()) }
        switch suffix {
        case _ where path == "-": self = .output
        case _ where path.hasSuffix("/"): self = .folder(path)
        case "json"?: self = .json(path)
        case "txt"?: self = .text(path)
        case nil: self = .folder(path)
        case "xml"?: self = .junit(path)
        case "html"?:
            throw arguments.error("--report \(path): .html reports are not built yet; write .json, .xml or .txt")
        case let other?:
            throw arguments.error(
                "--report \(path): '.\(other)' is no kind of report; write .json, .xml, .txt, a folder, or - for standard output"
            )
        }
    }

    /// Makes the folder when there is one to make, and asks for that of a file, so that a run does not end in vain.
    func prepare() throws {
        switch self {
        case .folder(let path): try File.makeFolder(path)
        case .json(let path), .text(let path), .junit(let path):
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
            _ = try File.reading(String(path[..<slash]))
        case .output: break
        }
    }

    /// All that a run writes.
    var files: [String] {
        switch self {
        case .output: []
        case .json(let path), .text(let path), .junit(let path): [path]
        case .folder(let path):
            ["report.json", "report.txt", "report.xml", "actual.tape"].map {
                path + (path.hasSuffix("/") ? "" : "/") + $0
            }
        }
    }

    /// Where the tape of the run goes.
    var actualTape: String? {
        if case .folder(let path) = self { path + (path.hasSuffix("/") ? "" : "/") + "actual.tape" } else { nil }
    }

    /// - Parameters:
    ///   - suite: how JUnit names the run.
    ///   - masked: a text without secrets.
    func write(_ report: ReplayReport, suite: String, masked: (String) -> String) throws {
        let json = Self.masked(report.json, masked).text + "\n"
        switch self {
        case .output: Console.output.writeJSON(json)
        case .json(let path): try Self.write(json, to: path)
        case .text(let path): try Self.write(masked(report.text), to: path)
        case .junit(let path): try Self.write(report.junit(suite: suite, masked: masked), to: path)
        case .folder(let path):
            let folder = path + (path.hasSuffix("/") ? "" : "/")
            try Self.write(json, to: folder + "report.json")
            try Self.write(masked(report.text), to: folder + "report.txt")
            try Self.write(report.junit(suite: suite, masked: masked), to: folder + "report.xml")
        }
    }

    private static func masked(_ value: JSONValue, _ mask: (String) -> String) -> JSONValue {
        switch value {
        case .string(let text): .string(mask(text))
        case .array(let items): .array(items.map { masked($0, mask) })
        case .object(let members): .object(members.map { .init($0.name, masked($0.value, mask)) })
        case .null, .bool, .number: value
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let bytes = Array(text.utf8)
        try File.creating(path, overwrite: true).write(bytes.span)
    }
}
