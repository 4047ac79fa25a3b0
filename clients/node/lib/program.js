// Finds the `wiretape` program.
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WiretapeError } from './failure.js';

// The tarball that tools/package makes carries the program.
const carried = fileURLToPath(new URL('../bin/wiretape', import.meta.url));
// The package lies in clients/node of a checkout; elsewhere this folder has no build and is named as looked at.
const checkout = fileURLToPath(new URL('../../..', import.meta.url));

/** Whether this is a file that may be run. */
async function isProgram(path) {
    try {
        await access(path, constants.X_OK);
        return (await stat(path)).isFile();
    } catch {
        return false;
    }
}

/**
 * The path of the program: what is given, else WIRETAPE_BIN, else the one that this package carries, else `wiretape` on PATH,
 * else the release or the debug build of the checkout that this package is part of. What is given, here or by WIRETAPE_BIN,
 * is never replaced by another one.
 * @param {string | undefined} given The option `bin`.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>}
 * @throws {WiretapeError} where there is none: it names each place and says what to do.
 */
export async function findProgram(given, env) {
    const set = given ?? (env.WIRETAPE_BIN || undefined);
    if (set !== undefined) {
        if (await isProgram(resolve(set))) return resolve(set);
        const origin = given === undefined ? 'WIRETAPE_BIN' : "the option 'bin'";
        throw new WiretapeError(`${origin} says ${set}, which is no program: build it with tools/build release, or correct ${origin}.`);
    }
    const onPath = (env.PATH ?? '').split(delimiter).filter(Boolean).map((folder) => join(folder, 'wiretape'));
    const builds = ['release', 'debug'].map((kind) => join(checkout, '.build', kind, 'wiretape'));
    for (const path of [carried, ...onPath, ...builds]) if (await isProgram(path)) return resolve(path);
    throw new WiretapeError(
        `The program wiretape was not found. Looked for: WIRETAPE_BIN (not set), ${carried}, wiretape on PATH (${onPath.length} folders), `
        + `${builds.join(', ')}. Build it with tools/build release in a checkout of Wiretape and put it on PATH, or set WIRETAPE_BIN to it.`,
    );
}
