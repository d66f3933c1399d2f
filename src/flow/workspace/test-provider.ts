import { CallFailure, type ExecutionErrorCode } from '../../core/failure.ts';
import { ModelFailure, type TestConnection } from '../../core/model/model-port.ts';
import type { Db } from '../../store/connection/database.ts';
import { findStoredProvider } from '../../store/people/providers.ts';

/** What a test of a connection came to. `message` is public text, with no secret in it. */
export type ConnectionTested =
  | { readonly ok: true; readonly latencyMs: number }
  | {
      readonly ok: false;
      readonly error: { readonly code: ExecutionErrorCode; readonly message: string };
    };

/**
 * Asks a provider of the workspace whether it takes the stored credential. It is no execution: it spends no AI Action,
 * leaves no record, and no run hears of it.
 */
export async function testProvider(
  deps: { readonly db: Db; readonly testConnection: TestConnection },
  workspaceId: string,
  name: string,
): Promise<ConnectionTested> {
  const stored = await findStoredProvider(deps.db, workspaceId, name);
  if (!stored) throw noSuchProvider();
  const begun = performance.now();
  try {
    await deps.testConnection(workspaceId, name, stored);
    return { ok: true, latencyMs: Math.round(performance.now() - begun) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { ok: false, error: { code: error.code, message: error.message } };
  }
}

export function noSuchProvider(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such provider.');
}
