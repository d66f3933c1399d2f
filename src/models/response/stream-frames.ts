import { EventStreamCodec } from '@smithy/eventstream-codec';
import { parseLeniently } from './lenient-json.ts';

/**
 * Splits a streamed body into its events, however its pieces are cut: server-sent events, lines of JSON (Ollama), the
 * binary event stream of AWS.
 */
export interface StreamFrames {
  /** The events that this piece completes; `undefined` for one that cannot be read. */
  push(bytes: Uint8Array): unknown[];
  /** The last event, which may lack its end. */
  end(): unknown[];
  /** Whether the body says by itself that it is complete. */
  readonly done: boolean;
  /** The body as text, if it is no stream at all. */
  readonly whole: string | null;
}

export function serverSentEvents(): StreamFrames {
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = '';
  let body = '';
  let isStream: boolean | null = null;
  let done = false;

  function endEvent(): unknown[] {
    const data = lines.join('\n').trim();
    lines = [];
    if (data === '[DONE]') done = true;
    return data === '' || data === '[DONE]' ? [] : [parseLeniently(data)];
  }

  function readLine(line: string): unknown[] {
    if (line === '') return endEvent();
    if (line.startsWith('data:')) lines.push(line.slice('data:'.length).replace(/^ /, ''));
    return [];
  }

  function read(text: string, isEnd: boolean): unknown[] {
    rest += text;
    // The line break after a carriage return may be in the next piece.
    const complete = isEnd ? rest : rest.replace(/\r$/, '');
    const found = complete.split(/\r\n|\r|\n/);
    const last = found.pop() ?? '';
    rest = last + rest.slice(complete.length);
    const events: unknown[] = [];
    for (const line of found) {
      if (isStream === null && line !== '' && !line.startsWith(':')) isStream = isField(line);
      if (isStream) events.push(...readLine(line));
      else if (isStream === false) body += `${line}\n`;
    }
    return events;
  }

  return {
    push: (bytes) => read(decoder.decode(bytes, { stream: true }), false),
    end() {
      const text = `${decoder.decode()}\n`;
      const events = read(text, true);
      return isStream ? [...events, ...endEvent()] : [];
    },
    get done() {
      return done;
    },
    get whole() {
      return isStream ? null : body;
    },
  };
}

function isField(line: string): boolean {
  return /^(data|event|id|retry):/.test(line);
}

/** The body is also returned as it is: `ollama.ts` reads it. A line that is not JSON is part of something else. */
export function jsonLines(): StreamFrames {
  const decoder = new TextDecoder();
  let body = '';
  let readTo = 0;

  function read(): unknown[] {
    const end = body.lastIndexOf('\n');
    if (end < readTo) return [];
    const lines = body.slice(readTo, end).split('\n');
    readTo = end + 1;
    return lines.flatMap((line) => (line.trim() === '' ? [] : (parseLeniently(line) ?? [])));
  }

  return {
    push(bytes) {
      body += decoder.decode(bytes, { stream: true });
      return read();
    },
    end() {
      body += `${decoder.decode()}\n`;
      return read();
    },
    done: false,
    get whole() {
      return body;
    },
  };
}

/** @throws if a frame is corrupt */
export function awsEvents(): StreamFrames {
  const codec = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
    (text) => Buffer.from(text),
  );
  let rest: Uint8Array = new Uint8Array();
  return {
    push(bytes) {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
      const events: unknown[] = [];
      let at = 0;
      while (all.length - at >= lengthBytes) {
        const length = view.getUint32(at);
        if (length < frameBytesMin) throw new Error('A frame of the event stream is too short.');
        if (all.length - at < length) break;
        const { headers, body } = codec.decode(all.subarray(at, at + length));
        events.push(...awsEvent(headers, Buffer.from(body).toString()));
        at += length;
      }
      rest = all.slice(at);
      return events;
    },
    end: () => [],
    done: false,
    whole: null,
  };
}

const lengthBytes = 4;
/** Prelude and checksums. */
const frameBytesMin = 16;

function awsEvent(
  headers: Record<string, { value: unknown } | undefined>,
  body: string,
): unknown[] {
  const event = headers[':event-type']?.value;
  const exception = headers[':exception-type']?.value;
  const value = parseLeniently(body);
  if (typeof exception === 'string') return [{ error: { type: exception, ...Object(value) } }];
  return typeof event === 'string' ? [value === undefined ? value : { [event]: value }] : [];
}
