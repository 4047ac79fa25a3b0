internal import WiretapeAttempts
internal import WiretapeBytes
package import WiretapeWire

extension ReplayReport {
    /// The report as `docs/replay.md` lists it. Times are milliseconds.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            isLive ? .init("mode", .string("live")) : .init("digest", .string(digest)),
            .init("seed", .number(seed)), .init("verdict", .string(verdict.rawValue)),
            .init("reasons", .strings(reasons)), .init("sessions", .array(sessions.map(\.json))),
            .init("faults", .array(faults.map(\.json))), .init("unfired", .array(unfired.map(\.json))),
            .init("expectations", .array(expectations.map(\.json))),
        ]
        if !isLive {
            members += [
                .init("unclaimed", .array(unclaimed.map { .number($0) })), .init("exchanges", exchanges.json),
                .init("divergences", .strings(divergences)), .init("outside_digest", .strings(outsideDigest)),
            ]
        }
        if !ownRefusals.isEmpty { members.append(.init("refused_by_replay", .strings(ownRefusals))) }
        if let commandExit {
            members += [.init("exit", .number(exitCode)), .init("command_exit", .number(commandExit))]
        }
        if let appended { members.append(.init("appended", appended.json)) }
        if faultsLeftOut > 0 { members.append(.init("faults_left_out", .number(faultsLeftOut))) }
        if divergencesBeyond > 0 { members.append(.init("divergences_left_out", .number(divergencesBeyond))) }
        return .object(members)
    }
}

extension ReplayReport.Session {
    /// The session as the report has it.
    package var json: JSONValue {
        .object(
            [
                .init("session", .number(session)), .init("run", .number(run)), .init("client", .string(client)),
                .init("assigned", .string(assigned.rawValue)), .init("protocol", .string(protocolID)),
                .init("transports", .strings(transports.map(\.rawValue))),
            ] + (upstream.map { [.init("upstream", .string($0))] } ?? []) + (traffic?.members ?? played) + [
                .init("abandoned", .number(abandoned)), .init("attempts", .array(attempts.map(\.json))),
            ] + (unreached > 0 ? [.init("unreached", .number(unreached))] : [])
                + (repeated > 0 ? [.init("repeated", .number(repeated))] : []) + remarkMembers
                + (operation.map { [.init("operation", .number($0))] } ?? [])
                + (others.isEmpty ? [] : [.init("others", .array(others.map { .number($0) }))]))
    }
}

extension ReplayReport.Session {
    private var remarkMembers: [JSONValue.Member] {
        let heard = greeting.map { greeting in
            JSONValue.object([
                .init("labels", .strings(greeting.labels)), .init("why", .string(greeting.why)),
                .init("connections", .number(greeting.connections)),
            ])
        }
        return (heard.map { [.init("greeting", $0)] } ?? []) + (notes.isEmpty ? [] : [.init("notes", .strings(notes))])
    }

    /// What became of the script.
    private var played: [JSONValue.Member] {
        [
            .init("finished", .bool(finished)), .init("matched", .number(matched)), .init("missing", .strings(missing)),
            .init("unexpected", .strings(unexpected)), .init("late", .strings(late)),
            .init("reordered", .number(reordered)),
        ] + (unexpectedBeyond == 0 ? [] : [.init("unexpected_left_out", .number(unexpectedBeyond))])
    }
}

extension ReplayReport.Appended {
    fileprivate var json: JSONValue {
        .object([.init("events", .number(events)), .init("connections", .number(connections))])
    }
}

extension ReplayReport.Traffic {
    fileprivate var members: [JSONValue.Member] {
        [.init("messages", .object([.init("to_server", .number(toServer)), .init("to_client", .number(toClient))]))]
    }
}

extension ReplayReport.Exchanges {
    fileprivate var json: JSONValue {
        .object(
            [
                .init("recorded", .number(recorded)), .init("played", .number(played)),
                .init("unplayed", .strings(unplayed)), .init("unexpected", .strings(unexpected)),
            ] + (givenUp.isEmpty ? [] : [.init("given_up", .strings(givenUp))])
                + (givenUpBeyond == 0 ? [] : [.init("given_up_left_out", .number(givenUpBeyond))])
                + (unexpectedBeyond == 0 ? [] : [.init("unexpected_left_out", .number(unexpectedBeyond))]))
    }
}

extension Attempt {
    fileprivate var json: JSONValue {
        .object([
            .init("n", .number(number)), .init("t_ms", .milliseconds(start)),
            .init("delay_ms", delay.map(JSONValue.milliseconds) ?? .null),
            .init("outcome", outcome.map { .string($0.rawValue) } ?? .null),
            .init("steps", .array(steps.map(\.json))), .init("ended", ended?.json ?? .null),
        ])
    }
}

extension Attempt.Step {
    fileprivate var json: JSONValue {
        .object(
            [
                .init("request", .string(request)), .init("status", status.map { .number($0) } ?? .null),
                .init("transport", transport.map { .string($0.rawValue) } ?? .null),
                .init("t_ms", .milliseconds(time)),
            ] + (retryAfter.map { [.init("retry_after_ms", .milliseconds($0))] } ?? []))
    }
}

extension Attempt.End {
    fileprivate var json: JSONValue {
        .object(
            [.init("t_ms", .milliseconds(time)), .init("by", .string(by.text)), .init("how", .string(how.text))]
                + (reason.map { [.init("reason", .string($0))] } ?? []))
    }
}

extension ReplayReport.Firing {
    fileprivate var json: JSONValue {
        .object([
            .init("rule", .string(rule)), .init("t_ms", .milliseconds(time)), .init("session", .number(session)),
            .init("attempt", .number(attempt)), .init("message", message.map { .number($0) } ?? .null),
            .init("counted", counted.map(JSONValue.string) ?? .null), .init("action", .string(action)),
            .init("cut", .bool(cut)),
        ])
    }
}

extension ReplayReport.Unfired {
    fileprivate var json: JSONValue {
        .object([.init("rule", .string(rule)), .init("reason", .string(text)), .init("optional", .bool(optional))])
    }
}

extension Judgement {
    /// The judgement as the report has it.
    package var json: JSONValue {
        .object([
            .init("policy", .string(policy)), .init("session", .number(session)), .init("met", .bool(met)),
            .init("judged", .bool(isJudged)),
            .init("expected", .string(expected)), .init("actual", .string(actual)), .init("reason", .string(reason)),
        ])
    }
}

extension JSONValue {
    fileprivate static func milliseconds(_ nanoseconds: UInt64) -> JSONValue {
        .number(DurationText.milliseconds(nanoseconds))
    }

    fileprivate static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}
