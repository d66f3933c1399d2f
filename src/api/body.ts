import type { IncomingMessage } from 'node:http';
import { bodyBytesMax } from '../contract/limits.ts';
import { CallFailure } from '../core/failure.ts';
import { changedNumber, depth, isStorable, jsonDepthMax } from '../core/json.ts';

/** Bodies, read by hand: on execute even a broken one must travel on as a value, up to the limiter. */
export type RawBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-large' | 'unsupported' | 'malformed'; readonly message: string };

const json = /^application\/json\s*(;|$)/i;
const otherCharset = /;\s*charset\s*=(?!\s*(utf-8|"utf-8")\s*(;|$))/i;

export async function readBody(request: IncomingMessage): Promise<RawBody> {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  if (length === undefined && request.headers['transfer-encoding'] === undefined)
    return { kind: 'none' };
  if (Number(length ?? 0) > bodyBytesMax) return tooLarge;
  const bytes = await readBytes(request);
  if (bytes === null) return tooLarge;
  if (bytes.length === 0) return { kind: 'none' };
  if (!isJson(request) || (encoding ?? 'identity') !== 'identity') {
    return {
      kind: 'unsupported',
      message: 'The body must be application/json, in UTF-8 and not encoded.',
    };
  }
  try {
    return { kind: 'text', text: decoder.decode(bytes) };
  } catch {
    return { kind: 'malformed', message: 'The body is not valid UTF-8.' };
  }
}

/** All that is sent, or null where that is too much. By events: an iterator costs more than the rest of a request. */
function readBytes(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > bodyBytesMax) {
        request.pause();
        return resolve(null);
      }
      chunks.push(chunk);
    });
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks)),
    );
    const cutOff = () => {
      if (request.complete) return;
      reject(new CallFailure('MALFORMED_BODY', 'The body was cut off.'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}

/** By the headers as they came: the server takes the type out of the others, see there. */
function isJson({ rawHeaders }: IncomingMessage): boolean {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && /^content-type$/i.test(name));
  const type = at < 0 ? '' : (rawHeaders[at + 1] ?? '');
  return json.test(type) && !otherCharset.test(type);
}

/** A management body as a value; anything wrong with it is thrown. */
export function parseBody(raw: RawBody): unknown {
  switch (raw.kind) {
    case 'none':
      return undefined;
    case 'too-large':
      throw new CallFailure('BODY_TOO_LARGE', raw.message);
    case 'unsupported':
      throw new CallFailure('UNSUPPORTED_MEDIA_TYPE', raw.message);
    case 'malformed':
      throw new CallFailure('MALFORMED_BODY', raw.message);
    case 'text':
      return parse(raw.text);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

const tooLarge: RawBody = {
  kind: 'too-large',
  message: `The body is larger than ${bodyBytesMax} bytes.`,
};

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CallFailure('MALFORMED_BODY', 'The body is not valid JSON.');
  }
  if (!isStorable(text)) {
    throw new CallFailure(
      'INVALID_REQUEST',
      'The body holds a NUL or a lone surrogate, which cannot be stored.',
    );
  }
  if (depth(text) > jsonDepthMax) {
    throw new CallFailure('INVALID_REQUEST', `The body nests deeper than ${jsonDepthMax} levels.`);
  }
  const changed = changedNumber(text);
  if (changed !== null) {
    const shown = changed.length > shownCharsMax ? `${changed.slice(0, shownCharsMax)}…` : changed;
    const message = `The number ${shown} would be stored as another one. Send it as a text, or with fewer digits.`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  return value;
}

/** Of a number in a message. */
const shownCharsMax = 40;
