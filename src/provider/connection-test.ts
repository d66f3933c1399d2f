import { ModelFailure } from '../core/model/model-port.ts';
import type { ProviderKind } from '../core/model/provider.ts';
import { toFailure } from './failure.ts';
import { generate } from './generate.ts';
import { languageModel } from './language-model.ts';
import type { Connection } from './settings.ts';

/**
 * Tests whether a provider is reachable and accepts the credential, at no cost and without running a model: it requests
 * the list of models. Throws a `ModelFailure` otherwise.
 *
 * Bedrock has no such list at its runtime address and signs its calls. There, a model that does not exist is called: to
 * report that, Bedrock must have accepted the credential.
 */
export async function testConnection(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  timeoutMs: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const test = connection.kind === 'bedrock' ? callNoModel : readModels;
  await test(connection, fetch, signal).catch((error: unknown) => {
    if (signal.aborted) throw tooSlow(timeoutMs);
    throw toFailure(error, secretsOf(connection), Date.now());
  });
}

async function readModels(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<void> {
  const { baseURL } = connection;
  const response = await fetch(`${baseURL}${listPath(connection)}`, {
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
function listPath({ kind, baseURL }: Connection): string {
  if (URL.parse(baseURL)?.hostname === 'openrouter.ai') return '/key';
  return listPaths[kind] ?? '/models';
}

const listPaths: Readonly<Partial<Record<ProviderKind, string>>> = {
  anthropic: '/models?limit=1',
  google: '/models?pageSize=1',
  azure: '/models?api-version=v1',
};

function credentialHeaders({ kind, apiKey }: Connection): Record<string, string> {
  if (!apiKey) return {};
  switch (kind) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
    case 'google':
      return { 'x-goog-api-key': apiKey };
    case 'azure':
      return { 'api-key': apiKey };
    default:
      return { authorization: `Bearer ${apiKey}` };
  }
}

function secretsOf({ apiKey }: Connection): string[] {
  return apiKey ? [apiKey] : [];
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
