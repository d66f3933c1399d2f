import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Declaration, DeclarationChange } from '../../client/index.ts';
import { bodyBytesMax } from '../../contract/limits.ts';
import { CommandFailure } from './failure.ts';
import { readInput } from './input.ts';
import { oneLine, print, printNotice } from './print.ts';
import { warnOfPlaceholders } from './prompts.ts';
import type { Call } from './run-call.ts';
import { fromYaml, toYaml } from './yaml.ts';

/** `cueline pull`, `diff` and `apply`: the workspace as code in `cueline.yaml`. */

const schemaFile = join(import.meta.dirname, '../../../docs/cueline.schema.json');
/** Maximum length of a value in a list of changes. */
const shownCharsMax = 80;

export async function pull({ cueline, signal, json }: Call, file: string): Promise<void> {
  const { declaration, omitted } = await cueline.declaration.read({ signal });
  const left = omitted.map(({ kind, name, reason }) =>
    oneLine(`Omitted ${kind} "${name}". ${reason}`),
  );
  const text = json
    ? `${JSON.stringify(declaration)}\n`
    : schemaLine(file) + left.map((line) => `# ${line}\n`).join('') + toYaml(declaration);
  for (const line of left) printNotice(line);
  if (file === '-') await print(text.trimEnd());
  else await write(file, text, signal);
  // The request body of "apply".
  const bytes = Buffer.byteLength(JSON.stringify({ declaration, dryRun: false }));
  if (bytes <= bodyBytesMax) return;
  throw new CommandFailure(
    `The declaration has ${bytes} bytes, but one apply accepts ${bodyBytesMax}. Split it into several files.`,
  );
}

async function write(file: string, text: string, signal: AbortSignal): Promise<void> {
  try {
    await writeFile(file, text, { signal });
  } catch (error) {
    const message = `Cannot write ${file}: ${(error as Error).message}`;
    throw new CommandFailure(message, { cause: error });
  }
  printNotice(`Wrote ${file}.`);
}

/** Shows the changes of a dry run. */
export async function diff({ cueline, signal, json }: Call, file: string): Promise<void> {
  const declared = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declared, true, { signal });
  await show(changes, json, 'No changes.');
}

export async function apply({ cueline, signal, json }: Call, file: string): Promise<void> {
  const declared = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declared, false, { signal });
  await show(changes, json, 'No changes.');
}

/**
 * Points editors to the schema, for completion and validation. Only if the schema is below the
 * file's folder: any other path is specific to this machine, and the file is shared.
 */
export function schemaLine(file: string): string {
  const path = file === '-' ? '..' : relative(dirname(resolve(file)), schemaFile);
  return path.startsWith('..') ? '' : `# yaml-language-server: $schema=./${path}\n`;
}

async function readDeclaration(file: string, signal: AbortSignal): Promise<Declaration> {
  const value = fromYaml(await readInput(file, signal), file);
  if (value === null) return {};
  // The server validates the rest.
  if (typeof value === 'object' && !Array.isArray(value)) return value as Declaration;
  throw new CommandFailure(`${file} must contain an object with prompts, agents or workflows.`);
}

async function show(
  changes: readonly DeclarationChange[],
  json: boolean,
  none: string,
): Promise<void> {
  for (const change of changes) await print(json ? JSON.stringify(change) : lineOf(change));
  for (const { name, to, warnings = [] } of changes) {
    warnOfPlaceholders(warnings, ` of ${name}, version ${to}`);
  }
  if (changes.length === 0 && !json) await print(none);
}

/** `~ agent Triage: stage "Draft" → "Deployed"` */
function lineOf({ kind, name, action, field, from, to }: DeclarationChange): string {
  const sign = action === 'create' || action === 'add-version' ? '+' : '~';
  const what = `${sign} ${kind} ${name}`;
  if (action === 'create') return oneLine(what);
  if (action === 'add-version') return oneLine(`${what}: version ${to}`);
  const before = from === undefined ? '' : `${formatValue(from)} `;
  return oneLine(`${what}: ${field} ${before}→ ${formatValue(to)}`);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? '-';
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax - 1)}…` : text;
}
