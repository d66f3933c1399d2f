import type { Variables } from '../../client/index.ts';
import * as exactJson from './exact-json.ts';
import { CommandFailure } from './failure.ts';
import { readInput } from './input.ts';

export interface VariableOptions {
  /** Name and text. */
  readonly var?: readonly [string, string][];
  /** Name and JSON. */
  readonly varJson?: readonly [string, string][];
  /** Of a JSON object; `-` is standard input. */
  readonly varsFile?: string;
}

/** All that were given. Of a name that was given twice the later counts, and the file is the earliest. */
export async function readVariables(
  { var: texts = [], varJson = [], varsFile }: VariableOptions,
  signal: AbortSignal,
): Promise<Variables> {
  const named = varJson.map(([name, json]) => [name, parse(json, `--var-json ${name}`)] as const);
  const file = varsFile === undefined ? {} : parse(await readInput(varsFile, signal), varsFile);
  if (
    typeof file !== 'object' ||
    file === null ||
    Array.isArray(file) ||
    exactJson.isExactNumber(file)
  ) {
    throw new CommandFailure(`${varsFile} does not hold a JSON object.`);
  }
  return Object.fromEntries([...Object.entries(file), ...texts, ...named]);
}

function parse(text: string, where: string): unknown {
  try {
    // Editors of Windows begin a file with a byte order mark.
    return exactJson.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new CommandFailure(`${where} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
