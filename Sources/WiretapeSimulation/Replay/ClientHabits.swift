package import WiretapeWire

/// How a model client behaves, within what the protocol allows unless it has ``mischief``.
package struct ClientHabits: Sendable {
    package var transport = Transport.ws
    /// Of `negotiateVersion`; nil: it opens its WebSocket without negotiating.
    package var negotiateVersion: Int? = 1
    package var usesStatefulReconnect = false
    package var ids = IDStyle.counter(1)
    package var order = Order.recorded
    /// Nanoseconds from the moment at which it could say something to the moment at which it does.
    package var think: ClosedRange<UInt64> = 0...0
    /// Several messages that are due together go in one payload.
    package var joins = false
    /// How long it waits before each attempt to come back; the last one again and again.
    package var delays: [UInt64] = [0]
    /// Attempts in a row before it gives up.
    package var attempts = 8
    /// Of the requests that a lost connection left without an answer, one in so many is not made again; 0: all are.
    package var givesUpOneIn = 0
    /// Where it cuts its own connection: after so many messages heard or said on it, one entry a connection.
    package var cuts: [Cut] = []
    /// Silence of the server after which it counts the connection as lost; 0: never.
    package var serverTimeout: UInt64 = 0
    /// How it ends such a connection.
    package var timeout = Cut.How.fin
    /// How long it waits for the response to a negotiation or an upgrade; 0: for ever.
    package var openTimeout: UInt64 = 0
    /// Interval of its own pings; 0: none.
    package var pings: UInt64 = 0
    package var mischief: Mischief?

    package init() {}

    package enum IDStyle: Hashable, Sendable {
        /// Counts on over all connections from this number.
        case counter(Int)
        /// Starts again with every connection.
        case restarting(Int)
        /// UUIDs.
        case opaque
    }

    package enum Order: Hashable, Sendable {
        /// Says each message once everything recorded before it has come.
        case recorded
        /// As `recorded`, but independent neighbours may change places.
        case swapped
        /// Says what it can when it can: waits for nothing but the chain's own messages.
        case eager
        /// Says everything in recorded order and waits for nothing but questions.
        case pipelined
    }

    package struct Cut: Hashable, Sendable {
        package var after: Int
        package var how: How

        package init(after: Int, how: How) {
            self.after = after
            self.how = how
        }

        package enum How: Hashable, Sendable { case fin, reset, closeFrame }
    }

    /// One thing that a client does wrong with one of its messages.
    package struct Mischief: Hashable, Sendable {
        /// Among the sessions of the client, and the line of that session.
        package var session: Int
        package var line: Int
        package var what: What

        package init(session: Int = 0, line: Int, what: What) {
            self.session = session
            self.line = line
            self.what = what
        }

        package enum What: Hashable, Sendable {
            /// Never says it.
            case drop
            /// Says it so many nanoseconds later than it could.
            case late(UInt64)
            /// Says it twice.
            case double
            /// Says it after the message that follows it.
            case swap
            /// Says it only when the server's next push has come.
            case afterNextPush
            /// Says something else instead.
            case alter
            /// Says something of its own besides.
            case extra
        }
    }
}
