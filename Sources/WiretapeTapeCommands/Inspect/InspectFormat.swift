/// How rows become text. A format is fed row by row and keeps only what it must.
package protocol InspectFormat {
    /// Whether what it writes is JSON.
    var isJSON: Bool { get }
    /// Before the first row; also when there is none.
    mutating func begin(into out: inout String)
    mutating func append(_ row: InspectRow, into out: inout String)
    /// What was held back for rows to come.
    mutating func finish(into out: inout String)
}

extension InspectFormat {
    package var isJSON: Bool { false }
    package mutating func begin(into out: inout String) {}
    package mutating func finish(into out: inout String) {}
}
