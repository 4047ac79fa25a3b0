import Foundation
import PackagePlugin

/// Has `embed-page` put the files of the target's folder `Page` into the program, again whenever one of them changes.
@main
struct EmbedPage: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = target.directoryURL.appending(path: "Page")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
        let files = names.sorted().map { folder.appending(path: $0) }.filter { !$0.hasDirectoryPath }
        let output = context.pluginWorkDirectoryURL.appending(path: "PageResources.swift")
        return [
            .buildCommand(
                displayName: "Embedding the web page",
                executable: try context.tool(named: "embed-page").url,
                arguments: [folder.path(percentEncoded: false), output.path(percentEncoded: false)],
                inputFiles: files, outputFiles: [output])
        ]
    }
}
