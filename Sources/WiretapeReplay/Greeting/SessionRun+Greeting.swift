internal import WiretapeBytes
internal import WiretapeProtocol

extension SessionRun {
    /// A connection that goes on with nothing: its server greets it as it does everybody. What of the greeting an earlier one
    /// did not get comes now, and is not what the policies take away.
    func greetAgain(at now: WireInstant) {
        guard let steps = greeting?.steps, !steps.isEmpty else { return }
        let mine = Set(steps)
        aside.removeAll(where: mine.contains)
        heldBack.subtract(mine)
        for step in steps where state[step] != .done {
            state[step] = .done
            doneAt[step] = now
        }
        link?.greeting = steps
        link?.greeted = mine.intersection(sent.lazy.map(Int.init))
        greetings += 1
        skipSettled()
    }

    /// Once the protocol's opening is through: the greeting goes before all else, with its recorded gaps.
    func queueGreeting(_ options: ReplayOptions) {
        guard let ready = link?.readyAt, let steps = link?.greeting else { return }
        for step in steps {
            let gap = scaled(from: script.begun, to: script.steps[step].time, options)
            link?.again.append((step, ready.advanced(by: gap)))
        }
        link?.greeting = []
    }

    /// The replay cannot know what this protocol's server makes of a subscription that is asked for again.
    func noteGoingOn(_ options: ReplayOptions) {
        guard notes.isEmpty, session.codec.type.mayBeginSubscriptionsAgain, options.onReconnect == .resume else {
            return
        }
        notes.append(
            "subscriptions that were asked for again went on where they had been cut (--on-reconnect resume); "
                + "where the server begins them again, use --on-reconnect restart")
    }
}
