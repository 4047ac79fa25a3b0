internal import WiretapeSamples
internal import WiretapeSystem

ThisProcess.exit(SampleHubProgram.run(Array(CommandLine.arguments.dropFirst())))
