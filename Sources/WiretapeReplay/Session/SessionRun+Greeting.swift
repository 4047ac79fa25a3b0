internal import WiretapeAttempts
internal import WiretapeBytes
internal import WiretapeProtocol

extension SessionRun {
    /// A connection that goes on with nothing: its server greets it as it does everybody. What of the greeting an earlier one
    /// did not get comes now, and is not what the policies take away.
    func greetAgain(at now: WireInstant) {
        guard let steps = greeting?.steps, !steps.isEmpty else { return }
        link?.repeats.greet(steps, greeted: Set(steps).intersection(cursor.sent.lazy.map(Int.init)))
        cursor.greet(steps, at: now)
        tally.greeted()
    }

    /// Once the protocol's opening is through: the greeting goes before all else, with its recorded gaps.
    func queueGreeting(_ options: ReplayOptions) {
        guard let ready = link?.readyAt, let steps = link?.repeats.takeGreeting() else { return }
        for step in steps {
            let gap = options.scaled(from: script.begun, to: script.steps[step].time)
            link?.repeats.add(step, due: ready.advanced(by: gap))
        }
    }

    /// The replay cannot know what this protocol's server makes of a subscription that is asked for again.
    func noteGoingOn(_ options: ReplayOptions) {
        guard tally.notes.isEmpty, recorded.codec.type.mayBeginSubscriptionsAgain, options.onReconnect == .resume else {
            return
        }
        tally.note(
            "subscriptions that were asked for again went on where they had been cut (--on-reconnect resume); "
                + "where the server begins them again, use --on-reconnect restart")
    }

    /// The note for a client that came back and sent a message again, in a protocol that does not tell which messages answer it.
    func unansweredNote(_ options: ReplayOptions) -> String? {
        guard !recorded.codec.type.hasAnswers, let saying = speech.repeats.first?.saying else { return nil }
        switch options.onReconnect {
        case .resume, .lose, .live: break
        // The last messages came again, perhaps the answers among them.
        case .rewind: return nil
        case .restart, .next, .refuse: return nil
        }
        return
            "the client sent '\(saying.title)' again after its reconnect. Replay cannot know which messages answer it in this "
            + "protocol, and sent none. --on-reconnect restart replays the session from its beginning"
    }
}
