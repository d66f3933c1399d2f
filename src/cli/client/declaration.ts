import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Declaration, DeclarationChange } from '../../client/index.ts';
import { bodyBytesMax } from '../../contract/limits.ts';
import type { Call } from './call.ts';
import { CommandFailure } from './failure.ts';
import { readInput } from './input.ts';
import { note, oneLine, print } from './print.ts';
import { fromYaml, toYaml } from './yaml.ts';

/** What the workspace holds as code: `cueline.yaml`. */

const schemaFile = join(import.meta.dirname, '../../../docs/cueline.schema.json');
/** Of a value that is shown in a list of changes. */
const shownCharsMax = 80;

export async function pull({ cueline, signal, json }: Call, file: string): Promise<void> {
  const { declaration, omitted } = await cueline.declaration.read({ signal });
  const left = omitted.map(({ kind, name, reason }) =>
    oneLine(`The ${kind} "${name}" is left out. ${reason}`),
  );
  const text = json
    ? `${JSON.stringify(declaration)}\n`
    : schemaLine(file) + left.map((line) => `# ${line}\n`).join('') + toYaml(declaration);
  for (const line of left) note(line);
  if (file === '-') await print(text.trimEnd());
  else await write(file, text, signal);
  // As "apply" sends it.
  const bytes = Buffer.byteLength(JSON.stringify({ declaration, dryRun: false }));
  if (bytes <= bodyBytesMax) return;
  throw new CommandFailure(
    `All of it is ${bytes} bytes, and ${bodyBytesMax} can be applied at once: split it into several files.`,
  );
}

async function write(file: string, text: string, signal: AbortSignal): Promise<void> {
  try {
    await writeFile(file, text, { signal });
  } catch (error) {
    const message = `${file} cannot be written: ${(error as Error).message}`;
    throw new CommandFailure(message, { cause: error });
  }
  note(`Wrote ${file}.`);
}

/** What would be done, without doing it. */
export async function diff({ cueline, signal, json }: Call, file: string): Promise<void> {
  const declared = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declared, true, { signal });
  await show(changes, json, 'Nothing would change.');
}

export async function apply({ cueline, signal, json }: Call, file: string): Promise<void> {
  const declared = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declared, false, { signal });
  await show(changes, json, 'Nothing has changed.');
}

/**
 * For editors: they then complete and check as one types. Only where the schema lies below the file's folder: what leads
 * out of it is a path of this machine, and the file is made to be shared.
 */
export function schemaLine(file: string): string {
  const path = file === '-' ? '..' : relative(dirname(resolve(file)), schemaFile);
  return path.startsWith('..') ? '' : `# yaml-language-server: $schema=./${path}\n`;
}

async function readDeclaration(file: string, signal: AbortSignal): Promise<Declaration> {
  const value = fromYaml(await readInput(file, signal), file);
  if (value === null) return {};
  // What more it must be the server says.
  if (typeof value === 'object' && !Array.isArray(value)) return value as Declaration;
  throw new CommandFailure(`${file} must hold prompts, agents and workflows.`);
}

async function show(
  changes: readonly DeclarationChange[],
  json: boolean,
  none: string,
): Promise<void> {
  for (const change of changes) await print(json ? JSON.stringify(change) : lineOf(change));
  if (changes.length === 0 && !json) await print(none);
}

/** `~ agent Triage: stage "Draft" → "Deployed"` */
function lineOf({ kind, name, action, field, from, to }: DeclarationChange): string {
  const sign = action === 'create' || action === 'add-version' ? '+' : '~';
  const what = `${sign} ${kind} ${name}`;
  if (action === 'create') return oneLine(what);
  if (action === 'add-version') return oneLine(`${what}: version ${to}`);
  const before = from === undefined ? '' : `${shown(from)} `;
  return oneLine(`${what}: ${field} ${before}→ ${shown(to)}`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '-';
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax - 1)}…` : text;
}
