import type { Variables } from '../client/index.ts';
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
  if (typeof file !== 'object' || file === null || Array.isArray(file) || isRaw(file)) {
    throw new CommandFailure(`${varsFile} does not hold a JSON object.`);
  }
  return Object.fromEntries([...Object.entries(file), ...texts, ...named]);
}

/** TypeScript does not know of these yet. */
const { rawJSON, isRawJSON: isRaw } = JSON as unknown as {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/** Numbers stay the text that they are: 9007199254740993 is another as a double. */
function parse(text: string, where: string): unknown {
  const exact = (_: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
  try {
    return JSON.parse(text, exact);
  } catch (error) {
    throw new CommandFailure(`${where} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
