import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CommandFailure } from './failure.ts';

/** Reads a file unchanged. `-` is standard input. */
export async function readInput(path: string, signal: AbortSignal): Promise<string> {
  if (path === '-') return readStdin(signal);
  try {
    return await readFile(path, { encoding: 'utf8', signal });
  } catch (error) {
    throw new CommandFailure(`Cannot read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export function readStdin(signal: AbortSignal): Promise<string> {
  return text(addAbortSignal(signal, process.stdin));
}

/** Reads a secret from standard input, without the trailing newline. */
export async function readSecretLine(signal: AbortSignal): Promise<string> {
  return (await readStdin(signal)).replace(/\r?\n$/, '');
}
