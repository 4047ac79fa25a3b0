internal import WiretapeSamples
internal import WiretapeSystem

ThisProcess.unblockSignals()
ThisProcess.exit(SampleHubProgram.run(Array(CommandLine.arguments.dropFirst())))
