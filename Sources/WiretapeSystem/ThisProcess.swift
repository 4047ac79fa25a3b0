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
