internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeNet
internal import WiretapeRuntime
internal import WiretapeSystem

/// `sample-client`: a chat client with automatic reconnect that prints what its application sees.
package enum SampleClientProgram {
    static let usage = """
        Usage: sample-client [URL] [options]

        A small SignalR client. It prints what its application sees, with the time since the start, and exits 0 when it got what
        it wanted. URL is the hub's; without it, $WIRETAPE_URL/chat.

        Options:
          --script chat|calls   say lines (default), or call every way that SignalR knows
          --say TEXT            a line for the chat; several are said in order
          --user NAME           who says it (default: ada)
          --until N|closed      end after N messages (default: as many as lines), or when the server closes for good
          --reconnect D,D,…     wait so long before each attempt to reconnect (default: 0s,2s,10s,30s); none for no attempts
          --think D             time between two steps of the calls (default: 20ms)
          --flaw N              break (exit 70) when the connection is lost directly behind message N: for 'wiretape sweep'
          --help                this text

        """

    package static func run(_ arguments: [String], environment: (String) -> String?) -> Int32 {
        var reader = CommandLineReader(arguments)
        let options: SampleClientOptions
        do throws(CommandLineError) {
            options = try SampleClientOptions(&reader, environment: environment)
        } catch {
            guard error.message != nil else {
                Console.output.write(usage)
                return 0
            }
            Console.error.write("sample-client: \(error.message ?? "")\n\(usage)")
            return 64
        }
        ProcessSetup.ignoreSIGPIPE()
        do throws(NetError) {
            return try connect(options)
        } catch {
            Console.error.write("sample-client: \(error)\n")
            return 1
        }
    }

    private static func connect(_ options: SampleClientOptions) throws(NetError) -> Int32 {
        let loop = try UVLoop()
        defer { loop.shutdown() }
        let start = loop.now
        var hub = HubOptions(url: options.url, seed: start.nanoseconds)
        hub.reconnectDelays = options.reconnect
        let client = HubClient(loop, hub)
        var reached = false
        var received = 0
        var isBroken = false
        func say(_ what: String, _ rest: String = "") {
            Console.output.write(SampleTimeline.line(loop.now.since(start), what, rest))
        }
        func observe(_ event: HubEvent) {
            let (what, rest) = SampleTimeline.words(event)
            say(what, rest)
            switch event {
            case .invocation: received += 1
            case .lost where received == options.flaw:
                isBroken = true
                loop.stop()
            case .connected, .lost, .retrying, .retryFailed, .reconnected, .closed: break
            }
        }
        switch options.script {
        case .chat:
            _ = ChatScript(client, user: options.user, lines: options.lines, goal: options.goal, observe: observe) {
                reached = $0
            }
        case .calls:
            _ = CallsScript(client, loop, think: options.think, observe: observe) {
                say("result", $0)
            } ended: {
                reached = $0
            }
        }
        client.start()
        loop.run()
        if isBroken { Console.error.write("sample-client: this is the flaw that was asked for\n") }
        return isBroken ? 70 : reached ? 0 : 1
    }
}
