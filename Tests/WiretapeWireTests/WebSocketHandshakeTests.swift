import Testing
import WiretapeWire

struct WebSocketHandshakeTests {
    static let good = RequestHead(
        method: "GET", target: "/chat",
        headers: [
            HeaderField("Host", "x"), HeaderField("Upgrade", "WebSocket"),
            HeaderField("Connection", "keep-alive, Upgrade"),
            HeaderField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), HeaderField("Sec-WebSocket-Version", "13"),
        ])

    /// RFC 6455 section 1.3.
    @Test func acceptKey() {
        #expect(WebSocketHandshake.acceptKey(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketHandshake.judge(Self.good) == .accept("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
    }

    private func status(_ change: (inout RequestHead) -> Void) -> Int? {
        var request = Self.good
        change(&request)
        switch WebSocketHandshake.judge(request) {
        case .plain: return 0
        case .accept: return nil
        case .refuse(let answer): return answer.status
        }
    }

    @Test func refusals() {
        #expect(status { $0.method = "POST" } == 400)
        #expect(status { $0.version = "1.0" } == 400)
        #expect(status { $0.headers[1].value = "h2c" } == 0)
        #expect(status { $0.headers[2].value = "close" } == 0)
        #expect(status { $0.headers[3].value = "dGhlIHNhbXBsZQ==" } == 400)
        #expect(status { $0.headers[3].value = "" } == 400)
        #expect(status { $0.headers[3].value = "dGhlIHNhbXBsZSBub25jZQ=!" } == 400)
        #expect(status { $0.headers.append($0.headers[3]) } == 400)
        #expect(status { $0.headers[4].value = "8" } == 426)
        #expect(status { $0.headers.removeLast() } == 426)
        guard
            case .refuse(let answer) = WebSocketHandshake.judge(
                RequestHead(method: "GET", target: "/", headers: Array(Self.good.headers.dropLast())))
        else {
            Issue.record("accepted")
            return
        }
        #expect(answer.headers.first("Sec-WebSocket-Version") == "13")
    }
}

struct DeflateParametersTests {
    @Test func agreed() throws {
        let plain = try #require(DeflateParameters(accepted: ["permessage-deflate"]))
        #expect(plain == DeflateParameters())
        let full = try #require(
            DeflateParameters(accepted: [
                "x-webkit, permessage-deflate; server_no_context_takeover;client_max_window_bits = \"10\"; server_max_window_bits=9"
            ]))
        #expect(full.resetsContext(.toClient) && !full.resetsContext(.toServer))
        #expect(full.windowBits(.toServer) == 10 && full.windowBits(.toClient) == 9)
        #expect(DeflateParameters(accepted: []) == nil)
        #expect(DeflateParameters(accepted: ["permessage-bzip2"]) == nil)
    }

    @Test(arguments: [
        "server_max_window_bits", "server_max_window_bits=7", "server_max_window_bits=16", "server_max_window_bits=08",
        "client_max_window_bits=", "unknown", "server_no_context_takeover=1", "client_max_window_bits=+9",
        "server_no_context_takeover; server_no_context_takeover", "",
    ])
    func declined(parameters: String) {
        #expect(DeflateParameters(accepted: ["permessage-deflate; \(parameters)"]) == nil)
    }

    @Test func offersInOrder() {
        let offers = DeflateOffer.all(in: [
            "permessage-deflate; client_max_window_bits; server_max_window_bits=10, permessage-deflate; nonsense",
            "permessage-deflate",
        ])
        var first = DeflateOffer()
        first.serverMaxWindowBits = 10
        first.clientMaxWindowBits = .open
        #expect(offers == [first, nil, DeflateOffer()])
    }

    /// What a server that answered the second to its recorded client answers to a client that offers the first.
    @Test(arguments: [
        ("", "", ""), ("; client_max_window_bits", "", ""),
        (
            "; client_max_window_bits", "; server_max_window_bits=12; client_max_window_bits=12",
            "; server_max_window_bits=12; client_max_window_bits=12"
        ),
        (
            "; client_max_window_bits=10; server_max_window_bits=9",
            "; server_max_window_bits=12; client_max_window_bits=12",
            "; server_max_window_bits=9; client_max_window_bits=10"
        ),
        ("; client_max_window_bits=10; server_max_window_bits=9", "", "; server_max_window_bits=9"),
        ("; server_no_context_takeover; client_no_context_takeover", "", "; server_no_context_takeover"),
        (
            "", "; server_no_context_takeover; client_no_context_takeover",
            "; server_no_context_takeover; client_no_context_takeover"
        ),
        ("; server_max_window_bits=15", "; server_max_window_bits=15", "; server_max_window_bits=15"),
        ("; server_max_window_bits=8", "", "; server_max_window_bits=8"),
    ])
    func anotherClientGetsTheRecordedAnswer(offered: String, recorded: String, answer: String) {
        let got = DeflateOffer.agreement(
            offered: ["permessage-deflate\(offered)"], recorded: ["permessage-deflate\(recorded)"])
        #expect(got?.text == "permessage-deflate\(answer)")
    }

    @Test func offersThatDoNotAllowTheRecordedAnswer() {
        let recorded = ["permessage-deflate; client_max_window_bits=10"]
        #expect(DeflateOffer.agreement(offered: ["permessage-deflate"], recorded: recorded) == nil)
        #expect(DeflateOffer.agreement(offered: [], recorded: recorded) == nil)
        #expect(DeflateOffer.agreement(offered: ["x-webkit-deflate-frame"], recorded: recorded) == nil)
        #expect(
            DeflateOffer.agreement(offered: ["permessage-deflate; nonsense"], recorded: ["permessage-deflate"]) == nil)
        #expect(DeflateOffer.agreement(offered: ["permessage-deflate"], recorded: []) == nil)
        #expect(DeflateOffer.agreement(offered: ["permessage-deflate"], recorded: ["permessage-deflate; x"]) == nil)
        // The next offer may allow it.
        let second = ["permessage-deflate", "permessage-deflate; client_max_window_bits"]
        #expect(DeflateOffer.agreement(offered: second, recorded: recorded)?.text == recorded[0])
    }
}
