internal import Testing
internal import XCTest

/// Where issues of a test go. Which framework runs it is decided when the server is made: an issue of Swift Testing that is recorded
/// in an XCTest is lost.
package enum IssueSink: Sendable {
    case swiftTesting, xctest

    package static var current: IssueSink { Test.current == nil ? .xctest : .swiftTesting }

    /// Something that fails no test.
    func warn(_ text: String, at place: CallPlace?) {
        switch self {
        case .swiftTesting:
            Issue.record(
                Comment(rawValue: text), severity: .warning,
                sourceLocation: place?.location ?? Test.current?.sourceLocation ?? #_sourceLocation)
        case .xctest: print("wiretape: \(text)")
        }
    }

    /// - Parameter place: nil: the test's own.
    func record(_ text: String, at place: CallPlace?) {
        switch self {
        case .swiftTesting:
            Issue.record(
                Comment(rawValue: text),
                sourceLocation: place?.location ?? Test.current?.sourceLocation ?? #_sourceLocation)
        case .xctest:
            if let place { XCTFail(text, file: place.file, line: place.line) } else { XCTFail(text) }
        }
    }
}

/// The place in a test's file that called.
struct CallPlace: Sendable {
    var fileID: String
    var file: StaticString
    var line: UInt
    var column: Int

    init(_ fileID: String, _ file: StaticString, _ line: UInt, _ column: Int) {
        self.fileID = fileID
        self.file = file
        self.line = line
        self.column = column
    }

    var location: SourceLocation {
        // A file's identifier has the module in it; Swift Testing insists.
        let id = fileID.contains("/") ? fileID : "Tests/\(fileID)"
        return SourceLocation(fileID: id, filePath: "\(file)", line: max(1, Int(line)), column: max(1, column))
    }
}
