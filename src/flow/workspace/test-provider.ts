import { type ExecutionErrorCode, notFound } from '../../core/failure.ts';
import { ModelFailure, type TestConnection } from '../../core/model/model-port.ts';
import type { Actor } from '../../core/people/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { findStoredProvider } from '../../store/people/providers.ts';

/** The result of a connection test. `message` is public and contains no secret. */
export type ConnectionTested =
  | { readonly ok: true; readonly latencyMs: number }
  | {
      readonly ok: false;
      readonly error: { readonly code: ExecutionErrorCode; readonly message: string };
    };

/**
 * Tests the stored credential of a provider with a request to it. It is not an execution: it spends no AI Action and
 * leaves no record.
 */
export async function testProvider(
  deps: { readonly db: Db; readonly testConnection: TestConnection },
  actor: Actor,
  name: string,
): Promise<ConnectionTested> {
  const stored = await findStoredProvider(deps.db, actor.workspaceId, name);
  if (!stored) throw notFound('provider');
  const test = () => deps.testConnection(actor.workspaceId, name, stored);
  const tested = await runTest(test);
  const details = { ok: tested.ok, ...(!tested.ok && { code: tested.error.code }) };
  await writeAudit(deps.db, actor, { action: 'provider.test', subject: name, details });
  return tested;
}

async function runTest(test: () => Promise<void>): Promise<ConnectionTested> {
  const startedAt = performance.now();
  try {
    await test();
    return { ok: true, latencyMs: Math.round(performance.now() - startedAt) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { ok: false, error: { code: error.code, message: error.message } };
  }
}
