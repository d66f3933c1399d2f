import { access, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Declaration, DeclarationChange } from '../../client/index.ts';
import { bodyBytesMax } from '../../http/contract/contract-limits.ts';
import { CommandFailure, Exit } from './command-failure.ts';
import { readDeclaration, readExamples } from './declaration-file.ts';
import { oneLine, print, printNotice } from './print.ts';
import { warnOfPlaceholders } from './prompts-command.ts';
import type { Call } from './run-call.ts';
import { type Undeclared, undeclaredIn } from './undeclared.ts';
import { toYaml } from './yaml.ts';

/** `cueline pull`, `diff` and `apply`: the workspace as code in `cueline.yaml`. */

const schemaFile = join(import.meta.dirname, '../../../docs/cueline.schema.json');
/** Maximum length of a value in a list of changes. */
const shownCharsMax = 80;

export async function pull({ cueline, signal, json }: Call, file: string): Promise<void> {
  const { declaration, omitted } = await cueline.declaration.read({ signal });
  const written = await withExamples(declaration, file, signal);
  const left = omitted.map(({ kind, name, reason }) =>
    oneLine(`Omitted ${kind} "${name}". ${reason}`),
  );
  const text = json
    ? `${JSON.stringify(written)}\n`
    : schemaLine(file) + left.map((line) => `# ${line}\n`).join('') + toYaml(written);
  for (const line of left) printNotice(line);
  if (file === '-') await print(text.trimEnd());
  else await write(file, text, signal);
  requireApplicable(declaration);
}

/** Refuses a declaration without examples that is longer than the request body of an apply. */
export function requireApplicable(declaration: Declaration): void {
  const bytes = Buffer.byteLength(JSON.stringify({ declaration, dryRun: false }));
  if (bytes <= bodyBytesMax) return;
  throw new CommandFailure(
    `The declaration has ${bytes} bytes, but one apply accepts ${bodyBytesMax}. Split it into several files: each agent with its prompt, or earlier versions of a prompt first.`,
  );
}

/** With the examples of the file that is replaced: the workspace has none. */
async function withExamples(
  declaration: Declaration,
  file: string,
  signal: AbortSignal,
): Promise<Declaration> {
  const isNew = file === '-' || (await access(file).catch(() => 'missing')) === 'missing';
  const examples = isNew ? new Map() : await readExamples(file, signal);
  const { agents = [] } = declaration;
  const lost = [...examples.keys()].find((name) => !agents.some((agent) => agent.name === name));
  if (lost !== undefined) {
    throw new CommandFailure(
      `${file} has examples of "${lost}", an agent that is not in the workspace. They would be lost: move ${file} away.`,
    );
  }
  return {
    ...declaration,
    agents: agents.map((agent) => {
      const ofFile = examples.get(agent.name);
      return ofFile ? { ...agent, examples: ofFile } : agent;
    }),
  };
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

export interface DiffOptions {
  readonly exitCode?: true;
}

/** Shows the changes of a dry run, and what the workspace has beyond the file. */
export async function diff(
  { cueline, signal, json }: Call,
  file: string,
  { exitCode }: DiffOptions,
): Promise<void> {
  const { declaration } = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declaration, true, { signal });
  const existing = await cueline.declaration.read({ signal });
  await show(changes, json);
  for (const one of undeclaredIn(existing, declaration)) {
    await print(json ? JSON.stringify(one) : undeclaredLine(one));
  }
  if (exitCode && changes.length > 0) throw new Exit(differentCode);
}

/** As 1 is an error. */
const differentCode = 2;

export async function apply({ cueline, signal, json }: Call, file: string): Promise<void> {
  const { declaration } = await readDeclaration(file, signal);
  const { changes } = await cueline.declaration.apply(declaration, false, { signal });
  await show(changes, json);
}

/**
 * Points editors to the schema, for completion and validation. Only if the schema is below the
 * file's folder: any other path is specific to this machine, and the file is shared.
 */
export function schemaLine(file: string): string {
  const path = file === '-' ? '..' : relative(dirname(resolve(file)), schemaFile);
  return path.startsWith('..') ? '' : `# yaml-language-server: $schema=./${path}\n`;
}

async function show(changes: readonly DeclarationChange[], json: boolean): Promise<void> {
  for (const change of changes) await print(json ? JSON.stringify(change) : lineOf(change));
  for (const { name, to, warnings = [] } of changes) {
    warnOfPlaceholders(warnings, ` of ${name}, version ${to}`);
  }
  if (changes.length === 0 && !json) await print('No changes.');
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

/** `? prompt Greeting: version v9 is not in the file` */
function undeclaredLine({ kind, name, field, from }: Undeclared): string {
  const part = field === undefined ? '' : `: ${field} ${from}`;
  return oneLine(`? ${kind} ${name}${part} is not in the file`);
}

function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? '-';
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax - 1)}…` : text;
}
