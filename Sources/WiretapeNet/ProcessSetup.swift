internal import CWiretapeUV
internal import WiretapeSystem

// Lifetime: the kernel's copy of the command line lies above the stack and stays as long as the process.

/// What a process that serves connections does once, at its start.
package enum ProcessSetup {
    /// A write to a closed socket or pipe is an error, not a death. Child processes get the default back.
    package static func ignoreSIGPIPE() { wiretape_ignore_sigpipe() }

    /// The command line, the program's name first. Swift reads it from /proc; only where that is not mounted, as in an empty
    /// root, it is looked for where the kernel has put it.
    package static var commandLine: [String] {
        let words = CommandLine.arguments
        return words.count > 1 || File.exists("/proc/self/cmdline") ? words : kernelCommandLine ?? words
    }

    /// The command line from where the kernel puts it; nil when it is not found there.
    package static var kernelCommandLine: [String]? {
        guard let words = unsafe wiretape_kernel_arguments() else { return nil }
        var copy: [String] = []
        while let word = unsafe words[copy.count] { copy.append(unsafe String(cString: word)) }
        return copy
    }

    /// Raises the soft limit of open descriptors to the hard one, at most to a million. Returns the limit.
    @discardableResult package static func raiseDescriptorLimit() -> Int {
        let before = wiretape_descriptor_limit()
        for wanted: Int32 in [1_048_576, 65536, 10240] where wanted > before {
            if wiretape_set_descriptor_limit(wanted) == 0 { break }
        }
        return Int(wiretape_descriptor_limit())
    }

    /// The soft limit of open descriptors.
    package static var descriptorLimit: Int { Int(wiretape_descriptor_limit()) }

    /// Of so many descriptors those below this number are for clients and their upstreams, the others are kept for files,
    /// lookups and the calls of libraries.
    package static func descriptorCeiling(_ limit: Int) -> Int { limit - min(64, max(4, limit / 8)) }

    /// The number that the next descriptor gets: the lowest that is free. Nil when there is none left.
    package static var nextDescriptor: Int? {
        let next = wiretape_next_descriptor(2)
        return next >= 0 ? Int(next) : nil
    }
}
