import { readdir, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, sep } from 'node:path';
import { CommandFailure } from '../client/command-failure.ts';
import { readInput } from '../client/input.ts';

/** Files that a configuration refers to, by paths relative to its folder. */

/** Bytes of a file. A prompt has at most a quarter of a million characters. */
export const fileBytesMax = 8_388_608;
/** Files that one pattern may find. */
export const filesMax = 1_000;

export interface ReferencedFile {
  /** As it is shown: relative to the current folder, like the configuration. */
  readonly path: string;
  readonly extension: string;
}

const reference = /^(.+?\.[a-z0-9]+)(?:[:#].*)?$/i;

/** The files of `file://PATH` or a pattern, sorted. The name of a function or a sheet after the path is ignored. */
export async function findFiles(folder: string, text: string): Promise<ReferencedFile[]> {
  const written = text.replace(/^file:\/\//, '');
  const [, path = written] = reference.exec(written) ?? [];
  const found = /[*?]/.test(path) ? await matching(folder, path) : [path];
  return found.map((one) => ({
    path: join(folder, one),
    extension: extname(one).slice(1).toLowerCase(),
  }));
}

export async function readReferenced(path: string, signal: AbortSignal): Promise<string> {
  const { size } = await stat(path).catch((error: Error) => {
    throw new CommandFailure(`Cannot read ${path}: ${error.message}`, { cause: error });
  });
  if (size > fileBytesMax) {
    throw new CommandFailure(`${path} has ${size} bytes; at most ${fileBytesMax} are read.`);
  }
  return readInput(path, signal);
}

/** `*` and `?` match within a folder, `**` any folders. */
async function matching(folder: string, pattern: string): Promise<string[]> {
  const fixed = dirname(pattern.slice(0, pattern.search(/[*?]/)).concat('x'));
  const base = join(folder, fixed);
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(
      /\*\*\/|\*\*|\*|\?/g,
      (part) => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*' })[part] ?? '[^/]',
    );
  const expression = new RegExp(`^${source.replace(/^\.\//, '')}$`);
  const entries = await readdir(base, {
    recursive: pattern.includes('**'),
    withFileTypes: true,
  }).catch((error: Error) => {
    throw new CommandFailure(`Cannot read ${base}: ${error.message}`, { cause: error });
  });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => expression.test(path))
    .toSorted();
  if (paths.length <= filesMax) return paths;
  throw new CommandFailure(
    `${pattern} matches ${paths.length} files; at most ${filesMax} are read.`,
  );
}

/** One after another, so that remarks have the order of the configuration. */
export async function flatMapInOrder<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(...(await map(item)));
  return results;
}
