// The clients of this project that stand on packages of npm's: where those are not installed their tests are skipped, and a sentence counts them.
import { after, test } from 'node:test';

/**
 * A client, and how its tests are declared.
 * @param {string} path The client's module.
 * @param {...string} packages What it stands on.
 * @returns {Promise<{test: typeof test, [name: string]: any}>} What the module exports, and `test`; where a package is missing `test` alone,
 *     which skips.
 */
export async function clientOf(path, ...packages) {
    const missing = packages.filter((name) => !isInstalled(name));
    if (missing.length === 0) return { ...await import(path), test };
    const why = `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed (npm install)`;
    let skipped = 0;
    after(() => console.log(`skipped ${skipped} tests of ${path.replace('../', '')}: ${why}`));
    return {
        test(name, body) {
            skipped += 1;
            return test(name, { skip: why }, body);
        },
    };
}

/** Whether this project can import it. */
export function isInstalled(name) {
    try {
        import.meta.resolve(name);
        return true;
    } catch {
        return false;
    }
}
