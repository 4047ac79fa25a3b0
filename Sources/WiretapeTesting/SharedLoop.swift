internal import Synchronization
internal import WiretapeNet
internal import WiretapeProxy

/// The one thread on which all servers of the process, their sockets and their state live.
enum SharedLoop {
    /// The replays and recordings of the loop by their number. Found by what is posted to the thread.
    final class Tenants {
        var replays: [Int: HostedReplay] = [:]
        var recordings: [Int: LoopRelays] = [:]

        /// Those of the loop.
        static func on(_ loop: UVLoop) -> Tenants {
            for one in loop.residents { if let tenants = one as? Tenants { return tenants } }
            let tenants = Tenants()
            loop.residents.append(tenants)
            return tenants
        }
    }

    private static let numbers = Atomic(0)

    /// A number that nobody had before.
    static func number() -> Int { numbers.add(1, ordering: .relaxed).newValue }

    private static let started = Result {
        ProcessSetup.ignoreSIGPIPE()
        ProcessSetup.raiseDescriptorLimit()
        let thread = LoopThread(name: "wiretape")
        try thread.start()
        return thread
    }

    /// The thread, started with the first call. SIGPIPE is ignored from then on, and the soft limit of descriptors raised.
    static func thread() throws(TapeFailure) -> LoopThread {
        do {
            return try started.get()
        } catch {
            throw TapeFailure("\(error)")
        }
    }
}
