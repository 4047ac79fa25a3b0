internal import WiretapeWire

/// Events and parts of a body: cut anywhere they are read as when whole.
enum StreamTargets {
    static let all = [
        FuzzTarget("sse") { bytes in
            let input = FuzzInput(bytes)
            let (whole, cut) = (events(input.whole), events(input.pieces))
            return whole == cut ? nil : "cut: \(cut)\nwhole: \(whole)"
        },
        FuzzTarget("multipart") { bytes in
            let input = FuzzInput(bytes)
            let (whole, cut) = (parts(input.whole), parts(input.pieces))
            return whole == cut ? nil : "cut: \(cut)\nwhole: \(whole)"
        },
    ]

    private static let limit = 512

    private static func events(_ pieces: [[UInt8]]) -> [SSEOutcome] {
        var reader = SSEReader(limit: limit)
        var found: [SSEOutcome] = []
        for piece in pieces {
            var at = 0
            reading: while true {
                switch reader.feed(piece.span, from: at) {
                case .more: break reading
                case .event(let event, let next):
                    found.append(.event(event, next: 0))
                    at = next
                case .comment(let text, let next):
                    found.append(.comment(text, next: 0))
                    at = next
                case .retry(let time, let next):
                    found.append(.retry(time, next: 0))
                    at = next
                case .tooLong(let next):
                    found.append(.tooLong(next: 0))
                    at = next
                }
            }
        }
        return found
    }

    private static func parts(_ pieces: [[UInt8]]) -> [MultipartOutcome] {
        var reader = MultipartReader(boundary: Array("-".utf8), limit: limit)
        var found: [MultipartOutcome] = []
        for piece in pieces {
            var at = 0
            reading: while true {
                switch reader.feed(piece.span, from: at) {
                case .more: break reading
                case .part(let part, let next):
                    found.append(.part(part, next: 0))
                    at = next
                case .tooLong(let next):
                    found.append(.tooLong(next: 0))
                    at = next
                case .end(let next):
                    found.append(.end(next: 0))
                    at = next
                }
            }
        }
        return found
    }
}
