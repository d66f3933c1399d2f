import type { PromptVersion, PromptVersionInput } from '../../client/index.ts';
import { CommandFailure } from './command-failure.ts';
import { readInput } from './input.ts';
import { printDone, printNotice, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline prompts`: prompts and their versions. */

/** Shows a prompt, or one of its versions with its templates. */
export async function showPrompt(
  { cueline, signal, json }: Call,
  promptId: string,
  promptVersionId: string | undefined,
): Promise<void> {
  const shown =
    promptVersionId === undefined
      ? await cueline.prompts.get(promptId, { signal })
      : await cueline.versions.get(promptId, promptVersionId, { signal });
  await printOne(shown, json);
}

export interface NewVersion extends Omit<PromptVersionInput, 'user' | 'system'> {
  readonly userFile?: string;
  readonly systemFile?: string;
  /** JSON with any fields of a version. The other options override them. */
  readonly fromFile?: string;
}

/** Uses the content of the files unchanged. */
export async function addVersion(
  { cueline, signal, json }: Call,
  promptId: string,
  { userFile, systemFile, fromFile, ...options }: NewVersion,
): Promise<void> {
  if (userFile === undefined && fromFile === undefined) {
    throw new CommandFailure('Give --user-file, or --from-file with "user" or "messages".');
  }
  const version = {
    ...(fromFile !== undefined && readVersion(await readInput(fromFile, signal), fromFile)),
    ...options,
    ...(userFile !== undefined && { user: await readInput(userFile, signal) }),
    ...(systemFile !== undefined && { system: await readInput(systemFile, signal) }),
  };
  const made = await cueline.versions.create(promptId, version, { signal });
  warnOfPlaceholders(made.warnings);
  await printDone(made, made.promptVersionId, json);
}

/** The server checks the fields. */
function readVersion(text: string, file: string): PromptVersionInput {
  let version: unknown;
  try {
    version = JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(`${file} is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof version === 'object' && version !== null && !Array.isArray(version)) return version;
  throw new CommandFailure(`${file} must contain a JSON object.`);
}

export function warnOfPlaceholders(warnings: PromptVersion['warnings'], ofVersion = ''): void {
  for (const warning of warnings) {
    if (typeof warning === 'string') {
      printNotice(warning);
      continue;
    }
    const { placeholder, template } = warning;
    printNotice(
      `Not a placeholder, sent to the model unchanged: ${placeholder} (${template} template${ofVersion}). Names consist of letters, digits and underscores.`,
    );
  }
}
