import { setImmediate } from 'node:timers/promises';
import { type ContentFile, withFileValues } from '../../core/agent/content.ts';
import { readStoredFile, storedDataUrl } from '../../core/agent/file-value.ts';
import type { ModelCall } from '../../core/model/model-port.ts';
import { randomHex } from '../../core/random.ts';

/**
 * Long files stay out of a request until it is sent: a mark takes the place of each. The package of a provider writes its request
 * several times, as JSON, and what Cueline changes about it is read and written again: each time, 20 MiB take 50 ms of the event loop.
 *
 * A mark is base64, like the file, so it needs no escape in JSON. It cannot be guessed, so no other text of a prompt is taken for one.
 */

type Messages = Pick<ModelCall, 'messages'>;

const filesByMark = new Map<string, string>();
const markPattern = /cuelinefile\/[0-9a-f]{48}/g;

/** Runs `work` with the same call, but with a mark for each long file. */
export async function withMarkedFiles<Call extends Messages, Result>(
  call: Call,
  work: (call: Call) => Promise<Result>,
): Promise<Result> {
  const marks: string[] = [];
  const valueFor = ({ source: { value } }: ContentFile) => {
    const file = value.length > markedCharsMin ? readStoredFile(value) : null;
    if (!file || !isPassedOn(file.type)) return value;
    const mark = `cuelinefile/${randomHex(24)}`;
    marks.push(mark);
    filesByMark.set(mark, file.base64);
    return storedDataUrl({ ...file, base64: mark });
  };
  try {
    return await work({
      ...call,
      messages: call.messages && withFileValues(call.messages, valueFor),
    });
  } finally {
    for (const mark of marks) filesByMark.delete(mark);
  }
}

const markedCharsMin = 65_536;

/** Some packages decode texts, and find out the type of a file that has none. */
function isPassedOn(type: string): boolean {
  return !type.startsWith('text/') && !type.includes('*');
}

/** The same `fetch`, with the files themselves. */
export function sendMarkedFiles(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { body } = init;
    const isMarked =
      typeof body === 'string' && filesByMark.size > 0 && body.search(markPattern) >= 0;
    if (!isMarked) return fetch(input, init);
    // A turn of its own: what led here has read the files.
    await setImmediate();
    return fetch(input, { ...init, body: withFiles(body) });
  };
}

/** In bytes, because a text of this length would be copied once more to be sent. */
function withFiles(body: string): Uint8Array<ArrayBuffer> {
  const pieces: { readonly text: string; readonly isFile: boolean }[] = [];
  let from = 0;
  for (const { 0: mark, index } of body.matchAll(markPattern)) {
    const text = filesByMark.get(mark);
    if (text === undefined) continue;
    pieces.push({ text: body.slice(from, index), isFile: false }, { text, isFile: true });
    from = index + mark.length;
  }
  pieces.push({ text: body.slice(from), isFile: false });
  const length = pieces.reduce(
    (sum, { text, isFile }) => sum + (isFile ? text.length : Buffer.byteLength(text)),
    0,
  );
  const bytes = Buffer.from(new ArrayBuffer(length));
  let at = 0;
  for (const { text, isFile } of pieces) at += bytes.write(text, at, isFile ? 'latin1' : 'utf8');
  return bytes;
}
