import { readFile } from 'node:fs/promises';
import type { Variables } from '../../client/index.ts';
import { typeOfBytes, typeOfPath } from '../../models/request/media-types.ts';
import { CommandFailure } from './command-failure.ts';
import * as exactJson from './exact-json.ts';
import { readInput } from './input.ts';

export interface VariableOptions {
  /** Names and strings. */
  readonly var?: readonly [string, string][];
  /** Names and JSON values. */
  readonly varJson?: readonly [string, string][];
  /** File with a JSON object. `-` is standard input. */
  readonly varsFile?: string;
  /** Names and images or files: `@path` or an https URL. */
  readonly file?: readonly [string, string][];
  /** Names and JSON files with a list of messages. */
  readonly messages?: readonly [string, string][];
}

/** Merges all variables. Options override the file, and later options override earlier ones. */
export async function readVariables(
  { var: texts = [], varJson = [], varsFile, file: files = [], messages = [] }: VariableOptions,
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
    throw new CommandFailure(`${varsFile} must contain a JSON object.`);
  }
  const given: (readonly [string, unknown])[] = [...Object.entries(file), ...texts, ...named];
  for (const [name, path] of messages) {
    given.push([name, parse(await readInput(path.replace(/^@/, ''), signal), path)]);
  }
  for (const [name, value] of files) given.push([name, await fileValue(name, value, signal)]);
  return Object.fromEntries(given);
}

function parse(text: string, where: string): unknown {
  try {
    // Windows editors start a file with a byte order mark.
    return exactJson.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new CommandFailure(`${where} is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The value of `--file name=…`: `@` and the path of a file, which becomes a data URL, or an https URL. */
async function fileValue(name: string, given: string, signal: AbortSignal): Promise<string> {
  if (given.startsWith('https://')) return given;
  if (!given.startsWith('@')) {
    throw new CommandFailure(`--file ${name} needs @ and a path, or an https URL.`);
  }
  const path = given.slice(1);
  const bytes = await readFile(path, { signal }).catch((error: Error) => {
    throw new CommandFailure(`Cannot read ${path}: ${error.message}`, { cause: error });
  });
  if (bytes.length === 0) throw new CommandFailure(`${path} is empty.`);
  if (bytes.length > fileBytesMax) {
    const message = `${path} has ${bytes.length} bytes; a call can contain about ${fileBytesMax}. Give an https URL instead.`;
    throw new CommandFailure(message);
  }
  const type = typeOfBytes(bytes) ?? typeOfPath(path) ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** As base64 with the other variables, a body must stay below 1 MiB. */
const fileBytesMax = 750_000;
