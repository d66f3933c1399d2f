import type { FastifyInstance } from 'fastify';
import { storedId } from '../../../core/id.ts';
import { commandLine } from '../../../core/people/audit.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { readRange } from '../../../http/request/range.ts';
import { historySource } from '../../../http/response/history-source.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../access/require-permission.ts';
import { listAudit } from '../contract/audit-contract.ts';
import * as audit from '../statements/audit-statements.ts';

/** The audit log. */
export function auditRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { historyReads } = deps;

  route(app, deps, listAudit, async ({ query, caller, request: http, reply }) => {
    requireWholeWorkspace(caller);
    const page = readPage(query);
    const { action = null, subject = null } = query;
    const userId = query.userId === undefined ? null : storedId('user', query.userId);
    const request = { ...page, ...readRange(query), action, subject, userId };
    const { rows, total } = await historyReads.read(
      caller,
      (reads) => audit.listAudit(reads, caller.workspaceId, request),
      historySource(http, reply),
    );
    return { result: pageOf('audit', page, { rows: rows.map(auditEntry), total }) };
  });
}

function auditEntry(row: audit.AuditRow) {
  const details = JSON.parse(row.details);
  const via = details.via === commandLine ? commandLine : null;
  return { ...row, via, details };
}
