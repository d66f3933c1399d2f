import { ModelFailure, type TriedCall } from '../core/model/model-port.ts';
import type { ProviderKind } from '../core/model/provider.ts';
import { credentialHeader } from '../core/model/request-extras.ts';
import { languageModel } from './adapters/language-model.ts';
import { azureListURL } from './connection/azure.ts';
import { withChain } from './connection/chain-tokens.ts';
import type { Connection } from './connection/provider-connection.ts';
import { isOwnOllamaAPI, secretsOf } from './connection/settings.ts';
import { recordExchange } from './exchange.ts';
import { toFailure } from './failure/model-failure.ts';
import { generate } from './generate.ts';
import { extendRequests } from './request/extend-request.ts';

/**
 * Tests whether a provider is reachable and accepts the credential, at no cost and without running a model: it requests
 * the list of models. Throws a `ModelFailure` otherwise.
 *
 * Bedrock has no such list at its runtime address and signs its calls, and Vertex has none below a project. There, a
 * model that does not exist is called: to report that, they must have accepted the credential.
 */
export async function testConnection(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  timeoutMs: number,
): Promise<void> {
  await inTime<unknown>(connection, timeoutMs, (signal) =>
    hasNoList(connection)
      ? callNoModel(connection, fetch, signal)
      : readList(connection, fetch, signal, listURL(connection)),
  );
}

async function inTime<T>(
  connection: Connection,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? tooSlow(timeoutMs) : toFailure(error, secretsOf(connection), Date.now());
  }
}

function hasNoList({ kind, auth }: Connection): boolean {
  return kind === 'bedrock' || (kind === 'google' && auth === 'chain');
}

/** The most names that a page can suggest. */
const modelsMax = 1_000;

/** The names in the provider's own list of models; empty if it has none. Throws a `ModelFailure`. */
export async function listModels(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  timeoutMs: number,
): Promise<string[]> {
  if (hasNoList(connection)) return [];
  const text = await inTime(connection, timeoutMs, (signal) =>
    readList(connection, fetch, signal, wholeListURL(connection)),
  );
  return namesIn(JSON.parse(text)).slice(0, modelsMax).sort();
}

/** `data[].id` as at OpenAI and Anthropic, `models[].name` as at Google and Ollama. */
function namesIn(list: unknown): string[] {
  const { data, models } = list as { readonly data?: unknown; readonly models?: unknown };
  const entries: unknown[] = [data, models].find(Array.isArray) ?? [];
  return entries.flatMap((entry) => {
    const { id, name } = (entry ?? {}) as { readonly id?: unknown; readonly name?: unknown };
    const text = typeof id === 'string' ? id : name;
    return typeof text === 'string' ? [text.replace(/^models\//, '')] : [];
  });
}

/** The provider's answer, a JSON object or list. */
async function readList(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
  url: string,
): Promise<string> {
  const { baseURL } = connection;
  const authorized = connection.auth === 'chain' ? withChain(fetch, connection) : fetch;
  const response = await extendRequests(authorized, connection)(url, {
    headers: credentialHeaders(connection),
    signal,
  });
  const text = await response.text();
  if (response.status === 404) throw noList(baseURL);
  // An HTML page, or an error with a success status.
  if (!response.ok || !isList(text)) {
    const responseHeaders = Object.fromEntries(response.headers);
    const error = { statusCode: response.status, responseHeaders, responseBody: text };
    throw toFailure(error, secretsOf(connection), Date.now());
  }
  return text;
}

/** One small call of a model, with the request and the response to show. Throws nothing. */
export async function tryModel(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  timeoutMs: number,
  call: (fetch: typeof globalThis.fetch, signal: AbortSignal) => Promise<unknown>,
): Promise<TriedCall> {
  const recorder = recordExchange(fetch);
  const startedAt = performance.now();
  const failure = await inTime(connection, timeoutMs, (signal) =>
    call(recorder.fetch, signal),
  ).then(
    () => null,
    (error: ModelFailure) => error,
  );
  const latencyMs = Math.round(performance.now() - startedAt);
  const exchange = recorder.shown(connection) ?? { request: null, answer: null };
  return { ...exchange, latencyMs, failure: isCut(failure) ? null : failure };
}

/** A model that reasons may need more than the tokens of a test before its first word: it did answer. */
function isCut(failure: ModelFailure | null): boolean {
  return failure?.code === 'EMPTY_OUTPUT' && failure.finishReason === 'length';
}

const noModel = 'cueline.connection-test';

async function callNoModel(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<void> {
  const settings = { system: null, temperature: null, maxTokens: 1, topP: null };
  try {
    await generate(
      await languageModel(connection, noModel, fetch),
      { user: 'Test', ...settings },
      signal,
    );
  } catch (error) {
    if (toFailure(error, [], Date.now()).code !== 'MODEL_NOT_FOUND') throw error;
  }
}

/** OpenRouter lists its models for anyone; the key endpoint requires the key. */
function listURL(connection: Connection): string {
  const { kind, baseURL } = connection;
  if (kind === 'azure') return azureListURL(connection);
  if (isOwnOllamaAPI(connection)) return `${baseURL}/api/tags`;
  if (URL.parse(baseURL)?.hostname === 'openrouter.ai') return `${baseURL}/key`;
  return `${baseURL}${listPaths[kind] ?? '/models'}`;
}

/** As many names as one page of the list has at most. */
function wholeListURL(connection: Connection): string {
  const { kind, baseURL } = connection;
  if (kind === 'anthropic') return `${baseURL}/models?limit=1000`;
  if (kind === 'google') return `${baseURL}/models?pageSize=1000`;
  const isRouter = URL.parse(baseURL)?.hostname === 'openrouter.ai';
  return isRouter ? `${baseURL}/models` : listURL(connection);
}

const listPaths: Readonly<Partial<Record<ProviderKind, string>>> = {
  anthropic: '/models?limit=1',
  google: '/models?pageSize=1',
};

function credentialHeaders({ kind, apiKey }: Connection): Record<string, string> {
  const name = credentialHeader(kind);
  return {
    ...(kind === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    ...(apiKey && { [name]: name === 'authorization' ? `Bearer ${apiKey}` : apiKey }),
  };
}

function isList(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !('error' in value);
  } catch {
    return false;
  }
}

/** The base URL contains no secret: the guard rejects users, queries and fragments. */
function noList(baseURL: string): ModelFailure {
  return new ModelFailure(
    'PROVIDER_ERROR',
    `The provider answered 404: ${baseURL} has no list of models. Is the base URL right?`,
    { retryable: false },
  );
}

function tooSlow(timeoutMs: number): ModelFailure {
  return new ModelFailure(
    'MODEL_TIMEOUT',
    `The provider did not answer within ${timeoutMs / 1_000} seconds.`,
  );
}
