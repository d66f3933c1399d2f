import type { FastifyInstance } from 'fastify';
import { type AuditEntry, listAudit } from '../../../contract/workspace/audit.ts';
import { fromId, toId } from '../../../core/id.ts';
import { commandLine } from '../../../core/people/audit.ts';
import * as audit from '../../../store/people/audit.ts';
import { requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { readRange } from '../../http/request/range.ts';
import { historySource } from '../../http/response/history-source.ts';
import { route } from '../../http/route.ts';

/** The audit log. */
export function auditRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { historyReads } = deps;

  route(app, deps, listAudit, async ({ query, caller, request: http, reply }) => {
    requireWholeWorkspace(caller);
    const page = readPage(query);
    const { action = null, subject = null } = query;
    // A malformed id matches nothing.
    const userId = query.userId === undefined ? null : (fromId('user', query.userId) ?? noUser);
    const request = { ...page, ...readRange(query), action, subject, userId };
    const { rows, total } = await historyReads.read(
      caller,
      (reads) => audit.listAudit(reads, caller.workspaceId, request),
      historySource(http, reply),
    );
    return pageResponse('audit', rows.map(auditWire), { ...page, total });
  });
}

const noUser = '00000000-0000-0000-0000-000000000000';

function auditWire(row: audit.AuditRow): AuditEntry {
  const details = JSON.parse(row.details);
  return {
    auditId: toId('audit', row.id),
    at: row.at.toISOString(),
    action: row.action,
    subject: row.subject,
    userId: row.userId === null ? null : toId('user', row.userId),
    apiKeyId: row.apiKeyId === null ? null : toId('key', row.apiKeyId),
    via: details.via === commandLine ? commandLine : null,
    details,
  };
}
