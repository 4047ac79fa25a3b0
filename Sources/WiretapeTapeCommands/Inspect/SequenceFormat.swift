internal import WiretapeProtocol
internal import WiretapeWire

/// `--format sequence`: the conversation as a diagram, one line an arrow between the lanes client, proxy and server.
///
/// Runs of more than three keepalives or pieces are folded into a line that counts them. A connection that is opened
/// after a stream has ended says how long after.
package struct SequenceFormat: InspectFormat {
    /// Between the lanes of client and proxy, where the text stands.
    private let room: Int
    private var fold = SequenceFold()
    private var reconnects = SequenceReconnects()

    /// - Parameter width: columns of the whole, at least 72.
    package init(width: Int = 110) { room = max(72, width) - 38 }

    private static let hop = 10
    private static let head = 20

    package func begin(into out: inout String) {
        let gutter = Columns.right("TIME", 10) + Columns.right("CONN", 6)
        out += "\(gutter)  client\(String(repeating: " ", count: room - 4))proxy"
        out += "\(String(repeating: " ", count: Self.hop - 5))server\n"
    }

    package mutating func append(_ row: InspectRow, into out: inout String) {
        switch fold.next(row) {
        case .show: break
        case .hold: return
        case .showAfter(let folded): note(folded, into: &out)
        }
        if let reconnect = reconnects.next(row) { note(reconnect, into: &out) }
        out += line(row)
    }

    package mutating func finish(into out: inout String) {
        if let folded = fold.finish() { note(folded, into: &out) }
    }

    private func note(_ text: String, into out: inout String) {
        out += String(repeating: " ", count: Self.head - 1) + "|  ··· "
        out += Columns.left(Columns.clipped(text, room - 6), room - 6) + "|"
        out += String(repeating: " ", count: Self.hop) + "|\n"
    }

    private func line(_ row: InspectRow) -> String {
        let label = text(row.text)
        var left: String
        var right = SequenceFormat.blank
        switch (row.kind, row.direction) {
        case (.open, _): left = arrow(label, .toServer, "=")
        case (.response(byProxy: true), _): left = arrow(label, .toClient, "-")
        case (.gone(.proxy), _):
            left = arrow(label, .toClient, "x")
            right = short(.toServer, "x")
        case (.fault, _): left = Columns.right(label, room - 2) + " X"
        case (.gone, let direction?):
            left = arrow(label, direction, "x")
            right = short(direction, "x")
        case (_, let direction?):
            left = arrow(label, direction, "-")
            right = short(direction, "-")
        case (_, nil): left = Columns.left("  " + label, room)
        }
        let connection = row.connection == 0 ? "" : "\(row.connection)"
        let start = Columns.right(Columns.seconds(row.time), 10) + Columns.right(connection, 6)
        return "\(start)   |\(left)|\(right)|\n"
    }

    private func text(_ text: String) -> String { Columns.clipped(text, room - 10) }

    /// The text on an arrow between client and proxy.
    private func arrow(_ label: String, _ direction: Direction, _ stroke: Character) -> String {
        let start = String(repeating: stroke, count: 3)
        let rest = String(repeating: stroke, count: max(0, room - Columns.cells(label) - 6))
        return direction == .toServer ? "\(start) \(label) \(rest)>" : "<\(start) \(label) \(rest)"
    }

    /// The same arrow between proxy and server.
    private func short(_ direction: Direction, _ stroke: Character) -> String {
        let line = String(repeating: stroke, count: Self.hop - 1)
        return direction == .toServer ? line + ">" : "<" + line
    }

    private static let blank = String(repeating: " ", count: hop)
}
