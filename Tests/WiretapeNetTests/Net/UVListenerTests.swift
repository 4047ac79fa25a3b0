import Testing
import WiretapeNet
import WiretapeRuntime
import WiretapeSystem

struct UVListenerTests {
    @Test(arguments: [false, true]) func aPortInUseIsNoticed(reusePort: Bool) throws {
        try onLoop { loop in
            let first = try loop.listen(on: UVLoop.anyPort, reusePort: false) { _ in Peer() }
            let error = #expect(throws: NetError.self) {
                _ = try loop.listen(on: first.address, reusePort: reusePort) { _ in Peer() }
            }
            #expect(error?.description == "listen on \(first.address): address already in use")
            first.close()
            loop.after(1) {
                #expect(throws: Never.self) {
                    try loop.listen(on: first.address, reusePort: reusePort) { _ in Peer() }.close()
                }
                loop.stop()
            }
        }
    }

    @Test func aNameIsNoAddress() throws {
        try onLoop { loop in
            let error = #expect(throws: NetError.self) {
                _ = try loop.listen(on: Address(host: "localhost", port: 0), reusePort: false) { _ in Peer() }
            }
            #expect(error?.description == "listen on localhost:0: not a numeric address")
            loop.stop()
        }
    }

    @Test func everyAddressOfBothFamilies() throws {
        try onLoop { loop in
            let server = Peer(), client = Peer()
            let listener = try loop.listen(on: Address(host: "::", port: 0), reusePort: false) { stream in
                #expect(stream.peer?.host == "127.0.0.1", "an IPv4 client is told as such")
                server.stream = stream
                return server
            }
            client.onConnected = { _ in loop.stop() }
            client.stream = loop.connect(to: Address(host: "127.0.0.1", port: listener.address.port), client)
        }
    }

    @Test func severalLoopsShareAPort() throws {
        let threads = [LoopThread(name: "one"), LoopThread(name: "two"), LoopThread(name: "three")]
        let counts = threads.map { _ in Gate(0) }
        var address = UVLoop.anyPort
        for (thread, count) in zip(threads, counts) {
            try thread.start()
            let wanted = address
            address = try thread.call { loop in
                try loop.listen(on: wanted, reusePort: true) { stream in
                    count.update { $0 += 1 }
                    let peer = Peer()
                    peer.stream = stream
                    stream.reset()
                    return peer
                }.address
            }
        }
        try onLoop { loop in
            var left = 300
            for _ in 0..<300 {
                let client = Peer()
                client.onEnded = { _ in
                    left -= 1
                    if left == 0 { loop.stop() }
                }
                client.stream = loop.connect(to: address, client)
            }
        }
        for thread in threads { thread.stop() }
        let each = counts.map { $0.withLock { $0 } }
        #expect(each.reduce(0, +) == 300)
        #expect(each.allSatisfy { $0 > 30 }, "\(each)")
    }

    /// 80 clients, which need 160 descriptors, and room for about 100: those that find none wait and are served when others end.
    @Test func outOfDescriptorsClientsWait() throws {
        try onLoop { loop in
            var serving: [Peer] = []
            // The numbers of real descriptors hang on what other tests of this process hold and give back.
            loop.descriptorLimit = { serving.count < 20 ? 1 << 20 : 0 }
            var served = 0, most = 0
            let listener = try loop.listen(on: UVLoop.anyPort, reusePort: false) { stream in
                let peer = Peer()
                peer.stream = stream
                stream.isReading = true
                serving.append(peer)
                most = max(most, serving.count)
                return peer
            }
            var clients: [Peer] = []
            var left = 80
            for _ in 0..<80 {
                let client = Peer()
                client.onEnded = { _ in
                    left -= 1
                    if left == 0 { loop.stop() }
                }
                client.stream = loop.connect(to: listener.address, client)
                clients.append(client)
            }
            func serveSome() {
                for peer in serving {
                    served += 1
                    peer.call { $0.reset() }
                }
                serving = []
                if served < 80 { loop.after(20, serveSome) }
            }
            loop.after(300) {
                #expect(most == 20, "the others have to wait")
                #expect(clients.allSatisfy { $0.end == nil }, "nobody was turned away")
                serveSome()
            }
        }
    }

    @Test func aClosedListenerRefuses() throws {
        let early = Peer(), late = Peer(), server = Peer()
        try onLoop { loop in
            let listener = try loop.pair(early, server)
            server.onConnected = { _ in
                listener.close()
                loop.after(10) {
                    late.onEnded = { _ in early.write("still here") }
                    late.stream = loop.connect(to: listener.address, late)
                }
            }
            server.onBytes = { _ in loop.stop() }
        }
        #expect(late.end == .failed("connection refused"))
        #expect(server.text == "still here")
    }
}
