import Testing
import WiretapeTLS

struct TLSMachineTests {
    let authority: TLSIdentity
    let client: TLSContext
    let server: TLSContext

    init() throws {
        authority = try TestCertificates.authority.get()
        client = try TestCertificates.trusting(authority)
        server = try TLSContext(serverIssuing: authority)
    }

    private static func failure(_ body: () throws(TLSError) -> Void) -> TLSError? {
        do {
            try body()
            return nil
        } catch { return error }
    }

    @Test(arguments: ["example.test", "127.0.0.1", "::1", "localhost", "example.test."])
    func handshake(host: String) throws {
        var pair = try TLSPair(client, server, host: host)
        try pair.shakeHands()
        #expect(pair.clientFailure == nil)
        #expect((pair.client.isOpen) == true)
        #expect((pair.server.isOpen) == true)
        #expect(pair.client.version == "TLSv1.3")
        #expect(pair.client.applicationProtocol == "http/1.1")
        #expect(pair.server.applicationProtocol == "http/1.1")
        #expect(
            pair.server.serverName == (host.hasPrefix("example") ? "example.test" : host == "localhost" ? host : nil))
        try pair.clientSays(Array("hello".utf8))
        try pair.serverSays(Array("world".utf8))
        pair.carry()
        #expect(pair.serverHeard == Array("hello".utf8))
        #expect(pair.clientHeard == Array("world".utf8))
    }

    @Test(arguments: [1, 2, 3, 5, 16, 64, 100, 512, 1000, 5000]) func anySplit(size: Int) throws {
        var pair = try TLSPair(client, server, host: "split.test")
        try pair.shakeHands(pieces: size)
        let data = TLSPair.noise(40_000, seed: UInt64(size))
        try pair.clientSays(data)
        try pair.serverSays(data.reversed())
        pair.client.sendEnd(into: &pair.toServer)
        pair.server.sendEnd(into: &pair.toClient)
        pair.carry(pieces: size)
        // Compared before: `#expect(a == b)` computes a difference, which takes hours for megabytes.
        let isSame = pair.serverHeard == data && pair.clientHeard == data.reversed()
        #expect(isSame)
        #expect((pair.client.hasReceivedEnd) == true)
        #expect((pair.server.hasReceivedEnd) == true)
    }

    @Test func muchData() throws {
        var pair = try TLSPair(client, server, host: "big.test")
        try pair.shakeHands()
        let data = TLSPair.noise(6_000_000)
        try pair.clientSays(data)
        pair.carry(pieces: 65536)
        let isSame = pair.serverHeard == data
        #expect(isSame)
    }

    @Test func progressSaysWhatCame() throws {
        var one = try TLSMachine(client, connectingTo: "progress.test")
        var two = try TLSMachine(accepting: server)
        var plain: [UInt8] = [], hello: [UInt8] = [], answer: [UInt8] = [], rest: [UInt8] = []
        try one.start(reply: &hello)
        var progress = try two.received(hello.span, plain: &plain, reply: &answer)
        #expect(progress == .none)
        progress = try one.received(answer.span, plain: &plain, reply: &rest)
        #expect(progress == .opened)
        // The client's last words of the handshake, its data and its end in one piece.
        let data: [UInt8] = [1, 2, 3]
        try one.send(data.span, into: &rest)
        one.sendEnd(into: &rest)
        progress = try two.received(rest.span, plain: &plain, reply: &answer)
        #expect(progress == .openedAndEnded)
        #expect(plain == data)
        // What comes after the end is dropped.
        progress = try two.received(data.span, plain: &plain, reply: &answer)
        #expect(progress == .none)
        #expect(plain == data)
    }

    @Test func halfClose() throws {
        var pair = try TLSPair(client, server, host: "half.test")
        try pair.shakeHands()
        pair.client.sendEnd(into: &pair.toServer)
        pair.carry()
        #expect((pair.server.hasReceivedEnd) == true)
        #expect((pair.client.hasReceivedEnd) == false)
        try pair.serverSays(Array("still here".utf8))
        pair.carry()
        #expect(pair.clientHeard == Array("still here".utf8))
        let late = Self.failure { () throws(TLSError) in
            try pair.client.send(Array("late".utf8).span, into: &pair.toServer)
        }
        #expect(late != nil)
        pair.server.sendEnd(into: &pair.toClient)
        pair.carry()
        #expect((pair.client.hasReceivedEnd) == true)
        #expect(pair.clientFailure == nil && pair.serverFailure == nil)
    }

    @Test func garbageInsteadOfAHandshake() throws {
        var machine = try TLSMachine(client, connectingTo: "x.test")
        var plain: [UInt8] = [], reply: [UInt8] = []
        try machine.start(reply: &reply)
        let answer = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        let error = Self.failure { () throws(TLSError) in
            _ = try machine.received(answer.span, plain: &plain, reply: &reply)
        }
        #expect(error?.message.contains("does not speak TLS") == true)
        let again = Self.failure { () throws(TLSError) in
            _ = try machine.received(answer.span, plain: &plain, reply: &reply)
        }
        #expect(again == error)
    }

    @Test func aPlainRequestToAServer() throws {
        var machine = try TLSMachine(accepting: server)
        var plain: [UInt8] = [], reply: [UInt8] = []
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        let error = Self.failure { () throws(TLSError) in
            _ = try machine.received(request.span, plain: &plain, reply: &reply)
        }
        #expect(error?.message.contains("does not speak TLS") == true)
    }

    /// Every byte of the first flight and of a record of data is flipped: an error or silence, never a wrong byte of data.
    @Test func flippedBytes() throws {
        var first: [UInt8] = []
        var pair = try TLSPair(client, server, host: "flip.test")
        try pair.client.start(reply: &first)
        var fine = 0
        for at in stride(from: 0, to: first.count, by: 3) {
            var machine = try TLSMachine(accepting: server)
            var bytes = first, plain: [UInt8] = [], reply: [UInt8] = []
            bytes[at] ^= 0x41
            do { _ = try machine.received(bytes.span, plain: &plain, reply: &reply) } catch { continue }
            fine += 1
            #expect(plain.isEmpty)
        }
        // Random numbers and key shares may be anything.
        #expect(fine < first.count)
        for at in 0..<30 {
            var pair = try TLSPair(client, server, host: "flip.test")
            try pair.shakeHands()
            try pair.clientSays(Array("secret".utf8))
            let index = at % pair.toServer.count
            pair.toServer[index] ^= 0x10
            pair.carry()
            #expect(pair.serverHeard.isEmpty)
        }
    }

    @Test func aTruncatedRecordIsNotAnEnd() throws {
        var pair = try TLSPair(client, server, host: "cut.test")
        try pair.shakeHands()
        try pair.clientSays(TLSPair.noise(1000))
        pair.toServer.removeLast()
        pair.carry()
        #expect(pair.serverHeard.isEmpty)
        #expect((pair.server.hasReceivedEnd) == false)
        #expect(pair.serverFailure == nil)
    }
}
