import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/**
 * A file of results: a section for each thing measured, which a later run of it replaces. Each says by itself on what and
 * how it was measured, so that sections of different runs can stand side by side.
 */
export interface ResultsFile {
  readonly path: string;
  /** What stands above the first section. */
  readonly intro: string;
  /** The names of all sections that there may be; others are dropped. */
  readonly order: readonly string[];
}

export function keepSection({ path, intro, order }: ResultsFile, name: string, text: string): void {
  const sections = new Map(readSections(path));
  sections.set(name, text);
  const all = order.flatMap((title) => {
    const body = sections.get(title);
    return body === undefined ? [] : [`## ${title}\n\n${body.trim()}\n`];
  });
  writeFileSync(path, [intro, ...all].join('\n'));
}

export function readSection({ path }: ResultsFile, name: string): string | undefined {
  return new Map(readSections(path)).get(name);
}

function readSections(path: string): [string, string][] {
  if (!existsSync(path)) return [];
  const [, ...sections] = readFileSync(path, 'utf8').split(/^## /m);
  return sections.map((section) => {
    const end = section.indexOf('\n');
    return [section.slice(0, end), section.slice(end + 1)];
  });
}

/** What a number means nothing without. */
export function machineLine(): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB of memory`;
  return `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memory}, Linux ${release()}.`;
}
