import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CommandFailure } from './command-failure.ts';

/**
 * Reads a text file unchanged, without a byte order mark. `-` is standard input. Fails if it is not UTF-8: a text with
 * replacement characters would be stored and sent to a model without anybody noticing.
 */
export async function readInput(path: string, signal: AbortSignal): Promise<string> {
  if (path === '-') return readStdin(signal);
  let bytes: Buffer;
  try {
    bytes = await readFile(path, { signal });
  } catch (error) {
    throw new CommandFailure(`Cannot read ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return decode(bytes, path);
}

export async function readStdin(signal: AbortSignal): Promise<string> {
  return decode(await buffer(addAbortSignal(signal, process.stdin)), 'standard input');
}

/** Reads a secret from standard input, without the trailing newline. */
export async function readSecretLine(signal: AbortSignal): Promise<string> {
  return (await readStdin(signal)).replace(/\r?\n$/, '');
}

function decode(bytes: Buffer, name: string): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const offset = invalidOffset(bytes);
  const byte = bytes[offset]?.toString(16).padStart(2, '0');
  throw new CommandFailure(
    `Cannot read ${name}: it is not UTF-8. The byte at offset ${offset} is 0x${byte}. Save it as UTF-8.`,
  );
}

/** Where the first invalid sequence begins: up to there, decoding and encoding changes nothing. */
function invalidOffset(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'));
  const changed = bytes.findIndex((byte, index) => byte !== again[index]);
  let offset = changed < 0 ? bytes.length : changed;
  // The replacement character may begin with the same bytes.
  while (!isUtf8(bytes.subarray(0, offset))) offset--;
  return offset;
}
