import Testing
import WiretapeCore

/// The inline form of rules: what it gives, its one spelling, and errors that point at the word.
@Suite struct InlineTests {
    private func rule(_ text: String) throws -> FaultRule {
        try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
    }

    @Test(arguments: [
        ("reset after ReceiveMessage[3]", "reset after ReceiveMessage[3]"),
        ("  reset   after  ReceiveMessage[ 3 ] ", "reset after ReceiveMessage[3]"),
        (
            "respond( 503 , Retry-After = 1 )on connect[retry=1..2]",
            "respond(503, Retry-After=1) on connect[retry=1..2]"
        ),
        (
            "close(4403, \"For, bidden\") after next[operation=OnTick, 3]",
            "close(4403, \"For, bidden\") after next[3, target=OnTick]"
        ),
        ("disconnect on client-typing[every 2]", "disconnect on client-typing[every 2]"),
        ("reset on StreamItem[2, /item/id=7]", "reset on StreamItem[2, /item/id=7]"),
        ("reset on StreamItem[/item={\"a\":[1,2]}, 1|4]", "reset on StreamItem[1|4, /item={\"a\":[1,2]}]"),
        (
            "reset before \"connect\"[2..5, attempt=2] p=0.25 max=3",
            "reset before \"connect\"[2..5, attempt=2] p=0.25 max=3"
        ),
        ("disconnect on upgrade", "disconnect on upgrade"),
        ("close after handshake", "close after handshake"),
        (
            "respond(404, \"gone\") on request[path=/chat/negotiate, method=POST]",
            "respond(404, \"gone\") on request[path=/chat/negotiate, method=POST]"
        ),
        (
            "reset after message[direction=toClient] in session=2 in retry=1|2",
            "reset after message[direction=toClient, retry=1|2] in session=2"
        ),
        ("reset after a.b/c:d", "reset after a.b/c:d"),
    ])
    func spellings(_ text: String, _ canonical: String) throws {
        let parsed = try rule(text)
        #expect(parsed.name == canonical)
        var again = try rule(parsed.inline)
        again.source = parsed.source
        again.subjectSource = parsed.subjectSource
        #expect(again == parsed)
    }

    @Test(arguments: [
        ("", "1:1: an action is missing"),
        ("rset after X", "1:1: 'rset' is not a fault; did you mean 'reset'?"),
        ("reset", "1:1: 'reset' needs a place, such as 'after ReceiveMessage[3]' or 'on connect'"),
        ("reset afer X", "1:7: 'afer' does not belong here; did you mean 'after'?"),
        ("reset after", "1:12: a point or a label is missing, such as connect or ReceiveMessage"),
        ("reset after X[0]", "1:15: expected a number from 1, found '0'"),
        ("reset after X[5..2]", "1:15: the range 5..2 is empty"),
        ("reset after X[3", "1:16: expected ']' after the conditions, found the end"),
        ("reset after X[tpye=1]", "1:15: 'tpye' is not a condition; did you mean 'type'?"),
        ("reset after X[/item/id=seven]", "1:24: 'seven' is not JSON; texts stand in quotes: /item/id=\"seven\""),
        (
            "reset after X in sesion=1",
            "1:18: 'in' takes session=, attempt= or retry=, not 'sesion'; did you mean 'session'?"
        ),
        ("reset after X p=2", "1:17: '2' is not a probability from 0 to 1"),
        ("reset after X max=0", "1:19: '0' is not a number of firings from 1"),
        ("reset(1) after X", "1:7: 'reset' takes no arguments"),
        (
            "close(1006) after X",
            "1:7: '1006' is not a code that a close frame can carry: 1000 to 4999, but not 1004 to 1006 or 1015"
        ),
        ("respond on connect", "1:1: respond needs a status, such as respond(503)"),
        ("respond(99) on connect", "1:9: '99' is not a status from 200 to 599"),
        ("respond(503, \"x) on connect", "1:14: the quote is never closed"),
        (
            "respond(503) after ReceiveMessage",
            "1:1: respond answers a request, and 'ReceiveMessage' is a message; use close, disconnect or reset"
        ),
        ("respond(503) after connect", "1:1: respond stands in the place of the answer; write 'on connect'"),
        (
            "close on connect",
            "1:1: close needs a WebSocket, and there is none at 'connect'; use respond, disconnect or reset"
        ),
        ("reset on connect[type=Ping]", "1:10: 'connect' is about requests, which have no type"),
        ("reset on X[method=GET]", "1:10: 'X' is about messages, which have no method"),
        ("reset + close after X", "1:1: nothing can follow 'reset': it ends the connection"),
        (
            "delay(20ms) on X",
            "1:1: the fault 'delay' is not built yet; this version has reset, disconnect, close, respond"
        ),
        (
            "reset on tls",
            "1:10: the point 'tls' is not built yet; this version has connect, request, negotiate, upgrade, poll, send, stream, handshake, message (a label spelled so is quoted)"
        ),
        ("reset after X since run=5s", "1:15: 'since' is not built yet"),
        ("reset after X[size=5]", "1:15: the condition 'size' is not built yet"),
        ("reset after \u{1F600}", "1:13: a point or a label is missing, such as connect or ReceiveMessage"),
    ])
    func errorsPointAtTheWord(_ text: String, _ wanted: String) {
        do {
            let parsed = try rule(text)
            Issue.record("'\(text)' was read as \(parsed.inline)")
        } catch {
            #expect("\(error)" == "--fault: \(wanted)")
        }
    }

    @Test func hostileTextsNeverTrap() throws {
        var draw = SplitMix64(seed: 42)
        let pieces = [
            "reset", "respond", "close", "(", ")", "[", "]", ",", "=", "\"", "\\", "503", "..", "|", "every", "on",
            "after",
            "connect", " ", "in", "retry", "/", "{", "p", "max", "99999999999999999999999", "+", "\u{301}", "-1",
        ]
        for _ in 0..<4_000 {
            let text = (0..<draw.below(12)).map { _ in pieces[draw.below(pieces.count)] }.joined()
            _ = try? rule(text)
            _ = try? Selector(parsing: text, from: RuleSource(file: "--filter"))
            _ = try? Expectation.parse("delays(" + text)
        }
    }
}
