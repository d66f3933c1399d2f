/** What is sent over one connection, and what may come back. */

export interface Attack {
  /** A description for the report of a violation. */
  readonly what: string;
  readonly requests: readonly Sent[];
  /** How the sender behaves once all is sent: reads on, ends its side, is gone, or resets the connection. */
  readonly afterwards: 'read' | 'half-close' | 'abort' | 'reset';
  /** Between the pieces of a request, in milliseconds. */
  readonly pauseMs: number;
}

export interface Sent {
  readonly pieces: readonly Buffer[];
  /** `HEAD` is answered without the body that its headers announce. */
  readonly method: string;
  /** Whether it is HTTP, and all of it: then there must be an answer. */
  readonly whole: boolean;
  /** The only status that is right; null where several are. */
  readonly status: number | null;
}

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One whole request in one piece. */
export function request(
  method: string,
  target: string,
  headers: readonly string[],
  body: Buffer | null,
  more: Partial<Sent> = {},
): Sent {
  const length = body === null ? [] : [`Content-Length: ${body.length}`];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: x', ...headers, ...length, '', ''];
  const pieces = [Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), body ?? Buffer.of()])];
  return { pieces, method, whole: true, status: null, ...more };
}

/** Bytes as they are: nothing need come back, but what does must be in form. */
export function bytes(text: string | Buffer, method = 'GET', more: Partial<Sent> = {}): Sent {
  const pieces = [typeof text === 'string' ? Buffer.from(text, 'latin1') : text];
  return { pieces, method, whole: false, status: null, ...more };
}

/** What there is to be called, as wire ids. */
export interface Targets {
  readonly key: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly apiKeyId: string;
  readonly userId: string;
}

export function bearer({ key }: Targets): string {
  return `Authorization: Bearer ${key}`;
}

export const json = 'Content-Type: application/json';

export function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
