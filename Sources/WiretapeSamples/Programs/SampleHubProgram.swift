internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeNet
internal import WiretapeRuntime
internal import WiretapeSystem
internal import WiretapeWire

/// `sample-hub`: a small SignalR server for the demo and for trying things out.
package enum SampleHubProgram {
    static let usage = """
        Usage: sample-hub [--listen HOST:PORT] [--keepalive D | --push COUNTxBYTES]

        A small SignalR server with a chat hub at /chat: JSON over WebSockets. Prints {"event":"ready","url":…} and runs until
        SIGINT or SIGTERM.

        Options:
          --listen HOST:PORT   where; port 0 for a free one (default: 127.0.0.1:0)
          --keepalive D        time between two pings (default: 15s)
          --push COUNTxBYTES   no hub: a plain WebSocket server that answers a client's first message with so many frames
          --help               this text

        """

    package static func run(_ arguments: [String]) -> Int32 {
        var reader = CommandLineReader(arguments)
        var address = Address(host: "127.0.0.1", port: 0)
        var keepAlive: UInt64?
        var push: (count: Int, size: Int)?
        do throws(CommandLineError) {
            while let argument = reader.next() {
                switch argument {
                case "--help", "-h": throw CommandLineError(nil)
                case "--listen": address = try listen(reader.value(of: argument))
                case "--keepalive":
                    let text = try reader.value(of: argument)
                    guard let value = DurationText.parse(text), value > 0 else {
                        throw CommandLineError("not a duration: \(text) (like 15s)")
                    }
                    keepAlive = value
                case "--push":
                    let text = try reader.value(of: argument)
                    let sides = text.split(separator: "x").compactMap { Int($0) }
                    guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else {
                        throw CommandLineError("not COUNTxBYTES: \(text) (like 100000x128)")
                    }
                    push = (sides[0], sides[1])
                default: throw CommandLineError("unknown argument \(argument)")
                }
            }
        } catch {
            guard let message = error.message else {
                Console.output.write(usage)
                return 0
            }
            Console.error.write("sample-hub: \(message)\n\(usage)")
            return 64
        }
        do throws(NetError) {
            try serve(address, keepAlive, push)
            return 0
        } catch {
            Console.error.write("sample-hub: \(error)\n")
            return 1
        }
    }

    private static func listen(_ text: String) throws(CommandLineError) -> Address {
        guard let url = HubURL("http://\(text)"), url.path.isEmpty, text.last != "]", text.contains(":") else {
            throw CommandLineError("not HOST:PORT: \(text)")
        }
        return Address(host: url.host == "localhost" ? "127.0.0.1" : url.host, port: url.port)
    }

    private static func serve(
        _ address: Address, _ keepAlive: UInt64?, _ push: (count: Int, size: Int)?
    ) throws(NetError) {
        ProcessSetup.ignoreSIGPIPE()
        let loop = try UVLoop()
        defer { loop.shutdown() }
        let close: () -> Void
        let listening: Address
        if let push {
            let server = try PushServer(loop, on: address, count: push.count, size: push.size)
            let stop = {
                server.close()
                loop.stop()
            }
            (close, listening) = (stop, server.address)
        } else {
            var options = SampleHub.Options(seed: loop.now.nanoseconds)
            if let keepAlive { options.keepAlive = keepAlive }
            let hub = try SampleHub(loop, on: address, options)
            (close, listening) = ({ hub.close() }, hub.address)
        }
        var isEnding = false
        // The first signal closes in order, and the loop ends when all is closed; the second does not wait.
        let signals = SignalWatcher(loop, SignalWatcher.ending) { _ in
            if isEnding { loop.stop() }
            isEnding = true
            close()
        }
        let ready: JSONValue = .object([
            .init("event", .string("ready")), .init("url", .string("http://\(listening)")),
        ])
        Console.output.write(ready.text + "\n")
        loop.run()
        signals.close()
    }
}
