internal import Testing
internal import WiretapeSystem

/// Where the report of one test goes: into the folder of `WIRETAPE_REPORT_DIR`, as a page, as text, as JSON, and the tape of the run.
package struct ReportPlace: Sendable {
    /// The test, else the tape.
    let title: String
    /// The command that runs the test again; nil where the framework does not say which test it is.
    let command: String?
    private let folder: String
    /// The path of its files, without their endings.
    private let stem: String

    /// Bytes of a tape that a test is given as an attachment.
    private static let mostAttached = 16 << 20

    /// Where the environment wants reports; nil: nowhere.
    package static var folder: String? {
        ThisProcess.environment("WIRETAPE_REPORT_DIR").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The place for the test that runs.
    init(_ folder: String, _ tape: String, _ number: Int) {
        // `Module.Suite/test()/File.swift:12:6`: where it stands says nothing more.
        let id = Test.current.map { "\($0.id)" }
        let parts = id?.split(separator: "/").filter { !$0.contains(".swift:") } ?? []
        let test = parts.isEmpty ? nil : parts.joined(separator: "/")
        title = test.map { "\($0) (\(tape))" } ?? tape
        command = test.map { "swift test --filter '\($0.replacing("(", with: ".").replacing(")", with: "."))'" }
        self.folder = folder
        let name = String((id ?? tape).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(120))
        stem = "\(folder)/\(name)-\(ThisProcess.id)-\(number)"
    }

    /// Where the tape of the run goes. The folder is made.
    /// - Throws: when it cannot be made.
    func tape() throws -> String {
        try File.makeFolder(folder)
        return stem + ".tape"
    }

    /// Writes the reports, and attaches them and the tape to the test, where its framework takes such things.
    /// - Returns: where they are, as a line behind a report.
    func write(_ outcome: RunOutcome) -> String {
        do {
            try File.makeFolder(folder)
            for (text, suffix) in [(outcome.text, "txt"), (outcome.json, "json"), (outcome.html, "html")]
            where !text.isEmpty {
                let bytes = Array(text.utf8)
                try File.creating("\(stem).\(suffix)", overwrite: true).write(bytes.span)
                if suffix != "txt" { attach(bytes, suffix) }
            }
            if let tape = try? Self.contents(of: stem + ".tape") { attach(tape, "tape") }
            return "report: \(stem).\(outcome.html.isEmpty ? "txt" : "html")\n"
        } catch {
            return "no report: \(error)\n"
        }
    }

    /// Nil: it is too large to be attached.
    private static func contents(of path: String) throws -> [UInt8]? {
        let file = try File.reading(path)
        var bytes: [UInt8] = []
        while bytes.count <= mostAttached, try file.read(at: UInt64(bytes.count), limit: 1 << 20, into: &bytes) > 0 {}
        return bytes.count <= mostAttached ? bytes : nil
    }

    private func attach(_ bytes: [UInt8], _ suffix: String) {
        guard Test.current != nil else { return }
        Attachment.record(bytes, named: "wiretape.\(suffix)")
    }
}
