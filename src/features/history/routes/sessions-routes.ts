import type { FastifyInstance } from 'fastify';
import { uuid7Time } from '../../../core/id.ts';
import { abortOnDisconnect } from '../../../http/connection/disconnect.ts';
import { pageDefault, sessionExecutionsMax } from '../../../http/contract/contract-limits.ts';
import { historySource } from '../../../http/response/history-source.ts';
import { route } from '../../../http/route.ts';
import { listVisibleAgents } from '../../agents/statements/agents.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { listSessions as listSessionsEndpoint } from '../contract/sessions-contract.ts';
import type { SessionRow } from '../statements/session-records.ts';
import { listSessions } from '../verbs/list-sessions.ts';
import { readHistory, readStart, writeCursor } from './history-query.ts';

/** Lists the sessions of all agents that the caller can see. */
export function sessionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  route(
    app,
    deps,
    listSessionsEndpoint,
    async ({ query, caller, request, reply }) => {
      const { limit = pageDefault, user, agentId, ...start } = query;
      const { signal } = abortOnDisconnect(reply);
      const page = await deps.historyReads.read(
        caller,
        async (db) => {
          const filter = { ...(user !== undefined && { user }), ...(agentId && { agentId }) };
          const history = readHistory(filter, await listVisibleAgents(db, caller));
          return listSessions(db, { ...history, ...readStart(start), limit, signal });
        },
        { ...historySource(request, reply), isSearch: true, signal },
      );
      const { rows, nextId, isShort } = page;
      const body = {
        sessions: rows.map(sessionWire),
        ...(nextId !== null && { nextCursor: writeCursor({ id: nextId, skip: 0 }) }),
        ...(nextId !== null &&
          isShort && { searchedTo: new Date(uuid7Time(nextId)).toISOString() }),
      };
      return { status: 200, body };
    },
    limitLists,
  );
}

function sessionWire({ id: _, costUsd, executions, firstAt, lastAt, ...row }: SessionRow) {
  const isLowerBound = executions > sessionExecutionsMax;
  return {
    session: row.session,
    user: row.user,
    executions: Math.min(executions, sessionExecutionsMax),
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
    costUSD: Number(costUsd),
    costKnown: row.costKnown,
    failures: row.failures,
    ...(isLowerBound && { isLowerBound: true as const }),
  };
}
