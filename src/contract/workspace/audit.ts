import { type Static, Type } from 'typebox';
import { auditActions, commandLine, personalDays } from '../../core/people/audit.ts';
import { endpoint } from '../endpoint.ts';
import { id, nullable, oneOf, page, pageQuery, query, time } from '../shared.ts';

const action = oneOf(auditActions, 'The action.');

export const AuditLine = Type.Object(
  {
    auditId: id('audit', 'Identifier.'),
    at: time('When.'),
    action,
    subject: Type.String({ description: 'Identifier or name of the affected resource.' }),
    userId: nullable(
      id('user'),
      'The user, or the issuer of the key. `null` for the service itself, its command line, and refused sign-ins.',
    ),
    apiKeyId: nullable(id('key'), 'The key used. `null` for a session.'),
    via: nullable(
      oneOf([commandLine]),
      '`command line`: a command that opened the database, whose user is not known. Also in `details`.',
    ),
    details: Type.Object(
      {},
      {
        additionalProperties: true,
        description: `Additional data. \`email\` and \`ipAddress\` are deleted after ${personalDays} days.`,
      },
    ),
  },
  { title: 'AuditLine' },
);
export type AuditLine = Static<typeof AuditLine>;

export const listAudit = endpoint({
  id: 'listAudit',
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'List the audit log',
  description:
    'Sorted newest first: changes of keys, agents, prompts, workflows, members, providers, prices, plan and retention, deletions, exports, sign-ins and passwords. The entry of a change is committed together with it. Sign-ins and passwords appear in every workspace of the user.',
  tag: 'Audit',
  auth: 'own',
  query: query({ ...pageQuery, action: Type.Optional(action) }),
  responses: { 200: page('AuditList', 'audit', AuditLine) },
});
