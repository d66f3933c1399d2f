import { requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { ToolOutcome, ToolPort } from '../../../core/tools/tool-port.ts';
import { isOutbound, resultLimitMax } from '../../../core/tools/tool-server.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { readCalledTool } from '../../../engine/tools/called-tools.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import * as store from '../statements/tool-servers.ts';
import { requireToolServer, type ToolServer } from './change-tool-server.ts';

/** Calls that an owner makes to see whether a tool server works. They are no executions and leave no record. */

export interface TryDeps {
  readonly db: Db;
  readonly toolSender: ToolPort;
  /** Why a server does not answer, as public text; null if it does. */
  readonly reachToolServer: (url: string) => Promise<string | null>;
}

/** Asks whether the server answers at all. Declared tools have no other definition that theirs could differ from. */
export async function checkToolServer(
  { db, reachToolServer }: TryDeps,
  caller: Caller,
  id: string,
): Promise<ToolServer> {
  const { url } = await requireToolServer(db, caller, id);
  const problem = isOutbound(url) ? await reachToolServer(url) : null;
  return inTransaction(db, async (trx) => {
    requireFound(await store.lockToolServer(trx, caller.workspaceId, id), 'tool server');
    await store.writeCheck(trx, id, problem);
    await auditChange(trx, caller, 'toolServer.check', id, { ok: problem === null });
    return requireToolServer(trx, caller, id);
  });
}

export interface TriedCall {
  /** Stored. */
  readonly toolCallId: string;
  readonly outcome: ToolOutcome;
  readonly latencyMs: number;
}

/** Sends one real call, which may change something there. The audit log has it before it is sent. */
export async function tryTool(
  { db, toolSender }: TryDeps,
  caller: Caller,
  id: string,
  { name, argumentsJson }: { readonly name: string; readonly argumentsJson: string },
): Promise<TriedCall> {
  const server = await requireToolServer(db, caller, id);
  requireFound(
    server.tools.find((tool) => tool.name === name),
    'tool',
    'tool server',
  );
  const toolCallId = await inTransaction(db, async (trx) => {
    const callId = uuid7(await readClock(trx));
    const details = { tool: name, toolCallId: toId('toolCall', callId) };
    await auditChange(trx, caller, 'toolServer.try', id, details);
    return callId;
  });
  const { workspaceId } = caller;
  const called = await readCalledTool(db, { workspaceId, server: id, tool: name });
  const startedAt = performance.now();
  const outcome = await toolSender.call({
    ...{ toolCallId: toId('toolCall', toolCallId), executionId: null, called, tool: name },
    ...{ argumentsJson, timeoutMs: server.timeoutMs, resultLimit: resultLimitMax },
    signal: new AbortController().signal,
  });
  return { toolCallId, outcome, latencyMs: Math.round(performance.now() - startedAt) };
}
