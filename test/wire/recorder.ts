import { setTimeout as wait } from 'node:timers/promises';

/** The responses of one server, with the same text for the same ids, times and secrets whenever it is recorded. */
export interface Recording {
  readonly responses: readonly string[];
  /** Calls with these headers. `name` tells the callers apart in the recording. */
  caller(name: string, credentials: Readonly<Record<string, string>>): RecordedCaller;
}

export interface RecordedCaller {
  /** Records the response and returns its body: parsed JSON, or the text. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads any field
  call(request: string, options?: RecordedCall): Promise<any>;
  /** Repeats a call, without recording it, until its body meets the condition. Fails after two minutes. */
  // biome-ignore lint/suspicious/noExplicitAny: a scenario reads any field
  until(request: string, isMet: (body: any) => boolean): Promise<void>;
}

export interface RecordedCall {
  /** Sent as JSON, a text as it is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const untilMs = 120_000;
/** Headers that describe the resource or the response. Others belong to the connection, or tell the time. */
const recordedHeaders = [
  ...['content-type', 'location', 'etag', 'content-disposition', 'link', 'allow', 'cache-control'],
  ...['www-authenticate', 'vary', 'idempotent-replayed', 'access-control-allow-origin'],
  ...['access-control-allow-methods', 'access-control-allow-headers', 'access-control-max-age'],
  ...['access-control-allow-credentials', 'access-control-expose-headers'],
];
/** Their values tell the time. */
const presentHeaders = ['retry-after'];

/** `origins` are replaced by their names. */
export function createRecording(url: string, origins: Readonly<Record<string, string>>): Recording {
  const responses: string[] = [];
  const aliasOf = createAliases();
  const readable = (text: string) => {
    const named = Object.entries(origins).reduce(
      (partial, [name, origin]) => partial.replaceAll(origin, name),
      text,
    );
    return withoutChance(named, aliasOf);
  };
  return {
    responses,
    caller(name, credentials) {
      const send = (request: string, { body, headers }: RecordedCall = {}) => {
        const [method = '', path = ''] = request.split(' ');
        const isRaw = body === undefined || typeof body === 'string';
        return fetch(url + path, {
          ...{ method, redirect: 'manual' },
          headers: {
            ...credentials,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
        });
      };
      return {
        async call(request, options) {
          const response = await send(request, options);
          const text = await response.text();
          const sent = options?.body === undefined ? '' : ` ${JSON.stringify(options.body)}`;
          const headers = recordedHeaders.flatMap((header) => {
            const value = response.headers.get(header);
            return value === null ? [] : [`${header}: ${value}`];
          });
          const present = presentHeaders.filter((header) => response.headers.has(header));
          const status = `${response.status}`;
          const lines = [`${name}: ${request}${sent}`, status, ...headers, ...present, text, ''];
          responses.push(readable(lines.join('\n')));
          const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
          return isJson && text !== '' ? JSON.parse(text) : text;
        },
        async until(request, isMet) {
          const endAt = performance.now() + untilMs;
          for (;;) {
            const response = await send(request);
            const text = await response.text();
            if (response.ok && isMet(JSON.parse(text))) return;
            if (performance.now() > endAt)
              throw new Error(`${request}: ${response.status} ${text}`);
            await wait(20);
          }
        },
      };
    },
  };
}

function createAliases(): (value: string, kind: string) => string {
  const aliases = new Map<string, string>();
  const counts = new Map<string, number>();
  return (value, kind) => {
    const known = aliases.get(value);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    aliases.set(value, `<${kind} ${count}>`);
    return `<${kind} ${count}>`;
  };
}

/** What differs between two recordings of the same state: ids, times, durations, secrets. */
const chance: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['id', /(?<![0-9A-Za-z])[a-z]{3,8}_[0-9a-hjkmnp-tv-z]{26}(?![0-9A-Za-z])/g],
  ['uuid', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g],
  ['hex', /(?<![0-9A-Za-z])[0-9a-f]{24,64}(?![0-9A-Za-z])/g],
  ['secret', /\b(?:cue|whsec|sk)_[\w+/=-]{6,}/g],
  ['token', /(?<=\/invitations\/(?:by-token\/)?|"token":")[\w-]{30,}/g],
  ['cursor', /(?<="nextCursor":"|"cursor":"|[?&]cursor=)[\w%-]{8,}/g],
];
const times: readonly (readonly [text: string, pattern: RegExp])[] = [
  ['<time>', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)/g],
  ['<date>', /\d{4}-\d\d-\d\d|(?<=_)20\d{6}(?=\.)/g],
  ['<clock>', /\b\d\d:\d\d:\d\d\b/g],
  // Of a response in the background.
  ['"<running>"', /(?<="status":)"(?:queued|in_progress)"/g],
  // An alert is evaluated within a minute of its creation.
  ['"<no firing>"', /(?<="state":)"(?:ok|no_data)"/g],
  ['"<time>"', /(?<="evaluatedAt":)null/g],
  ['<epoch>', /\b1[789]\d{8}(?:\.\d+)?\b/g],
  ['<ms>', /(?<="\w*(?:Ms|ms|Seconds|p50|p95|p99)"+:)\d+(?:\.\d+)?/g],
  // The column of a CSV file that follows the time of completion.
  ['<ms>', /(?<="<time>",)\d+(?=,)/g],
];

function withoutChance(text: string, aliasOf: (value: string, kind: string) => string): string {
  const named = chance.reduce(
    (partial, [kind, pattern]) => partial.replace(pattern, (value) => aliasOf(value, kind)),
    text,
  );
  return times.reduce((partial, [alias, pattern]) => partial.replace(pattern, alias), named);
}
