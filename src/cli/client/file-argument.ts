import { readFile } from 'node:fs/promises';
import { typeOfBytes, typeOfPath } from '../../models/request/media-types.ts';
import { CommandFailure } from './command-failure.ts';

/** The value of `--file name=…`: `@` and the path of a file, which becomes a data URL, or an https URL. */
export async function fileValue(name: string, given: string, signal: AbortSignal): Promise<string> {
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
