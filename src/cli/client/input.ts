import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandFailure } from './failure.ts';

/** The text of a file, to the letter; `-` is standard input. */
export async function readInput(path: string, signal: AbortSignal): Promise<string> {
  if (path === '-') return readStdin(signal);
  try {
    return await readFile(path, { encoding: 'utf8', signal });
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export function readStdin(signal: AbortSignal): Promise<string> {
  return text(addAbortSignal(signal, process.stdin));
}

/** A secret as one types or pipes it: without the end of the line. */
export async function readSecretLine(signal: AbortSignal): Promise<string> {
  return (await readStdin(signal)).replace(/\r?\n$/, '');
}
