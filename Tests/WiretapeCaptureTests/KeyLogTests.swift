import Testing
import WiretapeCapture

struct KeyLogTests {
    @Test func linesThatAreNoSecretsAreCounted() {
        let log = KeyLog()
        let text = """
            # a comment

            CLIENT_RANDOM 00ff 1234
            CLIENT_RANDOM 00ff
            EXPORTER_SECRET 00ff zz
            CLIENT_RANDOM 01ff 1234 5678
            CLIENT_HANDSHAKE_TRAFFIC_SECRET 01ff ABcd\r
            \(String(repeating: "a", count: 5000))
            """
        let lines = log.add(Array(text.utf8).span)
        #expect(log.count == 2)
        #expect(lines.secrets == 2)
        // The client's log and the server's have the same.
        #expect(log.add(Array("CLIENT_RANDOM 00ff 1234\n".utf8).span).secrets == 1)
        #expect(lines.bad == 4)
        #expect(lines.firstBad == 4)
        #expect(lines.tooMany == 0)
    }

    @Test func secretsBeyondWhatIsKeptAreCounted() {
        let log = KeyLog(most: 5)
        let text = (10..<18).map { "CLIENT_RANDOM \($0) 12\n" }.joined()
        let lines = log.add(Array(text.utf8).span)
        #expect(log.count == 5)
        #expect(lines.tooMany == 3)
        #expect(lines.bad == 0)
    }
}
