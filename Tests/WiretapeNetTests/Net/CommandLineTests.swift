import Testing
import WiretapeNet

@Suite struct CommandLineTests {
    #if os(Linux)
        /// What Swift reads from /proc, for roots that have none. Nobody has moved the environment of this process.
        @Test func theKernelsIsTheSame() {
            #expect(ProcessSetup.kernelCommandLine == CommandLine.arguments)
        }
    #endif
}
