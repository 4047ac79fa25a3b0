import Testing
import WiretapeBytes
import WiretapeProxy
import WiretapeRuntime
import WiretapeSimulation
import WiretapeWire

/// A peer that floods a run with rules delays others by a share of a turn, and not by all that it has sent.
///
/// Work takes no virtual time, so what tells a share is how much of a flood stands before what another client says meanwhile:
/// without shares, all that the relay has read at once.
@Suite struct FairShareTests {
    /// Messages of a flood, all in one read of the relay.
    private static let flood = 2_000
    /// What ``TurnShare`` lets a connection bring in one turn.
    private static let share = 128

    @Test(arguments: [Direction.toServer, .toClient])
    func aFloodIsReadInSharesAndOthersAreHeardBetweenThem(_ direction: Direction) throws {
        let stage = try InterceptStage(["reset after message[4000000000]"])
        let loop = stage.loop
        var arrivals: [WireInstant] = []
        var before: Int?
        let good = stage.client("/good")
        var flooded: FramePeer?

        /// What the flood's receiver does with each message: the first one makes the good client speak.
        func heardFlood(_ text: String) {
            guard text.hasPrefix("flood") else { return }
            arrivals.append(loop.now)
            if arrivals.count == 1 { good.say("and I?") }
        }
        func pour(from peer: FramePeer) {
            peer.send((1...Self.flood).flatMap { peer.frame(1, Array("flood \($0)".utf8)) })
        }
        stage.onServer = { server in
            server.onMessage = { server, text in
                switch text {
                case "pour": pour(from: server)
                case "and I?": before = arrivals.count
                default: heardFlood(text)
                }
            }
        }
        stage.run(50)
        flooded = stage.client("/flood")
        flooded?.onMessage = { client, text in
            guard text == "open" else { return heardFlood(text) }
            if direction == .toServer { pour(from: client) } else { client.say("pour") }
        }
        stage.run(1_000)

        #expect(arrivals.count == Self.flood)
        let most = Dictionary(grouping: arrivals, by: \.self).values.map(\.count).max()
        #expect(try #require(most) <= Self.share)
        // The good client speaks when the first share has arrived, and is heard before the second one is.
        #expect(try #require(before) <= Self.share)
        // Nothing is lost or turned round by waiting.
        let receiver = direction == .toServer ? stage.servers.last : flooded
        let texts = receiver?.texts.filter { $0.hasPrefix("flood") }
        #expect(texts == (1...Self.flood).map { "flood \($0)" })
        flooded?.stream?.reset()
        good.stream?.reset()
        _ = stage.finish()
    }
}
