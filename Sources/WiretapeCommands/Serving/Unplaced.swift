internal import WiretapeCommandLine
internal import WiretapeProtocol

/// Warnings about requests of sessions that do not begin on the tape.
enum Unplaced {
    private static let mostTold = 3

    static func warn(of requests: [SessionReader.Unplaced], on tape: String, _ log: Log) {
        for one in requests.prefix(mostTold) { log.warning("\(tape):\(one.line): \(one.text).") }
        let more = requests.count - mostTold
        if more > 0 { log.warning("\(more) more requests belong to sessions that do not begin on the tape.") }
    }
}
