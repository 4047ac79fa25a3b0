// A client that does nothing any more ends its test, and not the whole run.

/**
 * What the promise comes to, or a rejection when that takes longer than any client that still does something.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} [limit] Milliseconds.
 * @returns {Promise<T>}
 */
export async function within(promise, limit = 10_000) {
    let timer;
    const over = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`the client does nothing any more: ${limit} ms`)), limit); });
    try {
        return await Promise.race([promise, over]);
    } finally {
        clearTimeout(timer);
    }
}
