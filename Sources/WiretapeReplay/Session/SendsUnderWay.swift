/// Payloads of a connection that the kernel has not wholly taken.
struct SendsUnderWay: Sendable {
    /// In order from `first` on.
    private var given: [Given] = []
    private var first = 0
    /// How many bytes they are together.
    private var outstanding = 0

    private struct Given {
        var ticket: UInt64
        var steps: [Int]
        var bytes: Int
    }

    /// Bytes on their way above which the session releases nothing more until the client has taken some: a client that
    /// never reads must not make the tape pile up here.
    private static let most = 256 << 10

    var isFull: Bool { outstanding >= SendsUnderWay.most }

    /// Whether there is something, be it of the script or not.
    var isEmpty: Bool { first == given.count }

    /// Steps of the script that the kernel has not wholly taken.
    var steps: [Int] { given[first...].flatMap(\.steps) }

    mutating func gave(_ ticket: UInt64, _ steps: [Int], bytes: Int) {
        given.append(Given(ticket: ticket, steps: steps, bytes: bytes))
        outstanding += bytes
    }

    /// The steps have other numbers, or none.
    mutating func renumber(_ number: (Int) -> Int?) {
        for i in given.indices { given[i].steps = given[i].steps.compactMap(number) }
    }

    /// The kernel has that payload and all before it.
    mutating func handedOver(_ ticket: UInt64) {
        while first < given.count, given[first].ticket <= ticket {
            outstanding -= given[first].bytes
            first += 1
        }
        if first == given.count {
            handedOverAll()
        } else if first > 1_024, first * 2 > given.count {
            given.removeFirst(first)
            first = 0
        }
    }

    /// Whatever is on its way is as good as there.
    mutating func handedOverAll() {
        given.removeAll(keepingCapacity: true)
        first = 0
        outstanding = 0
    }
}
