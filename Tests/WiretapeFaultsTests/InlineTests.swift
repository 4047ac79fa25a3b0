import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeFaults

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
            "close(4403, \"For, bidden\") after next[3, operation=OnTick]"
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
        ("outage(3s)   since run=5000ms", "outage(3s) since run=5s"),
        ("reset on time since connect=5s", "reset since connect=5s"),
        ("delay(20ms..0.2s) on Tick p=0.2", "delay(20ms..200ms) on Tick p=0.2"),
        ("truncate(2)+reset on StreamItem[2, /item/id=7]", "truncate(2) + reset on StreamItem[2, /item/id=7]"),
        ("stall(both,30s) after upgrade in attempt=2", "stall(both, 30s) after upgrade[attempt=2]"),
        ("stall(for=2s) after X", "stall(both, 2s) after X"),
        ("mute(all) after handshake", "mute after handshake"),
        (
            "drop on X[size=>1024, regex=\"a+[,b]\", per=connection]",
            "drop on X[size=>1024, regex=\"a+[,b]\", per=connection]"
        ),
        (
            "drop on X[invocation=7, transport=ws|sse, protocol=signalr]",
            "drop on X[invocation=7, transport=ws|sse, protocol=signalr]"
        ),
        (
            "respond(401) on request[token=stale, header.X-Key=\"a b\", path=/chat*]",
            "respond(401) on request[token=stale, header.X-Key=\"a b\", path=/chat*]"
        ),
        ("reset on close[by=client, code=1001]", "reset on close[by=client, code=1001]"),
        ("refuse on accept[2..4, listener=chat]", "refuse on accept[2..4, listener=chat]"),
        ("replace(/arguments/0={\"a\":[1, 2]}, /b=\"x\") on X", "replace(/arguments/0={\"a\":[1,2]}, /b=\"x\") on X"),
        ("throttle(20000) on connect", "throttle(20kB/s) on connect"),
        ("outage(10s, answer=503, cut=1001) after X max=1", "outage(10s, cut=1001, answer=503) after X max=1"),
        ("reset after X since run=5s", "reset after X since run=5s"),
        ("reset after X+0.2s max=1", "reset after X + 200ms max=1"),
        ("expire + close(1001) after X[3] + 2s", "expire + close(1001) after X[3] + 2s"),
        ("disconnect after upgrade + 0s", "disconnect after upgrade"),
        ("respond(503) on connect[retry=1..]", "respond(503) on connect[retry=1..]"),
        ("reset after X[ 3.. , type=Ping]", "reset after X[3.., type=Ping]"),
        (
            "respond(401) on request[token=stale] max=2 optional",
            "respond(401) on request[token=stale] max=2 optional"
        ),
        ("reset since connect=5s optional: true", "reset since connect=5s optional"),
        ("reset after X optional=false", "reset after X"),
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
        ("close(70000) after X", "1:7: '70000' is not a code from 0 to 65535"),
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
        ("delay(-1s) on X", "1:7: '-1s' is not a duration such as 250ms, 2s or 1m"),
        ("delay(20ms..10ms) on X", "1:7: the range 20ms..10ms is empty"),
        ("delay(11m) on X", "1:1: no delay is longer than 10m"),
        ("delay on X", "1:1: delay needs a duration: delay(20ms) or delay(20ms..200ms)"),
        ("drop after X", "1:1: drop is done to the thing itself; write 'on X'"),
        ("drop on connect", "1:1: drop is for messages, and 'connect' is none; use stall or disconnect"),
        ("drop + duplicate on X", "1:1: a message that is dropped cannot have 'duplicate' too"),
        (
            "truncate(2) + close on X",
            "1:1: only reset or disconnect can follow 'truncate(2)', which ends the connection"
        ),
        ("stall(up) after X", "1:7: 'up' is none of in, out, both"),
        ("stall(both, 5) after X", "1:13: '5' is not a duration such as 250ms, 2s or 1m"),
        ("corrupt(jsn) on X", "1:9: 'jsn' is none of bits, bytes, utf8, json, length, mask, rsv; did you mean 'json'?"),
        ("throttle(0) on connect", "1:10: '0' is not a rate such as 500B/s, 20kB/s or 1MB/s"),
        ("downgrade(websocket) on connect", "1:11: 'websocket' is not a transport to take away: ws, sse, lp, stream"),
        ("outage since run=5s", "1:1: outage needs a duration: outage(10s)"),
        (
            "outage(3s, ct=none) since run=5s",
            "1:12: outage takes a duration, cut= and answer=, not 'ct'; did you mean 'cut'?"
        ),
        ("reset since runn=5s", "1:13: 'since' takes run=, connect= or handshake=, not 'runn'; did you mean 'run'?"),
        ("reset since run=5", "1:17: '5' is not a duration such as 250ms, 2s or 1m"),
        ("reset on time", "1:10: time needs a moment: since run=5s"),
        ("reset on accept[attempt=2]", "1:10: 'accept' is before any request: nobody knows its session or attempt"),
        ("reset on accept[transport=ws]", "1:10: 'accept' is before any request and has no transport"),
        ("respond(503) on accept", "1:1: respond answers a request, and there is none at 'accept'"),
        ("wrong-accept on poll", "1:1: wrong-accept is for upgrades; write 'on upgrade'"),
        ("reset on X[regex=\"(a\"]", "1:18: '(a' is no regular expression: '(' is never closed"),
        ("reset on X[size=big]", "1:17: 'big' is not a size in bytes such as 100, 100..200, >100 or <100"),
        ("reset on X[transport=tcp]", "1:22: 'tcp' is not a transport; use ws, sse, lp, stream, multipart, http"),
        ("reset on X[token=stale]", "1:10: 'X' is about messages, which have no token"),
        ("reset on X[per=day]", "1:16: 'per' is session, connection or run, not 'day'"),
        ("reset on close[/a=1]", "1:10: 'close' is a moment that has no /a"),
        ("inject(hex=0) after X", "1:8: '0' is not hex digits in pairs"),
        ("reset after X optional=yes", "1:24: 'optional' stands alone, or is true or false"),
        ("reset after X[3..y]", "1:18: expected ']' after the conditions, found 'y'"),
        ("reset after X + soon", "1:17: 'soon' is not a pause such as 200ms, 2s or 1m"),
        ("reset after X +", "1:16: '' is not a pause such as 200ms, 2s or 1m"),
        ("reset after X + 11m", "1:17: no pause is longer than 10m"),
        ("reset on X + 200ms", "1:1: the pause of 200ms needs 'after'; write 'after X'"),
        (
            "reset after accept + 200ms",
            "1:1: the pause of 200ms needs a message or a request before it, and 'accept' is neither"
        ),
        (
            "mute after X + 200ms",
            "1:1: the pause of 200ms works with reset, disconnect, close and outage only, not with 'mute'"
        ),
        (
            "expire after X + 200ms",
            "1:1: the pause of 200ms works with reset, disconnect, close and outage only, not with 'expire'"
        ),
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
            "connect", " ", "in", "retry", "since", "run", "delay", "replace", "outage", "5s", "size", "regex", "/",
            "{", "p", "max", "99999999999999999999999", "+", "\u{301}", "-1",
        ]
        for _ in 0..<4_000 {
            let text = (0..<draw.below(12)).map { _ in pieces[draw.below(pieces.count)] }.joined()
            _ = try? rule(text)
            _ = try? Selector(parsing: text, from: RuleSource(file: "--filter"))
            _ = try? Expectation.parse("delays(" + text)
        }
    }
}
