import { type ExecutionErrorCode, invalidRequest, notFound } from '../../../core/failure.ts';
import {
  type Exchange,
  isModelName,
  ModelFailure,
  type ProviderDirectory,
  type TestConnection,
} from '../../../core/model/model-port.ts';
import type { ListedPrice } from '../../../core/model/price.ts';
import { isProviderName, type StoredProvider } from '../../../core/model/provider.ts';
import type { Actor } from '../../../core/people/audit.ts';
import type { Db } from '../../../db/database.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { findStoredProvider } from '../statements/providers.ts';

/** The result of a connection test, public and without secrets. The exchange is that of a called model. */
export interface ConnectionTested extends Partial<Exchange> {
  readonly ok: boolean;
  readonly latencyMs?: number;
  readonly error?: { readonly code: ExecutionErrorCode; readonly message: string };
}

/**
 * Tests the stored credential of a provider with a request to it, or calls one of its models. Neither is an execution:
 * it spends no AI Action and leaves no record.
 *
 * @param given as an agent has it, or only the part after the provider's name
 */
export async function testProvider(
  deps: { readonly db: Db; readonly testConnection: TestConnection },
  actor: Actor,
  name: string,
  given: string | null,
): Promise<ConnectionTested> {
  const stored = await findStoredProvider(deps.db, actor.workspaceId, name);
  if (!stored) throw notFound('provider');
  const model = given?.startsWith(`${name}/`) ? given.slice(name.length + 1) : given;
  if (model !== null && !isModelName(`${name}/${model}`)) {
    throw invalidRequest('Field "model" must be the name of a model, without spaces.');
  }
  const test = () => deps.testConnection(actor.workspaceId, name, stored, model);
  const tested = await runTest(test);
  const { ok, error } = tested;
  const details = { ...(model !== null && { model }), ok, ...(error && { code: error.code }) };
  await writeAudit(deps.db, actor, { action: 'provider.test', subject: name, details });
  return tested;
}

/** The models that a provider of the workspace or of the environment lists, or why it did not. */
export async function listProviderModels(
  deps: { readonly db: Db; readonly directory: ProviderDirectory },
  workspaceId: string,
  name: string,
): Promise<{ readonly models: string[]; readonly error?: ConnectionTested['error'] }> {
  const stored = await findUsableProvider(deps, workspaceId, name);
  try {
    const models = await deps.directory.listModels(workspaceId, name, stored);
    return { models: models.map((model) => `${name}/${model}`).filter(isModelName) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { models: [], error: publicError(error) };
  }
}

/** The built-in prices of the models of a provider of the workspace or of the environment. */
export async function listBuiltInPrices(
  deps: { readonly db: Db; readonly directory: ProviderDirectory },
  workspaceId: string,
  name: string,
): Promise<ListedPrice[]> {
  const stored = await findUsableProvider(deps, workspaceId, name);
  return deps.directory
    .listedPrices(workspaceId, name, stored)
    .map(({ model, ...price }) => ({ model: `${name}/${model}`, ...price }));
}

/** Null: the provider of this name from the environment. */
async function findUsableProvider(
  { db, directory }: { readonly db: Db; readonly directory: ProviderDirectory },
  workspaceId: string,
  name: string,
): Promise<StoredProvider | null> {
  const stored = isProviderName(name) ? await findStoredProvider(db, workspaceId, name) : null;
  if (stored || name === 'ollama' || directory.environment.some(named(name))) return stored;
  throw notFound('provider');
}

const named = (name: string) => (provider: { readonly name: string }) => provider.name === name;

async function runTest(test: () => ReturnType<TestConnection>): Promise<ConnectionTested> {
  const startedAt = performance.now();
  try {
    const tried = await test();
    if (!tried) return { ok: true, latencyMs: Math.round(performance.now() - startedAt) };
    const { failure, ...rest } = tried;
    return { ok: failure === null, ...rest, ...(failure && { error: publicError(failure) }) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { ok: false, error: publicError(error) };
  }
}

function publicError({ code, message }: ModelFailure) {
  return { code, message };
}
