import type { FastifyInstance } from 'fastify';
import { type AuditLine, listAudit } from '../../contract/audit.ts';
import { getRetention, setRetention } from '../../contract/retention.ts';
import { actorOf } from '../../core/audit.ts';
import { toId } from '../../core/id.ts';
import * as flow from '../../flow/set-retention.ts';
import * as audit from '../../store/audit.ts';
import { readRetention } from '../../store/retention.ts';
import { pageAnswer, readPage } from '../page.ts';
import type { ApiParts } from '../parts.ts';
import { route } from '../route.ts';
import { requireWholeWorkspace } from '../whole-workspace.ts';

/** How long records are kept, and who changed what. */
export function retentionRoutes(app: FastifyInstance, parts: ApiParts): void {
  const { db } = parts;

  route(app, parts, getRetention, async ({ caller }) => {
    return { status: 200, body: await readRetention(db, caller.workspaceId) };
  });

  route(app, parts, setRetention, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    await flow.setRetention(db, actorOf(caller), body);
    return { status: 200, body };
  });

  route(app, parts, listAudit, async ({ query, caller }) => {
    requireWholeWorkspace(caller);
    const page = readPage(query);
    const question = { ...page, action: query.action ?? null };
    const { rows, total } = await audit.listAudit(db, caller.workspaceId, question);
    return pageAnswer('audit', rows.map(auditWire), { ...page, total });
  });
}

function auditWire(row: audit.AuditRow): AuditLine {
  return {
    auditId: toId('audit', row.id),
    at: row.at.toISOString(),
    action: row.action,
    subject: row.subject,
    userId: row.userId === null ? null : toId('user', row.userId),
    apiKeyId: row.apiKeyId === null ? null : toId('key', row.apiKeyId),
    details: JSON.parse(row.details),
  };
}
