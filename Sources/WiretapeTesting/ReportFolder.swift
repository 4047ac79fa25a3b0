internal import Testing
internal import WiretapeSystem

/// The folder of `WIRETAPE_REPORT_DIR`, which gets the report of each test as text and as JSON.
enum ReportFolder {
    static var path: String? {
        ThisProcess.environment("WIRETAPE_REPORT_DIR").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Returns: where it was written, as a line behind a report; empty when nowhere.
    static func write(_ outcome: RunOutcome, of tape: String, _ number: Int) -> String {
        guard let path else { return "" }
        let test = Test.current.map { "\($0.id)" } ?? tape
        let name = String(test.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(120))
        let file = "\(path)/\(name)-\(ThisProcess.id)-\(number)"
        do {
            try File.makeFolder(path)
            for (text, suffix) in [(outcome.text, "txt"), (outcome.json, "json")] where !text.isEmpty {
                let bytes = Array(text.utf8)
                try File.creating("\(file).\(suffix)", overwrite: true).write(bytes.span)
            }
            return "report: \(file).txt\n"
        } catch {
            return "no report: \(error)\n"
        }
    }
}
