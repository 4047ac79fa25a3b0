// Where tapes are looked for.
import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WiretapeError } from './failure.js';

/** The folder that `from` means: a folder's path, or the URL or path of a file in it (`import.meta.url`, `__filename`). */
async function folderOf(from) {
    const path = from instanceof URL || String(from).startsWith('file:') ? fileURLToPath(from) : resolve(from);
    const isFolder = await stat(path).then((found) => found.isDirectory(), () => false);
    return isFolder ? path : dirname(path);
}

/**
 * Where a tape may lie: beside `from` (else in the working folder), then under WIRETAPE_RECORDINGS. A recording that is made goes
 * to the first place.
 * @param {string} tape A path.
 * @param {{from?: string | URL, cwd?: string, env: NodeJS.ProcessEnv}} where
 * @returns {Promise<string[]>} Absolute paths.
 */
export async function placesOf(tape, { from, cwd, env }) {
    if (typeof tape !== 'string' || tape === '') throw new WiretapeError(`a tape is the path of a file, not ${JSON.stringify(tape)}.`);
    if (isAbsolute(tape)) return [tape];
    const first = from === undefined ? resolve(cwd ?? '.') : await folderOf(from);
    const folders = env.WIRETAPE_RECORDINGS ? [first, resolve(env.WIRETAPE_RECORDINGS)] : [first];
    return folders.map((folder) => resolve(folder, tape));
}

/**
 * Paths of files that go with a test, such as fault plans, as the program is given them: beside `from` where that is said.
 * @param {string[]} paths
 * @param {string | URL | undefined} from
 * @returns {Promise<string[]>}
 */
export async function beside(paths, from) {
    if (from === undefined) return paths;
    const folder = await folderOf(from);
    return paths.map((path) => resolve(folder, path));
}

/** The first of these paths at which there is a file, or undefined. */
export async function firstFile(paths) {
    for (const path of paths) if (await stat(path).then((found) => found.isFile(), () => false)) return path;
    return undefined;
}
