import Testing
import WiretapeCore

/// What a client owes after it has come back.
@Suite struct LiveSubscriptionsTests {
    private func message(
        _ direction: Direction, _ role: Role, _ label: String, id: String, channel: String? = nil
    ) -> Message {
        Message(
            direction: direction, role: role, type: role == .request ? "subscribe" : "next", label: label,
            chain: Chain(id, origin: .toServer), meaning: .string(label), summary: label, bytes: [], channel: channel)
    }

    private func ask(_ label: String, id: String) -> Message { message(.toServer, .request, label, id: id) }

    @Test func whatWasOpenIsOwedUntilItIsAskedForAgain() {
        var all = LiveSubscriptions()
        all.heard(ask("ticks", id: "1"), subscribes: true)
        all.heard(ask("chat", id: "2"), subscribes: true)
        all.lost()
        // A client that stays away owes nothing.
        #expect(all.forgotten == 0)
        all.connected()
        #expect(all.forgotten == 2)
        all.heard(ask("ticks", id: "7"), subscribes: true)
        #expect(all.forgotten == 1)
        all.lost()
        all.connected()
        #expect(all.forgotten == 2)
        all.heard(ask("chat", id: "1"), subscribes: true)
        all.heard(ask("ticks", id: "2"), subscribes: true)
        #expect(all.forgotten == 0)
    }

    @Test func whatIsOverIsNotOwed() {
        var all = LiveSubscriptions()
        all.heard(ask("answered", id: "1"), subscribes: true)
        all.heard(message(.toClient, .reply, "", id: "1"), subscribes: false)
        all.heard(ask("left", id: "2"), subscribes: true)
        all.heard(message(.toServer, .cancel, "", id: "2"), subscribes: false)
        all.heard(ask("a call", id: "3"), subscribes: false)
        all.lost()
        all.connected()
        #expect(all.forgotten == 0)
    }

    @Test func aRequestWithAStreamOfAnswersIsOne() {
        var all = LiveSubscriptions()
        all.heard(ask("stream", id: "1"), subscribes: false)
        all.heard(message(.toClient, .push, "", id: "1"), subscribes: false)
        all.lost()
        all.connected()
        #expect(all.forgotten == 1)
    }

    @Test func aChannelIsOneAfterItsAnswer() {
        var all = LiveSubscriptions()
        let subscribe = message(.toServer, .request, "room", id: "room", channel: "room")
        all.heard(subscribe, subscribes: true)
        all.heard(message(.toClient, .reply, "", id: "room"), subscribes: false)
        all.lost()
        all.connected()
        #expect(all.forgotten == 1)
        all.heard(message(.toServer, .cancel, "", id: "room"), subscribes: false)
        #expect(all.forgotten == 0)
        all.heard(subscribe, subscribes: true)
        all.heard(message(.toServer, .cancel, "", id: "room"), subscribes: false)
        all.lost()
        all.connected()
        #expect(all.forgotten == 0)
    }
}
