internal import WiretapeProtocol
internal import WiretapeWire

/// `--format table`: a line a row, with time, gap to the row before, connection, session, direction and what it was.
package struct TableFormat: InspectFormat {
    private let width: Int?
    private var previous: UInt64?

    /// - Parameter width: columns to keep to; nil for as long as the lines are.
    package init(width: Int? = nil) { self.width = width }

    package func begin(into out: inout String) {
        line("TIME", "GAP", "CONN", "SES", " ", "WHAT", into: &out)
    }

    package mutating func append(_ row: InspectRow, into out: inout String) {
        let gap = previous.map { row.time >= $0 ? Columns.gap(row.time - $0) : "" } ?? ""
        previous = row.time
        line(
            Columns.seconds(row.time), gap, row.connection == 0 ? "" : "\(row.connection)",
            row.message.map { "\($0.session)" } ?? "", row.direction?.mark ?? " ", row.text, into: &out)
    }

    private func line(
        _ time: String, _ gap: String, _ connection: String, _ session: String, _ direction: String, _ text: String,
        into out: inout String
    ) {
        let line =
            "\(Columns.right(time, 10)) \(Columns.right(gap, 8)) \(Columns.right(connection, 5)) "
            + "\(Columns.right(session, 4))  \(direction)  \(text)"
        out += (width.map { Columns.clipped(line, $0) } ?? line) + "\n"
    }
}
