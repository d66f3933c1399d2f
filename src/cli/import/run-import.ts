import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Type } from 'typebox';
import { Declaration } from '../../features/declaration/declaration-contract.ts';
import { modelSettings } from '../../features/prompts/contract/model-settings-contract.ts';
import { validationErrors } from '../../http/request/validate.ts';
import { enterCallerFolder } from '../../process/config/caller-folder.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { requireApplicable, schemaLine } from '../client/declaration-command.ts';
import { printNotice } from '../client/print.ts';
import { reportError } from '../client/run-call.ts';
import { toYaml } from '../client/yaml.ts';
import { runWithLifetime } from '../process-lifetime.ts';
import { Draft } from './draft.ts';
import { readYaml } from './located.ts';

/** `cueline import`: writes `cueline.yaml` in the caller's folder. No Cueline server is called. */

export interface ImportOptions {
  readonly force?: boolean;
  readonly model?: string;
}

export const importedFile = 'cueline.yaml';
/** Nothing has to be closed. */
const shutdownMsMax = 1_000;

export async function runImport(
  options: ImportOptions,
  read: (draft: Draft, signal: AbortSignal) => Promise<void>,
): Promise<never> {
  enterCallerFolder();
  const code = await runWithLifetime(({ stopping }) => importWith(options, read, stopping), {
    shutdownMsMax,
    onMessage: () => {},
    onError: reportError,
  });
  process.exit(code);
}

async function importWith(
  { force = false, model }: ImportOptions,
  read: (draft: Draft, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (!force && existsSync(importedFile)) throw alreadyExists();
  const draft = new Draft(model === undefined ? undefined : requireModel(model));
  await read(draft, signal);
  const { prompts, agents } = draft;
  if (prompts.length > 0) {
    const text = schemaLine(importedFile) + toYaml({ prompts, agents });
    draft.written = readYaml(text, importedFile);
    await write(text, force, signal);
  }
  const remarks = draft.remarks.map(({ at, part, text }) => `${at.place(part)}: ${text}`);
  for (const remark of new Set(remarks)) printNotice(remark);
  if (prompts.length === 0) throw new CommandFailure('There is no prompt to import.');
  printNotice(`Wrote ${importedFile}: prompts: ${prompts.length}, agents: ${agents.length}.`);
  requireValid(draft);
}

/** Everything that one field cannot have was left out. What is left concerns whole texts, such as their length. */
function requireValid({ prompts, agents, written }: Draft): void {
  const problems = validationErrors(Declaration, { prompts, agents });
  // A field of several forms has a problem for each of them.
  const first = new Map(problems.toReversed().map(({ path, message }) => [path, message]));
  for (const [path, message] of [...first].reverse()) {
    const at = path.split('.').reduce((from, step) => from?.step(step), written);
    printNotice(`${at?.place() ?? importedFile}: A server refuses this. ${message}`);
  }
  if (problems.length > 0) throw new CommandFailure(`${importedFile} cannot be applied as it is.`);
  // The server gets no examples.
  requireApplicable({ prompts, agents: agents.map(({ examples: _, ...agent }) => agent) });
}

async function write(text: string, force: boolean, signal: AbortSignal): Promise<void> {
  try {
    await writeFile(importedFile, text, { signal, flag: force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyExists();
    const message = `Cannot write ${importedFile}: ${(error as Error).message}`;
    throw new CommandFailure(message, { cause: error });
  }
}

function alreadyExists(): CommandFailure {
  return new CommandFailure(
    `${importedFile} exists in this folder. Import in another folder, or overwrite it with --force.`,
  );
}

function requireModel(model: string): string {
  const [problem] = validationErrors(Type.Object({ model: modelSettings.model }), { model });
  if (problem) throw new CommandFailure(problem.message.replace('Field "model"', '--model'));
  return model;
}
