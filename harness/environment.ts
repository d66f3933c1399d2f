import { join } from 'node:path';

/** What a process that a test starts inherits of the environment: the search path and the cache of compiled code. */
export function inherited(path = process.env.PATH ?? ''): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  return { PATH: path, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** For the processes that are started from now on. */
export function cacheCompiledCode(): void {
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/compiled');
}
