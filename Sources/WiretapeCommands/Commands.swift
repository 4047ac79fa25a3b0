package import WiretapeCommandLine
internal import WiretapeTapeCommands

/// The commands, in the order of `--help`. A new one is its file and its line here.
package enum Commands {
    package static var all: [any Command.Type] {
        [
            RecordCommand.self,
            ProxyCommand.self,
            ReplayCommand.self,
            AutoCommand.self,
            SweepCommand.self,
            InspectCommand.self,
            ImportCommand.self,
            ExportCommand.self,
            CaptureCommand.self,
            NewCommand.self,
            ValidateCommand.self,
            CanonCommand.self,
            EditCommand.self,
            DiffCommand.self,
            NameCommand.self,
            CutCommand.self,
            MergeCommand.self,
            RenameCommand.self,
            WarpCommand.self,
            RepairCommand.self,
            RedactCommand.self,
            ScanCommand.self,
            CACommand.self,
            ConfigCommand.self,
            HelpCommand.self,
            VersionCommand.self,
            CompletionsCommand.self,
            ManCommand.self,
        ]
    }

    package static var specs: [CommandSpec] { all.map { $0.spec } }

    /// Commands of the interface that this version does not have yet.
    package static let missing = [
        "check", "demo",
    ]
}
