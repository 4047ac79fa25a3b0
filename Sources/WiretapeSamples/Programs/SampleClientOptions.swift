internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeProtocol

/// The command line of `sample-client`.
struct SampleClientOptions {
    enum Script: String {
        case chat, calls
    }

    var url: HubURL
    var script = Script.chat
    var lines: [String]?
    var user = "ada"
    var goal: ChatScript.Goal?
    var reconnect: [UInt64] = [0, 2_000_000_000, 10_000_000_000, 30_000_000_000]
    var think: UInt64 = 20_000_000
    /// It breaks when its connection is lost directly behind this message.
    var flaw: Int?

    init(_ reader: inout CommandLineReader, environment: (String) -> String?) throws(CommandLineError) {
        var address: String?
        while let argument = reader.next() {
            switch argument {
            case "--help", "-h": throw CommandLineError(nil)
            case "--script":
                let name = try reader.value(of: argument)
                guard let known = Script(rawValue: name) else { throw CommandLineError("unknown script \(name)") }
                script = known
            case "--say": lines = try (lines ?? []) + [reader.value(of: argument)]
            case "--user": user = try reader.value(of: argument)
            case "--until": goal = try SampleClientOptions.goal(reader.value(of: argument))
            case "--reconnect": reconnect = try SampleClientOptions.delays(reader.value(of: argument))
            case "--flaw":
                let text = try reader.value(of: argument)
                guard let count = Int(text), count > 0 else {
                    throw CommandLineError("--flaw is a number from 1, not \(text)")
                }
                flaw = count
            case "--think": think = try SampleClientOptions.duration(reader.value(of: argument))
            default:
                guard !argument.hasPrefix("-") else { throw CommandLineError("unknown option \(argument)") }
                guard address == nil else { throw CommandLineError("one URL, not two: \(argument)") }
                address = argument
            }
        }
        guard let text = address ?? environment("WIRETAPE_URL").map({ $0 + "/chat" }) else {
            throw CommandLineError("no URL, and WIRETAPE_URL is not set")
        }
        guard let url = HubURL(text) else { throw CommandLineError("not an http:// URL: \(text)") }
        self.url = url
    }

    private static func goal(_ text: String) throws(CommandLineError) -> ChatScript.Goal {
        if text == "closed" { return .closed }
        guard let count = Int(text), count >= 0 else {
            throw CommandLineError("--until is a number or closed, not \(text)")
        }
        return .messages(count)
    }

    private static func delays(_ text: String) throws(CommandLineError) -> [UInt64] {
        if text == "none" { return [] }
        var delays: [UInt64] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            delays.append(try duration(String(item)))
        }
        return delays
    }

    private static func duration(_ text: String) throws(CommandLineError) -> UInt64 {
        guard let value = DurationText.parse(text) else {
            throw CommandLineError("not a duration: \(text) (like 250ms or 2s)")
        }
        return value
    }
}
