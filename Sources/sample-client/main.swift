internal import WiretapeSamples
internal import WiretapeSystem

ThisProcess.unblockSignals()
ThisProcess.exit(
    SampleClientProgram.run(Array(CommandLine.arguments.dropFirst()), environment: ThisProcess.environment))
