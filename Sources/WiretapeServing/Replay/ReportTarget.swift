package import WiretapeCommandLine
internal import WiretapeRecorder
package import WiretapeReport
internal import WiretapeSystem
internal import WiretapeWire

/// Where `--report` wants the report.
package enum ReportTarget: Hashable, Sendable {
    case json(String)
    case text(String)
    case junit(String)
    case html(String)
    case output
    /// `report.html`, `report.json`, `report.txt`, `report.xml` and `actual.tape`, what really passed.
    case folder(String)

    package init?(_ arguments: ParsedArguments) throws(UsageError) {
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
        case "html"?, "htm"?: self = .html(path)
        case let other?:
            throw arguments.error(
                "--report \(path): '.\(other)' is no kind of report; write .html, .json, .xml, .txt, a folder, or - for standard output"
            )
        }
    }

    /// Makes the folder when there is one to make, and asks for that of a file, so that a run does not end in vain.
    package func prepare() throws {
        switch self {
        case .folder(let path): try File.makeFolder(path)
        case .json(let path), .text(let path), .junit(let path), .html(let path):
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
            _ = try File.reading(String(path[..<slash]))
        case .output: break
        }
    }

    /// All that a run writes.
    package var files: [String] {
        switch self {
        case .output: []
        case .json(let path), .text(let path), .junit(let path), .html(let path): [path]
        case .folder(let path):
            ["report.html", "report.json", "report.txt", "report.xml", "actual.tape"].map {
                path + (path.hasSuffix("/") ? "" : "/") + $0
            }
        }
    }

    /// Where the tape of the run goes.
    package var actualTape: String? {
        if case .folder(let path) = self { path + (path.hasSuffix("/") ? "" : "/") + "actual.tape" } else { nil }
    }

    /// - Parameters:
    ///   - suite: how JUnit and HTML name the run.
    ///   - command: what runs it again.
    ///   - masked: a text without secrets.
    package func write(_ report: ReplayReport, suite: String, command: String, masked: @escaping (String) -> String)
        throws
    {
        let json = report.json.mappingTexts(masked).text + "\n"
        switch self {
        case .output: Console.output.writeJSON(json)
        case .json(let path): try Self.write(json, to: path)
        case .text(let path): try Self.write(masked(report.text), to: path)
        case .junit(let path): try Self.write(report.junit(suite: suite, masked: masked), to: path)
        case .html(let path): try Self.write(report.html(of: suite, command: command, masked: masked), to: path)
        case .folder(let path):
            let folder = path + (path.hasSuffix("/") ? "" : "/")
            try Self.write(json, to: folder + "report.json")
            try Self.write(masked(report.text), to: folder + "report.txt")
            try Self.write(report.junit(suite: suite, masked: masked), to: folder + "report.xml")
            try Self.write(report.html(of: suite, command: command, masked: masked), to: folder + "report.html")
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let bytes = Array(text.utf8)
        try File.creating(path, overwrite: true).write(bytes.span)
    }
}
