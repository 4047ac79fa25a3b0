#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// Lifetime: the environment's text is copied at once; nothing here changes the environment.

/// This process.
package enum ThisProcess {
    /// Ends it now.
    package static func exit(_ code: Int32) -> Never {
        #if canImport(Darwin)
            Darwin.exit(code)
        #elseif canImport(Musl)
            Musl.exit(code)
        #else
            Glibc.exit(code)
        #endif
    }

    /// The value of an environment variable, or nil when it is not set.
    package static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// Its number.
    package static var id: Int32 { getpid() }

    /// The number of the process that started this one, or of the one that took its place when that ended.
    package static var parent: Int32 { getppid() }
}

// Lifetime: the set of signals is a local, lent for the call.

extension ThisProcess {
    /// Lets all signals through. Whoever started this process may have handed down a mask that blocks them (a thread of
    /// libdispatch does): then no SIGINT would end us, and no SIGCHLD would tell of a child's end. Once, before threads
    /// are started.
    package static func unblockSignals() {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    }

    /// A file that may not grow any more (`ulimit -f`) is an error of the write (`EFBIG`), as a full disk is one, and no end
    /// of the process. Once, before files are written.
    package static func ignoreFileSizeSignal() { _ = signal(SIGXFSZ, SIG_IGN) }
}
