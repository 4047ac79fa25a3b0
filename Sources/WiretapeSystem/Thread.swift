#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// Lifetime: what a thread starts with is retained for it and released by its first instruction, or at once when there
// is no thread.

/// A thread of the system. It runs on when the object goes, unless ``join()`` was called.
package final class Thread: Sendable {
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    /// Nil when it has been joined.
    private let handle: Gate<pthread_t?>

    /// Starts `body` on a new thread.
    /// - Parameter name: as debuggers and `top -H` show it; Linux keeps 15 bytes of it.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = unsafe Unmanaged.passRetained(Start(name, body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let rc = unsafe pthread_create(
            &thread, nil,
            { start in
                #if canImport(Darwin)
                    let start = unsafe Unmanaged<Start>.fromOpaque(start).takeRetainedValue()
                    unsafe pthread_setname_np(start.name)
                #else
                    let start = unsafe Unmanaged<Start>.fromOpaque(start!).takeRetainedValue()
                    Thread.setName(start.name)
                #endif
                start.body()
                return nil
            }, start.toOpaque())
        guard rc == 0 else {
            unsafe start.release()
            throw SystemError("start a thread", code: rc)
        }
        handle = Gate(thread)
    }

    deinit {
        handle.withLock { handle in
            if let thread = handle { _ = pthread_detach(thread) }
        }
    }

    #if !canImport(Darwin)
        /// Lets other threads go first from now on, where processors are short; the calling thread's. On macOS nothing happens.
        /// - Parameter steps: 0 to 19, as `nice` counts them.
        package static func giveWay(by steps: Int32) {
            // Linux gives each thread a niceness of its own, and 0 names the calling one.
            #if canImport(Glibc)
                let which = __priority_which_t(PRIO_PROCESS.rawValue)
            #else
                let which = PRIO_PROCESS
            #endif
            _ = setpriority(which, 0, getpriority(which, 0) + steps)
        }
    #else
        package static func giveWay(by steps: Int32) {}
    #endif

    #if !canImport(Darwin)
        /// `pthread_setname_np` is hidden from Swift; the kernel takes the name of the calling thread as a file too.
        private static func setName(_ name: String) {
            let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            let text = Array(name.utf8.prefix(15))
            _ = unsafe write(file, text, text.count)
            _ = close(file)
        }
    #endif

    /// Waits for the end of the thread. A second call returns at once.
    package func join() {
        let thread = handle.withLock { handle in
            let thread = handle
            handle = nil
            return thread
        }
        if let thread { _ = pthread_join(thread, nil) }
    }
}
