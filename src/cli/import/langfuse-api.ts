import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterMs } from '../../client/client-attempt.ts';
import { isObject } from '../../core/is-object.ts';
import { CommandFailure } from '../client/command-failure.ts';

/** The public API of Langfuse: prompts and their versions. Requests are sent one after another. */

export interface LangfuseConnection {
  readonly url: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** `key` is both keys, with a colon between. */
export interface GivenLangfuse {
  readonly url: string;
  readonly key?: string;
  readonly publicKey?: string;
  readonly secretKey?: string;
}

export interface LangfusePrompt {
  readonly name: string;
  readonly versions: readonly number[];
}

/** Until the response is read. */
const requestMsMax = 30_000;
const responseBytesMax = 16_777_216;
/** After failures that pass: a rate limit, a busy server, a lost connection. */
const attemptsMax = 5;
const backoffMsFirst = 500;
/** A longer wait is left to the user. */
const retryAfterMsMax = 60_000;
/** As many as Langfuse allows. */
const pageItems = 100;
const pagesMax = 1_000;

type ReadJson = (path: string) => Promise<unknown>;

/** @throws {CommandFailure} if the URL or the key has another form */
export function langfuseConnection(given: GivenLangfuse): LangfuseConnection {
  const { url, key = `${given.publicKey ?? ''}:${given.secretKey ?? ''}` } = given;
  const at = key.indexOf(':');
  const [publicKey, secretKey] = [key.slice(0, at).trim(), key.slice(at + 1).trim()];
  if (at < 0 || publicKey === '' || secretKey === '') {
    throw new CommandFailure(
      'The key must be PUBLIC:SECRET, such as pk-lf-…:sk-lf-…. Set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY, or pass --key.',
    );
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandFailure('The URL must begin with https:// or http://.');
  }
  const base = url.replace(/\/+$/, '').replace(/\/api\/public(\/v2)?$/, '');
  return { url: base, publicKey, secretKey };
}

/** All prompts with the numbers of their versions. */
export async function listPrompts(read: ReadJson): Promise<LangfusePrompt[]> {
  const prompts: LangfusePrompt[] = [];
  for (let page = 1; page <= pagesMax; page++) {
    const body = await read(`/api/public/v2/prompts?page=${page}&limit=${pageItems}`);
    const { data, meta } = isObject(body) ? body : {};
    if (!Array.isArray(data)) throw unexpected('a list of prompts');
    for (const item of data) {
      if (!isListed(item)) throw unexpected('a prompt with its versions');
      prompts.push({ name: item.name, versions: item.versions.toSorted((a, b) => a - b) });
    }
    const totalPages = isObject(meta) ? Number(meta.totalPages) : Number.NaN;
    if (Number.isNaN(totalPages) ? data.length < pageItems : page >= totalPages) return prompts;
  }
  throw new CommandFailure(`Langfuse has more than ${pagesMax} pages of prompts.`);
}

/** One version, with the tags of other prompts in it replaced by their texts, as Langfuse serves it. */
export async function readVersion(
  read: ReadJson,
  name: string,
  version: number,
): Promise<object | null> {
  const path = `/api/public/v2/prompts/${encodeURIComponent(name)}?version=${version}`;
  const body = await read(path);
  if (body === null) return null;
  if (!isObject(body) || !('prompt' in body)) throw unexpected(`version ${version} of "${name}"`);
  return body;
}

function isListed(item: unknown): item is LangfusePrompt {
  if (!isObject(item) || typeof item.name !== 'string') return false;
  return Array.isArray(item.versions) && item.versions.every(Number.isInteger);
}

/** Reads JSON with retries. A version that does not exist any more is `null`. */
export function langfuseReader(connection: LangfuseConnection, signal: AbortSignal): ReadJson {
  return async (path) => {
    for (let attempt = 1; ; attempt++) {
      const result = await attemptRead(connection, path, signal);
      if ('body' in result) return result.body;
      const { problem, waitMs = backoffMsFirst * 2 ** (attempt - 1) } = result;
      if (attempt === attemptsMax || waitMs > retryAfterMsMax) {
        throw new CommandFailure(`${problem} Try again later.`);
      }
      await delay(waitMs, undefined, { signal });
    }
  };
}

type Result = { readonly body: unknown } | { readonly problem: string; readonly waitMs?: number };

async function attemptRead(
  { url, publicKey, secretKey }: LangfuseConnection,
  path: string,
  signal: AbortSignal,
): Promise<Result> {
  const credentials = Buffer.from(`${publicKey}:${secretKey}`).toString('base64');
  const timeout = AbortSignal.timeout(requestMsMax);
  try {
    const response = await fetch(url + path, {
      headers: { accept: 'application/json', authorization: `Basic ${credentials}` },
      // The key must not travel to another address.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      const problem = `${url} responds with ${response.status}.`;
      const waitMs = retryAfterMs(response.headers);
      return { problem, ...(waitMs !== null && { waitMs }) };
    }
    return { body: await readBody(response, url, path) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CommandFailure) throw error;
    const { cause, message } = error as Error & { cause?: { message?: string } };
    const reason = timeout.aborted
      ? `no response within ${requestMsMax} ms`
      : (cause?.message ?? message);
    return { problem: `Cannot read ${url}: ${reason}.` };
  }
}

async function readBody(response: Response, url: string, path: string): Promise<unknown> {
  const { status } = response;
  if (status === 401 || status === 403) {
    throw new CommandFailure(
      `${url} refuses the key (${status}). Use PUBLIC:SECRET of the project whose prompts you import.`,
    );
  }
  if (status === 404 && /\?version=/.test(path)) return null;
  if (status !== 200) {
    throw new CommandFailure(
      `${url} responds with ${status} to ${path.split('?')[0]}. Check that the URL is that of a Langfuse server of version 3 or later.`,
    );
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > responseBytesMax) {
      throw new CommandFailure(`A response of ${url} has more than ${responseBytesMax} bytes.`);
    }
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw unexpected('JSON');
  }
}

function unexpected(what: string): CommandFailure {
  return new CommandFailure(`The response is not ${what}, as Langfuse sends it. Check the URL.`);
}
