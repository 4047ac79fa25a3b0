import Testing
import WiretapeBytes
internal import WiretapeCommandLine
import WiretapeCommands
internal import WiretapeServing

@Suite struct OriginTests {
    func words<Value>(_ parse: () throws -> Value) -> String {
        do {
            switch try parse() {
            case let value as UpstreamValue: return "\(value.name) \(value.origin.text)"
            case let value as Origin: return value.text
            case let value: return "\(value)"
            }
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1:5000", "main http://127.0.0.1:5000"),
        ("http://localhost", "main http://localhost:80"),
        ("wss://chat.example.com/", "main wss://chat.example.com:443"),
        ("chat=HTTPS://[2001:db8::1]:8443", "chat https://[2001:db8::1]:8443"),
        ("localhost:5000", "% is no URL; write http://HOST:PORT"),
        ("htp://localhost", "% has the scheme 'htp', and it must be one of http, https, ws, wss; did you mean 'http'?"),
        ("http://localhost:70000", "% has the port '70000', and ports go from 0 to 65535"),
        ("http://localhost:0", "% has port 0, and a server listens on another"),
        ("http://::1:80", "% is an IPv6 address without brackets; write [::1]:5000"),
        ("http://[::1", "% has a '[' without its ']'"),
        ("http://", "% names no host; 127.0.0.1 is this machine only"),
        ("http://u:p@h", "% carries a user name or a password, which has no place here"),
        ("http://h/chat", "% has '/chat' behind the origin; paths are passed on as the client writes them"),
        ("a b=http://h", "% has the name 'a b', and names are letters, digits, '-', '_' and '.'"),
        ("=http://h", "% has the name '', and names are letters, digits, '-', '_' and '.'"),
    ])
    func upstreams(_ text: String, _ meaning: String) {
        #expect(words { try UpstreamValue.parse(text) } == meaning.replacing("%", with: "'\(text)'"))
    }

    @Test(arguments: [
        ("127.0.0.1:0", "http://127.0.0.1:0"), ("http://0.0.0.0:8080", "http://0.0.0.0:8080"),
        ("[::1]:80", "http://[::1]:80"),
        ("localhost", "% names no port; write HOST:PORT, with port 0 to get a free one"),
        (":8080", "% names no host; 127.0.0.1 is this machine only"),
        ("https://127.0.0.1:0", "https://127.0.0.1:0"),
        ("127.0.0.1:80/x", "% has '/x' behind the port"), ("hub=127.0.0.1:80", "http://127.0.0.1:80"),
        ("=127.0.0.1:80", "% has the name '', and names are letters, digits, '-', '_' and '.'"),
    ])
    func listeners(_ text: String, _ meaning: String) {
        #expect(words { try ListenValue.parse(text) } == meaning.replacing("%", with: "'\(text)'"))
    }

    @Test(arguments: [
        (["127.0.0.1:1", "127.0.0.1:2"], "1 2 0"), (["hub=127.0.0.1:1", "127.0.0.1:2"], "2 1 0"),
        (["push=127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"], "2 3 1"), ([], "0 0 0"),
        (["hbu=127.0.0.1:1"], "--listen hbu=127.0.0.1:1: there is no 'hbu' among the upstreams; did you mean 'hub'?"),
        (["hub=127.0.0.1:1", "hub=127.0.0.1:2"], "--listen hub=127.0.0.1:2: 'hub' has an address already"),
        (
            ["hub=127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4"],
            "--listen is given 4 times for 3 upstreams; the n-th is for the n-th"
        ),
    ])
    func addressesOfNamedListeners(_ texts: [String], _ meaning: String) {
        let got: String
        do throws(OptionError) {
            let origins = try ListenValue.assign(texts, to: ["api", "hub", "push"], "upstreams")
            got = origins.map { "\($0.port)" }.joined(separator: " ")
        } catch {
            got = error.message
        }
        #expect(got == meaning)
    }

    @Test func variablesOfNames() {
        #expect(CommandWords.variable("chat-api.v2") == "WIRETAPE_URL_CHAT_API_V2")
        #expect(CommandWords.variable("größe") == "WIRETAPE_URL_GR_SSE")
    }
}
