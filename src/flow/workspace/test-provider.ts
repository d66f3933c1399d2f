import { type ExecutionErrorCode, notFound } from '../../core/failure.ts';
import { ModelFailure, type TestConnection } from '../../core/model/model-port.ts';
import type { Db } from '../../store/connection/database.ts';
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
  workspaceId: string,
  name: string,
): Promise<ConnectionTested> {
  const stored = await findStoredProvider(deps.db, workspaceId, name);
  if (!stored) throw notFound('provider');
  const startedAt = performance.now();
  try {
    await deps.testConnection(workspaceId, name, stored);
    return { ok: true, latencyMs: Math.round(performance.now() - startedAt) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { ok: false, error: { code: error.code, message: error.message } };
  }
}
